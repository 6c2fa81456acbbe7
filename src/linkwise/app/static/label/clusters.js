// The list of clusters: their number, sizes and names; split and merge.
import { $, make, onClick, whenChanged } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { count } from "../shared/texts.js";
import { contentsOf, keywordsOf, listenToContents } from "./cluster_contents.js";
import { fillOptions, numberOf, titleOf } from "./cluster_names.js";
import { setting } from "./commands.js";
import { contentOf, exampleList } from "./examples.js";
import { hex } from "./map/colours.js";
import { listenToNaming, openNaming } from "./naming.js";
import { plan } from "./plan.js";
import { listCluster } from "./rows.js";
import { selection } from "./selection.js";
import { store } from "./store.js";

const BAR = [3, 84]; // pixels, of the smallest and the largest cluster

const TEASED = 6; // thumbnails of a cluster in the list

const opened = new Set(); // labels of clusters whose contents are open
const ticked = new Set(); // labels of clusters to merge

function selectCluster({ label }) {
  const labels = store.labels ?? [];
  selection.set([...labels.keys()].filter((row) => labels[row] === label));
  listCluster(label);
}

function split({ label }) {
  plan({
    action: "split",
    options: { cluster: label },
    text: `Split cluster ${label} in two`,
    done: `Cluster ${label} split in two`,
  });
}

function merge() {
  const [first, second] = ticked;
  plan({
    action: "merge",
    options: { first, second },
    text: `Merge clusters ${first} and ${second}`,
    done: `Clusters ${first} and ${second} merged`,
  });
}

function tick(label, on) {
  if (on) ticked.add(label);
  else ticked.delete(label);
  showMerge();
}

function tickOf(cluster) {
  return make("input", {
    type: "checkbox",
    id: `tick-${cluster.label}`,
    checked: ticked.has(cluster.label),
    "aria-label": `Cluster ${titleOf(cluster)}`,
    on: { change: (event) => tick(cluster.label, event.target.checked) },
  });
}

function nameAndSize({ label, name, size }, largest) {
  const bar = make("span", { className: "bar", colour: hex(label) });
  bar.style.width = `${Math.max(BAR[0], Math.round((BAR[1] * size) / largest))}px`;
  const keywords = keywordsOf(label);
  const textContent = name || keywords || `Cluster ${label}`;
  return make(
    "span",
    { className: "named" },
    make("bdi", { className: name ? "" : "unnamed", textContent, title: keywords }),
    make("span", { className: "size" }, bar, count(size, "row")),
  );
}

// Return what the cluster is about; more of it opens on demand.
function aboutOf({ label }) {
  const contents = contentsOf(label);
  if (!contents) return [];
  const { typical, borderline } = contents;
  const keywords = keywordsOf(label);
  const part = (title, items) =>
    items.length ? [make("h3", { textContent: title }), exampleList(items)] : [];
  const more = make(
    "details",
    {
      id: `about-${label}`,
      className: "about",
      open: opened.has(label),
      on: { toggle: ({ target }) => (target.open ? opened.add(label) : opened.delete(label)) },
    },
    make("summary", { title: `What cluster ${label} is about` }, teaserOf(typical)),
    ...(keywords ? [make("p", { className: "meta", textContent: keywords })] : []),
    ...(store.view.images ? [] : part("Typical", typical)), // the line above shows the images
    ...part("At the border of another cluster", borderline),
  );
  return [more];
}

// Return the most typical rows, in a line.
function teaserOf(typical) {
  if (store.view.images) return exampleList(typical.slice(0, TEASED));
  return contentOf(typical[0]);
}

function buttonOf(text, cluster, action) {
  return make("button", {
    id: `${text.toLowerCase()}-${cluster.label}`,
    textContent: text,
    "aria-label": `${text} cluster ${titleOf(cluster)}`,
    on: { click: () => action(cluster) },
  });
}

function itemOf(cluster, largest) {
  return make(
    "li",
    {},
    tickOf(cluster),
    numberOf(cluster.label),
    nameAndSize(cluster, largest),
    buttonOf("Show", cluster, selectCluster),
    buttonOf("Name", cluster, openNaming),
    buttonOf("Split", cluster, split),
    ...aboutOf(cluster),
  );
}

function forgetTicks(clusters) {
  const labels = new Set(clusters.map(({ label }) => label));
  for (const label of ticked) if (!labels.has(label)) ticked.delete(label);
}

