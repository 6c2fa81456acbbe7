"""Dendrograms of clusters: which are near, and what they are made of.

A dendrogram has the clusters of one level at the bottom, with their numbers of rows, and the merges
above them at their heights. Cannot-links may end the merges before one cluster is left; the
dendrogram then has several trees side by side.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise._typing import Array
from linkwise.estimators.summary import PALETTE
from linkwise.partition import Tree
from linkwise.plot.maps import INK

MANY = 25  # clusters at the bottom, from which on their numbers of rows stand upright


def bottom_up(tree: Tree, n_bottom: int) -> tuple[Array, Array, Array]:
    """Return (children, heights, numbers of rows) of the tree above a level of n_bottom clusters.

    Its leaves are 0 ... n_bottom - 1, the clusters of that level as `Tree.cut` numbers them.
    """
    made = tree.n_leaves - n_bottom
    label = tree.cut(n_bottom)
    number = np.full(tree.n_leaves + len(tree.children), -1)
    clustered = tree.leaf >= 0
    number[tree.leaf[clustered]] = label[clustered]
    for node, (a, _) in enumerate(tree.children.tolist(), start=tree.n_leaves):
        above = node - tree.n_leaves >= made
        number[node] = n_bottom + node - tree.n_leaves - made if above else number[a]
    return number[tree.children[made:]], tree.heights[made:], np.bincount(label[clustered])


def positions(n: int, children: Array) -> tuple[Array, Array]:
    """Return (x of every node, leaves from left to right); trees stand one after the other."""
    inner = children.tolist()
    under = [[leaf] for leaf in range(n)]
    for a, b in inner:
        first, second = sorted((under[a], under[b]), key=min)
        under.append(first + second)
    ends = sorted(
        set(range(n + len(inner))) - set(children.ravel().tolist()), key=lambda e: min(under[e])
    )
    order = [leaf for end in ends for leaf in under[end]]
    x = np.zeros(n + len(inner))
    x[order] = np.arange(n)
    for node, (a, b) in enumerate(inner, start=n):
        x[node] = (x[a] + x[b]) / 2
    return x, np.array(order)


def draw_tree(
    axes: Any,
    tree: Tree,
    n_bottom: int = 30,
    *,
    n_clusters: int | None = None,
    levels: Sequence[int] = (),
    title: str | None = None,
) -> None:
    """Draw the upper part of a tree of clusters as a dendrogram.

    Parameters
    ----------
    axes : matplotlib Axes
    tree : Tree, such as ``model.tree_``
    n_bottom : int
        Number of clusters at the bottom; all leaves if there are fewer.
    n_clusters : int or None
        Each of so many clusters gets a colour of its own, that of `draw_map`; None: the clusters of
        the clustering.
    levels : numbers of clusters, each marked by a dashed line at the height where it is reached
    title : str or None
    """
    n = min(n_bottom, tree.n_leaves)
    k = len(np.unique(tree.clusters)) if n_clusters is None else n_clusters
    children, heights, rows = bottom_up(tree, n)
    x, order = positions(n, children)
    y = np.r_[np.zeros(n), heights]
    colour = node_colours(tree, n, k, children)
    for node, (a, b) in enumerate(children.tolist(), start=n):
        axes.plot(
            [x[a], x[a], x[b], x[b]], [y[a], y[node], y[node], y[b]], color=colour[node],
            lw=1.4, solid_joinstyle="miter",
        )  # fmt: skip
    for leaf in sorted(set(range(n)) - set(children.ravel().tolist())):  # no merge reaches it
        axes.plot([x[leaf]] * 2, [0, 0.02 * (y.max() or 1)], color=colour[leaf], lw=1.4)
    for level in levels:
        axes.axhline(level_height(tree, level), color=INK, lw=0.7, ls=(0, (4, 3)), zorder=0)
        axes.annotate(
            f"{level}", (1, level_height(tree, level)), xycoords=("axes fraction", "data"),
            xytext=(4, 0), textcoords="offset points", va="center", fontsize=9, color=INK,
        )  # fmt: skip
    axes.set_xticks(
        np.arange(n), [f"{rows[leaf]:,}" for leaf in order], fontsize=8,
        rotation=90 if n >= MANY else 0,
    )  # fmt: skip
    for tick, leaf in zip(axes.get_xticklabels(), order, strict=True):
        tick.set_color(colour[leaf])
    axes.set_xlabel("rows of each part", fontsize=9, color=INK)
    axes.set_ylabel("distance", fontsize=9, color=INK)
    axes.set_xlim(-0.8, n - 0.2)
    axes.set_ylim(0, 1.05 * (y.max() or 1))
    axes.tick_params(length=0, labelsize=8)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    if title:
        axes.set_title(title, fontsize=11, color=INK)


def node_colours(tree: Tree, n: int, k: int, children: Array) -> list[str]:
    """Return the colour of every node: that of its cluster at the level k, or ink above it."""
    bottom, cluster = tree.cut(n), tree.cut(k)
    inside = [set(cluster[bottom == leaf].tolist()) for leaf in range(n)]
    for a, b in children.tolist():
        inside.append(inside[a] | inside[b])
    return [PALETTE[min(each) % len(PALETTE)] if len(each) == 1 else INK for each in inside]


def level_height(tree: Tree, level: int) -> float:
    """Return the height halfway between the merge that makes a level and the next one."""
    made = tree.n_leaves - level
    below = float(tree.heights[made - 1]) if made else 0.0
    above = float(tree.heights[made]) if made < len(tree.heights) else 1.04 * below
    return (below + above) / 2
