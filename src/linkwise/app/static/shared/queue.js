// Commands that wait until linkwise is back. The browser stores them, so that they outlive the tab,
// and all tabs of a project share them. A command that linkwise refuses stays, with the reason,
// until the person has seen it.
import { say } from "./notices.js";
import { Signal } from "./signal.js";

const NOT_STORED = "This browser stores nothing. Keep this tab open until linkwise is back.";

class Queue {
  changed = new Signal();
  #name = "";
  #unstored = null; // the entries of a browser that stores nothing

  // Use what is stored for a project; other tabs write it too.
  open(key) {
    if (this.#name) return;
    this.#name = `linkwise ${key}`;
    addEventListener("storage", ({ key: name }) => name === this.#name && this.changed.emit());
    this.changed.emit();
  }

  // {path, body, text, reason}; reason is "" unless linkwise refused it.
  get entries() {
    if (this.#unstored) return this.#unstored;
    try {
      return JSON.parse(localStorage.getItem(this.#name) ?? "[]");
    } catch {
      return [];
    }
  }

  get waiting() {
    return this.entries.filter(({ reason }) => !reason);
  }

  #write(entries) {
    try {
      if (entries.length) localStorage.setItem(this.#name, JSON.stringify(entries));
      else localStorage.removeItem(this.#name);
      this.#unstored = null;
    } catch {
      this.#unstored = entries;
      say(NOT_STORED, { error: true });
    }
    this.changed.emit();
  }

  add(path, body, text) {
    this.#write([...this.entries, { path, body, text, reason: "" }]);
  }

  remove({ body }) {
    this.#write(this.entries.filter((entry) => entry.body.client !== body.client));
  }

  // Set why linkwise refused a command; "": it is to be sent again.
  mark({ body }, reason) {
    this.#write(
      this.entries.map((entry) =>
        entry.body.client === body.client ? { ...entry, reason } : entry,
      ),
    );
  }
}

export const queue = new Queue(); // a page has one
