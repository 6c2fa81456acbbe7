// The map: a camera over the points, a layer above them for links, numbers and the lasso.
import { CanvasPoints } from "./canvas.js";
import { hex } from "./colours.js";
import { WebGLPoints } from "./webgl.js";

const REACH = 14; // pixels around a point that hit it
const MOST_LINES = 4000;
const FIRST = 40000; // points drawn in the first frame of a movement
const COARSEST = 31; // of so many points one is drawn; WebGL skips 255 bytes at most
const SLOW = 34; // milliseconds between frames from which on fewer points are drawn
const QUICK = 20; // up to which more are

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function triple(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

export function inside(polygon, x, y) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [ax, ay] = polygon[i], [bx, by] = polygon[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}

export class MapView {
  // on: { pick(row, add), lasso(rows, add), hover(row, x, y) }
  constructor(stage, points, over, on) {
    Object.assign(this, { stage, points, over, on });
    this.context = over.getContext("2d");
    const plain = new URLSearchParams(location.search).get("draw") === "canvas";
    try {
      if (plain) throw new Error("asked for");
      this.layer = new WebGLPoints(points);
      this.kind = "webgl2";
    } catch (error) {
      const fresh = points.cloneNode(); // a canvas that was tried for one kind refuses another
      points.replaceWith(fresh);
      this.points = fresh;
      this.layer = new CanvasPoints(fresh);
      this.kind = "canvas2d";
      stage.dataset.because = error.message;
    }
    stage.dataset.drawn = this.kind;
    Object.assign(this, { n: 0, step: 1, painted: NaN, zoom: 1, x: 0, y: 0, marks: null, labels: null, links: null, pair: null, names: [], showLinks: true, lassoing: false });
    this.listen();
    new ResizeObserver(() => this.resize()).observe(stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.resize();
  }

  setPoints(xy) {
    this.xy = xy;
    this.n = xy.length / 2;
    this.step = Math.min(COARSEST, Math.ceil(this.n / FIRST));
    this.layer.points(xy);
    this.layer.labels(new Int32Array(this.n).fill(-1));
    this.marks = new Uint8Array(this.n);
    this.layer.marks(this.marks);
    this.draw();
  }

  setLabels(labels) {
    this.labels = labels;
    this.layer.labels(labels);
    this.findCentres();
    this.draw();
  }

  setMarks(rows) {
    this.marks = new Uint8Array(this.n);
    for (const row of rows) this.marks[row] = 1;
    this.dim = rows.size > 0;
    this.layer.marks(this.marks);
    this.draw();
  }

  setLinks(links) { this.links = links; this.draw(); }
  setPair(pair) { this.pair = pair; this.draw(); }
  setStale(stale) { if (stale !== this.stale) { this.stale = stale; this.draw(); } }
  setNames(names) { this.names = names; this.draw(); }

  findCentres() {
    // the point of a cluster nearest to its median: a number in its midst, not between its parts
    const k = this.labels.reduce((most, label) => Math.max(most, label + 1), 0);
    const sizes = new Int32Array(k);
    for (const label of this.labels) sizes[label]++;
    const middle = [0, 1].map((axis) => {
      const places = Array.from(sizes, (size) => new Float32Array(size));
      const filled = new Int32Array(k);
      this.labels.forEach((label, i) => { places[label][filled[label]++] = this.xy[2 * i + axis]; });
      return places.map((values) => values.sort()[values.length >> 1]);
    });
    const best = Array.from(sizes, () => ({ far: Infinity, row: -1 }));
    for (let i = 0; i < this.n; i++) {
      const label = this.labels[i], b = best[label];
      const d = (this.xy[2 * i] - middle[0][label]) ** 2 + (this.xy[2 * i + 1] - middle[1][label]) ** 2;
      if (d < b.far) { b.far = d; b.row = i; }
    }
    this.centres = best;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const box = this.stage.getBoundingClientRect();
    this.width = Math.max(box.width, 1);
    this.height = Math.max(box.height, 1);
    for (const canvas of [this.points, this.over]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    this.ratio = ratio;
    this.draw();
  }

  get unitX() { return (this.width / 2 - 34) * this.zoom; } // distances are not true: each axis fills the map
  get unitY() { return (this.height / 2 - 52) * this.zoom; }

  toScreen(i) {
    return [this.width / 2 + (this.xy[2 * i] - this.x) * this.unitX, this.height / 2 - (this.xy[2 * i + 1] - this.y) * this.unitY];
  }

  toData(px, py) {
    return [this.x + (px - this.width / 2) / this.unitX, this.y - (py - this.height / 2) / this.unitY];
  }

  draw(moving = false) {
    this.moving = moving;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame((now) => { this.waiting = 0; this.pace(now); this.paint(); });
  }

  pace(now) { // a map that moves keeps up with the hand: as many points as there is time for
    const took = now - this.painted;
    this.painted = this.moving ? now : NaN;
    if (took >= 0) this.took = took;
    if (took > SLOW) this.step = Math.min(COARSEST, 2 * this.step);
    else if (took < QUICK && this.step > 1) this.step -= 1;
  }

  paint() {
    if (!this.n) return;
    const base = Math.max(2.2, Math.min(9, 260 / Math.sqrt(this.n)));
    const scaleX = (2 * this.unitX) / this.width, scaleY = (2 * this.unitY) / this.height;
    const plain = triple(style("--plain"));
    this.layer.draw({ scaleX, scaleY, shiftX: -this.x * scaleX, shiftY: -this.y * scaleY, size: base * this.ratio * Math.min(Math.sqrt(this.zoom), 3), dim: this.dim, stale: this.stale, plain, step: this.moving ? this.step : 1 });
    const c = this.context;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    if (this.showLinks && this.links) this.paintLinks(c);
    if (this.centres) this.paintNumbers(c);
    if (this.pair) this.paintPair(c);
    if (this.path) this.paintLasso(c);
  }

  paintLinks(c) {
    const m = this.links.length / 3, from = Math.max(0, m - MOST_LINES);
    c.lineWidth = 1.2;
    for (const [sign, colour, dash] of [[1, style("--same"), []], [-1, style("--different"), [4, 4]]]) {
      c.strokeStyle = colour;
      c.globalAlpha = Math.max(0.12, Math.min(0.5, 4 / Math.sqrt(m))) * (sign < 0 ? 0.55 : 1);
      c.setLineDash(dash);
      c.beginPath();
      for (let t = from; t < m; t++) {
        if (this.links[3 * t + 2] !== sign) continue;
        c.moveTo(...this.toScreen(this.links[3 * t]));
        c.lineTo(...this.toScreen(this.links[3 * t + 1]));
      }
      c.stroke();
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  paintNumbers(c) {
    c.textAlign = "center";
    c.textBaseline = "middle";
    this.centres.forEach((centre, label) => {
      if (centre.row < 0) return;
      const [x, y] = this.toScreen(centre.row);
      const text = this.names[label] || String(label + 1);
      const shown = text.length > 24 ? `${text.slice(0, 23)}…` : text;
      c.font = "600 12px system-ui, sans-serif";
      const half = Math.max(c.measureText(shown).width / 2 + 7, 11);
      c.globalAlpha = this.stale ? 0.55 : 0.95;
      c.fillStyle = style("--card");
      c.strokeStyle = hex(label);
      c.lineWidth = 2;
      c.beginPath();
      c.roundRect(x - half, y - 11, 2 * half, 22, 11);
      c.fill();
      c.stroke();
      c.fillStyle = style("--ink");
      c.fillText(shown, x, y + 0.5);
    });
    c.globalAlpha = 1;
  }

  paintPair(c) {
    const ends = this.pair.map((row) => this.toScreen(row));
    if (Math.hypot(ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]) < 12) { // side by side, both to be read
      ends[0][0] -= 11;
      ends[1][0] += 11;
    }
    c.strokeStyle = style("--ink");
    c.lineWidth = 1.5;
    c.setLineDash([2, 4]);
    c.beginPath();
    c.moveTo(...ends[0]);
    c.lineTo(...ends[1]);
    c.stroke();
    c.setLineDash([]);
    ends.forEach(([x, y], i) => {
      c.fillStyle = style("--ink");
      c.beginPath();
      c.arc(x, y, 11, 0, 7);
      c.fill();
      c.fillStyle = style("--card");
      c.font = "700 12px system-ui, sans-serif";
      c.textAlign = "center";
      c.textBaseline = "middle";
      c.fillText("AB"[i], x, y + 0.5);
    });
  }

  paintLasso(c) {
    c.strokeStyle = style("--accent");
    c.fillStyle = style("--accent");
    c.lineWidth = 1.5;
    c.beginPath();
    this.path.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    c.globalAlpha = 0.12;
    c.fill();
    c.globalAlpha = 1;
    c.stroke();
  }

  nearest(px, py) {
    const [x, y] = this.toData(px, py);
    let best = -1, far = REACH ** 2;
    for (let i = 0; i < this.n; i++) {
      const dx = (this.xy[2 * i] - x) * this.unitX, dy = (this.xy[2 * i + 1] - y) * this.unitY, d = dx * dx + dy * dy;
      if (d < far) { far = d; best = i; }
    }
    return best;
  }

  within(path) {
    const polygon = path.map(([px, py]) => this.toData(px, py));
    const xs = polygon.map((p) => p[0]), ys = polygon.map((p) => p[1]);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const rows = [];
    for (let i = 0; i < this.n; i++) {
      const x = this.xy[2 * i], y = this.xy[2 * i + 1];
      if (x >= left && x <= right && y >= low && y <= high && inside(polygon, x, y)) rows.push(i);
    }
    return rows;
  }

  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toData(px, py);
    this.zoom = Math.min(200, Math.max(0.5, this.zoom * factor));
    const [nx, ny] = this.toData(px, py);
    this.x += x - nx;
    this.y += y - ny;
    this.draw(true);
    this.later();
  }

  later() { // all points again when the map stands still; a slow machine is given more time
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), Math.min(1000, 150 + 4 * (this.took || 0)));
  }

  reset() { Object.assign(this, { zoom: 1, x: 0, y: 0 }); this.draw(); }

  pan(dx, dy) { this.x -= dx / this.unitX; this.y += dy / this.unitY; this.draw(true); this.later(); }

  listen() {
    const { over } = this;
    const place = (event) => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    over.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
    }, { passive: false });
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.n) return;
      over.setPointerCapture(event.pointerId);
      this.from = place(event);
      this.last = this.from;
      this.far = 0;
      this.path = this.lassoing || event.shiftKey ? [this.from] : null;
    });
    over.addEventListener("pointermove", (event) => {
      if (!this.n) return;
      const at = place(event);
      if (!this.from) { this.hoverAt(at); return; }
      this.far = Math.max(this.far, Math.hypot(at[0] - this.from[0], at[1] - this.from[1]));
      if (this.path) { this.path.push(at); this.draw(); }
      else if (this.far > 3) this.pan(at[0] - this.last[0], at[1] - this.last[1]);
      this.last = at;
    });
    const end = (event) => {
      if (!this.from) return;
      const path = this.path;
      this.from = this.path = null;
      if (path && this.far > 6) this.on.lasso(this.within(path), event.ctrlKey || event.metaKey);
      else if (this.far <= 3) this.on.pick(this.nearest(...place(event)), true);
      this.draw();
    };
    over.addEventListener("pointerup", end);
    over.addEventListener("pointercancel", () => { this.from = this.path = null; this.draw(); });
    over.addEventListener("pointerleave", () => this.on.hover(-1));
    over.addEventListener("dblclick", (event) => this.zoomBy(2, ...place(event)));
    over.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
      if (steps[event.key]) this.pan(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoomBy(1.3);
      else if (event.key === "-") this.zoomBy(1 / 1.3);
      else if (event.key === "0") this.reset();
      else return;
      event.preventDefault();
    });
  }

  hoverAt(at) {
    if (this.hovering) return;
    this.hovering = true;
    requestAnimationFrame(() => {
      this.hovering = false;
      this.on.hover(this.nearest(...at), ...at);
    });
  }
}
