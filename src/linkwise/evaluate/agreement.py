"""Agreement of a clustering with the true classes.

    (1)  error = 1 - max_map 1/n sum_i [y_i = map(label_i)]      Eq. (17) of CCSKL

over all one-to-one maps of clusters to classes, by the Hungarian method. Clusters beyond the number
of classes count as wrong. Every measure takes ``rows`` to measure on a part of the points, such as
the test part or the unconstrained points.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score
from sklearn.metrics.cluster import contingency_matrix

from linkwise._typing import Array, Selection

__all__ = [
    "accuracy",
    "adjusted_rand_index",
    "clustering_error",
    "mutual_information",
    "rand_index",
]


def _part(y: ArrayLike, labels: ArrayLike, rows: Selection | None) -> tuple[Array, Array]:
    y, labels = np.asarray(y), np.asarray(labels)
    if y.ndim != 1 or y.shape != labels.shape:
        raise ValueError(
            f"y and labels must be one-dimensional and of equal length; got shapes {y.shape} and "
            f"{labels.shape}"
        )
    if rows is not None:
        y, labels = y[rows], labels[rows]
    if len(y) == 0:
        raise ValueError("rows is empty: there is no point to measure agreement on")
    return y, labels


def accuracy(y: ArrayLike, labels: ArrayLike, *, rows: Selection | None = None) -> float:
    """Return the share of points in the right class under the best matching, 1 - Eq. (1).

    >>> accuracy([0, 0, 1, 1], [7, 7, 7, 3])
    0.75
    """
    y, labels = _part(y, labels, rows)
    counts = contingency_matrix(y, labels)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / len(y))


def clustering_error(y: ArrayLike, labels: ArrayLike, *, rows: Selection | None = None) -> float:
    """Return the clustering error, Eq. (1).

    >>> clustering_error([0, 0, 1, 1], [7, 7, 7, 3])
    0.25
    """
    return 1 - accuracy(y, labels, rows=rows)


def rand_index(y: ArrayLike, labels: ArrayLike, *, rows: Selection | None = None) -> float:
    """Return the share of pairs of points on which clustering and classes agree."""
    return float(rand_score(*_part(y, labels, rows)))


def adjusted_rand_index(y: ArrayLike, labels: ArrayLike, *, rows: Selection | None = None) -> float:
    """Return the Rand index corrected for chance: 1 is perfect, 0 is chance level."""
    return float(adjusted_rand_score(*_part(y, labels, rows)))


def mutual_information(y: ArrayLike, labels: ArrayLike, *, rows: Selection | None = None) -> float:
    """Return the normalised mutual information, in [0, 1]."""
    return float(normalized_mutual_info_score(*_part(y, labels, rows)))
