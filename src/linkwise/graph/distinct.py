"""Neighbours among distinct points, where many rows are equal.

Columns of few values (answers of a form, counts, codes) make many equal rows. If a row has more
equal ones than neighbours, these are all its neighbours: its copies form an island of their own,
however near the next point is, and a graph of such islands says nothing about the classes.

So the neighbours of a row with copies are the next one of these, at distance 0, and the nearest of
the other distinct points. If such a point has several rows, one of them is drawn at random: copies
share the points around them, but not the rows, and stay together without being an island. It takes
the time of a search among the distinct points, and O(n k) memory.
"""

import numpy as np

from linkwise.arrays import door, to_host
from linkwise.graph.neighbours import Neighbours, nearest_neighbours


def copies_of(X):
    """Return the number of the point of each row (n,), and the first row of every point (u,)."""
    keys = to_host(door(X).row_keys(X))
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return number, first


def nearest_distinct(X, k, *, most, search="auto", metric="euclidean", progress=None):
    """Return the Neighbours of every row: distinct points, and one of its copies.

    Where no point has more than ``most`` rows, or there is one point, they are the nearest rows.

    Parameters
    ----------
    X : array (n, d)
    k : int >= 1; of fewer other points all are returned
    most : int
    search, metric, progress : as of `nearest_neighbours`
    """
    how = {"search": search, "metric": metric, "progress": progress}
    number, first = copies_of(X)
    size, tools = np.bincount(number), door(X)
    if size.max() <= most or len(size) == 1:
        return nearest_neighbours(X, k, **how)
    found = nearest_neighbours(X[tools.asarray(first, X)], k, **how)
    rows = np.argsort(number, kind="stable")  # those of each point side by side
    start, place = np.cumsum(size) - size, np.empty(len(rows), dtype=np.intp)
    place[rows] = np.arange(len(rows)) - np.repeat(start, size)  # of a row among its copies
    points = to_host(found.indices)[number]  # (n, k)
    drawn = np.random.default_rng(0).random(points.shape) * size[points]
    indices = rows[start[points] + drawn.astype(np.intp)]
    distances = to_host(found.distances)[number]
    several = size[number] > 1
    indices[several, 1:], distances[several, 1:] = indices[several, :-1], distances[several, :-1]
    indices[several, 0] = rows[start[number] + (place + 1) % size[number]][several]
    distances[several, 0] = 0
    order = None
    if found.order is not None:
        rank = np.argsort(to_host(found.order))
        order = tools.asarray(np.argsort(rank[number], kind="stable"), X)
    return Neighbours(tools.asarray(indices, X), tools.asarray(distances, X), order, found.recall)
