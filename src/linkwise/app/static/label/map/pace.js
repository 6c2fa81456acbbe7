// How many points to draw while the map moves: as many as there is time for, so that the map keeps
// up with the hand. Of `step` points one is drawn.

const FIRST = 40000; // points in the first frame of a movement: drawn in time on any machine
const COARSEST = 31; // WebGL skips at most 255 bytes; a position takes 8
const SLOW = 34; // milliseconds between frames, two of a 60 Hz screen: above, draw fewer points
const QUICK = 20; // milliseconds between frames: below, draw more points

export class Pace {
  step = 1;
  took = 0; // milliseconds between the last two frames of a movement
  #last = Number.NaN; // when the last frame of this movement was drawn

  start(n) {
    this.step = Math.min(COARSEST, Math.ceil(n / FIRST));
  }

  frame(now, moving) {
    const took = now - this.#last;
    this.#last = moving ? now : Number.NaN;
    if (Number.isNaN(took)) return;
    this.took = took;
    if (took > SLOW) this.step = Math.min(COARSEST, 2 * this.step);
    else if (took < QUICK && this.step > 1) this.step -= 1;
  }
}
