// The header: how many answers there are, and whether more would help.
import { $ } from "../shared/dom.js";
import { count, percent } from "../shared/texts.js";

function outlookText({ changed, expected }) {
  const [moved, doubt] = [percent(changed), percent(expected)];
  return `The latest answers changed ${moved} of the labels; ${doubt} are still in doubt.`;
}

export function showProgress({ counts, kept, outlook, links, marks }) {
  const { same, different, unsure } = counts;
  const several = counts["about several rows"] ?? 0;
  const total = same + different + unsure + several;
  const [held, all] = kept;
  $("answers").textContent = count(total, "answer");
  $("answers").title =
    `${same} same, ${different} different, ${unsure} not sure, ${several} about several rows; ` +
    `${count(links, "link")}; ` +
    `${count(marks.unclear, "unclear row")}, ${marks.stray} in no cluster`;
  // Rounded down: 100% is shown only if every link is kept.
  $("kept").textContent = all
    ? `${Math.floor((100 * held) / all)}% of ${count(all, "link")} kept`
    : "";
  const known = total > 0 && outlook !== null;
  $("outlook").textContent = known ? outlookText(outlook) : "";
  $("hint").hidden = !(known && outlook.enough);
}
