"""Candidates judged by answers that they did not see, and put together.

A candidate is co-EM (``pool``) from one start. Its score is the mean log-likelihood of answers in
a candidate made from the other folds, start and all:

    (1)  l_c = mean over answers of log p(answer | answers of the other folds)
    (2)  w_c ~ exp(B m (l_c - max l)),   m answers

Eq. (2) with B = 1 would be the posterior of candidates that are independent witnesses; they are
not, and B is less. With few answers all candidates count about alike, with many the best.
Clusters are matched to those of the best by the Hungarian method before soft labels are averaged.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from linkwise.class_models.beliefs import log_likelihood
from linkwise.class_models.co_training import ERROR, State, co_em

SHARPNESS = 0.2  # B
LEAST_WEIGHT = 0.02  # of the largest: lighter candidates are left out
SCORED_ERROR = 0.02  # least share of wrong answers under which answers are scored


class Candidate(NamedTuple):
    name: str
    expression: str
    state: State | None  # None for one that was given up
    held_out: np.ndarray | None  # log p of answers not seen, Eq. (1)
    seconds: float


def develop(start, learners, k, answers, *, rounds):
    """Return the state that co-EM reaches from a start."""
    return co_em(learners, start.make(answers), k, answers, rounds=rounds, error=ERROR)


def deal(answers, folds, seed):
    """Return the fold of every answer, (m,) of 0..folds - 1."""
    return np.random.default_rng(seed).permutation(len(answers.sign)) % folds


def judge(start, learners, k, answers, held, *, rounds):
    """Return log p of the answers ``held`` (m,) bool in the candidate made from the others.

    They are right with the probability that the candidate found for the others.
    """
    state = develop(start, learners, k, answers.take(~held), rounds=rounds)
    a, b = answers.pairs[held].T
    same = np.einsum("ij,ij->i", state.beliefs.q[a], state.beliefs.q[b])
    return log_likelihood(same, answers.sign[held], max(state.error, SCORED_ERROR))


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
