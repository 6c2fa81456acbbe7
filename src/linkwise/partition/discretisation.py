"""From the eigenvectors of a graph to labels: rotation to indicator vectors.

Two ways to turn V (n, k), whose rows point in about k orthogonal directions, into labels:

* Discretisation [1]. X are the unit rows of V. Find the rotation R and the indicator matrix N,
  N_ic = [c = argmax (X R)_i], that agree best. R comes from the singular vectors of N^T X,

    (1)  N^T X = U w Z^T,   R = Z U^T,   agreement = sum w

  and N and R alternate until the agreement no longer grows. The first R consists of rows of X that
  are as orthogonal as possible, starting from a random row. The best of several starts counts.
* Pivoted QR [2]. k rows as independent as possible are chosen by column-pivoted QR of V^T; the
  polar factor of these rows is the rotation. No starts, no randomness.

Cost: O(n k^2) a step.

[1] Yu & Shi, Multiclass spectral clustering, ICCV 2003.
[2] Damle, Minden & Ying, Simple, direct and efficient multi-way spectral clustering, 2018.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from linkwise.partition.k_means import by_appearance, canonical_order


class Rotated(NamedTuple):
    """Labels, and the rotation whose columns are their clusters."""

    labels: np.ndarray  # (n,)
    R: np.ndarray  # (k, clusters found)


def _named(labels, R):
    """Return Rotated with clusters named by appearance."""
    labels, names = by_appearance(labels)
    return Rotated(labels, R[:, names])


def _orthogonal_rows(X, first):
    """Return k rows of X as columns (k, k), each as orthogonal as possible to the previous ones."""
    k = X.shape[1]
    R = np.empty((k, k), dtype=X.dtype)
    R[:, 0] = X[first]
    overlap = np.zeros(len(X))
    for c in range(1, k):
        overlap += np.abs(X @ R[:, c - 1])
        R[:, c] = X[np.argmin(overlap)]
    return R


def _rotate(X, R, max_iter):
    """Return labels, the rotation R they come from and their agreement, Eq. (1)."""
    agreement = -np.inf
    labels = np.argmax(X @ R, axis=1)
    for _ in range(max_iter):
        N = np.zeros_like(X)
        N[np.arange(len(X)), labels] = 1
        U, w, Zt = linalg.svd(N.T @ X)
        if w.sum() <= agreement * (1 + 1e-9):
            break
        agreement = w.sum()
        R = Zt.T @ U.T  # Eq. (1)
        labels = np.argmax(X @ R, axis=1)
    return labels, R, agreement


def discretise(X, *, n_init=10, max_iter=100, rng):
    """Return the labels of largest agreement among several starts, [1], and their rotation.

    The label of row i is argmax (X R)_i.

    Parameters
    ----------
    X : array (n, k), unit rows
    """
    order = canonical_order(X)
    runs = []
    for _ in range(n_init):
        R = _orthogonal_rows(X, order[rng.integers(len(X))])
        runs.append(_rotate(X, R, max_iter))
    labels, R, _ = max(runs, key=lambda run: run[2])
    return _named(labels, R)


def pivoted_qr(V):
    """Return labels by pivoted QR, [2], argmax of abs(V R). V (n, k) has orthonormal columns."""
    k = V.shape[1]
    _, pivots = linalg.qr(V.T, mode="r", pivoting=True)
    U, _, Wt = linalg.svd(V[pivots[:k]].T)
    R = U @ Wt
    return _named(np.argmax(np.abs(V @ R), axis=1), R)
