// Find elements of the page, make them, and render them again only when their data changes.

export const $ = (id) => document.getElementById(id);

// Options are properties or attributes; `on` holds event handlers and `colour` is the background.
// Texts become text nodes, never HTML.
export function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "on") listen(element, value);
    else if (name === "colour") element.style.background = value;
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function listen(element, handlers) {
  for (const [event, handler] of Object.entries(handlers)) element.addEventListener(event, handler);
}

export function onClick(id, handler) {
  $(id).addEventListener("click", handler);
}

export function setPressed(id, pressed) {
  $(id).setAttribute("aria-pressed", String(pressed));
}

export function isPressed(id) {
  return $(id).getAttribute("aria-pressed") === "true";
}

// Return a function that renders a view only if partsOf(view) has changed since the last time.
export function whenChanged(partsOf, render) {
  let last = "";
  return (view) => {
    const parts = JSON.stringify(partsOf(view));
    if (parts === last) return;
    last = parts;
    render(view);
  };
}
