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
from functools import partial
from typing import NamedTuple

import numpy as np

from linkwise.arrays import door, to_host
from linkwise.blocks import run_blocks
from linkwise.blocks.progress import Progress
from linkwise.blocks.rows import take_rows
from linkwise.class_models import ERROR, likely_error, trust
from linkwise.class_models.beliefs import log_likelihood
from linkwise.class_models.pair_softmax import (
    class_probabilities,
    fit_pairs,
    fits_of,
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


class Job(NamedTuple):
    """A fit to make."""

    number: int  # of the feature set
    start: int
    links: object  # Constraints
    penalties: tuple = PENALTIES  # the first of them


def fits(problem, jobs):
    """Return for every Job the weights W (r, k), of NumPy, of all its penalties."""
    tools = door(problem.sets[0][1])
    return [found for batch in tools.batches(jobs) for found in _fits_at_a_time(problem, batch)]


def _fits_at_a_time(problem, jobs):
    """Return what `fits` does, by one search."""
    sets = [problem.sets[job.number][1] for job in jobs]
    tools, labels = door(sets[0]), {}
    for job in jobs:
        if (job.start, id(job.links)) not in labels:
            found = with_constraints(problem.starts[job.start], problem.k, job.links)
            labels[job.start, id(job.links)] = found
    both = list(zip(jobs, sets, strict=True))
    first = [start_weights(Z, labels[job.start, id(job.links)], problem.k) for job, Z in both]
    points = [take_rows(Z, job.links.ids) for job, Z in both]
    together = fits_of(points, [job.links.resolve(job.links.ids) for job in jobs])
    W_0 = tools.stacked([tools.asarray(W, together.z) for W in first])
    W, found = W_0, []
    for penalty in max((job.penalties for job in jobs), key=len):
        W = fit_pairs(together, W, W_0, error=ERROR, penalty=penalty)
        found.append(to_host(refine(together, W, W_0, error=ERROR, penalty=penalty)))
    return [
        [W[number, : len(first[number])] for W in found[: len(job.penalties)]]
        for number, job in enumerate(jobs)
    ]


def judge(problem, links, fold, cases, *, error=SCORED_ERROR):
    """Return log p of constraints that fits do not use, a list of (penalties, h).

    Parameters
    ----------
    links : Constraints
    fold : int array (m,), the fold of every constraint
    cases : list of (number of the feature set, number of the start, number of a fold): the fit is
        to the constraints of other folds, and judged by those of this fold
    error : float, share of wrong constraints
    """
    others = {held: links.select(fold != held) for held in {case[2] for case in cases}}
    jobs = [Job(number, start, others[held]) for number, start, held in cases]
    judged = []
    for (number, _, own), found in zip(cases, fits(problem, jobs), strict=True):
        held = fold == own
        Z, ends = problem.sets[number][1], links.ends[held].T
        a, b = (to_host(take_rows(Z, end)) for end in ends)
        sign, weight = links.sign[held], links.weight[held]
        scores = []
        for W in found:
            same = np.einsum("ij,ij->i", class_probabilities(a, W), class_probabilities(b, W))
            scores.append(weight * log_likelihood(same, sign, error))
        judged.append(np.array(scores))
    return judged


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
    pairs = [(v, s) for s in range(len(problem.starts)) for v in range(len(problem.sets))]
    judged = partial(_judged, problem, links, fold, error=error)
    by_first = judged(pairs, [0], deadline=half, unit="candidates")
    tried = sorted(by_first, key=lambda one: -one.scores[0].mean(axis=1).max())
    best = tried[: effort.judged]
    rest = range(1, fold.max() + 1)
    pairs = [one.pair for one in best]
    by_rest = judged(pairs, rest, deadline=deadline, unit="best candidates")
    others = {one.pair: one for one in by_rest}
    found = []
    for first in (one for one in best if one.pair in others):
        other, held_out = others[first.pair], np.empty((len(PENALTIES), len(fold)))
        for number, scores in enumerate(first.scores + other.scores):
            held_out[:, fold == number] = scores
        seconds = (first.seconds + other.seconds) / len(PENALTIES)
        number, start = first.pair
        found += [
            Candidate(
                _named(problem, number, start, penalty), number, start, penalty, scores, seconds
            )
            for penalty, scores in zip(PENALTIES, held_out, strict=True)
        ]
    return sorted(found, key=lambda one: -one.held_out.mean())


class Judged(NamedTuple):
    """A feature set and a start, judged by some folds."""

    pair: tuple  # numbers of the feature set and of the start
    scores: list  # (penalties, h) of each fold
    seconds: float


def _judged(problem, links, fold, pairs, folds, *, error, deadline, unit):
    """Return the Judged of pairs of a feature set and a start, as many as the deadline allows."""

    def judge_batch(batch):
        before = time.perf_counter()
        if batch[0][0] >= FEWEST_TRIED and before > deadline:
            return []
        cases = [(*pair, number) for _, pair in batch for number in folds]
        scores, step = judge(problem, links, fold, cases, error=error), len(folds)
        seconds = (time.perf_counter() - before) / len(batch)
        return [
            Judged(pair, scores[a * step : (a + 1) * step], seconds)
            for a, (_, pair) in enumerate(batch)
        ]

    batches = door(problem.sets[0][1]).batches(list(enumerate(pairs)))
    found = []
    with Progress("LinkClustering", len(pairs), unit=unit) as line:
        for batch, judged in zip(batches, run_blocks(judge_batch, batches), strict=True):
            found += judged
            line.advance(len(batch))
    return found
