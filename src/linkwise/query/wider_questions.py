"""Questions wider than a pair: the cluster of a row, and the rows of a set that do not belong.

    label  "Which of these is it like?"            a row, and a typical member of each cluster
    set    "Which of these do not belong?"         a typical member, and rows taken to be with it

Each is worth the information that its answer is expected to give, in bits, for the time that it
takes, in pairs. p_iz is the probability that row i belongs to neighbourhood z, and H the entropy:

    (1)  pair   H(p_iz, 1 - p_iz)          / 1          z the likeliest neighbourhood
    (2)  label  H(p_i1, ..., p_il, rest)   / (1 + (l - 2) LABEL)
    (3)  set    sum_i H(p_iz, 1 - p_iz)    / (rows SET)

The row of a label question is that of the pair to ask next. The rows of a set question are those of
a neighbourhood whose answers tell most. O(r k) for r rows.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from linkwise.query.model import Context, Question
from linkwise.query.neighbourhoods import Neighbourhoods, neighbourhoods_of, typical

ANCHORS = 9  # clusters to choose from at most: one key each
ROWS = 5  # of a set, besides the typical member: as many as a person compares at a glance
LABEL, SET = 0.2, 0.5  # time to look at one more row, in pairs: less in a set, where rows are alike


def label_time(anchors: int) -> float:
    """Return the time of a label question, in pairs: the divisor of Eq. (2)."""
    return 1 + (anchors - 2) * LABEL


def set_time(rows: int) -> float:
    """Return the time of a set question, in pairs: the divisor of Eq. (3)."""
    return rows * SET


class LabelQuestion(NamedTuple):
    """Which cluster a row belongs to.

    Attributes
    ----------
    row : int
    anchors : list of int, a typical member of each cluster, the likeliest first
    reason : str
    worth : float, bits for the time of a pair
    """

    row: int
    anchors: list[int]
    reason: str
    worth: float

    @property
    def time(self) -> float:
        """How long an answer takes, in pairs."""
        return label_time(len(self.anchors))


class SetQuestion(NamedTuple):
    """Which rows of a set do not belong to it.

    Attributes
    ----------
    rows : list of int, the first is a typical member of the cluster
    reason : str
    worth : float, bits for the time of a pair
    """

    rows: list[int]
    reason: str
    worth: float

    @property
    def time(self) -> float:
        """How long an answer takes, in pairs."""
        return set_time(len(self.rows))


def entropy(p: np.ndarray) -> np.ndarray:
    """Return the entropy of probabilities (..., l), in bits.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    return -(p * np.log2(np.maximum(p, 1e-300))).sum(axis=-1) + 0.0


def in_or_out(p: np.ndarray) -> np.ndarray:
    """Return the entropy of "in" with probability p (...), in bits."""
    return entropy(np.stack((p, 1 - p), axis=-1))


def pair_worth(sets: Neighbourhoods, question: Question) -> float:
    """Return the worth of a pair, Eq. (1)."""
    at = np.searchsorted(sets.rows, question.a)
    z = [place for place, members in enumerate(sets.members) if question.b in members]
    return float(in_or_out(sets.p[at, z[0]])) if z else 1.0


def label_question(
    context: Context, sets: Neighbourhoods, question: Question
) -> LabelQuestion | None:
    """Return the question for the cluster of the first row of a pair; None without a choice."""
    i = int(np.searchsorted(sets.rows, question.a))
    anchors: list[int] = []
    p: list[float] = []
    for z in np.argsort(-sets.p[i], kind="stable"):
        members = [m for m in typical(context, sets, z) if context.may_ask(question.a, m)]
        if members and len(anchors) < ANCHORS:
            anchors.append(members[0])
            p.append(float(sets.p[i, z]))
    if len(anchors) < 2:
        return None
    outcomes = np.array([*p, max(1 - sum(p), 0.0)])
    bits = float(entropy(outcomes / outcomes.sum()))
    reason = "Its cluster is in doubt; to choose among all tells more than one comparison."
    return LabelQuestion(question.a, anchors, reason, bits / label_time(len(anchors)))


def set_question(context: Context, sets: Neighbourhoods) -> SetQuestion | None:
    """Return the set of rows whose answers tell most; None if there is none of three or more."""
    bits = np.where(sets.free, in_or_out(np.clip(sets.p, 0, 1)), 0)
    bits[sets.p.argmax(axis=1)[:, None] != np.arange(sets.p.shape[1])] = 0  # likeliest alone
    best: tuple[float, list[int]] | None = None
    for z in range(len(sets.members)):
        anchor = next((m for m in typical(context, sets, z) if not context.known.is_aside(m)), None)
        order = np.argsort(-bits[:, z], kind="stable")[: 4 * ROWS]
        chosen: list[int] = []
        total = 0.0
        for i in order.tolist():
            row = int(sets.rows[i])
            if len(chosen) == ROWS or not bits[i, z]:
                break
            if anchor is not None and context.may_ask(row, anchor) and _apart(context, row, chosen):
                chosen.append(row)
                total += float(bits[i, z])
        if anchor is not None and len(chosen) > 1 and (best is None or total > best[0]):
            best = total, [anchor, *chosen]
    if best is None:
        return None
    reason = "These are taken to be one cluster, and are the least certain members of it."
    return SetQuestion(best[1], reason, best[0] / set_time(len(best[1])))


def _apart(context: Context, row: int, others: list[int]) -> bool:
    """Tell whether nothing is known about a row and others, none of which it is identical to."""
    return all(context.may_ask(row, other) for other in others)


def wider_question(context: Context, question: Question) -> LabelQuestion | SetQuestion | None:
    """Return the question that tells more than a pair for the time it takes, or None."""
    if not np.isin(question[:2], context.model.rows).all():
        return None  # drawn at random from all rows, when those of the model are all settled
    sets = neighbourhoods_of(context, question.b)
    both = label_question(context, sets, question), set_question(context, sets)
    best = max((one for one in both if one), key=lambda one: one.worth, default=None)
    return best if best and best.worth > pair_worth(sets, question) else None


def set_pairs(rows: list[int], out: list[int]) -> list[tuple[int, int, bool]]:
    """Return the pairs (a, b, same) that an answer to a set question means.

    The rows that belong are one group. Each of the others is apart from some of these.

    >>> set_pairs([0, 1, 2, 3], [2])
    [(0, 1, True), (1, 3, True), (2, 0, False)]
    """
    kept = [row for row in rows if row not in out]
    together = [(a, b, True) for a, b in pairwise(kept)]
    return together + [(row, kept[i % len(kept)], False) for i, row in enumerate(out) if kept]
