// The tabs beside the map.
import { $ } from "../shared/dom.js";
import { Signal } from "../shared/signal.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
const tabs = [...document.querySelectorAll("[role=tab]")];

export const tabOpened = new Signal();

const nameOf = (tab) => tab.id.slice("tab-".length);

export function openTab(name, { focus = false } = {}) {
  for (const tab of tabs) {
    const open = nameOf(tab) === name;
    tab.setAttribute("aria-selected", String(open));
    tab.tabIndex = open ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !open;
    if (open && focus) tab.focus();
  }
  tabOpened.emit(name);
}

export function listenToTabs() {
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => openTab(nameOf(tab)));
    tab.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      openTab(nameOf(tabs[(i + step + tabs.length) % tabs.length]), { focus: true });
    });
  });
}
