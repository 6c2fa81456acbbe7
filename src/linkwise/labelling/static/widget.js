// The questions of a project in a notebook. What is shown comes from the kernel by the traits "view"
// and "map"; what a person does goes back as messages. Texts of the data never become HTML.

const ANSWERS = [
  ["Same", "s", { do: "answer", same: true }],
  ["Different", "d", { do: "answer", same: false }],
  ["Don't know", "u", { do: "answer", same: null }],
];
const OTHERS = [
  ["Undo", "b", { do: "undo" }],
  ["Redo", "r", { do: "redo" }],
  ["First unclear", "c", { do: "mark", mark: "unclear" }],
  ["First in no cluster", "x", { do: "mark", mark: "stray" }],
];

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function cell(row, tag, text, className) {
  row.append(element(tag, className, text));
}

function picture(url) {
  const image = element("img");
  image.src = url;
  image.alt = "";
  return image;
}

function table(question) {
  const made = element("table");
  const head = made.insertRow();
  cell(head, "th", "");
  for (const i of [0, 1]) {
    const title = element("th", "lw-row", question.called[i]);
    if (question.images[i]) title.prepend(picture(question.images[i]));
    head.append(title);
  }
  for (const field of question.fields) {
    const row = made.insertRow();
    if (field.sign) row.className = field.sign === "**" ? "lw-far" : "lw-differs";
    cell(row, "th", field.name);
    cell(row, "td", field.a);
    cell(row, "td", field.b);
  }
  return made;
}

function drawMap(canvas, map, question) {
  const scale = globalThis.devicePixelRatio || 1;
  canvas.width = 320 * scale;
  canvas.height = 240 * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(map.x);
  const [low, high] = range(map.y);
  const at = (i) => [
    10 + (300 * (map.x[i] - left)) / (right - left || 1),
    10 + (220 * (map.y[i] - low)) / (high - low || 1),
  ];
  for (let i = 0; i < map.x.length; i++) {
    const label = map.labels[i];
    pen.fillStyle = label < 0 ? "#bbbbbb" : map.palette[label % map.palette.length];
    pen.beginPath();
    pen.arc(...at(i), 2.2, 0, 7);
    pen.fill();
  }
  const shown = question ? question.at.filter((i) => i >= 0) : [];
  pen.strokeStyle = "#000000";
  pen.lineWidth = 2;
  for (const i of shown) {
    pen.beginPath();
    pen.arc(...at(i), 6, 0, 7);
    pen.stroke();
  }
}

function countsText(counts) {
  return Object.entries(counts)
    .map(([word, number]) => `${number} ${word}`)
    .join(", ");
}

function render({ model, el }) {
  const root = element("div", "linkwise-label");
  root.tabIndex = 0;
  const main = element("div", "lw-main");
  const side = element("div", "lw-side");
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "map of the clusters");
  side.append(canvas);
  root.append(main, side);
  el.append(root);
  let waiting = false;

  function send(command) {
    const question = model.get("view").question;
    if (waiting || (!question && command.do !== "undo" && command.do !== "redo")) return;
    const rows = question
      ? { a: question.rows[0], b: question.rows[1], row: question.rows[0] }
      : {};
    waiting = true;
    root.classList.add("lw-waiting");
    model.send({ ...rows, ...command, client: crypto.randomUUID() });
  }

  function buttons(list, view) {
    const made = element("div", "lw-buttons");
    for (const [name, key, command] of list) {
      const button = element("button", "", name);
      button.append(element("kbd", "", key));
      button.disabled =
        (command.do === "undo" && !view.undo) ||
        (command.do === "redo" && !view.redo) ||
        ((command.do === "answer" || command.do === "mark") && !view.question);
      button.addEventListener("click", () => send(command));
      made.append(button);
    }
    return made;
  }

  function show() {
    const view = model.get("view");
    waiting = false;
    root.classList.remove("lw-waiting");
    const focused = root.contains(root.getRootNode().activeElement); // a button about to go
    const question = view.question;
    const title = question ? "Do these two belong together?" : "Nothing is left to ask.";
    main.replaceChildren(element("h4", "", title));
    if (question) {
      main.append(element("p", "lw-why", question.why), table(question));
      if (question.before) main.append(element("p", "lw-note", `You said: ${question.before}.`));
    }
    main.append(buttons(ANSWERS, view), buttons(OTHERS, view));
    if (view.warning) main.append(element("p", "lw-warning", view.warning));
    if (view.note) main.append(element("p", "lw-note", view.note));
    main.append(element("p", "lw-progress", `${countsText(view.counts)}. ${view.progress}`));
    drawMap(canvas, model.get("map"), question);
    if (focused) root.focus({ preventScroll: true });
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const found = [...ANSWERS, ...OTHERS].find(([, key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
    send(found[2]);
  }

  root.addEventListener("keydown", pressed);
  model.on("change:view", show);
  show();
  return () => model.off("change:view", show);
}

export default { render };
