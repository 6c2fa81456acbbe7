"""Candidates, judged by constraints that they did not use.

A candidate is a fit of ``pair_softmax``: a feature set, a partition to start from, and a penalty.
Its score is the mean log-likelihood of the constraints of one fold in a fit to the other folds:

    (1)  l_c = mean over constraints of c log p(constraint | constraints of the other folds)

c being the weight of a constraint. The share of wrong constraints in it is the one that suits a
start best, the same for all candidates: under a smaller one a blurred model would beat the right
one, which has to pay for every wrong constraint.

All pairs of a feature set and a start are judged by the first fold. The best ones are judged by
all folds. A fit costs O(constraints), not O(points), and at most JUDGES constraints judge; what
counts in the end is fitted to all of them.

    (2)  rank of a start = log p(constraints | the start) + PRIOR * belief + MARGIN [believed most]

with belief in 0..1: few constraints do not lead away from the partition that the data suggest.
"""

import time
from typing import NamedTuple

import numpy as np

from linkwise.blocks import run_blocks
from linkwise.blocks.progress import Progress
from linkwise.class_models import ERROR, likely_error, trust
from linkwise.class_models.beliefs import log_likelihood
from linkwise.class_models.pair_softmax import (
    class_probabilities,
    fit_pairs,
    refine,
    start_weights,
)
from linkwise.class_models.partitions import with_constraints

PENALTIES = (30.0, 3.0, 0.3, 0.03)  # each fit starts from the one before
FEWEST = 10  # constraints: fewer judge nothing, and correct the start by the largest penalty
JUDGES = 3000  # constraints that judge; the standard error of Eq. (1) is below .01 then
FEWEST_TRIED = 2  # before any deadline: one alone would not be a choice
FIRST_FOLD = 0.5  # share of the time for the first fold; the rest is for the best candidates
RANK_FOLDS = 10  # to rank starts: with fewer, linkage would miss many of few constraints
PRIOR = 10.0  # log-likelihood that a start which is not believed at all must make up for
MARGIN = 4.0  # and one that is not believed most: some start always fits a few constraints
SCORED_ERROR = 0.02  # least share of wrong constraints assumed when scoring: one wrong constraint
#                      must not outweigh all others


class Problem(NamedTuple):
    """What candidates are made of."""

    sets: list  # of (FeatureSet, z (n, r))
    starts: list  # of Partition, the most likely first
    k: int
    links: object  # Constraints on row numbers


class Candidate(NamedTuple):
    """A fit of pair_softmax, and its score."""

    name: str
    number: int  # of the feature set
    start: int  # number of the start
    penalty: float
    held_out: np.ndarray | None = None  # log p of constraints not used, Eq. (1)
    seconds: float = 0.0


def deal(m, folds, seed):
    """Return the fold of every constraint, (m,) of 0..folds - 1."""
    return np.random.default_rng(seed).permutation(m) % folds


def start_likelihood(start, k, links, fold):
    """Return log p(constraints | a start), one made with constraints by those of other folds."""
    if start.linkage is None:
        return trust(start.labels, k, links, ERROR)[1]
    total = 0.0
    for number in range(fold.max() + 1):
        held = fold == number
        labels = with_constraints(start, k, links.select(~held))
        total += trust(labels, k, links.select(held), ERROR)[1]
    return total


def rank_starts(partitions, belief, k, links, seed):
    """Return partitions by Eq. (2), the best first, and the best of the other kind second.

    Two kinds are told apart: linkage with constraints, and what does not change with constraints.
    """
    prior = PRIOR * belief / max(float(belief.max()), 1e-12)
    prior[np.argmax(belief)] += MARGIN
    likely = np.zeros(len(partitions))
    if links:
        fold = deal(links.n_pairs, RANK_FOLDS, seed)
        likely += [start_likelihood(one, k, links, fold) for one in partitions]
    order = np.argsort(-(prior + likely), kind="stable")
    linked = [partitions[i].linkage is not None for i in order]
    if len(set(linked)) > 1:
        second = linked.index(not linked[0])
        order = np.r_[order[0], order[second], np.delete(order, [0, second])]
    return [partitions[i] for i in order]


