"""Which methods suit some data: `linkwise methods --for DATA`.

Rows, columns, zeros, whether all links must hold, and a limit of seconds decide. The order is that
of the user guide: first the default, then by what methods learn about rows that no link names.
"""

from typing import NamedTuple

from linkwise.cli.methods import METHODS, method_class

SPARSE = 0.8  # share of zeros from which a table is better held as a sparse matrix
SAMPLE = 10_000  # rows in which zeros are counted
ANCHORS = 100_000  # rows from which the spectral methods are faster through anchors
ANCHORED = 20e-6  # seconds a row through anchors; 100 million rows take 2e-6 (docs/performance.md)


class Cost(NamedTuple):
    """Seconds of one core for 2,000 rows x 20 columns, 5 clusters, 100 links; how they grow."""

    seconds: float
    rows: float  # exponent
    columns: float = 1.0  # exponent
    anchors: bool = False  # whether more rows go through anchors


# name -> (cost, when to use it), in the order of the user guide
ADVICE = {
    "link-clustering": (Cost(5, 1), "chooses and combines methods; finds wrong links"),
    "propagation": (Cost(0.6, 2, 0, True), "few links reach many rows"),
    "spectral-regularization": (Cost(0.12, 1.1, 0.5, True), "a hundred links and more"),
    "gaussian-mixture": (Cost(0.4, 1, 2), "round or elliptic clouds; probabilities"),
    "ccskl": (Cost(0.15, 1.1, 0.5, True), "many rows; follows the shape of the data"),
    "exhaustive": (Cost(0.5, 1.1, 0.5, True), "links that spread over a graph"),
    "signed": (Cost(0.11, 1.1, 0.5, True), "two clusters or few"),
    "mpck-means": (Cost(0.4, 1, 2), "columns of different worth"),
    "optimal-kernel": (Cost(0.8, 2, 0), "a hundred links and more; curved clusters"),
    "hmrf-kmeans": (Cost(0.4, 1), "texts and other directions (cosine)"),
    "pck-means": (Cost(0.2, 1), "round clusters, a price on broken links"),
    "kernel-kmeans": (Cost(0.5, 2, 0), "a kernel of your own"),
    "spectral-learning": (Cost(0.07, 1.1, 0.5, True), "a quick baseline"),
    "flexible": (Cost(3, 3, 0), "links to a degree that you choose"),
    "cop-kmeans": (Cost(0.2, 1), "keeps all links; limits of sizes"),
    "agglomerative": (Cost(0.25, 2, 0), "keeps all links; a tree"),
    "normalized-cuts": (Cost(0.06, 1.1, 0.5, True), "no links at all"),
}
UNITS = (("seconds", 60.0), ("minutes", 3600.0), ("hours", float("inf")))


class Shape(NamedTuple):
    rows: int
    columns: int
    zeros: float  # share of the cells


def seconds(name, shape):
    """Return about how long a fit takes, in the order of magnitude."""
    cost = ADVICE[name][0]
    if cost.anchors and shape.rows > ANCHORS:
        return ANCHORED * shape.rows * max(shape.columns / 20, 1)
    growth = (shape.rows / 2000) ** cost.rows * max(shape.columns / 20, 1) ** cost.columns
    return cost.seconds * growth


def in_words(time):
    """Return a time as an order of magnitude.

    >>> in_words(5), in_words(600)
    ('seconds', 'minutes')
    """
    return next(word for word, most in UNITS if time < most)


def against(name, shape, *, hard, most):
    """Return why a method does not suit, or None."""
    traits = method_class(name).traits
    if hard and not (traits.hard or name == "link-clustering"):
        return "may break links" if traits.constrained else "takes no links"
    if shape.rows > traits.rows:
        return f"practical up to {traits.rows:,} rows"
    if shape.zeros >= SPARSE and not traits.sparse:
        return "takes no sparse matrix"
    if name == "gaussian-mixture" and shape.columns * 10 > shape.rows:
        return "needs ten rows for a column"
    if most is not None and seconds(name, shape) > most:
        return f"takes {in_words(seconds(name, shape))}"
    return None


def suitable(shape, *, hard=False, most=None):
    """Return the methods that suit, the first choice first, and the others with the reasons.

    Parameters
    ----------
    shape : Shape
    hard : bool, whether all links must hold
    most : number of seconds or None

    Returns
    -------
    rows : list of dict, name, class, links, time, why
    others : dict, name -> reason
    """
    rows, others = [], {}
    for name, (_, why) in ADVICE.items():
        if reason := against(name, shape, hard=hard, most=most):
            others[name] = reason
            continue
        traits = method_class(name).traits
        kind = ("hard" if traits.hard else "soft") if traits.constrained else "none"
        if hard and name == "link-clustering":
            kind, why = "hard", "with --strict; " + why
        time = in_words(seconds(name, shape))
        rows.append({"name": name, "class": METHODS[name], "links": kind, "time": time, "why": why})
    return rows, others


def shape_of(path):
    """Return the Shape of the points in a file."""
    import numpy as np

    from linkwise.blocks.rows import spaced, take_rows
    from linkwise.tables import map_points, read_points

    X = (map_points if path.lower().endswith(".npy") else read_points)(path).X
    n = X.shape[0]
    some = take_rows(X, spaced(np.arange(n), min(n, SAMPLE)))
    return Shape(n, X.shape[1], float(np.mean(np.asarray(some) == 0)))
