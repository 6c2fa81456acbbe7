// The label page: shows what the program says, and sends what the person does. Texts of the data only
// ever become text nodes.
import { Line, Refused, get, numbers, upload } from "../shared/api.js";
import { hex } from "./colours.js";
import { MapView } from "./map.js";

const $ = (id) => document.getElementById(id);
let view = null;
let busy = 0; // the command that is on its way
let commands = 0;
let busyFrom = 0; // the version it was sent at
let mapHere = -1;
let labelsHere = -1;
let linksHere = -1;
let rowsHere = "";
const chosen = new Set();
const ticked = new Set();
const hidden = new Set(); // suspects that were looked at
let listed = { from: 0, total: 0, rows: [] };

function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name === "colour") element.style.background = value;
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function say(text, bad = false) {
  const box = $("said");
  box.textContent = text;
  box.classList.toggle("bad", bad);
  box.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => box.classList.remove("shown"), bad ? 7000 : 3500);
}

function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

const map = new MapView($("stage"), $("points"), $("over"), {
  pick(row) {
    if (row < 0) return;
    if (chosen.has(row)) chosen.delete(row);
    else chosen.add(row);
    showChosen();
  },
  lasso(rows, add) {
    if (!add) chosen.clear();
    rows.forEach((row) => chosen.add(row));
    showChosen();
    if (!rows.length) say("No points are inside the line.");
  },
  hover: showTip,
});

// what the program says

const line = new Line(show, (down) => {
  $("banner").hidden = !down;
  $("banner").textContent = down ? "The program does not answer. Nothing is lost: every answer was saved. Start it again with the same command; this page goes on by itself." : "";
  document.body.classList.toggle("down", down);
  if (!down) mapHere = -1;
});

async function show(next) {
  if (view && next.run === view.run && next.tick < view.tick) return; // older news, overtaken on the way
  view = next;
  if (next.version > busyFrom) busy = 0; // what was sent is in it already
  $("title").textContent = next.title;
  document.title = `${next.title} – linkwise`;
  $("subtitle").textContent = `${count(next.n, "row")} of ${next.data}, by ${next.used}`;
  showProgress(next);
  showQuestion(next);
  showConflict(next);
  showClusters(next);
  showReview(next);
  showHistory(next);
  for (const mode of ["live", "pause"]) $(mode).setAttribute("aria-pressed", String(next.mode === mode));
  $("stale").hidden = !(next.stale && next.labels);
  $("stale-text").textContent = next.running ? "The clusters are being worked out again." : "The clusters are those before the last answers; Update once shows the newest.";
  $("stop").hidden = !next.running;
  map.setStale(next.stale && next.labels > 0);
  document.body.classList.toggle("stale", next.stale);
  $("preparing").hidden = next.ready;
  if (next.failure) { $("banner").hidden = false; $("banner").textContent = next.failure; }
  await fetchArrays(next);
}

async function fetchArrays(next) {
  if (!next.ready || fetchArrays.at) { fetchArrays.again = true; return; }
  fetchArrays.at = true;
  try {
    if (mapHere !== view.map) {
      const { values, version } = await numbers("/api/map", Float32Array);
      mapHere = version;
      labelsHere = linksHere = -1;
      map.setPoints(values);
      map.setMarks(chosen);
    }
    if (view.labels && labelsHere !== view.labels) {
      const { values, version } = await numbers("/api/labels", Int32Array);
      labelsHere = version;
      map.setLabels(values);
      $("stage").dataset.labels = version;
      listRows();
    }
    if (linksHere !== view.version) {
      const { values, version } = await numbers("/api/links", Int32Array);
      linksHere = version;
      map.setLinks(values);
    }
  } catch (error) {
    if (error instanceof Refused) say(error.message, true);
  } finally {
    fetchArrays.at = false;
    if (fetchArrays.again) { fetchArrays.again = false; fetchArrays(view); }
  }
}

function showProgress({ counts, kept, outlook, links }) {
  const total = counts.same + counts.different + counts.unsure;
  $("answers").textContent = `${count(total, "answer")}`;
  $("answers").title = `${counts.same} same, ${counts.different} different, ${counts.unsure} not sure; ${links} links`;
  $("kept").textContent = kept[1] ? `${Math.floor((100 * kept[0]) / kept[1])}% of ${count(kept[1], "link")} kept` : "";
  $("outlook").textContent = outlook && total ? outlook.words.replace(" More answers would change little.", "") : "";
  $("hint").hidden = !(total && outlook && outlook.enough);
}

