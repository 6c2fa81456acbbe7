"""What answers do: more of them, a few of them, none; against EVoC and classifiers.

The differences of one method are of the same draws: the score with some answers less that with
others, mean over draws, for each set.
"""

from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np

from benchmarks.quality.entrants import CHOOSER, FAST, OPEN, SAME_INFORMATION, THOROUGH, ZSCORED
from benchmarks.quality.jobs import FEW_ENTRANTS
from benchmarks.quality.peers import EVOC
from benchmarks.quality.protocol import (
    FEW,
    FEW_WRONG,
    LABELS,
    LARGE,
    MEAN,
    NONE,
    NUMBERS,
    SAMPLE,
    SHARES,
    TEXT,
    WHOLE,
    WRONG,
    budgets_of,
    in_words,
)
from benchmarks.quality.standing import by_set, counted, figure, of_kind, overall, summary
from benchmarks.quality.tables import draws_of, in_shares, ranked
from benchmarks.reports.document import Table
from benchmarks.reports.numbers import gigabytes, number, share

GROWING = (CHOOSER, FAST, "CCSKL", f"CCSKL{ZSCORED}")  # that more answers are watched with
BETTER = "the better"  # of the two classifiers
COP, KMEANS = "COPKMeans", "KMeans"
# Published figures: adjusted Rand index on the training rows, other draws of as many pairs
PUBLISHED = {"mnist_train": {"SpherePair, published": {"1000": 0.83, "5000": 0.92, "10000": 0.94}}}
ANSWERS = [(budget, WRONG[0]) for budget in (*FEW, LABELS)]
ANSWERS += [(budget, WRONG[1]) for budget in FEW_WRONG]


class Worst(NamedTuple):
    value: float
    words: str  # where


def signed(x):
    """Return a difference as text."""
    return "" if x is None else f"{x:+.3f}"


def best_scaled(scores, name):
    """Return {set: score} of a method, the better of its features as given and standardised."""
    found = dict(scores.get(name, {}))
    for data, value in scores.get(name + ZSCORED, {}).items():
        found[data] = max(value, found.get(data, value))
    return found


def all_sets(results):
    """Return the names of the sets that are no generated ones."""
    return [data["name"] for data in results["sets"] if not data["generated"]]


def falls(results, method):
    """Return [Worst], how far the agreement on a set falls from a budget to the next, worst first.

    Negative values are falls.
    """
    found = []
    for fewer, more in (*pairwise(SHARES), *pairwise(NUMBERS)):
        less, then = (
            by_set(results, budget=budget, sets=all_sets(results)).get(method, {})
            for budget in (fewer, more)
        )
        found += [
            Worst(then[data] - less[data], f"{data}, {in_words(fewer)} to {in_words(more)}")
            for data in less
            if data in then
        ]
    return sorted(found)


def growth_table(results):
    """Return the table of means over the sets with budgets in shares of n."""
    sets = in_shares(results)
    columns = [overall(by_set(results, budget=b, sets=sets)) for b in SHARES]
    names = [n for n in (*GROWING, *of_kind(results, "mark")) if any(n in c for c in columns)]
    rows = []
    for name in names:
        worst = falls(results, name)
        rows.append([name, *(share(column.get(name)) for column in columns),
                     signed(worst[0].value) if worst else "", worst[0].words if worst else "",
                     f"{sum(fall.value < -0.03 for fall in worst)} of {len(worst)}"])  # fmt: skip
    return Table(["", *SHARES, "worst step", "where", "below -0.03"], rows)


def rises(results, method):
    """Return the differences of the mean over sets from one budget to the next."""
    mean = [overall(by_set(results, budget=b, sets=in_shares(results))) for b in SHARES]
    values = [column[method] for column in mean if method in column]
    return list(np.diff(values))


def large_table(results):
    """Return the table of sets above LARGE rows: agreement with 1,000 / 5,000 / 10,000 pairs."""
    sets = [data["name"] for data in results["sets"] if data["n"] > LARGE]
    columns = [by_set(results, budget=b, form=WHOLE, sets=sets) for b in NUMBERS]
    lines: dict = {}  # method: {set: agreements}
    for method in dict.fromkeys(method for column in columns for method in column):
        found = {data: [c.get(method, {}).get(data) for c in columns] for data in sets}
        if method != OPEN:
            lines[method] = {d: line for d, line in found.items() if line != [None] * len(NUMBERS)}
    mean = {
        method: np.mean([x for line in rows.values() for x in line if x is not None])
        for method, rows in lines.items()
    }
    order = ranked(mean)
    for data, methods in PUBLISHED.items():
        for method, told in methods.items():
            if data in sets:
                lines[method] = {data: [told.get(b) for b in NUMBERS]}
                order.append(method)
    rows = [
        [method, *(" / ".join(map(share, lines[method].get(data, []))) for data in sets)]
        for method in order
    ]
    return Table(["", *sets], rows if sets else [])


