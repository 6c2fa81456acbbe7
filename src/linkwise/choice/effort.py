"""How much is tried."""

from typing import NamedTuple


class Effort(NamedTuple):
    views: tuple  # kinds
    learners: tuple  # kinds
    softmax: int  # starts of this kind
    classical: int  # constrained methods of the library; with 0 not even CCSKL
    many: int  # of these where points are many
    seen: int  # views that they see
    rows: int  # points that are learnt from at most, with answers or not
    rounds: int  # of co-EM
    folds: int
    judged: int  # candidates that all folds judge; twice as many where points are few


EFFORTS = {
    "fast": Effort(
        views=("given", "scaled"), learners=("graph", "near"), softmax=1, classical=0, many=0,
        seen=0, rows=2_000, rounds=2, folds=2, judged=3,
    ),
    "balanced": Effort(
        views=("given", "scaled", "ranked", "directions"),
        learners=("graph", "near", "wide", "linear", "full", "tied"), softmax=3, classical=4,
        many=1, seen=1, rows=3_000, rounds=3, folds=3, judged=5,
    ),
    "thorough": Effort(
        views=("given", "scaled", "ranged", "ranked", "directions"),
        learners=("graph", "near", "wide", "linear", "full", "tied"), softmax=6, classical=6,
        many=6, seen=2, rows=5_000, rounds=4, folds=5, judged=20,
    ),
}  # fmt: skip
