"""Candidates judged by answers that they did not see, and put together.

A candidate is co-EM (``pool``) from one start. Its score is the mean log-likelihood of answers in
a candidate made again, start and all, from the other folds:

    (1)  l_c = mean over answers of log p(answer | answers of the other folds)
    (2)  w_c ~ exp(B m (l_c - max l)),   m answers

Eq. (2) with B = 1 would be the posterior of candidates that are independent witnesses; they are
not, and B is less. With few answers all candidates count about alike, with many the best.
Clusters are matched to those of the best by the Hungarian method before soft labels are averaged.
"""

import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from linkwise.choice.beliefs import log_likelihood
from linkwise.choice.pool import State, co_em

SHARPNESS = 0.4  # B
LEAST_WEIGHT = 0.02  # of the largest: lighter candidates are left out
SCORED_ERROR = 0.02  # share of wrong answers under which answers are scored


class Candidate(NamedTuple):
    name: str
    expression: str
    state: State | None
    own: float  # mean log-likelihood of answers by the others and the features, no refit
    held_out: np.ndarray | None  # (m,) log p of each answer, Eq. (1)
    seconds: float


def develop(start, learners, k, answers, *, rounds, error):
    """Return the candidate of a start, judged without refits."""
    began = time.perf_counter()
    state = co_em(learners, start.make(answers), k, answers, rounds=rounds, error=error)
    own = log_likelihood(state.beliefs.same, answers.sign, SCORED_ERROR).mean()
    return Candidate(
        start.name, start.expression, state, float(own), None, time.perf_counter() - began
    )


def judge(start, learners, k, answers, *, folds, rounds, error, seed):
    """Return log p of every answer in the candidate made from the other folds, (m,)."""
    m = len(answers.sign)
    fold = np.random.default_rng(seed).permutation(m) % folds
    out = np.empty(m)
    for number in range(folds):
        rest, own = fold != number, fold == number
        seen = answers.take(rest)
        q = co_em(learners, start.make(seen), k, seen, rounds=rounds, error=error).beliefs.q
        a, b = answers.pairs[own].T
        same = np.einsum("ij,ij->i", q[a], q[b])
        out[own] = log_likelihood(same, answers.sign[own], SCORED_ERROR)
    return out


def weights_of(candidates):
    """Return w of Eq. (2), (c,), summing to 1; equal where nothing was held out."""
    if any(c.held_out is None for c in candidates):
        return np.full(len(candidates), 1 / len(candidates))
    total = np.array([c.held_out.sum() for c in candidates])
    w = np.exp(SHARPNESS * (total - total.max()))
    w[w < LEAST_WEIGHT] = 0
    return w / w.sum()


def matching(q, reference):
    """Return the columns of q (n, k) in the order of the clusters of a reference (n, k)."""
    return linear_sum_assignment(reference.T @ q, maximize=True)[1]


def average(parts, weights, orders):
    """Return the weighted mean of soft labels, the columns of each put in its order."""
    return sum(w * q[:, order] for q, w, order in zip(parts, weights, orders, strict=True))


def soft_labels(state):
    """Return what the features say of every point, (n, k)."""
    return softmax(state.evidence, axis=1)
