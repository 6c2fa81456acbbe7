// Where the image is on the screen: moved and zoomed.
import { $ } from "../shared/dom.js";
import { Signal } from "../shared/signal.js";
import { store } from "./store.js";

const ZOOM = [0.02, 40];
const SIDES = 32; // pixels left free beside a fitted image
const ABOVE = 8; // and above it
const BELOW = 64; // and below it, for the controls

const stage = $("stage");

class Viewport {
  scale = 1; // pixels of the screen for one of the image
  left = 0;
  top = 0;
  fitted = true; // the image fits the window, also when the window changes
  changed = new Signal();

  place() {
    const { width, height } = store.view;
    const sheet = $("sheet").style;
    sheet.width = `${width}px`;
    sheet.height = `${height}px`;
    sheet.transform = `translate(${this.left}px, ${this.top}px) scale(${this.scale})`;
    this.changed.emit();
  }

  fit() {
    const { width, height } = store.view;
    const { clientWidth, clientHeight } = stage;
    const room = clientHeight - ABOVE - BELOW;
    this.scale = Math.min((clientWidth - SIDES) / width, room / height);
    this.left = (clientWidth - this.scale * width) / 2;
    this.top = ABOVE + (room - this.scale * height) / 2;
    this.fitted = true;
    this.place();
  }

  // Zoom about a place of the stage, which stays where it is.
  zoomBy(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const scale = Math.min(ZOOM[1], Math.max(ZOOM[0], this.scale * factor));
    this.moveTo(
      x - ((x - this.left) * scale) / this.scale,
      y - ((y - this.top) * scale) / this.scale,
      scale,
    );
  }

  moveTo(left, top, scale = this.scale) {
    Object.assign(this, { left, top, scale, fitted: false });
    this.place();
  }

  // Return a place of the window in pixels of the image, and whether it is on the image.
  toImage(clientX, clientY) {
    const box = stage.getBoundingClientRect();
    const x = (clientX - box.left - this.left) / this.scale;
    const y = (clientY - box.top - this.top) / this.scale;
    const { width, height } = store.view;
    const within = x >= 0 && y >= 0 && x <= width && y <= height;
    return { point: onImage([x, y]), within };
  }
}

// Return the nearest point of the image, to a tenth of a pixel.
export function onImage([x, y]) {
  const clamp = (value, high) => Math.round(10 * Math.min(high, Math.max(0, value))) / 10;
  return [clamp(x, store.view.width), clamp(y, store.view.height)];
}

export const viewport = new Viewport();

export function listenToViewport() {
  const resize = () => (viewport.fitted ? viewport.fit() : viewport.place());
  new ResizeObserver(() => store.view && resize()).observe(stage);
}
