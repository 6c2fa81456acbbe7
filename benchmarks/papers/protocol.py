"""What the experiments share: random numbers, constraints, starts, scores.

The random numbers of a cell depend only on its names (paper, set, draw), so figures are the same in
any order and on any number of processes. The papers run k-means from a single start of random rows
and report the mean over several starts; the figure of the start of least inertia, which a user
would take, is given beside it.

    (1)  sigma in r {.1, .325, .55, .775, 1, 3.25, 5.5, 7.75, 10}   the nine graphs of CCSKL
    (2)  s = p (k + k (k - 1) / 2)                       class-balanced: p pairs for every class and
                                                         for every two classes
    (3)  s = rate N (N - 1) / 2                          a rate is a share of all pairs
"""

import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np

from benchmarks.runs.cells import in_short, rounded
from linkwise.constraints import Constraints, sample_pairs
from linkwise.evaluate import adjusted_rand_index, untouched

SIGMAS = (0.1, 0.325, 0.55, 0.775, 1.0, 3.25, 5.5, 7.75, 10.0)  # Eq. (1), times r
FEWEST = 20  # untouched points that agreement is taken on


class Source(NamedTuple):
    """A set of an experiment: the file it is made from, and how."""

    title: str
    file: str | None  # name for `datasets.load`; None for points made here
    pick: Any = None  # function (arrays) -> {name: array}; None for X and y as they are
    note: str = ""  # what is not as in the paper


class Effort(NamedTuple):
    """How often things are repeated."""

    draws: int
    starts: int  # of k-means, whose mean the papers report
    quick: bool


def job_of(paper, name, part, draw, effort, cost, **more):
    """Return a job: one cell of a paper; the cost is about milliseconds with few draws."""
    known = {"paper": paper, "set": name, "part": part, "draw": draw, "quick": effort.quick}
    return known | {"cost": cost} | more


def rng_of(*names):
    """Return the random numbers that belong to some names.

    >>> bool(rng_of("a", 1).integers(100) == rng_of("a", 1).integers(100))
    True
    """
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def seed_of(*names):
    """Return a seed that belongs to some names."""
    return int(rng_of(*names).integers(2**31 - 1))


def balanced_number(p, k):
    """Return the number of class-balanced constraints, Eq. (2).

    >>> balanced_number(20, 10), balanced_number(200, 10)
    (1100, 11000)
    """
    return p * (k + k * (k - 1) // 2)


def pairs_at_rate(rate, n):
    """Return the number of pairs that a rate stands for, Eq. (3).

    >>> pairs_at_rate(0.01, 80)
    32
    """
    return round(rate * n * (n - 1) / 2)


def split(n, share, rng):
    """Return a mask of the rows that constraints are drawn among, a share of all."""
    mask = np.zeros(n, dtype=bool)
    mask[rng.permutation(n)[: round(share * n)]] = True
    return mask


def draw(y, n_pairs, rng, *, scheme="uniform", rows=None):
    """Return constraints on row numbers, answered by the classes; at most as many as there are."""
    if n_pairs == 0:
        return Constraints()
    if scheme == "uniform":
        m = len(y) if rows is None else int(np.count_nonzero(rows))
        n_pairs = min(n_pairs, m * (m - 1) // 2)
    return sample_pairs(y, n_pairs, scheme=scheme, rows=rows, random_state=rng).resolve(n=len(y))


def single_starts(Z, k, starts, seed):
    """Return the labels of several k-means runs from random rows, and their inertia."""
    from sklearn.cluster import KMeans

    runs = [KMeans(k, init="random", n_init=1, random_state=seed + i).fit(Z) for i in range(starts)]
    return [run.labels_ for run in runs], [run.inertia_ for run in runs]


def kept_share(labels, links):
    """Return the share of constraints that labels keep, 1 without any."""
    return 1 - float(links.violated(labels).mean()) if links else 1.0


def of_untouched(y, labels, links):
    """Return {"untouched": adjusted Rand index} on points that no constraint touches, if enough."""
    silent = untouched(links, len(y)) if links else np.ones(len(y), dtype=bool)
    if silent.sum() < FEWEST:
        return {}
    return {"untouched": adjusted_rand_index(y, labels, rows=silent)}


def of_starts(y, runs, links, measure):
    """Return the mean over starts of a measure, and what the start of least cost has.

    Parameters
    ----------
    runs : (labels of each start, cost of each start)
    measure : function (y, labels) -> number
    """
    runs, costs = runs
    best = runs[int(np.argmin(costs))]
    found = [measure(y, labels) for labels in runs]
    return {
        "mean": float(np.mean(found)),
        "least": measure(y, best),
        "kept": kept_share(best, links),
        **of_untouched(y, best, links),
    }


def attempt(function, **known):
    """Return what is known and the figures of a function, or why there are none."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            figures = function()
    except Exception as error:
        figures = {"failed": in_short(error)}
    return known | rounded(figures)
