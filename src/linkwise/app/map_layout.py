"""The points in two dimensions, for the map of the page.

A quick map shows two principal coordinates of the spectral embedding. A better one is a layout of
the neighbour graph, on which similar points form islands. Of very many points a sample is laid out,
and the others are placed among their neighbours in it, so that the time grows slowly.
"""

import numpy as np

from linkwise.blocks.rows import content_sample
from linkwise.embedding.manifold import layout, place
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.graph.laplacians import degrees
from linkwise.labelling.edits import comparable

SAMPLE = 5000  # points that determine the directions of the quick map; more change them little
NEIGHBOURS = 10  # of the graph that is laid out: islands are as clear as with 15
FAR = 1.3  # times the range of nearly all points: a wider range is due to a few far ones
EDGE = 0.08  # of the map, for points that are far from all others
LAID_OUT = 20_000  # points at most: 3 CPU seconds; placing a point takes a third of the time


def filled(xy):
    """Return positions (n, 2) scaled to -1..1 along each axis, float32.

    Points far from all others would leave little room for these. They are drawn near the edge, in
    their order.

    >>> filled(np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])).tolist()
    [[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]]
    """
    ends = np.quantile(xy, [0, 0.002, 0.998, 1], axis=0)
    far = ends[3] - ends[0] > FAR * (ends[2] - ends[1])
    low, high = np.where(far, ends[1], ends[0]), np.where(far, ends[2], ends[3])
    reach = np.maximum((high - low) / 2, 1e-9 * max(float(abs(xy).max()), 1.0))
    v = (xy - (low + high) / 2) / reach
    beyond = np.maximum(abs(v) - 1, 0)
    v = np.sign(v) * (np.minimum(abs(v), 1) + EDGE * beyond / (1 + beyond))
    return (v / np.where(far, 1 + EDGE, 1)).astype(np.float32)


def flat(E):
    """Return two principal coordinates of points E (n, r), each within -1..1, float32 (n, 2)."""
    E = np.asarray(E, dtype=np.float64)
    rng = np.random.default_rng(0)
    sample = E if len(E) <= SAMPLE else E[rng.choice(len(E), SAMPLE, replace=False)]
    centre = sample.mean(axis=0)
    _, _, V = np.linalg.svd(sample - centre, full_matrices=False)
    xy = (E - centre) @ V[:2].T
    if xy.shape[1] < 2:
        xy = np.hstack([xy, np.zeros((len(xy), 2 - xy.shape[1]))])
    return filled(xy)


def turned(xy, other):
    """Return positions xy (n, 2) centred, and turned or mirrored to lie like others as well as can.

    >>> turned(np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([[5.0, 0.0], [3.0, 0.0]])).round(6) + 0
    array([[ 1.,  0.],
           [-1.,  0.]])
    """
    xy = xy - xy.mean(axis=0)
    U, _, V = np.linalg.svd(xy.T @ (other - other.mean(axis=0)))
    return xy @ (U @ V)


def islands(X, quick, *, seed=0):
    """Return points X (n, d) in two dimensions by a layout, each within -1..1, float32 (n, 2).

    Parameters
    ----------
    X : array (n, d)
    quick : array (n, 2), the quick map; the layout is turned to lie like it
    seed : int
    """
    X, rng = comparable(X), np.random.default_rng([seed, 3])
    rows = np.sort(content_sample(X, LAID_OUT, rng))
    graph = NeighbourAffinity(X[rows], NEIGHBOURS, "local", distinct=True)
    xy = np.empty((len(X), 2), dtype=np.float32)
    xy[rows] = layout(graph.W, 2, rng, order=graph.order)
    rest = np.setdiff1d(np.arange(len(X)), rows, assume_unique=True)
    if len(rest):
        P = graph.rows(X[rest]).P
        xy[rest] = place(xy[rows], P, float(np.median(degrees(graph.W))), rng)
    return filled(turned(xy, quick))
