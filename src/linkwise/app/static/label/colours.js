// Colours of clusters by number: the page also prints the numbers, so that colour is never alone.
const HEX = [
  "#4269d0", "#e8a80c", "#f0604a", "#3aa99f", "#8a52d6", "#3c9a4a", "#f078ab", "#9c6b4e",
  "#5fb3ec", "#95ad2b", "#2f4b9b", "#b07a00", "#b23a2a", "#1f7068", "#5c2fa0", "#236b31",
  "#b8467a", "#694430", "#2479b5", "#4c545e",
];

export function hex(label) {
  return HEX[label % HEX.length];
}

export function rgb(label) {
  const value = parseInt(hex(label).slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export const COUNT = HEX.length;
