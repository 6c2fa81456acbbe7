"""The s nearest of a few thousand anchors, for blocks of very many rows.

The anchors are put in g = sqrt(p) / 2 groups. Each group keeps a list of L candidates, the anchors
nearest to its centre. A row is compared with the g centres, then with the candidates of the
nearest one:

    (1)  |x - a|^2 = |x'|^2 + |a'|^2 - 2 x'.a'      x', a' less the centre of the group

Cost: O((g + L) d) per row instead of O(p d). The rows of a block are taken group by group, so
each group is one product.

Guarantees
* L is the smallest of p/8, p/4, p/2 that finds at least ``RECALL`` of the s nearest anchors of a
  sample of rows. If none does, or if p < 256, or on a device, every anchor is compared and the
  result is exact.
  ``plan.recall`` is the recall on the sample (1 if exact).
* Anchors are sorted by distance. Squared distances are not negative and have the dtype of the
  rows. Where (1) has lost three digits of single precision (six of double), the distance is
  computed again from the difference, so four (nine) digits are right, and a row that is an anchor
  has distance 0.
* A call runs in the calling thread if BLAS is limited to one thread (threadpoolctl), so blocks can
  run on threads. It is deterministic. The result for a row does not depend on the other rows
  (except for the rounding of the product). Besides the result it takes less than 20 MB for
  d <= 1000.
"""

from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from linkwise.arrays import PerKind, door, namespace
from linkwise.graph.packed import factor_points, factor_queries, smallest

RECALL = 0.995  # share of the nearest anchors to find; the rest does not change the graph much
FEW = 256  # anchors; with fewer, one product with all of them is faster than groups
SAMPLE = 4096  # rows on which the recall is measured
TILE = 1 << 18  # entries of a product held at a time: a megabyte in single precision


class AnchorPlan(NamedTuple):
    anchors: np.ndarray  # (p, d)
    centres: np.ndarray  # (g, d) of the groups
    candidates: np.ndarray  # (g, L) anchor numbers, nearest to the centre first
    s: int
    recall: float  # share of the nearest anchors found, on the sample


class NearestAnchors(NamedTuple):
    indices: np.ndarray  # (b, s) int32, nearest first
    squared_distances: np.ndarray  # (b, s)


