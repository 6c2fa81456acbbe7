// Rows by what they contain: a thumbnail, or a line of text.
import { make } from "../shared/dom.js";
import { get } from "../shared/requests.js";
import { store } from "./store.js";

const EACH = 200; // rows that linkwise sends at once

export function thumbnailOf({ row, called }) {
  const src = `/api/image/${row}`;
  return make("img", { src, alt: `Image of ${called}`, className: "thumb", loading: "lazy" });
}

export function contentOf(item) {
  if (store.view.images) return thumbnailOf(item);
  return make("bdi", { className: "brief", textContent: item.called, title: item.name ?? "" });
}

// Return what rows contain, in their order.
export async function itemsOf(rows) {
  if (!rows.length) return [];
  const { rows: items } = await get(`/api/rows?rows=${rows.slice(0, EACH).join(",")}`);
  return items;
}

// Return a list of examples, with how many rows there are besides.
export function exampleList(items, total = items.length) {
  const more = total - items.length;
  const list = make("ul", { className: store.view.images ? "examples images" : "examples" });
  list.append(...items.map((item) => make("li", {}, contentOf(item))));
  if (more > 0) {
    const textContent = `and ${more.toLocaleString("en")} more`;
    list.append(make("li", { className: "meta", textContent }));
  }
  return list;
}