function spans(words) {
  return words.flatMap(([word, marked], i) => [i ? " " : "", marked ? make("mark", { textContent: word }) : word]);
}

function showQuestion({ n, question, thinking, ready, redo, undo, failure }) {
  $("ask").hidden = !question;
  $("idle").hidden = Boolean(question);
  $("undo").disabled = !undo;
  $("undo").title = undo ? `Take back: ${undo}` : "";
  $("redo").disabled = !redo;
  $("redo").title = redo ? `Say again: ${redo}` : "";
  map.setPair(question ? [question.a, question.b] : null);
  if (!question) {
    const waits = !ready || thinking;
    $("idle-head").textContent = failure ? "The clustering has stopped" : waits ? "One moment…" : n === 1 ? "There is nothing to ask" : "Nothing is left to ask";
    $("idle-text").textContent = failure ? "" : !ready ? "The data are being looked at; the first question comes soon." : thinking ? "The next question is being worked out." : n === 1 ? "There is a single row, and no other to compare it with." : "Every pair is known or follows from the answers. Export the clusters under Files.";
    showQuestion.last = "";
    return;
  }
  const key = JSON.stringify([question.a, question.b, question.before]);
  if (showQuestion.last === key) return;
  showQuestion.last = key;
  $("why").textContent = question.why;
  $("before").hidden = !question.before;
  $("before").textContent = question.before ? `You said: ${question.before}. It was taken back and is asked again.` : "";
  const head = make("tr", {}, make("th"), ...question.names.map((name, i) => make("th", {}, make("span", { className: "letter", textContent: "AB"[i] }), " ", make("bdi", { textContent: name }))));
  const rows = question.fields.map((field) => {
    if (field.image) {
      const pictures = [question.a, question.b].map((row) => make("td", {}, make("img", { src: `/api/image/${row}`, alt: `Image of ${row === question.a ? "A" : "B"}`, className: "picture" })));
      return make("tr", { className: "pictures" }, make("th", { textContent: "" }), ...pictures);
    }
    const cells = [field.a, field.b].map((words) => make("td", {}, make("bdi", {}, ...spans(words))));
    const label = make("th", { scope: "row" }, make("bdi", { textContent: field.name }), field.sign ? make("span", { className: "sign", title: field.sign === "**" ? "a standard deviation apart, or more" : "differs", textContent: ` ${field.sign}` }) : "");
    return make("tr", { className: `${field.text ? "text" : ""} ${field.sign ? "differs" : "equal"}` }, label, ...cells);
  });
  if (question.left) rows.push(make("tr", {}, make("td", { colSpan: 3, className: "left", textContent: `and ${count(question.left, "more column")}, less different` })));
  $("compare").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function eventItem(event, ...buttons) {
  const when = new Date(event.when);
  const time = isNaN(when) ? "" : when.toLocaleString("en-GB", { dateStyle: "short", timeStyle: "short" });
  return make("li", {}, make("div", {}, make("bdi", { className: "text", textContent: event.text }), make("span", { className: "meta", textContent: [event.who, time, event.why].filter(Boolean).join(" · ") })), ...buttons);
}

function dropButton(event, text = "Drop this one") {
  return make("button", { textContent: text, "aria-label": `${text}: ${event.text}`, on: { click: () => command("/api/undo", { event: event.seq }, `Dropped: ${event.text}`) } });
}

function showConflict({ conflict, conflict_words }) {
  $("conflict").hidden = !conflict.length;
  const key = JSON.stringify(conflict);
  if (showConflict.last === key) return;
  showConflict.last = key;
  $("conflict-words").textContent = `${conflict_words}.`;
  $("conflict-list").replaceChildren(...conflict.map((event) => eventItem(event, dropButton(event))));
}

function showReview({ suspects, conflict }) {
  const open = suspects.filter((s) => !hidden.has(s.seq));
  $("review-count").hidden = !open.length;
  $("review-count").textContent = String(open.length);
  $("review-note").textContent = open.length ? "These answers fit badly with the data and the other answers. Look at them again." : "No answer looks wrong. When you pause, the answers are looked through once more.";
  $("suspects").replaceChildren(...open.map((s) => {
    const look = make("button", { textContent: "Show", "aria-label": `Show ${s.text}`, on: { click: () => { chosen.clear(); chosen.add(s.a); chosen.add(s.b); showChosen(); openTab("rows"); listRows({ only: [s.a, s.b] }); } } });
    const right = make("button", { textContent: "It is right", "aria-label": `It is right: ${s.text}`, on: { click: () => { hidden.add(s.seq); showReview(view); } } });
    const item = eventItem({ ...s, why: `${Math.round(100 * s.wrong)}% likely wrong` }, look, right, dropButton(s));
    return item;
  }));
}

function showHistory({ history }) {
  const key = JSON.stringify(history);
  if (showHistory.last === key) return;
  showHistory.last = key;
  $("history").replaceChildren(...(history.length ? history.map((event) => eventItem(event, dropButton(event, "Take back"))) : [make("li", { textContent: "Nothing yet." })]));
}

function nameOf({ label, name }) {
  return name ? `${label + 1} ${name}` : `${label + 1}`;
}

function showClusters({ clusters, k }) {
  const key = JSON.stringify([clusters, k, [...ticked]]);
  if (showClusters.last === key) return;
  showClusters.last = key;
  const there = new Set(clusters.map((c) => c.label));
  for (const label of ticked) if (!there.has(label)) ticked.delete(label);
  if (document.activeElement !== $("k")) $("k").value = k ?? clusters.length;
  $("fixed").checked = k !== null;
  $("k").disabled = k === null;
  $("free-note").textContent = k === null ? `${count(clusters.length, "cluster")}, following the answers` : "";
  const most = Math.max(1, ...clusters.map((c) => c.size));
  const focus = document.activeElement && document.activeElement.id;
  $("clusters").replaceChildren(...clusters.map((c) => {
    const tick = make("input", { type: "checkbox", checked: ticked.has(c.label), id: `tick-${c.label}`, "aria-label": `Cluster ${nameOf(c)}`, on: { change: (event) => { if (event.target.checked) ticked.add(c.label); else ticked.delete(c.label); showMerge(); } } });
    const bar = make("span", { className: "bar", colour: hex(c.label) });
    bar.style.width = `${Math.max(3, Math.round((84 * c.size) / most))}px`;
    return make("li", {},
      tick,
      make("span", { className: "number", colour: hex(c.label), textContent: String(c.label + 1) }),
      make("span", { className: "named" }, make("bdi", { textContent: c.name || `Cluster ${c.label + 1}`, className: c.name ? "" : "unnamed" }), make("span", { className: "size" }, bar, count(c.size, "row"))),
      make("button", { id: `show-${c.label}`, textContent: "Show", "aria-label": `Show cluster ${nameOf(c)}`, on: { click: () => showCluster(c.label) } }),
      make("button", { id: `name-${c.label}`, textContent: "Name", "aria-label": `Name cluster ${nameOf(c)}`, on: { click: () => askName(c) } }),
      make("button", { id: `split-${c.label}`, textContent: "Split", "aria-label": `Split cluster ${nameOf(c)}`, on: { click: () => correct("split", { cluster: c.label }, `Cluster ${c.label + 1} is two now`) } }));
  }));
  if (focus && $(focus)) $(focus).focus();
  showMerge();
  const choice = (element, first) => {
    const before = element.value;
    element.replaceChildren(...(first ? [make("option", { value: "", textContent: first })] : []), ...clusters.map((c) => make("option", { value: String(c.label), textContent: nameOf(c) })));
    if ([...element.options].some((o) => o.value === before)) element.value = before;
  };
  choice($("target"));
  choice($("find-cluster"), "all clusters");
  map.setNames(Object.fromEntries(clusters.map((c) => [c.label, c.name ? nameOf(c) : ""])));
}

function showMerge() {
  $("merge").disabled = ticked.size !== 2;
  const two = [...ticked].map((label) => label + 1).join(" and ");
  $("merge-note").textContent = ticked.size === 2 ? `Clusters ${two}` : "Tick two clusters to merge them.";
}

function showCluster(label) {
  const same = map.labels && [...map.labels.keys()].filter((i) => map.labels[i] === label);
  chosen.clear();
  (same || []).forEach((row) => chosen.add(row));
  showChosen();
  $("find-cluster").value = String(label);
  listRows({ from: 0 });
}

function askName(cluster) {
  $("name").value = cluster.name;
  $("naming").returnValue = "";
  $("naming").showModal();
  $("name").select();
  $("naming").onclose = () => {
    if ($("naming").returnValue === "ok") correct("rename", { cluster: cluster.label, name: $("name").value }, "Named");
  };
}

// what is chosen

function showChosen() {
  map.setMarks(chosen);
  $("chosen").hidden = chosen.size === 0;
  $("chosen-count").textContent = `${count(chosen.size, "row")} chosen`;
  for (const button of document.querySelectorAll("[data-two]")) button.hidden = chosen.size !== 2;
  $("do-together").disabled = chosen.size < 2;
  if (chosen.size && map.labels) {
    const votes = {};
    for (const row of chosen) votes[map.labels[row]] = (votes[map.labels[row]] || 0) + 1;
    const best = Object.keys(votes).sort((a, b) => votes[b] - votes[a])[0];
    if ([...$("target").options].some((o) => o.value === best)) $("target").value = best;
  }
  for (const box of document.querySelectorAll("#rows input[type=checkbox]")) box.checked = chosen.has(Number(box.value));
}

async function showTip(row, x, y) {
  const tip = $("tip");
  if (showTip.row === row) return;
  showTip.row = row;
  tip.hidden = row < 0;
  if (row < 0) return;
  tip.style.left = `${x + 14}px`;
  tip.style.top = `${y + 14}px`;
  clearTimeout(showTip.timer);
  tip.textContent = `row ${row}`;
  showTip.timer = setTimeout(async () => {
    try {
      const { rows, names } = await get(`/api/rows?rows=${row}`);
      if (showTip.row !== row) return;
      const [item] = rows;
      const cells = item.cells.slice(0, 6).map((cell, j) => make("div", {}, make("span", { className: "meta", textContent: `${names[j]} ` }), make("bdi", { textContent: cell.slice(0, 120) })));
      const picture = view.images ? [make("img", { src: `/api/image/${row}`, alt: "", className: "thumb" })] : cells;
      tip.replaceChildren(make("b", {}, make("bdi", { textContent: item.name })), ...picture);
    } catch { tip.hidden = true; }
  }, 120);
}

// rows

async function listRows({ from = listed.from, only = null } = {}) {
  if ($("panel-rows").hidden && !only) { rowsHere = ""; return; }
  const query = only ? `rows=${only.join(",")}` : new URLSearchParams({ q: $("find").value, cluster: $("find-cluster").value, from, count: 50 });
  const key = `${query} ${labelsHere}`;
  rowsHere = key;
  try {
    const found = await get(`/api/rows?${query}`);
    if (rowsHere !== key) return;
    listed = { from: only ? 0 : from, total: found.total, rows: found.rows };
    $("rows").tHead.replaceChildren(make("tr", {}, make("th", { textContent: "" }), make("th", { textContent: view.ids ? "id" : "row" }), make("th", { textContent: "cluster" }), ...found.names.map((name) => make("th", { textContent: name }))));
    $("rows").tBodies[0].replaceChildren(...found.rows.map((item) => make("tr", {},
      make("td", {}, make("input", { type: "checkbox", value: String(item.row), checked: chosen.has(item.row), "aria-label": `Choose ${item.name}`, on: { change: (event) => { if (event.target.checked) chosen.add(item.row); else chosen.delete(item.row); showChosen(); } } })),
      make("td", {}, make("bdi", { textContent: item.name })),
      make("td", {}, item.label === null ? "" : make("span", { className: "number small", colour: hex(item.label), textContent: String(item.label + 1) })),
      ...item.cells.map((cell) => make("td", {}, make("bdi", { textContent: cell }))))));
    const last = Math.min(listed.from + found.rows.length, found.total);
    $("page").textContent = found.total ? `${listed.from + 1}–${last} of ${found.total.toLocaleString("en")}` : "nothing found";
    $("prev").disabled = listed.from === 0;
    $("next").disabled = last >= found.total;
  } catch (error) {
    if (error instanceof Refused) say(error.message, true);
  }
}

// what the person does

async function command(path, body, done) {
  if (busy) return;
  const own = (busy = ++commands);
  busyFrom = view ? view.version : 0;
  document.body.classList.add("busy");
  try {
    const sent = await line.command(path, body);
    if (sent && done) say(done);
    if (!sent) say("Not sent yet: it is sent as soon as the program is back.", true);
    return sent;
  } catch (error) {
    say(error.message, true);
  } finally {
    if (busy === own) busy = 0;
    document.body.classList.remove("busy");
  }
}

async function plain(path, body) {
  try {
    await line.post(path, body);
  } catch (error) {
    say(error instanceof Refused ? error.message : "The program does not answer.", true);
  }
}

function answer(same) {
  if (!view || !view.question || busy || line.down) return;
  const { a, b } = view.question;
  command("/api/answer", { a, b, same });
}

async function correct(action, options, done) {
  const sent = await command("/api/correct", { action, options, labels: view.labels }, done);
  if (sent) { chosen.clear(); showChosen(); }
}

const rows = () => [...chosen];
const target = () => Number($("target").value);
const actions = {
  same: () => answer(true),
  different: () => answer(false),
  unsure: () => answer(null),
  undo: () => view && view.undo && command("/api/undo", {}, `Taken back: ${view.undo}`),
  redo: () => view && view.redo && command("/api/redo", {}, `Said again: ${view.redo}`),
  live: () => plain("/api/mode", { mode: "live" }),
  once: () => plain("/api/mode", { mode: "once" }),
  pause: () => plain("/api/mode", { mode: "pause" }),
  stop: () => plain("/api/mode", { mode: "stop" }),
  "do-same": () => correct("link", { a: rows()[0], b: rows()[1], same: true }, "Linked"),
  "do-different": () => correct("link", { a: rows()[0], b: rows()[1], same: false }, "Kept apart"),
  "do-together": () => correct("together", { rows: rows() }, "One group now"),
  "do-apart": () => correct("apart", { rows: rows(), cluster: target() }, `Not part of cluster ${target() + 1}`),
  "do-split": () => correct("split", { cluster: target(), rows: rows() }, `Split off cluster ${target() + 1}`),
  "do-move": () => correct("move", { rows: rows(), cluster: target() }, `Moved to cluster ${target() + 1}`),
  "do-clear": () => { chosen.clear(); showChosen(); },
  merge: () => { const [first, second] = ticked; ticked.clear(); correct("merge", { first, second }, "One cluster now"); },
  lasso: () => { map.lassoing = !map.lassoing; $("lasso").setAttribute("aria-pressed", String(map.lassoing)); $("over").classList.toggle("draws", map.lassoing); },
  lines: () => { map.showLinks = !map.showLinks; $("lines").setAttribute("aria-pressed", String(map.showLinks)); map.draw(); },
  "zoom-in": () => map.zoomBy(1.4),
  "zoom-out": () => map.zoomBy(1 / 1.4),
  reset: () => map.reset(),
  prev: () => listRows({ from: Math.max(0, listed.from - 50) }),
  next: () => listRows({ from: listed.from + 50 }),
  "name-cancel": () => $("naming").close(""),
};
for (const [id, action] of Object.entries(actions)) {
  $(id).addEventListener("click", (event) => {
    action();
    if (event.detail && ["same", "different", "unsure", "undo", "redo"].includes(id)) $(id).blur(); // then Space means Space
  });
}

$("fixed").addEventListener("change", (event) => {
  $("k").disabled = !event.target.checked;
  plain("/api/count", { k: event.target.checked ? Math.max(1, view.clusters.length || 2) : null });
});
$("k").addEventListener("change", (event) => {
  const k = Number(event.target.value);
  if (Number.isInteger(k) && k >= 1) plain("/api/count", { k });
});
let timer = 0;
$("find").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => listRows({ from: 0 }), 200); });
$("find-cluster").addEventListener("change", () => listRows({ from: 0 }));
$("import").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  event.target.value = "";
  if (!file) return;
  try {
    const result = await upload(file);
    show(result);
    say(result.said);
    $("file-menu").open = false;
  } catch (error) {
    say(error instanceof Refused ? error.message : "The program does not answer.", true);
  }
});
document.addEventListener("click", (event) => { if (!$("file-menu").contains(event.target)) $("file-menu").open = false; });

