"""The operations that have no standard form, for NumPy and SciPy."""

import tempfile

import numpy as np
from scipy import sparse, special
from scipy.sparse.csgraph import connected_components

GRAM_ROWS = 1 << 17  # rows of Z at a time, so that adding up p x p matrices costs little
FEW_COLUMNS = 32  # up to which the largest entries of rows are found column by column
FEW_PAIRS = np.inf  # rows of pairs that LAPACK reduces at once
BLOCK_BYTES = 8 << 20  # of points in a block: far less than memory, enough to outweigh a call
MOST_ROWS = 1 << 16  # in a block, so that results with more columns than the points stay small
# jobs at a time: images of digits with 200 constraints take 10 % less time by four, or by eight
MOST_JOBS = 4
CACHE_BYTES = 4 << 20  # of the jobs at a time; four of 5 MB take 50 % longer than one by one
THREADS = True  # blocks are processed on several


def xp():
    """Return the array namespace."""
    return np


def asarray(values, like, dtype=None):
    """Return values as an array of the library and on the device of ``like``."""
    return np.asarray(values, dtype=dtype)


def cast(A, dtype):
    """Return A in the dtype of that name, or in that of another array."""
    return A.astype(getattr(dtype, "dtype", dtype), copy=False)


def empty(shape, like, dtype=None):
    """Return an array that is not set, in the dtype of ``like`` unless another is named."""
    return np.empty(shape, dtype=like.dtype if dtype is None else dtype)


def to_host(A):
    """Return A as an array of NumPy or a sparse matrix of SciPy."""
    return A


def standard_normal(rng, shape, like):
    """Return normal numbers drawn by a NumPy Generator."""
    return rng.standard_normal(shape).astype(like.dtype)


