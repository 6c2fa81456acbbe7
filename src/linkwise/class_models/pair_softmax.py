"""Class probabilities fitted to the constraints, from the labels of a start.

    (1)  p_i = softmax(z_i W)
    (2)  min_W  -sum_ij c_ij log(e + (1 - 2 e) r_ij) + l/2 |W - W_0|^2,   c the weights
    (3)  s_ij = p_i . p_j, the probability of "same";   r = s for must-links, else 1 - s

This is the likelihood of constraints of which a share e is wrong. It needs no label of any point
[1]. W_0 reproduces the start (4): without constraints the start stays as it is, few constraints
move it a little and near them, many a lot. Shrinking W to 0 instead, as usual, forgets the start,
and with few constraints nothing takes its place.

    (4)  W_0 = argmin_W  mean_i |z_i W - SURE (y_i - 1/k)|^2 + RIDGE |W|^2,   y_i the start's label

Eq. (2) looks at one constraint at a time. Where points have several, these tell more together:

    (5)  q = marginals of the labels given p and all constraints        (``beliefs``)
    (6)  min_W  -sum_i q_i . log p_i + l/2 |W - W_0|^2                  over constrained points

in turn, which is EM.

The features z are those of several smoothers (``learners``) side by side: their inner products are
the mean of the kernels. O(steps m r k) for m constraints and r features, whatever the number of
points; O(n r) to prepare.

[1] Hsu, Lv, Schlosser, Odom & Kira, Multi-class classification without multi-class labels, ICLR
    2019, for the likelihood.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import softmax

from linkwise.class_models.beliefs import propagate

FROM_EACH = 150  # leading features of a smoother: the rest is shrunk to almost nothing
FEATURES = 200  # of a feature set: bounds the cost, O(m FEATURES k) a step
STRENGTH = 2  # index on a smoother's grid, its middle; the penalty l does the rest
STEPS = 60  # the minimum need not be exact: the next penalty starts from it
SETTLED = 1e-5  # relative change of the loss that ends the steps
EM_STEPS = 30  # of (6), which starts near its minimum
ROUNDS = 3  # of (5) and (6); on the development sets more changed nothing
CHAINED = 1.5  # constraints of a point on average; with fewer, (5) tells no more than Eq. (2)
SURE = 4.0  # logit of the start's own class: odds of 55
RIDGE = 0.1  # for the fit of the features to a start; features have about unit size
LEAST = 1e-6  # probability: constraints can overrule the features anywhere
SETS = (  # kinds of learners that make a feature set
    ("graph", "near", "island"), ("graph",), ("near",), ("island",), ("wide",), ("linear",),
)  # fmt: skip


class FeatureSet(NamedTuple):
    """Features of some learners, put together, and how to make them for new points."""

    name: str
    learners: tuple  # numbers of the learners
    columns: tuple  # for each, the columns of its basis
    scales: tuple  # for each, what these are multiplied by
    centre: np.ndarray  # (c,)
    basis: np.ndarray | None  # (c, r)


def features(found, bases):
    """Return z (n, r), a constant first, from the bases of all learners, a list of (n, r)."""
    parts = [
        bases[v][:, columns] * scale
        for v, columns, scale in zip(found.learners, found.columns, found.scales, strict=True)
    ]
    Z = np.hstack(parts).astype(np.float32) - found.centre
    Z = Z if found.basis is None else Z @ found.basis
    return np.column_stack((np.ones(len(Z), dtype=np.float32), Z))


def feature_set(learners, kinds):
    """Return (FeatureSet, z) of the learners of some kinds, None if there are none."""
    chosen = [v for v, one in enumerate(learners) if one.name in kinds]
    if not chosen:
        return None
    present = [kind for kind in kinds if any(learners[v].name == kind for v in chosen)]
    columns, scales = [], []
    for v in chosen:
        one = learners[v]
        same = sum(learners[other].name == one.name for other in chosen) * len(present)
        c = one.shrink[STRENGTH]
        leading = np.sort(np.argsort(-c, kind="stable")[:FROM_EACH])
        columns.append(leading)
        scales.append(np.sqrt(c[leading] * len(one.U) / same).astype(np.float32))
    bare = FeatureSet(
        " and ".join(present), tuple(chosen), tuple(columns), tuple(scales),
        np.zeros(sum(map(len, columns)), dtype=np.float32), None,
    )  # fmt: skip
    Z = features(bare, [one.U if hasattr(one, "U") else None for one in learners])[:, 1:]
    found = bare._replace(centre=Z.mean(axis=0))
    Z -= found.centre
    if Z.shape[1] > FEATURES:
        basis = eigh((Z.T @ Z).astype(np.float64))[1][:, : -FEATURES - 1 : -1]
        found = found._replace(basis=basis.astype(np.float32))
        Z = Z @ found.basis
    return found, np.column_stack((np.ones(len(Z), dtype=np.float32), Z))


def feature_sets(learners):
    """Return [(FeatureSet, z)] of SETS, as far as there are learners for them."""
    return [found for kinds in SETS if (found := feature_set(learners, kinds)) is not None]


def start_weights(Z, labels, k):
    """Return W_0 (r, k) of Eq. (4)."""
    Y = SURE * (np.eye(k, dtype=np.float32)[labels] - np.float32(1 / k))
    A = (Z.T @ Z / len(Z)).astype(np.float64)
    A[np.diag_indices_from(A)] += RIDGE
    return np.linalg.solve(A, Z.T @ Y / len(Z))


def class_probabilities(Z, W):
    """Return p of Eq. (1), (n, k)."""
    return softmax((Z @ W.astype(Z.dtype)).astype(np.float64), axis=1)


def _minimum(objective, W, steps):
    options = {"maxiter": steps, "ftol": SETTLED}
    found = minimize(objective, W.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(W.shape)


def fit_pairs(z, links, W, W_0, *, error, penalty):
    """Return a local minimum W (r, k) of Eq. (2), starting from W.

    Parameters
    ----------
    z : array (u, r), features of the constrained points
    links : Constraints on rows of z, at least one
    W, W_0 : arrays (r, k)
    error : float in (0, 1/2), e
    penalty : float > 0, l
    """
    k = W.shape[1]
    i, j = links.ends.T
    m, e, must, c = links.n_pairs, error, links.sign > 0, links.weight
    to = [sparse.csr_array((np.ones(m), (x, np.arange(m))), (len(z), m)) for x in (i, j)]

    def objective(w):
        w = w.reshape(-1, k)
        p = class_probabilities(z, w)
        s = np.einsum("ij,ij->i", p[i], p[j])
        likely = e + (1 - 2 * e) * np.where(must, s, 1 - s)
        slope = c * np.where(must, -1, 1) * (1 - 2 * e) / likely  # derivative of the loss by s
        g = to[0] @ (slope[:, None] * p[j]) + to[1] @ (slope[:, None] * p[i])
        g = p * (g - np.sum(g * p, axis=1, keepdims=True))
        loss = -(c * np.log(likely)).sum() + 0.5 * penalty * np.sum((w - W_0) ** 2)
        return float(loss), (z.T @ g.astype(z.dtype) + penalty * (w - W_0)).ravel()

    return _minimum(objective, W, STEPS)


def fit_labels(z, q, W, W_0, *, penalty):
    """Return the minimum W (r, k) of Eq. (6), starting from W."""
    k = W.shape[1]

    def objective(w):
        w = w.reshape(-1, k)
        g = (z @ w.astype(z.dtype)).astype(np.float64)
        g -= g.max(axis=1, keepdims=True)
        p = np.exp(g)
        total = p.sum(axis=1, keepdims=True)
        loss = -np.sum(q * (g - np.log(total))) + 0.5 * penalty * np.sum((w - W_0) ** 2)
        return float(loss), (z.T @ (p / total - q).astype(z.dtype) + penalty * (w - W_0)).ravel()

    return _minimum(objective, W, EM_STEPS)


def refine(z, links, W, W_0, *, error, penalty):
    """Return W (r, k) after some rounds of Eqs. (5) and (6), if points have several constraints."""
    rounds = ROUNDS if 2 * links.n_pairs > CHAINED * len(z) else 0
    for _ in range(rounds):
        evidence = np.log(np.maximum(class_probabilities(z, W), LEAST))
        q = propagate(evidence, links, error).q  # Eq. (5)
        W = fit_labels(z, q, W, W_0, penalty=penalty)
    return W
