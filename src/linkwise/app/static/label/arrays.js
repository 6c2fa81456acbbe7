// The arrays behind the map. Each is fetched when the view names another version of it.
import { say } from "../shared/notices.js";
import { numbers, Refused } from "../shared/requests.js";
import { store } from "./store.js";

export class Arrays {
  #loading = false;
  #again = false; // the view has changed while arrays were fetched

  // Call onMap(xy), onLabels(labels, version) and onLinks(links) with what was fetched.
  constructor({ onMap, onLabels, onLinks }) {
    Object.assign(this, { onMap, onLabels, onLinks });
    this.forget();
  }

  // Fetch everything next time: another run of linkwise counts its versions from the start.
  forget() {
    this.map = this.labels = this.links = -1;
  }

  async refresh() {
    if (!store.view.ready) return;
    this.#again = this.#loading;
    if (this.#loading) return;
    this.#loading = true;
    try {
      await this.#fetch();
    } catch (error) {
      if (error instanceof Refused) say(error.message, { error: true });
    }
    this.#loading = false;
    if (this.#again) this.refresh();
  }

  async #fetch() {
    if (this.map !== store.view.map) {
      const { values, version } = await numbers("/api/map", Float32Array);
      this.forget();
      this.map = version;
      this.onMap(values);
    }
    if (store.view.labels && this.labels !== store.view.labels) {
      const { values, version } = await numbers("/api/labels", Int32Array);
      this.labels = version;
      this.onLabels(values, version);
    }
    if (this.links !== store.view.version) {
      const { values, version } = await numbers("/api/links", Int32Array);
      this.links = version;
      this.onLinks(values);
    }
  }
}
