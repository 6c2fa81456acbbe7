"""Series, made from the cells of a run: means over draws with their standard errors.

A series is one method on one set in one column:

    "paper"   as the paper: what it leaves open (the width of the graph) is chosen by the classes,
              the best mean over draws; the mean over starts of k-means where the paper has that
    "least"   the same with the start of least inertia
    "free"    label-free: the width is chosen by the constraints (the one that keeps most of them,
              of equals the nearest to r), or is the library's default; least inertia
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from benchmarks.papers import ccskl, csc, kernel, propagation

PAPER, LEAST, FREE = "paper", "least", "free"
DIGITS = 5


class Series(NamedTuple):
    paper: str
    set: str
    method: str
    column: str
    measure: str
    at: tuple  # numbers of pairs, or rates
    mean: tuple
    error: tuple  # standard errors over draws
    draws: int
    chosen: tuple = ()  # the width behind each mean, where one was chosen by the classes

    def value(self, at):
        """Return the mean at a number of pairs."""
        return self.mean[self.at.index(at)]

    def over(self, least=1):
        """Return the mean over all numbers of pairs of at least so many."""
        values = [mean for at, mean in zip(self.at, self.mean, strict=True) if at >= least]
        return float(np.mean(values)) if values else float("nan")


def spread_of(values):
    """Return the mean of draws and its standard error.

    >>> spread_of([1.0, 3.0])
    (2.0, 1.0)
    """
    values = np.asarray(values, dtype=np.float64)
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return round(float(values.mean()), DIGITS), round(error, DIGITS)


def rows_of(records, paper):
    """Yield (set, part, draw, row) of all rows of a paper that did not fail."""
    for record in records:
        if record["paper"] == paper:
            for row in record.get("rows", ()):
                if "failed" not in row:
                    yield record["set"], record["part"], record["draw"], row


def gathered(records, paper, measure, *, label=lambda part, row: None):
    """Return {(set, method): {at: {label: {draw: value}}}} of one measure."""
    found: dict = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for name, part, number, row in rows_of(records, paper):
        if measure in row:
            found[name, row["method"]][row["at"]][label(part, row)][number] = row[measure]
    return found


def one(paper, key, column, measure, points, chosen=()):
    """Return a Series from {at: values over draws}; key is (set, method)."""
    at = tuple(sorted(points))
    means = [spread_of(points[place]) for place in at]
    return Series(
        paper, key[0], key[1], column, measure, at,
        mean=tuple(mean for mean, _ in means),
        error=tuple(error for _, error in means),
        draws=max(len(points[place]) for place in at),
        chosen=chosen,
    )  # fmt: skip


def best_label(by_at, places, *, lowest):
    """Return the label of lowest or highest mean over some numbers of pairs."""

    def score(label):
        mean = np.mean([np.mean(list(by_at[at][label].values())) for at in places])
        return mean if lowest else -mean

    return min(sorted(set.intersection(*(set(by_at[at]) for at in places))), key=score)


def chosen_by_classes(paper, cells, column, measure, *, lowest, together=False):
    """Yield a Series of each method where the label of best mean over draws counts.

    ``together`` chooses one label for all numbers of pairs, otherwise each number has its own.
    """
    for key, by_at in cells.items():
        places = sorted(by_at)
        parts = [places] * len(places) if together else [[at] for at in places]
        labels = [best_label(by_at, part, lowest=lowest) for part in parts]
        points = {
            at: list(by_at[at][label].values()) for at, label in zip(places, labels, strict=True)
        }
        yield one(paper, key, column, measure, points, tuple(labels))


def _sigma(part, row):
    return float(part.removeprefix("sigma ")) if part.startswith("sigma ") else None


def by_links(values, kept):
    """Return {at: values} at the width that keeps most constraints, draw by draw."""
    points: dict = {}
    for at, by_label in values.items():
        labels = sorted(by_label, key=lambda label: abs(np.log(label)))  # r first
        for number in sorted(set.union(*(set(by_label[label]) for label in labels))):
            there = [label for label in labels if number in by_label[label]]
            share = [kept[at][label].get(number, 0) if at in kept else 0 for label in there]
            label = there[int(np.argmax(share))] if at else there[0]
            points.setdefault(at, []).append(by_label[label][number])
    return points


def flat(series, places):
    """Return a series that does not depend on constraints, drawn out over numbers of pairs."""
    first = {name: (getattr(series, name)[0],) * len(places) for name in ("mean", "error")}
    chosen = series.chosen[:1] * len(places)
    return series._replace(at=tuple(places), chosen=chosen, **first)


def ccskl_series(records):
    """Return the series of figures 3 and 5 of CCSKL."""
    name, found = ccskl.NAME, []
    cells = {
        m: gathered(records, name, m, label=_sigma) for m in ("mean", "least", "kept", "untouched")
    }
    graphs = {
        m: {key: value for key, value in cells[m].items() if key[1] in ccskl.METHODS} for m in cells
    }
    found += chosen_by_classes(name, graphs["mean"], PAPER, "error", lowest=True)
    found += chosen_by_classes(name, graphs["least"], LEAST, "error", lowest=True)
    for key, values in cells["least"].items():
        if key[1] == ccskl.DEFAULT:
            points = {at: list(by[None].values()) for at, by in values.items()}
        else:
            points = by_links(values, cells["kept"].get(key, {}))
        found.append(one(name, key, FREE, "error", points))
    for key, values in cells["untouched"].items():
        at_default = {at: list(by[None].values()) for at, by in values.items() if None in by}
        if at_default:
            found.append(one(name, key, FREE, "untouched", at_default))
    places: dict = defaultdict(set)
    for series in found:
        places[series.set] |= set(series.at)
    return [flat(s, sorted(places[s.set])) if s.method == "NCuts" else s for s in found]


def kernel_series(records):
    """Return the series of figures 2 to 4 of kernel optimisation."""
    cells = gathered(records, kernel.NAME, "rand")
    free = (kernel.BY_LINKS, kernel.DEFAULT, kernel.FULL)
    found = []
    for key, values in cells.items():
        points = {at: list(by[None].values()) for at, by in values.items()}
        column = FREE if key[1] in free else PAPER
        found.append(one(kernel.NAME, key, column, "rand", points))
    return found


def propagation_series(records):
    """Return the series of figures 5 and 6 of affinity propagation."""
    name, default = propagation.NAME, propagation.DEFAULT_WIDTH
    found = []
    for measure in ("rand", "untouched"):
        cells = gathered(records, name, measure, label=lambda part, row: row.get("width", 0))
        if measure == "rand":
            found += chosen_by_classes(name, cells, PAPER, "rand", lowest=False, together=True)
        for key, values in cells.items():
            label = default if default in next(iter(values.values())) else 0
            points = {at: list(by[label].values()) for at, by in values.items() if label in by}
            found.append(one(name, key, FREE, measure, points))
    return found


def csc_series(records):
    """Return the series of figures 1 to 4 of cSC."""
    found = []
    free = (csc.FREE, csc.DEFAULT)
    for measure, own in (
        ("accuracy", "least"),
        ("rand", "rand"),
        ("starts", "mean"),
        ("untouched", "untouched"),
    ):
        cells = gathered(records, csc.NAME, own)
        for key, values in cells.items():
            column = FREE if key[1] in free or measure == "untouched" else PAPER
            points = {at: list(by[None].values()) for at, by in values.items()}
            found.append(one(csc.NAME, key, column, measure, points))
            if key[1] in ("SL", "SC") and column == PAPER and measure in ("accuracy", "rand"):
                found.append(found[-1]._replace(column=FREE))  # they choose nothing by classes
    places: dict = defaultdict(set)
    for series in found:
        places[series.set] |= set(series.at)
    return [flat(s, sorted(places[s.set])) if s.method == "SC" else s for s in found]


def all_series(records):
    """Return the series of all papers that there are cells of."""
    makers = (ccskl_series, kernel_series, propagation_series, csc_series)
    return [series for maker in makers for series in maker(records)]


class Shelf:
    """Series by what they are known by."""

    def __init__(self, series):
        self.series = list(series)
        self.by_key = {(s.paper, s.set, s.method, s.column, s.measure): s for s in self.series}

    def get(self, paper, name, method, column, measure):
        """Return a Series, None if there is none."""
        return self.by_key.get((paper, name, method, column, measure))

    def sets(self, paper, names):
        """Return those of the sets that there are series of, in their order."""
        there = {s.set for s in self.series if s.paper == paper}
        return [name for name in names if name in there]
