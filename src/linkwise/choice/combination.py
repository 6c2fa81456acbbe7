"""Candidates combined by weight, and new points placed by the combination.

    (1)  w_c ~ exp(B (m (l_c - max l) + s_c) - a log(l_max / l))
    (2)  g = sum_c w_c log p_c                              the candidates, pooled
    (3)  f = co-EM of all learners from the labels of g     (``co_training``)
    (4)  p ~ exp((log g + u log f) / (1 + u) + t y)         y the labels of the start

l_c is the score and s_c the support of the start, Eqs. (1) and (3) of ``candidates``.
With B = 1, Eq. (1) would be the posterior of candidates that are independent witnesses. They are
not, so B is less. The second term prefers large penalties l, the more the less is told; it is gone
from FULL constraints on. Clusters are matched to those of the best candidate by the Hungarian
method. (3) learns from all points, also those without constraints; u grows to CO_TRAINED with
FULL constraints. Where the models are in doubt, the start decides as long as little is known:
t = SURE / (1 + m / FADE) for m constraints.

Where constraints tell most of the labels of their points, held-out constraints favour candidates
that remember these points, because most are between points that others name too. co-EM predicts
every point without its own label. So u grows further, up to SURER times, from constraints that tell
half of these labels to those that tell all: m H(p) bits, p the share of must-links, of log2 k bits
for each point. They must name some points, SOME of all at least, and count in full from HALF on.

Of k clusters of one size, a constraint holds by chance for a share 1/k of all pairs, or 1 - 1/k. So
a hundred cannot-links tell little about forty clusters, and what is believed without them remains:
for k > MANY clusters bits b count instead of constraints, EACH more are needed for a cluster beyond
MANY, and large penalties are preferred by a factor 1 + log2(k / MANY). The start then decides for
longer at the points without constraints: the models blur it, and little is known that it is not.

    (5)  b = min(m, sum over must-links of log k - sum over cannot-links of log(1 - 1/k)),  log2

Without constraints the partition that is believed most (``partitions``) is taken.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import entr, logsumexp

from linkwise.arrays import door, namespace, to_host
from linkwise.choice.candidates import (
    FEWEST,
    PENALTIES,
    RANK_FEWEST,
    RANK_FOLDS,
    RANK_MANY,
    Job,
    Judgement,
    Problem,
    chained,
    doubted,
    fits,
    folds_of,
    from_some,
    judge_all,
    judges_among,
    rank_starts,
    started,
)
from linkwise.choice.sample_models import place_points
from linkwise.class_models import ERROR, co_em, log_probabilities, predict_classes
from linkwise.class_models.pair_softmax import (
    SURE,
    class_probabilities,
    features,
    start_weights,
)
from linkwise.class_models.partitions import with_constraints
from linkwise.constraints import Constraints
from linkwise.constraints.consistency import seem_right

SHARPNESS = 0.2  # B; chosen on the development sets. Stacking, which has no B, was no better
PREFERENCE, FULL = 1.0, 60  # a for no constraints, and the constraints from which on it is 0
MANY, EACH = 10, 20  # clusters beyond which bits count; and the bits that each of these needs
LEAST_WEIGHT = 0.02  # of the largest: lighter candidates change no label, but slow predict down
CO_TRAINED = 2.0  # 1.5 to 5 do about the same; 1 has .005 less on 13 sets of at most 1,000 rows
SURER = (
    4.0  # with a constraint for every point, 7,400 points in two classes have .921 so, .887 by 1
)
SOME, HALF = 0.2, 0.5  # of the points: what is known of a few rows of a session is no reason
FADE = 20  # constraints that count as much as the start
FLOOR = 1e-3  # probability: one candidate alone must not rule a class out
ROUNDS = 3, 10  # of co-EM, at least and at most: with a constraint for every point, ten gave .04
#                 more than three on the development sets; with one for four points, no more
CERTAIN = 0.95  # probability of a partition's own label when there are no constraints


class Member(NamedTuple):
    """One candidate in the combination."""

    weight: float
    features: object  # FeatureSet
    W: np.ndarray  # (r, k), clusters in the order of the combination's


class CoTrained(NamedTuple):
    """The learners after co-EM."""

    weight: float  # u
    weights: np.ndarray  # (v,)
    strengths: list
    labels: np.ndarray  # (n, k) soft labels that the learners were fitted to


class Combination(NamedTuple):
    """What was found on the sample."""

    members: list  # of Member, the candidates that count
    co_trained: CoTrained | None
    soft: np.ndarray  # (n, k) labels by the features alone
    wrong: float  # share of wrong constraints
    score: float | None  # mean log-likelihood of constraints not used
    chance: float | None  # the same if only the share of must-links is known
    candidates: list  # of Candidate, best first; without constraints of (name, belief)
    weights: np.ndarray  # of the candidates


def bits_told(links, k):
    """Return b of Eq. (5), and for few clusters the number of constraints.

    >>> from linkwise import Constraints
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2), (1, 3)])
    >>> float(bits_told(links, 2)), float(bits_told(links, 40))
    (3.0, 3.0)
    >>> round(float(bits_told(links.select([1, 2]), 40)), 2)
    0.07
    """
    m = links.n_pairs
    if k <= MANY:
        return m
    must = int((links.sign > 0).sum())
    return min(m, must * np.log2(k) - (m - must) * np.log2(1 - 1 / k))  # Eq. (5)


def share_told(links, k):
    """Return what constraints tell as a share of what is enough; it may be more."""
    return bits_told(links, k) / (FULL + EACH * max(0, k - MANY))


def share_known(links, k):
    """Return what constraints tell as a share of the labels of their points; it may be more.

    >>> from linkwise import Constraints
    >>> one = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> round(share_known(one, 2), 2), round(share_known(one, 4), 2)
    (0.67, 0.33)
    """
    p = float((links.sign > 0).mean())
    bits = links.n_pairs * (entr(p) + entr(1 - p)) / np.log(2)
    return float(bits / (len(links.ids) * np.log2(max(k, 2))))


def weight_of_co_em(links, n, k, share):
    """Return u of Eq. (4) for n points."""
    known = np.clip(2 * share_known(links, k) - 1, 0, 1)
    spread = np.clip((len(links.ids) / n - SOME) / (HALF - SOME), 0, 1)
    return CO_TRAINED * share * (1 + (SURER - 1) * float(known * spread))


def trust_in_start(links, n, k):
    """Return t of Eq. (4), (n,)."""
    t = np.full(n, SURE / (1 + share_told(links, k) * FULL / FADE))
    t[links.touched] = SURE / (1 + links.n_pairs / FADE)
    return t


def weights_of(candidates, support, k, m, share):
    """Return w of Eq. (1), (c,), summing to 1.

    Parameters
    ----------
    candidates : list of Candidate
    support : array (p,) of the starts
    k, m : int, numbers of clusters and of constraints
    share : float, of `share_told`
    """
    if candidates[0].held_out is None:
        return np.ones(1)
    score = np.array([one.held_out.mean() for one in candidates])
    total = SHARPNESS * (m * score + support[[one.start for one in candidates]])
    preference = PREFERENCE * (1 + np.log2(max(k, MANY) / MANY)) * (1 - share)
    total += preference * np.log([one.penalty / PENALTIES[0] for one in candidates])
    w = np.exp(total - total.max())
    w[w < LEAST_WEIGHT] = 0
    return w / w.sum()


def matching(q, reference):
    """Return the columns of q (n, k) in the order of the clusters of a reference (n, k)."""
    return linear_sum_assignment(to_host(reference.T @ q), maximize=True)[1]


def members_of(problem, starts, implied, candidates, weights):
    """Return the Members: candidates of positive weight, fitted to all constraints, matched."""
    counted = [one for one, weight in zip(candidates, weights, strict=True) if weight > 0]
    jobs = {}
    for pair in dict.fromkeys((one.number, one.start) for one in counted):
        number, start = pair
        lightest = min(one.penalty for one in counted if (one.number, one.start) == pair)
        path = tuple(penalty for penalty in PENALTIES if penalty >= lightest)
        jobs[pair] = Job(number, starts[start], problem.links, implied, path)
    fitted = dict(zip(jobs, fits(problem, list(jobs.values())), strict=True))
    found: list = []
    reference = None
    for one, weight in zip(counted, weights[weights > 0], strict=True):
        pair = one.number, one.start
        used = problem.sets[one.number]
        W = fitted[pair][jobs[pair].penalties.index(one.penalty)]
        q = class_probabilities(used.Z, W)
        reference = q if reference is None else reference
        found.append(Member(float(weight), used.described, W[:, matching(q, reference)]))
    return found


def pooled(members, feature_of):
    """Return the logarithm of g of Eq. (2), (n, k); feature_of gives z of a FeatureSet."""
    said = [class_probabilities(feature_of(one.features), one.W) for one in members]
    log = namespace(said[0]).log
    total = sum(one.weight * log(p + FLOOR) for one, p in zip(members, said, strict=True))
    return door(total).log_softmax(total)


def _with_co_training(g, f, weight):
    """Return the logarithm of g and f together, Eq. (4), floored."""
    xp = namespace(g)
    both = xp.log(xp.exp(g) + FLOOR) + weight * xp.log(door(f).softmax(f) + FLOOR)
    return both / (1 + weight)


def starts_among(partitions, belief, *, enough):
    """Return (starts, belief in each): all partitions; with enough bits told, linkages besides."""
    starts = [one._replace(linkage=None) for one in partitions]
    if not enough:  # so few constraints would merge islands by chance
        return starts, belief
    linked = [i for i, one in enumerate(partitions) if one.linkage is not None]
    starts += [partitions[i]._replace(name=f"constrained {partitions[i].name}") for i in linked]
    return starts, np.concatenate((belief, belief[linked]))


class Weighed(NamedTuple):
    """Candidates with weights, and what they are to be fitted to."""

    problem: Problem  # of the constraints with the weights that are left to them
    implied: Constraints  # these, and what follows from them
    starts: list  # of labels (n,) by these
    judgement: Judgement
    candidates: list  # of Candidate, that of the largest weight first
    weights: np.ndarray  # (c,)


def weighed(plain, links, k, effort, *, deadline, seed, earlier):
    """Return the candidates Weighed by constraints."""
    m, share = links.n_pairs, min(1.0, share_told(links, k))
    if earlier is None:
        partitions, belief = starts_among(*plain.partitions(k), enough=share == 1)
    else:
        partitions, belief = [earlier], np.ones(1)
    judges = judges_among(links, seed)

    def dealt(count):
        return started(folds_of(judges, count, k, seed), partitions, k)

    folds = dealt(effort.folds) if m >= FEWEST else []
    few = m < RANK_MANY or effort.folds < RANK_FEWEST
    by = dealt(RANK_FOLDS) if few and share == 1 else folds
    ranked, support = rank_starts(partitions, belief, k, judges, by)
    ranked = ranked[: effort.starts if share == 1 else 1]  # less cannot tell them apart
    sets = plain.sets[: effort.sets]
    problem, every = Problem(sets, [partitions[i] for i in ranked], k, links), chained(links, k)
    starts, of_starts = with_constraints(problem.starts, k, every), from_some(folds, ranked)
    judgement = judge_all(problem, judges, of_starts, starts, effort, deadline=deadline)
    weights = weights_of(judgement.candidates, support, k, m, share)
    # models of few constraints would doubt right ones as well
    if share == 1 and not seem_right(links, ERROR, two=k == 2):
        links = doubted(links, judgement, weights)
        problem, every = problem._replace(links=links), chained(links, k)
        starts = with_constraints(problem.starts, k, every)
    best = int(np.argmax(weights))
    order = np.r_[best, np.delete(np.arange(len(weights)), best)]
    candidates = [judgement.candidates[i] for i in order]
    return Weighed(problem, every, starts, judgement, candidates, weights[order])


def by_constraints(plain, links, k, effort, *, deadline, seed, earlier=None):
    """Return the Combination of candidates weighted by the constraints, at least one."""
    share = min(1.0, share_told(links, k))
    problem, every, starts, judgement, candidates, weights = weighed(
        plain, links, k, effort, deadline=deadline, seed=seed, earlier=earlier
    )
    links = problem.links
    members = members_of(problem, starts, every, candidates, weights)
    of = {id(one.described): one.Z for one in problem.sets}
    evidence = pooled(members, lambda described: of[id(described)])
    co_trained, wrong = None, ERROR
    if links.n_pairs >= FEWEST:
        labels = namespace(evidence).argmax(evidence, axis=1)
        rounds = int(np.clip(ROUNDS[1] * links.n_pairs / len(labels), *ROUNDS))
        state = co_em(plain.models.learners, labels, k, links, rounds=rounds, error=ERROR)
        wrong = state.error
        u = weight_of_co_em(links, len(labels), k, share)
        co_trained = CoTrained(u, state.weights, state.strengths, state.labels)
        evidence = _with_co_training(evidence, state.evidence, u)
    start = starts[candidates[0].start]
    tools = door(evidence)
    t, y = trust_in_start(links, len(start), k), tools.asarray(np.eye(k), evidence)[start]
    evidence = evidence + tools.asarray(t, evidence)[:, None] * y
    score = None
    if judgement.folds:
        held_out = np.array([one.held_out for one in candidates])
        score = float(logsumexp(held_out, axis=0, b=weights[:, None]).mean())
    return Combination(
        members, co_trained, tools.softmax(evidence), wrong, score,
        judgement.chance, candidates, weights,
    )  # fmt: skip


def by_belief(plain, k):
    """Return the Combination of one: the plain partition that is believed most."""
    found, belief = plain.partitions(k)
    ranked = np.argsort(-belief, kind="stable")
    labels = found[ranked[0]].labels
    soft = np.full((k, k), (1 - CERTAIN) / k) + CERTAIN * np.eye(k)  # of every label
    first = plain.sets[0]
    return Combination(
        members=[Member(1.0, first.described, start_weights(first.Z, labels, k))],
        co_trained=None,
        soft=door(labels).asarray(soft, labels)[labels],
        wrong=0.0,
        score=None,
        chance=None,
        candidates=[(found[i].name, float(belief[i])) for i in ranked],
        weights=(np.arange(len(found)) == 0).astype(float),
    )


def combine(plain, links, k, effort, *, deadline, seed, earlier=None):
    """Return the Combination: by constraints, or by belief in partitions if there are none.

    Parameters
    ----------
    plain : Plain
    links : Constraints between points of the sample
    k : int
    effort : Effort
    deadline : float, time.perf_counter() from which on no further candidate is judged
    seed : int
    earlier : Partition of the sample to start from first, or None
    """
    if links:
        return by_constraints(
            plain, links, k, effort, deadline=deadline, seed=seed, earlier=earlier
        )
    return by_belief(plain, k)


def soft_labels(models, members, co_trained, seen):
    """Return soft labels (q, k) of new points that are Seen by the models."""
    placed = place_points(models, seen)
    sets = {one.features.name: one.features for one in members}  # several members share one
    of = {name: features(described, placed) for name, described in sets.items()}
    evidence = pooled(members, lambda described: of[described.name])
    tools, f = door(evidence), 0 * evidence
    if co_trained is None:
        return tools.softmax(evidence)
    for v in np.flatnonzero(co_trained.weights > 0):
        said = predict_classes(
            models.learners[v], co_trained.strengths[v], co_trained.labels, placed[v]
        )
        f += float(co_trained.weights[v]) * log_probabilities(said)
    return tools.softmax(_with_co_training(evidence, f, co_trained.weight))
