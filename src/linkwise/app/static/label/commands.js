// What the person does, sent to linkwise. Commands change the project: they go one at a time, and
// are sent again if linkwise was away. Settings change only how the clusters are made and shown.
import { connection } from "../shared/connection.js";
import { say } from "../shared/notices.js";
import { selection } from "./selection.js";
import { store } from "./store.js";

const NOT_SENT = "Not sent yet. The page sends it as soon as linkwise is back.";

let sent = 0; // commands so far
let waiting = 0; // the number of the command on its way, 0: none
let sentAt = 0; // the version of the view it was sent at

// Let the next command go as soon as a view contains the last one.
export function settle(view) {
  if (view.version > sentAt) waiting = 0;
}

export async function command(path, body, done = "") {
  if (waiting) return null;
  sent += 1;
  const own = sent;
  waiting = own;
  sentAt = store.view.version;
  document.body.classList.add("busy");
  try {
    const view = await connection.command(path, body);
    if (!view) say(NOT_SENT, { error: true });
    else if (done) say(done);
    return view;
  } catch (error) {
    say(error.message, { error: true });
    return null;
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
  if (question && !connection.down) {
    command("/api/answer", { a: question.a, b: question.b, same });
  }
}

export function undo() {
  const last = store.view?.undo;
  if (last) command("/api/undo", {}, `Undone: ${last}`);
}

export function redo() {
  const next = store.view?.redo;
  if (next) command("/api/redo", {}, `Redone: ${next}`);
}

export function undoEvent({ seq, text }) {
  command("/api/undo", { event: seq }, `Undone: ${text}`);
}

export async function correct(action, options, done) {
  const labels = store.view.labels;
  const view = await command("/api/correct", { action, options, labels }, done);
  if (view) selection.clear();
}
