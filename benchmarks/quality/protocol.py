"""The rules of the quality benchmark: points, pairs, scores.

A set has two forms: whole, up to WHOLE_ROWS rows, and a fixed sample of SAMPLE_ROWS of them. A set
of at most SAMPLE_ROWS rows is always whole. Every entrant says which form it takes.

In every draw a share HELD of the n points of a form is held back: no pair touches them. Distinct
pairs of the others are drawn uniformly, and every budget is the first of them. The classes answer a
pair, and a share of the answers is made wrong. A budget is named by

    n/10 n/4 n/2 n 2n     pairs for n points, in forms of at most LARGE points
    1000 5000 10000       pairs, in larger forms
    0 1 2 ... 200         pairs, where few answers or texts are studied
    labels                all pairs of LABELLED rows of each class but one

The random numbers of a draw depend only on the name of the set and the number of the draw. Every
method gets the same pairs, in any order and on any number of processes. Features are as given,
except that counts of words become TF-IDF (sublinear) and then TEXT_COLUMNS singular vectors with
rows of length 1, and that integers of large sets become float32.
"""

import zlib
from typing import Any, NamedTuple

import numpy as np

from benchmarks.quality.texts import TOPICS, topics
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

VERSION = 2  # of these rules
HELD = 0.3
WHOLE, SAMPLE = "whole", "sample"  # forms of a set
WHOLE_ROWS, SAMPLE_ROWS = 60_000, 1_500
LARGE = 10_000  # rows, above which budgets are numbers: n pairs would be more than anybody answers
SHARES = ("n/10", "n/4", "n/2", "n", "2n")
NUMBERS = ("1000", "5000", "10000")
MEAN = ("n/4", "n/2", "n", *NUMBERS)  # the budgets that a mean over budgets is over
NONE, LABELS = "0", "labels"
FEW = ("1", "2", "3", "5", "10", "15")
FEW_WRONG = ("10", "20", "40")  # with wrong answers
TEXT = (NONE, "80", "200")
LABELLED = 3  # rows of a class
WRONG = (0.0, 0.1)  # shares of wrong answers
BUDGETS = tuple(dict.fromkeys((NONE, *FEW, *FEW_WRONG, LABELS, *TEXT, *SHARES, *NUMBERS)))
RULES = (VERSION, HELD, WHOLE_ROWS, SAMPLE_ROWS, LARGE, LABELLED, WRONG)  # others are refused
DEVELOPMENT = (  # sets that were looked at while the rules of the library were chosen
    "iris", "wine", "wdbc", "glass", "ecoli", "dermatology", "vowel", "protein", "hepatitis",
    "sonar", "ionosphere", "yale_32x32", "digits", "mnist_test", "mnist_train", "scene8_119d",
    "usps", "newsgroups20_counts", "orl_32x32", "yaleb_ext_32x32", "wisconsin", "led7digit",
    "twonorm", "ring", "spambase", "phoneme", "segment", "vehicle", "optdigits",
)  # fmt: skip
IMAGES = (  # sets of pixels
    "digits", "usps", "mnist_test", "mnist_train", "yale_32x32", "orl_32x32", "yaleb_ext_32x32",
)  # fmt: skip
TEXTS = ("newsgroups20_counts", *TOPICS)
BESIDE = ("mnist_train", *TOPICS)  # sets shown by themselves: means over sets leave them out


class Forms(NamedTuple):
    X: np.ndarray  # (n, d) floating, the whole
    y: np.ndarray  # (n,) classes 0 ... k - 1
    sample: np.ndarray  # rows of the sample, in order; all rows of a small set


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
    y: np.ndarray | None = None  # the classes, for the upper marks alone
    held: np.ndarray | None = None  # the points held back, for the upper marks alone
    device: str | None = None  # of LinkClustering


class Found(NamedTuple):
    """What a method gives back."""

    labels: np.ndarray  # (n,)
    suspects: list | None = None  # (Pair, probability that it is wrong)
    k: int | None = None  # clusters found, where it was not told


def fixed_rows(n, most):
    """Return at most so many of n rows, in order; the same ones every time."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def prepare(name, folder):
    """Return the Forms of a set."""
    X, y = topics(TOPICS.index(name)) if name in TOPICS else read_set(name, folder)
    check_shapes(X, y)
    rows = fixed_rows(len(X), WHOLE_ROWS)
    if len(rows) < len(X):
        X, y = X[rows], y[rows]
    check_finite(X)
    if len(X) > LARGE and not np.issubdtype(X.dtype, np.floating):
        X = X.astype(np.float32)  # half the memory
    return Forms(floating(X), numbered(y), fixed_rows(len(X), SAMPLE_ROWS))


def form_of(n, whole):
    """Return the form of a set of n rows for an entrant that takes it whole, or does not."""
    return WHOLE if whole or n <= SAMPLE_ROWS else SAMPLE


def in_form(X, y, sample, form):
    """Return the Points of a form; a class that a sample lacks has no number."""
    return Points(X, y) if form == WHOLE else Points(X[sample], numbered(y[sample]))


def describe(name, forms):
    """Return the description of a set."""
    return described(name, forms, RULES) | {
        "sample": len(forms.sample),
        "development": name in DEVELOPMENT,
        "counted": name not in BESIDE,
        "image": name in IMAGES,
        "text": name in TEXTS,
        "generated": name in TOPICS,
    }


def budgets_of(n):
    """Return the budgets for n points, from few pairs to many."""
    return NUMBERS if n > LARGE else SHARES


def pairs_of(budget, n):
    """Return the number of pairs of a budget; for labels that of a few answers.

    >>> [pairs_of(budget, 100) for budget in ("0", "n/10", "n", "2n", "5000")]
    [0, 10, 100, 200, 5000]
    """
    if budget == LABELS:
        return int(FEW[-1])
    times, relative, parts = budget.partition("n")
    return int(times or 1) * n // int(parts[1:] or 1) if relative else int(budget)


def in_words(budget):
    """Return a budget as a report writes it.

    >>> in_words("n/4"), in_words("5000")
    ('n/4', '5,000')
    """
    return f"{int(budget):,}" if budget.isdecimal() else budget


def labelled_pairs(y, rows, left_out, rng):
    """Return the Constraints of LABELLED of the rows of every class but one."""
    known = np.full(len(y), -1)
    for code in np.unique(y[rows]):
        if code != left_out:
            some = rng.permutation(rows[y[rows] == code])[:LABELLED]
            known[some] = code
    return Constraints.from_labels(known)


def draw_pairs(name, y, draw, budget, wrong):
    """Return the Draw of a number, a budget and a share of wrong answers."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])
    n = len(y)
    order = rng.permutation(n)
    held = np.zeros(n, dtype=bool)
    held[order[: round(HELD * n)]] = True
    rest = np.flatnonzero(~held)
    most = max(pairs_of(other, n) for other in (*budgets_of(n), *TEXT))
    most = min(most, len(rest) * (len(rest) - 1) // 2)
    ends = rest[uniform_pairs(len(rest), most, rng)]  # (most, 2)
    seed = int(rng.integers(2**31 - 1))
    if budget == LABELS:
        links = labelled_pairs(y, rest, draw % (int(y.max()) + 1), rng)
        ends = np.stack(links.resolve(n=n).arrays()[:2], axis=1)
        return Draw(held, links, ends, np.zeros(len(ends), dtype=bool), seed)

    ends = ends[: pairs_of(budget, n)]  # (m, 2)
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
        "kept": kept(labels, drawn.links).all if len(drawn.ends) else None,
    }
