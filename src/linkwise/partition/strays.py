"""Rows that belong to no cluster.

A stray is far from other rows, compared with the other rows of its cluster:

    (1)  r_i = mean distance of row i to its NEIGHBOURS nearest other rows, columns of variance 1
    (2)  s_i = log r_i - log of the median of r in the cluster of i

A share of rows is that of the largest s. "auto" takes the rows beyond

    (3)  s > median + CUT 1.4826 MAD        the median, and the median absolute deviation, of s

which few rows of normal clusters reach [1]. How surely a row is a stray is a logistic function of s
that is one half at the cut. Rows that a constraint names are never strays: whoever answers about a
row knows that it belongs somewhere.

Neighbours are found exactly, in blocks: O(n^2 d) time and O(n) memory.

[1] Leys, Ley, Klein, Bernard & Licata, Detecting outliers, J. Exp. Soc. Psych. 49, 2013.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.neighbors import NearestNeighbors

from linkwise.arrays import PerKind, door, namespace
from linkwise.partition.distortion import variances

NEIGHBOURS = 10  # in Eq. (1): fewer are noisy, more do not fit small clusters
CUT = 3.0  # in Eq. (3): one row in about 700 of a normal distribution
SHARP = 8.0  # of the logistic function: at a distance of 1.3 times that of the cut, probability .9


class Strays(NamedTuple):
    """What makes a row a stray."""

    typical: np.ndarray  # (k,) log of the median of r in each cluster, Eq. (2)
    cut: float  # of s

    def probability(self, r, labels):
        """Return the probability (n,) that rows of these r and clusters are strays."""
        return expit(SHARP * (log_of(r) - self.typical[labels] - self.cut))


def log_of(r):
    """Return log r; rows that coincide with others have a finite value."""
    return np.log(np.maximum(r, np.finfo(np.float64).tiny))


def neighbours_of(X):
    """Return the number of neighbours in Eq. (1)."""
    return max(1, min(NEIGHBOURS, X.shape[0] - 1))


@PerKind
def distances(X, queries=None):
    """Return r of Eq. (1) for the rows of X (n,), or for queries (q, d) that are not among them."""
    spread = np.sqrt(variances(X)[1])
    per = sparse.diags_array((1 / np.where(spread > 0, spread, 1)).astype(X.dtype))
    found = NearestNeighbors(n_neighbors=neighbours_of(X)).fit(X @ per)
    nearest, _ = found.kneighbors(None if queries is None else queries @ per)
    return nearest.mean(axis=1, dtype=np.float64)


@distances.of_tensors
def _distances_of_tensors(X, queries=None):
    xp, own = namespace(X), queries is None
    spread = xp.sqrt(variances(X)[1])
    per = 1 / xp.where(spread > 0, spread, xp.ones_like(spread))
    Z, k = X * per, neighbours_of(X) + own  # a row is the nearest to itself
    Q, centre = Z if own else queries * per, variances(Z)[0]
    nearest, _ = door(X).nearest(Z, Q, k, k, centre=centre, exact=True)
    return xp.mean(nearest[:, int(own) :], axis=1)


def find_strays(r, labels, k, named, outliers):
    """Return the Strays, and which rows they are, bool (n,).

    Parameters
    ----------
    r : array (n,), Eq. (1)
    labels : int array (n,), clusters 0 ... k - 1
    k : int
    named : int array, rows that constraints name
    outliers : "auto", or the share of strays in [0, 1)
    """
    size, value = np.bincount(labels, minlength=k), log_of(r)
    typical = np.array([np.median(value[labels == c]) if size[c] else 0.0 for c in range(k)])
    s = value - typical[labels]  # Eq. (2)
    free = np.ones(len(s), dtype=bool)
    free[named] = False
    if outliers == "auto":
        middle = np.median(s)
        cut = float(middle + CUT * 1.4826 * np.median(abs(s - middle)))  # Eq. (3)
        return Strays(typical, cut), free & (s > cut)
    count = min(round(outliers * len(s)), int(free.sum()), len(s) - 1)  # one row stays
    order = np.flatnonzero(free)[np.argsort(-s[free], kind="stable")]
    far = np.zeros(len(s), dtype=bool)
    far[order[:count]] = True
    if count == 0:
        return Strays(typical, float(s.max() + 1)), far
    ends = s[order[count - 1]], s[order[min(count, len(order) - 1)]]
    return Strays(typical, float(np.mean(ends))), far
