"""The pictures of the quality report: ranks, agreement against pairs, and gain by few answers."""

from functools import partial

import numpy as np

from benchmarks.quality.answers import few_differences
from benchmarks.quality.entrants import CHOOSER, FOREST, LABELS_SVM
from benchmarks.quality.jobs import FEW_ENTRANTS
from benchmarks.quality.protocol import FEW, SHARES, WRONG
from benchmarks.quality.standing import (
    COMPARED,
    by_set,
    counted,
    of_kind,
    overall,
    ranks,
    reference,
)
from benchmarks.quality.tables import HINDSIGHT, at_budget, ranked, with_marks
from benchmarks.reports.figures import as_svg, bare, drawn, label_ends
from linkwise.plot import INK, PALETTE

RANKS, BUDGET = "quality-ranks.svg", "quality-budget.svg"
FEW_PICTURE = "quality-few.svg"
MOST_RANKED = 20  # methods in the picture of ranks
MOST_LINES = 7  # methods in the picture of budgets, besides the marks
COLOURS = tuple(PALETTE[i] for i in (3, 6, 10, 7, 4, 2, 8, 15))  # those that can be read as text
MARKS = {HINDSIGHT: "#666666", FOREST: "#999999", LABELS_SVM: "#777777"}
ROW = 0.42  # inches for a name
STACK = 0.16  # inches between two bars


def lanes(groups):
    """Return for every (first, last) the lowest lane in which it meets no other before it.

    >>> lanes([(0, 2), (1, 4), (3, 5)])
    [0, 1, 0]
    """
    ends: list = []
    found = []
    for first, last in groups:
        lane = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        found.append(lane)
    return found


