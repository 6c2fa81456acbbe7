// What the person does, sent to linkwise. Commands change the project: they go one at a time, and
// are sent again if linkwise was away. Settings change only how the clusters are made and shown.
import { connection } from "../shared/connection.js";
import { say } from "../shared/notices.js";
import { authorship } from "./person.js";
import { selection } from "./selection.js";
import { store } from "./store.js";

const NOT_SENT = "Not sent yet. It is stored in this browser and sent when linkwise is back.";
const ANSWERS = { true: "same", false: "different", null: "not sure" };

let sent = 0; // commands so far
let waiting = 0; // the number of the command on its way, 0: none
let sentAt = 0; // the version of the view it was sent at

// Let the next command go as soon as a view contains the last one.
export function settle(view) {
  if (view.version > sentAt) waiting = 0;
}

// Return the view after a command; null: it waits until linkwise is back; undefined: refused, or the
// last one is on its way. The texts say what the command does, and that it is done.
export async function command(path, body, { text, done = "" }) {
  if (waiting) return undefined;
  sent += 1;
  const own = sent;
  waiting = own;
  sentAt = store.view.version;
  document.body.classList.add("busy");
  try {
    const view = await connection.command(path, { ...body, ...authorship() }, text);
    if (!view) say(NOT_SENT, { error: true });
    else if (done) say(done);
    return view;
  } catch (error) {
    say(error.message, { error: true });
    return undefined;
  } finally {
    if (waiting === own) waiting = 0;
    document.body.classList.remove("busy");
  }
}

export async function setting(path, body) {
  try {
    await connection.post(path, body);
  } catch (error) {
    say(error.message, { error: true });
  }
}

// same: true, false, or null for not sure.
export function answer(same) {
  const question = store.view?.question;
  if (!question || connection.down) return;
  const { a, b, names } = question;
  command("/api/answer", { a, b, same }, { text: `${names.join(" and ")}: ${ANSWERS[same]}` });
}

const MARKS = { unclear: "unclear", stray: "belongs nowhere" };

// Mark rows as "unclear" or "stray"; name says which.
export async function markRows(rows, mark, name) {
  const text = `${name}: ${MARKS[mark]}`;
  return command("/api/mark", { rows, mark }, { text, done: text });
}

// Mark the row that the question is about: row A of the pair, unless another is given.
export function markAsked(mark, item = null) {
  const question = store.view?.question;
  const [row, name] = item ? [item.row, item.name] : [question?.a, question?.names[0]];
  if (row !== undefined && !connection.down) markRows([row], mark, name);
}

export function undo() {
  const last = store.view?.undo;
  if (last) command("/api/undo", {}, { text: `Undo: ${last}`, done: `Undone: ${last}` });
}

export function redo() {
  const next = store.view?.redo;
  if (next) command("/api/redo", {}, { text: `Redo: ${next}`, done: `Redone: ${next}` });
}

export function undoEvent({ seq, text }) {
  command("/api/undo", { event: seq }, { text: `Undo: ${text}`, done: `Undone: ${text}` });
}

// Make a correction of the clusters that the person saw; with teach the model learns from it.
export async function correct({ action, options, seen, teach = false, text, done }) {
  const body = { action, options, seen, teach };
  const view = await command("/api/correct", body, { text, done });
  if (view !== undefined) selection.clear();
}
