// The strokes: those that linkwise has, those that wait for it, those on their way, and the one that
// is being drawn.
import { queue } from "../shared/queue.js";
import { Signal } from "../shared/signal.js";
import { brush, strokeWidth } from "./brushes.js";
import { send } from "./commands.js";
import { store } from "./store.js";
import { viewport } from "./viewport.js";

const MOST_POINTS = 10000; // of a stroke: linkwise refuses longer ones
const LEAST_STEP = 1.5; // pixels of the screen between two points

const PATH = "/api/stroke";

const keyOf = ({ colour, points }) => JSON.stringify([colour, points]);

class Strokes {
  current = null; // the stroke under the pointer or the keys
  changed = new Signal();
  #sending = []; // on their way, and not yet in the view

  constructor() {
    queue.changed.on(() => this.changed.emit());
  }

  get #drawn() {
    const { image } = store.view;
    const here = (stroke) => (stroke.image ?? null) === image;
    const waiting = queue.waiting.filter(({ path }) => path === PATH).map(({ body }) => body);
    return [...store.view.strokes, ...[...waiting, ...this.#sending].filter(here)];
  }

  get all() {
    return this.current ? [...this.#drawn, this.current] : this.#drawn;
  }

  get count() {
    return this.#drawn.length;
  }

  begin(point) {
    const { image } = store.view;
    this.current = { colour: brush.colour, points: [point], width: strokeWidth(), image };
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

  // Leave the stroke that is being drawn: another image is shown.
  forget() {
    this.current = null;
  }

  async finish() {
    const stroke = this.current;
    if (!stroke) return;
    this.current = null;
    this.#sending.push(stroke);
    this.changed.emit();
    await send(PATH, stroke, `A stroke of brush ${stroke.colour}`);
    this.#sending = this.#sending.filter((other) => other !== stroke);
    this.changed.emit();
  }

  // Forget the strokes that a new view has.
  settle() {
    const known = new Set(store.view.strokes.map(keyOf));
    this.#sending = this.#sending.filter((stroke) => !known.has(keyOf(stroke)));
  }
}

export const strokes = new Strokes();
