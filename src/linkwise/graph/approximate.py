"""Nearly all of the k nearest neighbours of every point, in time that grows like n.

1. The points are projected to at most 80 dimensions and divided into small cells (``cells``).
2. All points of a cell are compared with the same L candidates, the points of the cells nearest to
   any of them, in one product (``packed``). The m best candidates of each point are kept.
3. These are compared again in all dimensions, and the k best are kept.

L and m are measured. For a sample of points the true neighbours are searched among the many nearest
after projection; L and m are the smallest that find ``RECALL`` of them (``ENOUGH`` if that needs
many). For a few points they are searched among all, which shows first whether the projection is
good enough. ``recall`` is the estimate from both. It is low if even ``MAX_CANDIDATES`` are too few:
in noise of many dimensions, where all distances are similar.

Subtracting the centre of the cell keeps the digits of a product far from the origin. If two points
are so close that digits are lost nevertheless, their distance is computed from the difference.

Cost: O(n (L r + m d)) time, O(n (d + k)) memory: one copy of the points, in the order of the cells.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from linkwise.blocks import run_blocks
from linkwise.graph.cells import (
    MAX_DIMENSIONS,
    Cells,
    Projection,
    blocks_of,
    build_cells,
    fit_projection,
    project,
    sorted_points,
    spread_sample,
    squared_norms,
)
from linkwise.graph.nearest_anchors import exact_plan, nearest_anchors, plan_anchors
from linkwise.graph.packed import TILE, factor_points, factor_queries, least_of_product

# wanted of the candidates, the second if the first needs many: one or two missed neighbours of a
# hundred hardly change a graph
RECALL, ENOUGH = 0.994, 0.988
KEPT_RECALL = 0.997  # wanted of the kept points; a kept point costs as much as 100 candidates
CELL = 64  # rows in a cell; fewer give better candidates, more give faster products
MIN_CANDIDATES = 512  # with fewer, the product is not what takes the time
MANY_CANDIDATES = 4096  # beyond this, ENOUGH replaces RECALL
MAX_CANDIDATES = 24576  # limits the time and memory of a cell
PROBE = 10  # rank of the centre whose distance is the unit of a query
MANY_CELLS = 4096  # beyond this, comparing every cell with every other takes too long
SAMPLE = 384  # points at most for the estimate of the recall
MAX_KEPT = 8  # times k; limits the time of the comparison in all dimensions
FEW = 32  # points whose true neighbours are searched among all points, which is expensive
ROUNDING = 16  # units in the last place within which distances count as tied
SPARE = 4  # points kept beyond the k-th at least, because the projection changes the ranks
TIGHT = 1e-3  # mean |z - centre|^2 / |centre|^2 below which the centre is subtracted
GATHER = 1 << 18  # numbers to gather at a time when kept points are compared: they fit in the cache
TASK = 512  # queries in one task: enough to outweigh its start, few enough to balance threads


class Found(NamedTuple):
    indices: np.ndarray  # (q, k) row numbers, nearest first
    squared: np.ndarray  # (q, k) squared distances
    order: np.ndarray  # (n,) the points cell by cell
    recall: float  # estimated on a sample


class Index(NamedTuple):
    X: object  # (n, d) the centred points in the order of the cells
    norms: np.ndarray  # (n,) |x|^2
    ties: np.ndarray  # (n,) decides between neighbours at the same distance
    Z: np.ndarray  # (n, r) projected
    unit: float  # by which z is divided before it is cast to single precision
    factors: np.ndarray  # (n, r + 2) [z, |x|^2, 1] of z / unit and x / unit
    tight: np.ndarray  # (c,) cells so small for their place that those would lose their digits
    projection: Projection
    cells: Cells
    near: np.ndarray  # (c, q) the nearest cells of each cell
    candidates: int  # L
    kept: int  # m
    recall: float  # what L and m would have found of the neighbours of the sample


def _single(Z, unit):
    return (Z / Z.dtype.type(unit)).astype(np.float32, copy=False)


def _shifted(Q, X, norms, rows):
    """Return |q - x|^2 - |q|^2 for the rows Q and all points, infinite for the rows themselves."""
    D = (Q * -2) @ X.T
    D = D.toarray() if sparse.issparse(D) else D
    D += norms
    D[np.arange(len(rows)), rows] = np.inf
    return D


def _rank_cells(cells, cell, near, Q):
    """Return the cells ``near`` in the order in which queries Q of one cell ask for them.

    The distances of a query to the centres are divided by that to its ``PROBE``-th nearest centre.
    The rank of a cell is that of the query nearest to it, so queries at the edge of the cell count.
    """
    centre = cells.centres[cell]
    D = factor_queries(Q - centre) @ factor_points(cells.centres[near] - centre)  # (q, c)
    np.maximum(D, 0, out=D)
    probe = min(PROBE, D.shape[1] - 1)
    unit = np.partition(D, probe, axis=1)[:, probe, None]
    D /= np.maximum(unit, 1e-12 * D.max() or 1)
    return near[np.argsort(D.min(axis=0), kind="stable")]


def _share_near(X, Z, k, centre, seed):
    """Return the share of the k nearest of a few rows that are still near after projection."""
    rows = spread_sample(Z, FEW, seed + 1)
    norms = squared_norms(Z) + Z[:, -1] ** 2  # |x - centre|^2
    Q = X[rows] if sparse.issparse(X) else X[rows] - centre
    D = _shifted(Q, X, norms, rows)
    true = np.argpartition(D, k - 1, axis=1)[:, :k]
    D = _shifted(Z[rows], Z, norms, rows)  # Eq. (3) of ``cells``
    last = min(MAX_KEPT * k, len(Z)) - 1
    limit = np.partition(D, last, axis=1)[:, last, None]
    return float((np.take_along_axis(D, true, axis=1) <= limit).mean())


def _true_neighbours(X, norms, row, near, projected, k):
    """Return the k nearest of a row among the points ``near``, and those tied with the last.

    Returns
    -------
    true : int array
    rank : int array like it, how many points are nearer than each after projection
    """
    order = np.argsort(projected)
    near = near[order]
    D = X[near] @ X[[row]].T
    D = norms[near] - 2 * (D.toarray() if sparse.issparse(D) else D)[:, 0]
    limit = np.partition(D, k - 1)[k - 1] + ROUNDING * np.finfo(D.dtype).eps * norms[row]
    rank = np.flatnonzero(limit >= D)
    return near[rank], rank


def _reach(Z, cells, cell, row, true, k):
    """Return how many candidates a row needs until each of its k nearest is among them.

    Of points tied at the k-th place those that are reached first count.
    """
    sizes = np.diff(cells.starts)
    members = Z[cells.starts[cell[row]] : cells.starts[cell[row] + 1]]
    order = _rank_cells(cells, cell[row], np.arange(len(sizes)), members)
    until = np.empty(len(sizes), dtype=np.intp)
    until[order] = np.cumsum(sizes[order])
    return np.sort(until[cell[true]])[:k]


def _measure(X, norms, Z, cells, k, seed):
    """Return the candidates and the kept that a sample asks for, and the recall it promises."""
    n = len(Z)
    cell = np.repeat(np.arange(len(cells.centres)), np.diff(cells.starts))
    sample = spread_sample(Z, min(SAMPLE, max(SAMPLE // 2, n // 64)), seed + 1)
    size = max(4, min(64, (1 << 22) // n))

    last = min(k if Z is X else MAX_KEPT * k, n - 1) - 1

    def one(part):
        rows = sample[part]
        D = _shifted(Z[rows], Z, norms, rows)  # Eq. (3) of ``cells``
        limit = np.partition(D, last, axis=1)[:, last]
        limit += ROUNDING * np.finfo(D.dtype).eps * norms[rows]
        reach = np.empty((len(rows), k), dtype=np.intp)
        rank = np.zeros((len(rows), k), dtype=np.intp)
        for i, row in enumerate(rows):
            true = np.flatnonzero(D[i] <= limit[i])
            if Z is not X and len(true) <= 2 * MAX_KEPT * k:  # more: they are equal, or nearly so
                true, ranks = _true_neighbours(X, norms, row, true, D[i, true], k)
                rank[i] = ranks[:k]
            reach[i] = _reach(Z, cells, cell, row, true, k)
        return reach, rank

    found = run_blocks(one, blocks_of(len(sample), size))
    reach, rank = (np.concatenate(both) for both in zip(*found, strict=True))
    candidates = int(np.quantile(reach, RECALL, method="higher"))
    if candidates > MANY_CANDIDATES:
        candidates = max(MANY_CANDIDATES, int(np.quantile(reach, ENOUGH, method="higher")))
    kept = int(np.quantile(rank, KEPT_RECALL, method="higher")) + 1
    candidates = min(n, max(MIN_CANDIDATES, 4 * k, min(candidates, MAX_CANDIDATES)))
    kept = min(n, max(k + SPARE, min(kept, MAX_KEPT * k)) + 1)
    return candidates, kept, float(((reach <= candidates) & (rank < kept)).mean())


def _near_cells(cells, candidates):
    """Return the nearest cells of each cell, enough for the candidates."""
    centres = cells.centres
    mean = cells.starts[-1] / len(centres)
    count = min(len(centres), int(3 * candidates / mean) + 8)  # the queries choose among these
    if count == len(centres):
        return np.tile(np.arange(count), (count, 1))
    if len(centres) <= MANY_CELLS:
        plan = exact_plan(centres, count)
    else:
        plan = plan_anchors(centres, count, sample=centres[:: len(centres) // 512])
    parts = blocks_of(len(centres), 256)
    return np.concatenate(
        list(run_blocks(lambda part: nearest_anchors(centres[part], plan).indices, parts))
    )


def _index(X, k, centre, least, seed):
    k = min(k, X.shape[0] - 1)
    projection = fit_projection(X, centre, seed=seed)
    Z = project(X, projection)
    share = 1.0 if projection.basis is None else _share_near(X, Z, k, centre, seed)
    if share < least:
        return None
    cells = build_cells(Z, CELL, seed=seed)
    Z = Z[cells.order]
    X = Z if projection.basis is None else sorted_points(X, cells.order, centre)
    norms = squared_norms(X)
    candidates, kept, recall = _measure(X, norms, Z, cells, k, seed)
    if recall * share < least:
        return None
    near = _near_cells(cells, candidates)
    direction = np.random.default_rng(0).standard_normal(X.shape[1]).astype(X.dtype)
    unit = 2.0 ** np.ceil(np.log2(abs(cells.centres).max() or 1))  # squares must not overflow
    factors = factor_queries(_single(Z, unit))
    if projection.basis is not None:
        factors[:, -2] += factors[:, -3] ** 2  # Eq. (3) of ``cells``
    place = squared_norms(cells.centres)
    spread = np.add.reduceat(squared_norms(Z), cells.starts[:-1]) / np.diff(cells.starts) - place
    return Index(
        X=X,
        norms=norms,
        ties=X @ direction,
        Z=Z,
        unit=unit,
        factors=factors,
        tight=~(spread > TIGHT * place),
        projection=projection,
        cells=cells,
        near=near,
        candidates=candidates,
        kept=kept,
        recall=recall * share,
    )


def build_index(X, k, *, centre, least=0.0, seed=0):
    """Return the points ready for searches of k neighbours, or None.

    Parameters
    ----------
    X : array or csr_array (n, d)
    k : int >= 1
    centre : array (d,), amid the points; 0 for sparse points
    least : float, the recall below which there is no index
    seed : int, of the cells and samples
    """
    with threadpool_limits(1, user_api="blas"):  # blocks run on threads
        return _index(X, k, centre, least, seed)


def _candidates(index, cell, QZ):
    """Return the positions of the points compared with the queries QZ of a cell."""
    starts = index.cells.starts
    near = _rank_cells(index.cells, cell, index.near[cell], QZ)
    begin, end = starts[near], starts[near + 1]
    until = np.cumsum(end - begin)
    count = np.searchsorted(until, index.candidates) + 1
    begin, end, until = begin[:count], end[:count], until[:count]
    return np.arange(until[-1]) + np.repeat(end - until, end - begin)


def _sparse_distances(index, Q, kept):
    union, where = np.unique(kept, return_inverse=True)
    dots = (Q @ index.X[union].T).toarray()
    dots = np.take_along_axis(dots, where.reshape(kept.shape), axis=1)
    squared = squared_norms(Q)[:, None] + index.norms[kept] - 2 * dots
    return np.maximum(squared, 0)


def _few_dimensions(X, Q, kept, scratch):
    """Return the squared distances from the differences."""
    squared = np.empty(kept.shape, dtype=Q.dtype)
    m, d = kept.shape[1], Q.shape[1]
    for part in blocks_of(len(Q), max(1, GATHER // (m * d))):
        shape = part.stop - part.start, m, d
        G = scratch.gathered[: shape[0] * m * d].reshape(shape)
        np.take(X, kept[part], axis=0, out=G, mode="clip")
        G -= Q[part, None]
        np.einsum("ijk,ijk->ij", G, G, out=squared[part])
    return squared


def _distances(index, Q, kept, scratch):
    """Return the squared distances of the rows Q (q, d) to their points ``kept`` (q, m).

    The queries of a cell share most of the kept points. These are gathered once for all queries,
    which saves memory bandwidth for other threads.
    """
    X, d = index.X, Q.shape[1]
    if sparse.issparse(Q):
        return _sparse_distances(index, Q, kept)
    if d <= MAX_DIMENSIONS:
        return _few_dimensions(X, Q, kept, scratch)
    union, where = np.unique(kept, return_inverse=True)
    dots = np.empty((len(union), len(Q)), dtype=Q.dtype)
    for part in blocks_of(len(union), max(1, GATHER // d)):
        G = scratch.gathered[: (part.stop - part.start) * d].reshape(-1, d)
        np.take(X, union[part], axis=0, out=G, mode="clip")
        np.dot(G, Q.T, out=dots[part])
    dots = dots[where.reshape(kept.shape), np.arange(len(Q))[:, None]]
    scale = squared_norms(Q)[:, None] + index.norms[kept]
    squared = scale - 2 * dots
    rows, slots = np.nonzero(squared <= np.finfo(Q.dtype).eps ** 0.4 * scale)
    for part in blocks_of(len(rows), max(1, GATHER // d)):
        r, s = rows[part], slots[part]
        squared[r, s] = squared_norms(Q[r] - X[kept[r, s]])
    return squared


def _nearest_first(index, kept, squared, k):
    """Return the k nearest of those kept, ties decided by the points themselves."""
    order = np.argsort(squared, axis=1)
    squared = np.take_along_axis(squared, order, axis=1)
    kept = np.take_along_axis(kept, order, axis=1)
    tied = np.flatnonzero((squared[:, 1:] == squared[:, :-1])[:, :k].any(axis=1))
    if len(tied):
        order = np.lexsort((index.ties[kept[tied]], squared[tied]), axis=1)
        kept[tied] = np.take_along_axis(kept[tied], order, axis=1)
    return kept[:, :k], squared[:, :k]


class Scratch(NamedTuple):
    """Memory that one task reuses for every cell: new pages cost as much as the arithmetic."""

    products: np.ndarray
    right: np.ndarray
    gathered: np.ndarray


def _scratch(index):
    r = index.factors.shape[1]
    return Scratch(
        np.empty(TILE, dtype=np.float32),
        np.empty((index.candidates + 2 * CELL, r), dtype=np.float32),
        np.empty(max(GATHER, index.kept * index.X.shape[1]), dtype=index.X.dtype),
    )


def _search_cell(index, cell, QX, QZ, k, own, scratch):
    """Return the neighbours of some queries that fall in one cell, as positions.

    ``own`` is the position of the first query among the points, or None for new points.
    """
    candidates = _candidates(index, cell, QZ)
    right = scratch.right[: len(candidates)]
    if index.tight[cell]:
        centre = index.cells.centres[cell]
        factor_queries(_single(index.Z[candidates] - centre, index.unit), out=right)
        QZ = QZ - centre
    else:
        np.take(index.factors, candidates, axis=0, out=right, mode="clip")
    left = factor_points(_single(QZ, index.unit)).T  # [-2 q, 1, |q|^2]
    columns = least_of_product(left, right, index.kept, work=scratch.products)[0]
    kept = candidates[columns]
    squared = _distances(index, QX, kept, scratch)
    if own is not None:
        squared[kept == np.arange(own, own + len(kept))[:, None]] = np.inf
    return _nearest_first(index, kept, squared, k)


def _pieces(starts, cells, size):
    """Return (cell, start, stop) of at most ``size`` queries each, in lists of about ``TASK``."""
    tasks, task, count = [], [], 0
    bounds = starts.tolist()
    for cell, start, stop in zip(cells.tolist(), bounds[:-1], bounds[1:], strict=True):
        for part in range(start, stop, size):
            task.append((cell, part, min(part + size, stop)))
        count += stop - start
        if count >= TASK:
            tasks.append(task)
            task, count = [], 0
    return [*tasks, task] if task else tasks


def search_index(index, k, *, queries=None, progress=None):
    """Return nearly all of the k nearest points of every point, or of every query.

    Parameters
    ----------
    index : Index, of :func:`build_index`
    k : int, at most what the index was built for
    queries : array or csr_array (q, d) or None
        None means the points themselves, none of which is its own neighbour.
    progress : callable or None, told the number of rows finished so far
    """
    order = index.cells.order
    if queries is None:
        QX, QZ, query_order, starts = index.X, index.Z, order, index.cells.starts
        cells = np.arange(len(starts) - 1)
    else:
        QZ = project(queries, index.projection)
        QX = queries if sparse.issparse(queries) else queries - index.projection.centre
        plan = plan_anchors(index.cells.centres, 1, sample=QZ)
        parts = run_blocks(lambda part: nearest_anchors(QZ[part], plan)[0], blocks_of(len(QZ)))
        cell = np.concatenate([part[:, 0] for part in parts])
        query_order = np.argsort(cell, kind="stable")
        cells, first = np.unique(cell[query_order], return_index=True)
        starts = np.append(first, len(cell))
    indices = np.empty((len(query_order), k), dtype=np.intp)
    squared = np.empty((len(query_order), k), dtype=index.X.dtype)

    def one(task):
        scratch = _scratch(index)
        for cell, start, stop in task:
            rows = query_order[start:stop]
            inside = slice(start, stop) if queries is None else rows
            own = start if queries is None else None
            near, squared[rows] = _search_cell(index, cell, QX[inside], QZ[inside], k, own, scratch)
            indices[rows] = order[near]
        return task[-1][2]

    for done in run_blocks(one, _pieces(starts, cells, 2 * CELL)):
        if progress is not None:
            progress(done)
    return Found(indices, squared, order, index.recall)
