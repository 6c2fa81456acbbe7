"""The report of the benchmark of questions: answers needed by each strategy, tables and picture."""

from statistics import mean

import numpy as np

from benchmarks.pages import Heading, Picture, Table, Words, html_page, markdown_page
from benchmarks.pictures import _bare, drawn
from benchmarks.quality_pictures import _svg
from benchmarks.quality_report import left_out_lines
from benchmarks.queries_cell import GOALS, MOST, OWN, PER_POINT, STEP
from benchmarks.report import NO_PICTURES, share
from linkwise.plot import PALETTE

CURVES = "queries-curves.svg"
DEFAULT, RANDOM, COBRAS = "default", "random", "cobras"
COLOURS = {DEFAULT: PALETTE[0], RANDOM: "#666666"}
OTHERS = tuple(PALETTE[i] for i in (6, 3, 10, 4, 8, 7, 2, 15))  # that can be read as text
GRID = np.concatenate((np.linspace(0, 0.1, 21), np.linspace(0.12, 0.5, 20)))  # answers / budget
RULES = (
    "All answers are those to {per} n pairs at random for n points, {most:,} at most, with the "
    "same share of wrong ones. Counted are the answers after which agreement, the adjusted Rand "
    "index with the classes over all points, is 90 % or 95 % of that with all answers, at two "
    "checkpoints in a row; as many as all where that is never reached. Checkpoints grow by a "
    "{step}th, and between two questions come in one batch (COBRAS: one by one). What closure "
    "implies is never asked. Every strategy is judged by the labels of the same model, which is "
    "told the number of classes; COBRAS by its own partition as well. Draws: {draws}. Means are "
    "over draws, then sets."
)
RATIO = (
    "Ratio: answers, as a share of those that random pairs need on the same set, both the mean "
    "over draws; the mean over sets where random pairs need any."
)


def column(goal):
    return f"to {goal:.0%}"


def methods(results):
    """Return the strategies that have run, the default first and random pairs last."""
    names = list(dict.fromkeys(r["method"] for r in results["records"]))
    rank = {DEFAULT: -1, COBRAS: 1, OWN: 2, RANDOM: 3}
    return sorted(names, key=lambda name: (rank.get(name, 0), name))


def shares_wrong(results):
    return sorted({record["wrong"] for record in results["records"]})


def needed(results, wrong, goal):
    """Return {method: {set: [answers of each draw]}}; all answers where the goal is not reached."""
    found: dict = {}
    for record in results["records"]:
        if record["wrong"] == wrong and "failed" not in record:
            answers = record[column(goal)]
            answers = record["budget"] if answers is None else answers
            of_set = found.setdefault(record["method"], {}).setdefault(record["set"], {})
            of_set[record["draw"]] = answers
    return found


def ratios(found, method):
    """Return {set: mean answers / mean answers of random pairs}, where those need any."""
    out = {}
    for name, draws in found.get(method, {}).items():
        base = found.get(RANDOM, {}).get(name, {})
        both = sorted(set(draws) & set(base))
        if both and sum(base[draw] for draw in both):
            out[name] = sum(draws[d] for d in both) / sum(base[d] for d in both)
    return out


def missed(results, method, wrong, goal):
    """Return how often the goal was not reached, as text."""
    cells = [
        r for r in results["records"]
        if r["method"] == method and r["wrong"] == wrong and "failed" not in r
    ]  # fmt: skip
    return f"{sum(r[column(goal)] is None for r in cells)} of {len(cells)}"


def main_table(results, wrong):
    """Return the table of means over sets."""
    head = [""]
    for goal in GOALS:
        head += [f"answers to {goal:.0%}", "ratio", "not reached"]
    tables = {goal: needed(results, wrong, goal) for goal in GOALS}
    rows = []
    for method in methods(results):
        row = [method]
        for goal, found in tables.items():
            if method not in found:
                break
            means = [mean(draws.values()) for draws in found[method].values()]
            ratio = ratios(found, method)
            row += [f"{mean(means):.0f}", f"{mean(ratio.values()):.2f}" if ratio else ""]
            row.append(missed(results, method, wrong, goal))
        else:
            rows.append(row)
    return Table(head, rows)


def set_table(results, wrong, goal):
    """Return the table of answers needed on every set."""
    found = needed(results, wrong, goal)
    names = [name for name in methods(results) if name in found]
    rows = []
    for data in results["sets"]:
        reference = [
            r["reference"]
            for r in results["records"]
            if r["set"] == data["name"] and r["wrong"] == wrong and "reference" in r
        ]
        if not reference:
            continue
        row = [data["name"], f"{data['n']:,}", str(data["k"]), share(mean(reference))]
        for name in names:
            draws = found[name].get(data["name"])
            row.append(f"{mean(draws.values()):.0f}" if draws else "")
        rows.append(row)
    return Table(["", "n", "k", "agreement", *names], rows)


