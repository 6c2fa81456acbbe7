"""E2CP on an anchor graph, for any number of points.

The graph of points and anchors has n + p nodes and an edge of weight z_ia between point i and each
of its anchors a. In the words of `exhaustive`, with S the part of its normalised adjacency between
points and anchors, Q the given pairs and t the points they touch:

    (1)  S = Z L^-1/2                                       rows of Z sum to 1,  L = diag(Z^T 1)
    (2)  H_A = a (1 - a) R S_t^T,  R = (I - a^2 S^T S)^-1   the anchors' rows of G[:, t]
    (3)  F_A = H_A Q H_A^T, divided by max |F_A|            judgement on every pair of anchors
    (4)  C = L^-1/2 W' L^-1/2                               W' = F_A on S^T S, scaled to at most 1,
                                                            by Eq. (4) of `exhaustive`

and Z C Z^T is the affinity of points. Without pairs it is the square of Z L^-1 Z^T, which has the
same eigenvectors. What is needed of the n points is the Gram matrix S^T S and the rows of S of the
touched ones. (To judge the edges between points and anchors instead was tried and learns little: a
link far from the border of two clusters finds no edge to change.)

Cost: O(p^3 + r p) time, O(p^2) memory.
"""

import numpy as np
from scipy import linalg, sparse

from linkwise.kernel.exhaustive import reweight


def anchor_judgement(gram, S_touched, i, j, sign, weight, *, alpha=0.8):
    """Return F_A of Eq. (3), before the division: what pairs of points say of the anchors.

    Parameters
    ----------
    gram : array (p, p), S^T S over all points, S as in Eq. (1)
    S_touched : csr_array (r, p), the rows of S of the touched points
    i, j : int arrays (L,), the ends of each pair as rows of S_touched
    sign, weight : arrays (L,)
    alpha : float in [0, 1), how far a constraint reaches
    """
    r, p = S_touched.shape
    value = np.r_[sign * weight, sign * weight]
    Q = sparse.csr_array((value, (np.r_[i, j], np.r_[j, i])), shape=(r, r))
    R = linalg.inv(np.eye(p) - alpha**2 * gram, overwrite_a=True)  # condition < 1 / (1 - a^2)
    F = (alpha * (1 - alpha)) ** 2 * (R @ ((S_touched.T @ (Q @ S_touched)) @ R))  # Eq. (2), (3)
    return ((F + F.T) / 2).astype(gram.dtype, copy=False)


def spread_core(F, gram, mass):
    """Return the core C (p, p) >= 0 of the affinity Z C Z^T, Eq. (4).

    Parameters
    ----------
    F : array (p, p), what `anchor_judgement` returned
    gram, mass : arrays (p, p) and (p,), S^T S and the diagonal of L
    """
    tiny = np.finfo(gram.dtype).tiny
    F = F / max(np.abs(F).max(initial=0), tiny)
    root = np.divide(1, np.sqrt(mass), out=np.zeros_like(mass), where=mass > 0)
    W = reweight(F, gram / max(gram.max(initial=0), tiny))
    return (root[:, None] * W * root).astype(gram.dtype, copy=False)
