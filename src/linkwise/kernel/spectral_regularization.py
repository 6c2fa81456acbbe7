"""A kernel on the smooth eigenvectors fitted to constraints, CCSR [1], with shrinkage.

    (1)  K = F M F^T                                     M (m, m) positive semi-definite
    (2)  min_M  sum_i (K_ii - 1)^2 + sum_must c^2 (K_ij - 1)^2 + sum_cannot c^2 K_ij^2
    (3)          + h |M - M_0|^2                         M_0 = I_k / k on the first k eigenvectors

With F scaled by sqrt(n), K_ij = <y_i y_j^T, M>, so (2) is a least squares problem in M over the
cone of positive semi-definite matrices: accelerated projected gradient on the m (m + 1) / 2
numbers of M, whose Gram matrix H is summed up once, in blocks. Cost: O((n + s) m^4 / 4) once,
O(m^4) a step; O(m^4) memory.

Shrinkage. (2) has 120 unknowns for m = 15; with fewer pairs than that it does much worse than no
constraints at all. (3) pulls M towards plain spectral clustering, whose kernel is M_0. The
strength h is chosen by cross-validation over the pairs: the weakest whose kernel, fitted without a
part of the pairs, predicts them as well as any (within a standard error of the difference). h = 0
is the paper.

[1] Li, Liu & Tang, Constrained clustering via spectral regularization, CVPR 2009.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import linalg

from linkwise.arrays import door, namespace, to_host
from linkwise.blocks.passes import sum_over_blocks
from linkwise.blocks.rows import take_rows

STRENGTHS = tuple(10.0**e for e in range(-3, 4))  # tried for h, times the total weight of pairs
FOLDS = 5  # of the cross-validation over the pairs
FEWEST = 30  # pairs for a cross-validation: six in each fold
BLOCK = 1 << 14  # pairs in one product, which limits memory


class Quadratic(NamedTuple):
    """The function x^T H x - 2 b^T x + c of the m (m + 1) / 2 numbers x of M."""

    H: np.ndarray
    b: np.ndarray
    c: float

    def __add__(self, other):
        return Quadratic(self.H + other.H, self.b + other.b, self.c + other.c)

    def times(self, c):
        """Return the function c times as steep."""
        return Quadratic(c * self.H, c * self.b, c * self.c)

    def __call__(self, x):
        return float(x @ self.H @ x - 2 * self.b @ x + self.c)


@lru_cache(maxsize=8)
def _triangle(m):
    a, b = np.triu_indices(m)
    return a, b, np.where(a == b, 1, np.sqrt(2))


def pack(M):
    """Return x: the upper triangle, off-diagonal entries times sqrt(2), so |x| = |M|."""
    a, b, scale = _triangle(M.shape[-1])
    return M[..., a, b] * door(M).asarray(scale, M)


def unpack(x, m):
    """Return the symmetric M of x."""
    a, b, scale = _triangle(m)
    M = np.empty((m, m))
    M[a, b] = M[b, a] = x / scale
    return M


def squared_errors(Y_i, Y_j, target, c):
    """Return sum c^2 (y_i^T M y_j - target)^2, Eq. (2), as a Quadratic, in blocks of rows."""
    m = Y_i.shape[1]
    size = m * (m + 1) // 2
    q = Quadratic(np.zeros((size, size)), np.zeros(size), 0.0)
    for start in range(0, len(Y_i), BLOCK):
        part = slice(start, start + BLOCK)
        outer = Y_i[part, :, None] * Y_j[part, None, :]  # (block, m, m)
        rows = c[part, None] * pack((outer + namespace(outer).swapaxes(outer, 1, 2)) / 2)
        aim = c[part] * target[part]
        q += Quadratic(to_host(rows.T @ rows), to_host(rows.T @ aim), float(aim @ aim))
    return q


def diagonal_errors(F):
    """Return sum_i (K_ii - 1)^2 as a Quadratic, F scaled by sqrt(n); array or computed rows."""
    n, m = F.shape

    def errors(part, rows):
        Y = float(np.sqrt(n)) * door(rows).cast(rows, "float64")
        one = namespace(Y).ones_like(Y[:, 0])
        return squared_errors(Y, Y, one, one)

    return Quadratic(*sum_over_blocks(errors, F, 2 * m * m))  # twice as wide as single precision


def project(x, m):
    """Return the nearest x whose M is positive semi-definite."""
    values, vectors = np.linalg.eigh(unpack(x, m))  # half the overhead of scipy's on small ones
    return pack((vectors * np.maximum(values, 0)) @ vectors.T)


def minimise(q, m, x, *, tol=1e-10, max_iter=5000):
    """Return the minimiser of a Quadratic over positive semi-definite M, from x on.

    Accelerated projected gradient, started afresh whenever it would rise.
    """
    step = 1 / max(linalg.eigvalsh(q.H, subset_by_index=[len(q.b) - 1] * 2)[0], 1e-300)
    y, t, value = x, 1.0, q(x)
    for _ in range(max_iter):
        new = project(y - step * (q.H @ y - q.b), m)
        new_value = q(new)
        if new_value > value and t > 1:
            y, t = x, 1.0
            continue
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        y = new + (t - 1) / t_next * (new - x)
        moved = np.linalg.norm(new - x)
        x, t, value = new, t_next, new_value
        if moved <= tol * max(1.0, np.linalg.norm(x)):
            break
    return x


def _validated_strength(pairs, diagonal, prior, m, rng):
    """Return the h that predicts left-out pairs best, by folds over the list of pairs.

    For the choice each fit is the unconstrained minimum, moved to the nearest admissible M.
    """
    Y_i, Y_j, _, weight = pairs
    order = np.argsort((Y_i + Y_j) @ rng.standard_normal(m))  # by content, not by place
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    parts = [squared_errors(*(column[fold == f] for column in pairs)) for f in range(FOLDS)]
    total = float(np.sum(weight**2))

    def loss(h, left_out):
        q = diagonal + prior(h * total)
        for f in range(FOLDS):
            q = q if f == left_out else q + parts[f]
        return parts[left_out](project(linalg.solve(q.H, q.b, assume_a="pos"), m))

    losses = np.array([[loss(h, f) for f in range(FOLDS)] for h in STRENGTHS])
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    error = np.std(losses - losses[best], axis=1, ddof=1) / np.sqrt(FOLDS)
    weakest = int(np.argmax(mean <= mean[best] + error))  # the first that is not clearly worse
    return STRENGTHS[weakest] * total


def fit_matrix(
    F, i, j, sign, weight, *, n_clusters, shrinkage="auto", diagonal="paper", errors=None, rng
):
    """Return M of Eq. (2) and (3), in units where K = n F M F^T.

    Parameters
    ----------
    F : array (n, m), or rows computed when asked for: orthonormal eigenvectors, smoothest first
    i, j, sign, weight : the pairs
    n_clusters : int, k of Eq. (3)
    shrinkage : "auto" or float, h of Eq. (3), in units of the total weight of the pairs
    diagonal : "paper" or "balanced", as in `fit_spectrum`
    errors : what `diagonal_errors` returned for F, or None
    rng : numpy Generator, for the folds

    Returns
    -------
    M : array (m, m), positive semi-definite
    h : float, the shrinkage used, in units of the total weight of the pairs
    """
    n, m = F.shape
    Y_i, Y_j = (np.sqrt(n) * to_host(take_rows(F, end, "float64")) for end in (i, j))
    x_0 = pack(np.diag((np.arange(m) < n_clusters) / n_clusters))
    total = float(np.sum(weight**2))
    unit = diagonal_errors(F) if errors is None else errors
    unit = unit.times(total / n) if diagonal == "balanced" else unit
    target = (sign > 0).astype(np.float64)

    def prior(h):
        return Quadratic(h * np.eye(len(x_0)), h * x_0, h * float(x_0 @ x_0))

    if shrinkage != "auto":
        h = shrinkage * total
    elif len(i) < FEWEST:  # too few to ask: stay close to the plain method
        h = STRENGTHS[-1] * total
    else:
        h = _validated_strength((Y_i, Y_j, target, weight), unit, prior, m, rng)
    q = unit + squared_errors(Y_i, Y_j, target, weight) + prior(h)
    M = unpack(minimise(q, m, x_0), m)
    return M, h / total


def matrix_root(M):
    """Return M^1/2 of a positive semi-definite M."""
    values, vectors = linalg.eigh(M)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
