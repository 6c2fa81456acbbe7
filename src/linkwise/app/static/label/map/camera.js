// The camera over the map: which part of the data the screen shows. Points lie in -1..1 on both
// axes. Distances on the map are not true anyway, so each axis fills the stage.

const MARGIN_X = 34; // pixels, for half a cluster number beyond the outermost point
const MARGIN_Y = 52; // pixels, for the toolbar above
const ZOOM = [0.5, 200];

export class Camera {
  width = 1;
  height = 1;
  zoom = 1;
  x = 0;
  y = 0;

  resize(width, height) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
  }

  // Pixels of one unit of the data.
  get unitX() {
    return (this.width / 2 - MARGIN_X) * this.zoom;
  }

  get unitY() {
    return (this.height / 2 - MARGIN_Y) * this.zoom;
  }

  toScreen(x, y) {
    return [
      this.width / 2 + (x - this.x) * this.unitX,
      this.height / 2 - (y - this.y) * this.unitY,
    ];
  }

  toData(px, py) {
    return [
      this.x + (px - this.width / 2) / this.unitX,
      this.y - (py - this.height / 2) / this.unitY,
    ];
  }

  // Scale and shift from the data to -1..1 of the screen, as the layers of points use it.
  get transform() {
    const scaleX = (2 * this.unitX) / this.width;
    const scaleY = (2 * this.unitY) / this.height;
    return { scaleX, scaleY, shiftX: -this.x * scaleX, shiftY: -this.y * scaleY };
  }

  // Zoom about a place of the screen, which stays where it is.
  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toData(px, py);
    this.zoom = Math.min(ZOOM[1], Math.max(ZOOM[0], this.zoom * factor));
    const [newX, newY] = this.toData(px, py);
    this.x += x - newX;
    this.y += y - newY;
  }

  pan(dx, dy) {
    this.x -= dx / this.unitX;
    this.y += dy / this.unitY;
  }

  reset() {
    Object.assign(this, { zoom: 1, x: 0, y: 0 });
  }
}
