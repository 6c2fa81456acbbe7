"""What to believe about the labels: candidates tried, judged and put together.

With answers, candidates from every start are judged by answers held out, first by a part of
them, those that look best by all, and combined by Eq. (2) of ``combine``. Without, the
partition that agrees most with all others, by the adjusted Rand index, is taken.
"""

import time
from typing import Any, NamedTuple

import numpy as np

from linkwise.blocks.progress import Progress
from linkwise.choice.combine import (
    SCORED_ERROR,
    Candidate,
    average,
    deal,
    develop,
    judge,
    matching,
    soft_labels,
    weights_of,
)
from linkwise.choice.starts import MANY_ROWS, plain_partitions, starts
from linkwise.class_models.co_training import TOTAL
from linkwise.class_models.learners import Smoother
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
    row: dict[str, Any] = {"candidate": one.name, "weight": float(weight)}
    if one.held_out is not None:
        row["score"] = float(one.held_out.mean())
        row["error"] = float(one.held_out.std() / np.sqrt(len(one.held_out)))
        row["answers"] = len(one.held_out)
    return row | {"seconds": one.seconds, "expression": one.expression}


def candidates(views, learners, answers, k, effort, *, budget, seed):
    """Return candidates and those given up, best first, judged if there are enough answers.

    All are judged by the first fold of the answers, the best by the other folds too, and only
    these are made from all answers. ``budget`` is in seconds: half of it for the first fold, two
    candidates at least.
    """
    every = starts(views, learners, k, effort, seed)
    work = {"learners": learners, "k": k, "rounds": effort.rounds}
    clock = time.perf_counter
    began = clock()
    if len(answers.sign) < FEWEST:
        states = [develop(start, answers=answers, **work) for start in every]
        named = zip(every, states, strict=True)
        return [Candidate(start.name, start.expression, s, None, 0.0) for start, s in named], []

    fold = deal(answers, min(effort.folds, len(answers.sign)), seed)
    tried: list = []
    judged = effort.judged * (1 if len(views[0].X) > MANY_ROWS else 2)
    with Progress("candidates", len(every) + judged) as progress:
        for start in every:
            if len(tried) >= 2 and clock() - began > budget / 2:
                break
            before = clock()
            first = judge(start, answers=answers, held=fold == 0, **work)
            one = Candidate(start.name, start.expression, None, first, clock() - before)
            tried.append((one, start))
            progress.advance()
        tried.sort(key=lambda pair: -pair[0].held_out.mean())
        kept: list = []
        for one, start in tried[:judged]:
            if len(kept) >= 2 and clock() - began > budget:
                break
            before = clock()
            held_out = np.empty(len(fold))
            held_out[fold == 0] = one.held_out
            for number in range(1, fold.max() + 1):
                held = fold == number
                held_out[held] = judge(start, answers=answers, held=held, **work)
            state = develop(start, answers=answers, **work)
            spent = one.seconds + clock() - before
            kept.append(one._replace(state=state, held_out=held_out, seconds=spent))
            progress.advance()
    kept.sort(key=lambda one: -one.held_out.mean())
    return kept, [one for one, _ in tried[len(kept) :]]


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
    found, given_up = candidates(views, learners, answers, k, effort, budget=budget, seed=seed)
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
        report=[_row(one, w) for one, w in zip(found, weights, strict=True)]
        + [_row(one, 0.0) for one in given_up],
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
