"""Must-linked groups, and seeds chosen among them, for k-means with constraints.

Points joined by must-links form a neighbourhood g [1] of h_g points with mean z_g. A point without
must-links is a neighbourhood of one. Seeds are chosen one by one,

    (1)  g = argmax h_g delta(g)         farthest first, among neighbourhoods of two or more
    (2)  P(g) ~ h_g delta(g)             k-means++, among all; the best of 2 + log k draws,

where delta(g) is the squared distance of z_g to the nearest seed so far. The deterministic start
uses (1), and (2) for the remaining seeds. The other starts use (2) only. O(n d k) time.

[1] Basu, Banerjee & Mooney, Active semi-supervision for pairwise constrained clustering, SDM
    2004. Where (2) draws, they perturb the overall mean.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from linkwise.constraints.closure import components


def dense(M):
    """Return M as an array."""
    return M.toarray() if sparse.issparse(M) else np.asarray(M)


def one_hot(labels, k, dtype=np.float64):
    """Return the csr_array (k, n) with a one where point i is in cluster c."""
    n = len(labels)
    ones = np.ones(n, dtype=dtype)
    return sparse.csc_array((ones, labels, np.arange(n + 1)), shape=(k, n)).tocsr()


def cheapest(cost, labels):
    """Return the cheapest label of every row of cost (n, k); the present label wins ties."""
    rows, new = np.arange(len(labels)), np.argmin(cost, axis=1)
    return np.where(cost[rows, new] < cost[rows, labels], new, labels)


class Groups(NamedTuple):
    """Must-linked points, each group treated as one point."""

    of: np.ndarray  # (n,) int, the group 0 ... g - 1 of every point
    size: np.ndarray  # (g,) number of points, h
    sums: Any  # (g, d) array or csr_array, sum of the points

    def means(self):
        """Return z (g, d)."""
        return sparse.diags_array((1 / self.size).astype(self.sums.dtype)) @ self.sums


def must_groups(X, must):
    """Return the groups that the pairs must (m, 2) join, numbered by their first point."""
    of = components(X.shape[0], must)
    size = np.bincount(of)
    return Groups(of, size, one_hot(of, len(size), X.dtype) @ X)


def _draw(Z, h, nearest, rng, trials):
    """Return the draw of Eq. (2), among several, that leaves the least sum of h delta."""
    share = h * nearest
    share = share if np.any(share > 0) else h  # every point coincides with a seed
    draws = rng.choice(len(h), size=trials, p=share / share.sum())
    left = np.minimum(euclidean_distances(Z[draws], Z, squared=True), nearest) @ h  # (trials,)
    return int(draws[np.argmin(left)])


def choose_seeds(groups, k, rng, *, greedy=False):
    """Return k groups to start from, int (k,); groups repeat if there are fewer than k.

    Parameters
    ----------
    groups : Groups
    k : int
    rng : numpy Generator
    greedy : bool, whether Eq. (1) comes first
    """
    Z, h = groups.means(), groups.size.astype(np.float64)
    joined = np.where((h > 1) & greedy, h, 0)
    nearest = np.ones(len(h))
    seeds: list[int] = []
    for c in range(min(k, len(h))):
        if np.any(joined * nearest > 0):
            seed = int(np.argmax(joined * nearest))  # Eq. (1)
        else:
            seed = _draw(Z, h, nearest, rng, 2 + int(np.log(k)) if c else 1)  # Eq. (2)
        distance = euclidean_distances(Z[[seed]], Z, squared=True)[0].astype(np.float64)
        nearest = np.minimum(nearest, distance) if c else distance
        nearest[seed] = 0
        seeds.append(seed)
    return np.resize(seeds, k)
