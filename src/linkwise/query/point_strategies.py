"""Strategies that choose a point and ask which home it belongs to (``homes``).

    farthest_first  Explore & Consolidate [1]: the point farthest from all that were asked about,
                    until every cluster has a home; then points at random
    min_max         always the point least like any that was asked about [2]
    npu             the point whose home is least certain, for each question that it will take [3]
    boundary        points that stand alone, or between clusters, along an eigenvector [4]
    effect          the point whose label is expected to change most labels (``telling``, Eq. 3)
    default         the point whose label would tell most of labels in doubt (``telling``, Eq. 2);
                    before every cluster has a home those first that may belong to none

[1] Basu, Banerjee & Mooney, Active semi-supervision for pairwise constrained clustering, SDM 2004.
[2] Mallapragada, Jin & Jain, Active query selection for semi-supervised clustering, ICPR 2008.
[3] Xiong, Azimi & Fern, Active learning of constraints for semi-supervised clustering, TKDE 2014.
[4] Xu, desJardins & Wagstaff, Active constrained clustering by examining spectral eigenvectors,
    Discovery Science 2005.
"""

import numpy as np
from scipy.spatial.distance import cdist

from linkwise.query.gaussian_field import field_of, label_changes, seen_too, telling
from linkwise.query.neighbourhoods import ask_about, homes_of, shut

SETTLED = 0.9  # probability of a home from which on a point need not be asked about further
LEAST_NEW = 0.02  # chance that a point is of a new cluster, whatever the model says
CANDIDATES = 40  # of the expected effect
CLASSES = 3
NEW = "The first may belong to a cluster not seen yet; the second is the most like it so far."
DOUBT = "The cluster of the first is in doubt, and it would tell much about points like it."


def begun(state, homes):
    """Return rows that were told to be in some home not, and have homes left to ask about."""
    return (shut(homes) > 0) & homes.free.any(axis=1)


def ask_points(state, homes, score, n, reason, *, first=None):
    """Return questions about the n rows of highest score; those of ``first`` (r,) before all."""
    score = np.where(homes.free.any(axis=1), score, -np.inf)
    if first is not None:
        order = np.lexsort((-score, ~first))
    else:
        order = np.argsort(-score, kind="stable")
    found: list = []
    for i in order:
        if len(found) == n or score[i] == -np.inf:
            break
        question = ask_about(state, homes, i, reason)
        if question is not None:
            found.append(question)
    return found


def distance_asked(state):
    """Return the distance of every row to the nearest point that was asked about, (r,)."""
    X, rows = state.scene.features, state.model.rows
    asked = state.known.touched()
    if not asked:
        return np.linalg.norm(X[rows] - X[rows].mean(axis=0), axis=1)
    return cdist(X[rows], X[asked]).min(axis=1)


def _any_row(state):
    return int(state.rng().choice(state.model.rows))


def farthest_first(state, n):
    """Return questions by Explore & Consolidate."""
    homes = homes_of(state, _any_row(state), exact=True)
    explore = not homes.complete
    score = distance_asked(state) if explore else state.rng().random(len(homes.rows))
    reason = NEW if explore else "The first was drawn at random, to find its cluster."
    return ask_points(state, homes, score, n, reason, first=begun(state, homes))


def min_max(state, n):
    """Return questions about the points least like any that was asked about."""
    homes = homes_of(state, _any_row(state), exact=True)
    reason = "The first is the least like any point that was asked about."
    score = distance_asked(state)
    return ask_points(state, homes, score, n, reason, first=begun(state, homes))


def npu(state, n):
    """Return questions by normalised point-based uncertainty."""
    homes = homes_of(state, _any_row(state), exact=True)
    p = np.maximum(homes.p, 1e-9)
    p /= p.sum(axis=1, keepdims=True)
    ranked = -np.sort(-p, axis=1)
    entropy = -(p * np.log(p)).sum(axis=1)
    questions = (ranked * (1 + np.arange(p.shape[1]))).sum(axis=1)
    if p.shape[1] == 1:
        entropy = 1 - homes.p[:, 0]
    reason = "It is least certain which cluster the first belongs to."
    return ask_points(state, homes, entropy / questions, n, reason, first=begun(state, homes))


def _ranks(values):
    out = np.empty(len(values))
    out[np.argsort(values, kind="stable")] = np.arange(len(values)) / len(values)
    return out


def along(v):
    """Return how much each point stands alone, or on a boundary, along an eigenvector v (r,).

    Alone: the gaps to the next points on both sides. Boundary: near the middle of the widest gap
    between the tenth and the ninetieth of a hundred.
    """
    order = np.argsort(v, kind="stable")
    gap = np.diff(v[order])
    alone = np.empty(len(v))
    alone[order] = np.concatenate((gap[:1], gap)) + np.concatenate((gap, gap[-1:]))
    low, high = len(gap) // 10, max(len(gap) - len(gap) // 10, 1)
    at = low + int(np.argmax(gap[low:high]))
    threshold = (v[order[at]] + v[order[at + 1]]) / 2
    return np.maximum(_ranks(alone), _ranks(-abs(v - threshold)))


def boundary(state, n):
    """Return questions about points that stand alone or between clusters along eigenvectors."""
    homes, model = homes_of(state, _any_row(state), exact=True), state.model
    U = state.scene.U[model.graph][model.rows]
    score = np.max([along(v) for v in U[:, 1 : max(model.k, 2)].T], axis=0)
    asked = np.searchsorted(homes.rows, np.array(state.known.touched(), dtype=np.intp))
    fresh = np.ones(len(score), dtype=bool)
    fresh[asked] = False
    reason = "The first stands alone or between two clusters."
    return ask_points(state, homes, score + fresh, n, reason, first=begun(state, homes))


def _start(state, field):
    doubt = np.ones(len(state.model.rows))
    return int(state.model.rows[np.argmax(telling(field, doubt))])


def effect(state, n):
    """Return questions about the points whose label is expected to change most labels."""
    field, q = field_of(state), state.model.q
    homes = homes_of(state, _start(state, field))
    doubt = 1 - q.max(axis=1)
    likely = doubt * telling(field, doubt)
    score = likely * 1e-9 / max(likely.max(), 1e-300)  # among equals
    for i in np.argsort(-np.where(homes.free.any(axis=1), likely, -1), kind="stable")[:CANDIDATES]:
        score[i] += label_changes(field, q, i, CLASSES)
    reason = "The answer is expected to change the cluster of most points."
    first = begun(state, homes) & (homes.p.max(axis=1) < SETTLED)
    return ask_points(state, homes, score, n, reason, first=first)


def default(state, n):
    """Return questions about the points whose label would tell most about labels in doubt."""
    field, q = field_of(state), state.model.q
    homes = homes_of(state, _start(state, field))
    doubt = 1 - q.max(axis=1)
    best = homes.p.max(axis=1)
    first = begun(state, homes)
    if homes.complete:
        worth, reason = np.sqrt(doubt), DOUBT
        first &= (best < SETTLED) | (state.n_clusters is None)
    else:
        free = np.where(homes.free, homes.p, 0).max(axis=1)
        worth, reason = np.maximum(1 - free, LEAST_NEW), NEW
    found: list = []
    left, score = homes.free.any(axis=1), telling(field, doubt) * worth
    while len(found) < n and left.any():
        i = int(np.argmax(np.where(first if first.any() else left, score, -1)))
        left[i] = first[i] = False
        question = ask_about(state, homes, i, reason)
        if question is not None:
            found.append(question)
            field = seen_too(field, i)
            score = telling(field, doubt) * worth
    return found
