// The label page: shows what linkwise sends, and sends what the person does.
import { connection } from "../shared/connection.js";
import { $ } from "../shared/dom.js";
import { setBanner } from "../shared/notices.js";
import { count } from "../shared/texts.js";
import { listenToQueue } from "../shared/waiting.js";
import { Arrays } from "./arrays.js";
import { refreshContents } from "./cluster_contents.js";
import { titleOf } from "./cluster_names.js";
import { listenToClusters, showClusters } from "./clusters.js";
import { settle } from "./commands.js";
import { listenToCorrections } from "./corrections.js";
import { listenToFiles } from "./files.js";
import { showConflict, showHistory } from "./history.js";
import { listenToKeys } from "./keys.js";
import { listenToMapTools, map } from "./map_tools.js";
import { listenToPerson, showPerson } from "./person.js";
import { listenToPlan } from "./plan.js";
import { showProgress } from "./progress.js";
import { listenToQuestion, showQuestion } from "./question.js";
import { showReview } from "./review.js";
import { listenToRows, listRows } from "./rows.js";
import { selection } from "./selection.js";
import { store } from "./store.js";
import { listenToTabs } from "./tabs.js";
import { listenToTour, openFirstTour } from "./tour.js";
import { listenToUpdates, showUpdates } from "./updates.js";

const DOWN =
  "linkwise does not respond. All your answers are saved. " +
  "Start it again with the same command; this page then continues by itself. " +
  "Until then it stores corrections in this browser.";

const arrays = new Arrays({
  onMap(xy) {
    map.setPoints(xy);
    map.setMarks(selection.rows);
  },
  onLabels(labels, version) {
    store.labels = labels;
    map.setLabels(labels);
    $("stage").dataset.labels = version;
    listRows();
    refreshContents(store.view);
  },
  onLinks(links) {
    map.setLinks(links);
  },
});

function showTitle({ title, n, data, used }) {
  document.title = `${title} – linkwise`;
  $("title").textContent = title;
  $("subtitle").textContent = `${count(n, "row")} of ${data}, clustered by ${used}`;
}

function mapNote({ map_follows: follows, map_fault: fault }) {
  if (follows) return "A clearer map is being computed. It replaces this one when it is ready.";
  return fault ? `A clearer map could not be computed (${fault}).` : "";
}

function showMap(view) {
  const { clusters, stale, labels, ready } = view;
  $("preparing").hidden = ready;
  $("map-coming").textContent = mapNote(view);
  map.setStale(stale && labels > 0);
  const named = clusters.filter(({ name }) => name);
  map.setNames(Object.fromEntries(named.map((cluster) => [cluster.label, titleOf(cluster)])));
}

function isOlder(view) {
  return store.view && view.run === store.view.run && view.tick < store.view.tick;
}

function show(view) {
  if (isOlder(view)) return; // overtaken on the way
  const first = view.ready && !store.view?.ready;
  store.view = view;
  settle(view);
  setBanner(connection.down ? DOWN : view.failure);
  showTitle(view);
  showPerson(view);
  showProgress(view);
  showUpdates(view);
  showQuestion(view);
  showConflict(view);
  showClusters(view);
  showReview(view);
  showHistory(view);
  showMap(view);
  arrays.refresh();
  if (first) openFirstTour();
}

function onDown(down) {
  setBanner(down ? DOWN : (store.view?.failure ?? ""));
  document.body.classList.toggle("down", down);
  if (!down) arrays.forget();
}

listenToQuestion();
listenToMapTools();
listenToCorrections();
listenToPlan();
listenToPerson();
listenToQueue();
listenToClusters();
listenToRows();
listenToTabs();
listenToTour();
listenToUpdates();
listenToFiles(show);
listenToKeys();
connection.open({ onView: show, onDown });
