// The rows that the person has selected.
import { Signal } from "../shared/signal.js";

class Selection {
  rows = new Set();
  changed = new Signal();

  set(rows) {
    this.rows.clear();
    this.add(rows);
  }

  add(rows) {
    for (const row of rows) this.rows.add(row);
    this.changed.emit(this.rows);
  }

  remove(row) {
    this.rows.delete(row);
    this.changed.emit(this.rows);
  }

  toggle(row) {
    if (this.rows.has(row)) this.remove(row);
    else this.add([row]);
  }

  clear() {
    this.set([]);
  }
}

export const selection = new Selection();
