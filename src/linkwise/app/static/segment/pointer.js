// Mouse, pen and touch: drawing, moving and zooming the image.
import { $ } from "../shared/dom.js";
import { cursor } from "./cursor.js";
import { store } from "./store.js";
import { strokes } from "./strokes.js";
import { viewport } from "./viewport.js";

const canvas = $("strokes");

let spaceHeld = false;
let grabbed = null; // where the image was grabbed to be moved, from its corner

export function holdSpace(held) {
  spaceHeld = held;
  canvas.classList.toggle("moving", held);
}

// Begin to move the image or to draw on it; return whether something has begun.
function begin({ button, clientX, clientY }) {
  cursor.hide();
  if (button === 1 || (button === 0 && spaceHeld)) {
    grabbed = [clientX - viewport.left, clientY - viewport.top];
    return true;
  }
  const { point, within } = viewport.toImage(clientX, clientY);
  if (button !== 0 || !within) return false;
  strokes.begin(point);
  return true;
}

function onDown(event) {
  if (!store.view || !begin(event)) return;
  event.preventDefault();
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
}

function onMove(event) {
  if (grabbed) {
    viewport.moveTo(event.clientX - grabbed[0], event.clientY - grabbed[1]);
  } else if (strokes.current) {
    for (const { clientX, clientY } of event.getCoalescedEvents?.() ?? [event]) {
      strokes.extend(viewport.toImage(clientX, clientY).point);
    }
  }
}

function onEnd() {
  grabbed = null;
  strokes.finish();
}

function onWheel(event) {
  if (!store.view) return;
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  const speed = event.deltaMode ? 0.03 : 0.0015; // lines or pixels
  const factor = Math.exp(-event.deltaY * speed);
  viewport.zoomBy(factor, event.clientX - box.left, event.clientY - box.top);
}

export function listenToPointer() {
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onEnd);
  canvas.addEventListener("pointercancel", onEnd);
  canvas.addEventListener("wheel", onWheel, { passive: false });
}
