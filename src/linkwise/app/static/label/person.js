// Who answers on this page: the person whom linkwise was started for, or a name given here, which
// this browser keeps.
import { $, onClick } from "../shared/dom.js";
import { store } from "./store.js";

const STORED = "linkwise person";

let given = read();

function read() {
  try {
    return localStorage.getItem(STORED) ?? "";
  } catch {
    return ""; // a browser that stores nothing
  }
}

function keep(name) {
  given = name;
  try {
    localStorage.setItem(STORED, name);
  } catch {
    // it holds until the tab is closed
  }
  showPerson(store.view);
}

// Return what a command says about its author.
export function authorship() {
  return given ? { who: given } : {};
}

export function showPerson({ who }) {
  $("person").textContent = given || who;
}

function openDialog() {
  $("person-name").value = given || store.view.who;
  $("person-dialog").returnValue = "";
  $("person-dialog").showModal();
  $("person-name").select();
}

export function listenToPerson() {
  onClick("person", openDialog);
  onClick("person-cancel", () => $("person-dialog").close(""));
  $("person-dialog").addEventListener("close", ({ target }) => {
    const name = $("person-name").value.trim();
    if (target.returnValue === "ok") keep(name === store.view.who ? "" : name);
  });
}
