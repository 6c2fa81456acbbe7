// What is drawn above the points: links, cluster numbers, the pair in question, the lasso. `place`
// returns where on the screen a row is.
import { hex } from "./colours.js";

const MOST_LINKS = 4000; // the newest; more lines hide the points and slow the map down
const MOST_LETTERS = 24; // of a cluster's name
const CIRCLE = 2 * Math.PI;
const RIM = 3; // pixels between a badge and the edge of the map
const BADGE = 11; // pixels, half the height of a number or letter

// Return the value of a CSS variable, so that the map follows light and dark.
export function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function paintLinks(context, links, place) {
  const m = links.length / 3;
  const opacity = Math.max(0.12, Math.min(0.5, 4 / Math.sqrt(m))); // many lines, each fainter
  context.lineWidth = 1.2;
  for (const [sign, colour, dash, share] of [
    [1, style("--same"), [], 1],
    [-1, style("--different"), [4, 4], 0.55],
  ]) {
    context.strokeStyle = colour;
    context.globalAlpha = opacity * share;
    context.setLineDash(dash);
    context.beginPath();
    for (let t = Math.max(0, m - MOST_LINKS); t < m; t++) {
      if (links[3 * t + 2] !== sign) continue;
      context.moveTo(...place(links[3 * t]));
      context.lineTo(...place(links[3 * t + 1]));
    }
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function setFont(context, weight) {
  context.font = `${weight} 12px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
}

function shortened(text) {
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text;
}

function isOutside(x, y, { width, height }) {
  return x < 0 || y < 0 || x > width || y > height;
}

// Return a position at which a badge of this half width is not cut by the edge of the map.
function within(x, y, half, { width, height }) {
  const [atX, atY] = [half + RIM, BADGE + RIM];
  return [Math.max(atX, Math.min(width - atX, x)), Math.max(atY, Math.min(height - atY, y))];
}

// Rows (k,) are where the clusters' numbers stand, -1 for none. Frame is the size of the map.
export function paintNumbers(context, rows, names, stale, { place, frame }) {
  setFont(context, 600);
  context.globalAlpha = stale ? 0.55 : 0.95;
  context.lineWidth = 2;
  rows.forEach((row, label) => {
    if (row < 0) return;
    const at = place(row);
    if (isOutside(...at, frame)) return;
    const text = shortened(names[label] || String(label));
    const half = Math.max(context.measureText(text).width / 2 + 7, BADGE);
    const [x, y] = within(...at, half, frame);
    context.fillStyle = style("--card");
    context.strokeStyle = hex(label);
    context.beginPath();
    context.roundRect(x - half, y - BADGE, 2 * half, 2 * BADGE, BADGE);
    context.fill();
    context.stroke();
    context.fillStyle = style("--ink");
    context.fillText(text, x, y + 0.5);
  });
  context.globalAlpha = 1;
}

// Return both ends, moved side by side where one letter would cover the other.
function apart([a, b]) {
  const close = Math.hypot(a[0] - b[0], a[1] - b[1]) < BADGE + 1;
  if (!close) return [a, b];
  return [
    [a[0] - BADGE, a[1]],
    [b[0] + BADGE, b[1]],
  ];
}

export function paintPair(context, pair, { place, frame }) {
  const ends = apart(pair.map(place)).map((at) =>
    isOutside(...at, frame) ? at : within(...at, BADGE, frame),
  );
  context.strokeStyle = style("--ink");
  context.lineWidth = 1.5;
  context.setLineDash([2, 4]);
  context.beginPath();
  context.moveTo(...ends[0]);
  context.lineTo(...ends[1]);
  context.stroke();
  context.setLineDash([]);
  setFont(context, 700);
  ends.forEach(([x, y], i) => {
    context.fillStyle = style("--ink");
    context.beginPath();
    context.arc(x, y, BADGE, 0, CIRCLE);
    context.fill();
    context.fillStyle = style("--card");
    context.fillText("AB"[i], x, y + 0.5);
  });
}

export function paintLasso(context, path) {
  context.strokeStyle = style("--accent");
  context.fillStyle = style("--accent");
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [x, y] of path) context.lineTo(x, y);
  context.closePath();
  context.globalAlpha = 0.12;
  context.fill();
  context.globalAlpha = 1;
  context.stroke();
}
