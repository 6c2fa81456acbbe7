"""What the pictures of all reports share: drawing without matplotlib, files, axes, labels."""

import io

import numpy as np

from linkwise import MissingExtra
from linkwise.plot import INK, pyplot

GAP = 0.052  # least distance of two labels, in heights of the axes
LOOK = {"font.size": 15, "axes.labelsize": 16, "axes.titlesize": 17, "text.color": INK,
        "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK}  # fmt: skip


def drawn(results, draws, look=LOOK):
    """Yield (file name, image) of each picture; without matplotlib none, and the results say so.

    Parameters
    ----------
    results : dict; gets an entry "no_pictures" if there is no matplotlib
    draws : {file name: function (pyplot) -> bytes of the file, or None}
    look : settings of matplotlib
    """
    try:
        plt = pyplot()
    except MissingExtra:
        results["no_pictures"] = True
        return
    for name, draw in draws.items():
        with plt.rc_context(look | {"svg.fonttype": "none", "svg.hashsalt": name}):
            image = draw(plt)
        if image is not None:
            yield name, image


def as_file(figure, plt, **options):
    """Return the bytes of a figure in a file, and close the figure."""
    file = io.BytesIO()
    figure.savefig(file, **options)
    plt.close(figure)
    return file.getvalue()


def as_png(figure, plt):
    """Return a figure as PNG, and close it."""
    return as_file(figure, plt, format="png", dpi=110, facecolor="white")


def as_svg(figure, plt, ground="white"):
    """Return a figure as SVG, and close it."""
    return as_file(figure, plt, format="svg", metadata={"Date": None}, facecolor=ground)


def bare(axes, *sides):
    """Hide sides of the frame, those at the top and right if none is named."""
    for side in sides or ("top", "right"):
        axes.spines[side].set_visible(False)


def spread(heights, gap):
    """Return heights moved apart, in their order, so that neighbours are at least ``gap`` apart.

    >>> spread([0.5, 0.5, 0.9], 0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    order = np.argsort(heights, kind="stable")
    out = np.array(heights, dtype=np.float64)[order]
    for _ in range(200):
        short = gap - np.diff(out)
        if (short <= 1e-9).all():
            break
        for i in np.flatnonzero(short > 0):
            push = max(0.0, gap - (out[i + 1] - out[i])) / 2
            out[i] -= push
            out[i + 1] += push
    result = np.empty_like(out)
    result[order] = out
    return result


def label_ends(axes, ends, *, gap=GAP, fontsize=None):
    """Write the name of each line at the right margin, with a thin line from its end to the name.

    Parameters
    ----------
    ends : list of (x, y, words, colour), the last point of each line
    gap : float, least distance of two names, in heights of the axes
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    places = to_axes.transform([(x, y) for x, y, _, _ in ends])
    heights = spread(places[:, 1], gap)
    for (x, y), height, (_, _, words, colour) in zip(places, heights, ends, strict=True):
        axes.plot([x + 0.012, 1.015, 1.03], [y, height, height], transform=axes.transAxes,
                  color=colour, lw=0.8, alpha=0.45, clip_on=False)  # fmt: skip
        axes.text(1.04, height, words, transform=axes.transAxes, color=colour, va="center",
                  fontsize=fontsize)  # fmt: skip
