"""A similarity of points, learnt from constraints.

Unsupervised similarities s_f(i, j) in [0, 1] (are i and j in one cluster of a partition, how near
are they on a graph) are weighted by what the constraints say:

    (1)  p(same) = sigma(b + sum_f w_f s_f(i, j)),   w >= 0, with a penalty l/2 |w|^2
    (2)  S = sum_f w_f s_f                           a kernel: every s_f is an inner product

The penalty is chosen by cross-validation over the constraints. The similarities themselves never
use a constraint, so they need no refits. Spectral clustering of S follows.

O(n r^2) time and O(n r) memory, where r is the length of all feature vectors together.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from linkwise.embedding.spectral import unit_rows
from linkwise.partition.k_means import kmeans

PENALTIES = (0.3, 1.0, 3.0, 10.0)  # half a decade a step
FOLDS = 5  # the usual number: a fit costs milliseconds
NEGLIGIBLE = 1e-3  # weight below which a similarity is left out of the eigenproblem


def pair_similarities(maps, pairs):
    """Return s_f of every pair, (m, f), from the feature vectors ``maps``, a list of (n, r)."""
    i, j = pairs.T
    return np.stack([np.einsum("ij,ij->i", A[i], A[j]) for A in maps], axis=1)


def fit_logistic(s, sign, weight, penalty):
    """Return (w, b) of Eq. (1)."""
    m, f = s.shape
    Z = np.column_stack((s, np.ones(m)))
    y = (sign > 0).astype(np.float64)

    def objective(w):
        t = Z @ w
        loss = np.sum(weight * (np.logaddexp(0, t) - y * t)) + 0.5 * penalty * np.sum(w[:-1] ** 2)
        slope = Z.T @ (weight * (0.5 * (1 + np.tanh(t / 2)) - y))
        slope[:-1] += penalty * w[:-1]
        return loss, slope

    bounds = [(0, None)] * f + [(None, None)]
    found = minimize(objective, np.zeros(f + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:-1], found[-1]


def held_out(s, sign, weight, penalty):
    """Return the log-likelihood of every constraint under the model of the other folds, (m,)."""
    fold = np.random.default_rng(0).permutation(len(sign)) % FOLDS
    out = np.empty(len(sign))
    for number in range(FOLDS):
        rest, own = fold != number, fold == number
        w, b = fit_logistic(s[rest], sign[rest], weight[rest], penalty)
        out[own] = -np.logaddexp(0, -sign[own] * (s[own] @ w + b))
    return out


def learn_weights(maps, links):
    """Return w of Eq. (1), (f,), from constraints on row numbers."""
    s = pair_similarities(maps, links.ends)
    sign, weight = links.sign, links.weight
    penalty = PENALTIES[0]
    if len(sign) >= FOLDS:
        scores = [held_out(s, sign, weight, penalty).mean() for penalty in PENALTIES]
        penalty = PENALTIES[int(np.argmax(scores))]
    return fit_logistic(s, sign, weight, penalty)[0]


def spectral_of_kernel(maps, w, k, rng):
    """Return the partition (n,) by spectral clustering of S, Eq. (2).

    If all weights are negligible, all similarities count alike.
    """
    w = np.where(w > NEGLIGIBLE, w, 0)
    if not w.any():
        w = np.ones(len(maps))
    A = np.hstack([np.sqrt(x).astype(A.dtype) * A for A, x in zip(maps, w, strict=True) if x > 0])
    degree = A @ A.sum(axis=0)
    A = A / np.sqrt(np.maximum(degree, 1e-6 * degree.max()))[:, None]
    if A.shape[1] < len(A):
        V = A @ eigh(A.T @ A)[1][:, ::-1][:, :k]
        V /= np.maximum(np.linalg.norm(V, axis=0), 1e-12)
    else:
        V = eigh(A @ A.T)[1][:, ::-1][:, :k]
    return kmeans(unit_rows(V), k, rng=rng).labels
