// The keyboard: one key for each thing that is done often.
import { $ } from "../shared/dom.js";
import { redo, undo } from "./commands.js";
import { toggleLasso } from "./map_tools.js";
import { cancelPlan } from "./plan.js";
import { answerPair, changeWide, markRow, sayNotSure } from "./question.js";
import { selection } from "./selection.js";
import { openTab } from "./tabs.js";
import { closeTour, openTour } from "./tour.js";
import { pressWide } from "./wide_question.js";

const FIELDS = "input:not([type=checkbox]):not([type=file]), textarea, select, dialog";
const PRESSABLE = "button, a, summary, input, [role=tab]"; // Space presses these

function search() {
  openTab("rows");
  $("find").focus();
}

const KEYS = {
  s: () => answerPair(true),
  d: () => answerPair(false),
  " ": sayNotSure,
  c: () => markRow("unclear"),
  x: () => markRow("stray"),
  w: changeWide,
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
  if (event.altKey || event.repeat) return null;
  if (/^[0-9]$/.test(key) || (key === "enter" && !event.target.closest(PRESSABLE))) {
    return () => pressWide(key);
  }
  if (!Object.hasOwn(KEYS, key)) return null;
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
