"""Which pair to ask: strategies (context, n) -> list of at most n questions.

Most choose a point and ask for its neighbourhood (``neighbourhoods``):

    farthest_first  Explore & Consolidate [1]: the point farthest from all that were asked about,
                    until every cluster has a neighbourhood; then points at random
    min_max         always the point least like any that was asked about [2]
    npu             the point whose neighbourhood is least certain, per question it will take [3]
    boundary        points that lie alone, or between clusters, along an eigenvector [4]
    effect          the point whose label is expected to change most labels
                    (``gaussian_field``, Eq. 3)
    default         the point whose label would tell most about labels in doubt
                    (``gaussian_field``, Eq. 2); before every cluster has a neighbourhood, first
                    those that may belong to none

Two do not: random, and cobras (``cobras``).

[1] Basu, Banerjee & Mooney, Active semi-supervision for pairwise constrained clustering, SDM 2004.
[2] Mallapragada, Jin & Jain, Active query selection for semi-supervised clustering, ICPR 2008.
[3] Xiong, Azimi & Fern, Active learning of constraints for semi-supervised clustering, TKDE 2014.
[4] Xu, desJardins & Wagstaff, Active constrained clustering by examining spectral eigenvectors,
    Discovery Science 2005.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from linkwise.constraints.cluster_numbers import most_clusters
from linkwise.query.cobras import super_instances
from linkwise.query.gaussian_field import (
    Field,
    field_of,
    label_changes,
    seen_too,
    variance_reduction,
)
from linkwise.query.model import Context, Question
from linkwise.query.neighbourhoods import Neighbourhoods, ask_about, neighbourhoods_of, shut

TRIES = 30  # pairs drawn for each question before all open ones are listed
SETTLED = 0.9  # probability of a neighbourhood above which a point is not asked about further
LEAST_NEW = 0.02  # chance that a point is of a new cluster: the model may overlook one
CANDIDATES = 40  # rows whose effect is computed, O(n k) each; the others are ranked below
CLASSES = 3  # classes of a row that are looked at; the rest have little probability
NEW = "The first may belong to a cluster not seen yet; the second is the most similar one so far."
DOUBT = "The cluster of the first is in doubt, and it tells much about similar points."


def _between(context: Context, a: int, b: int) -> tuple[int, int] | None:
    """Return a pair of members of two sets that may be asked, None if there is none."""
    known = context.known
    pairs = ((i, j) for i in known.members(a) for j in known.members(b))
    return next(((min(pair), max(pair)) for pair in pairs if context.may_ask(*pair)), None)


def any_open(
    context: Context, n: int, reason: str = "Drawn at random; all else is known."
) -> list[Question]:
    """Return open pairs drawn at random, all equally likely; fewer than n if there are fewer."""
    known, size, rng = context.known, context.data.n, context.rng()
    found: dict[tuple[int, int], None] = {}
    for a, b in rng.integers(size, size=(TRIES * n, 2)).tolist():
        if a != b and context.may_ask(a, b):
            found[min(a, b), max(a, b)] = None
            if len(found) == n:
                break
    else:
        roots = np.array([i for i in range(size) if known.root(i) == i])
        roots = rng.permutation(roots).tolist()
        for place, a in enumerate(roots):
            for b in roots[place + 1 :]:
                pair = None if b in known.apart(a) else _between(context, a, b)
                if pair is not None:
                    found[pair] = None
            if len(found) >= n:
                break
    return [Question(a, b, reason) for a, b in list(found)[:n]]


def random_pairs(context: Context, n: int) -> list[Question]:
    """Return open pairs drawn at random, all equally likely."""
    return any_open(context, n, "Drawn at random.")


def begun(sets: Neighbourhoods) -> np.ndarray:
    """Return rows that were kept out of some neighbourhood and can be compared with others."""
    return (shut(sets) > 0) & sets.free.any(axis=1)


def ask_points(
    context: Context,
    sets: Neighbourhoods,
    score: np.ndarray,
    n: int,
    reason: str,
    *,
    first: np.ndarray | None = None,
) -> list[Question]:
    """Return questions about the n rows of highest score; those of ``first`` (r,) before all."""
    score = np.where(sets.free.any(axis=1), score, -np.inf)
    if first is not None:
        order = np.lexsort((-score, ~first))
    else:
        order = np.argsort(-score, kind="stable")
    questions: list[Question] = []
    for i in order:
        if len(questions) == n or score[i] == -np.inf:
            break
        question = ask_about(context, sets, i, reason)
        if question is not None:
            questions.append(question)
    return questions


def distance_asked(context: Context) -> np.ndarray:
    """Return the distance of every row to the nearest point that was asked about, (r,)."""
    X, rows = context.data.features, context.model.rows
    asked = context.known.touched()
    if not asked:
        return np.linalg.norm(X[rows] - X[rows].mean(axis=0), axis=1)
    return cdist(X[rows], X[asked]).min(axis=1)


def _any_row(context: Context) -> int:
    rows = np.setdiff1d(context.model.rows, context.known.aside())
    return int(context.rng().choice(rows if len(rows) else context.model.rows))


def farthest_first(context: Context, n: int) -> list[Question]:
    """Return questions by Explore & Consolidate."""
    sets = neighbourhoods_of(context, _any_row(context), exact=True)
    explore = not sets.complete
    score = distance_asked(context) if explore else context.rng().random(len(sets.rows))
    reason = NEW if explore else "The first was drawn at random, to find its cluster."
    return ask_points(context, sets, score, n, reason, first=begun(sets))


def min_max(context: Context, n: int) -> list[Question]:
    """Return questions about the points least similar to any that was asked about."""
    sets = neighbourhoods_of(context, _any_row(context), exact=True)
    reason = "The first is the least similar to any point that was asked about."
    score = distance_asked(context)
    return ask_points(context, sets, score, n, reason, first=begun(sets))


def npu(context: Context, n: int) -> list[Question]:
    """Return questions by normalised point-based uncertainty."""
    sets = neighbourhoods_of(context, _any_row(context), exact=True)
    p = np.maximum(sets.p, 1e-9)
    p /= p.sum(axis=1, keepdims=True)
    ranked = -np.sort(-p, axis=1)
    entropy = -(p * np.log(p)).sum(axis=1)
    questions = (ranked * (1 + np.arange(p.shape[1]))).sum(axis=1)
    if p.shape[1] == 1:
        entropy = 1 - sets.p[:, 0]
    reason = "It is least certain which cluster the first belongs to."
    return ask_points(context, sets, entropy / questions, n, reason, first=begun(sets))


def _ranks(values: np.ndarray) -> np.ndarray:
    out = np.empty(len(values))
    out[np.argsort(values, kind="stable")] = np.arange(len(values)) / len(values)
    return out


def along(v: np.ndarray) -> np.ndarray:
    """Return how much each point lies alone, or on a boundary, along an eigenvector v (r,).

    Alone: the gaps to the next points on both sides. Boundary: near the middle of the widest gap
    between the 10th and the 90th percentile.
    """
    order = np.argsort(v, kind="stable")
    gap = np.diff(v[order])
    alone = np.empty(len(v))
    alone[order] = np.concatenate((gap[:1], gap)) + np.concatenate((gap, gap[-1:]))
    low, high = len(gap) // 10, max(len(gap) - len(gap) // 10, 1)
    at = low + int(np.argmax(gap[low:high]))
    threshold = (v[order[at]] + v[order[at + 1]]) / 2
    return np.maximum(_ranks(alone), _ranks(-abs(v - threshold)))


def boundary(context: Context, n: int) -> list[Question]:
    """Return questions about points that lie alone or between clusters along eigenvectors."""
    sets, model = neighbourhoods_of(context, _any_row(context), exact=True), context.model
    U = context.data.in_basis(model.graph)[model.rows]
    score = np.max([along(v) for v in U[:, 1 : max(model.k, 2)].T], axis=0)
    asked = np.searchsorted(sets.rows, np.array(model.known.touched(), dtype=np.intp))
    fresh = np.ones(len(score), dtype=bool)
    fresh[asked] = False
    reason = "The first lies alone or between two clusters."
    return ask_points(context, sets, score + fresh, n, reason, first=begun(sets))


def _start(context: Context, field: Field) -> int:
    rows = context.model.rows
    worth = variance_reduction(field, np.ones(len(rows)))
    worth[np.isin(rows, context.known.aside())] = -1
    return int(rows[np.argmax(worth)])


def effect(context: Context, n: int) -> list[Question]:
    """Return questions about the points whose label is expected to change most labels."""
    field, q = field_of(context), context.model.q
    sets = neighbourhoods_of(context, _start(context, field))
    doubt = 1 - q.max(axis=1)
    likely = doubt * variance_reduction(field, doubt)
    score = likely * 1e-9 / max(likely.max(), 1e-300)  # among equals
    for i in np.argsort(-np.where(sets.free.any(axis=1), likely, -1), kind="stable")[:CANDIDATES]:
        score[i] += label_changes(field, q, i, CLASSES)
    reason = "The answer is expected to change the cluster of most points."
    first = begun(sets) & (sets.p.max(axis=1) < SETTLED)
    return ask_points(context, sets, score, n, reason, first=first)


def default(context: Context, n: int) -> list[Question]:
    """Return questions about the points whose label would tell most about labels in doubt."""
    field, q = field_of(context), context.model.q
    sets = neighbourhoods_of(context, _start(context, field))
    doubt = 1 - q.max(axis=1)
    best = sets.p.max(axis=1)
    first = begun(sets)
    if sets.complete:
        worth, reason = np.sqrt(doubt), DOUBT
        most = most_clusters(context.n_clusters)
        first &= (best < SETTLED) | (most is None or len(sets.members) < most)
    else:
        free = np.where(sets.free, sets.p, 0).max(axis=1)
        worth, reason = np.maximum(1 - free, LEAST_NEW), NEW
    questions: list[Question] = []
    left = np.array(sets.free.any(axis=1))  # (r,)
    score = variance_reduction(field, doubt) * worth
    while len(questions) < n and left.any():
        i = int(np.argmax(np.where(first if first.any() else left, score, -1)))
        left[i] = first[i] = False
        question = ask_about(context, sets, i, reason)
        if question is not None:
            questions.append(question)
            field = seen_too(field, i)
            score = variance_reduction(field, doubt) * worth
    return questions


STRATEGIES: dict[str, Callable[[Context, int], list[Question]]] = {
    "default": default,
    "random": random_pairs,
    "farthest-first": farthest_first,
    "min-max": min_max,
    "npu": npu,
    "boundary": boundary,
    "effect": effect,
    "cobras": super_instances,
}
