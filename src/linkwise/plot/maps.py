"""Maps of points, coloured and numbered by cluster.

Readers with colour blindness can tell the colours of the palette apart. The clusters are numbered
on the map instead of in a legend. A map has no axes, because its coordinates have no meaning.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwise._typing import Array, Floats, Points, RandomState
from linkwise.constraints import as_constraints
from linkwise.estimators import ManifoldLayout
from linkwise.estimators.summary import PALETTE
from linkwise.exceptions import MissingExtra

INK = "#222222"
MUST, CANNOT = "#117733", "#CC6677"  # green and red of the palette


def pyplot() -> Any:
    """Return matplotlib.pyplot; raise MissingExtra if matplotlib is not installed."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    return pyplot


def colours(labels: ArrayLike) -> Array:
    """Return one colour per label; with more labels than colours, the colours repeat."""
    return np.array(PALETTE)[np.asarray(labels) % len(PALETTE)]


def draw_map(
    axes: Any,
    positions: ArrayLike,
    labels: ArrayLike,
    *,
    wrong: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    links: Any = None,
) -> None:
    """Draw points on a map, coloured and numbered by cluster.

    Parameters
    ----------
    axes : matplotlib Axes
    positions : array (n, 2)
    labels : int array (n,)
    wrong : bool array (n,) or None, points to mark by a cross
    names : list of str or None, names of the clusters, written instead of their numbers
    title : str or None
    links : Constraints or None, by row number, drawn by `draw_links`; black where labels break them
    """
    positions, labels = np.asarray(positions), np.asarray(labels)
    right = np.ones(len(labels), dtype=bool) if wrong is None else ~np.asarray(wrong)
    axes.scatter(*positions[right].T, c=colours(labels[right]), s=9, linewidths=0)
    if not right.all():
        axes.scatter(
            *positions[~right].T, c=colours(labels[~right]), s=26, marker="X",
            edgecolors=INK, linewidths=0.6,
        )  # fmt: skip
    if links is not None:
        draw_links(axes, positions, links, labels=labels)
    for c in np.unique(labels):
        members = positions[labels == c]
        middle = members[np.argmin(((members - np.median(members, axis=0)) ** 2).sum(axis=1))]
        style = "circle,pad=0.25" if names is None else "round,pad=0.25"
        box = {"boxstyle": style, "fc": "white", "ec": PALETTE[c % len(PALETTE)]}
        text = str(c) if names is None else names[c]
        axes.annotate(text, middle, ha="center", va="center", fontsize=9, color=INK, bbox=box)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    for spine in axes.spines.values():
        spine.set_visible(False)
    if title:
        axes.set_title(title, fontsize=11, color=INK)


def draw_links(
    axes: Any,
    positions: ArrayLike,
    links: Any,
    *,
    sample_id: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> None:
    """Draw constraints on a map: must-links as full green lines, cannot-links as dotted red ones.

    Parameters
    ----------
    axes : matplotlib Axes
    positions : array (n, 2)
    links : Constraints, or what `as_constraints` accepts
    sample_id : array (n,) or None, one id per point; the constraints then name these ids
    labels : int array (n,) or None, clusters; constraints that these break are drawn in black
    """
    positions = np.asarray(positions)
    pairs = as_constraints(links).resolve(sample_id, n=len(positions))
    a, b, sign, _ = pairs.arrays()
    broken = np.zeros(len(a), dtype=bool) if labels is None else pairs.violated(labels)
    for kind, line, colour in ((1, "-", MUST), (-1, ":", CANNOT)):
        for here, shade in (((sign == kind) & ~broken, colour), ((sign == kind) & broken, INK)):
            ends = positions[np.stack([a[here], b[here]])]  # (2, m, 2)
            axes.plot(ends[..., 0], ends[..., 1], line, color=shade, linewidth=1.8)


def draw_clusters(
    axes: Any,
    X: Points,
    labels: ArrayLike,
    *,
    wrong: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    links: Any = None,
    random_state: RandomState = 0,
) -> Floats:
    """Lay points out by `ManifoldLayout`, draw them on a map by `draw_map`, return their positions.

    With the positions, `draw_map` draws other labels on the same map.

    Parameters
    ----------
    axes : matplotlib Axes
    X : array, sparse matrix or data frame (n, d), with columns of comparable scales
    labels, wrong, names, title, links : as in `draw_map`
    random_state : int, RandomState or None, of the layout

    Returns
    -------
    array (n, 2)
    """
    positions = ManifoldLayout(2, random_state=random_state).fit_transform(X)
    draw_map(axes, positions, labels, wrong=wrong, names=names, title=title, links=links)
    return positions
