// The canvas above the image: strokes, and the brush that the arrow keys move.
import { $ } from "../shared/dom.js";
import { strokeWidth } from "./brushes.js";
import { cursor } from "./cursor.js";
import { colourOf, regionOf, store } from "./store.js";
import { strokes } from "./strokes.js";
import { viewport } from "./viewport.js";

const RIM = 1.6; // pixels of white around a stroke, which shows it on any image
const THINNEST = 2; // pixels of a stroke on the screen
const SMALLEST_CURSOR = 5; // pixels
const CIRCLE = 2 * Math.PI;

const canvas = $("strokes");
const stage = $("stage");

let pointedOut = -1; // the place of the stroke that the list is about, among those of the view

export function pointOut(place) {
  pointedOut = place;
}

function paintStroke(pen, { points, width, colour }, isPointedOut) {
  const { scale } = viewport;
  const inner = Math.max(width, THINNEST / scale);
  for (const [style, lineWidth] of [
    [
      isPointedOut ? "#000" : "rgb(255 255 255 / 85%)",
      inner + ((isPointedOut ? 4 : 2) * RIM) / scale,
    ],
    [colourOf(regionOf(colour)), inner],
  ]) {
    pen.strokeStyle = style;
    pen.lineWidth = lineWidth;
    pen.beginPath();
    for (const [x, y] of points) pen.lineTo(x, y);
    if (points.length === 1) pen.lineTo(points[0][0] + 0.01, points[0][1]); // a dot
    pen.stroke();
  }
}

function paintCursor(pen, [x, y]) {
  const { scale } = viewport;
  for (const [style, lineWidth] of [
    ["#000", 3.5],
    ["#fff", 1.5],
  ]) {
    pen.strokeStyle = style;
    pen.lineWidth = lineWidth / scale;
    pen.beginPath();
    pen.arc(x, y, Math.max(strokeWidth() / 2, SMALLEST_CURSOR / scale), 0, CIRCLE);
    pen.stroke();
  }
}

export function paint() {
  if (!store.view) return;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(stage.clientWidth * ratio);
  const height = Math.round(stage.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  const { scale, left, top } = viewport;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
  pen.lineCap = pen.lineJoin = "round";
  strokes.all.forEach((stroke, place) => {
    paintStroke(pen, stroke, place === pointedOut);
  });
  if (cursor.at) paintCursor(pen, cursor.at);
}
