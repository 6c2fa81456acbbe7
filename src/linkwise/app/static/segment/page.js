// The page of a picture. Strokes are kept by the program, in pixels of the picture; the page draws
// what it is told, and the stroke that is being drawn.
import { Line, Refused, numbers } from "../shared/api.js";

const $ = (id) => document.getElementById(id);
const stage = $("stage"), sheet = $("sheet"), overlay = $("regions"), canvas = $("strokes");
const MOST = 10000; // points of a stroke
const STEP = 0.02; // of the picture, a key

let view = null; // what the program said last
let mask = null; // the regions shown
let scale = 1, left = 0, top_ = 0; // picture to screen
let fitted = true;
let brush = "1";
let drawing = null; // the stroke under the pointer or the keys
let waiting = []; // strokes drawn and not yet in the view
const sending = new Set(); // those of them under way
let moving = null, spaceHeld = false, cursor = null;

function say(text) {
  $("said").textContent = text;
  $("said").classList.add("on");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => $("said").classList.remove("on"), 5000);
}

const colourOf = (value) => view.palette[(value - 1) % view.palette.length];
const valueOf = (colour) => view.values[colour] ?? Number(colour);

function width() {
  // of a stroke, in pixels of the picture: from a hair to a tenth of it
  const share = Number($("width").value) / 100;
  return Math.max(1, Math.round(0.1 * share * share * Math.max(view.width, view.height)));
}

// from the screen to the picture

function place() {
  sheet.style.width = `${view.width}px`;
  sheet.style.height = `${view.height}px`;
  sheet.style.transform = `translate(${left}px, ${top_}px) scale(${scale})`;
  paint();
}

function fit() {
  const box = stage.getBoundingClientRect();
  const below = 56; // for the controls
  scale = Math.min((box.width - 32) / view.width, (box.height - 16 - below) / view.height);
  left = (box.width - scale * view.width) / 2;
  top_ = (box.height - below - scale * view.height) / 2 + 8;
  fitted = true;
  place();
}

function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const next = Math.min(40, Math.max(0.02, scale * factor));
  left = x - ((x - left) * next) / scale;
  top_ = y - ((y - top_) * next) / scale;
  scale = next;
  fitted = false;
  place();
}

function pointAt(event) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left - left) / scale, y = (event.clientY - box.top - top_) / scale;
  const within = x >= 0 && y >= 0 && x <= view.width && y <= view.height;
  const clamp = (v, high) => Math.round(10 * Math.min(high, Math.max(0, v))) / 10;
  return { point: [Math.min(view.width, clamp(x, view.width)), Math.min(view.height, clamp(y, view.height))], within };
}

// drawing

function paint() {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(stage.clientWidth * ratio), h = Math.round(stage.clientHeight * ratio);
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const pen = canvas.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, w, h);
  if (!view) return;
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top_);
  pen.lineCap = pen.lineJoin = "round";
  for (const stroke of [...view.strokes, ...waiting, ...(drawing ? [drawing] : [])]) {
    const rim = 1.6 / scale;
    for (const [style, more] of [["rgb(255 255 255 / 85%)", 2 * rim], [colourOf(valueOf(stroke.colour)), 0]]) {
      pen.strokeStyle = style;
      pen.lineWidth = Math.max(stroke.width, 2 / scale) + more;
      pen.beginPath();
      stroke.points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      if (stroke.points.length === 1) pen.lineTo(stroke.points[0][0] + 0.01, stroke.points[0][1]);
      pen.stroke();
    }
  }
  if (cursor) {
    const [x, y] = cursor, r = Math.max(width() / 2, 5 / scale);
    for (const [style, line] of [["#000", 3.5], ["#fff", 1.5]]) {
      pen.strokeStyle = style;
      pen.lineWidth = line / scale;
      pen.beginPath();
      pen.arc(x, y, r, 0, 7);
      pen.stroke();
    }
  }
}

// before anything is asked for, the picture is shown as it is
const asked = () => view.strokes.length > 0 || view.k !== null;

function tint() {
  overlay.style.opacity = asked() && $("show").getAttribute("aria-pressed") === "true" ? 1 : 0;
  if (!mask) return;
  const [h, w] = view.working;
  [overlay.width, overlay.height] = [w, h];
  const pen = overlay.getContext("2d"), image = pen.createImageData(w, h), out = image.data;
  const alpha = Math.round(2.55 * Number($("tint").value));
  const rgb = new Map();
  for (let value = 1; value < 256; value++) {
    const n = parseInt(colourOf(value).slice(1), 16);
    rgb.set(value, [n >> 16, (n >> 8) & 255, n & 255]);
  }
  for (let i = 0, p = 0; i < h; i++) {
    for (let j = 0; j < w; j++, p++) {
      const value = mask[p], [r, g, b] = rgb.get(value);
      const edge = (j + 1 < w && mask[p + 1] !== value) || (i + 1 < h && mask[p + w] !== value);
      out[4 * p] = edge ? 255 : r;
      out[4 * p + 1] = edge ? 255 : g;
      out[4 * p + 2] = edge ? 255 : b;
      out[4 * p + 3] = edge ? 235 : alpha;
    }
  }
  pen.putImageData(image, 0, 0);
}

