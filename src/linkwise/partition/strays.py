"""Rows that belong to no cluster.

A stray is far from other rows, compared with the other rows of its cluster:

    (1)  r_i = mean distance of row i to its NEIGHBOURS nearest other rows, columns of variance 1
    (2)  s_i = log r_i - log of the median of r in the cluster of i

A share of rows is that of the largest s. "auto" takes the rows beyond

    (3)  s > median + CUT 1.4826 MAD        the median, and the median absolute deviation, of s

which few rows of normal clusters reach [1]. Much noise may form a cluster of its own, in which each
row is as far from others as the next. So a cluster whose median of log r is beyond (3), with s
replaced by log r of all rows, is compared with the other clusters: with the median of their rows.
The classes of 16 real sets were below 1.7 deviations in this, but for classes of at most five rows;
uniform noise in the 64 columns of digits was at 4.6.

How surely a row is a stray is a logistic function of s that is one half at the cut.

Rows that must-links join are strays together or not at all, by the least s among them: one row that
is near others shows that all of them belong somewhere. A group is left out of a share that it does
not fit into. Cannot-links change nothing.

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

    typical: np.ndarray  # (k,) log r that rows of each cluster are compared with, Eq. (2)
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


def limit(value):
    """Return Eq. (3) of some values (n,)."""
    middle = np.median(value)
    return float(middle + CUT * 1.4826 * np.median(abs(value - middle)))


def typical_of(r, labels, k):
    """Return log r that rows of each cluster are compared with (k,), and which clusters are far."""
    size, value = np.bincount(labels, minlength=k), log_of(r)
    typical = np.array([np.median(value[labels == c]) if size[c] else 0.0 for c in range(k)])
    far = (size > 0) & (typical > limit(value))
    typical[far] = np.median(value[~far[labels]])
    return typical, far


def by_group(s, group):
    """Return for every row the least value of its group, (n,)."""
    least = np.full(int(group.max(initial=-1)) + 1, np.inf)
    np.minimum.at(least, group, s)
    return least[group]


def farthest(s, group, count):
    """Return at most ``count`` rows in whole groups, those of the largest s first, bool (n,)."""
    size = np.bincount(group)
    far = np.zeros(len(size), dtype=bool)
    first = np.unique(group, return_index=True)[1]
    for one in np.argsort(-s[first], kind="stable").tolist():
        if size[one] <= count:
            far[one] = True
            count -= size[one]
        if count == 0:
            break
    return far[group]


def find_strays(r, labels, k, group, outliers):
    """Return the Strays, and which rows they are, bool (n,).

    Parameters
    ----------
    r : array (n,), Eq. (1)
    labels : int array (n,), clusters 0 ... k - 1
    k : int
    group : int array (n,), 0 ... g - 1: rows that must-links join are in one
    outliers : "auto", or the share of strays in [0, 1)
    """
    typical, alien = typical_of(r, labels, k)
    s = log_of(r) - typical[labels]  # Eq. (2)
    least = by_group(s, group)
    if outliers == "auto":
        cut = limit(s[~alien[labels]])  # Eq. (3)
        return Strays(typical, cut), least > cut
    far = farthest(least, group, min(round(outliers * len(s)), len(s) - 1))  # one row stays
    if not far.any():
        return Strays(typical, float(s.max() + 1)), far
    return Strays(typical, float(np.mean([least[far].min(), least[~far].max()]))), far
