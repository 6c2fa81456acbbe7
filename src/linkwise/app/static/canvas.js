// Points by Canvas2D, where there is no WebGL2: the same interface, a sample while moving.
import { hex } from "./colours.js";

const MOST = 30000; // points drawn in a frame while the map moves

export class CanvasPoints {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  points(xy) { this.xy = xy; this.n = xy.length / 2; }
  labels(labels) { this.kept = labels; }
  marks(marks) { this.chosen = marks; }

  draw({ scaleX, scaleY, shiftX, shiftY, size, dim, stale, plain, moving }) {
    const { context, canvas, xy } = this;
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    const grey = `rgb(${plain.map((v) => Math.round(255 * v)).join(" ")})`;
    const step = moving ? Math.max(1, Math.ceil(this.n / MOST)) : 1;
    for (const chosen of [false, true]) {
      context.globalAlpha = (dim && !chosen ? 0.13 : 0.88) * (stale ? 0.55 : 1);
      const side = Math.max(size * (chosen ? 1.35 : 1), 1);
      for (let i = 0; i < this.n; i += step) {
        if (Boolean(this.chosen && this.chosen[i]) !== chosen) continue;
        const x = ((xy[2 * i] * scaleX + shiftX) * 0.5 + 0.5) * width;
        const y = (0.5 - (xy[2 * i + 1] * scaleY + shiftY) * 0.5) * height;
        if (x < -side || y < -side || x > width + side || y > height + side) continue;
        const label = this.kept ? this.kept[i] : -1;
        context.fillStyle = label < 0 ? grey : hex(label);
        if (this.n > MOST) {
          context.fillRect(x - side / 2, y - side / 2, side, side);
        } else {
          context.beginPath();
          context.arc(x, y, side / 2, 0, 7);
          context.fill();
        }
      }
    }
    context.globalAlpha = 1;
  }
}
