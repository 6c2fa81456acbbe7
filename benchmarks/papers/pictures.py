"""The pictures of the papers' report.

Lines carry their names at their ends; beside colour they differ by marker and dashes. Bands are
one standard error.
"""

import base64

import numpy as np

from benchmarks.papers import ccskl, csc, images, kernel, lines, propagation
from benchmarks.papers.series import FREE, PAPER
from benchmarks.papers.theme import COLOURS, INK, LOOK, RULE, svg_of
from benchmarks.reports.figures import bare, drawn, label_ends, spread

LINES = {  # method: colour, marker, dashes
    "CCSKL": ("c0", "o", "-"),
    "SL": ("c1", "s", "--"),
    "SSKK": ("c3", "^", "-."),
    "CCSR": ("c2", "D", "-"),
    "NCuts": ("c5", "", ":"),
    ccskl.DEFAULT: ("c6", "P", "-"),
    kernel.OPTIMAL: ("c0", "o", "-"),
    kernel.MEAN: ("c5", "v", "--"),
    kernel.BEST: ("c1", "s", "-."),
    kernel.BY_LINKS: ("c2", "D", "--"),
    kernel.DEFAULT: ("c4", "^", "-."),
    kernel.FULL: ("c6", "P", "-"),
    propagation.HARD: ("c0", "o", "-"),
    propagation.SOFT: ("c6", "P", "-"),
    propagation.COP: ("c3", "^", "-."),
    propagation.MIXTURE: ("c2", "D", "-"),
    "cSC": ("c0", "o", "-"),
    "SC": ("c5", "", ":"),
    "FCSC": ("c3", "^", "-."),
    "cPCA": ("c4", "v", "--"),
    "cLPP": ("c2", "D", "-."),
    csc.FREE: ("c0", "o", "-"),
    csc.DEFAULT: ("c6", "P", "-"),
}
GAP = 0.085  # least distance of two labels, in heights of a panel
WIDE, TALL = 14, 3.3  # inches of a row of two panels
COLUMNS = {PAPER: "as in the paper", FREE: "label-free"}


