"""Which pair to ask: strategies (context, n) -> list of at most n questions."""

from collections.abc import Callable

import numpy as np

from linkwise.query import point_strategies
from linkwise.query.cobras import super_instances
from linkwise.query.context import Context, Question
from linkwise.query.known import Known

TRIES = 30  # pairs drawn for each question before all open ones are listed


def _between(known: Known, a: int, b: int) -> tuple[int, int] | None:
    """Return an open pair of members of two sets, None if every pair was "don't know"."""
    pairs = ((i, j) for i in known.members(a) for j in known.members(b))
    return next(((min(pair), max(pair)) for pair in pairs if known.is_open(*pair)), None)


def any_open(
    context: Context, n: int, reason: str = "Drawn at random; all else is known."
) -> list[Question]:
    """Return open pairs drawn at random, all equally likely; fewer than n if there are fewer."""
    known, size, rng = context.known, context.data.n, context.rng()
    found: dict[tuple[int, int], None] = {}
    for a, b in rng.integers(size, size=(TRIES * n, 2)).tolist():
        if a != b and known.is_open(a, b):
            found[min(a, b), max(a, b)] = None
            if len(found) == n:
                break
    else:
        roots = np.array([i for i in range(size) if known.root(i) == i])
        roots = rng.permutation(roots).tolist()
        for place, a in enumerate(roots):
            for b in roots[place + 1 :]:
                pair = None if b in known.apart(a) else _between(known, a, b)
                if pair is not None:
                    found[pair] = None
            if len(found) >= n:
                break
    return [Question(a, b, reason) for a, b in list(found)[:n]]


def random_pairs(context: Context, n: int) -> list[Question]:
    """Return open pairs drawn at random, all equally likely."""
    return any_open(context, n, "Drawn at random.")


STRATEGIES: dict[str, Callable[[Context, int], list[Question]]] = {
    "default": point_strategies.default,
    "random": random_pairs,
    "farthest-first": point_strategies.farthest_first,
    "min-max": point_strategies.min_max,
    "npu": point_strategies.npu,
    "boundary": point_strategies.boundary,
    "effect": point_strategies.effect,
    "cobras": super_instances,
}
