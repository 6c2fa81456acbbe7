// Points by Canvas2D, where there is no WebGL2: the same interface. Few are discs; many are squares
// written straight into the pixels, since a path for each of 200,000 takes seconds.
import { COUNT, hex, rgb } from "./colours.js";

const ROUND = 30000; // points that are drawn as discs
const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1; // the order of bytes

function pixel(colour, alpha) {
  const [r, g, b] = colour.map((v) => Math.round(255 * v)), a = Math.round(255 * alpha);
  return (LITTLE ? (a << 24) | (b << 16) | (g << 8) | r : (r << 24) | (g << 16) | (b << 8) | a) >>> 0;
}

export class CanvasPoints {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  points(xy) { this.xy = xy; this.n = xy.length / 2; }
  labels(labels) { this.kept = labels; }
  marks(marks) { this.chosen = marks; }

  draw(view) {
    const { width, height } = this.canvas;
    this.context.clearRect(0, 0, width, height);
    if (this.n > ROUND) this.image(width, height);
    for (const chosen of [false, true]) {
      const alpha = (view.dim && !chosen ? 0.13 : 0.88) * (view.stale ? 0.55 : 1);
      const side = Math.max(view.size * (chosen ? 1.35 : 1), 1);
      if (this.n > ROUND) this.squares(view, chosen, alpha, Math.round(side));
      else this.discs(view, chosen, alpha, side);
    }
    if (this.n > ROUND) this.context.putImageData(this.picture, 0, 0);
  }

  image(width, height) {
    if (this.picture?.width !== width || this.picture?.height !== height) {
      this.picture = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.picture.data.buffer);
    }
    this.pixels.fill(0);
  }

  squares({ scaleX, scaleY, shiftX, shiftY, plain, step }, chosen, alpha, side) {
    const { xy, kept, pixels, canvas: { width, height } } = this;
    const palette = Uint32Array.from({ length: COUNT }, (_, label) => pixel(rgb(label), alpha));
    const grey = pixel(plain, alpha);
    for (let i = 0; i < this.n; i += step) {
      if (Boolean(this.chosen && this.chosen[i]) !== chosen) continue;
      const x = Math.round(((xy[2 * i] * scaleX + shiftX) * 0.5 + 0.5) * width - side / 2);
      const y = Math.round((0.5 - (xy[2 * i + 1] * scaleY + shiftY) * 0.5) * height - side / 2);
      const left = Math.max(x, 0), right = Math.min(x + side, width);
      if (left >= right) continue;
      const label = kept ? kept[i] : -1;
      const colour = label < 0 ? grey : palette[label % COUNT];
      for (let row = Math.max(y, 0); row < Math.min(y + side, height); row++) {
        pixels.fill(colour, row * width + left, row * width + right);
      }
    }
  }

  discs({ scaleX, scaleY, shiftX, shiftY, plain, step }, chosen, alpha, side) {
    const { context, xy, canvas: { width, height } } = this;
    const grey = `rgb(${plain.map((v) => Math.round(255 * v)).join(" ")})`;
    context.globalAlpha = alpha;
    for (let i = 0; i < this.n; i += step) {
      if (Boolean(this.chosen && this.chosen[i]) !== chosen) continue;
      const x = ((xy[2 * i] * scaleX + shiftX) * 0.5 + 0.5) * width;
      const y = (0.5 - (xy[2 * i + 1] * scaleY + shiftY) * 0.5) * height;
      if (x < -side || y < -side || x > width + side || y > height + side) continue;
      const label = this.kept ? this.kept[i] : -1;
      context.fillStyle = label < 0 ? grey : hex(label);
      context.beginPath();
      context.arc(x, y, side / 2, 0, 7);
      context.fill();
    }
    context.globalAlpha = 1;
  }
}
