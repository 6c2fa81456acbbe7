"""The standing of methods: means over sets, differences, ranks.

    (1)  s_ma = mean over budgets of the mean over draws     method m, set a
    (2)  mean over sets of s_ma - s_ra, its standard error over sets, against a reference r
    (3)  mean over sets of the rank of m, 1 for the best, ties shared

All sets have the same weight, whatever their size. The error of (2) is over sets: how much another
choice of sets would change the mean. Two methods differ if Wilcoxon's signed-rank test over sets
rejects equality at LEVEL after Holm's correction for the number of pairs compared. This is the test
of Demsar (2006) with the comparison of pairs that Benavoli et al. (2016) advise instead of
Nemenyi's, which depends on the other methods in the picture. A failed fit counts as agreement 0.
"""

from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.entrants import CHOOSER
from benchmarks.quality.protocol import MEAN, SAMPLE_ROWS

LEVEL = 0.05
TIE = 0.005  # difference of agreement below which two methods tie on a set
FIGURES = ("untouched", "all", "kept", "seconds", "auc")
COMPARED = ("classical", "plain", "peer", "chooser")  # kinds; all run in all settings


class Difference(NamedTuple):
    mean: float
    error: float  # standard error over sets, NaN for a single set
    wins: int
    ties: int
    losses: int
    p: float  # by Wilcoxon's test, not corrected


class Best(NamedTuple):
    score: float
    method: str


def figure(record, name):
    """Return a figure of a cell, None where it has none; the agreement of a failure is 0."""
    if "failed" in record:
        return 0.0 if name in ("untouched", "all") else None
    return record.get(name)


def summary(records):
    """Return {figure: {(budget, wrong): {(method, set, form): mean over draws}}}."""
    found: dict = {name: {} for name in FIGURES}
    for record in records:
        setting = (record["budget"], record["wrong"])
        key = (record["method"], record["set"], record["form"])
        for name, means in found.items():
            value = figure(record, name)
            if value is not None:
                means.setdefault(setting, {}).setdefault(key, []).append(value)
    return {
        name: {
            setting: {key: fmean(values) for key, values in rows.items()}
            for setting, rows in means.items()
        }
        for name, means in found.items()
    }


def counted(results):
    """Return the names of the sets that means are over."""
    return [data["name"] for data in results["sets"] if data["counted"]]


def by_set(results, name="untouched", *, wrong=0.0, budget=None, form=None, sets=None):
    """Return {method: {set: mean}}, Eq. (1), or of one budget; results have "means".

    Parameters
    ----------
    form : "whole", "sample" or None for any; a small set has one form, which is both
    sets : names of sets; default those that means are over
    """
    small = {data["name"] for data in results["sets"] if data["n"] <= SAMPLE_ROWS}
    wanted = set(counted(results) if sets is None else sets)
    budgets = MEAN if budget is None else (budget,)
    found: dict = {}
    for pairs in budgets:
        for (method, data, taken), value in results["means"][name].get((pairs, wrong), {}).items():
            if data in wanted and (form in (None, taken) or data in small):
                found.setdefault(method, {}).setdefault(data, []).append(value)
    return {
        method: {data: fmean(values) for data, values in rows.items()}
        for method, rows in found.items()
    }


def with_wrong(results):
    """Return the results with means over the draws that have wrong answers at those budgets."""
    names = ("method", "set", "form", "draw")
    some = {tuple(r[name] for name in names) for r in results["records"]
            if r["wrong"] and r["budget"] in MEAN}  # fmt: skip
    records = [r for r in results["records"] if tuple(r[name] for name in names) in some]
    return results | {"records": records, "means": summary(records)}


def overall(scores, sets=None):
    """Return {method: mean over sets}, over those named if any are."""
    found = {}
    for method, rows in scores.items():
        values = [value for data, value in rows.items() if sets is None or data in sets]
        if values:
            found[method] = fmean(values)
    return found


def of_kind(results, *kinds):
    """Return the names of the methods of some kinds."""
    return [name for name, kind in results["methods"].items() if kind in kinds]


def best_of(scores, names):
    """Return {set: Best} among some methods: what hindsight would have chosen."""
    sets = {data for name in names for data in scores.get(name, ())}
    return {
        data: max(
            (Best(scores[name][data], name) for name in names if data in scores.get(name, ())),
            key=lambda best: best.score,
        )
        for data in sets
    }


def best_single(results, scores):
    """Return the classical method of highest mean over sets, None if there is none."""
    mean = overall({name: scores[name] for name in of_kind(results, "classical") if name in scores})
    return max(mean, key=lambda name: mean[name], default=None)


def reference(results, scores):
    """Return the method that others are compared with: LinkClustering, or else the best single."""
    return CHOOSER if CHOOSER in scores else best_single(results, scores)


def signed_rank(difference):
    """Return the p-value of Wilcoxon's signed-rank test, differences of zero shared."""
    difference = np.asarray(difference)
    if not difference.any():
        return 1.0
    return float(wilcoxon(difference, zero_method="zsplit", method="approx").pvalue)


def difference(own, other):
    """Return the Difference of two {set: score} over the sets that both have, None without any."""
    sets = sorted(set(own) & set(other))
    if not sets:
        return None
    gap = np.array([own[data] - other[data] for data in sets])
    error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else float("nan")
    wins, losses = int((gap > TIE).sum()), int((gap < -TIE).sum())
    rounded = np.round(gap, 9)  # means of the same figures may differ in the last bits
    return Difference(
        float(gap.mean()), float(error), wins, len(gap) - wins - losses, losses,
        signed_rank(rounded),
    )  # fmt: skip


def holm(p):
    """Return p-values corrected for their number by Holm's method.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty_like(p)
    out[order] = np.minimum(steps, 1)
    return out


class Ranks(NamedTuple):
    names: list  # best first
    mean: np.ndarray  # Eq. (3)
    groups: list  # (first, last) in names, within which no two methods differ
    sets: int


def ranks(scores, names):
    """Return the Ranks of methods, over the sets that all of them have."""
    sets = sorted(set.intersection(*(set(scores[name]) for name in names)))
    table = np.round([[scores[name][data] for name in names] for data in sets], 9)  # (sets, names)
    mean = rankdata(-table, axis=1).mean(axis=0)
    order = np.argsort(mean, kind="stable")
    table = table[:, order]

    pairs = list(combinations(range(len(names)), 2))
    p = holm([signed_rank(table[:, i] - table[:, j]) for i, j in pairs])
    apart = {pair for pair, value in zip(pairs, p, strict=True) if value < LEVEL}
    groups: list = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and all(
            (i, last + 1) not in apart for i in range(first, last + 1)
        ):
            last += 1
        if last > first and (not groups or groups[-1][1] < last):
            groups.append((first, last))
    return Ranks([names[i] for i in order], mean[order], groups, len(sets))