function element(kind, name, text = "") {
  const made = document.createElement(kind);
  made.className = name;
  made.textContent = text;
  return made;
}

function swatch(value) {
  const made = element("span", "swatch");
  made.style.background = colourOf(value);
  return made;
}

function list() {
  const count = new Uint32Array(256);
  for (const value of mask ?? []) count[value]++;
  const names = new Map(Object.entries(view.values).map(([colour, value]) => [value, colour]));
  const rows = [];
  for (let value = 1; value < 256; value++) {
    if (!count[value]) continue;
    const row = element("li", "");
    const name = names.get(value);
    row.append(swatch(value), element("b", "", String(value)));
    row.append(element("span", "note", name === undefined ? "not painted" : name === String(value) ? "" : name));
    row.append(element("span", "share", `${((100 * count[value]) / mask.length).toFixed(1)} %`));
    rows.push(row);
  }
  $("list").replaceChildren(...(asked() ? rows : [element("li", "note", "None yet: draw two strokes.")]));
}

function choose(colour) {
  brush = colour;
  for (const button of $("brushes").children) {
    const on = button.dataset.colour === colour;
    button.setAttribute("aria-checked", String(on));
    button.tabIndex = on ? 0 : -1;
  }
}

function brushes() {
  if ($("brushes").children.length) return;
  for (let value = 1; value <= 9; value++) {
    const button = element("button", "brush");
    button.dataset.colour = String(value);
    button.setAttribute("role", "radio");
    button.setAttribute("aria-label", `Brush ${value}`);
    button.append(swatch(value), element("kbd", "", String(value)));
    button.addEventListener("click", () => choose(String(value)));
    $("brushes").append(button);
  }
  choose(brush);
}

// news of the program

const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];

function show(next) {
  if (view && next.version[0] < view.version[0] && next.name === view.name) return; // an old answer
  const first = !view;
  view = next;
  const known = new Set(view.strokes.map((stroke) => JSON.stringify([stroke.colour, stroke.points])));
  const kept = (stroke) => sending.has(stroke) || line.pending.some(([, sent]) => sent.points === stroke.points);
  waiting = waiting.filter((stroke) => kept(stroke) && !known.has(JSON.stringify([stroke.colour, stroke.points])));
  document.title = `${view.name} · linkwise`;
  $("title").textContent = view.name;
  const strokes = `${view.strokes.length} stroke${view.strokes.length === 1 ? "" : "s"}`;
  $("subtitle").textContent = `${view.width} × ${view.height} pixels · ${view.pieces} pieces · ${strokes}, saved in ${view.project}`;
  $("undo").disabled = !view.undo;
  $("redo").disabled = !view.redo;
  $("hint").hidden = view.strokes.length + waiting.length > 0;
  if (document.activeElement !== $("count")) $("count").value = view.k ?? "";
  if (first) {
    brushes();
    $("photo").src = "/api/picture";
    $("photo").alt = view.name;
    fit();
    noteWidth();
  }
  paint();
  refresh();
}

let busy = false, again = false, shown = null;

function settled(version) {
  shown = version;
  overlay.classList.remove("stale");
  document.body.dataset.shown = version.join(",");
}

function nothing() {
  mask = null;
  tint();
  list();
  $("state").textContent = "";
  settled(view.version);
}

async function refresh() {
  if (same(shown, view.version)) return;
  if (!asked() && !busy) return nothing();
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  overlay.classList.add("stale");
  $("state").textContent = "Working the regions out…";
  try {
    do {
      again = false;
      const wanted = view.version, began = performance.now();
      const { values } = await numbers("/api/mask", Uint8Array);
      if (values.length !== view.working[0] * view.working[1]) throw new Refused("The regions came in half; reload the page.");
      [mask, shown] = [values, wanted];
      tint();
      list();
      $("state").textContent = `Regions in ${((performance.now() - began) / 1000).toFixed(2)} s`;
    } while (again);
    settled(shown);
  } catch (error) {
    $("state").textContent = error instanceof Refused ? error.message : "";
  }
  busy = false;
}

const line = new Line(show, (down) => {
  $("banner").hidden = !down;
  $("banner").textContent = "The program is not there. What you draw is kept here and sent when it is back.";
  if (!down) say("The program is back.");
});

async function send(path, body) {
  try {
    return await line.command(path, body);
  } catch (error) {
    say(error.message);
    return undefined;
  }
}