def headline(results):
    """Return what the benchmark is run for."""
    rows = []
    for wrong in shares_wrong(results):
        found = needed(results, wrong, GOALS[0])
        ratio = ratios(found, DEFAULT)
        words = f"{wrong:.0%} wrong answers"
        if ratio:
            value = f"{mean(ratio.values()):.2f}"
            rows.append([f"{words}: answers of random pairs that {DEFAULT} needs", value])
        for other in (COBRAS, OWN):
            both = [
                (mean(found[DEFAULT][name].values()), mean(found[other][name].values()))
                for name in found.get(DEFAULT, {})
                if name in found.get(other, {})
            ]
            if both:
                fewer, more = sum(a < b for a, b in both), sum(a > b for a, b in both)
                rows.append([f"{words}: sets where {DEFAULT} needs fewer, more than {other}",
                             f"{fewer}, {more} of {len(both)}"])  # fmt: skip
    return [Table([f"to {GOALS[0]:.0%}", ""], rows)] if rows else []


def how(results):
    """Return what was run, where and how."""
    m = results["machine"]
    draws = 1 + max((record["draw"] for record in results["records"]), default=0)
    libraries = ", ".join(f"{name} {version}" for name, version in m["libraries"].items())
    made = f"Made by `{results['command']}`. {m['system']}, {m['cores']} cores of {m['processor']}."
    rules = RULES.format(per=PER_POINT, most=MOST, step=STEP, draws=draws)
    return [Words(f"{made} {libraries}."), Words(rules), Words(RATIO)]


def mean_curves(results, wrong):
    """Return {method: agreement as a share of that with all answers, at GRID}, means over sets.

    A run ends when it has reached its goal twice; it is taken to stay there.
    """
    found: dict = {}
    for record in results["records"]:
        if record["wrong"] != wrong or "failed" in record or record["reference"] <= 0:
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
    """Return the picture of agreement against answers, one panel for each share of wrong ones."""
    wrongs = shares_wrong(results)
    figure, panels = plt.subplots(
        1, len(wrongs), figsize=(8 + 5 * len(wrongs), 7), sharey=True, squeeze=False
    )
    figure.subplots_adjust(left=0.06, right=0.76, top=0.9, bottom=0.12, wspace=0.12)
    names = methods(results)
    colours = dict(zip([n for n in names if n not in COLOURS], OTHERS, strict=False)) | COLOURS
    all_curves = [mean_curves(results, wrong) for wrong in wrongs]
    lowest = min(c.min() for curves in all_curves for n, c in curves.items() if n != OWN)
    panels[0][0].set_ylim(max(lowest - 0.1, 0), 1.01)  # COBRAS alone begins at nothing
    for axes, wrong, curves in zip(panels[0], wrongs, all_curves, strict=True):
        for name in best_first(curves):
            lead = name in (DEFAULT, RANDOM)
            axes.plot(GRID, curves[name], color=colours[name], lw=3.2 if lead else 1.8,
                      ls=(0, (4, 3)) if name == OWN else "-", label=name)  # fmt: skip
        axes.axhline(GOALS[0], color="#BBBBBB", lw=1, zorder=0)
        axes.set_xlim(0, GRID[-1])
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axes.yaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        axes.set_title(f"{wrong:.0%} wrong answers", loc="left", pad=14)
        axes.set_xlabel("answers, of all")
        _bare(axes)
    panels[0][0].set_ylabel("agreement, of that with all answers; at most 100 %")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(0.77, 0.5), frameon=False,
                  labelcolor="linecolor", title="best first, at the left", alignment="left",
                  labelspacing=0.9)  # fmt: skip
    return _svg(figure, plt)


def pictures(results):
    """Yield (file name, SVG) of each picture that can be drawn."""
    some = any("curve" in record for record in results["records"])
    return drawn(results, {CURVES: curve_picture} if some else {})


def failure_table(results):
    """Return the table of runs that failed."""
    rows = [
        [r["method"], r["set"], str(r["draw"]), f"{r['wrong']:.0%}", r["failed"]]
        for r in results["records"] if "failed" in r
    ]  # fmt: skip
    return Table(["", "set", "draw", "wrong", "why"], rows)


def blocks(results, images):
    """Return the whole report as blocks, with the pictures that there are."""
    absent = [Words(line) for line in left_out_lines(results["left_out"])]
    if not results["records"]:
        return [Words("No cell was run."), *absent]
    found = [*headline(results), *how(results), *absent]
    found += [Words(NO_PICTURES)] if results.get("no_pictures") else []
    if CURVES in images:
        found.append(Picture(CURVES, "agreement against answers, mean over sets"))
    for wrong in shares_wrong(results):
        found += [Heading(f"{wrong:.0%} wrong answers"), main_table(results, wrong)]
        for goal in GOALS:
            found += [Words(f"Answers to {goal:.0%} on each set; agreement is that with all."),
                      set_table(results, wrong, goal)]  # fmt: skip
    failures = failure_table(results)
    return found + ([Heading("Failures"), failures] if failures.rows else [])


def markdown(results, images):
    """Return the report as Markdown."""
    return markdown_page("Questions", blocks(results, images))


def html(results, images):
    """Return the report as one HTML page."""
    return html_page("Questions", blocks(results, images), images)
