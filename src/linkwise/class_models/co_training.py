"""Labels from many class models and the constraints together (co-EM).

    (1)  g = sum_v a_v log p_v        a_v >= 0; p_v: what learner v predicts for a point without
                                      using the point's own label
    (2)  q = marginals given evidence g and the constraints           (``beliefs``)

Eqs. (1) and (2) alternate, starting from the labels of some partition (a start). The weights a
come from a logistic model of the labels q of the constrained points, regularised towards equal
weights. This is EM with the class models in the role of the density [1]. The share of wrong
constraints is estimated in the same loop, with a prior of one in twenty.

A start is trusted as far as it agrees with the constraints: its labels enter with odds exp(t),
where t makes the constraints most likely.

O(sum of the learners) a round.

[1] co-EM: Nigam & Ghani, Analyzing the effectiveness and applicability of co-training, CIKM 2000.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from linkwise.arrays import door, namespace, to_host
from linkwise.class_models.beliefs import (
    Beliefs,
    log_likelihood,
    probability_wrong,
    propagate,
)
from linkwise.class_models.learners import Smoother, across_folds, best_strength, without_own
from linkwise.class_models.linkage import at_ends

# The values below were chosen on the development sets of the quality benchmark, unless a comment
# gives another reason.
UNTOUCHED = 0.3  # weight of an unconstrained point when the strength of a smoother is chosen:
#                  its label is a guess, but constrained points alone are too few
TOTAL = 2.0  # sum of the weights a in their prior: learners repeat each other, but only partly
HOLD = 8.0  # strength of that prior: a handful of constraints cannot move the weights far
FLOOR = 0.02  # least probability, shared by k classes: no single learner can veto a label
TRUST = (0.05, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # grid of t: from almost no trust to odds of 55
LEAST_ERROR, MOST_ERROR = 0.01, 0.3  # no constraint is certain; above 0.3 they say almost nothing
STEPS = 15  # L-BFGS steps for a: the next round continues from there, so few are enough
PRIOR = 1.0, 20.0  # pseudo-counts: wrong constraints, constraints
ERRORS = (0.02, 0.05, 0.1, 0.2)  # shares to tell apart: steps of about a factor 2
ERROR = PRIOR[0] / PRIOR[1]  # share of wrong constraints before any was judged


class State(NamedTuple):
    """What co-EM has found."""

    evidence: np.ndarray  # g (n, k)
    beliefs: Beliefs
    weights: np.ndarray  # a (v,)
    strengths: list  # of the smoothers; None for other learners
    labels: np.ndarray  # (n, k) q that the learners were last fitted to
    error: float  # share of wrong constraints


def log_probabilities(f):
    """Return the logarithm of predictions (n, k), made positive and summing to 1."""
    xp = namespace(f)
    p = xp.clip(f, FLOOR / f.shape[1], None)
    return xp.log(p / xp.sum(p, axis=1, keepdims=True))


def trust(labels, k, links, error):
    """Return t that makes the constraints most likely, and their log-likelihood."""
    a, b = at_ends(labels, links)
    return trust_by_pairs(a == b, k, links.sign, links.weight, error)


def trust_by_pairs(together, k, sign, weight, error):
    """Return what `trust` does, for pairs that a partition puts together (m,) bool, or apart."""
    likelihoods = []
    for t in TRUST:
        own, other = np.exp(t) / (np.exp(t) + k - 1), 1 / (np.exp(t) + k - 1)
        same = np.where(together, own**2 + (k - 1) * other**2, 2 * own * other + (k - 2) * other**2)
        likelihoods.append(weight @ log_likelihood(same, sign, error))
    best = int(np.argmax(likelihoods))
    return TRUST[best], likelihoods[best]


def log_prior(error):
    """Return the logarithm of the prior of a share of wrong constraints, up to a constant."""
    return PRIOR[0] * np.log(error) + (PRIOR[1] - PRIOR[0]) * np.log(1 - error)


def likely_error(labels, k, links):
    """Return the share of wrong constraints, of ERRORS, that suits a partition and its prior best.

    With many clusters the share of must-links tells much: k clusters of about equal size have 1/k
    of all pairs inside, and most must-links beyond that are wrong.
    """
    return max(ERRORS, key=lambda e: trust(labels, k, links, e)[1] + log_prior(e))


def trusted(labels, k, links, error):
    """Return soft labels (n, k) of a partition, as sure as it agrees with the constraints."""
    t, _ = trust(labels, k, links, error)
    q = np.ones((k, k))  # of every label
    np.fill_diagonal(q, np.exp(t))
    return door(labels).asarray(q / q.sum(axis=1, keepdims=True), labels)[labels]


def fit_weights(F, q, start):
    """Return the weights a (v,) under which log-probabilities F (v, n, k) predict q (n, k)."""
    prior = np.full(len(F), TOTAL / len(F))

    def objective(a):
        g = np.tensordot(a, F, 1)
        g -= g.max(axis=1, keepdims=True)
        p = np.exp(g)
        total = p.sum(axis=1, keepdims=True)
        loss = -np.sum(q * (g - np.log(total))) + 0.5 * HOLD * np.sum((a - prior) ** 2)
        slope = np.tensordot(F, p / total - q, 2) + HOLD * (a - prior)
        return float(loss), slope.astype(np.float64)

    bounds = [(0, None)] * len(F)
    return minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": STEPS},
    ).x  # fmt: skip


def co_em(learners, labels, k, links, *, rounds, error):
    """Return the state after some rounds of Eqs. (1) and (2) from the labels of a start.

    Parameters
    ----------
    learners : list of Smoother and Gaussian
    labels : int array (n,) of 0..k - 1
    links : Constraints on row numbers
    rounds : int >= 1
    error : float, share of wrong constraints to begin with
    """
    tools, xp = door(labels), namespace(labels)
    touched = tools.asarray(links.touched, labels)
    weight = np.full(len(labels), UNTOUCHED, dtype=np.float32)
    weight[links.touched] = 1
    weight = tools.asarray(weight, labels)
    q = propagate(xp.log(trusted(labels, k, links, error)), links, error).q
    strengths: list = [None] * len(learners)
    messages = None
    a = np.full(len(learners), TOTAL / len(learners))
    for turn in range(rounds):
        fitted = tools.cast(q, "float32")
        said = []
        for v, learner in enumerate(learners):
            if isinstance(learner, Smoother):
                if turn == 0:
                    strengths[v] = best_strength(learner, fitted, weight)
                f = without_own(learner, fitted, strengths[v])
            else:
                f = across_folds(learner, q)
            said.append(tools.cast(log_probabilities(f), "float32"))
        F = xp.stack(said)  # (v, n, k)
        a = fit_weights(to_host(F[:, touched]), to_host(fitted[touched]), a)
        evidence = xp.tensordot(tools.asarray(a, F), tools.cast(F, "float64"), axes=1)  # Eq. (1)
        found = propagate(evidence, links, error, messages=messages)  # Eq. (2)
        q, messages = found.q, found.messages
        wrong = probability_wrong(found.same, links.sign, error).sum()
        error = (PRIOR[0] + wrong) / (PRIOR[1] + links.n_pairs)
        error = float(np.clip(error, LEAST_ERROR, MOST_ERROR))
    return State(evidence, found, a, strengths, fitted, error)
