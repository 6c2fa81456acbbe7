// The toolbar of the selected rows: corrections by hand.
import { $, onClick } from "../shared/dom.js";
import { count } from "../shared/texts.js";
import { setOption } from "./cluster_names.js";
import { markRows } from "./commands.js";
import { plan } from "./plan.js";
import { selection } from "./selection.js";
import { store } from "./store.js";

const NAMED = 4; // clusters named in a sentence

const target = () => Number($("target").value);

// Return how many of the rows are in each cluster, [label, size] each, the largest first.
function clustersOf(rows) {
  const sizes = new Map();
  for (const row of rows) {
    const label = store.labels[row];
    sizes.set(label, (sizes.get(label) ?? 0) + 1);
  }
  return [...sizes].sort((one, other) => other[1] - one[1]);
}

// What each button does: the words for it, what it says when it is done, and the correction.
const ACTIONS = {
  "do-same": {
    text: () => "Link the two rows: same",
    done: () => "Linked as same",
    correction: ([a, b]) => ["link", { a, b, same: true }],
  },
  "do-different": {
    text: () => "Link the two rows: different",
    done: () => "Linked as different",
    correction: ([a, b]) => ["link", { a, b, same: false }],
  },
  "do-together": {
    text: (rows) => `Make ${count(rows, "row")} one group`,
    done: () => "Rows grouped",
    correction: (rows) => ["together", { rows }],
  },
  "do-apart": {
    text: (rows) => `Remove ${count(rows, "row")} from cluster ${target()}`,
    done: () => `Removed from cluster ${target()}`,
    correction: (rows) => ["apart", { rows, cluster: target() }],
  },
  "do-split": {
    text: (rows) => `Split ${count(rows, "row")} off cluster ${target()}, as a new cluster`,
    done: () => `Split off cluster ${target()}`,
    correction: (rows) => ["split", { rows, cluster: target() }],
  },
  "do-move": {
    text: (rows) => `Move ${count(rows, "row")} to cluster ${target()}`,
    done: () => `Moved to cluster ${target()}`,
    correction: (rows) => ["move", { rows, cluster: target() }],
  },
};

function summary(rows) {
  const found = clustersOf(rows);
  const placeOf = (label) => (label < 0 ? "no cluster" : `cluster ${label}`);
  const named = found.slice(0, NAMED).map(([label, size]) => `${size} in ${placeOf(label)}`);
  const more = found.length - named.length;
  if (more > 0) named.push(`the others in ${count(more, "more cluster")}`);
  return `${named.join(", ")}.`;
}

function showSummary() {
  const { rows } = selection;
  $("selection-does").textContent = rows.size && store.labels ? `${summary(rows)}` : "";
}

function showToolbar(rows) {
  $("selection").hidden = rows.size === 0;
  $("selection-count").textContent = `${count(rows.size, "row")} selected`;
  for (const id of ["do-same", "do-different"]) $(id).hidden = rows.size !== 2;
  $("do-together").disabled = rows.size < 2;
  if (rows.size && store.labels) setOption($("target"), String(clustersOf(rows)[0][0]));
  showSummary();
}

function begin(id) {
  const { text, done, correction } = ACTIONS[id];
  const [action, options] = correction([...selection.rows]);
  plan({ action, options, text: text(selection.rows.size), done: done() });
}

async function mark(kind) {
  const rows = [...selection.rows];
  const view = await markRows(rows, kind, count(rows.length, "row"));
  if (view !== undefined) selection.clear();
}

function listenTo(id) {
  const say = () => {
    $("selection-does").textContent = `${ACTIONS[id].text(selection.rows.size)}.`;
  };
  onClick(id, () => begin(id));
  for (const event of ["pointerenter", "focus"]) $(id).addEventListener(event, say);
  for (const event of ["pointerleave", "blur"]) $(id).addEventListener(event, showSummary);
}

export function listenToCorrections() {
  selection.changed.on(showToolbar);
  for (const id of Object.keys(ACTIONS)) listenTo(id);
  onClick("do-stray", () => mark("stray"));
  onClick("do-unclear", () => mark("unclear"));
  onClick("do-clear", () => selection.clear());
}
