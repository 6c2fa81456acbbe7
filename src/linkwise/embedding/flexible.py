"""Flexible constrained spectral clustering, FCSC [1], and its K-way form [2].

    (1)  min_v  v^T L v    subject to   v^T Q' v >= a,  v^T v = vol,  v not trivial
         L = I - D^-1/2 W D^-1/2,   Q' = D^-1/2 Q D^-1/2,   vol = sum of degrees
    (2)  L v = lambda (Q' - b I) v,  b = a / vol           the stationary points
    (3)  feasible: lambda > 0 (then v^T Q' v >= a), v not D^1/2 1
    (4)  u = D^-1/2 v, the indicator of the clusters

b must be below the largest eigenvalue of Q' or nothing is feasible; and only as many vectors are
feasible as Q' has eigenvalues above b. Two clusters are the signs of the feasible vector of least
cost v^T L v. K clusters take K - 1 of them, each weighted by 1 - cost; [2] puts b halfway between
the K-th and the (K+1)-th largest eigenvalue of Q'. With few constraints, scattered over the
points, the largest eigenvalues of Q' belong to single points with many pairs, and such a bound
asks for vectors that live there alone; a tenth or a hundredth of the largest does better then.

L is singular, so (2) is solved as (Q' - b I) v = mu (L + e I) v, mu = 1 / lambda, largest mu
first. Dense: n^2 memory, O(n^3) time.

[1] Wang & Davidson, Flexible constrained spectral clustering, KDD 2010.
[2] Wang, Qian & Davidson, On constrained spectral clustering and its applications, 2014.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from linkwise.exceptions import InfeasibleConstraints
from linkwise.graph.laplacian import degrees, inverse_root, laplacian
from linkwise.linalg.eigen import fix_signs

RIDGE = 1e-10


class Flexible(NamedTuple):
    vectors: np.ndarray  # (n, q) u of Eq. (4), least cost first, columns of unit length
    costs: np.ndarray  # (q,) v^T L v / v^T v
    b: float  # the bound of Eq. (2)


def largest_eigenvalues(Q, count):
    """Return the ``count`` largest eigenvalues of a symmetric Q, largest first."""
    n = len(Q)
    values = linalg.eigvalsh(Q, subset_by_index=[max(n - count, 0), n - 1])
    return values[::-1]


def choose_bound(Q, k, share):
    """Return b: ``share`` of the largest eigenvalue, or between the k-th and the next ("kway")."""
    values = largest_eigenvalues(Q, k + 1)
    if values[0] <= 1e-12:
        raise InfeasibleConstraints(
            "no partition scores above 0 on these constraints: there are no must-links, or "
            "cannot-links outweigh them everywhere; add must-links"
        )
    if share != "kway":
        return share * values[0]
    return (values[k - 1] + values[k]) / 2 if len(values) > k else values[-1] / 2


def flexible_embedding(W, Q, k, *, bound):
    """Return the feasible vectors of least cost, Eq. (3) and (4).

    Parameters
    ----------
    W : array or sparse array (n, n), symmetric, >= 0
    Q : sparse array (n, n), sign times weight of the constraints
    k : int, number of clusters; k - 1 vectors are returned
    bound : "kway" or a float in (0, 1)
        b as a share of the largest eigenvalue of Q', or as [2]

    Raises
    ------
    InfeasibleConstraints where fewer than k - 1 vectors are feasible
    """
    W = W.astype(np.float64)  # L is singular up to the ridge: float32 would make it indefinite
    d = degrees(W)
    root = inverse_root(d)
    Q = (sparse.diags_array(root) @ Q @ sparse.diags_array(root)).toarray()  # Q'
    L = laplacian(W)
    L = L.toarray() if sparse.issparse(L) else L
    n = len(Q)
    b = choose_bound(Q, k, bound)
    wanted = min(k + 1, n)  # the trivial vector may be among them
    A, B = Q, L.copy()
    A[np.diag_indices(n)] -= b
    B[np.diag_indices(n)] += RIDGE
    mu, V = linalg.eigh(
        A, B, subset_by_index=[n - wanted, n - 1], overwrite_a=True, overwrite_b=True
    )
    V = V[:, mu > 0]
    V /= np.linalg.norm(V, axis=0)
    trivial = np.sqrt(d) / np.linalg.norm(np.sqrt(d))
    V = V[:, np.abs(trivial @ V) < 1 - 1e-6]  # Eq. (3)
    if V.shape[1] < k - 1:
        raise InfeasibleConstraints(
            f"only {V.shape[1]} of the {k - 1} vectors that {k} clusters need satisfy the "
            f"constraints to the degree asked for (bound {b:.3g}); lower bound, or give more "
            "must-links in more clusters"
        )
    costs = np.einsum("ij,ij->j", V, L @ V)
    best = np.argsort(costs, kind="stable")[: k - 1]
    U = V[:, best] * root[:, None]  # Eq. (4)
    U /= np.linalg.norm(U, axis=0)
    return Flexible(fix_signs(U), costs[best], b)
