// The strokes: those that linkwise has, those on their way, and the one that is being drawn.
import { connection } from "../shared/connection.js";
import { Signal } from "../shared/signal.js";
import { brush, strokeWidth } from "./brushes.js";
import { send } from "./commands.js";
import { store } from "./store.js";
import { viewport } from "./viewport.js";

const MOST_POINTS = 10000; // of a stroke: linkwise refuses longer ones
const LEAST_STEP = 1.5; // pixels of the screen between two points

const keyOf = ({ colour, points }) => JSON.stringify([colour, points]);

class Strokes {
  current = null; // the stroke under the pointer or the keys
  changed = new Signal();
  #unsettled = []; // drawn, and not yet in the view
  #sending = new Set(); // those of them on their way

  get all() {
    const current = this.current ? [this.current] : [];
    return [...store.view.strokes, ...this.#unsettled, ...current];
  }

  get count() {
    return store.view.strokes.length + this.#unsettled.length;
  }

  begin(point) {
    this.current = { colour: brush.colour, points: [point], width: strokeWidth() };
    this.changed.emit();
  }

  extend(point) {
    const { points } = this.current;
    const [x, y] = points[points.length - 1];
    const distance = Math.hypot(point[0] - x, point[1] - y) * viewport.scale;
    if (points.length >= MOST_POINTS || distance < LEAST_STEP) return;
    points.push(point);
    this.changed.emit();
  }

  cancel() {
    this.current = null;
    this.changed.emit();
  }

  async finish() {
    const stroke = this.current;
    if (!stroke) return;
    this.current = null;
    this.#unsettled.push(stroke);
    this.#sending.add(stroke);
    this.changed.emit();
    const view = await send("/api/stroke", stroke);
    this.#sending.delete(stroke);
    if (view !== null) this.#unsettled = this.#unsettled.filter((other) => other !== stroke);
    this.changed.emit();
  }

  // Forget the strokes that a new view has, and those that nobody is going to send.
  settle() {
    const known = new Set(store.view.strokes.map(keyOf));
    const waits = ({ points }) => connection.pending.some(([, body]) => body.points === points);
    this.#unsettled = this.#unsettled.filter(
      (stroke) => (this.#sending.has(stroke) || waits(stroke)) && !known.has(keyOf(stroke)),
    );
  }
}

export const strokes = new Strokes();