function showList(clusters) {
  const largest = Math.max(1, ...clusters.map(({ size }) => size));
  const focused = document.activeElement?.id;
  $("clusters").replaceChildren(...clusters.map((cluster) => itemOf(cluster, largest)));
  if (focused) $(focused)?.focus();
}

function showMerge() {
  const [first, second] = ticked;
  const two = ticked.size === 2;
  $("merge").disabled = !two;
  $("merge-note").textContent = two
    ? `Clusters ${first} and ${second}`
    : "Tick two clusters to merge them.";
}

const countText = (k) => (Array.isArray(k) ? k.join("-") : `${k}`);

function showCount(k, runnersUp, clusters) {
  if (document.activeElement !== $("k")) $("k").value = countText(k ?? clusters.length);
  $("fixed").checked = k !== null;
  $("k").disabled = k === null;
  const next = runnersUp.map(([number]) => number).join(", ");
  const chosen = `${count(clusters.length, "cluster")}, chosen automatically`;
  $("free-note").textContent = Number.isInteger(k) ? "" : chosen + (next && `; next best: ${next}`);
  $("free-note").title = runnersUp
    .map(([number, score]) => `${number} clusters: score ${score.toPrecision(3)}`)
    .join("\n");
}

function showStrays(outliers, strays) {
  const auto = outliers === "auto";
  $("strays-auto").checked = auto;
  $("strays-share").disabled = auto;
  const share = auto || outliers === null ? 0 : Math.round(outliers * 100);
  if (document.activeElement !== $("strays-share")) $("strays-share").value = share;
  const rows = strays ? `${count(strays, "row")} in no cluster` : "";
  const percent = auto || share === 0 ? "" : `${share} %`;
  $("strays-note").textContent = [percent, rows].filter(Boolean).join(", ") || "none";
}

function setStrays(outliers) {
  setting("/api/outliers", { outliers });
}

export const showClusters = whenChanged(
  ({ clusters, k, runners_up, outliers, strays }) => [
    clusters,
    k,
    runners_up,
    outliers,
    strays,
    [...ticked],
    clusters.map(({ label }) => contentsOf(label)),
  ],
  ({ clusters, k, runners_up, outliers, strays }) => {
    forgetTicks(clusters);
    showCount(k, runners_up, clusters);
    showStrays(outliers, strays);
    showList(clusters);
    showMerge();
    fillOptions($("target"), clusters);
    for (const id of ["find-cluster", "within"]) fillOptions($(id), clusters, "All clusters");
  },
);

function fixCount(fixed) {
  $("k").disabled = !fixed;
  const { length } = store.view.clusters;
  setting("/api/count", { k: fixed ? Math.max(1, length || 2) : null });
}

// Return the number, or the range [least, most], that a text says; null if it says neither.
function countOf(text) {
  const found = /^\s*(\d+)(?:\s*[-–]\s*(\d+))?\s*$/.exec(text);
  const [least, most] = (found ?? []).slice(1).map(Number);
  if (found?.[2] === undefined) return least >= 1 ? least : null;
  return least >= 2 && least <= most ? [least, most] : null;
}

function setCount(text) {
  const { k, n, clusters } = store.view;
  const asked = countOf(text);
  if (asked !== null && [asked].flat().at(-1) <= n) return setting("/api/count", { k: asked });
  $("k").value = countText(k ?? clusters.length);
  const why =
    asked === null
      ? `“${text}” is not a number of clusters: write a number such as 5, or a range such as 2-12.`
      : `“${text}” is too many for ${count(n, "row")}: write at most ${n}.`;
  say(why, { error: true });
}

export function listenToClusters() {
  onClick("merge", merge);
  $("fixed").addEventListener("change", (event) => fixCount(event.target.checked));
  $("k").addEventListener("change", (event) => setCount(event.target.value));
  $("strays-auto").addEventListener("change", (event) =>
    setStrays(event.target.checked ? "auto" : null),
  );
  $("strays-share").addEventListener("input", ({ target }) => {
    $("strays-note").textContent = target.value === "0" ? "none" : `${target.value} %`;
  });
  $("strays-share").addEventListener("change", ({ target }) =>
    setStrays(target.value === "0" ? null : Number(target.value) / 100),
  );
  listenToNaming();
  listenToContents(showClusters);
}
