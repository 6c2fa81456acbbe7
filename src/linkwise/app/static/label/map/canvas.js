// Points drawn by Canvas2D, for browsers without WebGL2; the same interface as WebGLPoints. Few
// points are discs. Many are squares written straight into the pixels: a path for each of 200,000
// takes seconds.
import { COUNT, hex, rgb } from "./colours.js";

const MOST_DISCS = 30000; // points; drawn as paths they still take less than a frame's time
const CIRCLE = 2 * Math.PI;

// Return a colour, channels in 0..1, as one pixel of an image.
function pixel(colour, alpha) {
  const bytes = Uint8ClampedArray.from([...colour, alpha], (value) => 255 * value); // rounds
  return new Uint32Array(bytes.buffer)[0];
}

function cssColour(colour) {
  return `rgb(${colour.map((value) => Math.round(255 * value)).join(" ")})`;
}

export class CanvasPoints {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  setPoints(xy) {
    this.xy = xy;
    this.n = xy.length / 2;
  }

  setLabels(labels) {
    this.labels = labels;
  }

  setMarks(marks) {
    this.marks = marks;
  }

  draw(view) {
    const { width, height } = this.canvas;
    const many = this.n > MOST_DISCS;
    this.context.clearRect(0, 0, width, height);
    if (many) this.prepareImage(width, height);
    for (const marked of [false, true]) {
      const alpha = (view.dim && !marked ? 0.13 : 0.88) * (view.stale ? 0.55 : 1);
      const side = Math.max(view.size * (marked ? 1.35 : 1), 1);
      if (many) this.drawSquares(view, marked, alpha, Math.round(side));
      else this.drawDiscs(view, marked, alpha, side);
    }
    if (many) this.context.putImageData(this.image, 0, 0);
  }

  prepareImage(width, height) {
    if (this.image?.width !== width || this.image?.height !== height) {
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0);
  }

  // Call draw(x, y, label) for every step-th point that is marked, or is not, in pixels.
  each({ scaleX, scaleY, shiftX, shiftY, step }, marked, draw) {
    const { xy, labels, marks } = this;
    const { width, height } = this.canvas;
    for (let i = 0; i < this.n; i += step) {
      if (Boolean(marks[i]) !== marked) continue;
      const x = ((xy[2 * i] * scaleX + shiftX) * 0.5 + 0.5) * width;
      const y = (0.5 - (xy[2 * i + 1] * scaleY + shiftY) * 0.5) * height;
      draw(x, y, labels[i]);
    }
  }

  drawSquares(view, marked, alpha, side) {
    const { pixels } = this;
    const { width, height } = this.canvas;
    const palette = Uint32Array.from({ length: COUNT }, (_, label) => pixel(rgb(label), alpha));
    const plain = pixel(view.plain, alpha);
    this.each(view, marked, (x, y, label) => {
      const left = Math.max(Math.round(x - side / 2), 0);
      const right = Math.min(Math.round(x - side / 2) + side, width);
      if (left >= right) return;
      const top = Math.round(y - side / 2);
      const colour = label < 0 ? plain : palette[label % COUNT];
      for (let row = Math.max(top, 0); row < Math.min(top + side, height); row++) {
        pixels.fill(colour, row * width + left, row * width + right);
      }
    });
  }

  drawDiscs(view, marked, alpha, side) {
    const { context } = this;
    const { width, height } = this.canvas;
    const plain = cssColour(view.plain);
    context.globalAlpha = alpha;
    this.each(view, marked, (x, y, label) => {
      if (x < -side || y < -side || x > width + side || y > height + side) return;
      context.fillStyle = label < 0 ? plain : hex(label);
      context.beginPath();
      context.arc(x, y, side / 2, 0, CIRCLE);
      context.fill();
    });
    context.globalAlpha = 1;
  }
}
