"""Flexible constrained spectral clustering, FCSC [1], and its K-way form [2].

    (1)  min_v  v^T L v    subject to   v^T Q' v >= a,  v^T v = vol,  v not trivial
         L = I - D^-1/2 W D^-1/2,   Q' = D^-1/2 Q D^-1/2,   vol = sum of degrees
    (2)  L v = lambda (Q' - b I) v,  b = a / vol           the stationary points
    (3)  feasible: lambda > 0 (then v^T Q' v >= a), v not D^1/2 1
    (4)  u = D^-1/2 v, the indicator of the clusters

b must be below the largest eigenvalue of Q', or nothing is feasible; as many vectors are feasible
as Q' has eigenvalues above b. Two clusters are the signs of the feasible vector with the smallest
cost v^T L v among those with two signs. K clusters use K - 1 vectors, each weighted by 1 - cost;
[2] puts b halfway between the K-th and the (K+1)-th largest eigenvalue of Q'. With few, scattered
constraints the largest eigenvalues of Q' belong to single points with many pairs, and vectors above
such a bound are concentrated there; a tenth or a hundredth of the largest eigenvalue does better
then.

One must-link has one feasible vector, v = (mu L + b I)^-1 Q' v, and all its entries have one sign,
because that inverse and Q' have no negative entries. Then, and where nothing is feasible, two
clusters are the signs of the vector of least cost without constraints, the second of L. Where that
vector satisfies the bound, it solves (1), with a bound that is not active.

L is singular, so (2) is solved as (Q' - b I) v = mu (L + e I) v, mu = 1 / lambda, largest mu
first. Dense: n^2 memory, O(n^3) time. (Lanczos does not help: it would have to find mu near 1 next
to others near -1 / e.)

[1] Wang & Davidson, Flexible constrained spectral clustering, KDD 2010.
[2] Wang, Qian & Davidson, On constrained spectral clustering and its applications, 2014.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh

from linkwise.exceptions import InfeasibleConstraints
from linkwise.graph.laplacians import degrees, inverse_root, laplacian
from linkwise.linalg.eigen import dense_eigenpairs, fix_signs

RIDGE = 1e-10  # e of the module docstring: far below the eigenvalues of L that matter
NOTHING = 1e-12  # of the largest entry of Q': smaller eigenvalues are rounding errors
ROUNDING = 1e-6  # of the largest entry of a vector: smaller ones are 0, as in other components
DENSE_LIMIT = 500  # rows up to which LAPACK is used for the eigenvalues of the sparse Q'


class Flexible(NamedTuple):
    """The feasible vectors of least cost."""

    vectors: np.ndarray  # (n, q) u of Eq. (4), least cost first, columns of unit length
    costs: np.ndarray  # (q,) v^T L v / v^T v
    b: float  # the bound of Eq. (2)


class Problem(NamedTuple):
    """What all bounds share. With C C^T = L + e I, (2) is the eigenproblem of A_Q - b A_I."""

    L: np.ndarray  # (n, n) of Eq. (1)
    C_inverse: np.ndarray  # (n, n)
    A_Q: np.ndarray  # (n, n) C^-1 Q' C^-T
    A_I: np.ndarray  # (n, n) C^-1 C^-T
    Q: sparse.csr_array  # (n, n) Q' of Eq. (1)
    degrees: np.ndarray  # (n,)


def flexible_problem(W, Q):
    """Return the matrices of Eq. (1) for a graph W and constraints Q (sign times weight)."""
    W = W.astype(np.float64)  # L is singular up to the ridge: float32 would make it indefinite
    d = degrees(W)
    scale = sparse.diags_array(inverse_root(d))
    Q = (scale @ Q @ scale).tocsr()
    L = laplacian(W)
    L = L.toarray() if sparse.issparse(L) else L
    one = np.eye(len(L))
    C = linalg.cholesky(L + RIDGE * one, lower=True, overwrite_a=True, check_finite=False)
    Ci = linalg.solve_triangular(C, one, lower=True, overwrite_b=True, check_finite=False)
    return Problem(L, Ci, Ci @ (Q @ Ci.T), Ci @ Ci.T, Q, d)


def choose_bound(Q, k, bound):
    """Return b: a share of the largest eigenvalue, or between the k-th and the next ("kway")."""
    n = Q.shape[0]
    if n <= DENSE_LIMIT:
        values = linalg.eigvalsh(Q.toarray())
    else:
        values = np.sort(eigsh(Q, k + 1, which="LA", v0=np.ones(n), return_eigenvectors=False))
    values = values[::-1][: k + 1]
    if values[0] <= NOTHING * abs(Q).max():
        raise InfeasibleConstraints(
            "no partition scores above 0 on these constraints: there are no must-links, or "
            "cannot-links outweigh them everywhere; add must-links"
        )
    if bound != "kway":
        return bound * values[0]
    return (values[k - 1] + values[k]) / 2 if len(values) > k else values[-1] / 2


def _largest_pairs(problem, b, count):
    """Return the ``count`` largest mu and their v: (Q' - b I) v = mu (L + e I) v."""
    mu, Y = dense_eigenpairs(problem.A_Q - b * problem.A_I, count)
    return mu, problem.C_inverse.T @ Y


def feasible_vectors(problem, b, count):
    """Return the feasible vectors, Eq. (3), of the ``count`` largest mu: unit columns (n, q)."""
    d = problem.degrees
    mu, V = _largest_pairs(problem, b, min(count, len(d)))
    V = V[:, mu > 0]
    V /= np.linalg.norm(V, axis=0)
    trivial = np.sqrt(d) / np.linalg.norm(np.sqrt(d))
    return V[:, np.abs(trivial @ V) < 1 - 1e-6]


def indicators(problem, V, b):
    """Return the Flexible of unit vectors V (n, q), Eq. (4)."""
    costs = np.einsum("ij,ij->j", V, problem.L @ V)
    order = np.argsort(costs, kind="stable")
    U = V[:, order] * inverse_root(problem.degrees)[:, None]  # Eq. (4)
    return Flexible(fix_signs(U / np.linalg.norm(U, axis=0)), costs[order], b)


def positive(u):
    """Tell which entries of a vector (n,) are positive, and no rounding errors."""
    return u > ROUNDING * abs(u).max()


def two_way_embedding(problem, *, bound):
    """Return the vector that two clusters are the signs of, and whether it satisfies the bound.

    Where Eq. (2) has no feasible vector with two signs, it is the one without constraints.

    Parameters
    ----------
    problem : Problem
    bound : float in (0, 1), or "kway"; as for `flexible_embedding`
    """
    b = choose_bound(problem.Q, 2, bound)
    found = indicators(problem, feasible_vectors(problem, b, 3), b)
    cuts = [j for j, u in enumerate(found.vectors.T) if not positive(u).all()][:1]
    if cuts:
        return Flexible(found.vectors[:, cuts], found.costs[cuts], b), True
    trivial = np.sqrt(problem.degrees) / np.linalg.norm(np.sqrt(problem.degrees))
    deflated = 2 * (np.eye(len(trivial)) - np.outer(trivial, trivial)) - problem.L  # (n, n)
    _, V = dense_eigenpairs(deflated, 1)
    return indicators(problem, V, b), bool(V[:, 0] @ (problem.Q @ V[:, 0]) >= b)


def flexible_embedding(problem, k, *, bound):
    """Return the k - 1 feasible vectors of least cost, Eq. (3) and (4).

    Parameters
    ----------
    problem : Problem
    k : int, number of clusters
    bound : "kway" or a float in (0, 1)
        b as a share of the largest eigenvalue of Q', or as [2]

    Raises
    ------
    InfeasibleConstraints where fewer than k - 1 vectors are feasible
    """
    b = choose_bound(problem.Q, k, bound)
    V = feasible_vectors(problem, b, k + 1)  # the trivial one may have been among them
    if V.shape[1] < k - 1:
        raise InfeasibleConstraints(
            f"only {V.shape[1]} of the {k - 1} vectors that {k} clusters need satisfy the "
            f"constraints to the degree asked for (bound {b:.3g}); lower bound, or give more "
            "must-links in more clusters"
        )
    found = indicators(problem, V, b)
    return Flexible(found.vectors[:, : k - 1], found.costs[: k - 1], b)
