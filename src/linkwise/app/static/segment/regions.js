// The regions: fetched after each change, shown as a tint over the image and as a list.
import { channels } from "../shared/colours.js";
import { $, isPressed, make, setPressed } from "../shared/dom.js";
import { numbers, Refused } from "../shared/requests.js";
import { percent } from "../shared/texts.js";
import { swatch } from "./brushes.js";
import { aboutImage, fileName } from "./images.js";
import { colourOf, isAsked, nameOf, store } from "./store.js";

const VALUES = 256; // of a mask of bytes; 0 is no region
const EDGE = [255, 255, 255, 235]; // the line between two regions

const overlay = $("regions");

let mask = null; // the value of each pixel, at the working size
let shown = null; // the version of the view that the mask belongs to
let busy = false;
let again = false; // the view has changed while regions were computed

const isSame = (a, b) => a?.join() === b?.join();

// Return what each value of the mask becomes, as pixels; the unused value 0 stands for an edge.
function pixelsOf(alpha) {
  const bytes = new Uint8ClampedArray(4 * VALUES);
  bytes.set(EDGE);
  for (let value = 1; value < VALUES; value++) {
    bytes.set([...channels(colourOf(value)), alpha], 4 * value);
  }
  return new Uint32Array(bytes.buffer);
}

// Return the mask as an image, with a line where a region ends.
function imageOf(pen, width, height, alpha) {
  const image = pen.createImageData(width, height);
  const out = new Uint32Array(image.data.buffer);
  const pixels = pixelsOf(alpha);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const value = mask[p];
      const right = x + 1 < width && mask[p + 1] !== value;
      const below = y + 1 < height && mask[p + width] !== value;
      out[p] = pixels[right || below ? 0 : value];
    }
  }
  return image;
}

export function showTint() {
  overlay.style.opacity = isAsked() && isPressed("show") ? 1 : 0;
  if (!mask) return;
  const [height, width] = store.view.working;
  Object.assign(overlay, { width, height });
  const pen = overlay.getContext("2d");
  const alpha = Math.round(2.55 * Number($("tint").value));
  pen.putImageData(imageOf(pen, width, height, alpha), 0, 0);
}

function itemOf(value, colour, share) {
  const named = nameOf(colour) ?? (colour === String(value) ? "" : colour);
  return make(
    "li",
    {},
    swatch(value),
    make("b", { textContent: String(value) }),
    make("span", { className: "note", textContent: named ?? "no stroke" }),
    make("span", { className: "share", textContent: percent(share) }),
    make("a", {
      className: "cutout",
      href: aboutImage(`/api/export/cutout.png?region=${value}`),
      download: fileName(`cutout-${value}.png`),
      textContent: "cut out",
      title: "Save this region of the image, with the rest transparent",
      "aria-label": `Cut out region ${value}`,
    }),
  );
}

function showList() {
  const sizes = new Uint32Array(VALUES);
  for (const value of mask ?? []) sizes[value]++;
  const names = new Map(Object.entries(store.view.values).map(([name, value]) => [value, name]));
  const items = [];
  sizes.forEach((size, value) => {
    if (size && value) items.push(itemOf(value, names.get(value), size / mask.length));
  });
  const none = make("li", { className: "note", textContent: "None yet. Draw two strokes." });
  $("list").replaceChildren(...(isAsked() ? items : [none]));
}

function showMask(values) {
  mask = values;
  showTint();
  showList();
}

function settle(version) {
  shown = version;
  overlay.classList.remove("stale");
  document.body.dataset.shown = version.join(",");
}

async function fetchMask() {
  const version = store.view.version;
  const began = performance.now();
  const { values } = await numbers(aboutImage("/api/mask"), Uint8Array);
  if (version.at(-1) !== store.view.place) return version; // of another image; asked for again
  const [height, width] = store.view.working;
  if (values.length !== height * width) {
    throw new Refused("The regions arrived incomplete. Reload the page.");
  }
  showMask(values);
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  $("state").textContent = `Regions computed in ${seconds} s`;
  return version;
}

async function fetchUntilCurrent() {
  busy = true;
  overlay.classList.add("stale");
  $("state").textContent = "Computing the regions…";
  try {
    let version;
    do {
      again = false;
      version = await fetchMask();
    } while (again);
    settle(version);
  } catch (error) {
    $("state").textContent = error instanceof Refused ? error.message : "";
  }
  busy = false;
}

// Show the regions of the view.
export function refreshRegions() {
  showList();
  if (isSame(shown, store.view.version)) return;
  if (busy) {
    again = true;
  } else if (isAsked()) {
    fetchUntilCurrent();
  } else {
    showMask(null);
    $("state").textContent = "";
    settle(store.view.version);
  }
}

export function toggleRegions() {
  setPressed("show", !isPressed("show"));
  showTint();
}

export function listenToRegions() {
  $("show").addEventListener("click", toggleRegions);
  $("tint").addEventListener("input", showTint);
}
