"""Linear projections that follow constraints: cPCA and cLPP [1].

The rows of X are points, y = X a is a projection, m the mean of X.

cPCA spreads the points, most of all cannot-linked ones, and brings must-linked ones together. With
E the mean over pairs, weighted by the weights of the pairs,

    (9)   J(a) = E_all d^2 / 2  +  alpha E_cannot d^2 / 2  -  beta E_must d^2 / 2
                                                              d = y_i - y_j,  a^T a = 1
    (14)  M a = lambda a,   M = X^T L~ X                      largest J = lambda first

alpha = beta = 1 is the paper, other values are SSDR [2]. All three terms are halved here: then
the first is the variance of y. (The paper's (9) halves none, which is the same problem; its
(10), summed over both orders of a pair, gives constraints twice this weight.)

cLPP keeps neighbours on a graph W together, and must-linked points; Q has +1 and -1, times the
weight, for must-links and cannot-links.

    (21)  W~ = W + Q,   D~ = diag(W~ 1),   L~ = D~ - W~
    (22)  X^T L~ X a = lambda X^T |D~| X a                    smallest lambda first

The paper has D~ for |D~|. They differ where cannot-links outweigh the neighbours of a point;
there X^T D~ X may be indefinite and (22) have no minimum. X is centred. Directions of little
spread are left out first (see ``variance``), and X^T |D~| X has a ridge of 1e-9.

Both work in the span of the points, of dimension r <= min(n, d): no n x n matrix is formed, and
no d x d matrix if d > n. With s pairs cPCA takes O((n + s) d r + r^3) time, cLPP the same and
O(nnz(W) r).

[1] Wacquet, Poisson Caillault, Hamad & Hebert, Constrained spectral embedding for K-way data
    clustering, Pattern Recognition Letters 2013. Equation numbers are theirs.
[2] Zhang, Zhou & Chen, Semi-supervised dimensionality reduction, SDM 2007.
"""

from typing import NamedTuple

import numpy as np

from linkwise.linalg.eigen import fix_signs

RIDGE = 1e-9  # of the mean eigenvalue: keeps X^T |D~| X positive definite


class Axes(NamedTuple):
    mean: np.ndarray  # (d,)
    rows: np.ndarray  # (min(n, d), d) orthonormal, by falling spread
    variance: np.ndarray  # (min(n, d),) of the points along each
    rank: int  # axes along which there is any


class Projection(NamedTuple):
    mean: np.ndarray  # m (d,)
    components: np.ndarray  # (c, d), a direction a in each row
    values: np.ndarray  # lambda (c,)
    variance: np.ndarray  # (c,) of the points along each direction, times a^T a


def principal_axes(X):
    """Return the axes of plain PCA, in float64. The rank is that of X in its own dtype."""
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    R = np.linalg.qr(X - mean, mode="r")
    _, spread, rows = np.linalg.svd(R, full_matrices=False)
    floor = spread[0] * max(n, d) * np.finfo(X.dtype).eps
    return Axes(mean, rows, spread**2 / n, int(np.count_nonzero(spread > floor)))


def _in_full(axes, U, values, count):
    """Return the projection along columns U (r, c) of coordinates on the first r axes.

    Where more than c are wanted, axes without any spread follow.
    """
    U, values = U[:, :count], values[:count]
    idle = axes.rows[axes.rank :][: count - U.shape[1]]
    components = fix_signs(np.vstack([(axes.rows[: len(U)].T @ U).T, idle]).T).T
    rest = np.zeros(len(idle))
    variance = axes.variance[: len(U)] @ U**2
    return Projection(axes.mean, components, np.r_[values, rest], np.r_[variance, rest])


def _mean_half_square(V, weight):
    """Return the weighted mean of v v^T / 2 over the rows v of V, 0 without rows."""
    total = weight.sum()
    return (V.T * weight) @ V / (2 * total) if total > 0 else 0


def constrained_pca(X, i, j, sign, weight, *, alpha=1.0, beta=1.0):
    """Return all directions of cPCA, by falling J.

    Parameters
    ----------
    X : array (n, d)
    i, j : int arrays (s,), the two ends of each pair
    sign : array (s,), +1 must-link, -1 cannot-link
    weight : array (s,), >= 0
    alpha, beta : floats >= 0, weights of cannot-links and must-links in Eq. (9)

    Returns
    -------
    Projection, c = min(n, d) orthonormal directions, those without any spread last
    """
    axes = principal_axes(X)
    r = axes.rank
    V = (X[i].astype(np.float64) - X[j]) @ axes.rows[:r].T  # (s, r)
    must, cannot = sign > 0, sign < 0
    M = (
        np.diag(axes.variance[:r])
        + alpha * _mean_half_square(V[cannot], weight[cannot])
        - beta * _mean_half_square(V[must], weight[must])
    )  # Eq. (9)
    values, U = np.linalg.eigh(M)  # Eq. (14)
    return _in_full(axes, U[:, ::-1], values[::-1], len(axes.rows))


def enough(variance, share):
    """Return the smallest number of leading entries that hold a share of the total.

    >>> enough(np.array([4.0, 3.0, 2.0, 1.0]), 0.7)
    2
    """
    held = np.cumsum(variance)
    return 1 + int(np.count_nonzero(held[:-1] < share * held[-1] * (1 - 1e-12)))


def constrained_lpp(X, W, Q, n_components, *, variance=1.0):
    """Return the first directions of cLPP.

    Parameters
    ----------
    X : array (n, d)
    W : symmetric array or csr_array (n, n), weights >= 0 of the neighbours
    Q : csr_array (n, n), sign * weight of the pairs; 0 gives LPP
    n_components : int <= min(n, d)
    variance : float in (0, 1]
        Share of the variance of X that the PCA before keeps; 1 leaves out the null space only.
        At least n_components directions are kept.

    Returns
    -------
    Projection, directions scaled so that the mean of y^2, weighted by |D~|, is 1
    """
    axes = principal_axes(X)
    r = min(axes.rank, max(n_components, enough(axes.variance, variance)))
    P = (X - axes.mean) @ axes.rows[:r].T  # (n, r)
    W = W + Q  # Eq. (21)
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    A = P.T @ (degree[:, None] * P - W @ P)
    B = P.T @ (abs(degree)[:, None] * P)
    B += RIDGE * (np.trace(B) / max(r, 1) or 1) * np.eye(r)

    b, T = np.linalg.eigh(B)
    T = T / np.sqrt(b)  # T^T B T = I
    values, U = np.linalg.eigh(T.T @ A @ T)  # Eq. (22)
    return _in_full(axes, T @ U * np.sqrt(abs(degree).sum() or 1), values, n_components)
