"""Candidates combined by weight, and new points placed by the combination.

    (2)  w_c ~ exp(B m (l_c - max l)),   m constraints, l_c of Eq. (1) of ``judging``

With B = 1, Eq. (2) would be the posterior of candidates that are independent witnesses. They are
not, so B is less. With few constraints all candidates count about alike, with many the best one.
Clusters are matched to those of the best candidate by the Hungarian method before soft labels are
averaged.

Without constraints the partition that agrees most with all others, by the adjusted Rand index, is
taken.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import softmax

from linkwise.choice.judging import SCORED_ERROR, Candidate, judge_all
from linkwise.choice.sample_models import place_points
from linkwise.choice.starts import plain_start
from linkwise.class_models import (
    Smoother,
    agreements,
    log_probabilities,
    plain_partitions,
    predict_classes,
)
from linkwise.class_models.co_training import TOTAL

SHARPNESS = 0.2  # B; chosen on the development sets. Stacking, which has no B, was no better
LEAST_WEIGHT = 0.02  # of the largest: lighter candidates change no label, but slow predict down
SURE = 0.95  # probability of a partition's own label when there are no constraints: nearly sure


class Member(NamedTuple):
    """One candidate in the combination."""

    weight: float
    order: np.ndarray  # its clusters in the order of the combination's
    learner_weights: np.ndarray  # (v,)
    strengths: list
    labels: np.ndarray  # (n, k) soft labels that the learners were fitted to


class Combination(NamedTuple):
    """What was found on the sample."""

    members: list  # of Member, the candidates that count
    soft: np.ndarray  # (n, k) labels by the features alone
    wrong: float  # share of wrong constraints
    score: float | None  # mean log-likelihood of constraints not used
    chance: float | None  # the same if only the share of must-links is known
    candidates: list  # of Candidate, best first, those that were given up last
    weights: np.ndarray  # of the candidates


def weights_of(candidates):
    """Return w of Eq. (2), (c,), summing to 1; equal weights if nothing was held out."""
    if any(one.held_out is None for one in candidates):
        return np.full(len(candidates), 1 / len(candidates))
    total = np.array([one.held_out.sum() for one in candidates])
    w = np.exp(SHARPNESS * (total - total.max()))
    w[w < LEAST_WEIGHT] = 0
    return w / w.sum()


def matching(q, reference):
    """Return the columns of q (n, k) in the order of the clusters of a reference (n, k)."""
    return linear_sum_assignment(reference.T @ q, maximize=True)[1]


def average(parts, weights, orders):
    """Return the weighted mean of soft labels, the columns of each put in its order."""
    return sum(w * q[:, order] for q, w, order in zip(parts, weights, orders, strict=True))


def chance_score(links):
    """Return the mean log-likelihood of constraints if only the share of must-links is known."""
    share = np.clip((links.sign > 0).mean(), SCORED_ERROR, 1 - SCORED_ERROR)
    return float(share * np.log(share) + (1 - share) * np.log(1 - share))


def by_constraints(models, links, k, effort, *, budget, seed):
    """Return the Combination of candidates weighted by the constraints, at least one."""
    kept, given_up = judge_all(models, links, k, effort, budget=budget, seed=seed)
    weights = weights_of(kept)
    parts = [softmax(one.state.evidence, axis=1) for one in kept]
    orders = [matching(part, parts[0]) for part in parts]
    members = [
        Member(float(w), order, one.state.weights, one.state.strengths, one.state.labels)
        for one, w, order in zip(kept, weights, orders, strict=True)
        if w > 0
    ]
    judged = kept[0].held_out is not None
    mixed = np.log(weights @ np.exp([one.held_out for one in kept])).mean() if judged else None
    return Combination(
        members=members,
        soft=average(parts, weights, orders),
        wrong=float(weights @ [one.state.error for one in kept]),
        score=None if mixed is None else float(mixed),
        chance=chance_score(links) if judged else None,
        candidates=kept + given_up,
        weights=np.concatenate((weights, np.zeros(len(given_up)))),
    )


def by_consensus(models, k, seed):
    """Return the Combination of one: the plain partition that agrees most with the others."""
    views, learners = models.views, models.learners
    found = [one for one in plain_partitions(views, learners, k, seed) if not one.fine]
    agreement = agreements(found)
    ranked = np.argsort(-agreement, kind="stable")
    labels = found[ranked[0]].labels
    soft = np.full((len(labels), k), (1 - SURE) / k)
    soft[np.arange(len(labels)), labels] += SURE
    strengths = [len(one.shrink) // 2 if isinstance(one, Smoother) else None for one in learners]
    learner_weights = np.full(len(learners), TOTAL / len(learners))
    member = Member(1.0, np.arange(k), learner_weights, strengths, soft.astype(np.float32))
    return Combination(
        members=[member],
        soft=soft,
        wrong=0.0,
        score=None,
        chance=None,
        candidates=[
            Candidate(plain_start(found[i]), agreement=float(agreement[i])) for i in ranked
        ],
        weights=(np.arange(len(found)) == 0).astype(float),
    )


def combine(models, links, k, effort, *, budget, seed):
    """Return the Combination: by constraints, or by consensus if there are none.

    Parameters
    ----------
    models : SampleModels
    links : Constraints between points of the sample
    k : int
    effort : Effort
    budget : float, seconds for the candidates
    seed : int
    """
    if links:
        return by_constraints(models, links, k, effort, budget=budget, seed=seed)
    return by_consensus(models, k, seed)


def soft_labels(models, members, X):
    """Return soft labels (q, k) of new points X."""
    placed = place_points(models, X)
    parts = []
    for member in members:
        evidence = np.zeros((X.shape[0], member.labels.shape[1]))
        for v in np.flatnonzero(member.learner_weights > 0):
            f = predict_classes(models.learners[v], member.strengths[v], member.labels, placed[v])
            evidence += member.learner_weights[v] * log_probabilities(f)
        parts.append(softmax(evidence, axis=1))
    weights = [member.weight for member in members]
    return average(parts, weights, [member.order for member in members]) / sum(weights)
