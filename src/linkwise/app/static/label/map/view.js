// The map: points under a camera, and a layer above them for links, numbers and the lasso.
import { Camera } from "./camera.js";
import { CanvasPoints } from "./canvas.js";
import { shares } from "./colours.js";
import { centres, nearest, pointsInside } from "./geometry.js";
import { listen } from "./gestures.js";
import { paintLasso, paintLinks, paintNumbers, paintPair, style } from "./overlay.js";
import { Pace } from "./pace.js";
import { WebGLPoints } from "./webgl.js";

const REACH = 14; // pixels around a point that hit it
const MOVE = 600; // milliseconds of a move to another map: the eye can follow a point
const MOST_MOVED = 50000; // points; more take longer than a frame
const REST = 150; // milliseconds without movement, after which all points are drawn
const LONGEST_REST = 1000; // milliseconds; a slow machine is given more time, but not without end
const DIAMETER = [2.2, 9]; // pixels of a point: still visible, and not yet a blot

// Return the layer of points that this browser can draw, and the canvas it draws on.
function layerFor(stage, canvas) {
  const asked = new URLSearchParams(location.search).get("draw") === "canvas";
  try {
    if (asked) throw new Error("the address asks for Canvas2D");
    const layer = new WebGLPoints(canvas);
    stage.dataset.drawn = "webgl2";
    return [layer, canvas];
  } catch (error) {
    const fresh = canvas.cloneNode(); // a canvas that was tried for one kind refuses another
    canvas.replaceWith(fresh);
    stage.dataset.drawn = "canvas2d";
    stage.dataset.because = error.message;
    return [new CanvasPoints(fresh), fresh];
  }
}

export class MapView {
  camera = new Camera();
  pace = new Pace();
  n = 0;
  maps = 0; // positions shown so far
  xy = null; // (n, 2) in -1..1
  links = null; // (m, 3): row, row, sign
  labels = null; // (n,), the cluster of each point, -1 for none
  numbersAt = null; // (k,), the rows where the clusters' numbers stand
  names = {}; // of clusters
  pair = null; // the rows in question
  path = null; // the lasso while it is drawn
  stale = false; // the clusters are older than the answers
  dim = false; // some rows are selected; the rest is faint
  showLinks = true;
  lassoing = false;
  #frame = 0;
  #moving = false;
  #timer = 0;

  // on: see gestures.js
  constructor(stage, points, over, on) {
    Object.assign(this, { stage, over });
    [this.layer, this.points] = layerFor(stage, points);
    this.context = over.getContext("2d");
    listen(over, this, on);
    new ResizeObserver(() => this.resize()).observe(stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.resize();
  }

  // Show other positions: those of new points at once; known points move there.
  setPoints(xy) {
    if (xy.length === this.xy?.length) this.#moveTo(xy);
    else this.#begin(xy);
  }

  #begin(xy) {
    this.xy = xy;
    this.n = xy.length / 2;
    this.pace.start(this.n);
    this.layer.setPoints(xy);
    this.layer.setLabels(new Int32Array(this.n).fill(-1));
    this.layer.setMarks(new Uint8Array(this.n));
    this.labels = null;
    this.#arrived();
    this.draw();
  }

  #place(xy) {
    this.xy = xy;
    this.layer.setPoints(xy);
    this.draw();
  }

  #moveTo(xy) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || this.n > MOST_MOVED;
    const [from, start] = [this.xy, performance.now()];
    const step = (now) => {
      const share = still ? 1 : Math.min(1, Math.max(0, (now - start) / MOVE));
      const eased = share * share * (3 - 2 * share);
      this.#place(share < 1 ? from.map((value, i) => value + eased * (xy[i] - value)) : xy);
      if (share < 1) requestAnimationFrame(step);
      else this.#arrived();
    };
    step(start);
  }

  #arrived() {
    this.maps += 1;
    this.stage.dataset.maps = this.maps;
    if (this.labels) this.setLabels(this.labels);
  }

  setLabels(labels) {
    this.labels = labels;
    this.layer.setLabels(labels);
    this.numbersAt = centres(this.xy, labels);
    this.draw();
  }

  // Mark a set of rows; the rest becomes faint.
  setMarks(rows) {
    const marks = new Uint8Array(this.n);
    for (const row of rows) marks[row] = 1;
    this.dim = rows.size > 0;
    this.layer.setMarks(marks);
    this.draw();
  }

  setLinks(links) {
    this.links = links;
    this.draw();
  }

  setPair(pair) {
    this.pair = pair;
    this.draw();
  }

  setNames(names) {
    this.names = names;
    this.draw();
  }

  setStale(stale) {
    this.stale = stale;
    this.draw();
  }

  setShowLinks(show) {
    this.showLinks = show;
    this.draw();
  }

  resize() {
    const box = this.stage.getBoundingClientRect();
    this.ratio = window.devicePixelRatio || 1;
    this.camera.resize(box.width, box.height);
    for (const canvas of [this.points, this.over]) {
      canvas.width = Math.round(this.camera.width * this.ratio);
      canvas.height = Math.round(this.camera.height * this.ratio);
    }
    this.draw();
  }

  draw(moving = false) {
    this.#moving = moving;
    this.#frame ||= requestAnimationFrame((now) => {
      this.#frame = 0;
      this.pace.frame(now, this.#moving);
      if (this.n) this.#paint();
    });
  }

  #paint() {
    this.layer.draw({
      ...this.camera.transform,
      size: this.#diameter(),
      dim: this.dim,
      stale: this.stale,
      plain: shares(style("--plain")),
      step: this.#moving ? this.pace.step : 1,
    });
    const place = (row) => this.camera.toScreen(this.xy[2 * row], this.xy[2 * row + 1]);
    const context = this.context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.camera.width, this.camera.height);
    if (this.showLinks && this.links) paintLinks(context, this.links, place);
    const screen = { place, frame: this.camera };
    if (this.numbersAt) paintNumbers(context, this.numbersAt, this.names, this.stale, screen);
    if (this.pair) paintPair(context, this.pair, screen);
    if (this.path) paintLasso(context, this.path);
  }

  // Points shrink with their number, to cover about the same area, and grow with the zoom.
  #diameter() {
    const base = Math.max(DIAMETER[0], Math.min(DIAMETER[1], 260 / Math.sqrt(this.n)));
    return base * this.ratio * Math.min(Math.sqrt(this.camera.zoom), 3);
  }

  rowAt([px, py]) {
    const { camera } = this;
    return nearest(this.xy, camera.toData(px, py), [camera.unitX, camera.unitY], REACH);
  }

  rowsWithin(path) {
    return pointsInside(
      path.map((at) => this.camera.toData(...at)),
      this.xy,
    );
  }

  zoomBy(factor, px, py) {
    this.camera.zoomBy(factor, px, py);
    this.#move();
  }

  pan(dx, dy) {
    this.camera.pan(dx, dy);
    this.#move();
  }

  reset() {
    this.camera.reset();
    this.draw();
  }

  // Draw some of the points now, and all of them when the map stands still.
  #move() {
    this.draw(true);
    clearTimeout(this.#timer);
    const rest = Math.min(LONGEST_REST, REST + 4 * this.pace.took);
    this.#timer = setTimeout(() => this.draw(), rest);
  }
}
