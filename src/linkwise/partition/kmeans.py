"""k-means: the best of several k-means++ starts, by scikit-learn's Lloyd iteration.

The random draws of k-means++ pick row numbers, so the same points in another order would start
elsewhere. The rows are therefore put in an order of their own, by their coordinates, first:
shuffled data give the same clusters. Labels are numbered by first appearance.
"""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from linkwise.exceptions import ConvergenceWarning


class Partition(NamedTuple):
    labels: np.ndarray  # (n,) int
    centres: np.ndarray  # (k, m)
    inertia: float


def by_appearance(labels):
    """Return labels renamed 0, 1, ... in order of first appearance, and the old names so ordered.

    >>> by_appearance(np.array([5, 2, 5, 9]))
    (array([0, 1, 0, 2]), array([5, 2, 9]))
    """
    names, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[inverse], names[order]


def canonical_order(Z):
    """Return a permutation of the rows that depends on their coordinates alone."""
    return np.lexsort(Z.T[::-1])


def kmeans(Z, k, *, n_init=10, rng):
    """Return the partition of least inertia among ``n_init`` starts.

    Parameters
    ----------
    Z : array (n, m)
    k : int <= n
    rng : numpy Generator
    """
    order = canonical_order(Z)
    model = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31 - 1)))
    with warnings.catch_warnings():  # said again below, with what to do
        warnings.simplefilter("ignore", SklearnConvergenceWarning)
        model.fit(Z[order])
    labels = np.empty(len(Z), dtype=np.int64)
    labels[order] = model.labels_
    labels, names = by_appearance(labels)
    if len(names) < k:
        warnings.warn(
            f"only {len(names)} of {k} clusters found: the points have no more distinct "
            "positions; ask for fewer clusters",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Partition(labels, model.cluster_centers_[names], float(model.inertia_))


def nearest_centre(Z, centres):
    """Return the number of the nearest centre for every row of Z."""
    return pairwise_distances_argmin(Z, centres).astype(np.int64)
