// The map on this page: what a click or a lasso selects, and the toolbar above it.
import { $, isPressed, onClick, setPressed } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { MapView } from "./map/view.js";
import { selection } from "./selection.js";
import { store } from "./store.js";
import { showTip } from "./tip.js";

const ZOOM = 1.4; // of one press

// Whether the lasso selects a row: only those of one cluster, if one is chosen.
function isWanted(row) {
  const { value } = $("within");
  return value === "" || store.labels?.[row] === Number(value);
}

export const map = new MapView($("stage"), $("points"), $("over"), {
  pick(row) {
    if (row >= 0) selection.toggle(row);
  },
  lasso(inside, add) {
    const rows = inside.filter(isWanted);
    if (add) selection.add(rows);
    else selection.set(rows);
    if (!rows.length)
      say(`There are no points ${inside.length ? "of this cluster " : ""}inside the lasso.`);
  },
  hover: showTip,
});

export function toggleLasso() {
  map.lassoing = !map.lassoing;
  setPressed("lasso", map.lassoing);
  $("within").hidden = !map.lassoing;
  $("over").classList.toggle("draws", map.lassoing);
}

function toggleLinks() {
  setPressed("lines", !isPressed("lines"));
  map.setShowLinks(isPressed("lines"));
}

export function listenToMapTools() {
  onClick("lasso", toggleLasso);
  onClick("lines", toggleLinks);
  onClick("zoom-in", () => map.zoomBy(ZOOM));
  onClick("zoom-out", () => map.zoomBy(1 / ZOOM));
  onClick("reset", () => map.reset());
  selection.changed.on((rows) => map.setMarks(rows));
}
