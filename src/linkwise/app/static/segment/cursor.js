// The brush that the arrow keys move over the image, in pixels of the image.
import { store } from "./store.js";
import { onImage } from "./viewport.js";

const STEP = 0.02; // of the image, for one key
const FINE = 0.25; // of a step, with Shift

class Cursor {
  at = null; // null: the keyboard is not drawing

  appear() {
    this.at ??= onImage([store.view.width / 2, store.view.height / 2]);
    return this.at;
  }

  move([dx, dy], fine) {
    const [x, y] = this.appear();
    const longest = Math.max(store.view.width, store.view.height);
    const step = STEP * longest * (fine ? FINE : 1);
    this.at = onImage([x + dx * step, y + dy * step]);
  }

  hide() {
    this.at = null;
  }
}

export const cursor = new Cursor();
