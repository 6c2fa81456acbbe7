"""The pictures of the speed report: cost against rows, and the stages of a fit."""

from functools import partial

from benchmarks.reports.figures import as_png, bare, drawn, label_ends
from benchmarks.speed.report import finished, scale_points, scale_sets, slopes
from linkwise.plot import PALETTE

STYLE = {  # contestant: colour, marker
    "graph_linked": (PALETTE[0], "o"),
    "anchors_linked": (PALETTE[7], "s"),
    "spectral": (PALETTE[6], "D"),
    "kmeans": (PALETTE[3], "^"),
    "minibatch": (PALETTE[4], "v"),
}
FLOORS = {  # stage: colour, words
    "nearest neighbours": (PALETTE[0], "floor: all pairs"),
    "assignment": (PALETTE[7], "floor: rows x anchors"),
}


def short(n):
    """Return a number of rows in short.

    >>> short(31623), short(1_000_000), short(500)
    ('32k', '1M', '500')
    """
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if n >= unit:
            return f"{n / unit:.2g}{name}" if n < 100 * unit else f"{n / unit:.0f}{name}"
    return str(n)


def floor_lines(results, lines):
    """Return {stage: (rows, seconds)} of the floors over the sizes that were run."""
    sizes = {"nearest neighbours": "graph_linked", "assignment": "anchors_linked"}
    found = {}
    for stage, key in sizes.items():
        rows = lines[key][0] if key in lines else []
        by_rows = {data["n"]: data["floors"][stage] for data in scale_sets(results)}
        if rows:
            found[stage] = rows, [by_rows[n] for n in rows]
    return found


def cost_picture(results, plt):
    """Return the picture of seconds against rows, or None if there are too few sizes."""
    fitted = slopes(results)
    lines = {key: scale_points(results, key) for key in STYLE}
    lines = {key: points for key, points in lines.items() if points[0]}
    if not fitted:
        return None
    names = {row["contestant"]: row["name"] for row in results["rows"]}
    figure, axes = plt.subplots(figsize=(14, 7.6))
    figure.subplots_adjust(left=0.08, right=0.62, top=0.9, bottom=0.12)
    ends = []  # (rows, seconds, words, colour) of what has to be labelled
    for key, (n, seconds) in lines.items():
        colour, marker = STYLE[key]
        axes.plot(n, seconds, color=colour, marker=marker, lw=2.6, ms=8)
        if key in fitted:
            words = f"{names[key]}, slope {fitted[key][2].slope:.2f}"
            ends.append((n[-1], seconds[-1], words, colour))
        else:  # a single point needs no line to its name
            axes.annotate(names[key], (n[0], seconds[0]), xytext=(0, 11),
                          textcoords="offset points", color=colour)  # fmt: skip
    for stage, (n, seconds) in floor_lines(results, lines).items():
        colour, words = FLOORS[stage]
        axes.plot(n, seconds, color=colour, lw=1.8, ls=(0, (4, 3)), alpha=0.75)
        ends.append((n[-1], seconds[-1], words, colour))
    sizes = sorted({n for rows, _ in lines.values() for n in rows})
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    axes.set_xticks(sizes, [short(n) for n in sizes])
    axes.minorticks_off()
    axes.set_title("Cost of a whole fit against the number of rows", loc="left", pad=14)
    axes.grid(which="major", color="#DDDDDD", lw=0.8)
    axes.set_axisbelow(True)
    bare(axes)
    label_ends(axes, ends)
    return as_png(figure, plt)


def stage_panels(results):
    """Return at most four rows of stages: the two longest fits of each path."""
    found = []
    for key in ("graph_stages", "anchor_stages"):
        rows = [row for (_, at), row in finished(results).items() if at == key]
        rows.sort(key=lambda row: row["summary"]["seconds"])
        found += rows[-2:]
    return found


def stage_picture(results, plt):
    """Return the picture of the stages, or None if none were run."""
    rows = stage_panels(results)
    if not rows:
        return None
    floors = {data["name"]: data["floors"] for data in results["sets"]}
    figure, grid = plt.subplots(
        -(-len(rows) // 2), min(2, len(rows)), figsize=(15, 1.2 + 4.2 * -(-len(rows) // 2)),
        squeeze=False, layout="constrained",
    )  # fmt: skip
    figure.get_layout_engine().set(w_pad=0.25, h_pad=0.2)
    for axes, row in zip(grid.flat, rows, strict=False):
        _draw_stages(axes, row, floors[row["set"]])
    for axes in list(grid.flat)[len(rows) :]:
        axes.set_visible(False)
    figure.suptitle("Where the time of a fit goes; the black line is the machine's floor",
                    x=0.01, ha="left", fontsize=18)  # fmt: skip
    return as_png(figure, plt)


def _draw_stages(axes, row, floors):
    stages = dict(reversed(row["summary"]["stages"].items()))
    longest = max(stages.values())
    anchored = row["contestant"] == "anchor_stages"
    colour = STYLE["anchors_linked" if anchored else "graph_linked"][0]
    axes.barh(list(stages), list(stages.values()), color=colour, height=0.62, alpha=0.85)
    for place, (name, seconds) in enumerate(stages.items()):
        words = f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
        right, floor = seconds, floors.get(name)
        if floor is not None:
            words += f", {seconds / floor:.2g} x floor" if seconds < 100 * floor else ""
            if 0.005 * longest <= floor <= 1.15 * longest:
                axes.plot([floor, floor], [place - 0.4, place + 0.4], color="black", lw=2.5)
                right = max(seconds, floor)
        axes.text(right + 0.02 * longest, place, words, va="center", fontsize=14)
    whole = sum(s for name, s in stages.items() if name != "warm refit")
    path = "anchors" if anchored else "neighbour graph"
    axes.set_title(f"{row['set']}, {path}: {whole:.2g} s", loc="left")
    axes.set_xlim(0, 1.5 * longest)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    bare(axes, "top", "right", "bottom", "left")


PICTURES = {"speed-cost.png": cost_picture, "speed-stages.png": stage_picture}


def pictures(results):
    """Yield (file name, PNG) of each picture that can be drawn."""
    return drawn(results, {name: partial(draw, results) for name, draw in PICTURES.items()})
