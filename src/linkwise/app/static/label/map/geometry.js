// Which points are where. Positions are one array of x, y, x, y, ...

export function inside(polygon, x, y) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [ax, ay] = polygon[i];
    const [bx, by] = polygon[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}

// Return the points inside a polygon.
export function pointsInside(polygon, xy) {
  const xs = polygon.map(([x]) => x);
  const ys = polygon.map(([, y]) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const found = [];
  for (let i = 0; i < xy.length / 2; i++) {
    const x = xy[2 * i];
    const y = xy[2 * i + 1];
    const inBox = x >= left && x <= right && y >= low && y <= high;
    if (inBox && inside(polygon, x, y)) found.push(i);
  }
  return found;
}

// Return the point nearest to (x, y), with an axis's differences scaled; -1: none within reach.
export function nearest(xy, [x, y], [scaleX, scaleY], reach) {
  let best = -1;
  let least = reach ** 2;
  for (let i = 0; i < xy.length / 2; i++) {
    const dx = (xy[2 * i] - x) * scaleX;
    const dy = (xy[2 * i + 1] - y) * scaleY;
    const distance = dx * dx + dy * dy;
    if (distance < least) [least, best] = [distance, i];
  }
  return best;
}

function medians(xy, axis, labels, sizes) {
  const places = Array.from(sizes, (size) => new Float32Array(size));
  const filled = new Int32Array(sizes.length);
  labels.forEach((label, i) => {
    if (label >= 0) places[label][filled[label]++] = xy[2 * i + axis];
  });
  return places.map((values) => values.sort()[values.length >> 1]);
}

// Return for each cluster its point nearest to its median, -1 for an empty one: a cluster's number
// stands on one of its points, never between its parts.
export function centres(xy, labels) {
  const k = labels.reduce((most, label) => Math.max(most, label + 1), 0);
  const sizes = new Int32Array(k);
  for (const label of labels) if (label >= 0) sizes[label]++;
  const middles = [0, 1].map((axis) => medians(xy, axis, labels, sizes));
  const rows = new Int32Array(k).fill(-1);
  const least = new Float64Array(k).fill(Infinity);
  labels.forEach((label, i) => {
    if (label < 0) return; // in no cluster
    const dx = xy[2 * i] - middles[0][label];
    const dy = xy[2 * i + 1] - middles[1][label];
    const distance = dx * dx + dy * dy;
    if (distance < least[label]) [least[label], rows[label]] = [distance, i];
  });
  return rows;
}
