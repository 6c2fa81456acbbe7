// The message at the bottom of the page, which disappears, and the banner at its top, which stays.
import { $ } from "./dom.js";

const SHOWN = 3500; // milliseconds, enough to read one sentence
const SHOWN_ERROR = 7000; // an error also has to be understood

let timer = 0;

export function say(text, { error = false } = {}) {
  const box = $("said");
  box.textContent = text;
  box.classList.toggle("error", error);
  box.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => box.classList.remove("shown"), error ? SHOWN_ERROR : SHOWN);
}

export function setBanner(text) {
  $("banner").textContent = text;
  $("banner").hidden = text === "";
}
