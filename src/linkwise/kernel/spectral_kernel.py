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
tolerance depends on n. The n rows are reduced to m + 1 by `diagonal_terms`, block by block: they do
not depend on the constraints, and are kept when these change. Cost: O((n + s) m^2) time for s
pairs, O(m^2) memory beside F; K is never formed. Equation numbers are the paper's.

[1] Li & Liu, Constrained clustering by spectral kernel learning, ICCV 2009.
"""

import numpy as np

from linkwise.blocks.executors import run_blocks
from linkwise.blocks.rows import read_block, row_blocks, take_rows
from linkwise.linalg.monotone import gram_root, monotone_least_squares


def diagonal_terms(F):
    """Return the n terms (K_ii - 1)^2 of Eq. (6) as m + 1 rows: array (m + 1, m + 1).

    The last column is the target; F is scaled by n^1/2.

    Parameters
    ----------
    F : array (n, m), or rows computed when asked for
    """
    n, m = F.shape

    def products(part):
        Y = np.ones((part.stop - part.start, m + 1))
        Y[:, :m] = read_block(F, part)
        Y[:, :m] *= Y[:, :m]
        Y[:, :m] *= n
        return Y.T @ Y

    return gram_root(sum(run_blocks(products, row_blocks(n, m, 8))))


def fit_spectrum(F, i, j, sign, weight, *, n_components=None, diagonal="balanced", terms=None):
    """Return the eigenvalues b of the spectral kernel nearest to the constraints.

    Parameters
    ----------
    F : array (n, m), or rows computed when asked for: orthonormal eigenvectors, smoothest first
    i, j : int arrays (s,), the two ends of each pair
    sign : array (s,), +1 must-link, -1 cannot-link
    weight : array (s,), >= 0, enters squared
    n_components : int or None, how many of the m vectors to use, from the first on
    diagonal : "balanced" or "paper"
        Weight of the n diagonal terms: all together as much as the pairs, or one each.
    terms : what `diagonal_terms` returned for F, or None

    Returns
    -------
    array (n_components,), non-increasing, >= 0, float64
    """
    n, m = F.shape
    m = m if n_components is None else min(m, n_components)
    most = max(1.0, weight.max(initial=0))  # huge weights must not overflow when squared
    weight = weight / most
    total = np.sum(weight**2)
    c_ii = np.sqrt(total / n) if diagonal == "balanced" and total > 0 else 1 / most
    terms = c_ii * (diagonal_terms(F) if terms is None else terms)
    products = (n * take_rows(F, i, np.float64) * take_rows(F, j, np.float64))[:, :m]
    rows = np.concatenate([terms[:, :m], weight[:, None] * products])  # c y_ij, Eq. (14)
    target = np.concatenate([terms[:, -1], weight * (sign > 0)])  # c t_ij
    return n * monotone_least_squares(rows, target)  # Eq. (15), (16)