def panel(axes, found, *, title, x, y, limits):
    """Draw the series of one set in one column."""
    ends = []
    for series in found:
        colour, marker, dashes = LINES[series.method]
        colour = COLOURS[colour][0]
        at, mean, error = (np.array(values) for values in (series.at, series.mean, series.error))
        axes.fill_between(at, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
        axes.plot(at, mean, color=colour, lw=2, ls=dashes, marker=marker or None, ms=5)
        ends.append((at[-1], mean[-1], series.method, colour))
    axes.set_title(title, loc="left")
    axes.set(xlabel=x, ylabel=y, ylim=limits)
    axes.grid(axis="y", color=RULE, lw=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    bare(axes)
    if ends:
        label_ends(axes, ends, gap=GAP, fontsize=12)


def _limits(found):
    """Return limits that hold all lines, with room."""
    values = [
        m + sign * e
        for s in found
        for m, e in zip(s.mean, s.error, strict=True)
        for sign in (-1, 1)
    ]
    low, high = min(values), max(values)
    room = 0.06 * max(high - low, 0.02)
    return low - room, high + room


def curves(plt, shelf, paper, sources, names, methods, measure, *, x, y):
    """Return a picture with a row for every set: as in the paper, and label-free; None if empty."""
    names = shelf.sets(paper, names)
    if not names:
        return None
    figure, grid = plt.subplots(
        len(names), 2, figsize=(WIDE, 0.6 + TALL * len(names)), squeeze=False
    )
    figure.subplots_adjust(
        left=0.06,
        right=0.86,
        top=1 - 0.45 / (0.6 + TALL * len(names)),
        bottom=0.55 / (0.6 + TALL * len(names)),
        wspace=0.62,
        hspace=0.5,
    )
    for row, name in zip(grid, names, strict=True):
        both = {
            column: [
                s
                for method in listed
                if (s := shelf.get(paper, name, method, column, measure)) is not None
            ]
            for column, listed in methods.items()
        }
        shown = [s for found in both.values() for s in found]
        limits = _limits(shown) if shown else (0, 1)
        for axes, (column, found) in zip(row, both.items(), strict=True):
            panel(
                axes,
                found,
                title=f"{sources[name].title}, {COLUMNS[column]}",
                x=x,
                y=y,
                limits=limits,
            )
    return svg_of(figure, plt)


def unpacked(view):
    """Return the matrix of distances that `ccskl.packed` wrote."""
    side = view["side"]
    return np.frombuffer(base64.b64decode(view["bytes"]), dtype=np.uint8).reshape(side, side)


def matrix_picture(plt, matrices):
    """Return figure 4 of CCSKL: dark is near."""
    if not matrices:
        return None
    views = ("original", "spectral embedding", "kernel")
    figure, grid = plt.subplots(
        len(matrices), 3, figsize=(11, 3.75 * len(matrices)), squeeze=False, layout="constrained"
    )
    for row, (name, found) in zip(grid, matrices.items(), strict=True):
        for axes, view in zip(row, views, strict=True):
            axes.imshow(unpacked(found[view]), cmap="gray", interpolation="nearest")
            words = {"kernel": "CCSKL", "spectral embedding": "spectral"}.get(view, view)
            axes.set_title(
                f"{ccskl.SETS[name].title}, {words}: {found[view]['contrast']:.2f}", loc="left"
            )
            axes.set(xticks=[], yticks=[])
            bare(axes, "top", "right", "bottom", "left")
    return svg_of(figure, plt)


def circle_picture(plt):
    """Return figure 2 (a) of kernel optimisation: the points."""
    found = kernel.circles()
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    for c, (name, marker) in enumerate((("c0", "o"), ("c1", "^"))):
        axes.scatter(
            *found["X"][found["y"] == c].T,
            s=14,
            color=COLOURS[name][0],
            marker=marker,
            linewidths=0,
        )
    axes.set(xticks=[], yticks=[], aspect="equal")
    bare(axes, "top", "right", "bottom", "left")
    return svg_of(figure, plt)


def shape_picture(plt):
    """Return figure 1 of affinity propagation: the equivalent kernels in one and two dimensions."""
    figure, grid = plt.subplots(2, 3, figsize=(WIDE, 7.4), sharey="row", layout="constrained")
    titles = ("one link site near", "must-link, across", "cannot-link, across")
    for number, sigma in enumerate(lines.WIDTHS):
        x, asymmetric, symmetric = lines.shapes(sigma)
        colour = COLOURS[f"c{number}"][0]
        for axes, y in zip(grid[0], (asymmetric, symmetric, -symmetric), strict=True):
            axes.plot(x, y, color=colour, lw=2, ls=("-", "--", "-.")[number])
            axes.text(
                0.99, 0.99 - 0.1 * number, f"σ = {sigma:g}", transform=axes.transAxes,
                color=colour, fontsize=11, ha="right", va="top",
            )  # fmt: skip
    plane = lines.plane(1.0)
    for column, (title, Z) in enumerate(zip(titles, plane, strict=True)):
        top, below = grid[:, column]
        top.set_title(title, loc="left")
        top.axhline(0, color=RULE, lw=1)
        top.set_xlabel("place of j; link site at 0, i at 1")
        bare(top)
        below.imshow(Z, cmap="PuOr", vmin=-1, vmax=1, extent=(-4, 4, -3, 3), origin="lower")
        below.scatter([0, 1], [0, 0], s=30, color=INK, marker="+")
        below.set(xticks=[], yticks=[], xlabel="in the plane, σ = 1; orange: negative")
        bare(below, "top", "right", "bottom", "left")
    return svg_of(figure, plt)


def _name_vectors(axes, named):
    """Write at the right of a panel what each vector is; named: (height, words, colour)."""
    low, high = axes.get_ylim()
    heights = spread([(y - low) / (high - low) for y, _, _ in named], 0.16)
    for height, (_, words, colour) in zip(heights, named, strict=True):
        axes.text(1.02, height, words, transform=axes.transAxes, color=colour, va="center")


def line_picture(plt, line, title):
    """Return figure 2, 3 or 4 of affinity propagation: affinities and eigenvectors."""
    shown = {"before": line.before} | {
        f"after, Algorithm {name.upper()}": A for name, A in line.after.items()
    }
    figure, grid = plt.subplots(
        2, len(shown), figsize=(4.8 * len(shown), 6.4), squeeze=False, layout="constrained",
        gridspec_kw={"height_ratios": [2, 1.2]},
    )  # fmt: skip
    for column, (words, A) in enumerate(shown.items()):
        top, below = grid[:, column]
        top.imshow(A, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        for i, j, sign in line.links:
            colour = COLOURS["c2" if sign > 0 else "c1"][0]
            top.scatter([i, j], [j, i], s=60, facecolors="none", edgecolors=colour, lw=2)
        top.set_title(words, loc="left")
        top.set(xticks=[], yticks=[])
        values, e = lines.vectors(A)
        named = []
        below.set_ylim(-1.1, 1.1)
        for number in (1, 2):
            colour = COLOURS[f"c{number - 1}"][0]
            y = e[:, number] / np.abs(e[:, number]).max()
            below.plot(y, color=colour, lw=2, ls="-" if number == 1 else "--", marker="o", ms=3)
            named.append((y[-1], f"e{number + 1}, {values[number]:.2f}", colour))
        _name_vectors(below, named)
        below.set_xlabel("sample")
        below.set_yticks([-1, 0, 1])
        bare(below)
    figure.suptitle(title, x=0.01, ha="left", fontsize=14)
    return svg_of(figure, plt)


def image_picture(plt, segmented):
    """Return figure 7 of affinity propagation: image with links, segments, eigenvectors."""
    if not segmented:
        return None
    methods = ("no links", "hard links", "soft links")
    figure, grid = plt.subplots(
        len(segmented), 7, figsize=(WIDE, 2.5 * len(segmented)), squeeze=False, layout="constrained"
    )
    for row, (name, found) in zip(grid, segmented.items(), strict=True):
        image = images.IMAGES[name]()
        side = len(image.brightness)
        row[0].imshow(image.brightness, cmap="gray", vmin=0, vmax=1)
        for pair in image.links:
            ends = np.array([divmod(end, side) for end in (pair.a, pair.b)])
            colour = COLOURS["c2" if pair.sign > 0 else "c1"][0]
            row[0].plot(ends[:, 1], ends[:, 0], color=colour, lw=1.6, marker="o", ms=3)
        row[0].set_title(f"{name}, {image.links.n_pairs} links", loc="left", fontsize=12)
        for axes, method in zip(row[1:4], methods, strict=True):
            labels = np.array(found[method]["labels"]).reshape(side, side)
            axes.imshow(labels, cmap="cividis", interpolation="nearest")
            axes.set_title(f"{method}: {found[method]['right']:.2f}", loc="left", fontsize=12)
        for number, axes in enumerate(row[4:]):
            e = np.array(found["hard links"]["vectors"][number]).reshape(side, side)
            axes.imshow(e, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
            axes.set_title(f"e{number + 2}, hard links", loc="left", fontsize=12)
        for axes in row:
            axes.set(xticks=[], yticks=[])
            bare(axes, "top", "right", "bottom", "left")
    return svg_of(figure, plt)


CCSKL_METHODS = {PAPER: ccskl.METHODS, FREE: (*ccskl.METHODS, ccskl.DEFAULT)}
KERNEL_METHODS = {
    PAPER: (kernel.OPTIMAL, kernel.MEAN, kernel.BEST),
    FREE: (kernel.FULL, kernel.BY_LINKS, kernel.DEFAULT),
}
PROPAGATION_METHODS = {
    PAPER: (propagation.HARD, propagation.LEARNING, propagation.COP, propagation.MIXTURE),
    FREE: (
        propagation.SOFT,
        propagation.HARD,
        propagation.LEARNING,
        propagation.COP,
        propagation.MIXTURE,
    ),
}
CSC_METHODS = {PAPER: csc.METHODS, FREE: (csc.FREE, csc.DEFAULT, "SL", "SC")}
NOT_IMAGES = tuple(name for name in ccskl.SETS if name not in ccskl.IMAGES)
CSC_UCI = tuple(name for name in csc.SETS if name not in csc.FACES)


def drawings(shelf, *, matrices, segmented, papers):
    """Return {file name: function (pyplot) that draws it}, in the order of the report."""

    def lines_of(module, names, methods, measure, x, y):
        return lambda plt: curves(
            plt, shelf, module.NAME, module.SETS, names, methods, measure, x=x, y=y
        )

    def error(names):
        return lines_of(ccskl, names, CCSKL_METHODS, "error", "constraints", "error")

    def rand(names):
        return lines_of(propagation, names, PROPAGATION_METHODS, "rand", "pairs", "Rand index")

    def rate(names, measure, words):
        return lines_of(csc, names, CSC_METHODS, measure, "% of all pairs", words)

    def line(function, title):
        return lambda plt: line_picture(plt, function(), title)

    by_paper = {
        ccskl.NAME: {
            "papers-ccskl-3.svg": error(ccskl.IMAGES),
            "papers-ccskl-4.svg": lambda plt: matrix_picture(plt, matrices),
            "papers-ccskl-5.svg": error(NOT_IMAGES),
        },
        kernel.NAME: {
            "papers-kernel-2a.svg": circle_picture,
            "papers-kernel-2-4.svg": lines_of(
                kernel, kernel.SETS, KERNEL_METHODS, "rand", "pairs", "Rand index, test part"
            ),
        },
        propagation.NAME: {
            "papers-propagation-1.svg": shape_picture,
            "papers-propagation-2.svg": line(
                lines.one_must_link, "One must-link merges two clusters"
            ),
            "papers-propagation-3.svg": line(
                lines.one_cannot_link, "One cannot-link splits a continuum"
            ),
            "papers-propagation-4.svg": line(
                lines.false_affinity, "Two cannot-links: false affinity in A, none in B"
            ),
            "papers-propagation-5.svg": rand(propagation.SYNTHETIC),
            "papers-propagation-6.svg": rand((*propagation.UCI, *propagation.NEWS)),
            "papers-propagation-7.svg": lambda plt: image_picture(plt, segmented),
        },
        csc.NAME: {
            "papers-csc-1.svg": rate(CSC_UCI, "accuracy", "accuracy"),
            "papers-csc-2.svg": rate(CSC_UCI, "rand", "Rand index"),
            "papers-csc-3.svg": rate(csc.FACES, "accuracy", "accuracy"),
            "papers-csc-4.svg": rate(csc.FACES, "rand", "Rand index"),
        },
    }
    return {name: draw for paper in papers for name, draw in by_paper[paper].items()}


def pictures(shelf, **found):
    """Return {file name: SVG} of the pictures there are; without matplotlib none."""
    return dict(drawn({}, drawings(shelf, **found), LOOK))
