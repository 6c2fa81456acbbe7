// Answers that are likely wrong, to look at again.
import { $, whenChanged } from "../shared/dom.js";
import { percent } from "../shared/texts.js";
import { eventButton, eventItem } from "./events.js";
import { listRows } from "./rows.js";
import { selection } from "./selection.js";
import { store } from "./store.js";
import { openTab } from "./tabs.js";

const DOUBTFUL = "These answers do not fit the data and the other answers. Please check them.";
const FINE = "No answer looks wrong. linkwise checks the answers whenever you pause for a moment.";

const confirmed = new Set(); // events that the person has checked and keeps

function showEnds({ a, b }) {
  selection.set([a, b]);
  openTab("rows");
  listRows({ only: [a, b] });
}

function keep({ seq }) {
  confirmed.add(seq);
  showReview(store.view);
}

const isOpen = ({ seq }) => !confirmed.has(seq);

function itemOf(suspect) {
  return eventItem(
    { ...suspect, why: `${percent(suspect.wrong, 0)} likely wrong` },
    eventButton("Show", suspect, () => showEnds(suspect)),
    eventButton("Keep", suspect, () => keep(suspect)),
  );
}

export const showReview = whenChanged(
  ({ suspects }) => suspects.filter(isOpen),
  ({ suspects }) => {
    const open = suspects.filter(isOpen);
    $("review-count").hidden = open.length === 0;
    $("review-count").textContent = String(open.length);
    $("review-note").textContent = open.length ? DOUBTFUL : FINE;
    $("suspects").replaceChildren(...open.map(itemOf));
  },
);
