"""Candidates, judged by constraints that they did not use.

A candidate is a fit of ``pair_softmax``: a feature set, a partition to start from, and a penalty.
Its score is the mean log-likelihood of the constraints of one fold in a fit to the other folds:

    (1)  l_c = mean over constraints of c log p(constraint | constraints of the other folds)

c being the weight of a constraint. Chains of constraints count too (``constraints.chains``): a fit
sees what follows from its own constraints, and is judged by what does not but follows from all. So
it matters little which of several pairs that tell the same were asked. The share of wrong
constraints in (1) is the one that suits a start best, the same for all candidates: under a smaller
one a blurred model would beat the right one, which has to pay for every wrong constraint.

All pairs of a feature set and a start are judged by the first fold. The best ones are judged by
all folds, and OF_EACH of every start in any case: a linkage is made anew for every fold, and one
fold may mislead about it. A fit costs O(constraints), not O(points), and at most JUDGES constraints
judge; what counts in the end is fitted to all of them.

    (2)  rank of a start = log p(constraints | the start) + PRIOR * belief + MARGIN [believed most]

with belief in 0..1: few constraints do not lead away from the partition that the data suggest.
Where there is to be one start only, because constraints are few, it has ALONE in place of MARGIN.

Ranks also count in the weights of candidates (``combination``): two of them from different starts
often differ by one or two held-out constraints, which is chance. The better partitions explain the
constraints, the more this counts, and not at all if the best of them tells nothing about them:

    (3)  support of a start = s min(1, UNSURE / m) (rank - the largest rank),
         s = 1 - max l_start / l_chance

with the mean log-likelihood of constraints in a partition for l_start, and if only the share of
must-links is known for l_chance. The scores of many constraints m are sure, and support fades.

A fit follows a wrong constraint if no other one is near, and then finds nothing wrong with it. So
a constraint is doubted by models that did not use it. If these give the probability r to what it
says, and a share e of all constraints is wrong, it is wrong with the probability (4). What counts
in the end is fitted with the weights (5), which stand for as much (``beliefs``):

    (4)  w = e (1 - r) / (e (1 - r) + (1 - e) r)
    (5)  c' = c log((1 - w) / w) / log((1 - e) / e),   at least 0 and at most c

Models of few constraints are too sure of themselves. So the log odds of r are multiplied by the
number t <= 1 under which, together with e, the held-out constraints are most likely: where right
answers often surprise the models, they are not doubted.
"""

import time
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from linkwise.arrays import door, to_host
from linkwise.blocks import run_blocks
from linkwise.blocks.progress import Progress
from linkwise.blocks.rows import take_rows
from linkwise.class_models import ERROR, likely_error, trust_by_pairs
from linkwise.class_models.beliefs import log_likelihood, probability_wrong
from linkwise.class_models.co_training import log_prior, trust
from linkwise.class_models.linkage import at_ends
from linkwise.class_models.pair_softmax import (
    class_probabilities,
    fit_pairs,
    fits_of,
    refine,
    start_weights,
)
from linkwise.class_models.partitions import with_constraints
from linkwise.constraints import Constraints
from linkwise.constraints.chains import with_chains, with_chains_of

