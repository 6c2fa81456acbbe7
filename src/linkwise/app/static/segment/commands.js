// Commands to linkwise.
import { connection } from "../shared/connection.js";
import { say } from "../shared/notices.js";
import { store } from "./store.js";

// Return the view after a command; null: it waits until linkwise is back; undefined: refused. The
// text says what it does.
export async function send(path, body, text) {
  try {
    return await connection.command(path, body, text);
  } catch (error) {
    say(error.message, { error: true });
    return undefined;
  }
}

export function undo() {
  if (store.view.undo) send("/api/undo", {}, "Undo");
}

export function redo() {
  if (store.view.redo) send("/api/redo", {}, "Redo");
}
