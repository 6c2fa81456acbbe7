"""How much is tried."""

from typing import NamedTuple


class Effort(NamedTuple):
    """What one level of effort includes."""

    views: tuple  # kinds
    learners: tuple  # kinds
    softmax: int  # starts by pair_softmax
    classical: int  # slow constrained methods of the library; with 0 there is no CCSKL either
    many: int  # of these for many points
    seen: int  # views that the slow methods get
    rows: int  # points to learn from, at most
    rounds: int  # of co-EM
    folds: int  # of the constraints
    judged: int  # candidates that all folds judge; twice as many for few points


# Each level trades quality against time. What a level includes was chosen on the development sets
# of the quality benchmark; "fast" takes about a second for some hundred points.
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
