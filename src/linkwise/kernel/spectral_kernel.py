"""Spectral kernel learning, CCSKL [1].

    (10)  K = sum_i b_i v_i v_i^T = F diag(b) F^T       F = (v_1 ... v_m), smooth eigenvectors
    (11)  b_1 >= b_2 >= ... >= b_m >= 0                 the smoother, the more it may count
    (6)   min_b  sum_i (K_ii - 1)^2 + sum_must (K_ij - 1)^2 + sum_cannot K_ij^2
    (12)  a pair of weight c counts c^2 times

K_ij = b . (y_i o y_j) with y_i the i-th row of F, so (6) is a least squares problem in b with
one row for every point and every pair, solved exactly (`monotone_least_squares`).

The n terms K_ii drown a few pairs when n is large: at 70,000 points and 500 pairs the literal
sum puts nearly all weight on the first, constant vector. With ``diagonal="balanced"`` both sums
have the same total weight.

F has entries of order n^-1/2 and b is of order n; in between F is scaled by n^1/2 so that no
tolerance depends on n. Cost: O((n + s) m^2) time, O((n + s) m) memory for s pairs; K is never
formed. Equation numbers are the paper's.

[1] Li & Liu, Constrained clustering by spectral kernel learning, ICCV 2009.
"""

import numpy as np

from linkwise.linalg.monotone import monotone_least_squares


def fit_spectrum(F, i, j, sign, weight, *, diagonal="balanced"):
    """Return the eigenvalues b of the spectral kernel nearest to the constraints.

    Parameters
    ----------
    F : array (n, m), orthonormal eigenvectors, smoothest first
    i, j : int arrays (s,), the two ends of each pair
    sign : array (s,), +1 must-link, -1 cannot-link
    weight : array (s,), >= 0, enters squared
    diagonal : "balanced" or "paper"
        Weight of the n diagonal terms: all together as much as the pairs, or one each.

    Returns
    -------
    array (m,), non-increasing, >= 0, float64
    """
    n = F.shape[0]
    most = max(1.0, weight.max(initial=0))  # huge weights must not overflow when squared
    weight = weight / most
    Y = F.astype(np.float64) * np.sqrt(n)  # (n, m)
    total = np.sum(weight**2)
    c_ii = np.sqrt(total / n) if diagonal == "balanced" and total > 0 else 1 / most
    rows = np.concatenate([c_ii * Y * Y, weight[:, None] * Y[i] * Y[j]])  # c y_ij, Eq. (14)
    target = np.concatenate([np.full(n, c_ii), weight * (sign > 0)])  # c t_ij
    return n * monotone_least_squares(rows, target)  # Eq. (15), (16)
