// The log of the project, and the entries in it that contradict each other.
import { $, make, whenChanged } from "../shared/dom.js";
import { eventItem } from "./events.js";

export const showHistory = whenChanged(
  ({ history }) => history,
  ({ history }) => {
    const items = history.map((event) => eventItem(event));
    $("history").replaceChildren(
      ...(items.length ? items : [make("li", { textContent: "Nothing yet." })]),
    );
  },
);

export const showConflict = whenChanged(
  ({ conflict }) => conflict,
  ({ conflict, conflict_words: explanation }) => {
    $("conflict").hidden = conflict.length === 0;
    $("conflict-words").textContent = `${explanation}.`;
    $("conflict-list").replaceChildren(...conflict.map((event) => eventItem(event)));
  },
);
