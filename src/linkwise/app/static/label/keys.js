// The keyboard: one key for each thing that is done often.
import { $ } from "../shared/dom.js";
import { answer, markAsked, redo, undo } from "./commands.js";
import { toggleLasso } from "./map_tools.js";
import { cancelPlan } from "./plan.js";
import { selection } from "./selection.js";
import { openTab } from "./tabs.js";
import { closeTour, openTour } from "./tour.js";

const FIELDS = "input:not([type=checkbox]):not([type=file]), textarea, select, dialog";
const PRESSABLE = "button, a, summary, input, [role=tab]"; // Space presses these

function search() {
  openTab("rows");
  $("find").focus();
}

const KEYS = {
  s: () => answer(true),
  d: () => answer(false),
  " ": () => answer(null),
  c: () => markAsked("unclear"),
  x: () => markAsked("stray"),
  l: toggleLasso,
  "/": search,
  "?": openTour,
  escape: () => closeTour() || cancelPlan() || selection.clear(),
};

// Return what a key means outside of fields, or null.
function actionOf(event) {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key !== "z") return null;
    return event.shiftKey ? redo : undo;
  }
  if (event.altKey || event.repeat || !Object.hasOwn(KEYS, key)) return null;
  return key === " " && event.target.closest(PRESSABLE) ? null : KEYS[key];
}

function onKey(event) {
  if (event.target.closest(FIELDS)) {
    if (event.key === "Escape" && !event.target.closest("dialog")) event.target.blur();
    return;
  }
  const action = actionOf(event);
  if (!action) return;
  event.preventDefault();
  action();
}

export function listenToKeys() {
  document.addEventListener("keydown", onKey);
}
