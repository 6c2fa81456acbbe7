// Whether the clusters follow the answers, and what the page says while they do not.
import { $, onClick, setPressed } from "../shared/dom.js";
import { setting } from "./commands.js";

function textOf(running, stale) {
  if (running) return "Updating the clusters…";
  if (stale)
    return "The clusters do not include your latest answers. Press Update once to refresh them.";
  return "Refining: your latest answers hold already; other rows may still move.";
}

export function showUpdates({ mode, stale, labels, running, refining }) {
  for (const id of ["live", "pause"]) setPressed(id, mode === id);
  $("stale").hidden = !((stale || refining) && labels);
  $("stale-text").textContent = textOf(running, stale);
  $("stop").hidden = !running;
  document.body.classList.toggle("stale", stale);
}

export function listenToUpdates() {
  for (const mode of ["live", "once", "pause", "stop"]) {
    onClick(mode, () => setting("/api/mode", { mode }));
  }
}
