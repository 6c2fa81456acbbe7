// Entries of the log as items of a list.
import { make } from "../shared/dom.js";
import { undoEvent } from "./commands.js";
import { exampleList } from "./examples.js";
import { store } from "./store.js";

function timeOf(when) {
  const date = new Date(when);
  if (Number.isNaN(date.getTime())) return "";
  return date.toLocaleString("en-GB", { dateStyle: "short", timeStyle: "short" });
}

export function eventButton(text, event, click) {
  return make("button", {
    textContent: text,
    "aria-label": `${text}: ${event.text}`,
    on: { click },
  });
}

// Return an item with a button to undo the event, and further buttons before it.
export function eventItem(event, ...buttons) {
  const meta = [event.who, timeOf(event.when), event.why].filter(Boolean).join(" · ");
  return make(
    "li",
    {},
    make(
      "div",
      {},
      make("bdi", { className: "text", textContent: event.text }),
      ...(store.view.images && event.rows.length ? [exampleList(event.rows)] : []),
      make("span", { className: "meta", textContent: meta }),
    ),
    ...buttons,
    eventButton("Undo", event, () => undoEvent(event)),
  );
}
