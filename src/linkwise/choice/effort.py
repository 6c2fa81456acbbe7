"""How much is tried."""

from typing import NamedTuple


class Effort(NamedTuple):
    """What one level of effort includes."""

    views: tuple  # kinds
    learners: tuple  # kinds
    sets: int  # feature sets, the first ones
    starts: int  # partitions that candidates start from
    folds: int  # of the constraints
    judged: int  # pairs of a feature set and a start that all folds judge
    rows: int  # points to learn from, at most


# Each level trades quality against time. What a level includes was chosen on the development sets
# of the quality benchmark.
EFFORTS = {
    "fast": Effort(
        views=("given", "scaled"), learners=("graph", "near", "island"), sets=1, starts=2, folds=2,
        judged=2, rows=20_000,
    ),
    "balanced": Effort(
        views=("given", "scaled", "ranked", "directions", "half whitened", "whitened"),
        learners=("graph", "near", "wide", "linear", "island", "full", "tied", "round"), sets=6,
        starts=4, folds=5, judged=8, rows=100_000,
    ),
    "thorough": Effort(
        views=("given", "scaled", "ranged", "ranked", "directions", "half whitened", "whitened"),
        learners=("graph", "near", "wide", "linear", "island", "full", "tied", "round"), sets=6,
        starts=6, folds=5, judged=18, rows=200_000,
    ),
}  # fmt: skip
# Within a budget of seconds "fast" is tried first, on PROBE points, which tells how many it can
# learn from in time. It also tells how long the other levels take at least, in multiples of its own
# time, before any candidate is judged.
PROBE = 2000
SLOWER = (("thorough", 5.0), ("balanced", 3.0))
FOR_CANDIDATES = 0.8  # share of a budget after which no further candidate is judged
MANY = 20_000  # points: beyond, the models below are enough, and the others take long
MANY_VIEWS = ("given", "scaled")
MANY_LEARNERS = ("graph", "near", "island")


def for_points(effort, n):
    """Return an Effort with what n points allow."""
    if n <= MANY:
        return effort
    return effort._replace(
        views=tuple(kind for kind in effort.views if kind in MANY_VIEWS),
        learners=tuple(kind for kind in effort.learners if kind in MANY_LEARNERS),
    )


def rows_within(seconds, n, most, *, learning, placing):
    """Return how many of n points to learn from: ``most`` or a part of it, and PROBE at least.

    Parameters
    ----------
    seconds : float, for all of it
    n, most : int
    learning, placing : float, seconds for a point to learn from it, or to place it afterwards

    >>> rows_within(10, 50_000, 20_000, learning=1e-3, placing=1e-4)
    5000
    """
    rows = min(n, most)
    while rows > PROBE and learning * rows + placing * (n - rows) > seconds:
        rows //= 2
    return min(max(rows, PROBE), n)