def squared_norms(X):
    """Return the squared length of every row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def diagonal(A):
    """Return the diagonal of a square matrix, or of several."""
    return np.diagonal(A, axis1=-2, axis2=-1)


def class_scatters(X, q, mean):
    """Return sum_i q_iz (x_i - mean_z) (x_i - mean_z)^T of every class z, (k, d, d)."""
    scatter = np.empty((len(mean), X.shape[1], X.shape[1]))
    for z, centre in enumerate(mean):
        C = X - centre
        scatter[z] = (C * q[:, z, None]).T @ C
    return scatter


def mahalanobis(X, mean, L):
    """Return |L_z^-1 (x - mean_z)|^2, (n, k), for lower triangular L (k, d, d) or (1, d, d)."""
    out, inverses = np.empty((len(X), len(mean))), np.linalg.inv(L)
    for z, centre in enumerate(mean):
        r = (X - centre) @ inverses[z % len(L)].T
        out[:, z] = np.einsum("ij,ij->i", r, r)
    return out


def canonical_order(Z):
    """Return a permutation of the rows that depends on their coordinates alone."""
    return np.lexsort(Z.T[::-1])


def lexsort_rows(first, second):
    """Return the order of the entries of each row by ``first``, and where it ties by ``second``."""
    return np.lexsort((second, first), axis=1)


def median(A):
    """Return the median of each column, or of a row of numbers."""
    return np.median(A, axis=0)


def beside(parts):
    """Return arrays side by side, as columns of one."""
    return np.hstack(parts)


def below(parts):
    """Return arrays below each other, as rows of one."""
    return np.concatenate(parts)


def less_largest(A):
    """Return A less the largest entry of its row.

    Of few columns one after the other is five times as fast as NumPy's maximum of every row.
    """
    if A.shape[1] > FEW_COLUMNS:
        return A - A.max(axis=1, keepdims=True)
    largest = A[:, 0]
    for column in A.T[1:]:
        largest = np.maximum(largest, column)
    return A - largest[:, None]


def row_totals(A):
    """Return the sum of every row; BLAS adds short rows ten times as fast as NumPy."""
    return A @ np.ones(A.shape[1], A.dtype)


def softmax(A):
    """Return exp(A) with every row divided by its sum."""
    p = less_largest(A)
    np.exp(p, out=p)
    p /= row_totals(p)[:, None]
    return p


def log_softmax(A):
    """Return the logarithm of `softmax`."""
    A = less_largest(A)
    A -= np.log(row_totals(np.exp(A)))[:, None]
    return A


def inverse(A, factor):
    """Return factor / A, written over A."""
    return np.divide(factor, A, out=A)


def exponential(A):
    """Return exp(A), written over A."""
    return np.exp(A, out=A)


def squared_distances(X, Y=None):
    """Return the squared distances of the rows of X to those of Y, or to each other."""
    from sklearn.metrics.pairwise import euclidean_distances  # here: most commands do without

    return euclidean_distances(X, Y, squared=True)


def gathered_rows(width):
    """Return how many rows of ``width`` numbers to gather at a time: they fit in the cache."""
    return max((1 << 18) // max(width, 1), 16)


def row_products(A, B):
    """Return the inner product of each row of A with that of B."""
    return np.einsum("ij,ij->i", A, B)


def stacked(arrays):
    """Return matrices (a, b) as one (n, a, b), with zeros where one is smaller than others."""
    if len(arrays) == 1:
        return arrays[0][None]
    shape = [max(A.shape[axis] for A in arrays) for axis in (0, 1)]
    out = np.zeros((len(arrays), *shape), dtype=arrays[0].dtype)
    for place, A in zip(out, arrays, strict=True):
        place[: A.shape[0], : A.shape[1]] = A
    return out


def pairs_by_row(i, j, n):
    """Return (starts (n + 1,), other ends (2 m,), pairs (2 m,)) of the pairs i, j, row by row."""
    rows, others = np.concatenate((i, j)), np.concatenate((j, i))
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n + 1))
    return starts, others[order], order % max(len(i), 1)


def partner_sums(i, j, n, like):
    """Return a function of c (m,) and P (n, k): the sums of c P_j at i and c P_i at j, (n, k)."""
    starts, columns, pairs = pairs_by_row(i, j, n)

    def sums(c, P):
        return sparse.csr_array((c.take(pairs), columns, starts), (n, n)) @ P

    return sums


def kth_smallest(A, k):
    """Return the entry of each row that k others are below."""
    return np.partition(A, k, axis=1)[:, k]


def eigh(A):
    """Return all eigenvalues of a symmetric matrix, smallest first, and the vectors, in float64."""
    return np.linalg.eigh(A.astype(np.float64))  # SciPy's would keep other threads waiting


def leading_directions(Y, rank, seed):
    """Return the leading right singular vectors of Y (n, d) as columns, (d, rank)."""
    from sklearn.utils.extmath import randomized_svd

    return np.ascontiguousarray(randomized_svd(Y, rank, n_iter=3, random_state=seed)[2].T)


def ranks(table, X):
    """Return for every entry of X its rank in the same column of a sorted table, ties halfway."""
    out = np.empty(X.shape, dtype=np.float64)
    for j, column in enumerate(table.T):
        below, upto = (np.searchsorted(column, X[:, j], side) for side in ("left", "right"))
        out[:, j] = (below + upto) / 2
    return out


def normal_quantiles(share):
    """Return the quantiles of the standard normal distribution."""
    return special.ndtri(share)


def row_matrix(indices, weights, p):
    """Return the csr_array (b, p) of s numbers and weights a row."""
    b, s = indices.shape
    start = np.arange(b + 1, dtype=np.int32) * np.int32(s)
    return sparse.csr_array((weights.ravel(), indices.astype(np.int32).ravel(), start), (b, p))


def symmetric_maximum(indices, weights):
    """Return the csr_array with the larger weight of (i, j) and (j, i), from k of each row."""
    n, k = indices.shape
    rows = np.repeat(np.arange(n, dtype=indices.dtype), k)
    W = sparse.csr_array((weights.ravel(), (rows, indices.ravel())), shape=(n, n))
    W = W.maximum(W.T).tocsr()
    W.sort_indices()
    return W


def row_sums(W):
    """Return the sum of the magnitudes of each row, (n,)."""
    return np.asarray(abs(W).sum(axis=1)).ravel().astype(W.dtype, copy=False)


def scaled(W, root):
    """Return diag(root) W diag(root) of a sparse matrix."""
    scale = sparse.diags_array(root)
    return (scale @ W @ scale).tocsr()


def edges(W):
    """Return where the entries of each row of a sparse matrix start, their columns and values."""
    return W.indptr, W.indices, W.data


def edge_owners(starts):
    """Return the row of each entry of a sparse matrix, from where those of each row start."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def rows_at(Y, numbers):
    """Return the rows of Y of some numbers; of few columns ten times as fast as an index."""
    return Y.take(numbers, axis=0)


