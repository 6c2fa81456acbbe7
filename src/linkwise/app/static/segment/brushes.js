// The brushes: which colour and which width a stroke gets.
import { $, make } from "../shared/dom.js";
import { Signal } from "../shared/signal.js";
import { send } from "./commands.js";
import { colourOf, nameOf, store } from "./store.js";

const BRUSHES = 9; // one for each digit key
const WIDEST = 0.1; // of the image

export const brush = { colour: "1" };
export const widthChanged = new Signal();

export function swatch(value) {
  return make("span", { className: "swatch", colour: colourOf(value) });
}

// Return the width of a stroke in pixels of the image; the slider is finer at its thin end.
export function strokeWidth() {
  const share = Number($("width").value) / 100;
  const longest = Math.max(store.view.width, store.view.height);
  return Math.max(1, Math.round(WIDEST * share * share * longest));
}

export function showWidth() {
  $("width-note").textContent = `${strokeWidth()} px`;
  widthChanged.emit();
}

export function widenBy(step) {
  $("width").value = Number($("width").value) + step;
  showWidth();
}

export function selectBrush(colour) {
  brush.colour = colour;
  for (const button of $("brushes").children) {
    const selected = button.dataset.colour === colour;
    button.setAttribute("aria-checked", String(selected));
    button.tabIndex = selected ? 0 : -1;
  }
  showNames();
}

// Show the name of each brush, and that of the selected one in its field.
export function showNames() {
  for (const button of $("brushes").children) {
    const { colour } = button.dataset;
    const name = nameOf(colour);
    button.setAttribute("aria-label", name ? `Brush ${colour}, ${name}` : `Brush ${colour}`);
    button.title = name ?? "";
  }
  const field = $("brush-name");
  if (document.activeElement !== field) field.value = nameOf(brush.colour) ?? "";
}

function nameBrush() {
  const name = $("brush-name").value.trim();
  send("/api/name", { colour: brush.colour, name }, `The name of brush ${brush.colour}`);
}

function buttonOf(value) {
  const button = make(
    "button",
    {
      className: "brush",
      role: "radio",
      "aria-label": `Brush ${value}`,
      on: { click: () => selectBrush(String(value)) },
    },
    swatch(value),
    make("kbd", { textContent: String(value) }),
  );
  button.dataset.colour = String(value);
  return button;
}

export function makeBrushes() {
  for (let value = 1; value <= BRUSHES; value++) $("brushes").append(buttonOf(value));
  selectBrush(brush.colour);
}

// Select the brush so many places further, as the arrow keys do in a group of radio buttons.
export function stepBrush(step) {
  const next = ((Number(brush.colour) - 1 + step + BRUSHES) % BRUSHES) + 1;
  selectBrush(String(next));
  $("brushes").children[next - 1].focus();
}

export function listenToBrushes() {
  $("width").addEventListener("input", showWidth);
  $("brush-name").addEventListener("change", nameBrush);
}
