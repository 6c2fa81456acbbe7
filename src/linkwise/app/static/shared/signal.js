// Functions to call when something changes.

export class Signal {
  #listeners = [];

  on(listener) {
    this.#listeners.push(listener);
  }

  emit(...values) {
    for (const listener of this.#listeners) listener(...values);
  }
}
