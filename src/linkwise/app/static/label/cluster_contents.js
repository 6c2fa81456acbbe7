// What the clusters are about: fetched once for each clustering, after it is shown.
import { say } from "../shared/notices.js";
import { get, Refused } from "../shared/requests.js";
import { Signal } from "../shared/signal.js";
import { store } from "./store.js";

const DELAY = 300; // milliseconds after new clusters: those of quick answers are skipped

let known = { labels: 0, clusters: [] };
let timer = 0;

export const contentsChanged = new Signal();

// Return keywords, columns, typical and borderline rows of a cluster; null: not known yet.
export function contentsOf(label) {
  return known.clusters.find((cluster) => cluster.label === label) ?? null;
}

async function fetchContents() {
  try {
    known = await get("/api/clusters");
    contentsChanged.emit();
  } catch (error) {
    if (error instanceof Refused) say(error.message, { error: true });
  }
}

export function refreshContents({ labels }) {
  clearTimeout(timer);
  if (labels !== known.labels) timer = setTimeout(fetchContents, known.labels ? DELAY : 0);
}

// Return what sets a cluster apart, in a line: words, or columns with high or low values.
export function keywordsOf(label) {
  const contents = contentsOf(label);
  if (!contents) return "";
  const columns = contents.columns.map(([name, shift]) => `${name} ${shift > 0 ? "high" : "low"}`);
  return [...contents.keywords, ...columns].join(", ");
}

export function listenToContents(show) {
  contentsChanged.on(() => show(store.view));
}
