"""The k nearest neighbours of every point, exactly or nearly so.

The exact search computes Euclidean distances in blocks: with scikit-learn's k-d tree in a few
dimensions, otherwise with products in single precision (``packed``), whose nearest points are
compared again in double precision. A bound on the rounding shows which queries may have missed a
neighbour; those, and sparse points, are searched by scikit-learn. It takes O(n^2 d) time at worst
and O(n (k + d)) memory; the n x n matrix is never held. Three things are corrected afterwards:

* |x|^2 + |y|^2 - 2 x.y loses all digits if x and y are close and far from the origin. The points
  are centred first, and distances with cancellation are computed again from the difference x - y:
  the distance of two equal rows is 0. If cancellation is so strong that a neighbour may have been
  missed (groups 1e7 times farther from the rest than they are wide), the whole search of that
  point is repeated with differences. (Sparse points cannot be centred, and are not searched
  again.)
* Neighbours at the same distance are ordered by a fixed projection of the points, not by row
  number, so that the graph does not depend on the order of the rows. (Equal rows cannot be
  distinguished, and among more than ``MARGIN`` points tied at the last place the choice is
  arbitrary.)
* A point is not its own neighbour, even if others have distance 0 from it.

The approximate search (``approximate``) compares each point with the points of the cells around
it. It takes about O(n d) time and misses one or two of a hundred neighbours. It estimates its
recall beforehand; if that is too low (noise in many dimensions has no cells) and n is not too
large, the exact search is used instead. Both work block by block, so that an interrupt takes effect
within about a second.

On a device both searches compare all points (`arrays.nearest_tensors`), the approximate one with a
third of the operations.

Cosine distances, 1 - cos, are half the squared Euclidean distances of the points divided by their
lengths. A point of length 0 has distance 1 from every other.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from linkwise.arrays import PerKind, door, namespace
from linkwise.blocks import run_blocks
from linkwise.graph.approximate import build_index, search_index
from linkwise.graph.cells import blocks_of, squared_norms
from linkwise.graph.nearest_anchors import nearest_anchors, plan_anchors
from linkwise.graph.packed import TILE, factor_points, factor_queries, least_of_product

MARGIN = 4  # neighbours beyond the k-th, so that ties at the last place can be ordered
TREE_DIMENSIONS = 8  # measured: a k-d tree is faster up to about here
CANCELLATION = 1e-6  # d^2 / (|x|^2 + |y|^2) below which six of sixteen digits are lost
LOST = 1e-12  # ... and below which a product may have missed a neighbour
SPARE = 8  # candidates beyond those wanted, so that most queries pass the rounding bound
QUERIES = 384  # in one product at most, so that a tile of it fits in the cache
GATHER = 1 << 17  # numbers to gather at a time: they fit in the cache
TINY = 1e-30  # squares below this underflow in single precision


BLOCK_COST = 2e10  # multiplications in one compiled call: about a second, the delay of an interrupt
EXACT_COST = 3e9  # n q d; measured: up to here the exact search is about as fast
FALLBACK_COST = 2e12  # n q d up to which the exact search replaces one of too low recall: minutes
DEVICE_COST = 2e14  # n q d up to which a device searches exactly by itself: seconds
LEAST_RECALL = 0.9  # an approximate search below this counts as failed
FEW_POINTS = 8192  # up to which very many queries are searched as among anchors
EXACT_POINTS = 2048  # up to which building an index does not pay


class Neighbours(NamedTuple):
    indices: np.ndarray  # (n, k) row numbers, nearest first
    distances: np.ndarray  # (n, k)
    order: np.ndarray | None  # (n,) the rows of X with neighbours side by side; None if exact
    recall: float  # share of the true neighbours found, estimated on a sample; 1 if exact


def centre_of(X):
    """Return a central point of the data, to subtract before distances are computed; 0 if sparse.

    It is the median of at most two thousand rows, so outliers do not move it.
    """
    if sparse.issparse(X):
        return 0
    return door(X).cast(door(X).median(X[:: max(1, len(X) // 1000)]), X)


def _exact_distances(Q, X, rows, columns, block=1 << 16):
    """Return |Q[row] - X[column]| of each listed pair, from the differences."""
    out = np.empty(len(rows))
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        difference = Q[rows[part]] - X[columns[part]]
        out[part] = np.sqrt(squared_norms(difference))
    return out


def _search_again(Q, X, rows, indices, distances, block=256):
    """Replace the neighbours of some queries by those found from differences, in place."""
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        exact = cdist(Q[part], X)
        near = np.argpartition(exact, indices.shape[1] - 1, axis=1)[:, : indices.shape[1]]
        indices[part] = near
        distances[part] = np.take_along_axis(exact, near, axis=1)


def _tie_breaker(X):
    """Return one number per point that depends on its coordinates alone."""
    direction = np.random.default_rng(0).standard_normal(X.shape[1])
    if sparse.issparse(X):
        return np.asarray(X @ direction).ravel()
    return door(X).cast(X, "float64") @ door(X).asarray(direction, X)


def _compiled_search(X, Q, k, tree, progress):
    """Return distances and indices of scikit-learn's search, a second's work at a time."""
    search = NearestNeighbors(n_neighbors=k, algorithm="kd_tree" if tree else "brute").fit(X)
    n, d = X.shape
    rows = 4096 if tree else int(min(max(BLOCK_COST / (n * (d + 50)), 256), 65536))
    parts = []
    for part in blocks_of(Q.shape[0], rows):
        parts.append(search.kneighbors(Q[part]))
        if progress is not None:
            progress(part.stop)
    return tuple(np.concatenate(both) for both in zip(*parts, strict=True))


def _product_search(X, Q, k, wanted, progress):
    """Return distances (float64) and indices of the ``wanted`` nearest points, of k surely.

    Candidates come from a product in single precision. With u its unit roundoff and g = (d + 16) u
    an entry of it is wrong by at most 2 g (|q|^2 + |x|^2) <= g (6 |q|^2 + 4 |q - x|^2). So a point
    that is left out, whose entry is at least ``limit``, has

        (1)  |q - x|^2 (1 + 4 g) >= limit - 6 g |q|^2

    and queries whose k-th candidate is not nearer than that are searched by scikit-learn.
    """
    n, d = X.shape
    q = len(Q)
    unit = 2.0 ** np.ceil(np.log2(max(abs(X).max(), abs(Q).max()) or 1))
    right = factor_queries((X / X.dtype.type(unit)).astype(np.float32, copy=False))
    norms, query_norms = (np.einsum("ij,ij->i", A, A, dtype=np.float64) for A in (X, Q))
    g = (d + 16) * np.finfo(np.float32).eps / 2
    m = min(n, wanted + SPARE)
    indices = np.empty((q, wanted), dtype=np.intp)
    distances = np.empty((q, wanted))
    sure = np.empty(q, dtype=bool)

    def one(part):
        work = np.empty(TILE, dtype=np.float32)
        left = factor_points((Q[part] / X.dtype.type(unit)).astype(np.float32, copy=False)).T
        kept, limit = least_of_product(left, right, m, work=work)
        squared = norms[kept] + query_norms[part, None]
        for rows in blocks_of(len(kept), max(1, GATHER // (m * d))):
            near = X[kept[rows]].astype(np.float64, copy=False)  # (b, m, d)
            squared[rows] -= 2 * (near @ Q[part][rows].astype(np.float64)[:, :, None])[:, :, 0]
        order = np.argsort(squared, axis=1)[:, :wanted]
        indices[part] = np.take_along_axis(kept, order, axis=1)
        squared = np.maximum(np.take_along_axis(squared, order, axis=1), 0)
        distances[part] = np.sqrt(squared)
        farthest = (distances[part, k - 1] / unit) ** 2
        sure[part] = farthest * (1 + 4 * g) + 6 * g * left[:, -1] + TINY < limit  # Eq. (1)
        return part.stop

    rows = int(min(max(BLOCK_COST / (n * (d + 50)), 64), QUERIES))
    for done in run_blocks(one, blocks_of(q, rows)):
        if progress is not None:
            progress(done)
    again = np.flatnonzero(~sure)
    if len(again):
        distances[again], indices[again] = _compiled_search(X, Q[again], wanted, False, None)
    return distances, indices


def _ordered(X, k, own, distances, indices):
    """Return the k nearest of the points found, in order of distance and of the tie-breaker."""
    xp, tools = namespace(distances), door(distances)
    n = X.shape[0]
    if own:
        rows = tools.asarray(np.arange(n), indices)
        far = xp.full_like(distances, np.inf)
        distances = xp.where(indices == rows[:, None], far, distances)
    # in float32, rounding errors do not break ties
    finite = xp.where(xp.isfinite(distances), distances, xp.zeros_like(distances))
    most = float(xp.max(finite)) if len(finite) else 0.0
    coarse = tools.cast(distances / max(most, 1e-300), "float32")
    order = tools.lexsort_rows(coarse, _tie_breaker(X)[indices])[:, :k]
    indices = xp.take_along_axis(indices, order, axis=1)
    distances = xp.take_along_axis(distances, order, axis=1)
    return Neighbours(indices, tools.cast(distances, X), None, 1.0)


@PerKind
def _exact(X, k, queries, progress):
    n, d = X.shape
    own = queries is None
    dense = not sparse.issparse(X)
    Q = X if own else queries
    if dense:
        centre = centre_of(X)
        X = X - centre
        Q = X if own else Q - centre
    wanted = min(n, k + own + MARGIN)
    tree = dense and d <= TREE_DIMENSIONS
    if dense and not tree:
        distances, indices = _product_search(X, Q, k + own, wanted, progress)
    else:
        distances, indices = _compiled_search(X, Q, wanted, tree, progress)
    distances = distances.astype(np.float64)

    norms, query_norms = squared_norms(X), squared_norms(Q)
    scale = query_norms[:, None] + norms[indices]
    rows, slots = np.nonzero(distances**2 <= CANCELLATION * scale)
    distances[rows, slots] = _exact_distances(Q, X, rows, indices[rows, slots])
    if dense and not tree:
        lost = np.flatnonzero(distances[:, -1] ** 2 <= LOST * scale.max(axis=1))
        _search_again(Q, X, lost, indices, distances)
    return _ordered(X, k, own, distances, indices)


@_exact.of_tensors
def _exact_of_tensors(X, k, queries, progress):
    return _compared(X, k, queries, progress, exact=True)


def _compared(X, k, queries, progress, *, exact):
    """Return the neighbours by a comparison with all points on a device, and the recall."""
    own = queries is None
    wanted = min(X.shape[0], k + own + MARGIN)
    near = door(X).nearest(
        X, X if own else queries, k + own, wanted,
        centre=centre_of(X), exact=exact, progress=progress,
    )  # fmt: skip
    found = _ordered(X, k, own, *near)
    if exact or not own:
        return found
    return found._replace(recall=neighbour_recall(X, found))


def _among_few(X, k, queries, seed, progress):
    """Return the neighbours of very many queries among a few thousand points."""
    plan = plan_anchors(X, k, sample=queries, seed=seed)
    parts, done = [], 0
    for part in run_blocks(
        lambda part: nearest_anchors(queries[part], plan), blocks_of(len(queries), 1 << 15)
    ):
        parts.append(part)
        done += len(part.indices)
        if progress is not None:
            progress(done)
    indices, squared = (np.concatenate(both) for both in zip(*parts, strict=True))
    return Neighbours(indices.astype(np.intp), np.sqrt(squared), None, plan.recall)


def _cost(X, q):
    """Return the multiplications of an exact search; selecting the nearest counts as 50 more."""
    n, d = X.shape
    return float(n) * q * ((X.nnz / n if sparse.issparse(X) else d) + 50)


@PerKind
def _approximate(X, k, queries, seed, progress):
    q = X.shape[0] if queries is None else queries.shape[0]
    if queries is not None and X.shape[0] <= FEW_POINTS and not sparse.issparse(X):
        return _among_few(X, k, queries, seed, progress)
    least = LEAST_RECALL if _cost(X, q) <= FALLBACK_COST else 0
    index = build_index(X, k, centre=centre_of(X), least=least, seed=seed)
    if index is None:
        return _exact(X, k, queries, progress)
    found = search_index(index, k, queries=queries, progress=progress)
    return Neighbours(found.indices, np.sqrt(found.squared), found.order, found.recall)


@_approximate.of_tensors
def _approximate_of_tensors(X, k, queries, seed, progress):
    return _compared(X, k, queries, progress, exact=False)


def _unit_rows(X):
    """Return the rows divided by their lengths, and which have length 0.

    One more column holds 1 for rows of length 0 and 0 for others: their squared distance to every
    unit row is then 2, which is cosine distance 1.
    """
    if sparse.issparse(X):
        largest = abs(X).max(axis=1).toarray().ravel()
        scaled = sparse.diags_array(1 / np.where(largest > 0, largest, 1)) @ X
        length = np.sqrt(squared_norms(scaled))
        empty = length == 0
        unit = sparse.diags_array(1 / np.where(empty, 1, length)) @ scaled
        column = sparse.csr_array(empty[:, None].astype(X.dtype))
        return sparse.hstack((unit, column), format="csr", dtype=X.dtype), empty
    xp, tools = namespace(X), door(X)
    largest = xp.max(xp.abs(X), axis=1)
    # scaled first, so that squares neither overflow nor vanish
    scaled = (1 / xp.where(largest > 0, largest, xp.ones_like(largest)))[:, None] * X
    length = xp.sqrt(tools.squared_norms(scaled))
    empty = length == 0
    unit = (1 / xp.where(empty, xp.ones_like(length), length))[:, None] * scaled
    return tools.beside((unit, tools.cast(empty, X)[:, None])), empty


def _by_cosine(X, k, queries, find):
    """Return neighbours by cosine, found as Euclidean ones of unit rows."""
    X, empty = _unit_rows(X)
    if queries is not None:
        queries, empty = _unit_rows(queries)
    found = find(X, k, queries)
    distances = found.distances**2 / 2
    distances[empty] = 1  # to each other too
    return found._replace(distances=distances)


@PerKind
def _cheap(X, q):
    """Return whether the exact search of q rows is about as fast as the approximate one."""
    n, d = X.shape
    few_dimensions = d <= 3 and not sparse.issparse(X)
    return n <= EXACT_POINTS or few_dimensions or _cost(X, q) <= EXACT_COST


@_cheap.of_tensors
def _cheap_of_tensors(X, q):
    return _cost(X, q) <= DEVICE_COST


def nearest_neighbours(
    X, k, *, queries=None, metric="euclidean", search="auto", seed=0, progress=None
):
    """Return the k nearest rows of X for every row of X, or of ``queries``.

    Parameters
    ----------
    X : array or csr_array (n, d)
    k : int >= 1; at most n - 1 neighbours (n for queries) exist and are returned
    queries : array or csr_array (q, d) or None
        None means the rows of X themselves, none of which is its own neighbour.
    metric : "euclidean" or "cosine" (1 - cos, as scikit-learn has it)
    search : "exact", "approximate" or "auto"
        "auto" is exact where that is about as fast, and approximate beyond. ``recall`` of the
        result says what the approximate search found of a sample; it is 1 if the search was exact.
    seed : int, of the approximate search
    progress : callable or None, told the number of rows finished so far

    Returns
    -------
    Neighbours, indices and distances (n, k) or (q, k), distances in the dtype of X
    """
    if metric not in ("euclidean", "cosine"):
        raise ValueError(f'metric must be "euclidean" or "cosine"; got {metric!r}')
    if search not in ("exact", "approximate", "auto"):
        raise ValueError(f'search must be "exact", "approximate" or "auto"; got {search!r}')
    n = X.shape[0]
    k = min(k, n - 1 if queries is None else n)
    if search == "auto":
        search = "exact" if _cheap(X, n if queries is None else queries.shape[0]) else "approximate"
    if 2 * k >= n:  # nearly all points are neighbours: an approximate search saves nothing
        search = "exact"

    def find(X, k, queries):
        if search == "exact":
            return _exact(X, k, queries, progress)
        return _approximate(X, k, queries, seed, progress)

    return find(X, k, queries) if metric == "euclidean" else _by_cosine(X, k, queries, find)


def neighbour_recall(X, neighbours, *, sample=256, seed=0, metric="euclidean"):
    """Return the share of the true neighbours of the rows of X that were found.

    Parameters
    ----------
    X : array or csr_array (n, d)
    neighbours : Neighbours of the rows of X
    sample : int, rows whose neighbours are searched exactly
    seed : int, of the sample
    metric : "euclidean" or "cosine"

    Returns
    -------
    float in [0, 1]; a neighbour as near as the true k-th counts as found
    """
    n, k = neighbours.indices.shape
    rows = np.random.default_rng(seed).choice(n, min(sample, n), replace=False)
    rows = door(X).asarray(rows, X)
    exact = nearest_neighbours(
        X, min(k + 1, n), queries=X[rows], metric=metric, search="exact"
    )  # the row itself, or one equal to it, is the first
    last = door(X).cast(exact.distances[:, k], "float64")
    tolerance = 1e-5 if "float32" in str(X.dtype) else 1e-9
    found = neighbours.distances[rows] <= (last * (1 + tolerance))[:, None]
    return float(door(X).cast(found, "float64").mean())
