"""The claims of the papers, in our words, and whether the run confirms them.

A claim is a list of cases, each of which holds or not by the figures. The verdict follows from the
share of cases that hold and the share that the words of the claim ask for:

    reproduced   share >= need           "all" asks for .9, "most" for more than half
    partly       share >= need / 2
    not          less
    not measured no case: the sets are missing

A case in which one method is said to be better holds if it is ahead by more than TIE.
"""

from typing import NamedTuple

import numpy as np

TIE = 0.005  # difference below which two methods tie
ALL, MOST, SOME = 0.9, 0.51, 0.2
COMPARABLE = 0.05  # difference of errors
CLEAR = 0.1  # rise of the Rand index that is called quick
MUCH = 10  # times, of seconds
PERFECT = 0.999


class Case(NamedTuple):
    name: str
    holds: bool


class Claim(NamedTuple):
    paper: str
    words: str
    column: str  # "paper" or "free", whose figures it is judged by; "" where there is no choice
    cases: tuple  # of Case
    need: float
    figures: str  # the measured ones in words

    @property
    def share(self):
        return sum(case.holds for case in self.cases) / len(self.cases) if self.cases else 0.0

    @property
    def verdict(self):
        """Return the verdict in a word.

        >>> Claim("p", "w", "", (Case("a", True), Case("b", False)), 0.9, "").verdict
        'partly'
        """
        if not self.cases:
            return "not measured"
        if self.share >= self.need:
            return "reproduced"
        return "partly" if self.share >= self.need / 2 else "not"

    def held(self):
        """Return how many cases hold, in words."""
        return f"{sum(case.holds for case in self.cases)} of {len(self.cases)}"


def ahead(a, b, *, lowest=False):
    """Return whether a is better than b by more than TIE; lowest: less is better."""
    return (b - a if lowest else a - b) > TIE


def mean_of(values):
    """Return the mean of the values that there are, NaN without any."""
    values = [value for value in values if value is not None and np.isfinite(value)]
    return float(np.mean(values)) if values else float("nan")


def number(value, digits=3):
    """Return a figure as it is shown."""
    return f"{value:.{digits}f}"


def means(shelf, paper, names, methods, column, measure, *, least=1):
    """Return the mean of each method over sets and numbers, in words."""
    parts = []
    for method in methods:
        found = [shelf.get(paper, name, method, column, measure) for name in names]
        values = [s.over(least) for s in found if s is not None]
        if values:
            parts.append(f"{method} {number(mean_of(values))}")
    return ", ".join(parts)


def paired(shelf, paper, names, first, second, column, measure, *, least=1):
    """Yield (set, at, value of first, value of second) wherever both have one."""
    for name in names:
        a, b = (shelf.get(paper, name, m, column, measure) for m in (first, second))
        if a is None or b is None:
            continue
        for at in a.at:
            if at >= least and at in b.at:
                yield name, at, a.value(at), b.value(at)