// strokes

function begin(point) {
  drawing = { colour: brush, points: [point], width: width() };
  paint();
}

function extend(point) {
  const [x, y] = drawing.points[drawing.points.length - 1];
  if (drawing.points.length >= MOST || Math.hypot(point[0] - x, point[1] - y) * scale < 1.5) return;
  drawing.points.push(point);
  paint();
}

async function finish() {
  const stroke = drawing;
  drawing = null;
  if (!stroke) return;
  waiting.push(stroke);
  sending.add(stroke);
  $("hint").hidden = true;
  const sent = await send("/api/stroke", stroke);
  sending.delete(stroke);
  if (sent !== null) waiting = waiting.filter((other) => other !== stroke); // null: it waits for the program
  paint();
}

canvas.addEventListener("pointerdown", (event) => {
  if (!view) return;
  cursor = null;
  if (event.button === 1 || (event.button === 0 && spaceHeld)) {
    moving = [event.clientX - left, event.clientY - top_];
  } else if (event.button === 0) {
    const { point, within } = pointAt(event);
    if (!within) return;
    begin(point);
  } else return;
  event.preventDefault();
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (moving) {
    [left, top_] = [event.clientX - moving[0], event.clientY - moving[1]];
    fitted = false;
    place();
  } else if (drawing) {
    for (const part of event.getCoalescedEvents?.() ?? [event]) extend(pointAt(part).point);
  }
});
for (const kind of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(kind, () => {
    moving = null;
    finish();
  });
}
canvas.addEventListener("wheel", (event) => {
  if (!view) return;
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

// keys

const undo = () => !$("undo").disabled && send("/api/undo", {});
const redo = () => !$("redo").disabled && send("/api/redo", {});

function toggle() {
  const on = $("show").getAttribute("aria-pressed") !== "true";
  $("show").setAttribute("aria-pressed", String(on));
  tint();
}

function noteWidth() {
  if (view) $("width-note").textContent = `${width()} px`;
  paint();
}

function widen(by) {
  $("width").value = Number($("width").value) + by;
  noteWidth();
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function walk(event) {
  const [dx, dy] = ARROWS[event.key], step = STEP * Math.max(view.width, view.height) * (event.shiftKey ? 0.25 : 1);
  const [x, y] = cursor ?? [view.width / 2, view.height / 2];
  const next = (v, d, high) => Math.round(10 * Math.min(high, Math.max(0, v + d * step))) / 10;
  cursor = [next(x, dx, view.width), next(y, dy, view.height)];
  if (drawing) extend(cursor);
  paint();
}

function onCanvas(event) {
  if (event.key in ARROWS) walk(event);
  else if (event.key === "Enter") {
    cursor ??= [view.width / 2, view.height / 2];
    if (drawing) finish();
    else begin(cursor);
  } else if (event.key === "Escape") {
    [drawing, cursor] = [null, null];
    paint();
  } else if (event.key === " ") {
    spaceHeld = true;
    canvas.classList.add("moving");
  } else return false;
  return true;
}

const KEYS = { h: toggle, "[": () => widen(-5), "]": () => widen(5), "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit };

document.addEventListener("keydown", (event) => {
  if (!view) return;
  const typing = event.target.matches("input");
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (typing && event.target.type !== "range") return;
    if (key === "z") (event.shiftKey ? redo : undo)();
    else if (key === "y") redo();
    else return;
  } else if (typing || event.altKey) return;
  else if (/^[1-9]$/.test(key)) choose(key);
  else if (Object.hasOwn(KEYS, key)) KEYS[key]();
  else if (event.target !== canvas || !onCanvas(event)) return;
  event.preventDefault();
});
document.addEventListener("keyup", (event) => {
  if (event.key !== " ") return;
  spaceHeld = false;
  canvas.classList.remove("moving");
});
$("brushes").addEventListener("keydown", (event) => {
  if (!(event.key in ARROWS)) return;
  const [dx, dy] = ARROWS[event.key];
  const next = ((Number(brush) - 1 + dx + dy + 9) % 9) + 1;
  choose(String(next));
  $("brushes").children[next - 1].focus();
  event.preventDefault();
});

$("undo").addEventListener("click", undo);
$("redo").addEventListener("click", redo);
$("show").addEventListener("click", toggle);
$("fit").addEventListener("click", fit);
$("zoom-in").addEventListener("click", () => zoom(1.25));
$("zoom-out").addEventListener("click", () => zoom(0.8));
$("width").addEventListener("input", noteWidth);
$("tint").addEventListener("input", tint);
$("count").addEventListener("change", () => {
  const text = $("count").value;
  send("/api/count", { k: text === "" ? null : Number(text) });
});
new ResizeObserver(() => view && (fitted ? fit() : place())).observe(stage);