PENALTIES = (30.0, 3.0, 0.3, 0.03)  # each fit starts from the one before
FEWEST = 10  # constraints: fewer judge nothing, and correct the start by the largest penalty
JUDGES = 10_000  # constraints that judge: what suits a part of them may be too simple for all.
#                  60,000 images of digits with 10,000 had .939 by 3,000 judges, .941 by all
FEWEST_TRIED = 2  # before any deadline: one alone would not be a choice
OF_EACH = 2  # feature sets that all folds judge with every start
FIRST_FOLD = 0.5  # share of the time for the first fold; the rest is for the best candidates
RANK_FOLDS = 10  # to rank starts: with fewer, linkage would miss many of few constraints. Of 116
#                  proteins with 3 labels in each class but one, .34 by ten and .28 by five
RANK_FEWEST, RANK_MANY = 5, 150  # folds that are enough, for that many constraints
PRIOR = 10.0  # log-likelihood that a start which is not believed at all must make up for
MARGIN = 4.0  # and one that is not believed most: some start always fits a few constraints
ALONE = 14.0  # the same if there is to be one start: with 4, single right answers of a session lead
#               to another one and back, and agreement falls by up to .3 between two answers
UNSURE = 300  # constraints: 20 newsgroups with 10,000 have .515 if support does not fade, .543 so
SCORED_ERROR = 0.02  # least share of wrong constraints assumed when scoring: one wrong constraint
#                      must not outweigh all others
DOUBTED = 0.005, 0.01, 0.02, 0.05, 0.1, 0.2  # e of Eq. (4), steps of about a factor 2
TEMPERS = 0.25, 0.5, 0.75, 1.0  # t
LEAST = 1e-6  # r: keeps its log odds finite


class Problem(NamedTuple):
    """What candidates are made of."""

    sets: list  # of Features
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
    answers: int = 0  # the constraints that these are, or that they follow from
    seconds: float = 0.0


def deal(m, folds, seed):
    """Return the fold of every constraint, (m,) of 0..folds - 1."""
    return np.random.default_rng(seed).permutation(m) % folds


def chance_score(folds):
    """Return Eq. (1) if only the share of must-links is known."""
    must = np.concatenate([one.judged.sign > 0 for one in folds])
    weight = np.concatenate([one.judged.weight for one in folds])
    share = np.clip(np.average(must, weights=weight), SCORED_ERROR, 1 - SCORED_ERROR)
    return float(weight.mean() * (share * np.log(share) + (1 - share) * np.log(1 - share)))


class Fold(NamedTuple):
    """Some of the constraints to learn from, and what does not follow from them."""

    learnt: Constraints
    implied: Constraints  # the same, and what chains of them imply
    judged: Constraints  # in all folds with the mean weight of the constraints
    starts: tuple = ()  # labels (n,) of each start, by what is implied
    known: dict | None = None  # of `with_constraints`, for starts into several numbers of clusters


def chained(links, k):
    """Return constraints and what chains of them imply for k clusters."""
    return with_chains(links, ERROR, two=k == 2)


def folds_of(links, count, k, seed):
    """Return at most ``count`` Folds, judged by all that follows from the constraints."""
    fold, found = deal(links.n_pairs, count, seed), []
    learnt_by = [links.select(fold != number) for number in range(fold.max() + 1)]
    every, *implied_by = with_chains_of([links, *learnt_by], ERROR, two=k == 2)
    for number, (learnt, implied) in enumerate(zip(learnt_by, implied_by, strict=True)):
        judged = every.select(~np.isin(*pair_keys(every, implied)))
        found.append(Fold(learnt, implied, judged if judged else links.select(fold == number)))
    scale = links.weight.mean() / np.concatenate([one.judged.weight for one in found]).mean()
    return [one._replace(judged=one.judged.with_weight(scale * one.judged.weight)) for one in found]


def pair_keys(*several):
    """Return numbers (m,) for each of several Constraints on row numbers, the same for one pair."""
    n = 1 + max(one.ends.max(initial=0) for one in several)
    return [np.sort(one.ends, axis=1) @ np.array([n, 1]) for one in several]


def signed_keys(*several):
    """Return numbers (m,) as `pair_keys`, other ones for must-links than for cannot-links."""
    both = zip(pair_keys(*several), several, strict=True)
    return [2 * key + (one.sign > 0) for key, one in both]


def started(folds, starts, k):
    """Return Folds with the labels of starts."""
    return [
        one._replace(starts=tuple(with_constraints(starts, k, one.implied, one.known)))
        for one in folds
    ]


def from_some(folds, numbers):
    """Return Folds with the labels of some of their starts."""
    return [one._replace(starts=tuple(one.starts[i] for i in numbers)) for one in folds]


