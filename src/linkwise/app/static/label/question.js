// The question: two rows side by side, the buttons to answer, undo and redo.
import { $, make, onClick, whenChanged } from "../shared/dom.js";
import { count } from "../shared/texts.js";
import { answer, markAsked, redo, undo } from "./commands.js";
import { map } from "./map_tools.js";
import { store } from "./store.js";
import {
  isComing,
  listenToWideQuestion,
  showWideQuestion,
  skipWide,
  toggleWide,
  wideQuestion,
} from "./wide_question.js";

const ANSWERS = { same: "same", different: "different", unsure: "not sure" };
const SIGNS = { "*": "differs", "**": "differs by at least one standard deviation" };

// Return what to say while there is no question: a heading and a sentence.
function idleTexts({ n, ready, thinking, failure }) {
  if (failure) return ["Clustering has stopped", ""];
  if (!ready) return ["One moment…", "linkwise is preparing the data. The first question follows."];
  if (thinking) return ["One moment…", "linkwise is choosing the next question."];
  if (n === 1) return ["Nothing to ask", "The data has a single row: there is no pair to compare."];
  return [
    "Nothing left to ask",
    "Every pair is answered or follows from the answers. Export the clusters under Files.",
  ];
}

function headOf(name, letter) {
  return make(
    "th",
    {},
    make("span", { className: "letter", textContent: letter }),
    " ",
    make("bdi", { textContent: name }),
  );
}

function pictureOf(row, letter) {
  const picture = { src: `/api/image/${row}`, alt: `Image of ${letter}`, className: "picture" };
  return make("td", {}, make("img", picture));
}

function picturesOf({ a, b }) {
  return make("tr", { className: "pictures" }, make("td"), pictureOf(a, "A"), pictureOf(b, "B"));
}

function cellOf(words) {
  const parts = words.flatMap(([word, marked], i) => [
    i ? " " : "",
    marked ? make("mark", { textContent: word }) : word,
  ]);
  return make("td", {}, make("bdi", {}, ...parts));
}

function fieldOf({ name, sign, text, a, b }) {
  const head = make("th", { scope: "row" }, make("bdi", { textContent: name }));
  if (sign) {
    head.append(make("span", { className: "sign", title: SIGNS[sign], textContent: ` ${sign}` }));
  }
  const className = `${text ? "text" : ""} ${sign ? "differs" : "equal"}`;
  return make("tr", { className }, head, cellOf(a), cellOf(b));
}

function comparison(question) {
  const head = make(
    "tr",
    {},
    make("td"),
    ...question.names.map((name, i) => headOf(name, "AB"[i])),
  );
  const rows = question.fields.map((field) =>
    field.image ? picturesOf(question) : fieldOf(field),
  );
  if (question.left) {
    const textContent = `and ${count(question.left, "more column")} that differ less`;
    rows.push(make("tr", {}, make("td", { colSpan: 3, className: "left", textContent })));
  }
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

const showPair = whenChanged(
  ({ question }) => question && [question.a, question.b, question.before],
  ({ question }) => {
    if (!question) return;
    $("why").textContent = question.why;
    $("before").hidden = !question.before;
    $("before").textContent = question.before
      ? `You undid “${ANSWERS[question.before]}”. Answer again or redo it.`
      : "";
    $("compare").replaceChildren(comparison(question));
  },
);

function showStep(id, name, event) {
  $(id).disabled = !event;
  $(id).title = event ? `${name}: ${event}` : "";
}

export function showQuestion(view) {
  const wide = showWideQuestion(view);
  const pair = view.question && !wide && !isComing(view);
  $("ask").hidden = !pair;
  $("idle").hidden = Boolean(wide || pair);
  const [head, text] = idleTexts({ ...view, thinking: view.thinking || isComing(view) });
  $("idle-head").textContent = head;
  $("idle-text").textContent = text;
  map.setPair(pair ? [view.question.a, view.question.b] : null);
  showStep("undo", "Undo", view.undo);
  showStep("redo", "Redo", view.redo);
  showPair(view);
}

// After a click the button gives the focus away, so that Space means "not sure".
function onPress(id, action) {
  onClick(id, (event) => {
    action();
    if (event.detail) $(id).blur();
  });
}

// Answer "not sure"; of several rows, linkwise asks about two of them instead.
export function sayNotSure() {
  if (!wideQuestion(store.view)) return answer(null);
  skipWide();
  return showQuestion(store.view);
}

// Mark the row that the question is about; a set is about all of its rows.
export function markRow(mark) {
  const wide = wideQuestion(store.view);
  if (wide?.kind !== "set") markAsked(mark, wide?.row);
}

// Answer about the pair that is shown.
export function answerPair(same) {
  if (!$("ask").hidden) answer(same);
}

export function changeWide() {
  toggleWide();
  showQuestion(store.view);
}

export function listenToQuestion() {
  onPress("same", () => answer(true));
  onPress("different", () => answer(false));
  onPress("unsure", () => answer(null));
  for (const id of ["unclear", "wide-unclear"]) onPress(id, () => markRow("unclear"));
  for (const id of ["stray", "wide-stray"]) onPress(id, () => markRow("stray"));
  onPress("wide-unsure", sayNotSure);
  onPress("widen", changeWide);
  listenToWideQuestion();
  onPress("undo", undo);
  onPress("redo", redo);
}
