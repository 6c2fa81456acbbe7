// Questions about several rows: which cluster a row belongs to, or which rows of a set do not
// belong. They are asked in place of a pair if the person wants them and they tell more.
import { connection } from "../shared/connection.js";
import { $, make, onClick, setPressed, whenChanged } from "../shared/dom.js";
import { count } from "../shared/texts.js";
import { numberOf, titleOf } from "./cluster_names.js";
import { command } from "./commands.js";
import { thumbnailOf } from "./examples.js";
import { store } from "./store.js";

const STORED = "linkwise wide questions";

const out = new Set(); // rows of the set that do not belong
let wanted = read();
let skipped = ""; // the question that is asked as a pair instead

function read() {
  try {
    return localStorage.getItem(STORED) === "yes";
  } catch {
    return false; // a browser that stores nothing
  }
}

const nameOf = ({ kind, row, anchors = [], rows = [] }) =>
  [kind, row?.row, ...[...anchors, ...rows].map((item) => item.row)].join(" ");

// Return the question about several rows that is to be shown, or null.
export function wideQuestion(view) {
  if (!wanted || !view?.wider || nameOf(view.wider) === skipped) return null;
  return view.wider;
}

// Tell whether a question about several rows may still come in place of the pair.
export function isComing({ running, wider }) {
  return wanted && running && !wider;
}

function contentOf(item) {
  if (store.view.images) return thumbnailOf(item);
  return make("bdi", { className: "content", textContent: item.content });
}

function choiceOf(item, number, className, click) {
  const { kind } = store.view.wider;
  const cluster = store.view.clusters.find(({ label }) => label === item.label);
  const head = kind === "label" && cluster ? [numberOf(item.label, "number small")] : [];
  const title = kind === "label" && cluster ? `Cluster ${titleOf(cluster)}` : item.name;
  const button = make(
    "button",
    { className, title, on: { click } },
    make("kbd", { textContent: String(number) }),
    ...head,
    contentOf(item),
  );
  if (kind === "set") button.setAttribute("aria-pressed", String(out.has(item.row)));
  return make("li", {}, button);
}

function showSetAnswer({ rows }) {
  $("wide-out").disabled = out.size === rows.length;
  $("wide-out-text").textContent = out.size
    ? `${count(out.size, "row")} ${out.size === 1 ? "does" : "do"} not belong`
    : "All belong together";
}

function toggle(wide, item) {
  if (!out.delete(item.row)) out.add(item.row);
  showWide(store.view);
  showSetAnswer(wide);
}

const showWide = whenChanged(
  (view) => [wideQuestion(view), view.clusters, [...out]],
  (view) => {
    const wide = wideQuestion(view);
    if (!wide) return;
    const isLabel = wide.kind === "label";
    $("wide-title").textContent = isLabel ? "Which of these is it like?" : "Which do not belong?";
    $("wide-row").hidden = !isLabel;
    $("wide-row").replaceChildren(...(isLabel ? [contentOf(wide.row)] : []));
    $("wide-none").hidden = !isLabel;
    $("wide-out").hidden = isLabel;
    for (const id of ["wide-unclear", "wide-stray"]) $(id).hidden = !isLabel;
    $("wide-why").textContent = wide.why;
    const items = isLabel ? wide.anchors : wide.rows;
    const act = isLabel ? (item) => choose(wide, item) : (item) => toggle(wide, item);
    $("wide-choices").replaceChildren(
      ...items.map((item, i) => choiceOf(item, i + 1, "choice", () => act(item))),
    );
    if (!isLabel) showSetAnswer(wide);
  },
);

// Show the question about several rows, if there is one; tell whether there is.
export function showWideQuestion(view) {
  const wide = wideQuestion(view);
  const rows = wide?.kind === "set" ? wide.rows.map(({ row }) => row) : [];
  for (const row of out) if (!rows.includes(row)) out.delete(row);
  $("wide").hidden = !wide;
  setPressed("widen", wanted);
  showWide(view);
  return Boolean(wide);
}

function choose({ row, anchors }, item) {
  if (connection.down) return;
  const like = item ? `like ${item.called}` : "like none of these";
  const rows = anchors.map((anchor) => anchor.row);
  const body = { row: row.row, anchors: rows, chosen: item ? item.row : null };
  command("/api/label", body, { text: `${row.called}: ${like}` });
}

function sendSet({ rows }) {
  if (connection.down || out.size === rows.length) return;
  const body = { rows: rows.map((item) => item.row), out: [...out] };
  command("/api/set", body, { text: `${count(out.size, "row")} of ${rows.length} do not belong` });
}

// Ask about a pair instead, this time.
export function skipWide() {
  skipped = nameOf(store.view.wider);
}

// Do what a digit means, or Enter: choose, mark a row as one that does not belong, or send the set.
export function pressWide(key) {
  const wide = wideQuestion(store.view);
  if (!wide) return false;
  if (wide.kind === "set" && key === "enter") sendSet(wide);
  else if (wide.kind === "label" && key === "0") choose(wide, null);
  else if (wide.kind === "label" && wide.anchors[key - 1]) choose(wide, wide.anchors[key - 1]);
  else if (wide.kind === "set" && wide.rows[key - 1]) toggle(wide, wide.rows[key - 1]);
  return true;
}

// Ask questions about several rows when they tell more, or pairs alone; the browser keeps it.
export function toggleWide() {
  wanted = !wanted;
  skipped = "";
  try {
    localStorage.setItem(STORED, wanted ? "yes" : "no");
  } catch {
    // it holds until the tab is closed
  }
}

export function listenToWideQuestion() {
  onClick("wide-none", () => pressWide("0"));
  onClick("wide-out", () => pressWide("enter"));
}
