// The list of strokes, each with a button that deletes it.
import { $, make, whenChanged } from "../shared/dom.js";
import { swatch } from "./brushes.js";
import { send } from "./commands.js";
import { paint, pointOut } from "./painting.js";
import { nameOf, regionOf, store } from "./store.js";

function highlight(place) {
  pointOut(place);
  paint();
}

function itemOf(stroke, number, event) {
  const label = nameOf(stroke.colour) ?? stroke.colour;
  const remove = make("button", {
    className: "remove",
    textContent: "Delete",
    "aria-label": `Delete stroke ${number}, ${label}`,
    on: {
      click: () => send("/api/undo", { event }, "A deleted stroke"),
      focus: () => highlight(number - 1),
      blur: () => highlight(-1),
    },
  });
  return make(
    "li",
    { on: { mouseenter: () => highlight(number - 1), mouseleave: () => highlight(-1) } },
    swatch(regionOf(stroke.colour)),
    make("span", { textContent: `${number}. ${label}` }),
    remove,
  );
}

export const showStrokeList = whenChanged(
  ({ strokes, events, names }) => [strokes.length, events, names],
  ({ strokes, events }) => {
    $("drawn").hidden = strokes.length === 0;
    pointOut(-1);
    $("stroke-list").replaceChildren(
      ...strokes.map((stroke, i) => itemOf(stroke, i + 1, events[i])),
    );
  },
);

export const listStrokes = () => showStrokeList(store.view);
