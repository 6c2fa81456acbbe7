"""The smallest entries of every row of a product, with their column numbers.

The bits of a non-negative float, read as an integer, have the same order as the floats. So the
last bits of each entry are replaced by its column number. One partition of integers, which NumPy
does with vector instructions, then returns the smallest entries and their columns. A partition that
moves column numbers along with the values (``argpartition``) takes three to seven times as long.

With c columns the last log2(c) bits are lost: at c = 1024, 13 of the 23 bits of single precision
are left. Among many entries that agree in those bits the wrong one may come last. The values
returned are the entries themselves, in order. Negative entries, which can only come from the
rounding of a squared distance, count as 0. For a few entries of a long row, repeated ``argmin`` is
even faster.
"""

import numpy as np

MAX_COLUMNS = 8192  # their numbers take 13 of 23 bits; with more, too few bits are left for values
TILE = 3 << 17  # entries of a product: 1.5 MB, which fit in the cache
COLUMNS = 4096  # of a product at most; 11 of 23 bits are left
SPARE = 2  # entries beyond the k-th, because the lost bits may swap neighbours in rank


def factor_queries(Q, out=None):
    """Return [q, |q|^2, 1] for every row q, the left factor of squared distances.

    Centre the points first: far from the origin the product loses its digits.
    """
    m, d = Q.shape
    out = np.empty((m, d + 2), dtype=Q.dtype) if out is None else out
    out[:, :d] = Q
    np.einsum("ij,ij->i", Q, Q, out=out[:, d])
    out[:, d + 1] = 1
    return out


def factor_points(C):
    """Return [-2 c, 1, |c|^2] for every row c as columns, the right factor: (d + 2, c)."""
    count, d = C.shape
    out = np.empty((d + 2, count), dtype=C.dtype)
    np.multiply(C.T, -2, out=out[:d])
    out[d] = 1
    np.einsum("ij,ij->i", C, C, out=out[d + 1])
    return out


def _by_argmin(D, k):
    flat, first = D.reshape(-1), np.arange(0, D.size, D.shape[1])
    columns = np.empty((len(D), k), dtype=np.intp)
    values = np.empty((len(D), k), dtype=D.dtype)
    for slot in range(k):
        columns[:, slot] = D.argmin(axis=1)
        values[:, slot] = flat.take(columns[:, slot] + first)
        flat[columns[:, slot] + first] = np.inf
    return columns, np.maximum(values, 0, out=values)


def _by_partition(D, k, work):
    m, c = D.shape
    spare = min(k + SPARE, c)
    if c > MAX_COLUMNS:
        columns = np.argpartition(D, spare - 1, axis=1)[:, :spare]
    else:
        integer = np.dtype(f"i{D.itemsize}").type
        low = (1 << (c - 1).bit_length()) - 1
        packed = np.bitwise_and(D.view(integer), integer(~low), out=work)
        packed |= np.arange(c, dtype=integer)
        packed.partition(spare - 1, axis=1)
        columns = packed[:, :spare] & integer(low)
    values = np.maximum(D.reshape(-1).take(columns + np.arange(0, D.size, c)[:, None]), 0)
    order = np.argsort(values, axis=1)[:, :k] + np.arange(0, m * spare, spare)[:, None]
    return columns.reshape(-1).take(order), values.reshape(-1).take(order)


def smallest(D, k, *, work=None):
    """Return the columns of the k smallest entries of each row, smallest first, and the entries.

    Parameters
    ----------
    D : array (m, c), C-contiguous, float32 or float64, not below 0 but for rounding; overwritten
    k : int in 1..c
    work : array (m, c) of integers as wide as D's floats, overwritten, or None

    Returns
    -------
    columns : int array (m, k)
    values : array (m, k)
    """
    if k * (60 + 0.15 * D.shape[1]) < 1.6 * D.shape[1]:  # nanoseconds per row
        return _by_argmin(D, k)
    return _by_partition(D, k, work)


def least_of_product(left, right, m, *, work):
    """Return the columns of about the m least entries of each row of left @ right.T, in no order.

    The product is formed in tiles and never held.

    Parameters
    ----------
    left : float32 array (q, r), at most ``TILE`` / 64 rows
    right : float32 array (c, r)
    m : int; all columns are returned if there are no more
    work : float32 array (TILE,), overwritten

    Returns
    -------
    columns : int array (q, min(m, c))
    limit : float32 array (q,); no entry of the other columns is below it
    """
    packed, columns = [], []
    low = COLUMNS - 1
    numbers = np.arange(COLUMNS, dtype=np.int32)
    size = min(COLUMNS, TILE // len(left))
    for start in range(0, len(right), size):
        part = right[start : start + size]
        D = work[: len(left) * len(part)].reshape(len(left), len(part))
        D = np.dot(left, part.T, out=D).view(np.int32)
        D &= np.int32(~low)
        D |= numbers[: len(part)]
        if m < len(part):
            D.partition(m - 1, axis=1)
        packed.append(D[:, :m] & np.int32(~low))
        columns.append((D[:, :m] & np.int32(low)) + np.int32(start))
    D, everyone = np.hstack(packed), np.hstack(columns)
    if m >= len(right):
        return everyone, np.full(len(left), np.inf, dtype=np.float32)
    if len(packed) > 1:
        order = np.argpartition(D, m - 1, axis=1)[:, :m]
        D, everyone = (np.take_along_axis(A, order, axis=1) for A in (D, everyone))
    return everyone, D.max(axis=1).view(np.float32)