def _groups(X, centres):
    """Return the nearest centre of each row, in blocks."""
    if len(centres) == 1:
        return np.zeros(len(X), dtype=np.int16)
    middle = centres.mean(axis=0)
    C = factor_points(centres - middle)
    C = np.delete(C, X.shape[1], axis=0)  # |x|^2 is the same for every centre
    out = np.empty(len(X), dtype=np.int16)
    size = max(64, TILE // max(len(centres), X.shape[1]))
    rows = np.ones((size, X.shape[1] + 1), dtype=X.dtype)
    product = np.empty((size, len(centres)), dtype=X.dtype)
    for start in range(0, len(X), size):
        part = X[start : start + size]
        np.subtract(part, middle, out=rows[: len(part), :-1])
        D = np.dot(rows[: len(part)], C, out=product[: len(part)])
        out[start : start + size] = D.argmin(axis=1)
    return out


class Buffers(NamedTuple):
    """Memory that all tiles of a block use in turn.

    The C library of some processes, such as the workers of Dask, returns large arrays to the system
    when they are freed. New arrays for every tile would then cost as much as the products.
    """

    queries: np.ndarray  # (size, d)
    left: np.ndarray  # (size, d + 2)
    product: np.ndarray  # (size * L,)
    packed: np.ndarray  # (size * L,) integers as wide as the floats

    @classmethod
    def of(cls, X, size, L):
        """Return buffers for tiles of ``size`` rows of X and L candidates."""
        d, dtype = X.shape[1], X.dtype
        return cls(
            np.empty((size, d), dtype),
            np.empty((size, d + 2), dtype),
            np.empty(size * L, dtype),
            np.empty(size * L, dtype=f"i{dtype.itemsize}"),
        )


def _against_candidates(Q, anchors, candidates, factors, s, buffers):
    """Return the nearest candidates of the rows Q, centred like the anchors."""
    shape = len(Q), factors.shape[1]
    D, packed = (
        one[: shape[0] * shape[1]].reshape(shape) for one in (buffers.product, buffers.packed)
    )
    left = factor_queries(Q, out=buffers.left[: len(Q)])
    np.dot(left, factors, out=D)  # (m, L) Eq. (1)
    columns, squared = smallest(D, s, work=packed)
    digits = np.finfo(Q.dtype).eps ** 0.4
    rows = np.flatnonzero(squared[:, 0] <= digits * (left[:, -2] + factors[-1].max()))
    if len(rows):
        difference = Q[rows, None] - anchors[columns[rows]]  # (r, s, d)
        exact = np.einsum("ijk,ijk->ij", difference, difference)
        order = np.argsort(exact, axis=1, kind="stable")
        columns[rows] = np.take_along_axis(columns[rows], order, axis=1)
        squared[rows] = np.take_along_axis(exact, order, axis=1)
    return candidates.take(columns), squared


@PerKind
def nearest_anchors(X, plan):
    """Return the s nearest anchors of every row of a block.

    Parameters
    ----------
    X : array (b, d), float32 or float64; 65,536 rows are a good block
    plan : AnchorPlan, of :func:`plan_anchors`

    Returns
    -------
    NearestAnchors, both arrays (b, s)
    """
    count, L = plan.candidates.shape
    anchors = plan.anchors.astype(X.dtype, copy=False)
    centres = plan.centres.astype(X.dtype, copy=False)
    group = _groups(X, centres)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    size = max(32, TILE // L)
    buffers = Buffers.of(X, min(size, len(X)), L)
    indices = np.empty((len(X), plan.s), dtype=np.int32)
    squared = np.empty((len(X), plan.s), dtype=X.dtype)
    for g in np.flatnonzero(np.diff(bounds)):
        A = anchors[plan.candidates[g]] - centres[g]  # (L, d)
        factors = factor_points(A)
        for start in range(bounds[g], bounds[g + 1], size):
            rows = order[start : min(start + size, bounds[g + 1])]
            Q = X.take(rows, axis=0, out=buffers.queries[: len(rows)], mode="clip")
            Q -= centres[g]
            indices[rows], squared[rows] = _against_candidates(
                Q, A, plan.candidates[g], factors, plan.s, buffers
            )
    return NearestAnchors(indices, squared)


@nearest_anchors.of_tensors
def _nearest_anchors_of_tensors(X, plan):
    return NearestAnchors(*door(X).nearest_centres(X, plan.anchors, plan.s))


def exact_plan(anchors, s):
    """Return the plan that compares every anchor."""
    everyone = door(anchors).asarray(np.arange(len(anchors), dtype=np.int32)[None], anchors)
    return AnchorPlan(anchors, namespace(anchors).mean(anchors, axis=0)[None], everyone, s, 1.0)


@PerKind
def plan_anchors(anchors, s, *, sample=None, seed=0):
    """Return a plan for the search of the s nearest anchors of any row.

    Parameters
    ----------
    anchors : array (p, d)
    s : int >= 1; at most p are found
    sample : array (m, d) or None
        Rows like those to come; some thousands, of which ``SAMPLE`` are used. None: the anchors
        themselves, which are easier than rows, so more is asked of them.
    seed : int, of the grouping
    """
    p = len(anchors)
    s = min(s, p)
    exact = exact_plan(anchors, s)
    if p < FEW:
        return exact
    wanted = RECALL if sample is not None else 1 - (1 - RECALL) / 5
    rows = anchors if sample is None else sample[:: -(-len(sample) // SAMPLE)]
    rows = rows.astype(anchors.dtype, copy=False)
    truth = nearest_anchors(rows, exact).squared_distances[:, -1:]
    truth *= 1 + np.finfo(rows.dtype).eps ** 0.5  # as near as the s-th: found
    groups = round(0.5 * p**0.5)  # few, so that each is a large product
    scale = abs(anchors - exact.centres).max() or 1  # k-means stops by its own measure of moves
    kmeans = KMeans(groups, n_init=1, max_iter=10, init="random", random_state=seed)
    kmeans.fit((anchors - exact.centres) / scale)
    centres = (kmeans.cluster_centers_ * scale + exact.centres).astype(anchors.dtype)
    nearest = nearest_anchors(centres, exact_plan(anchors, p)).indices  # (g, p)
    for share in (8, 4, 2):
        length = max(p // share, s)
        plan = AnchorPlan(anchors, centres, nearest[:, :length].copy(), s, 1.0)
        found = nearest_anchors(rows, plan).squared_distances <= truth
        if found.mean() >= wanted:
            return plan._replace(recall=float(found.mean()))
    return exact


@plan_anchors.of_tensors
def _plan_anchors_of_tensors(anchors, s, *, sample=None, seed=0):
    return exact_plan(anchors, min(s, len(anchors)))
