"""Affinities: a matrix over the given points, and the same rule for new ones.

An affinity has ``W``, symmetric (n, n); ``rows(X_new)``, the weights of new points to the given
ones; and ``order``, a permutation of the points that puts neighbours side by side, or None.
Weights of points far from all others underflow. Rows are therefore returned as P, the weights
divided by their sum (computed in logarithms, never 0 / 0), together with that sum.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.arrays import door, namespace
from linkwise.blocks.progress import Progress
from linkwise.graph.distinct import nearest_distinct
from linkwise.graph.laplacians import degrees
from linkwise.graph.neighbours import centre_of, nearest_neighbours
from linkwise.graph.weights import (
    LOCAL_NEIGHBOUR,
    gaussian,
    local_scales,
    local_scaling,
    median_scale,
    resolve_sigma,
    symmetrise,
)


class Rows(NamedTuple):
    P: object  # (q, n) array or csr_array, rows sum to 1
    degree: np.ndarray  # (q,) sum of the weights of each row


def _softmax(exponent):
    """Return exp(exponent) divided by its row sums, and the row sums."""
    xp = namespace(exponent)
    top = xp.max(exponent, axis=1, keepdims=True)
    weights = xp.exp(exponent - top)
    total = xp.sum(weights, axis=1, keepdims=True)
    return weights / total, (total * xp.exp(top))[:, 0]


def _at_least(s, scales):
    """Return the scales s, none below the least of those given."""
    least = namespace(s).min(scales)
    return namespace(s).where(s < least, least, s)


class NeighbourAffinity:
    """Weights on the graph of the k nearest neighbours: an edge if one end lists the other.

    W is a csr_array with zero diagonal: O(n k) memory. With ``distinct`` the neighbours of rows
    that have many copies are other points (``distinct``).
    """

    def __init__(self, X, n_neighbors, sigma, *, search="auto", metric="euclidean", distinct=False):
        self.X, self.n_neighbors = X, n_neighbors
        self.search, self.metric = search, metric
        k = n_neighbors if sigma != "local" else max(n_neighbors, LOCAL_NEIGHBOUR)
        nearest = (
            partial(nearest_distinct, most=LOCAL_NEIGHBOUR) if distinct else nearest_neighbours
        )
        with Progress("neighbours", X.shape[0]) as progress:
            found = nearest(X, k, search=search, metric=metric, progress=progress.reach)
        indices, distances = found.indices, found.distances
        self.order, self.recall = found.order, found.recall
        self.sigma, self.scales = sigma, None
        if sigma == "local":
            self.scales = local_scales(distances)
            indices, distances = indices[:, :n_neighbors], distances[:, :n_neighbors]
            weights = local_scaling(distances, self.scales[:, None], self.scales[indices])
        else:
            farthest = door(distances).cast(distances[:, -1], "float64")
            self.sigma = resolve_sigma(sigma, float(farthest.mean()))
            weights = gaussian(distances, self.sigma)
        seventh = distances[:, min(LOCAL_NEIGHBOUR, distances.shape[1]) - 1]
        self.median_scale = float(door(seventh).median(seventh)) or median_scale(X) or 1.0
        self.W = symmetrise(indices, weights)

    def nearest(self, X_new):
        """Return the neighbours of new points among the given ones."""
        k = self.n_neighbors if self.scales is None else max(self.n_neighbors, LOCAL_NEIGHBOUR)
        return nearest_neighbours(self.X, k, queries=X_new, search=self.search, metric=self.metric)

    def rows(self, X_new):
        indices, distances, *_ = self.nearest(X_new)
        if self.scales is None:
            exponent = -0.5 * (distances / self.sigma) ** 2
        else:
            s_new = _at_least(local_scales(distances), self.scales)
            indices, distances = indices[:, : self.n_neighbors], distances[:, : self.n_neighbors]
            exponent = -(distances / s_new[:, None]) * (distances / self.scales[indices])
        P, degree = _softmax(exponent)
        return Rows(door(P).row_matrix(indices, P, self.X.shape[0]), degree)


def squared_distances(X, Y=None):
    """Return the squared distances of the rows of X to those of Y (or X), dense.

    The points are centred first: |x|^2 + |y|^2 - 2 x.y loses digits far from the origin.
    """
    centre = centre_of(X if Y is None else Y)
    X = X if sparse.issparse(X) else X - centre
    Y = Y if Y is None or sparse.issparse(Y) else Y - centre
    return door(X).squared_distances(X, Y)


class GaussianAffinity:
    """The dense Gaussian kernel with unit diagonal: n^2 memory."""

    order = None

    def __init__(self, X, sigma):
        self.X, self.sigma, self.scales = X, sigma, None
        if sigma == "local":
            self.scales = local_scales(nearest_neighbours(X, LOCAL_NEIGHBOUR).distances)
        else:
            self.sigma = resolve_sigma(sigma, median_scale(X))
        exponent = self._exponent(squared_distances(X), self.scales)
        self.W = door(exponent).exponential(exponent)

    def _exponent(self, squared, s):
        """Return the exponent of the weights, written over the squared distances."""
        if self.scales is None:
            squared *= -0.5 / self.sigma**2
        else:
            squared /= -s[:, None]
            squared /= self.scales
        return squared

    def _exponent_of_new(self, X_new):
        s_new = None
        if self.scales is not None:
            near = nearest_neighbours(self.X, LOCAL_NEIGHBOUR, queries=X_new).distances
            s_new = _at_least(local_scales(near), self.scales)
        return self._exponent(squared_distances(X_new, self.X), s_new)

    def weights(self, X_new):
        """Return the kernel between new and given points, (q, n)."""
        exponent = self._exponent_of_new(X_new)
        return door(exponent).exponential(exponent)

    def rows(self, X_new):
        return Rows(*_softmax(self._exponent_of_new(X_new)))


class PrecomputedAffinity:
    """An affinity matrix given by the user, dense or sparse."""

    order = None

    def __init__(self, W):
        self.W = W

    def weights(self, W_new):
        return W_new

    def rows(self, W_new):
        degree = degrees(W_new)
        inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
        if sparse.issparse(W_new):
            return Rows((sparse.diags_array(inverse) @ W_new).tocsr(), degree)
        return Rows(inverse[:, None] * W_new, degree)


def build_affinity(X, affinity, *, n_neighbors, sigma, options=None):
    """Return the affinity for the parameters of an estimator.

    Parameters
    ----------
    X : array or csr_array (n, d), or the affinity matrix (n, n) itself for "precomputed"
    affinity : "nearest_neighbors", "rbf" or "precomputed"
    n_neighbors : int, of the neighbour graph
    sigma : number, "r", a multiple such as "0.5r", or "local"
    options : dict or None, ``search`` and ``metric`` of the neighbour graph
    """
    if affinity == "nearest_neighbors":
        return NeighbourAffinity(X, n_neighbors, sigma, **(options or {}))
    if affinity == "rbf":
        return GaussianAffinity(X, sigma)
    return PrecomputedAffinity(X)
