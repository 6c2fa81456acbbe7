// Mouse, touch and keys on the map.

const CLICK = 3; // pixels a pointer may move within a click
const LASSO = 6; // pixels a lasso has to reach
const STEP = 40; // pixels that an arrow key moves the map
const KEY_ZOOM = 1.3;
const ARROWS = {
  ArrowLeft: [STEP, 0],
  ArrowRight: [-STEP, 0],
  ArrowUp: [0, STEP],
  ArrowDown: [0, -STEP],
};

function distance([ax, ay], [bx, by]) {
  return Math.hypot(ax - bx, ay - by);
}

// Follow one pointer at a time; `on` has pick(row), lasso(rows, add) and hover(row, x, y).
class Gestures {
  from = null; // where the pointer went down
  last = null;
  far = 0; // how far it went since
  hovering = false;

  constructor(canvas, map, on) {
    Object.assign(this, { canvas, map, on });
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  begin(event) {
    if (event.button !== 0 || !this.map.n) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.from = this.last = this.place(event);
    this.far = 0;
    this.map.path = this.map.lassoing || event.shiftKey ? [this.from] : null;
  }

  move(event) {
    if (!this.map.n) return;
    const at = this.place(event);
    if (!this.from) return this.hover(at);
    this.far = Math.max(this.far, distance(at, this.from));
    if (this.map.path) {
      this.map.path.push(at);
      this.map.draw();
    } else if (this.far > CLICK) {
      this.map.pan(at[0] - this.last[0], at[1] - this.last[1]);
    }
    this.last = at;
  }

  end(event) {
    if (!this.from) return;
    const path = this.map.path;
    this.cancel();
    if (path && this.far > LASSO) {
      this.on.lasso(this.map.rowsWithin(path), event.ctrlKey || event.metaKey);
    } else if (this.far <= CLICK) {
      this.on.pick(this.map.rowAt(this.place(event)));
    }
  }

  cancel() {
    this.from = this.map.path = null;
    this.map.draw();
  }

  // Look for the row under the pointer once a frame: with many points this takes a while.
  hover(at) {
    if (this.hovering) return;
    this.hovering = true;
    requestAnimationFrame(() => {
      this.hovering = false;
      this.on.hover(this.map.rowAt(at), ...at);
    });
  }

  wheel(event) {
    event.preventDefault();
    const speed = event.deltaMode ? 0.05 : 0.0015; // lines or pixels
    this.map.zoomBy(Math.exp(-event.deltaY * speed), ...this.place(event));
  }

  key(event) {
    if (ARROWS[event.key]) this.map.pan(...ARROWS[event.key]);
    else if (event.key === "+" || event.key === "=") this.map.zoomBy(KEY_ZOOM);
    else if (event.key === "-") this.map.zoomBy(1 / KEY_ZOOM);
    else if (event.key === "0") this.map.reset();
    else return;
    event.preventDefault();
  }
}

export function listen(canvas, map, on) {
  const gestures = new Gestures(canvas, map, on);
  canvas.addEventListener("wheel", (event) => gestures.wheel(event), { passive: false });
  canvas.addEventListener("pointerdown", (event) => gestures.begin(event));
  canvas.addEventListener("pointermove", (event) => gestures.move(event));
  canvas.addEventListener("pointerup", (event) => gestures.end(event));
  canvas.addEventListener("pointercancel", () => gestures.cancel());
  canvas.addEventListener("pointerleave", () => on.hover(-1));
  canvas.addEventListener("dblclick", (event) => map.zoomBy(2, ...gestures.place(event)));
  canvas.addEventListener("keydown", (event) => gestures.key(event));
}
