// Answers that are likely wrong, to look at again.
import { $, make, whenChanged } from "../shared/dom.js";
import { count, percent } from "../shared/texts.js";
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

function personOf({ who, answers, shared, right_same: same, right_different: different }) {
  const right = `${percent(same, 0)} of “same” and ${percent(different, 0)} of “different” right`;
  const judged = shared ? `${right}, by ${count(shared, "shared pair")}` : "no shared pairs yet";
  return make(
    "li",
    {},
    make(
      "div",
      {},
      make("bdi", { className: "text", textContent: who }),
      make("span", { className: "meta", textContent: `${count(answers, "answer")}; ${judged}` }),
    ),
  );
}

// Whoever answers alone is compared with nobody.
const showPeople = whenChanged(
  ({ people }) => people,
  ({ people }) => {
    $("people").hidden = people.length < 2;
    $("people-list").replaceChildren(...people.map(personOf));
  },
);

const showSuspects = whenChanged(
  ({ suspects }) => suspects.filter(isOpen),
  ({ suspects }) => {
    const open = suspects.filter(isOpen);
    $("review-count").hidden = open.length === 0;
    $("review-count").textContent = String(open.length);
    $("review-note").textContent = open.length ? DOUBTFUL : FINE;
    $("suspects").replaceChildren(...open.map(itemOf));
  },
);

export function showReview(view) {
  showSuspects(view);
  showPeople(view);
}
