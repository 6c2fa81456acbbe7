// The tip at the pointer: the row under it.
import { $, make } from "../shared/dom.js";
import { get } from "../shared/requests.js";
import { store } from "./store.js";

const DELAY = 120; // milliseconds on a row before its values are fetched
const OFFSET = 14; // pixels from the pointer
const CELLS = 6; // of a row
const LETTERS = 120; // of a cell

let shown = -1; // the row under the pointer
let timer = 0;

function cellOf(name, text) {
  return make(
    "div",
    {},
    make("span", { className: "meta", textContent: `${name} ` }),
    make("bdi", { textContent: text.slice(0, LETTERS) }),
  );
}

async function fillTip(row) {
  try {
    const { rows, names } = await get(`/api/rows?rows=${row}`);
    if (shown !== row) return;
    const [{ name, cells }] = rows;
    const content = store.view.images
      ? [make("img", { src: `/api/image/${row}`, alt: "", className: "thumb" })]
      : cells.slice(0, CELLS).map((cell, j) => cellOf(names[j], cell));
    $("tip").replaceChildren(make("b", {}, make("bdi", { textContent: name })), ...content);
  } catch {
    $("tip").hidden = true; // the banner or the next request says what is wrong
  }
}

export function showTip(row, x, y) {
  if (row === shown) return;
  shown = row;
  clearTimeout(timer);
  $("tip").hidden = row < 0;
  if (row < 0) return;
  $("tip").style.left = `${x + OFFSET}px`;
  $("tip").style.top = `${y + OFFSET}px`;
  $("tip").textContent = `row ${row}`;
  timer = setTimeout(() => fillTip(row), DELAY);
}
