"""The k nearest neighbours of every point, exactly.

Euclidean distances are taken in blocks by scikit-learn's compiled search (a k-d tree in a few
dimensions, blocked products elsewhere): O(n^2 d) time at worst, O(n k) memory, the n x n matrix
is never held. Three things are put right afterwards:

* |x|^2 + |y|^2 - 2 x.y loses all its digits when x and y are close and far from the origin.
  The points are centred first, and the distances where cancellation bites are taken again
  from the difference x - y: the distance of two equal rows is 0. Where it bites so hard that a
  neighbour may have been missed (groups 1e7 times farther from the rest than they are wide), the
  whole search of that point is done from differences. (Sparse points cannot be centred, and are
  not searched again.)
* Neighbours at the same distance are ordered by a fixed projection of the points, not by
  their row number, so that the graph does not depend on the order of the rows. (Equal rows
  cannot be told apart; and of more than ``MARGIN`` points tied at the last place an arbitrary
  choice is kept.)
* A point is not its own neighbour, even where others stand at distance 0 from it.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

MARGIN = 4
TREE_DIMENSIONS = 8  # a k-d tree wins up to about here
CANCELLATION = 1e-6  # d^2 / (|x|^2 + |y|^2) below which six of sixteen digits are gone
LOST = 1e-12  # ... and below which a product may have missed a neighbour


class Neighbours(NamedTuple):
    indices: np.ndarray  # (n, k) row numbers, nearest first
    distances: np.ndarray  # (n, k)


def centre_of(X):
    """Return a point amid the data, to be subtracted before distances are taken; 0 if sparse.

    The median of at most two thousand rows: an outlier does not move it.
    """
    if sparse.issparse(X):
        return 0
    return np.median(X[:: max(1, len(X) // 1000)], axis=0).astype(X.dtype)


def _squared_norms(X):
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _exact_distances(Q, X, rows, columns, block=1 << 16):
    """Return |Q[row] - X[column]| of each listed pair, from the differences."""
    out = np.empty(len(rows))
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        difference = Q[rows[part]] - X[columns[part]]
        out[part] = np.sqrt(_squared_norms(difference))
    return out


def _search_again(Q, X, rows, indices, distances, block=256):
    """Replace the neighbours of some queries by those found from differences, in place."""
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        exact = cdist(Q[part], X)
        near = np.argpartition(exact, indices.shape[1] - 1, axis=1)[:, : indices.shape[1]]
        indices[part] = near
        distances[part] = np.take_along_axis(exact, near, axis=1)


def _tie_breaker(X):
    """Return one number per point that depends on its coordinates alone."""
    direction = np.random.default_rng(0).standard_normal(X.shape[1])
    return np.asarray(X @ direction).ravel()


def nearest_neighbours(X, k, *, queries=None):
    """Return the k nearest rows of X for every row of X, or of ``queries``.

    Parameters
    ----------
    X : array or csr_array (n, d)
    k : int >= 1; at most n - 1 neighbours (n for queries) exist and are returned
    queries : array or csr_array (q, d) or None
        None means the rows of X themselves, none of which is its own neighbour.

    Returns
    -------
    Neighbours, both arrays (n, k) or (q, k), distances in the dtype of X
    """
    n, d = X.shape
    own = queries is None
    k = min(k, n - 1 if own else n)
    dense = not sparse.issparse(X)
    Q = X if own else queries
    if dense:
        centre = centre_of(X)
        X = X - centre
        Q = X if own else Q - centre
    wanted = min(n, k + own + MARGIN)
    tree = dense and d <= TREE_DIMENSIONS
    search = NearestNeighbors(n_neighbors=wanted, algorithm="kd_tree" if tree else "brute").fit(X)
    distances, indices = search.kneighbors(Q)
    distances = distances.astype(np.float64)

    norms, query_norms = _squared_norms(X), _squared_norms(Q)
    scale = query_norms[:, None] + norms[indices]
    rows, slots = np.nonzero(distances**2 <= CANCELLATION * scale)
    distances[rows, slots] = _exact_distances(Q, X, rows, indices[rows, slots])
    if dense and not tree:
        lost = np.flatnonzero(distances[:, -1] ** 2 <= LOST * scale.max(axis=1))
        _search_again(Q, X, lost, indices, distances)
    if own:
        distances[indices == np.arange(n)[:, None]] = np.inf

    # float32 forgets the rounding errors that would otherwise decide between equals
    finite = distances[np.isfinite(distances)]
    coarse = (distances / max(finite.max(initial=0), 1e-300)).astype(np.float32)
    order = np.lexsort((_tie_breaker(X)[indices], coarse), axis=1)[:, :k]
    indices = np.take_along_axis(indices, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    return Neighbours(indices, distances.astype(X.dtype))