def judges_among(links, seed):
    """Return the constraints that judge, JUDGES at most."""
    if links.n_pairs <= JUDGES:
        return links
    rng = np.random.default_rng([seed, 1])
    return links.select(np.sort(rng.choice(links.n_pairs, JUDGES, replace=False)))


def start_likelihoods(folds, k):
    """Return the mean log p of a constraint by each start (p,), made without those of its fold."""
    together = np.hstack(
        [[np.equal(*at_ends(labels, one.judged)) for labels in one.starts] for one in folds]
    )  # (p, m)
    sign, weight = (
        np.concatenate([getattr(one.judged, name) for one in folds]) for name in ("sign", "weight")
    )
    likely = [trust_by_pairs(one, k, sign, weight, ERROR)[1] for one in together]
    return np.array(likely) / len(sign)


class Ranked(NamedTuple):
    """Partitions to start from."""

    numbers: np.ndarray  # (p,) of the partitions, the best first
    support: np.ndarray  # (p,) of each, Eq. (3)


def rank_starts(partitions, belief, k, links, folds=()):
    """Return the Ranked partitions, the best by Eq. (2) first, then the best of the other kind.

    Two kinds are told apart: linkage with constraints, and what does not change with constraints.
    Of two partitions from the small clusters of one layout the better one stays.

    Parameters
    ----------
    partitions : list of Partition
    belief : array (p,)
    k : int
    links : Constraints on row numbers
    folds : list of Fold of these, with the labels of the partitions
        Where no partition changes with constraints, none are needed, and no chains: these would be
        mostly about the few points of the longest ones, and repeat every wrong constraint.
    """
    changing = any(one.linkage is not None for one in partitions)
    prior = PRIOR * belief / max(float(belief.max()), 1e-12)
    prior[np.argmax(belief)] += MARGIN if changing else ALONE
    likely, share, m = np.zeros(len(partitions)), 0.0, links.n_pairs
    if links and changing:
        likely += m * start_likelihoods(folds, k)
        share = max(0.0, 1 - likely.max() / (m * chance_score(folds)))
    elif links:
        likely += [trust(one.labels, k, links, ERROR)[1] for one in partitions]
    rank = prior + likely  # Eq. (2)
    order = _once_each(np.argsort(-rank, kind="stable"), partitions)
    linked = [partitions[i].linkage is not None for i in order]
    if len(set(linked)) > 1:
        second = linked.index(not linked[0])
        order = np.r_[order[0], order[second], np.delete(order, [0, second])]
    support = share * UNSURE / max(m, UNSURE) * (rank - rank.max())  # Eq. (3)
    return Ranked(order, support[order])


def _once_each(order, partitions):
    """Return the numbers of partitions in order, of those by one linkage only the first."""
    first: dict = {}
    for i in order:
        linkage = partitions[i].linkage
        first.setdefault(id(partitions[i] if linkage is None else linkage), i)
    return np.array(list(first.values()))


class Judgement(NamedTuple):
    """Candidates, and what they were judged by."""

    candidates: list  # of Candidate, the best first
    folds: list  # of Fold; none if nothing is judged
    error: float  # share of wrong constraints that is assumed

    @property
    def chance(self):
        """The score of a model that knows only the share of must-links, or None."""
        return chance_score(self.folds) if self.folds else None


def held_out_right(links, judgement, weights):
    """Return r before (4), of every constraint (m,), and which ones judged, (m,) bool."""
    e, judged = judgement.error, [one.judged for one in judgement.folds]
    share = np.concatenate([one.weight for one in judged])  # that the scores are multiplied by
    scores = np.array([one.held_out for one in judgement.candidates])
    scores = np.divide(scores, share, out=scores, where=share > 0)
    right = np.clip((weights @ np.exp(scores) - e) / (1 - 2 * e), 0, 1)
    own, *others = signed_keys(links, *judged)
    others = np.concatenate(others)
    order = np.argsort(others, kind="stable")
    place = order[np.minimum(np.searchsorted(others, own, sorter=order), len(order) - 1)]
    return right[place], others[place] == own


