// Channels of colours.

// Return red, green and blue of "#rrggbb", each in 0..255.
export function channels(hex) {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
