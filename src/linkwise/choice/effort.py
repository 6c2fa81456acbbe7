"""How much is tried."""

from typing import NamedTuple


class Effort(NamedTuple):
    views: tuple  # kinds
    learners: tuple  # kinds
    classical: int  # views that the constrained methods of the library see
    rows: int  # points that are learnt from at most, with answers or not
    rounds: int  # of co-EM
    folds: int
    judged: int  # candidates that all answers held out judge; twice as many where points are few


EFFORTS = {
    "fast": Effort(
        views=("given", "scaled"), learners=("graph", "near"), classical=0, rows=2_000, rounds=2,
        folds=2, judged=3,
    ),
    "balanced": Effort(
        views=("given", "scaled", "ranked", "directions"),
        learners=("graph", "near", "wide", "linear", "full", "tied"), classical=1, rows=3_000,
        rounds=3, folds=3, judged=5,
    ),
    "thorough": Effort(
        views=("given", "scaled", "ranked", "directions"),
        learners=("graph", "near", "wide", "linear", "full", "tied"), classical=2, rows=5_000,
        rounds=4, folds=5, judged=20,
    ),
}  # fmt: skip