def against_evoc(results):
    """Return [(description, EVoC, without answers, with the fewest)] of LinkClustering on sets."""
    sets = all_sets(results)
    none = by_set(results, budget=NONE, form=WHOLE, sets=sets)
    evoc = best_scaled(none, EVOC)
    fewest = {b: by_set(results, budget=b, sets=sets) for b in (SHARES[0], NUMBERS[0])}
    found = []
    for data in results["sets"]:
        name = data["name"]
        some = fewest[budgets_of(data["n"])[0]].get(CHOOSER, {}).get(name)
        own = none.get(CHOOSER, {}).get(name)
        if name in sets and own is not None:
            found.append((data, evoc.get(name), own, some))
    return found


def none_table(results):
    """Return the table of sets without answers and with the fewest."""
    kmeans = best_scaled(by_set(results, budget=NONE, form=WHOLE, sets=all_sets(results)), KMEANS)
    rows = []
    for data, evoc, own, some in against_evoc(results):
        gaps = [None if evoc is None or x is None else x - evoc for x in (own, some)]
        rows.append([data["name"], "pixels" if data["image"] else "", share(evoc),
                     share(kmeans.get(data["name"])), share(own), signed(gaps[0]),
                     in_words(budgets_of(data["n"])[0]), share(some), signed(gaps[1])])  # fmt: skip
    return Table(["", "", EVOC, KMEANS, "no answers", f"less {EVOC}", "pairs", "with them",
                  f"less {EVOC}"], rows)  # fmt: skip


def same_information(results):
    """Return [(description, LinkClustering, {classifier: score})] at the most pairs of each set."""
    most = {budget: by_set(results, budget=budget) for budget in (SHARES[-1], NUMBERS[-1])}
    found = []
    for data in results["sets"]:
        scores = most[budgets_of(data["n"])[-1]]
        at = {name: rows[data["name"]] for name, rows in scores.items() if data["name"] in rows}
        marks = {name: at[name] for name in SAME_INFORMATION if name in at}
        if CHOOSER in at and marks:
            found.append((data, at[CHOOSER], marks | {BETTER: max(marks.values())}))
    return found


def at_least(results, mark):
    """Return (sets on which LinkClustering is at least a classifier, of how many)."""
    told = [own >= marks[mark] for _, own, marks in same_information(results) if mark in marks]
    return sum(told), len(told)


def information_table(results):
    """Return the table of LinkClustering and classifiers at the most pairs."""
    rows = [
        [data["name"], in_words(budgets_of(data["n"])[-1]), share(own),
         *(share(marks.get(name)) for name in SAME_INFORMATION), signed(own - marks[BETTER])]
        for data, own, marks in same_information(results)
    ]  # fmt: skip
    if rows:
        counts = [at_least(results, name) for name in (*SAME_INFORMATION, BETTER)]
        last = [f"{some} of {of}" for some, of in counts]
        rows.append([f"sets where {CHOOSER} is at least as good", "", "", *last])
    return Table(["", "pairs", CHOOSER, *SAME_INFORMATION, f"less {BETTER}"], rows)


def few_differences(results, method):
    """Return {(budget, wrong): {set: agreement less that without answers}} of a method."""
    small = {data["name"] for data in results["sets"] if data["sample"] == data["n"]}
    sets = set(counted(results))
    told: dict = {}
    for record in results["records"]:
        right = record["set"] in small or record["form"] == SAMPLE
        if record["method"] == method and right and record["set"] in sets:
            at = told.setdefault((record["budget"], record["wrong"]), {})
            at.setdefault(record["set"], {})[record["draw"]] = figure(record, "untouched")
    none = told.get((NONE, WRONG[0]), {})
    found: dict = {}
    for setting in ANSWERS:
        for name, draws in told.get(setting, {}).items():
            gaps = [v - none[name][d] for d, v in draws.items() if d in none.get(name, ())]
            if gaps:
                found.setdefault(setting, {})[name] = fmean(gaps)
    return found


