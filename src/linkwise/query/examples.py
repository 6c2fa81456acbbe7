"""Typical and borderline members of clusters.

    (1)  g_i = |x_i - m_o| - |x_i - m_c|    x_i in cluster c, m_c its mean, m_o the nearest other

Typical members have the largest g_i among the half of the cluster that is nearest to its mean:
these lie in the middle, on the side away from the others. Borderline members have the smallest g_i.
O(n k d).
"""

from typing import NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances

EXAMPLES = 5  # of each kind: as many as a person takes in at a glance


class Examples(NamedTuple):
    """Rows of a cluster: the most typical, and those nearest to another cluster, first."""

    typical: list[int]
    borderline: list[int]


def examples(X: np.ndarray, labels: np.ndarray, n: int = EXAMPLES) -> dict[int, Examples]:
    """Return the Examples of every cluster, {label: Examples}; rows of the label -1 have none.

    Parameters
    ----------
    X : array (n_samples, d)
    labels : int array (n_samples,)
    n : int, rows of each kind at most; a small cluster has fewer, and none is of both kinds

    Examples
    --------
    >>> examples(np.array([[0.0], [1], [2], [9], [10], [11]]), np.array([0, 0, 0, 1, 1, 1]), 1)
    {0: Examples(typical=[1], borderline=[2]), 1: Examples(typical=[4], borderline=[3])}
    """
    names = np.unique(labels[labels >= 0])
    if not len(names):
        return {}
    centres = np.array([X[labels == name].mean(axis=0, dtype=np.float64) for name in names])
    found = {}
    for place, name in enumerate(names.tolist()):
        rows = np.flatnonzero(labels == name)
        away = pairwise_distances(X[rows], centres)  # (rows, clusters)
        own = away[:, place]
        others = np.delete(away, place, axis=1)
        gap = (others.min(axis=1) if others.shape[1] else np.zeros(len(rows))) - own  # Eq. (1)
        few = min(n, max(len(rows) // 2, 1))
        middle = np.argsort(own, kind="stable")[: max(len(rows) // 2, 1)]
        typical = middle[np.argsort(-gap[middle], kind="stable")][:few]
        rest = np.setdiff1d(np.arange(len(rows)), typical)
        border = rest[np.argsort(gap[rest], kind="stable")][:few]
        found[name] = Examples(rows[typical].tolist(), rows[border].tolist())
    return found
