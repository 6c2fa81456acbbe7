"""Spectral kernel learning, CCSKL [1].

    (10)  K = sum_i b_i v_i v_i^T = F diag(b) F^T       F = (v_1 ... v_m), smooth eigenvectors
    (11)  b_1 >= b_2 >= ... >= b_m >= 0                 the smoother, the more it may count
    (6)   min_b  sum_i (K_ii - 1)^2 + sum_must (K_ij - 1)^2 + sum_cannot K_ij^2
    (12)  a pair of weight c counts c^2 times

K_ij = b . (y_i o y_j) with y_i the i-th row of F, so (6) is a least squares problem in b with
one row for every point and every pair, solved exactly (`monotone_least_squares`).

When n is large, the n terms K_ii outweigh a few pairs: at 70,000 points and 500 pairs the literal
sum puts nearly all weight on the first, constant vector. With ``diagonal="balanced"`` both sums
have the same total weight.

A few pairs do not determine b, and must-links alone never do: a constant K keeps all of them at no
cost. With ``n_clusters`` given, (6) gets one more term, which is not in the paper:

    (A)  + c/n^2 sum_ij (K_ij - P_ij)^2                 P = n/k sum_{i <= k} v_i v_i^T
         c = PRIOR + max(0, must - cannot)              total weights of the two sums in (6)

P is the kernel of plain spectral clustering. If the k first eigenvectors span the indicators of k
clusters of equal size, P_ij is 1 within a cluster and 0 between clusters. The term is the mean
error over all pairs of points, and counts as much as c constraints. Few constraints therefore move
the spectrum a little, many a lot, and the term takes the place of missing cannot-links. F is
orthonormal, so the sum in (A) is |b - n/k (1..1 0..0)|^2.

F has entries of order n^-1/2 and b is of order n. The code scales F by n^1/2, so that no tolerance
depends on n. `diagonal_terms` reduces the n diagonal rows to m + 1, block by block. They do not
depend on the constraints and are kept when the constraints change. Cost: O((n + s) m^2) time for s
pairs, O(m^2) memory beside F; K is never formed. Equation numbers are the paper's.

[1] Li & Liu, Constrained clustering by spectral kernel learning, ICCV 2009.
"""

import numpy as np

from linkwise.arrays import door, namespace, to_host
from linkwise.blocks.passes import sum_over_blocks
from linkwise.blocks.rows import take_rows
from linkwise.linalg.monotone import gram_root, monotone_least_squares

# constraints that the prior counts for: of 5, 10, 20 and 40 on nine data sets, 5 and 10 lost
# nothing with many constraints, and 10 lost least with few
PRIOR = 10


def diagonal_terms(F):
    """Return the n terms (K_ii - 1)^2 of Eq. (6) as m + 1 rows: array (m + 1, m + 1).

    The last column is the target; F is scaled by n^1/2.

    Parameters
    ----------
    F : array (n, m), or rows computed when asked for
    """
    n, m = F.shape

    def products(part, rows):
        Y = door(rows).empty((len(rows), m + 1), rows, "float64")
        Y[:, :m] = rows
        Y[:, :m] *= Y[:, :m]
        Y[:, :m] *= n
        Y[:, m] = 1
        return to_host(Y.T @ Y)

    return gram_root(sum_over_blocks(products, F, 2 * m))  # twice as wide as single precision


def pair_terms(F, i, j, weight, target, m):
    """Return the terms of the pairs as rows c y_ij of Eq. (14) and their targets c t_ij.

    On a device, many pairs are reduced to m + 1 rows like the diagonal terms.
    """
    n, tools = F.shape[0], door(F)
    few = len(i) <= tools.FEW_PAIRS
    left, right = (take_rows(F, end, "float64") for end in (i, j))
    if few:
        products = n * to_host(left) * to_host(right)
        return weight[:, None] * products[:, :m], weight * target
    c = tools.asarray(weight, F, "float64")[:, None]
    t = tools.asarray(target, F, "float64")[:, None]
    Y = c * namespace(F).concat([(n * left * right)[:, :m], t], axis=1)
    root = gram_root(to_host(Y.T @ Y))
    return root[:, :m], root[:, m]


def fit_spectrum(
    F, i, j, sign, weight, *, n_components=None, n_clusters=None, diagonal="balanced", terms=None
):
    """Return the eigenvalues b of the spectral kernel nearest to the constraints.

    Parameters
    ----------
    F : array (n, m), or rows computed when asked for: orthonormal eigenvectors, smoothest first
    i, j : int arrays (s,), the two ends of each pair
    sign : array (s,), +1 must-link, -1 cannot-link
    weight : array (s,), >= 0, enters squared
    n_components : int or None, how many of the m vectors to use, from the first on
    n_clusters : int or None, k of the prior, Eq. (A); None is the paper, without a prior
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
    prior = n_clusters is not None
    c_ii = np.sqrt(total / n) if diagonal == "balanced" and (total > 0 or prior) else 1 / most
    terms = c_ii * (diagonal_terms(F) if terms is None else to_host(terms))
    rows, target = pair_terms(F, i, j, weight, sign > 0, m)
    rows = np.concatenate([terms[:, :m], rows])
    target = np.concatenate([terms[:, -1], target])
    if prior:  # Eq. (A)
        c = np.sqrt(PRIOR / most**2 + max(0.0, np.sum(sign * weight**2)))
        rows = np.concatenate([rows, c * np.eye(m)])
        target = np.concatenate([target, c / n_clusters * (np.arange(m) < n_clusters)])
    return n * monotone_least_squares(rows, target)  # Eq. (15), (16)
