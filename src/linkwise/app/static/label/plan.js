// A correction before it is made: what it would change, and the buttons that make it.
import { $, make, onClick } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { post, Unreachable } from "../shared/requests.js";
import { count } from "../shared/texts.js";
import { correct } from "./commands.js";
import { exampleList, itemsOf } from "./examples.js";
import { map } from "./map_tools.js";
import { selection } from "./selection.js";
import { store } from "./store.js";

const SHOWN = 5; // examples of a list: enough to see what it is about
const UNKNOWN =
  "linkwise does not respond, so the page cannot show what would change. " +
  "The correction is stored in this browser and sent when linkwise is back.";

let planned = null; // {action, options, text, done, seen}
let found = null; // the preview of the correction without similar rows
let asked = 0; // previews asked for; only the newest is shown
let opener = null; // what had the focus

// Return the correction that takes similar rows along.
function withSimilar({ action, options, ...rest }) {
  const rows = [...found.moves, ...found.similar];
  if (action === "link" && options.same) {
    return { ...rest, action: "together", options: { rows: [options.a, options.b, ...rows] } };
  }
  if (action === "link") {
    const cluster = store.labels[found.moves[0]];
    return { ...rest, action: "apart", options: { rows, cluster } };
  }
  return { ...rest, action, options: { ...options, rows: [...options.rows, ...found.similar] } };
}

function chosen() {
  const along = $("plan-along").checked && found?.similar.length;
  const { text, ...plan } = along ? withSimilar(planned) : planned;
  const more = along ? `, and ${count(found.similar.length, "similar row")}` : "";
  return { ...plan, text: `${text}${more}` };
}

async function partOf(title, rows, total) {
  const items = await itemsOf(rows.slice(0, SHOWN));
  const heading = make("h3", { textContent: `${title}: ${count(total, "row")}` });
  return make("div", { className: "part" }, heading, exampleList(items, total));
}

// Return the lists of examples of a preview: the halves of a split, or what moves and may follow.
function partsOf({ parts, sizes, moves, n_moves: total }) {
  if (parts.length === 2) {
    const [stays, leaves] = parts;
    return [partOf("Stays", stays, sizes[0]), partOf("New cluster", leaves, sizes[1])];
  }
  const lists = total ? [partOf("Moves", moves, total)] : [];
  const { similar } = found;
  if (similar.length && !$("plan-along").checked) {
    lists.push(partOf("Similar", similar, similar.length));
  }
  return lists;
}

async function show(preview) {
  const own = asked;
  $("plan-says").textContent = preview.says;
  map.setMarks(new Set(preview.parts.length === 2 ? preview.parts[1] : preview.moves));
  const parts = await Promise.all(partsOf(preview));
  if (own === asked) $("plan-parts").replaceChildren(...parts);
}

function showAlong({ asks }) {
  $("plan-ask").hidden = asks === "";
  $("plan-asks").textContent = asks;
}

async function preview() {
  asked += 1;
  const own = asked;
  const { action, options, seen, text } = chosen();
  $("plan-title").textContent = text;
  try {
    const told = await post("/api/preview", { action, options, seen });
    if (own !== asked) return;
    if (!found) {
      found = told;
      showAlong(told);
    }
    await show(told);
  } catch (error) {
    if (own !== asked) return;
    if (error instanceof Unreachable) $("plan-says").textContent = UNKNOWN;
    else close(error.message);
  }
}

function close(message = "") {
  asked += 1;
  planned = null;
  $("plan").hidden = true;
  document.body.classList.remove("planning");
  map.setMarks(selection.rows);
  if (opener?.isConnected) opener.focus();
  if (message) say(message, { error: true });
}

function apply(teach) {
  const plan = { ...chosen(), teach };
  close();
  correct(plan);
}

// Show what a correction would change, and let the person make it.
export function plan(correction) {
  opener = document.activeElement;
  planned = { seen: store.view.seen, ...correction };
  found = null;
  $("plan-along").checked = false;
  $("plan-ask").hidden = true;
  $("plan-says").textContent = "One moment…";
  $("plan-parts").replaceChildren();
  $("plan").hidden = false;
  document.body.classList.add("planning");
  $("plan-apply").focus();
  preview();
}

// Close the plan, if there is one; tell whether there was.
export function cancelPlan() {
  const open = planned !== null;
  if (open) close();
  return open;
}

export function listenToPlan() {
  onClick("plan-apply", () => apply(false));
  onClick("plan-teach", () => apply(true));
  onClick("plan-cancel", () => close());
  $("plan-along").addEventListener("change", preview);
}