def fits(problem, number, start, links, penalties=PENALTIES):
    """Return W (r, k) for every penalty, of a feature set from a start."""
    Z = problem.sets[number][1]
    labels = with_constraints(problem.starts[start], problem.k, links)
    W_0 = start_weights(Z, labels, problem.k)
    z, links = Z[links.ids], links.resolve(links.ids)
    W, found = W_0, []
    for penalty in penalties:
        W = fit_pairs(z, links, W, W_0, error=ERROR, penalty=penalty)
        found.append(refine(z, links, W, W_0, error=ERROR, penalty=penalty))
    return found


def judge(problem, number, start, links, held, *, error=SCORED_ERROR):
    """Return log p of the constraints ``held`` (m,) bool in fits to the others, (penalties, h).

    ``error`` is the share of wrong constraints.
    """
    Z = problem.sets[number][1]
    a, b = links.ends[held].T
    sign, weight = links.sign[held], links.weight[held]
    scores = []
    for W in fits(problem, number, start, links.select(~held)):
        same = np.einsum("ij,ij->i", class_probabilities(Z[a], W), class_probabilities(Z[b], W))
        scores.append(weight * log_likelihood(same, sign, error))
    return np.array(scores)


def scored_error(problem, links):
    """Return the share of wrong constraints to score with: the least that suits a start."""
    starts = (with_constraints(one, problem.k, links) for one in problem.starts)
    return max(SCORED_ERROR, min(likely_error(labels, problem.k, links) for labels in starts))


def _named(problem, number, start, penalty):
    return f"{problem.sets[number][0].name}, {penalty:g}, from {problem.starts[start].name}"


def judge_all(problem, effort, *, deadline, seed):
    """Return the Candidates, the best first.

    Parameters
    ----------
    problem : Problem
    effort : Effort
    deadline : float, time.perf_counter() from which on no further candidate is judged
    seed : int
    """
    links = problem.links
    if links.n_pairs < FEWEST:
        penalty = PENALTIES[0]
        return [Candidate(_named(problem, 0, 0, penalty), 0, 0, penalty)]
    if links.n_pairs > JUDGES:
        rng = np.random.default_rng([seed, 1])
        links = links.select(np.sort(rng.choice(links.n_pairs, JUDGES, replace=False)))
    fold = deal(links.n_pairs, effort.folds, seed)
    now = time.perf_counter()
    half = now + FIRST_FOLD * (deadline - now)
    error = scored_error(problem, links)
    tried = _by_first_fold(problem, links, fold, error=error, deadline=half)
    best = tried[: effort.judged]

    def judge_rest(place):
        first, (number, start), seconds = best[place]
        before = time.perf_counter()
        if place >= FEWEST_TRIED and before > deadline:
            return []
        held_out = np.empty((len(PENALTIES), len(fold)))
        held_out[:, fold == 0] = first
        for other in range(1, fold.max() + 1):
            held_out[:, fold == other] = judge(
                problem, number, start, links, fold == other, error=error
            )
        seconds = (seconds + time.perf_counter() - before) / len(PENALTIES)
        return [
            Candidate(
                _named(problem, number, start, penalty), number, start, penalty, scores, seconds
            )
            for penalty, scores in zip(PENALTIES, held_out, strict=True)
        ]

    found = [one for each in _counted(judge_rest, len(best), "best candidates") for one in each]
    return sorted(found, key=lambda one: -one.held_out.mean())


def _by_first_fold(problem, links, fold, *, error, deadline):
    """Return [(scores, (feature set, start), seconds)] by the first fold, the best first."""
    pairs = [(v, s) for s in range(len(problem.starts)) for v in range(len(problem.sets))]

    def judge_first(place):
        before = time.perf_counter()
        if place >= FEWEST_TRIED and before > deadline:
            return None
        number, start = pairs[place]
        scores = judge(problem, number, start, links, fold == 0, error=error)
        return scores, (number, start), time.perf_counter() - before

    tried = [one for one in _counted(judge_first, len(pairs), "candidates") if one is not None]
    return sorted(tried, key=lambda each: -each[0].mean(axis=1).max())


def _counted(judge_one, number, unit):
    """Yield judge_one(place) for every place below a number, in order, with a line of progress."""
    with Progress("LinkClustering", number, unit=unit) as line:
        for one in run_blocks(judge_one, range(number)):
            yield one
            line.advance()