def few_draws(results):
    """Return the number of draws of few answers."""
    draws = {r["draw"] for r in results["records"] if r["budget"] == FEW[0]}
    return len(draws)


def few_words(setting):
    """Return a number of answers in words."""
    budget, wrong = setting
    return f"{budget}, {wrong:.0%} wrong" if wrong else budget


def few_table(results):
    """Return the table of few answers: mean over sets, and the worst set, of each number."""
    found = {name: few_differences(results, name) for name in FEW_ENTRANTS}
    found = {name: by for name, by in found.items() if by}
    head, rows = [""], []
    for name in found:
        head += [name, "worst set"]
    for setting in ANSWERS:
        row = [few_words(setting)]
        for by in found.values():
            gaps = by.get(setting, {})
            worst = min(gaps, key=lambda data: gaps[data], default=None)
            row.append(signed(fmean(gaps.values())) if gaps else "")
            row.append("" if worst is None else f"{signed(gaps[worst])} {worst}")
        rows.append(row)
    return Table(head, rows if found else [])


def few_worst(results, method, *, wrong):
    """Return (Worst of the means over sets, Worst of the sets) with few answers, None if none."""
    by = {at: c for at, c in few_differences(results, method).items() if bool(at[1]) == wrong}
    if not by:
        return None
    means = [Worst(fmean(c.values()), few_words(at)) for at, c in by.items()]
    sets = [Worst(v, f"{data}, {few_words(at)}") for at, c in by.items() for data, v in c.items()]
    return min(means), min(sets)


def text_rows(results):
    """Return [(description, budget, KMeans, COPKMeans, LinkClustering)] of texts."""
    texts = [data for data in results["sets"] if data["text"]]
    names = [data["name"] for data in texts]
    columns = {b: by_set(results, budget=b, form=SAMPLE, sets=names) for b in TEXT}
    found = []
    for data in texts:
        for budget, scores in columns.items():
            at = [scores.get(m, {}).get(data["name"]) for m in (KMEANS, COP, CHOOSER)]
            if at[-1] is not None and any(x is not None for x in at[:2]):
                found.append((data, budget, *at))
    return found


def text_gap(row):
    """Return LinkClustering less the better of KMeans and COPKMeans."""
    *_, kmeans, cop, own = row
    return own - max(x for x in (kmeans, cop) if x is not None)


def text_table(results):
    """Return the table of texts."""
    rows = [
        [row[0]["name"], in_words(row[1]), *(share(x) for x in row[2:]), signed(text_gap(row))]
        for row in text_rows(results)
    ]
    return Table(["", "pairs", KMEANS, COP, CHOOSER, "less the better"], rows)


def effort_table(results):
    """Return the table of efforts, over the small sets and the draws that all of them have."""
    draws = draws_of(results)
    names = [name for name in (FAST, CHOOSER, THOROUGH) if name in draws]
    if len(names) < 2:
        return Table([""], [])
    least = min(draws[name] for name in names)
    records = [r for r in results["records"] if r["method"] in names and r["draw"] < least]
    some = results | {"means": summary(records)}
    small = [d["name"] for d in results["sets"] if d["counted"] and d["sample"] == d["n"]]
    scores = by_set(some, sets=small)
    common = sorted(set.intersection(*(set(scores.get(name, ())) for name in names)))
    columns = [overall(by_set(some, budget=budget, sets=common)) for budget in MEAN[:3]]
    columns.append(overall(scores, common))
    seconds = overall(by_set(some, "seconds", sets=common))
    rows = [
        [name, *(share(column.get(name)) for column in columns), number(seconds.get(name))]
        for name in names if common
    ]  # fmt: skip
    return Table([f"{len(common)} sets", *MEAN[:3], "mean", "seconds"], rows)


def time_table(results):
    """Return the table of seconds and memory."""
    rows = [
        [t.data, f"{t.pairs:,}", t.method, number(t.seconds), number(t.ratio), gigabytes(t.peak),
         share(t.agreement), str(t.turns)]
        for t in results["times"]
    ]  # fmt: skip
    return Table(["", "pairs", "method", "seconds", "to SpectralClustering", "peak GB",
                  "all points", "fits"], rows)  # fmt: skip
