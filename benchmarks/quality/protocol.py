"""The rules of the quality benchmark: points, pairs, scores.

In every draw a share HELD of the n points of a set is held back: no pair touches them. Among the
others n distinct pairs are drawn uniformly; the budgets n/4 and n/2 are the first of them. The
classes answer a pair, and a share of the answers is made wrong.

The random numbers of a draw depend only on the name of the set and the number of the draw. Every
method gets the same pairs, in any order and on any number of processes. Sets above MOST_ROWS rows
are a fixed sample of them. Features are as given, except that counts of words become TF-IDF
(sublinear) and then TEXT_COLUMNS singular vectors with rows of length 1.
"""

import zlib
from typing import Any, NamedTuple

import numpy as np

from benchmarks.runs.points import (
    Points,
    check_finite,
    check_shapes,
    described,
    floating,
    numbered,
    read_set,
)
from linkwise.constraints import Constraints, uniform_pairs
from linkwise.evaluate import adjusted_rand_index, kept

VERSION = 1  # of these rules
HELD = 0.3
BUDGETS = {"n/4": 4, "n/2": 2, "n": 1}  # name: n is divided by
WRONG = (0.0, 0.1)  # shares of wrong answers
RULES = (VERSION, HELD, BUDGETS, WRONG)  # cells by other rules are refused
SETTINGS = tuple((budget, wrong) for wrong in WRONG for budget in BUDGETS)
MOST_ROWS = 1500
DEVELOPMENT = (  # sets that were looked at while the rules of the library were chosen
    "iris", "wine", "wdbc", "glass", "ecoli", "dermatology", "vowel", "protein", "hepatitis",
    "sonar", "ionosphere", "yale_32x32", "digits", "mnist_test", "scene8_119d", "usps",
)  # fmt: skip


class Draw(NamedTuple):
    held: np.ndarray  # (n,) bool, points that no pair touches
    links: Constraints
    ends: np.ndarray  # (m, 2) rows, in the order of links
    flipped: np.ndarray  # (m,) bool, wrong answers
    seed: int  # for the methods


class Task(NamedTuple):
    """What a method is given."""

    X: np.ndarray  # (n, d)
    k: int
    links: Any  # Constraints
    seed: int
    y: np.ndarray | None = None  # the classes, for the upper mark alone


class Found(NamedTuple):
    """What a method gives back."""

    labels: np.ndarray  # (n,)
    suspects: list | None = None  # (Pair, probability that it is wrong)
    k: int | None = None  # clusters found, where it was not told


def prepare(name, folder):
    """Return the Points of a set: at most MOST_ROWS rows, floating features, classes numbered."""
    X, y = read_set(name, folder)
    check_shapes(X, y)
    if len(X) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False)
        X, y = X[np.sort(rows)], y[np.sort(rows)]
    check_finite(X)
    return Points(floating(X), numbered(y))


def describe(name, points):
    """Return the description of a set."""
    return described(name, points, RULES) | {"development": name in DEVELOPMENT}


def draw_pairs(name, y, draw, budget, wrong):
    """Return the Draw of a number, a budget and a share of wrong answers."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])
    n = len(y)
    order = rng.permutation(n)
    held = np.zeros(n, dtype=bool)
    held[order[: round(HELD * n)]] = True
    rest = np.flatnonzero(~held)
    most = len(rest) * (len(rest) - 1) // 2
    ends = rest[uniform_pairs(len(rest), min(n, most), rng)]  # (n, 2)
    seed = int(rng.integers(2**31 - 1))

    ends = ends[: n // BUDGETS[budget]]  # (m, 2)
    flipped = np.zeros(len(ends), dtype=bool)
    flipped[rng.permutation(len(ends))[: round(wrong * len(ends))]] = True
    same = y[ends[:, 0]] == y[ends[:, 1]]
    sign = np.where(same ^ flipped, 1, -1)
    links = Constraints.from_table({"id_a": ends[:, 0], "id_b": ends[:, 1], "kind": sign})
    return Draw(held, links, ends, flipped, seed)


def suspicion_auc(suspects, drawn):
    """Return the area under the ROC curve of suspects, None where no answer is wrong.

    Parameters
    ----------
    suspects : list of (Pair, probability that it is wrong); a pair not in it counts as 0
    drawn : Draw
    """
    from sklearn.metrics import roc_auc_score

    if not drawn.flipped.any() or drawn.flipped.all():
        return None
    told = {frozenset(pair[:2]): float(probability) for pair, probability in suspects}
    doubt = [told.get(frozenset(pair), 0.0) for pair in drawn.ends.tolist()]
    return float(roc_auc_score(drawn.flipped, doubt))


def score(y, labels, drawn):
    """Return the agreement on the points held back and on all, and the share of answers kept."""
    return {
        "untouched": adjusted_rand_index(y, labels, rows=drawn.held),
        "all": adjusted_rand_index(y, labels),
        "kept": kept(labels, drawn.links).all,
    }
