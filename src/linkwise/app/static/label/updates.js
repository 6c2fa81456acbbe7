// Whether the clusters follow the answers, and what the page says while they do not.
import { $, onClick, setPressed } from "../shared/dom.js";
import { setting } from "./commands.js";

export function showUpdates({ mode, stale, labels, running }) {
  for (const id of ["live", "pause"]) setPressed(id, mode === id);
  $("stale").hidden = !(stale && labels);
  $("stale-text").textContent = running
    ? "Updating the clusters…"
    : "The clusters do not include your latest answers. Press Update once to refresh them.";
  $("stop").hidden = !running;
  document.body.classList.toggle("stale", stale);
}

export function listenToUpdates() {
  for (const mode of ["live", "once", "pause", "stop"]) {
    onClick(mode, () => setting("/api/mode", { mode }));
  }
}
