"""Least squares over non-increasing, non-negative vectors.

    (1)  min_b |A b - t|^2   subject to   b_1 >= b_2 >= ... >= b_m >= 0

With b = U d, where U is the upper triangle of ones and d_i = b_i - b_{i+1} >= 0, this is

    (2)  min_d |A U d - t|^2   subject to   d >= 0,

a non-negative least squares problem, solved exactly by an active set method. It works on the rows
of A, never on A^T A, so A may be singular. A QR factorisation first reduces the rows to m + 1.
Cost: O(rows m^2) time, O(rows m) memory.
"""

import numpy as np
from scipy import linalg
from scipy.optimize import nnls


def gram_root(G):
    """Return R with R^T R = G for a positive semi-definite G: few rows in place of many."""
    values, vectors = linalg.eigh(G)
    return np.sqrt(np.maximum(values, 0))[:, None] * vectors.T


def monotone_least_squares(A, t):
    """Return the b of Eq. (1), float64.

    Parameters
    ----------
    A : array (rows, m)
    t : array (rows,)
    """
    m = A.shape[1]
    if not np.any(A):
        return np.zeros(m)
    (R,) = linalg.qr(np.column_stack([A, t]).astype(np.float64), mode="r")
    R, Qt = R[: m + 1, :m], R[: m + 1, m]
    U = np.triu(np.ones((m, m)))
    scale = np.abs(R).max()
    d, _ = nnls(R @ U / scale, Qt / scale)  # Eq. (2)
    return U @ d
