// The images of a project with several: a list to choose from, and the one before and after.
import { $, make, onClick, whenChanged } from "../shared/dom.js";
import { count } from "../shared/texts.js";
import { send } from "./commands.js";
import { store } from "./store.js";

const EXPORTS = { png: "mask.png", npy: "mask.npy", json: "strokes.json" };

function open(place) {
  const { images, place: now } = store.view;
  if (place === now || !images[place]) return;
  $("state").textContent = "Opening the image…";
  send("/api/open", { image: images[place].name }, `Show ${images[place].name}`);
}

export function openNext(step) {
  open(store.view.place + step);
}

// Return the address of something about the image shown.
export function aboutImage(path) {
  return `${path}${path.includes("?") ? "&" : "?"}image=${store.view.place}`;
}

// Return the name of a file about the image shown.
export function fileName(name) {
  const { image } = store.view;
  const stem = (image ?? "")
    .split("/")
    .at(-1)
    .replace(/\.[^.]*$/, "");
  return stem ? `${stem}-${name}` : name;
}

function optionOf({ name, strokes }, i) {
  const drawn = strokes ? ` (${count(strokes, "stroke")})` : "";
  return make("option", { value: String(i), textContent: `${name}${drawn}` });
}

const showList = whenChanged(
  ({ images }) => images,
  ({ images }) => $("image-list").replaceChildren(...images.map(optionOf)),
);

export function showImages(view) {
  const { images, place } = view;
  $("album").hidden = images.length === 0;
  showList(view);
  $("image-list").value = String(place);
  $("image-note").textContent = `${place + 1} of ${images.length}`;
  $("image-before").disabled = place === 0;
  $("image-after").disabled = place === images.length - 1;
  for (const [id, name] of Object.entries(EXPORTS)) {
    $(id).href = aboutImage(`/api/export/${name}`);
    $(id).download = fileName(name);
  }
}

export function listenToImages() {
  onClick("image-before", () => openNext(-1));
  onClick("image-after", () => openNext(1));
  $("image-list").addEventListener("change", ({ target }) => open(Number(target.value)));
}
