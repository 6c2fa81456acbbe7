"""The picture of the benchmark of questions: agreement against answers."""

from functools import partial

import numpy as np

from benchmarks.queries.cell import GOALS, OWN
from benchmarks.queries.report import CURVES, DEFAULT, RANDOM, kinds_of_answers, methods
from benchmarks.reports.figures import as_svg, bare, drawn
from linkwise.plot import PALETTE

COLOURS = {DEFAULT: PALETTE[0], RANDOM: "#666666"}
OTHERS = tuple(PALETTE[i] for i in (6, 3, 10, 4, 8, 7, 2, 15))  # that can be read as text
GRID = np.concatenate((np.linspace(0, 0.1, 21), np.linspace(0.12, 0.5, 20)))  # answers / budget


def mean_curves(results, said):
    """Return {method: agreement as a share of that with all answers, at GRID}, means over sets.

    A run ends when it has reached its goal twice; it is taken to stay there.
    """
    found: dict = {}
    for record in results["records"]:
        if record["answers"] != said or "failed" in record or record["reference"] <= 0:
            continue
        answers, agreement = np.array(record["curve"]).T
        at = np.minimum(np.interp(GRID * record["budget"], answers, agreement), 1)
        share_of = np.minimum(at / record["reference"], 1)
        found.setdefault(record["method"], {}).setdefault(record["set"], []).append(share_of)
    return {
        name: np.mean([np.mean(draws, axis=0) for draws in sets.values()], axis=0)
        for name, sets in found.items()
    }


def best_first(curves):
    """Return the names of curves, the highest first."""
    return sorted(curves, key=lambda name: -curves[name].mean())


def curve_picture(results, plt):
    """Return the picture of agreement against answers, one panel for each kind of answers."""
    kinds = kinds_of_answers(results)
    figure, panels = plt.subplots(
        1, len(kinds), figsize=(8 + 5 * len(kinds), 7), sharey=True, squeeze=False
    )
    figure.subplots_adjust(left=0.06, right=0.76, top=0.9, bottom=0.12, wspace=0.12)
    names = methods(results)
    colours = dict(zip([n for n in names if n not in COLOURS], OTHERS, strict=False)) | COLOURS
    all_curves = [mean_curves(results, said) for said in kinds]
    lowest = min(c.min() for curves in all_curves for n, c in curves.items() if n != OWN)
    panels[0][0].set_ylim(max(lowest - 0.1, 0), 1.01)  # COBRAS alone begins at nothing
    for axes, said, curves in zip(panels[0], kinds, all_curves, strict=True):
        for name in best_first(curves):
            lead = name in (DEFAULT, RANDOM)
            axes.plot(GRID, curves[name], color=colours[name], lw=3.2 if lead else 1.8,
                      ls=(0, (4, 3)) if name == OWN else "-", label=name)  # fmt: skip
        axes.axhline(GOALS[0], color="#BBBBBB", lw=1, zorder=0)
        axes.set_xlim(0, GRID[-1])
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axes.yaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axes.set_title(f"answers: {said}", loc="left", pad=14)
        axes.set_xlabel("answers, of all")
        bare(axes)
    panels[0][0].set_ylabel("agreement, of that with all answers; at most 100 %")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(0.77, 0.5), frameon=False,
                  labelcolor="linecolor", title="best first, at the left", alignment="left",
                  labelspacing=0.9)  # fmt: skip
    return as_svg(figure, plt)


def pictures(results):
    """Yield (file name, SVG) of each picture that can be drawn."""
    some = any("curve" in record for record in results["records"])
    return drawn(results, {CURVES: partial(curve_picture, results)} if some else {})