def calibrated(right, weight):
    """Return (e, r) of Eq. (4) under which constraints are most likely, from r as models say.

    Parameters
    ----------
    right : array (m,), the probability that models give to what each constraint says
    weight : array (m,), of the constraints, 0 for those that models have seen
    """
    tempered = [expit(t * logit(np.clip(right, LEAST, 1 - LEAST))) for t in TEMPERS]
    return max(
        ((e, r) for r in tempered for e in DOUBTED),
        key=lambda one: weight @ log_likelihood(one[1], 1, one[0]) + log_prior(one[0]),
    )


def doubted(links, judgement, weights):
    """Return constraints with the weights of Eq. (5); those that judged nothing keep theirs.

    Parameters
    ----------
    links : Constraints on row numbers
    judgement : Judgement
    weights : array (c,) of its candidates, summing to 1
    """
    right, judged = held_out_right(links, judgement, weights)
    e, right = calibrated(right, links.weight * judged)
    wrong = np.where(judged, probability_wrong(right, 1, e), e)  # Eq. (4)
    return links.with_weight(links.weight * np.clip(logit(wrong) / logit(e), 0, 1))  # Eq. (5)


class Job(NamedTuple):
    """A fit to make."""

    number: int  # of the feature set
    labels: np.ndarray  # (n,) of the start
    links: Constraints
    implied: Constraints  # the same, and what chains of them imply
    penalties: tuple = PENALTIES  # the first of them


def fits(problem, jobs):
    """Return for every Job the weights W (r, k), of NumPy, of all its penalties."""
    batches = at_a_time(problem, jobs, problem.links)
    return [found for batch in batches for found in _fits_at_a_time(problem, batch)]


def at_a_time(problem, jobs, links):
    """Return lists of the jobs that are done by one search, for constraints of each."""
    Z = problem.sets[0].Z
    return door(Z).batches(jobs, 4 * len(links.ids) * Z.shape[1])


def _fits_at_a_time(problem, jobs):
    """Return what `fits` does, by one search."""
    sets = [problem.sets[job.number] for job in jobs]
    tools, both = door(sets[0].Z), list(zip(jobs, sets, strict=True))
    first = [start_weights(one.Z, job.labels, problem.k, one.normal) for job, one in both]
    points = [take_rows(one.Z, job.links.ids) for job, one in both]
    together = fits_of(
        points,
        [job.links.resolve(job.links.ids) for job in jobs],
        [job.implied.resolve(job.links.ids) for job in jobs],
    )
    W_0 = tools.stacked([tools.asarray(W, together.z) for W in first])
    W, found = W_0, []
    for penalty in max((job.penalties for job in jobs), key=len):
        W = fit_pairs(together, W, W_0, error=ERROR, penalty=penalty)
        found.append(to_host(refine(together, W, W_0, error=ERROR, penalty=penalty)))
    return [
        [W[number, : len(first[number])] for W in found[: len(job.penalties)]]
        for number, job in enumerate(jobs)
    ]


def judge(problem, folds, cases, *, error=SCORED_ERROR):
    """Return log p of constraints that fits do not use, a list of (penalties, h).

    Parameters
    ----------
    folds : list of Fold, with the labels of the starts
    cases : list of (number of the feature set, number of the start, number of a fold)
    error : float, share of wrong constraints
    """
    both = [(v, start, folds[fold]) for v, start, fold in cases]
    jobs = [Job(v, one.starts[start], one.learnt, one.implied) for v, start, one in both]
    judged = []
    for (number, _, fold), found in zip(cases, fits(problem, jobs), strict=True):
        held = folds[fold].judged
        Z, sign, weight = problem.sets[number].Z, held.sign, held.weight
        a, b = (to_host(take_rows(Z, end)) for end in held.ends.T)
        scores = []
        for W in found:
            same = np.einsum("ij,ij->i", class_probabilities(a, W), class_probabilities(b, W))
            scores.append(weight * log_likelihood(same, sign, error))
        judged.append(np.array(scores))
    return judged


