// The toolbar of the selected rows: corrections by hand.
import { $, onClick } from "../shared/dom.js";
import { count } from "../shared/texts.js";
import { setOption } from "./cluster_names.js";
import { correct } from "./commands.js";
import { selection } from "./selection.js";
import { store } from "./store.js";

const target = () => Number($("target").value);

// Return the cluster that most of the rows are in.
function commonCluster(rows) {
  const sizes = new Map();
  for (const row of rows) {
    const label = store.labels[row];
    sizes.set(label, (sizes.get(label) ?? 0) + 1);
  }
  return [...sizes].reduce((best, other) => (other[1] > best[1] ? other : best))[0];
}

function showToolbar(rows) {
  $("selection").hidden = rows.size === 0;
  $("selection-count").textContent = `${count(rows.size, "row")} selected`;
  for (const id of ["do-same", "do-different"]) $(id).hidden = rows.size !== 2;
  $("do-together").disabled = rows.size < 2;
  if (rows.size && store.labels) setOption($("target"), String(commonCluster(rows)));
}

function link(same) {
  const [a, b] = selection.rows;
  correct("link", { a, b, same }, same ? "Linked as same" : "Linked as different");
}

// Do something to the selected rows and the cluster chosen beside the buttons.
function withCluster(action, done) {
  const cluster = target();
  correct(action, { rows: [...selection.rows], cluster }, `${done} cluster ${cluster}`);
}

export function listenToCorrections() {
  selection.changed.on(showToolbar);
  onClick("do-same", () => link(true));
  onClick("do-different", () => link(false));
  onClick("do-together", () => correct("together", { rows: [...selection.rows] }, "Rows grouped"));
  onClick("do-apart", () => withCluster("apart", "Removed from"));
  onClick("do-split", () => withCluster("split", "Split off from"));
  onClick("do-move", () => withCluster("move", "Moved to"));
  onClick("do-clear", () => selection.clear());
}