def edge_sums(weights, columns, starts, Y):
    """Return the sums of the rows of Y and of 1, weighted, over the entries of each row."""
    C = sparse.csr_array((weights, columns, starts), (len(starts) - 1, len(Y)))
    return C @ Y, C @ np.ones(len(Y), Y.dtype)


def components(W):
    """Return the number of the connected component of each point of a sparse graph."""
    return connected_components(W, directed=False)[1]


def cover_components(W):
    """Return the components of the graph with two copies, i+ and i-, of every point, (2, n).

    A positive edge joins equal signs, a negative edge opposite ones, so a component is balanced
    exactly if its points' two copies are in different components of the cover.
    """
    W = sparse.csr_array(W)
    W.eliminate_zeros()
    if W.nnz == 0 or W.data.min() > 0:  # two equal copies without an edge between them
        count, label = connected_components(W, directed=False)
        return np.stack([label, label + count])
    positive, negative = W > 0, W < 0
    cover = sparse.block_array([[positive, negative], [negative, positive]], format="csr")
    return connected_components(cover, directed=False)[1].reshape(2, -1)


def totals_by_name(names, values):
    """Return the number of each name among the different ones, and the sum of values of each."""
    _, number = np.unique(names, return_inverse=True)
    return number, np.bincount(number, weights=values)


def ranks_from_largest(values):
    """Return the rank of each value, 0 for the largest; equal ones keep their order."""
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return rank


def indicators(n, rows, columns, values, width):
    """Return the csc_array (n, c) with one value in each of the rows; all c columns are kept."""
    count = max(width, int(np.max(columns, initial=-1)) + 1)
    return sparse.csc_array((values, (rows, columns)), shape=(n, count))


def one_column(values):
    """Return a column of values in the form of `indicators`."""
    return sparse.csc_array(values[:, None])


def mixture(W, a, Q, b):
    """Return a W + b Q of a symmetric W, of the kind that W is, and a csr_array Q."""
    mixed = a * W + b * Q.astype(W.dtype)
    return mixed.tocsr() if sparse.issparse(mixed) else np.asarray(mixed, dtype=W.dtype)


def with_entries(W, rows, columns, values):
    """Return W with other values at listed places, each listed once; zeros are not stored."""
    if not sparse.issparse(W):
        W = W.copy()
        W[rows, columns] = values
        return W
    named = sparse.csr_array((np.ones(len(rows), dtype=W.dtype), (rows, columns)), shape=W.shape)
    imposed = sparse.csr_array((values, (rows, columns)), shape=W.shape)
    W = (W - W.multiply(named) + imposed).tocsr()
    W.eliminate_zeros()
    return W


def shifted(W, diagonal, divisor):
    """Return (W + diag(diagonal)) / divisor."""
    if sparse.issparse(W):
        factor = diagonal.dtype.type(1 / divisor)
        return ((W + sparse.diags_array(diagonal)) * factor).tocsr()
    return (W + np.diag(diagonal)) / divisor


def times(W, c):
    """Return c W of a sparse or dense matrix, in its dtype."""
    return W * W.dtype.type(c)


