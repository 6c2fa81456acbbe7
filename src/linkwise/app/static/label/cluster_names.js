// What a cluster is called: by its number, counted from 1, and by the name it was given.
import { make } from "../shared/dom.js";
import { hex } from "./map/colours.js";

export function titleOf({ label, name }) {
  return name ? `${label} ${name}` : `${label}`;
}

// Return the number on its colour.
export function numberOf(label, className = "number") {
  return make("span", { className, colour: hex(label), textContent: String(label) });
}

// Fill a select with clusters, after an option for all of them if it has a text; keep its value.
export function fillOptions(select, clusters, all = "") {
  const before = select.value;
  const options = clusters.map((cluster) => [String(cluster.label), titleOf(cluster)]);
  if (all) options.unshift(["", all]);
  select.replaceChildren(
    ...options.map(([value, textContent]) => make("option", { value, textContent })),
  );
  setOption(select, before);
}

// Set the value of a select if it has such an option.
export function setOption(select, value) {
  if ([...select.options].some((option) => option.value === value)) select.value = value;
}