// tabs

const tabs = [...document.querySelectorAll("[role=tab]")];
function openTab(name, focus = false) {
  for (const tab of tabs) {
    const open = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(open));
    tab.tabIndex = open ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !open;
    if (open && focus) tab.focus();
  }
  if (name === "rows") listRows();
}
tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => openTab(tab.id.slice(4)));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { event.preventDefault(); openTab(tabs[(i + step + tabs.length) % tabs.length].id.slice(4), true); }
  });
});

// keys

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=checkbox]):not([type=file]), textarea, select, dialog");
  const step = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (step && !typing) {
    event.preventDefault();
    actions[event.shiftKey ? "redo" : "undo"]();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) {
    if (event.key === "Escape" && typing && !event.target.closest("dialog")) event.target.blur();
    return;
  }
  const pressable = event.target.closest("button, a, summary, input, [role=tab]");
  if (event.key === "s" || event.key === "S") actions.same();
  else if (event.key === "d" || event.key === "D") actions.different();
  else if (event.key === " " && !pressable) { event.preventDefault(); actions.unsure(); }
  else if (event.key === "l" || event.key === "L") actions.lasso();
  else if (event.key === "/") { event.preventDefault(); openTab("rows"); $("find").focus(); }
  else if (event.key === "Escape" && chosen.size) actions["do-clear"]();
});
