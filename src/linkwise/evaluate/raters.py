"""How reliable people are who answer the same questions, and how far they agree.

The model of Dawid and Skene [1] for questions with two answers, +1 (same) and -1 (different). Item
i has a true answer t_i, and person p says the truth with a probability that depends on it:

    (1)  P(t_i = +1) = c                       share of items that are the same
    (2)  P(p says +1 | t_i = +1) = s_p         P(p says -1 | t_i = -1) = d_p
    (3)  P(t_i = +1 | answers) ~ c     prod_p  s_p or 1 - s_p
         P(t_i = -1 | answers) ~ (1-c) prod_p  1 - d_p or d_p
    (4)  s_p = (right answers of p to items that are the same + A) / (their number + A + B)

EM alternates (3) and (4). A and B say what is known about a person before any item is shared. Items
with the answer of one person only say nothing about people: they do not enter (1) and (4). O(m) an
iteration for m answers.

    (5)  w = log(s_p / (1 - d_p)) / log(A / B)     weight of an answer "same", if that is 1 for a
                                                   person about whom nothing is known
    (6)  kappa = (o - e) / (1 - e)             agreement o of two people beyond that by chance, e

[1] Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28, 1979.
"""

from typing import NamedTuple

import numpy as np

A, B = 9.0, 1.0  # a person is taken to be right nine times in ten, which ten shared items outweigh
STEPS, TOLERANCE = 200, 1e-9
LIGHTEST, HEAVIEST = 0.1, 3.0  # weights: nobody is left out, and nobody overrules many others


class Ratings(NamedTuple):
    """What answers of several people say about the items and the people.

    Attributes
    ----------
    same : array (n_items,), the probability that the answer to an item is +1
    right_same : array (n_people,), s of Eq. (2)
    right_different : array (n_people,), d of Eq. (2)
    shared : int array (n_people,), items that others have answered as well
    """

    same: np.ndarray
    right_same: np.ndarray
    right_different: np.ndarray
    shared: np.ndarray


class Agreement(NamedTuple):
    """How far two people agree: items that both answered, share of equal answers, Eq. (6)."""

    shared: int
    agreed: float
    kappa: float


def rate(item: np.ndarray, person: np.ndarray, sign: np.ndarray) -> Ratings:
    """Return the Ratings of answers by Eq. (1) to (4).

    Parameters
    ----------
    item : int array (m,), 0..n_items - 1
    person : int array (m,), 0..n_people - 1; one answer of a person to an item
    sign : int array (m,), +1 or -1

    Examples
    --------
    >>> item, person = np.repeat(np.arange(20), 3), np.tile([0, 1, 2], 20)
    >>> sign = np.where(person < 2, 1, -1)  # the third always says the opposite
    >>> found = rate(item, person, sign)
    >>> (found.right_same > 0.9).tolist()
    [True, True, False]
    """
    n, people = int(item.max(initial=-1)) + 1, int(person.max(initial=-1)) + 1
    common = np.bincount(item, minlength=n)[item] > 1  # (m,)
    yes = sign > 0
    same = np.bincount(item, yes, n) / np.maximum(np.bincount(item, minlength=n), 1)
    right_same = right_different = np.full(people, A / (A + B))
    for _ in range(STEPS):
        before, p = same, same[item]
        counted = np.unique(item[common])
        c = (same[counted].sum() + 1) / (len(counted) + 2)  # Eq. (1)
        right_same = _share(person, p * common, yes, people)  # Eq. (4)
        right_different = _share(person, (1 - p) * common, ~yes, people)
        s, d = right_same[person], right_different[person]
        ratio = np.log(np.where(yes, s, 1 - s)) - np.log(np.where(yes, 1 - d, d))
        odds = np.log(c / (1 - c)) + np.bincount(item, ratio, n)
        same = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))  # Eq. (3)
        if np.max(abs(same - before), initial=0) <= TOLERANCE:
            break
    shared = np.bincount(person, common, people).astype(np.intp)
    return Ratings(same, right_same, right_different, shared)


def _share(person: np.ndarray, mass: np.ndarray, right: np.ndarray, people: int) -> np.ndarray:
    """Return the share of right answers of each person, Eq. (4)."""
    total, good = (np.bincount(person, mass * part, people) for part in (1, right))
    return (good + A) / (total + A + B)


def answer_weights(ratings: Ratings, person: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Return the weight of each answer (m,), Eq. (5); 1 for people about whom nothing is known."""
    s, d = ratings.right_same[person], ratings.right_different[person]
    odds = np.where(sign > 0, np.log(s / (1 - d)), np.log(d / (1 - s)))
    return np.clip(odds / np.log(A / B), LIGHTEST, HEAVIEST)


def agreement(first: np.ndarray, second: np.ndarray) -> Agreement:
    """Return the Agreement of two people by their answers (m,), +1 or -1, to the same items.

    >>> agreement(np.array([1, 1, -1, -1]), np.array([1, 1, -1, 1]))
    Agreement(shared=4, agreed=0.75, kappa=0.5)
    """
    if not len(first):
        return Agreement(0, float("nan"), float("nan"))
    observed = float((first == second).mean())
    p, q = float((first > 0).mean()), float((second > 0).mean())
    chance = p * q + (1 - p) * (1 - q)
    kappa = 1.0 if chance == 1 else (observed - chance) / (1 - chance)
    return Agreement(len(first), observed, round(kappa, 12))