def rank_picture(results, plt):
    """Return the picture of mean ranks, None for fewer than two methods or sets."""
    scores = by_set(results)
    mean = overall({name: scores[name] for name in of_kind(results, *COMPARED) if name in scores})
    whole = [name for name in ranked(mean) if len(scores[name]) == len(counted(results))]
    names = whole[:MOST_RANKED]
    if len(names) < 2 or len(counted(results)) < 2:
        return None
    found = ranks(scores, names)
    half = -(-len(names) // 2)
    lane = lanes(found.groups)
    bars = STACK * (max(lane, default=0) + 1)
    height = 1.5 + bars + ROW * half
    figure, axes = plt.subplots(figsize=(15, height))
    figure.subplots_adjust(left=0, right=1, top=1, bottom=0)
    low, high = 1, len(names)
    margin = 0.75 * (high - low)
    axes.set(xlim=(low - margin, high + margin), ylim=(height, 0))
    axes.axis("off")

    axis = 1.0  # inches from the top
    axes.plot([low, high], [axis, axis], color=INK, lw=1.5)
    step = max(1, round((high - low) / 10))
    for tick in range(low, high + 1, step):
        axes.plot([tick, tick], [axis - 0.1, axis], color=INK, lw=1.5)
        axes.text(tick, axis - 0.16, str(tick), ha="center", va="bottom")
    words = f"mean rank over {found.sets} sets; 1 is best"
    axes.text((low + high) / 2, 0.38, words, ha="center", va="bottom", fontsize=16)
    for (first, last), at in zip(found.groups, lane, strict=True):
        y = axis + STACK * (at + 1)
        reach = 0.004 * (high - low)
        ends = [found.mean[first] - reach, found.mean[last] + reach]
        axes.plot(ends, [y, y], color=INK, lw=4.5, solid_capstyle="butt")

    for place, (name, rank) in enumerate(zip(found.names, found.mean, strict=True)):
        left = place < half
        row = place if left else len(names) - 1 - place
        y = axis + bars + 0.4 + ROW * row
        end = low - 0.05 * margin if left else high + 0.05 * margin
        colour = PALETTE[0] if name == reference(results, scores) else INK
        axes.plot([rank, rank, end], [axis, y, y], color=colour, lw=1.2, alpha=0.8)
        text = f"{name}  {rank:.1f}" if left else f"{rank:.1f}  {name}"
        axes.text(end + (-1 if left else 1) * 0.02 * margin, y, text, color=colour, va="center",
                  ha="right" if left else "left")  # fmt: skip
    return as_svg(figure, plt)


def budget_picture(results, plt):
    """Return the picture of mean agreement against the number of pairs."""
    mean = overall(with_marks(results, by_set(results)))
    at = {budget: overall(at_budget(results, budget)) for budget in SHARES}
    compared = [name for name in ranked(mean) if name in of_kind(results, *COMPARED)]
    names = [*compared[:MOST_LINES], *(name for name in ("KMeans",) if name in compared)]
    names = [name for name in dict.fromkeys((*names, *MARKS))
             if name in mean and any(name in found for found in at.values())]  # fmt: skip
    if not names:
        return None
    figure, axes = plt.subplots(figsize=(14, 7))
    figure.subplots_adjust(left=0.08, right=0.62, top=0.9, bottom=0.12)
    colours = iter(COLOURS)
    ends = []
    for name in names:
        places = [place for place, budget in enumerate(SHARES) if name in at[budget]]
        values = [at[SHARES[place]][name] for place in places]
        colour = MARKS.get(name) or (PALETTE[0] if name == CHOOSER else next(colours))
        dashes = (0, (4, 3)) if name in MARKS else "-"
        axes.plot(places, values, color=colour, lw=3.2 if name == CHOOSER else 2.2, ls=dashes,
                  marker="o", ms=7)  # fmt: skip
        ends.append((places[-1], values[-1], f"{name}  {mean[name]:.3f}", colour))
    axes.set_xticks(range(len(SHARES)), list(SHARES))
    axes.set_xlim(-0.1, len(SHARES) - 0.9)
    axes.set(xlabel="pairs, for n points", ylabel="mean adjusted Rand index, untouched points")
    axes.set_title("Sets of at most 10,000 rows; beside the names the mean over all sets",
                   loc="left", pad=14)  # fmt: skip
    axes.grid(which="major", axis="y", color="#DDDDDD", lw=0.8)
    axes.set_axisbelow(True)
    bare(axes)
    label_ends(axes, ends)
    return as_svg(figure, plt)


def few_picture(results, plt):
    """Return the picture of what a few right answers gain: mean over sets, and the worst set."""
    found = {name: few_differences(results, name) for name in FEW_ENTRANTS}
    settings = [(budget, WRONG[0]) for budget in FEW]
    found = {name: by for name, by in found.items() if all(at in by for at in settings)}
    if not found:
        return None
    figure, axes = plt.subplots(figsize=(14, 6.5))
    figure.subplots_adjust(left=0.08, right=0.68, top=0.9, bottom=0.13)
    colours = iter(COLOURS)
    places, ends = np.arange(len(FEW)), []
    axes.axhline(0, color=INK, lw=1)
    for name, by in found.items():
        colour = PALETTE[0] if name == CHOOSER else next(colours)
        columns = [list(by[at].values()) for at in settings]
        means, worst = [np.mean(c) for c in columns], [min(c) for c in columns]
        axes.plot(places, means, color=colour, lw=3.2 if name == CHOOSER else 2.2, marker="o", ms=7)
        axes.plot(places, worst, color=colour, lw=1.4, ls=(0, (2, 2)), marker="v", ms=5)
        ends += [(places[-1], means[-1], name, colour),
                 (places[-1], worst[-1], f"{name}, worst set", colour)]  # fmt: skip
    axes.set_xticks(places, list(FEW))
    axes.set_xlim(-0.1, len(FEW) - 0.9)
    axes.set(xlabel="right answers", ylabel="adjusted Rand index, less none")
    axes.set_title("Gain by a few answers: mean over sets, and the worst set", loc="left", pad=14)
    axes.grid(which="major", axis="y", color="#DDDDDD", lw=0.8)
    axes.set_axisbelow(True)
    bare(axes)
    label_ends(axes, ends)
    return as_svg(figure, plt)


def pictures(results):
    """Yield (file name, SVG) of each picture that can be drawn."""
    draws = {RANKS: rank_picture, BUDGET: budget_picture, FEW_PICTURE: few_picture}
    ready = {name: partial(draw, results) for name, draw in draws.items()}
    return drawn(results, ready if results["records"] else {})
