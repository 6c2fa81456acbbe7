// The segment page. linkwise keeps the strokes, in pixels of the image. The page draws them, and
// the stroke that is under way.
import { connection } from "../shared/connection.js";
import { $, onClick } from "../shared/dom.js";
import { say, setBanner } from "../shared/notices.js";
import { count } from "../shared/texts.js";
import { listenToQueue } from "../shared/waiting.js";
import { listenToBrushes, makeBrushes, showNames, showWidth, widthChanged } from "./brushes.js";
import { redo, send, undo } from "./commands.js";
import { aboutImage, listenToImages, showImages } from "./images.js";
import { listenToKeys } from "./keys.js";
import { paint } from "./painting.js";
import { listenToPointer } from "./pointer.js";
import { listenToRegions, refreshRegions } from "./regions.js";
import { store } from "./store.js";
import { listStrokes } from "./stroke_list.js";
import { strokes } from "./strokes.js";
import { listenToViewport, viewport } from "./viewport.js";

const DOWN =
  "linkwise does not respond. The page keeps what you draw and sends it when linkwise is back.";

function showTitle({ name, width, height, superpixels, strokes: drawn, project }) {
  document.title = `${name} – linkwise`;
  $("title").textContent = name;
  $("subtitle").textContent = [
    `${width} × ${height} pixels`,
    count(superpixels, "superpixel"),
    `${count(drawn.length, "stroke")}, saved in ${project}`,
  ].join(" · ");
}

function start({ name }) {
  $("photo").src = aboutImage("/api/image");
  $("photo").alt = name;
  viewport.fit();
  showWidth();
}

function showStrokes() {
  $("hint").hidden = strokes.count > 0;
  paint();
}

function isOlder(view) {
  if (store.view?.run !== view.run) return false;
  if (view.turn !== store.view.turn) return view.turn < store.view.turn;
  return view.version[0] < store.view.version[0];
}

function show(view) {
  if (isOlder(view)) return; // overtaken on the way
  const first = !store.view;
  const other = store.view?.place !== view.place; // the first one, or another image
  if (other) strokes.forget();
  store.view = view;
  strokes.settle();
  showTitle(view);
  $("undo").disabled = !view.undo;
  $("redo").disabled = !view.redo;
  if (document.activeElement !== $("count")) $("count").value = view.k ?? "";
  $("touching").checked = view.touching;
  showImages(view);
  if (first) makeBrushes();
  if (other) start(view);
  showNames();
  showStrokes();
  listStrokes();
  refreshRegions();
}

function onDown(down) {
  setBanner(down ? DOWN : "");
  if (!down) say("linkwise is back.");
}

function setCount() {
  const text = $("count").value;
  send("/api/count", { k: text === "" ? null : Number(text) }, "The number of regions");
}

listenToViewport();
listenToBrushes();
listenToRegions();
listenToPointer();
listenToImages();
listenToKeys();
listenToQueue();
viewport.changed.on(paint);
widthChanged.on(paint);
strokes.changed.on(showStrokes);
onClick("undo", undo);
onClick("redo", redo);
onClick("fit", () => viewport.fit());
$("count").addEventListener("change", setCount);
$("touching").addEventListener("change", ({ target }) =>
  send("/api/touching", { on: target.checked }, "Only parts that touch a stroke"),
);
connection.open({ onView: show, onDown });
