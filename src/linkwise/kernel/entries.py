"""Listed entries of a symmetric matrix that is too large to form.

A learned affinity is needed on the edges of a sparse graph, and on a few more pairs around links.
Each unordered pair is listed once, row < column, and evaluated in blocks from the rows of thin
factors, with O(entries) additional memory. Each block writes its own part, so the result does not
depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.arrays import door
from linkwise.blocks import run_blocks


class Entries(NamedTuple):
    """Pairs of points, each once, in the order of rows and columns."""

    rows: np.ndarray  # (e,)
    columns: np.ndarray  # (e,), > rows
    weight: np.ndarray  # (e,), of the graph; 0 where it has no edge

    def symmetric(self, values, n, diagonal=None):
        """Return the csr_array (n, n) that has ``values`` here, without stored zeros."""
        rows, columns = np.r_[self.rows, self.columns], np.r_[self.columns, self.rows]
        values = np.r_[values, values]
        if diagonal is not None:
            own = np.arange(n, dtype=rows.dtype)
            rows, columns = np.r_[rows, own], np.r_[columns, own]
            values = np.r_[values, diagonal]
        A = sparse.csr_array((values, (rows, columns)), shape=(n, n))
        A.eliminate_zeros()
        return A


def _surroundings(W, points):
    """Return the points with their neighbours in W, one after the other, and how many each has."""
    start = W.indptr[points].astype(np.int64)
    count = W.indptr[points + 1] - start + 1
    first = np.cumsum(count) - count
    place = np.repeat(start - first - 1, count) + np.arange(count.sum())
    around = W.indices[np.maximum(place, 0)] if W.nnz else np.empty(len(place), dtype=np.int64)
    around[first] = points
    return around, count


def linked_pairs(W, i, j):
    """Return (rows, columns) of the pairs that join the surroundings of linked points.

    ({i} + N(i)) x ({j} + N(j)) for each link (i, j), N the neighbours in the graph W: a must-link
    can make points alike that no edge joins. Each pair comes once, row < column.

    >>> path = sparse.csr_array(np.diag([1.0] * 4, 1) + np.diag([1.0] * 4, -1))
    >>> rows, columns = linked_pairs(path, np.array([0]), np.array([4]))
    >>> list(zip(rows.tolist(), columns.tolist()))
    [(0, 3), (0, 4), (1, 3), (1, 4)]
    """
    n = W.shape[0]
    left, left_count = _surroundings(W, i)
    right, right_count = _surroundings(W, j)
    width = np.repeat(right_count, left_count)  # of each left point: the right points of its link
    first = np.repeat(np.cumsum(right_count) - right_count, left_count)
    place = np.repeat(first - (np.cumsum(width) - width), width) + np.arange(width.sum())
    a, b = np.repeat(left, width).astype(np.int64), right[place].astype(np.int64)
    keys = np.unique(np.minimum(a, b) * n + np.maximum(a, b))
    rows, columns = keys // n, keys % n
    return rows[rows != columns], columns[rows != columns]


def linked_pairs_count(W, i, j):
    """Return an upper bound of the number of pairs that `linked_pairs` finds, for estimates."""
    size = np.diff(W.indptr).astype(np.int64) + 1
    return int(size[i] @ size[j])


def listed(W, i, j):
    """Return the Entries of the edges of W and of the pairs (i, j), the diagonal left out."""
    n = W.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(W.indptr))
    upper = rows < W.indices
    keys = np.r_[rows[upper] * n + W.indices[upper], np.minimum(i, j) * n + np.maximum(i, j)]
    weight = np.r_[W.data[upper], np.zeros(len(i), dtype=W.dtype)]
    keys, first = np.unique(keys, return_index=True)  # an edge before the pair that names it again
    rows, columns = keys // n, keys % n
    off = rows != columns
    return Entries(rows[off], columns[off], weight[first][off])


def in_blocks(evaluate, count, width, like, *, run=run_blocks):
    """Return evaluate(part) for slices of ``count`` entries from factors ``width`` columns wide.

    The result is of the library and dtype of ``like``. ``run`` is `run_blocks`, or `map` inside of
    what is a block of something else already.
    """
    out = door(like).empty(count, like)
    block = door(like).gathered_rows(width)

    def fill(part):
        out[part] = evaluate(part)

    for _ in run(fill, (slice(start, start + block) for start in range(0, count, block))):
        pass
    return out


def row_products(Y, Z, rows, columns, *, run=run_blocks):
    """Return y_row . z_column for each listed entry, from factors (n, q) of one dtype."""
    tools = door(Y)
    rows, columns = (tools.asarray(part, Y) for part in (rows, columns))

    def product(part):
        return tools.row_products(Y[rows[part]], Z[columns[part]])

    return in_blocks(product, len(rows), Y.shape[1], Y, run=run)


def row_maxima(Y, Z, rows, columns):
    """Return max_c y_row,c z_column,c for each listed entry, from factors (n, q >= 1)."""

    def largest(part):
        product = Y[rows[part]]
        product *= Z[columns[part]]
        return product.max(axis=1)

    return in_blocks(largest, len(rows), Y.shape[1], Y)
