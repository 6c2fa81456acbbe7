// The tour: what the page is for and how it is used, in a minute. It opens by itself the first time.
import { $, onClick } from "../shared/dom.js";

const SEEN = "linkwise_tour=seen";
const YEAR = 365 * 24 * 3600; // seconds
const GAP = 14; // pixels between the card and what it explains
const RIM = 12; // pixels between the card and the edge of the window

const STEPS = [
  {
    target: "question",
    title: "Answer one question at a time",
    text:
      "Do the two rows belong together? Press S for same, D for different, or Space if you are " +
      "not sure. Every answer is saved at once, and Ctrl Z takes it back. Press W for questions " +
      "about several rows.",
  },
  {
    target: "stage",
    title: "Watch the map",
    text:
      "Each point is a row, and each colour is a cluster. A and B are the rows of the question. " +
      "Drag to move, use the wheel to zoom, and point at a row to see what it is.",
  },
  {
    target: "lists",
    title: "Look at the clusters",
    text:
      "The list shows what each cluster is about. Give it a name, split it, or tick two clusters " +
      "to merge them. The other tabs have the rows, answers to review, and the history.",
  },
  {
    target: "lasso",
    title: "Correct by hand",
    text:
      "Select rows with the lasso, by clicks or in the list of rows. A bar then offers to move " +
      "them, group them or split them off. The page shows what would change before it changes.",
  },
  {
    target: "header",
    title: "Know when to stop",
    text:
      "The line at the top says how much is still in doubt and when more answers would change " +
      "little. Files exports the clusters.",
  },
];

let at = 0; // the step that is shown
let opener = null; // what had the focus

const isOpen = () => !$("tour").hidden;

const clamp = (value, most) => Math.max(RIM, Math.min(most - RIM, value));

// Put the card beside its target where there is room: left of it, else below, else inside.
function place(target) {
  const [box, card] = [target.getBoundingClientRect(), $("tour").getBoundingClientRect()];
  const besides = box.left - card.width - GAP;
  const below = box.bottom + GAP;
  const fits = below + card.height < innerHeight;
  const left = besides > RIM ? besides : box.left + GAP;
  const top = besides > RIM ? box.top : fits ? below : box.top + GAP;
  $("tour").style.left = `${clamp(left, innerWidth - card.width)}px`;
  $("tour").style.top = `${clamp(top, innerHeight - card.height)}px`;
}

function unmark() {
  document.querySelector(".toured")?.classList.remove("toured");
}

function show(step) {
  at = step;
  const { target, title, text } = STEPS[at];
  unmark();
  $("tour-title").textContent = title;
  $("tour-text").textContent = text;
  $("tour-step").textContent = `${at + 1} of ${STEPS.length}`;
  $("tour-back").disabled = at === 0;
  $("tour-next").textContent = at === STEPS.length - 1 ? "Done" : "Next";
  $(target).classList.add("toured");
  $(target).scrollIntoView({ block: "nearest" });
  place($(target));
}

// Close the tour, if it is open; tell whether it was.
export function closeTour() {
  if (!isOpen()) return false;
  unmark();
  $("tour").hidden = true;
  // biome-ignore lint/suspicious/noDocumentCookie: all ports of a host share it, unlike the storage
  document.cookie = `${SEEN}; max-age=${YEAR}; path=/; samesite=strict`;
  if (opener?.isConnected) opener.focus();
  return true;
}

function next() {
  if (at === STEPS.length - 1) closeTour();
  else show(at + 1);
}

export function openTour() {
  opener = document.activeElement;
  $("tour").hidden = false;
  show(0);
  $("tour-next").focus();
}

// Open the tour if this browser has not shown it yet.
export function openFirstTour() {
  if (!document.cookie.includes(SEEN)) openTour();
}

export function listenToTour() {
  onClick("tour-next", next);
  onClick("tour-back", () => show(at - 1));
  onClick("tour-skip", () => closeTour());
  onClick("help", openTour);
  addEventListener("resize", () => isOpen() && place($(STEPS[at].target)));
}
