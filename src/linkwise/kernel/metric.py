"""Information-theoretic metric learning, ITML [1].

Of all Mahalanobis metrics A that bring must-linked points within a squared distance u and
cannot-linked ones beyond l, take the one nearest to a prior A0; a bound may be missed at a price.

    (1)  D(A, A0) = tr(A A0^-1) - log det(A A0^-1) - d         LogDet divergence
    (2)  min_A,xi  D(A, A0) + gamma sum_c w_c D(xi_c, b_c)     b_c = u (must) or l (cannot)
         s.t.  p_c <= xi_c (must),  p_c >= xi_c (cannot)       p_c = v_c^T A v_c,  v = x_i - x_j
    (3)  A^-1 = A0^-1 + sum_c sign_c lambda_c v_c v_c^T
    (4)  sign_c lambda_c = gamma w_c (1 / b_c - 1 / p_c)  where a bound is missed, else 0

Only a missed bound has a price, and then xi_c = p_c: without xi, (2) is the smooth convex problem

    (5)  min_A  f(A) = D(A, A0) + gamma sum_missed w_c D(p_c, b_c)

and (3) and (4) say that its gradient is 0. It is solved by Newton steps: where A = R R^T and
Z = V R, in the coordinates S of A' = R (I + S) R^T,

    (6)  gradient  R^T A0^-1 R - I + Z^T diag(g) Z             g_c = sign_c lambda_c of (4)
    (7)  Hessian   S -> S + Z^T diag(h * diag(Z S Z^T)) Z      h_c = gamma w_c / p_c^2

with the linear systems solved by conjugate gradients, since (7) is never less than the identity.
The paper goes round the pairs one by one instead (Bregman projections, each an update of rank one)
and needs hundreds of rounds for three digits of the same, unique A; a dozen steps give all digits.
Pairs enter as sums, so that a pair listed twice has weight 2 and their order does not matter.

The prior is the identity here: any other is one in coordinates L x with A0 = L^T L. Cost of a
product (7): O(s d^2) for s pairs, of a step O(d^3) besides; memory O(s d + d^2).

[1] Davis, Kulis, Jain, Sra & Dhillon, Information-theoretic metric learning, ICML 2007. Equation
    numbers are ours.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from linkwise.exceptions import ConvergenceWarning, warn

SAMPLE = 200_000  # pairs of points for the percentiles of the distances
SHORTEST_STEP = 2.0**-30  # a line search that needs a shorter step has hit rounding errors
ROUNDING = 1e-13  # relative rounding error of f


class Metric(NamedTuple):
    A: np.ndarray  # (d, d), positive definite
    dual: np.ndarray  # lambda (s,), >= 0
    n_iter: int


def distance_bounds(X, percentiles=(5, 95)):
    """Return two percentiles of the squared distances between distinct points, (u, l).

    Of up to 633 points all pairs count, of more a sample that depends on the points and not on
    their order. If all points coincide there is no distance, and both are 1.
    """
    n = len(X)
    if n * (n - 1) // 2 <= SAMPLE:
        squared = pdist(X, "sqeuclidean")
    else:
        mixed = X[np.lexsort(X.T[::-1])][np.random.default_rng(0).permutation(n)]
        shifts = range(1, 1 + -(-SAMPLE // n))
        squared = np.concatenate(
            [((mixed - np.roll(mixed, t, axis=0)) ** 2).sum(1) for t in shifts]
        )
    squared = squared[squared > 0]
    if not len(squared):
        return 1.0, 1.0
    near, far = np.percentile(squared, percentiles)
    return float(near), float(far)


def _squares(V, R):
    """Return Z = V R and p, its squared row norms, for A = R R^T."""
    Z = V @ R
    return Z, np.einsum("ij,ij->i", Z, Z)


def _missed(p, sign, bound):
    return np.where(sign > 0, p > bound, p < bound)


def pull(p, sign, price, bound):
    """Return sign * lambda of Eq. (4), (s,); price is gamma w."""
    return np.where(_missed(p, sign, bound), price * (1 / bound - 1 / p), 0)


def objective(R, logdet, p, sign, price, bound):
    """Return f of Eq. (5) at A = R R^T; logdet is that of A."""
    ratio = p / bound
    missed = _missed(p, sign, bound)
    divergence = np.sum(R**2) - logdet - len(R)  # Eq. (1)
    return divergence + np.sum((price * (ratio - 1 - np.log(ratio)))[missed])


def _newton_step(G, Z, h):
    """Return S with (7) S = -G, by conjugate gradients, more exact the smaller G is."""
    S, residual = np.zeros_like(G), -G
    direction, size = residual, np.sum(G**2)
    goal = size * min(1e-3, np.sqrt(size))
    for _ in range(2 * G.size):
        if size <= goal:
            break
        bend = h * np.einsum("ij,ij->i", Z @ direction, Z)
        image = direction + (Z.T * bend) @ Z  # Eq. (7)
        length = size / np.sum(direction * image)
        S = S + length * direction
        residual = residual - length * image
        size, old = np.sum(residual**2), size
        direction = residual + (size / old) * direction
    return S


def _descend(R, logdet, S, f, slope, value):
    """Return R and log det A after the first of the steps S, S/2, S/4, ... that lowers f enough.

    I + S is not positive definite if S is large. Its eigenvalues 1 + e below 1 are replaced by
    1 / (1 - e), which is the same to first order and never reaches 0; None if no step helps.
    """
    e, U = np.linalg.eigh(S)
    RU, t = R @ U, 1.0
    while t >= SHORTEST_STEP:
        growth = np.where(e < 0, 1 / (1 + t * abs(e)), 1 + t * e)
        trial = RU * np.sqrt(growth), logdet + np.log(growth).sum()
        if value(*trial) <= f - 1e-4 * t * slope + ROUNDING * abs(f):
            return trial
        t /= 2
    return None


def fit_metric(V, sign, weight, bounds, *, gamma=1.0, max_iter=1000, tol=1e-6):
    """Return the metric of Eq. (2) for the prior I.

    Parameters
    ----------
    V : array (s, d), the differences x_i - x_j of the pairs, none of them 0
    sign : array (s,), +1 must-link, -1 cannot-link
    weight : array (s,), > 0
    bounds : (u, l), squared distances > 0
    gamma : float > 0, price of a missed bound
    tol : float
        Ends when f is about tol^2 / 2 from its minimum (the Newton decrement is tol).
    """
    # A does not depend on the unit of length; a power of 2 keeps p^2 in range and every digit.
    unit = 2.0 ** round(np.log2(bounds[1]) / 2)
    V = V / unit
    bound = np.where(sign > 0, *bounds).astype(np.float64) / unit / unit
    price = gamma * weight

    def value(R, logdet):
        return objective(R, logdet, _squares(V, R)[1], sign, price, bound)

    R, logdet = np.eye(V.shape[1]), 0.0
    decrement = np.inf
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        Z, p = _squares(V, R)
        missed = _missed(p, sign, bound)
        G = R.T @ R - np.eye(len(R)) + (Z.T * pull(p, sign, price, bound)) @ Z  # Eq. (6)
        S = _newton_step(G, Z[missed], (price / p**2)[missed])
        slope = -np.sum(G * S)
        decrement = np.sqrt(max(slope, 0))
        if decrement <= tol:
            break
        better = _descend(R, logdet, S, value(R, logdet), slope, value)
        if better is None:
            break
        R, logdet = better
    if decrement > tol:
        warn(
            f"fit_metric: {n_iter} steps of max_iter={max_iter} ended at a Newton decrement of "
            f"{decrement:.2g}, tol={tol:g}; raise max_iter or tol, or lower gamma={gamma:g}",
            ConvergenceWarning,
        )
    dual = abs(pull(_squares(V, R)[1], sign, price, bound))
    return Metric(R @ R.T, dual / unit / unit, n_iter)
