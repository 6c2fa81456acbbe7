"""The costs of points and of broken constraints: PCK, MPCK and HMRF.

D and v of penalised.py, with c_p the weight of pair p = (i, j) and w the weight of all:

  Euclidean    PCK-KMeans [1]
    (1)  D(i, c) = |x_i - m_c|^2
    (2)  v_p = w c_p / 2 for a must-link (two ends pay), w c_p for a cannot-link

  Mahalanobis  MPCK-KMeans [3], and HMRF-KMeans [2] with a shared diagonal metric
    (3)  D(i, c) = |x_i - m_c|_c^2 - log det A_c,            |z|_c^2 = z^T A_c z
    (4)  v_p(c) = w c_p |x_i - x_j|_c^2 / 2                  for a must-link
    (5)  v_p(c) = w c_p (delta_c - |x_i - x_j|_c^2)          for a cannot-link
    (6)  delta_c = 4 max_i |x_i - x|_c^2, x the mean of all points
    (7)  prior = r sum_c (tr A_c B - log det A_c)
    (8)  A_c = (n_c + r) (S_c + r B)^-1, S_c the scatter of cluster c plus
         w c_p z z^T / 2 for each end in c of a broken must-link, z = x_i - x_j, and
         w c_p (y y^T - z z^T) for each broken cannot-link in c, y y^T the maximum in (6)

  Cosine       HMRF-KMeans [2] for directions; a row of zeros has cosine 0 with everything
    (9)  D(i, c) = 1 - cos(x_i, m_c), m_c the unit vector along the sum of x_i / |x_i|
    (10) v_p = w c_p (1 - cos(x_i, x_j)) / 2                 for a must-link
    (11) v_p = w c_p (1 + cos(x_i, x_j))                     for a cannot-link; delta is 2

[2, 3] compare a broken cannot-link with the two points farthest apart, which takes n^2 distances.
(6), the distance of the point farthest from the mean to its mirror image, is never less, and at
most twice as long. (8) is the minimum of J if no cannot-link is broken; otherwise it is a step that
is shortened until J falls. The papers leave A unbounded when a cluster has little scatter; B, the
variances of all points / k^(2/d), bounds it [4]. [2] also learns weights of the features under the
cosine. Compactness alone would put all weight on features that every point shares, and few pairs
are broken. On text a weak prior had just that effect and a strong one none, so (9) has no weights.

[4] Fraley & Raftery, Bayesian regularization for normal mixture estimation, J. Classification
    24, 2007.  [1, 2, 3]: penalised.py.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis

from linkwise.arrays import namespace
from linkwise.partition.groups import dense, one_hot
from linkwise.partition.penalised import Costs

SHORTEST = 1e12  # ratio of two directions of a metric; beyond, it is singular by rounding
HALVINGS = 8  # of a step that raised J: a step of 1/256 that still raises it is rounding


class Params(NamedTuple):
    """What is learnt besides the labels."""

    centres: Any  # (k, d)
    A: Any  # (q, d) or (q, d, d), q = k or 1 for all clusters; None: the identity


def means_of(X, labels, k, old):
    """Return the means (k, d) of the clusters; empty ones keep their centre, or the first."""
    size = np.bincount(labels, minlength=k)
    total = dense(one_hot(labels, k, X.dtype) @ X)
    mean = total / np.maximum(size, 1)[:, None].astype(X.dtype)
    empty = size == 0
    mean[empty] = mean[~empty][0] if old is None else old[empty]
    return mean


def variances(X):
    """Return mean and variance (d,) of the features."""
    if sparse.issparse(X):
        return mean_variance_axis(X, 0)
    xp = namespace(X)
    return xp.mean(X, axis=0), xp.var(X, axis=0)


class Euclidean:
    """Squared distances, and a constant price for a broken pair, Eqs. (1) and (2)."""

    def __init__(self, X, links, weight, k):
        self.X, self.k = X, k
        self.pair = (weight * links.weight * np.where(links.sign > 0, 0.5, 1))[:, None]  # Eq. (2)

    def start(self):
        return Params(None, None)

    def points(self, params):
        return self.X

    def costs(self, params):
        return Costs(euclidean_distances(self.X, params.centres, squared=True), self.pair)

    def vacant(self, params):
        return np.zeros(self.k)

    def update(self, params, labels):
        return Params(means_of(self.X, labels, self.k, params.centres), None)


def root(A):
    """Return R with |z|_A = |z R|: of a diagonal (d,) its root, of a matrix its factor."""
    return np.sqrt(A) if A.ndim == 1 else np.linalg.cholesky(A)


def apply(X, R):
    """Return X R, for R (d,) a diagonal matrix."""
    R = R.astype(X.dtype)
    if R.ndim == 2:
        return X @ R
    return X @ sparse.diags_array(R) if sparse.issparse(X) else X * R


def log_det(A):
    return np.log(A).sum() if A.ndim == 1 else np.linalg.slogdet(A)[1]


def metric_costs(X, centres, A):
    """Return Eq. (3), (n, k), without log det A_c if one metric serves all clusters.

    That term would be the same for all of them, and its rounding would decide ties.
    """
    point = np.empty((X.shape[0], len(centres)))
    for q, A_q in enumerate(A):
        R = root(A_q)
        clusters = slice(None) if len(A) == 1 else [q]
        distance = euclidean_distances(apply(X, R), apply(centres[clusters], R), squared=True)
        point[:, clusters] = distance - (log_det(A_q) if len(A) > 1 else 0)  # Eq. (3)
    return point


class Mahalanobis:
    """Squared distances in a learned metric, Eqs. (3) to (8).

    Parameters
    ----------
    X : array (n, d); csr_array for a diagonal metric
    links : Constraints on row numbers, each pair once
    weight : float, w
    k : int
    full, shared : bool, matrices or diagonals; one for all clusters or one each
    """

    def __init__(self, X, links, weight, k, *, full, shared):
        d = X.shape[1]
        self.X, self.k, self.full, self.shared = X, k, full, shared
        self.i, self.j, self.sign, weights = links.arrays()
        self.price = weight * weights
        self.Z = X[self.i] - X[self.j]  # (m, d)
        mean, variance = variances(X)
        self.mean = mean.astype(X.dtype)[None]
        constant = dense(X.max(axis=0)).ravel() == dense(X.min(axis=0)).ravel()
        variance = np.where(constant, 1, variance).astype(np.float64)
        self.B = variance / k ** (2 / d)
        self.r = (d if full else 1) + 2.0
        self.A = np.diag(1 / variance)[None] if full else (1 / variance)[None]

    def start(self):
        return Params(None, self.A if self.shared else np.repeat(self.A, self.k, axis=0))

    def points(self, params):
        return apply(self.X, root(params.A[0]))

    def _delta(self, A):
        """Return Eq. (6) and the y (d,) that attains it."""
        R = root(A)
        away = euclidean_distances(apply(self.X, R), apply(self.mean, R), squared=True)[:, 0]
        far = int(np.argmax(away))
        y = 2 * (dense(self.X[[far]]) - self.mean)[0]
        return 4 * float(away[far]), y.astype(np.float64)

    def costs(self, params):
        pair = np.empty((len(self.price), len(params.A)))
        for q, A in enumerate(params.A):
            length = row_norms(apply(self.Z, root(A)), squared=True).astype(np.float64)
            must, cannot = length / 2, np.maximum(self._delta(A)[0] - length, 0)
            pair[:, q] = self.price * np.where(self.sign > 0, must, cannot)  # Eqs. (4), (5)
        point = metric_costs(self.X, params.centres, params.A)
        same = len(point) * log_det(params.A[0]) if len(params.A) == 1 else 0.0
        return Costs(point, pair, sum(self._prior(A) for A in params.A) - same)

    def _prior(self, A):
        trace = A @ self.B if A.ndim == 1 else np.diagonal(A) @ self.B
        return self.r * (trace - log_det(A))  # Eq. (7)

    def vacant(self, params):
        return np.array([-log_det(A) for A in params.A]) if len(params.A) > 1 else np.zeros(self.k)

    def update(self, params, labels):
        centres = means_of(self.X, labels, self.k, params.centres)
        if self.shared:
            return Params(centres, self._metric(params.A[0], labels, centres, None)[None])
        A = [self._metric(params.A[c], labels, centres, c) for c in range(self.k)]
        return Params(centres, np.stack(A))

    def _metric(self, A, labels, centres, c):
        """Return A of cluster c, or of all for None, by Eq. (8)."""
        rows = slice(None) if c is None else labels == c
        X, own = self.X[rows], labels[rows]
        a, b = labels[self.i], labels[self.j]
        broken = self.price * ((a == b) != (self.sign > 0))
        if c is not None:
            broken = broken * ((a == c).astype(float) + (b == c)) / 2
        count, outside = X.shape[0] + self.r, broken[self.sign < 0].sum()
        S = self._scatter(X, centres, own) + self._gram(self.Z, broken * self.sign)
        S = S + self.r * (np.diag(self.B) if self.full else self.B)

        def J(A):  # what of it depends on A
            far = outside * self._delta(A)[0] if outside else 0
            return np.sum(A * S) + far - count * log_det(A)

        y = self._delta(A)[1] if outside else np.zeros(len(self.B))
        yy = np.outer(y, y) if self.full else y * y
        new, before = count * self._inverse(S + outside * yy), J(A)  # Eq. (8)
        for _ in range(HALVINGS):
            if J(new) <= before:
                return new
            new = (A + new) / 2
        return A

    def _scatter(self, X, centres, own):
        if sparse.issparse(X):  # diagonal
            size = np.bincount(own, minlength=len(centres))
            square = np.asarray(X.multiply(X).sum(axis=0)).ravel()
            return np.maximum(square - size @ centres.astype(np.float64) ** 2, 0)
        return self._gram(X - centres[own], np.ones(len(own)))

    def _gram(self, Z, weight):
        """Return the weighted sum of z z^T, or of its diagonal."""
        Z, weight = Z[weight != 0], weight[weight != 0]  # few pairs are broken
        if self.full:
            return (Z.T * weight) @ Z
        return weight @ (Z.multiply(Z).tocsr() if sparse.issparse(Z) else Z * Z)

    def _inverse(self, S):
        """Return S^-1; broken cannot-links may take S below its prior, which is its floor."""
        if not self.full:
            return 1 / np.maximum(S, self.r * self.B)
        unit = 1 / np.sqrt(self.r * self.B)  # features in units of the prior: no loss of digits
        value, V = np.linalg.eigh(unit[:, None] * S * unit)
        value = np.maximum(value, 1)
        value = np.minimum(value, SHORTEST * value.min())
        V = unit[:, None] * V
        return (V / value) @ V.T


def cosine_costs(X, centres):
    """Return Eq. (9), (n, k)."""
    return 1 - normalize(X) @ centres.T


class Cosine:
    """One less the cosine, Eqs. (9) to (11)."""

    def __init__(self, X, links, weight, k):
        self.U, self.k = normalize(X), k
        i, j = links.ends.T
        cosine = np.asarray((self.U[i] * self.U[j]).sum(axis=1), dtype=np.float64)
        price = np.where(links.sign > 0, (1 - cosine) / 2, 1 + cosine)
        self.pair = (weight * links.weight * price)[:, None]  # Eqs. (10), (11)

    def start(self):
        return Params(None, None)

    def points(self, params):
        return self.U

    def costs(self, params):
        return Costs(1 - self.U @ params.centres.T, self.pair)

    def vacant(self, params):
        return np.zeros(self.k)

    def update(self, params, labels):
        return Params(normalize(means_of(self.U, labels, self.k, params.centres)), None)