def scored_error(starts, k, links):
    """Return the share of wrong constraints to score with: the least that suits labels (n,)."""
    return max(SCORED_ERROR, min(likely_error(labels, k, links) for labels in starts))


def _named(problem, number, start, penalty):
    return f"{problem.sets[number].described.name}, {penalty:g}, from {problem.starts[start].name}"


def judge_all(problem, judges, folds, starts, effort, *, deadline):
    """Return the Judgement of all candidates.

    Parameters
    ----------
    problem : Problem
    judges : Constraints that judge
    folds : list of Fold of these, with the labels of the starts; none if they are below FEWEST
    starts : list of labels (n,) of the starts by all constraints
    effort : Effort
    deadline : float, time.perf_counter() from which on no further candidate is judged
    """
    if not folds:
        penalty = PENALTIES[0]
        return Judgement([Candidate(_named(problem, 0, 0, penalty), 0, 0, penalty)], [], ERROR)
    now = time.perf_counter()
    half = now + FIRST_FOLD * (deadline - now)
    error = scored_error(starts, problem.k, judges)
    pairs = [(v, s) for s in range(len(problem.starts)) for v in range(len(problem.sets))]
    judged = partial(_judged, problem, folds, error=error)
    by_first = judged(pairs, [0], deadline=half, unit="candidates")
    tried = sorted(by_first, key=lambda one: -one.scores[0].mean(axis=1).max())
    best = contenders(tried, effort.judged)
    rest = range(1, len(folds))
    pairs = [one.pair for one in best]
    by_rest = judged(pairs, rest, deadline=deadline, unit="fits of best candidates")
    others = {one.pair: one for one in by_rest}
    found: list = []
    for first in (one for one in best if one.pair in others):
        other = others[first.pair]
        held_out = np.hstack(first.scores + other.scores)
        seconds = (first.seconds + other.seconds) / len(PENALTIES)
        number, start = first.pair
        for penalty, scores in zip(PENALTIES, held_out, strict=True):
            name = _named(problem, number, start, penalty)
            found.append(Candidate(name, number, start, penalty, scores, judges.n_pairs, seconds))
    return Judgement(sorted(found, key=lambda one: -one.held_out.mean()), folds, error)


class Judged(NamedTuple):
    """A feature set and a start, judged by some folds."""

    pair: tuple  # numbers of the feature set and of the start
    scores: list  # (penalties, h) of each fold
    seconds: float


def contenders(tried, count):
    """Return at most ``count`` of those tried, in order: OF_EACH of every start, and the first."""
    starts = [one.pair[1] for one in tried]
    again = np.array([starts[:at].count(start) >= OF_EACH for at, start in enumerate(starts)])
    kept = np.argsort(again, kind="stable")[:count]
    return [tried[at] for at in np.sort(kept)]


def _judged(problem, folds, pairs, numbers, *, error, deadline, unit):
    """Return the Judged of pairs of a feature set and a start, as many as the deadline allows."""
    cases = [(at, *pair, number) for at, pair in enumerate(pairs) for number in numbers]

    def judge_batch(batch):
        before = time.perf_counter()
        if batch[0][0] >= FEWEST_TRIED and before > deadline:
            return []
        scores = judge(problem, folds, [case for _, *case in batch], error=error)
        seconds = (time.perf_counter() - before) / len(batch)
        return [(one, seconds) for one in scores]

    batches = at_a_time(problem, cases, folds[0].learnt)
    judged: list = []
    with Progress("LinkClustering", len(cases), unit=unit) as line:
        for batch, some in zip(batches, run_blocks(judge_batch, batches), strict=True):
            judged += some
            line.advance(len(batch))
    step, found = len(numbers), []
    for at, pair in enumerate(pairs[: len(judged) // step]):
        scores, seconds = zip(*judged[at * step : (at + 1) * step], strict=True)
        found.append(Judged(pair, list(scores), sum(seconds)))
    return found
