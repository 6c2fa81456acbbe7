// The list of commands that wait for linkwise, and of those that it refused.
import { connection } from "./connection.js";
import { $, make } from "./dom.js";
import { queue } from "./queue.js";
import { count } from "./texts.js";

function headingOf(waiting, refused) {
  const parts = [];
  if (waiting) parts.push(`${count(waiting, "change")} not sent yet`);
  if (refused) parts.push(`${count(refused, "change")} refused`);
  return parts.join(", ");
}

function buttonOf(textContent, { text }, click) {
  return make("button", { textContent, "aria-label": `${textContent}: ${text}`, on: { click } });
}

function sendAgain(entry) {
  queue.mark(entry, "");
  connection.resend();
}

function buttonsOf(entry) {
  if (!entry.reason) return [buttonOf("Take back", entry, () => queue.remove(entry))];
  return [
    buttonOf("Send again", entry, () => sendAgain(entry)),
    buttonOf("Dismiss", entry, () => queue.remove(entry)),
  ];
}

function itemOf(entry) {
  const { text, reason } = entry;
  const note = reason ? `Refused: ${reason}` : "It is stored in this browser.";
  return make(
    "li",
    {},
    make(
      "div",
      {},
      make("bdi", { className: "text", textContent: text }),
      make("span", { className: "meta", textContent: note }),
    ),
    ...buttonsOf(entry),
  );
}

export function listenToQueue() {
  queue.changed.on(() => {
    const { entries, waiting } = queue;
    $("waiting").hidden = entries.length === 0;
    $("waiting-count").textContent = headingOf(waiting.length, entries.length - waiting.length);
    $("waiting-list").replaceChildren(...entries.map(itemOf));
  });
}
