// The keyboard: everything that the pointer does, and a key for each brush.
import { $ } from "../shared/dom.js";
import { selectBrush, stepBrush, widenBy } from "./brushes.js";
import { redo, undo } from "./commands.js";
import { cursor } from "./cursor.js";
import { openNext } from "./images.js";
import { paint } from "./painting.js";
import { holdSpace } from "./pointer.js";
import { toggleRegions } from "./regions.js";
import { store } from "./store.js";
import { strokes } from "./strokes.js";
import { viewport } from "./viewport.js";

const ZOOM = 1.25;
const WIDTH = 5; // of the slider, for one key
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const zoomIn = () => viewport.zoomBy(ZOOM);
const zoomOut = () => viewport.zoomBy(1 / ZOOM);

// On the whole page.
const KEYS = {
  h: toggleRegions,
  "[": () => widenBy(-WIDTH),
  "]": () => widenBy(WIDTH),
  "+": zoomIn,
  "=": zoomIn,
  "-": zoomOut,
  0: () => viewport.fit(),
  pageup: () => openNext(-1),
  pagedown: () => openNext(1),
};

// On the image.
const DRAWING = {
  Enter() {
    if (strokes.current) strokes.finish();
    else strokes.begin(cursor.appear());
  },
  Escape() {
    cursor.hide();
    strokes.cancel();
  },
  " "() {
    holdSpace(true);
  },
};

function moveCursor(event) {
  cursor.move(ARROWS[event.key], event.shiftKey);
  if (strokes.current) strokes.extend(cursor.at);
  paint();
}

function stepOf(key, shift) {
  if (key === "y" || (key === "z" && shift)) return redo;
  return key === "z" ? undo : null;
}

function drawingOf(event) {
  if (event.target !== $("strokes")) return null;
  if (Object.hasOwn(ARROWS, event.key)) return () => moveCursor(event);
  return Object.hasOwn(DRAWING, event.key) ? DRAWING[event.key] : null;
}

// Return what a key means, or null.
function actionOf(event) {
  const key = event.key.toLowerCase();
  const typing = event.target.matches("input");
  if (event.ctrlKey || event.metaKey) {
    const writing = typing && event.target.type !== "range"; // a field has an undo of its own
    return writing ? null : stepOf(key, event.shiftKey);
  }
  if (typing || event.altKey) return null;
  if (/^[1-9]$/.test(key)) return () => selectBrush(key);
  return Object.hasOwn(KEYS, key) ? KEYS[key] : drawingOf(event);
}

function onKey(event) {
  const action = store.view && actionOf(event);
  if (!action) return;
  event.preventDefault();
  action();
}

function onBrushKey(event) {
  if (!Object.hasOwn(ARROWS, event.key)) return;
  const [dx, dy] = ARROWS[event.key];
  stepBrush(dx + dy);
  event.preventDefault();
}

export function listenToKeys() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("keyup", (event) => event.key === " " && holdSpace(false));
  $("brushes").addEventListener("keydown", onBrushKey);
  $("zoom-in").addEventListener("click", zoomIn);
  $("zoom-out").addEventListener("click", zoomOut);
}
