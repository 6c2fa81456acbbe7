"""A mixture of Gaussian kernels fitted to pairwise constraints [1].

    (2)  K(x, y) = sum_l a_l exp(-|x - y|^2 / (2 s_l^2))         a on the simplex
    (6)  F(a, s) = 2 N_c - 2 N_m + 2 sum_must K - 2 sum_cannot K
    (7)  dF/ds_l = 2 (sum_must - sum_cannot) a_l exp(-d^2 / (2 s_l^2)) d^2 / s_l^3
    (9)  dF/da_l = 2 (sum_must - sum_cannot) exp(-d^2 / (2 s_l^2))

F is ascended by gradient steps whose length is found by a line search over many orders of
magnitude: at the paper's start, widths below the mean standard deviation of a feature, kernel
values are as small as 1e-26 and a fixed step never moves. Two repairs: F is linear in a, so
without a >= 0 it has no maximum, and every trial point is projected on the simplex; and with more
must-links than cannot-links F may grow up to s = infinity, the constant kernel, so s is capped.
``balanced`` divides both sums by their total weight, which removes that pull altogether.

Only the distances of the s given pairs are needed: O(s m) a step. At a maximum the weights sit
on one kernel, or on kernels that agree: the mixture is a way to start from several widths.

[1] Kernel optimisation using pairwise constraints: SS-Optimal-Kernel-KMeans. Equation numbers
    are the paper's.
"""

from typing import NamedTuple

import numpy as np

# in units of the start scale S: gradients at the start may be as small as 1e-26
LONGEST_STEP, SHORTEST_STEP = 1e3, 1e-4


class Mixture(NamedTuple):
    weights: np.ndarray  # a (m,), >= 0, sum 1
    widths: np.ndarray  # s (m,), > 0
    objective: float  # F of Eq. (6)
    converged: bool


def project_simplex(a):
    """Return the point of the simplex nearest to a."""
    u = np.sort(a)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(u) + 1)
    last = np.flatnonzero(u > excess)[-1]
    return np.maximum(a - excess[last], 0)


def mixture_kernel(squared, weights, widths):
    """Return K of Eq. (2) from squared distances of any shape, in their dtype."""
    K = np.zeros_like(squared)
    for a, s in zip(weights, widths, strict=True):
        if a > 0:
            K += squared.dtype.type(a) * np.exp(squared * squared.dtype.type(-0.5 / s**2))
    return K


def pair_weights(sign, weight, *, balanced=False):
    """Return the signed weights c of the pairs: F = sum c K - sum c.

    ``balanced`` makes each of the two kinds sum to 1 before the factor 2.
    """
    c = 2.0 * sign * weight
    if balanced:
        for kind in (1, -1):
            total = weight[sign == kind].sum()
            if total > 0:
                c[sign == kind] /= total
    return c


def objective(squared, c, weights, widths):
    """Return F of Eq. (6)."""
    return float(c @ mixture_kernel(squared, weights, widths) - c.sum())


def gradient(squared, c, weights, widths):
    """Return the gradients of F in the weights, Eq. (9), and in the widths, Eq. (7)."""
    E = np.exp(-0.5 * squared[:, None] / widths**2)  # (s, m)
    by_weight = c @ E
    by_width = weights * (c @ (E * squared[:, None])) / widths**3
    return by_weight, by_width


def _ascend(squared, c, a, s, scale, bounds, max_iter, tol):
    value = objective(squared, c, a, s)
    steps = scale * np.geomspace(LONGEST_STEP, SHORTEST_STEP, 29)
    for _ in range(max_iter):
        by_weight, by_width = gradient(squared, c, a, s)
        length = np.sqrt(by_weight @ by_weight + by_width @ by_width)
        if length == 0:
            return Mixture(a, s, value, True)
        trials = [
            (
                project_simplex(a + t * by_weight / length),
                np.clip(s + t * by_width / length, *bounds),
            )
            for t in steps
        ]
        values = [objective(squared, c, *trial) for trial in trials]
        best = int(np.argmax(values))
        if values[best] <= value + tol * max(1.0, abs(value)):
            return Mixture(a, s, value, True)
        (a, s), value = trials[best], values[best]
    return Mixture(a, s, value, False)


def fit_mixture(
    squared, sign, weight, *, n_kernels, scale, widest, rng, balanced=False, n_starts=5,
    max_iter=100, tol=1e-7,
):  # fmt: skip
    """Return the mixture of largest F over several starts.

    Parameters
    ----------
    squared : array (s,), squared distances of the constrained pairs
    sign, weight : arrays (s,)
    n_kernels : int, m of Eq. (2)
    scale : float, S: the mean standard deviation of the features
    widest : float, cap of the widths
    rng : numpy Generator
    balanced : bool, see `pair_weights`
    n_starts : int
        Starts: widths r_l S with r_l uniform in (0, 1) as in the paper for the first, and spread
        over (S / 10, widest) for the others.
    """
    squared = np.asarray(squared, dtype=np.float64)
    c = pair_weights(sign, np.asarray(weight, dtype=np.float64), balanced=balanced)
    bounds = (min(scale, widest) * 1e-3, widest)
    even = np.full(n_kernels, 1 / n_kernels)
    runs = []
    for start in range(n_starts):
        if start == 0:
            widths = scale * rng.uniform(size=n_kernels)
        else:
            low, high = np.log(min(scale / 10, widest / 2)), np.log(widest)
            widths = np.exp(rng.uniform(low, high, size=n_kernels))
        widths = np.clip(widths, *bounds)
        runs.append(_ascend(squared, c, even, widths, scale, bounds, max_iter, tol))
    return max(runs, key=lambda run: run.objective)
