// Colours of clusters by number. The page prints the number beside a colour, so colour is never the
// only sign.
import { channels } from "../../shared/colours.js";

// Twenty hues that can be told apart on white and on black; further clusters begin again.
// biome-ignore format: a table
const HEX = [
  "#4269d0", "#e8a80c", "#f0604a", "#3aa99f", "#8a52d6", "#3c9a4a", "#f078ab", "#9c6b4e",
  "#5fb3ec", "#95ad2b", "#2f4b9b", "#b07a00", "#b23a2a", "#1f7068", "#5c2fa0", "#236b31",
  "#b8467a", "#694430", "#2479b5", "#4c545e",
];

export const COUNT = HEX.length;

export function hex(label) {
  return HEX[label % COUNT];
}

// Return red, green and blue of "#rrggbb", each in 0..1.
export function shares(colour) {
  return channels(colour).map((value) => value / 255);
}

export function rgb(label) {
  return shares(hex(label));
}
