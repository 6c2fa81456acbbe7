// The table of rows: searched, filtered by cluster, a page at a time.
import { $, make, onClick } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { get, Refused } from "../shared/requests.js";
import { numberOf } from "./cluster_names.js";
import { thumbnailOf } from "./examples.js";
import { selection } from "./selection.js";
import { store } from "./store.js";
import { tabOpened } from "./tabs.js";

const PAGE = 50; // rows
const MOST = 200; // rows of a list that linkwise sends at once
const TYPING = 200; // milliseconds without a key before a search begins

let from = 0; // the first row listed, among those found
let asked = 0; // lists asked for; only the newest is shown
let timer = 0;

function checkbox({ row, name }) {
  return make("input", {
    type: "checkbox",
    value: String(row),
    checked: selection.rows.has(row),
    "aria-label": `Select ${name}`,
    on: { change: () => selection.toggle(row) },
  });
}

function headOf(names) {
  const images = store.view.images ? ["image"] : [];
  const titles = ["", store.view.ids ? "id" : "row", "cluster", ...images, ...names];
  const cells = titles.map((textContent) => make(textContent ? "th" : "td", { textContent }));
  return make("tr", {}, ...cells);
}

const MARKS = { unclear: "unclear", stray: "nowhere" };

function clusterOf({ label, mark }) {
  const number = label === null || label < 0 ? "" : numberOf(label, "number small");
  if (!mark) return number;
  return make(
    "span",
    {},
    number,
    " ",
    make("span", { className: "meta", textContent: MARKS[mark] }),
  );
}

function rowOf(item) {
  const number = clusterOf(item);
  const texts = item.cells.map((textContent) => make("bdi", { textContent }));
  if (store.view.images) texts.unshift(thumbnailOf(item));
  const cells = [checkbox(item), make("bdi", { textContent: item.name }), number, ...texts];
  return make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));
}

function showFound({ rows, names, total }) {
  const last = Math.min(from + rows.length, total);
  $("rows").tHead.replaceChildren(headOf(names));
  $("rows").tBodies[0].replaceChildren(...rows.map(rowOf));
  $("page").textContent = total
    ? `${from + 1}–${last} of ${total.toLocaleString("en")}`
    : "No rows found";
  $("prev").disabled = from === 0;
  $("next").disabled = last >= total;
}

function wanted() {
  return { q: $("find").value, cluster: $("find-cluster").value, mark: $("find-mark").value };
}

function queryOf(first, only) {
  if (only) return new URLSearchParams({ rows: only.join(",") });
  return new URLSearchParams({ ...wanted(), from: first, count: PAGE });
}

// List the rows found from row `first` on, or only the rows named.
export async function listRows({ first = from, only = null } = {}) {
  asked += 1;
  const own = asked;
  if ($("panel-rows").hidden && !only) return;
  try {
    const found = await get(`/api/rows?${queryOf(first, only)}`);
    if (own !== asked) return;
    from = only ? 0 : first;
    showFound(found);
  } catch (error) {
    if (error instanceof Refused) say(error.message, { error: true });
  }
}

export function listCluster(label) {
  $("find-cluster").value = String(label);
  listRows({ first: 0 });
}

async function chooseFound() {
  try {
    const { rows } = await get(`/api/found?${new URLSearchParams(wanted())}`);
    selection.set(rows);
  } catch (error) {
    say(error.message, { error: true });
  }
}

function listChosen() {
  listRows({ only: [...selection.rows].slice(0, MOST) });
}

function searchSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => listRows({ first: 0 }), TYPING);
}

function checkSelected(rows) {
  for (const box of $("rows").querySelectorAll("input[type=checkbox]")) {
    box.checked = rows.has(Number(box.value));
  }
  $("list-chosen").disabled = rows.size === 0;
}

export function listenToRows() {
  $("find").addEventListener("input", searchSoon);
  for (const id of ["find-cluster", "find-mark"]) {
    $(id).addEventListener("change", () => listRows({ first: 0 }));
  }
  onClick("prev", () => listRows({ first: Math.max(0, from - PAGE) }));
  onClick("next", () => listRows({ first: from + PAGE }));
  onClick("choose-found", chooseFound);
  onClick("list-chosen", listChosen);
  tabOpened.on((name) => name === "rows" && listRows());
  selection.changed.on(checkSelected);
}