def dense(W):
    """Return a sparse or dense matrix as a dense one."""
    return W.toarray() if sparse.issparse(W) else W


def like_graph(A, W):
    """Return a csr_array in the library and on the device of another sparse matrix."""
    return A


def scattered(shape, rows, columns, values, like):
    """Return zeros with values at listed places, in the dtype of another matrix."""
    B = np.zeros(shape, dtype=like.dtype)
    B[rows, columns] = values
    return B


def times_sparse(A, Z):
    """Return A Z of an array A and a small sparse matrix Z of SciPy."""
    return np.ascontiguousarray(A @ Z)


def without_diagonal(A):
    """Return A with zeros on its diagonal, written over A."""
    np.fill_diagonal(A, 0)
    return A


def largest_entry(W):
    """Return the largest entry of a matrix."""
    return W.max()


def positive_mean(W):
    """Return the mean positive entry off the diagonal, 1 if there is none."""
    diagonal = W.diagonal()
    off = W - (sparse.diags_array(diagonal) if sparse.issparse(W) else np.diag(diagonal))
    values = off.data if sparse.issparse(off) else off
    positive = values[values > 0]
    return positive.mean() if len(positive) else 1


def label_sums(rows, labels, k):
    """Return the sum of the rows of each label, (k, m), and how many there are."""
    members = sparse.csc_array(
        (np.ones(len(rows), rows.dtype), labels, np.arange(len(rows) + 1)), (k, len(rows))
    )
    return members @ rows, np.bincount(labels, minlength=k)


def weights_between(W, labels, c):
    """Return the sums of the entries of a sparse matrix between c labels, NumPy (c, c)."""
    S = sparse.csr_array((np.ones(len(labels), dtype=W.dtype), (labels, np.arange(len(labels)))))
    S.resize((c, len(labels)))
    return (S @ W @ S.T).toarray().astype(np.float64)


def shared_counts(partitions):
    """Return of every two labels of several label arrays (n,) how many points have both.

    The labels of all arrays are numbered on, 0..c - 1. The result is of NumPy, (c, c).
    """
    n, first = len(partitions[0]), np.cumsum([0, *(int(one.max()) + 1 for one in partitions)])
    columns = np.concatenate([one + a for one, a in zip(partitions, first, strict=False)])
    rows = np.tile(np.arange(n), len(partitions))
    S = sparse.csr_array((np.ones(len(rows), dtype=np.float64), (rows, columns)))
    return (S.T @ S).toarray()


def in_order_of_appearance(labels, k):
    """Return the different labels, as a NumPy array, by first appearance."""
    names, first = np.unique(labels, return_index=True)
    return names[np.argsort(first)]


def equal(A, B):
    """Tell whether two arrays, or two sparse matrices, of one shape are equal."""
    return type(A) is type(B) and not np.any((A != B).sum())


def _row_keys(X):
    """Return one comparable key per row, equal exactly for equal rows."""
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        columns = X.indices.astype(np.int64)  # equal rows may come with int32 or int64 indices
        starts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys = [columns[a:b].tobytes() + X.data[a:b].tobytes() for a, b in starts]
        return np.array(keys, dtype=object)
    X = np.ascontiguousarray(X + 0.0)  # -0.0 becomes 0.0
    return X.view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()


def row_keys(X):
    """Return one 64-bit number per row, equal for equal rows, and else different but by chance."""
    if sparse.issparse(X):
        return np.unique(_row_keys(X), return_inverse=True)[1]
    X = X + 0.0  # -0.0 becomes 0.0
    factors = np.random.default_rng(0).integers(2**64 - 1, size=X.shape[1], dtype=np.uint64) | 1
    keys = np.zeros(len(X), dtype=np.uint64)
    for column, factor in zip(X.T, factors, strict=True):  # products and sums wrap around
        bits = np.ascontiguousarray(column).view(f"u{X.itemsize}").astype(np.uint64)
        mixed = (bits + factor) * factor
        mixed = (mixed ^ (mixed >> 29)) * factor
        keys += mixed ^ (mixed >> 32)
    return keys


