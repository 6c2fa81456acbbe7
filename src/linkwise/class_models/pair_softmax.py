"""Class probabilities fitted to the constraints alone, all classes at once.

    (1)  p_i = softmax(z_i W)
    (2)  min_W  -sum_ij log(e + (1 - 2 e) r_ij) + l/2 |W|^2,   r = s for a must-link, 1 - s else
    (3)  s_ij = p_i . p_j                                      the probability of "same"

This is the likelihood of constraints of which a share e is wrong. It needs no label of any point
[1]. With many classes a constraint says little about either point alone; Eq. (2) uses all
constraints together, and so leaves a poor start that co-EM would not leave. The features z are
those of several smoothers (``learners``) side by side: their inner products are the mean of the
kernels.

O(steps n r k) for r features.

[1] Hsu, Lv, Schlosser, Odom & Kira, Multi-class classification without multi-class labels, ICLR
    2019, for the likelihood.
"""

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.special import softmax

from linkwise.class_models.beliefs import error_of

FROM_EACH = 80  # leading features of a smoother: as many as a graph has vectors
FEATURES = 200  # of all smoothers together: bounds the cost, O(n FEATURES k) a step
STRENGTH = {"graph": 2, "near": 4}  # index on a smoother's grid; chosen on the development sets
STEPS = 60  # the start of a candidate need not be an exact minimum
SURE = 4.0  # logit of the start's own class: odds of 55, the most that co-EM gives a start
RIDGE = 0.1  # for the fit of the features to a start; features have about unit size


def features(learners, kinds):
    """Return z (n, r) of the smoothers of some kinds, a constant first, float32."""
    parts = []
    for one in learners:
        if one.name in kinds:
            c = one.shrink[STRENGTH[one.name]]
            leading = np.sort(np.argsort(-c, kind="stable")[:FROM_EACH])
            parts.append(one.U[:, leading] * np.sqrt(c[leading]))
    Z = np.hstack(parts) * np.float32(np.sqrt(len(parts[0]) / len(parts)))
    Z -= Z.mean(axis=0)
    if Z.shape[1] > FEATURES:
        Z = Z @ eigh((Z.T @ Z).astype(np.float64))[1][:, : -FEATURES - 1 : -1].astype(Z.dtype)
    return np.column_stack((np.ones(len(Z), dtype=Z.dtype), Z))


def logits_of(Z, labels, k):
    """Return W (r, k) under which the features about reproduce labels (n,)."""
    Y = SURE * (np.eye(k)[labels] - 1 / k)
    A = (Z.T @ Z / len(Z)).astype(np.float64)
    A[np.diag_indices_from(A)] += RIDGE
    return np.linalg.solve(A, Z.T @ Y / len(Z))


def fit(Z, W, links, error, penalty):
    """Return a local minimum W (r, k) of Eq. (2), starting from W.

    Parameters
    ----------
    Z : array (n, r)
    W : array (r, k)
    links : Constraints on row numbers, at least one
    error : float in (0, 1/2), e
    penalty : float > 0, l
    """
    k = W.shape[1]
    i, j = links.pairs.T
    m, z = links.n_pairs, Z[links.ids]
    e = error_of(links.weight, error)
    must = links.sign > 0
    to = [sparse.csr_array((np.ones(m), (x, np.arange(m))), (len(z), m)) for x in (i, j)]

    def objective(w):
        w = w.reshape(-1, k)
        p = softmax((z @ w.astype(z.dtype)).astype(np.float64), axis=1)
        s = np.einsum("ij,ij->i", p[i], p[j])
        likely = e + (1 - 2 * e) * np.where(must, s, 1 - s)
        slope = (np.where(must, -1, 1) * (1 - 2 * e) / likely)[
            :, None
        ]  # derivative of the loss by s
        g = to[0] @ (slope * p[j]) + to[1] @ (slope * p[i])
        g = p * (g - np.sum(g * p, axis=1, keepdims=True))
        loss = -np.log(likely).sum() + 0.5 * penalty * np.sum(w**2)
        return float(loss), (z.T @ g.astype(z.dtype) + penalty * w).ravel()

    found = minimize(objective, W.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return found.x.reshape(-1, k)
