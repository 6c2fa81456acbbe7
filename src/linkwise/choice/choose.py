"""What to believe about the labels: candidates tried, judged and put together.

With answers, candidates are developed from every start, those that look best are judged by
answers held out, and combined by Eq. (2) of ``combine``. Without, the partition that agrees most
with all others, by the adjusted Rand index, is taken.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from linkwise.blocks.progress import Progress
from linkwise.choice.combine import (
    SCORED_ERROR,
    average,
    develop,
    judge,
    matching,
    soft_labels,
    weights_of,
)
from linkwise.choice.learners import Smoother
from linkwise.choice.pool import ERROR, TOTAL
from linkwise.choice.starts import plain_partitions, starts
from linkwise.evaluate import adjusted_rand_index

FEWEST = 4  # answers with which candidates can be judged
SURE = 0.95  # probability of the label that a partition gives, without answers


class Member(NamedTuple):
    """One candidate in the combination."""

    weight: float
    order: np.ndarray  # (k,) its clusters in the order of the first one's
    pool: np.ndarray  # (v,) weights of the learners
    strengths: list
    labels: np.ndarray  # (n, k) soft labels that the learners were fitted to


class Choice(NamedTuple):
    members: list  # of Member
    soft: np.ndarray  # (n, k) what the features say
    wrong: float  # share of wrong answers
    score: float | None  # mean log-likelihood of answers held out
    chance: float | None  # the same for one who knows the share of must-links
    report: list  # of dict, the candidates, best first
    expression: str  # the best single method


def _row(one, weight):
    row: dict[str, Any] = {"candidate": one.name, "weight": float(weight), "own": one.own}
    if one.held_out is not None:
        row["score"] = float(one.held_out.mean())
        row["error"] = float(one.held_out.std() / np.sqrt(len(one.held_out)))
    return row | {"seconds": one.seconds, "expression": one.expression}


def candidates(views, learners, answers, k, effort, *, budget, seed):
    """Return candidates, best first, judged by answers held out if there are enough.

    ``budget`` is in seconds: half of it for new candidates, half to judge them, two at least.
    """
    began = time.perf_counter()
    found: list = []
    every = starts(views, learners, k, classical=effort.classical, seed=seed)
    with Progress("candidates", len(every) + effort.judged) as progress:
        for start in every:
            if len(found) >= 2 and time.perf_counter() - began > budget / 2:
                break
            one = develop(start, learners, k, answers, rounds=effort.rounds, error=ERROR)
            found.append((one, start))
            progress.advance()
        found.sort(key=lambda pair: -pair[0].own)
        if len(answers.sign) < FEWEST:
            return [one for one, _ in found]
        judged: list = []
        for one, start in found[: effort.judged]:
            if len(judged) >= 2 and time.perf_counter() - began > budget:
                break
            before = time.perf_counter()
            held_out = judge(
                start, learners, k, answers, folds=min(effort.folds, len(answers.sign)),
                rounds=effort.rounds, error=ERROR, seed=seed,
            )  # fmt: skip
            spent = one.seconds + time.perf_counter() - before
            judged.append(one._replace(held_out=held_out, seconds=spent))
            progress.advance()
    return sorted(judged, key=lambda one: -one.held_out.mean())


def by_answers(views, learners, answers, k, effort, *, budget, seed):
    """Return the choice that answers make.

    Parameters
    ----------
    views : list of View
    learners : list of Smoother and Gaussian
    answers : Answers, at least one
    k : int
    effort : Effort
    budget : float, seconds
    seed : int
    """
    found = candidates(views, learners, answers, k, effort, budget=budget, seed=seed)
    weights, parts = weights_of(found), [soft_labels(one.state) for one in found]
    orders = [matching(part, parts[0]) for part in parts]
    members = [
        Member(float(w), order, one.state.weights, one.state.strengths, one.state.labels)
        for one, w, order in zip(found, weights, orders, strict=True)
        if w > 0
    ]
    score = chance = None
    if found[0].held_out is not None:
        score = float(np.log(weights @ np.exp([one.held_out for one in found])).mean())
        share = np.clip((answers.sign > 0).mean(), SCORED_ERROR, 1 - SCORED_ERROR)
        chance = float(share * np.log(share) + (1 - share) * np.log(1 - share))
    return Choice(
        members=members,
        soft=average(parts, weights, orders),
        wrong=float(weights @ [one.state.error for one in found]),
        score=score,
        chance=chance,
        report=[_row(one, w) for one, w in zip(found, weights, strict=True)],
        expression=next((one.expression for one in found if one.expression), ""),
    )


def by_consensus(views, learners, k, seed):
    """Return the choice without answers: the partition that agrees most with the others."""
    found = plain_partitions(views, learners, k, seed)
    names = [name for name in found if not name.startswith("fine")]
    agreement = np.array(
        [np.mean([adjusted_rand_index(found[a], found[b]) for b in names]) for a in names]
    )
    ranked = np.argsort(-agreement, kind="stable")
    labels = found[names[ranked[0]]]
    soft = np.full((len(labels), k), (1 - SURE) / k)
    soft[np.arange(len(labels)), labels] += SURE
    strengths = [len(one.shrink) // 2 if isinstance(one, Smoother) else None for one in learners]
    pool = np.full(len(learners), TOTAL / len(learners))
    report = [
        {"candidate": names[i], "agreement": float(agreement[i]), "weight": float(i == ranked[0])}
        for i in ranked
    ]
    member = Member(1.0, np.arange(k), pool, strengths, soft.astype(np.float32))
    return Choice([member], soft, 0.0, None, None, report, "")