def match_rows(X, queries):
    """Return for every query the first row of X equal to it, -1 where there is none."""
    keys = _row_keys(X).tolist()
    first = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
    found = _row_keys(queries.astype(X.dtype)).tolist()
    return np.array([first.get(key, -1) for key in found], dtype=np.int64)


def pair_sums(indices, weights, p, left=None):
    """Return half of Z^T Z (p, p), and Z^T 1, of rows with s numbers and weights.

    ``left`` are the weights of Z^T, those of Z if None.
    """
    s = indices.shape[1]
    left = weights if left is None else left
    # each pair of slots once; the transpose adds the other order, and half of own ones
    slots = [(a, b, 0.5 if a == b else 1) for a in range(s) for b in range(a, s)]
    mass = np.bincount(indices.ravel(), weights=weights.ravel(), minlength=p)
    place = indices.astype(np.int64)
    half = np.bincount(
        np.concatenate([place[:, a] * p + place[:, b] for a, b, _ in slots]),
        weights=np.concatenate([left[:, a] * weights[:, b] * c for a, b, c in slots]),
        minlength=p * p,
    )
    return half.reshape(p, p), mass


def repeated(step, state):
    """Return a function of a number of times that applies ``step`` to the state that often."""

    def advance(times):
        nonlocal state
        for _ in range(times):
            state = step(state)
        return state

    return advance


def minima(objective, W, *, steps, settled):
    """Return W (b, ...) at a minimum of each of b functions.

    Parameters
    ----------
    objective : function of W that returns the values (b,) and the gradients, as W
    W : array (b, ...), where the searches begin
    steps : int, at most
    settled : float, relative decrease that ends a search
    """

    from scipy.optimize import minimize  # here: most commands do without

    def of_all(w):  # functions of different numbers: their sum has all the minima
        values, slopes = objective(w.reshape(W.shape))
        return float(values.sum()), slopes.ravel()

    options = {"maxiter": steps, "ftol": settled}
    found = minimize(of_all, W.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(W.shape)


def batches(jobs, size):
    """Return lists of jobs of ``size`` bytes that are done at a time, as many as fit in a cache.

    Of small ones, calls from Python take most of the time.
    """
    each = min(MOST_JOBS, max(1, CACHE_BYTES // max(size, 1)))
    return [jobs[start : start + each] for start in range(0, len(jobs), each)]


def product(S, V):
    """Return S V of a sparse or dense matrix S."""
    return S @ V


def chebyshev_step(S, now, before, factor, shift):
    """Return factor S now - shift now - before."""
    return factor * (S @ now) - shift * now - before


def rows_a_block(like, n, size):
    """Return how many of n rows of ``size`` bytes make a block, a few MB."""
    return min(MOST_ROWS, max(1, BLOCK_BYTES // size))


def in_memory(X):
    """Tell whether X is an array in memory, whose rows can be listed."""
    return isinstance(X, np.ndarray) and not isinstance(X, np.memmap)


def fits(size, limit):
    """Tell whether so many bytes are to be held at once."""
    return size <= limit


def large(shape, like, dtype, *, in_file):
    """Return an array to be filled, in a temporary file if wanted, which lasts as long as it."""
    if not in_file:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


def number_type(p):
    """Return the dtype of the numbers of p anchors."""
    return np.dtype(np.uint16 if p <= 1 << 16 else np.int32)


def float_type(X):
    """Return the dtype of computations with X: float32 or float64."""
    return np.result_type(X.dtype, np.float32)


def contiguous(X):
    """Return X with its rows one after the other in memory."""
    return np.ascontiguousarray(X)


def search_width(d, p):
    """Return the numbers that a row of d columns takes in a search of the nearest of p anchors."""
    return d


def free_memory(like):
    """Return the bytes of free memory; None: the limits of the machine apply."""
    return None
