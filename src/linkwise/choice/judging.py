"""Candidates, judged by constraints that they did not use.

A candidate is co-EM (``co_training``) from one start. Its score is the mean log-likelihood of the
constraints of one fold in a candidate made from the other folds, start included:

    (1)  l_c = mean over constraints of log p(constraint | constraints of the other folds)

All candidates are judged by the first fold. Those that look best are judged by all folds, and
only these are made from all constraints.
"""

import time
from typing import NamedTuple

import numpy as np

from linkwise.blocks.progress import Progress
from linkwise.choice.starts import MANY_ROWS, Start, starts
from linkwise.class_models import ERROR, State, co_em
from linkwise.class_models.beliefs import log_likelihood

FEWEST = 4  # constraints: with fewer, a fold has one or none, and judges nothing
FEWEST_CANDIDATES = 2  # within any budget of seconds: one alone would not be a choice
FIRST_FOLD = 0.5  # share of the budget for the first fold; the rest is for the best candidates
SCORED_ERROR = 0.02  # least share of wrong constraints assumed when scoring: one wrong constraint
#                      must not outweigh all others


class Candidate(NamedTuple):
    """A start, and what became of it."""

    start: Start
    state: State | None = None  # made from all constraints; None if the candidate was given up
    held_out: np.ndarray | None = None  # log p of constraints not used, Eq. (1)
    agreement: float | None = None  # with the other partitions, when there are no constraints
    seconds: float = 0.0


class Candidates(NamedTuple):
    """All candidates, best first."""

    kept: list  # judged by all constraints, if there are enough to judge by
    given_up: list  # judged by the first fold only


def develop(start, learners, k, links, *, rounds):
    """Return the state that co-EM reaches from a start."""
    return co_em(learners, start.make(links), k, links, rounds=rounds, error=ERROR)


def deal(links, folds, seed):
    """Return the fold of every constraint, (m,) of 0..folds - 1."""
    return np.random.default_rng(seed).permutation(links.n_pairs) % folds


def judge(start, learners, k, links, held, *, rounds):
    """Return log p of the constraints ``held`` (m,) bool in the candidate made from the others.

    They are right with the probability that the candidate found for the others.
    """
    state = develop(start, learners, k, links.select(~held), rounds=rounds)
    a, b = links.ends[held].T
    same = np.einsum("ij,ij->i", state.beliefs.q[a], state.beliefs.q[b])
    return log_likelihood(same, links.sign[held], max(state.error, SCORED_ERROR))


def judge_all(models, links, k, effort, *, budget, seed):
    """Return the Candidates, judged if there are enough constraints.

    Parameters
    ----------
    models : SampleModels
    links : Constraints between points of the sample
    k : int
    effort : Effort
    budget : float, seconds
    seed : int
    """
    every = starts(models.views, models.learners, k, effort, seed)
    work = {"learners": models.learners, "k": k, "links": links, "rounds": effort.rounds}
    if links.n_pairs < FEWEST:
        return Candidates([Candidate(start, develop(start, **work)) for start in every], [])
    began = time.perf_counter()
    fold = deal(links, min(effort.folds, links.n_pairs), seed)
    tried = _by_first_fold(every, fold, work, deadline=began + FIRST_FOLD * budget)
    most = effort.judged * (1 if len(models.rows) > MANY_ROWS else 2)
    kept = _by_all_folds(tried[:most], fold, work, deadline=began + budget)
    return Candidates(kept, tried[len(kept) :])


def _best_first(candidates):
    return sorted(candidates, key=lambda one: -one.held_out.mean())


def _by_first_fold(every, fold, work, *, deadline):
    """Return candidates from all starts, or as many as there is time for, best first."""
    tried: list = []
    with Progress("LinkClustering", len(every), unit="candidates") as progress:
        for start in every:
            before = time.perf_counter()
            if len(tried) >= FEWEST_CANDIDATES and before > deadline:
                break
            held_out = judge(start, held=fold == 0, **work)
            seconds = time.perf_counter() - before
            tried.append(Candidate(start, held_out=held_out, seconds=seconds))
            progress.advance()
    return _best_first(tried)


def _by_all_folds(tried, fold, work, *, deadline):
    """Return candidates made from all constraints, as many as there is time for, best first."""
    kept: list = []
    with Progress("LinkClustering", len(tried), unit="best candidates") as progress:
        for one in tried:
            before = time.perf_counter()
            if len(kept) >= FEWEST_CANDIDATES and before > deadline:
                break
            held_out = np.empty(len(fold))
            held_out[fold == 0] = one.held_out
            for number in range(1, fold.max() + 1):
                held = fold == number
                held_out[held] = judge(one.start, held=held, **work)
            state = develop(one.start, **work)
            seconds = one.seconds + time.perf_counter() - before
            kept.append(one._replace(state=state, held_out=held_out, seconds=seconds))
            progress.advance()
    return _best_first(kept)
