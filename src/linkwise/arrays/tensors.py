"""The operations that have no standard form, for tensors of torch on any device.

Sums whose order could vary from run to run (atomic additions of floats) are avoided: results are
reproducible on one device.
"""

import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import torch
from scipy import sparse

from linkwise.arrays import host

FIXED_POINT = 2.0**36  # sums of up to 2^27 numbers in [0, 1] as integers, exact in any order
SPARE_MEMORY = 0.4  # of the free memory for one block: a block needs copies, others need the rest
SMALL = 1 << 30  # bytes that need no look at what is free, which takes a third of a millisecond
EXTRA_DIRECTIONS, POWER_STEPS = 10, 4  # of a random subspace, as scikit-learn takes
MOST_JOBS = 32  # at a time: more would take memory and not be faster
GRAM_ROWS = 1 << 25  # rows of Z at a time: sums of 2^27 are exact
FEW_PAIRS = 2000  # rows of pairs that LAPACK reduces at once
DEVICE_ROWS = 1 << 22  # in a block: few calls, and memory for some copies
THREADS = False  # a device runs one operation after the other, whichever thread starts them
FEWEST_ROWS = 256  # of a block; memory that does not hold them is too small


@cache
def xp():
    """Return the array namespace of torch."""
    for package in ("sklearn.externals.array_api_compat", "array_api_compat"):  # 1.7 has the first
        with suppress(ImportError):
            return import_module(f"{package}.torch")
    raise ImportError(
        "tensors on a device need scikit-learn 1.7 or later, or the package array-api-compat; "
        "install one of them, or pass X.cpu()"
    )


def adopt(X):
    """Return an array on another device as a tensor that shares its memory."""
    return torch.from_dlpack(X)


def sent(X, device):
    """Return an array of NumPy as a tensor on a device that the user named."""
    try:
        target = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        (reason, *_) = str(error).splitlines() or ["no reason given"]
        raise ValueError(
            f"device={str(device)!r} cannot be used by torch ({reason}): leave device out to "
            "compute on the CPU"
        ) from None
    try:
        return asarray(X, torch.empty(0, device=target))
    except torch.OutOfMemoryError:
        raise MemoryError(
            f"X takes {X.nbytes / 2**30:.1f} GiB, which {target} has not free: use fewer rows, or "
            "leave device out"
        ) from None


def asarray(values, like, dtype=None):
    """Return values as a tensor on the device of ``like``."""
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.copy()  # torch warns of memory that it may not write to
    return torch.as_tensor(values, dtype=_dtype(dtype), device=like.device)


def _dtype(dtype):
    return getattr(torch, dtype) if isinstance(dtype, str) else dtype


def cast(A, dtype):
    """Return A in the dtype of that name, or in that of another tensor."""
    return A.to(_dtype(getattr(dtype, "dtype", dtype)))


def empty(shape, like, dtype=None):
    """Return a tensor that is not set, in the dtype of ``like`` unless another is named."""
    return torch.empty(shape, dtype=_dtype(dtype) or like.dtype, device=like.device)


def to_host(A):
    """Return A as an array of NumPy or a sparse matrix of SciPy."""
    if A.layout == torch.sparse_csr:
        parts = (A.values(), A.col_indices(), A.crow_indices())
        data, indices, starts = (part.cpu().numpy() for part in parts)
        return sparse.csr_array((data, indices, starts), shape=tuple(A.shape))
    return A.detach().cpu().numpy()


def standard_normal(rng, shape, like):
    """Return normal numbers drawn on the device, from a seed drawn by a NumPy Generator."""
    generator = torch.Generator(device=like.device).manual_seed(int(rng.integers(2**62)))
    return torch.randn(shape, generator=generator, dtype=like.dtype, device=like.device)


def squared_norms(X):
    """Return the squared length of every row."""
    return torch.sum(X * X, dim=1)


def diagonal(A):
    """Return the diagonal of a square matrix, or of several."""
    return torch.diagonal(A, dim1=-2, dim2=-1)


def class_scatters(X, q, mean):
    """Return sum_i q_iz (x_i - mean_z) (x_i - mean_z)^T of every class z, (k, d, d)."""
    C = X - mean[:, None]  # (k, n, d)
    return (C * q.T[:, :, None]).mT @ C


def mahalanobis(X, mean, L):
    """Return |L_z^-1 (x - mean_z)|^2, (n, k), for lower triangular L (k, d, d) or (1, d, d)."""
    C = (X - mean[:, None]).mT  # (k, d, n)
    r = torch.linalg.solve_triangular(L.expand(len(mean), -1, -1), C, upper=False)
    return torch.sum(r * r, dim=1).T


def canonical_order(Z):
    """Return a permutation of the rows that depends on their coordinates alone."""
    direction = np.random.default_rng(0).standard_normal(Z.shape[1])
    along = Z.double() @ torch.as_tensor(direction, device=Z.device)
    return torch.argsort(along, stable=True)


def lexsort_rows(first, second):
    """Return the order of the entries of each row by ``first``, and where it ties by ``second``."""
    order = torch.argsort(second, dim=1, stable=True)
    return torch.gather(order, 1, torch.argsort(torch.gather(first, 1, order), dim=1, stable=True))


def median(A):
    """Return the median of each column, or of a row of numbers."""
    ordered = torch.sort(A, dim=0).values
    return (ordered[(len(A) - 1) // 2] + ordered[len(A) // 2]) / 2


def beside(parts):
    """Return tensors side by side, as columns of one."""
    return torch.cat(list(parts), dim=1)


def below(parts):
    """Return arrays below each other, as rows of one."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def softmax(A):
    """Return exp(A) with every row divided by its sum."""
    return torch.softmax(A, dim=1)


def log_softmax(A):
    """Return the logarithm of `softmax`."""
    return torch.log_softmax(A, dim=1)


def inverse(A, factor):
    """Return factor / A, written over A."""
    return A.reciprocal_().mul_(factor)


def exponential(A):
    """Return exp(A), written over A."""
    return A.exp_()


def squared_distances(X, Y=None):
    """Return the squared distances of the rows of X to those of Y, or to each other."""
    if Y is None:
        return squared_distances(X, X).fill_diagonal_(0)
    D = torch.addmm(squared_norms(Y), X, Y.T, alpha=-2).add_(squared_norms(X)[:, None])
    return D.clamp_(min=0)


def gathered_rows(width):
    """Return how many rows of ``width`` numbers to gather at a time."""
    return max((1 << 26) // max(width, 1), 16)


def row_totals(A):
    """Return the sum of every row."""
    return torch.sum(A, dim=1)


def row_products(A, B):
    """Return the inner product of each row of A with that of B."""
    return torch.sum(A * B, dim=1)


def stacked(arrays):
    """Return matrices (a, b) as one (n, a, b), with zeros where one is smaller than others."""
    shape = [max(A.shape[axis] for A in arrays) for axis in (0, 1)]
    out = torch.zeros((len(arrays), *shape), dtype=arrays[0].dtype, device=arrays[0].device)
    for place, A in zip(out, arrays, strict=True):
        place[: A.shape[0], : A.shape[1]] = A
    return out


def partner_sums(i, j, n, like):
    """Return a function of c (m,) and P (n, k): the sums of c P_j at i and c P_i at j, (n, k)."""
    starts, columns, pairs = (
        torch.as_tensor(A, device=like.device) for A in host.pairs_by_row(i, j, n)
    )

    def sums(c, P):
        each = c[pairs][:, None] * P[columns]
        return torch.segment_reduce(each, "sum", offsets=starts, axis=0, unsafe=True)

    return sums


def kth_smallest(A, k):
    """Return the entry of each row that k others are below."""
    return torch.topk(A, k + 1, dim=1, largest=False).values[:, k]


def eigh(A):
    """Return all eigenvalues of a symmetric matrix, smallest first, and the vectors, in float64."""
    return torch.linalg.eigh(A.double())


def leading_directions(Y, rank, seed):
    """Return the leading right singular vectors of Y (n, d) as columns, (d, rank).

    They are found in a random subspace, as scikit-learn does.
    """
    wide = min(rank + EXTRA_DIRECTIONS, Y.shape[1])
    V = standard_normal(np.random.default_rng(seed), (Y.shape[1], wide), Y)
    for _ in range(POWER_STEPS):
        V = torch.linalg.qr(Y.T @ (Y @ V))[0]
    small = (Y @ V).double()
    found = V.double() @ torch.linalg.eigh(small.T @ small)[1][:, wide - rank :]
    return torch.flip(found, (1,)).to(Y.dtype).contiguous()


def ranks(table, X):
    """Return for every entry of X its rank in the same column of a sorted table, ties halfway."""
    columns, values = table.T.contiguous(), X.T.contiguous()
    below = torch.searchsorted(columns, values)
    upto = torch.searchsorted(columns, values, side="right")
    return (below + upto).double().T / 2


def normal_quantiles(share):
    """Return the quantiles of the standard normal distribution."""
    return torch.special.ndtri(share)


def _csr(starts, columns, values, shape):
    with warnings.catch_warnings():  # torch says that its sparse matrices are new and unchecked
        warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")
        return torch.sparse_csr_tensor(starts, columns, values, shape, check_invariants=False)


def row_matrix(indices, weights, p):
    """Return the sparse matrix (b, p) of s numbers and weights a row."""
    b, s = indices.shape
    starts = torch.arange(0, b * s + 1, s, dtype=torch.int32, device=indices.device)
    columns, place = torch.sort(indices, dim=1)
    values = torch.gather(weights, 1, place)
    return _csr(starts, columns.to(torch.int32).ravel(), values.ravel(), (b, p))


def symmetric_maximum(indices, weights):
    """Return the sparse matrix with the larger weight of (i, j) and (j, i), from k of each row."""
    n, k = indices.shape
    columns = indices.to(torch.int64).ravel()
    rows = torch.arange(n, device=indices.device).repeat_interleave(k)
    keys, order = torch.sort(torch.cat([rows * n + columns, columns * n + rows]))
    values = torch.cat([weights.ravel()] * 2)[order]
    # a pair that both ends list is there twice, side by side
    twice = torch.zeros_like(keys, dtype=torch.bool)
    twice[1:] = keys[1:] == keys[:-1]
    larger = values.clone()
    larger[:-1] = torch.where(twice[1:], torch.maximum(values[:-1], values[1:]), values[:-1])
    kept = torch.nonzero(~twice).ravel()
    keys, values = keys[kept], larger[kept]
    starts = torch.searchsorted(keys, torch.arange(n + 1, device=keys.device) * n)
    return _csr(starts.to(torch.int32), (keys % n).to(torch.int32), values, (n, n))


def row_sums(W):
    """Return the sum of the magnitudes of each row, (n,)."""
    if W.layout != torch.sparse_csr:
        return torch.sum(torch.abs(W), dim=1)
    return torch.segment_reduce(torch.abs(W.values()), "sum", offsets=W.crow_indices().long())


def _rows_of(W):
    """Return the row number of every entry of a sparse matrix."""
    starts = W.crow_indices().long()
    rows = torch.arange(W.shape[0], device=W.device)
    return rows.repeat_interleave(starts[1:] - starts[:-1], output_size=W.values().shape[0])


def scaled(W, root):
    """Return diag(root) W diag(root) of a sparse matrix."""
    values = W.values() * root[_rows_of(W)] * root[W.col_indices().long()]
    return _csr(W.crow_indices(), W.col_indices(), values, tuple(W.shape))


def edges(W):
    """Return where the entries of each row of a sparse matrix start, their columns and values."""
    return W.crow_indices().long(), W.col_indices().long(), W.values()


def edge_owners(starts):
    """Return the row of each entry of a sparse matrix, from where those of each row start."""
    rows = torch.arange(len(starts) - 1, device=starts.device)
    return rows.repeat_interleave(starts[1:] - starts[:-1])


def rows_at(Y, numbers):
    """Return the rows of Y of some numbers."""
    return Y[numbers]


def edge_sums(weights, columns, starts, Y):
    """Return the sums of the rows of Y and of 1, weighted, over the entries of each row."""
    both = torch.cat([weights[:, None] * Y[columns], weights[:, None]], dim=1)
    total = torch.segment_reduce(both, "sum", offsets=starts, axis=0, unsafe=True)
    return total[:, :-1], total[:, -1]


def components(W):
    """Return the number of the connected component of each point of a sparse graph."""
    edges = torch.nonzero(W.values()).ravel()
    return _components(_rows_of(W)[edges], W.col_indices().long()[edges], W.shape[0])


def _components(rows, columns, n):
    """Return the number of the connected component of each of n points, from edges.

    Every point takes the smallest number among its neighbours' numbers, and then the number of the
    point of that number, until nothing changes: about log n rounds.
    """
    label = torch.arange(n, device=rows.device)
    while True:
        least = label.scatter_reduce(0, rows, label[columns], "amin")
        # the point of the old number learns the new one too, so that whole trees are joined
        least = least.scatter_reduce(0, label, least, "amin")
        least = least[least]
        least = least[least]
        if torch.equal(least, label):
            return torch.unique(label, return_inverse=True)[1]
        label = least


def cover_components(W):
    """Return the components of the graph with two copies, i+ and i-, of every point, (2, n)."""
    W = W if W.layout == torch.sparse_csr else W.to_sparse_csr()
    n, values = W.shape[0], W.values()
    if not len(values) or float(values.min()) >= 0:  # two copies without an edge between them
        label = components(W)
        return torch.stack([label, label + n])
    rows, columns, other = _rows_of(W), W.col_indices().long(), n * (values < 0)
    some = torch.nonzero(values).ravel()
    rows, columns, other = rows[some], columns[some], other[some]
    # from i+ to j+ or j-, and from i- to the other one
    ends = torch.cat([columns + other, columns + n - other])
    return _components(torch.cat([rows, rows + n]), ends, 2 * n).reshape(2, n)


def totals_by_name(names, values):
    """Return the number of each name among the different ones, and the sum of values of each."""
    number = torch.unique(names, return_inverse=True)[1]
    if not len(number):
        return number, values.double()
    ordered, place = torch.sort(number, stable=True)
    starts = torch.searchsorted(ordered, torch.arange(int(ordered[-1]) + 2, device=names.device))
    return number, torch.segment_reduce(values[place].double(), "sum", offsets=starts)


def ranks_from_largest(values):
    """Return the rank of each value, 0 for the largest; equal ones keep their order."""
    order = torch.argsort(values, descending=True, stable=True)
    return torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))


def indicators(n, rows, columns, values, width):
    """Return the tensor (n, width) with one value in each row; further columns are left out."""
    out = torch.zeros((n, width), dtype=values.dtype, device=values.device)
    if width:
        kept = columns < width
        out[rows[kept], columns[kept]] = values[kept]
    return out


def one_column(values):
    """Return a column of values in the form of `indicators`."""
    return values[:, None]


def _keys_of(W):
    """Return one number for the place of every entry of a sparse matrix, in its order."""
    return _rows_of(W) * W.shape[1] + W.col_indices().long()


def _from_keys(keys, values, shape):
    """Return the sparse matrix with values at the places of sorted keys; zeros are not stored."""
    kept = torch.nonzero(values).ravel()
    keys, values = keys[kept], values[kept]
    ends = torch.arange(shape[0] + 1, device=keys.device) * shape[1]
    starts = torch.searchsorted(keys, ends).to(torch.int32)
    return _csr(starts, (keys % shape[1]).to(torch.int32), values, shape)


def _summed(keys, values, shape):
    """Return the sparse matrix of values that are added where places repeat."""
    ordered, place = torch.sort(keys, stable=True)
    different, count = torch.unique_consecutive(ordered, return_counts=True)
    starts = torch.nn.functional.pad(torch.cumsum(count, 0), (1, 0))
    total = torch.segment_reduce(values[place], "sum", offsets=starts, unsafe=True)
    return _from_keys(different, total, shape)


def mixture(W, a, Q, b):
    """Return a W + b Q of a symmetric W, of the kind that W is, and a csr_array Q."""
    Q = sparse.coo_array(Q)
    rows, columns = (asarray(part.astype(np.int64), W) for part in Q.coords)
    more = asarray(Q.data, W, W.dtype)
    if W.layout == torch.strided:
        return (a * W).index_put_((rows, columns), b * more, accumulate=True)
    keys = torch.cat([_keys_of(W), rows * W.shape[1] + columns])
    return _summed(keys, torch.cat([a * W.values(), b * more]), tuple(W.shape))


def with_entries(W, rows, columns, values):
    """Return W with other values at listed places, each listed once; zeros are not stored."""
    if W.layout == torch.strided:
        return W.index_put((asarray(rows, W), asarray(columns, W)), asarray(values, W, W.dtype))
    places = asarray(rows * W.shape[1] + columns, W)
    keys, place = torch.sort(torch.cat([_keys_of(W), places]), stable=True)
    found = torch.cat([W.values(), asarray(values, W, W.dtype)])[place]
    last = torch.ones_like(keys, dtype=torch.bool)
    last[:-1] = keys[1:] != keys[:-1]
    return _from_keys(keys[last], found[last], tuple(W.shape))


def shifted(W, diagonal, divisor):
    """Return (W + diag(diagonal)) / divisor."""
    if W.layout == torch.strided:
        return (W + torch.diag(diagonal)) / divisor
    own = torch.arange(W.shape[0], device=W.device) * (W.shape[1] + 1)
    keys, values = torch.cat([_keys_of(W), own]), torch.cat([W.values(), diagonal])
    return _summed(keys, values / divisor, tuple(W.shape))


def times(W, c):
    """Return c W of a sparse or dense matrix, in its dtype."""
    if W.layout != torch.sparse_csr:
        return W * c
    return _csr(W.crow_indices(), W.col_indices(), W.values() * c, tuple(W.shape))


def dense(W):
    """Return a sparse or dense matrix as a dense one."""
    return W if W.layout == torch.strided else W.to_dense()


def like_graph(A, W):
    """Return a csr_array in the library and on the device of another sparse matrix."""
    starts, columns = (asarray(part.astype(np.int32), W) for part in (A.indptr, A.indices))
    return _csr(starts, columns, asarray(A.data, W), A.shape)


def scattered(shape, rows, columns, values, like):
    """Return zeros with values at listed places, in the dtype of another matrix."""
    B = torch.zeros(shape, dtype=like.dtype, device=like.device)
    B[asarray(rows, like), asarray(columns, like)] = asarray(values, like, like.dtype)
    return B


def times_sparse(A, Z):
    """Return A Z of a tensor A and a small sparse matrix Z of SciPy."""
    return A @ asarray(Z.toarray(), A, A.dtype)


def without_diagonal(A):
    """Return A with zeros on its diagonal, written over A."""
    return A.fill_diagonal_(0)


def largest_entry(W):
    """Return the largest entry of a matrix."""
    values = W.values() if W.layout == torch.sparse_csr else W
    return float(values.max()) if values.numel() else 0.0


def positive_mean(W):
    """Return the mean positive entry off the diagonal, 1 if there is none."""
    if W.layout == torch.strided:
        values, off = W, ~torch.eye(len(W), dtype=torch.bool, device=W.device)
    else:
        values, off = W.values(), _rows_of(W) != W.col_indices()
    positive = values[(values > 0) & off]
    return float(positive.mean()) if len(positive) else 1


def label_sums(rows, labels, k):
    """Return the sum of the rows of each label, (k, m), and how many there are."""
    members = (labels[:, None] == torch.arange(k, device=rows.device)).to(rows.dtype)
    return members.T @ rows, torch.sum(members, dim=0, dtype=torch.float64)


def _members(labels, c, dtype):
    """Return the indicator (n, c) of the label of every point."""
    return (labels[:, None] == torch.arange(c, device=labels.device)).to(dtype)


def weights_between(W, labels, c):
    """Return the sums of the entries of a sparse matrix between c labels, NumPy (c, c)."""
    S = _members(labels, c, W.dtype)
    return (S.T @ product(W, S)).double().cpu().numpy()


def shared_counts(partitions):
    """Return of every two labels of several label tensors (n,) how many points have both.

    The labels of all tensors are numbered on, 0..c - 1. The result is of NumPy, (c, c).
    """
    S = torch.cat([_members(one, int(one.max()) + 1, torch.float64) for one in partitions], dim=1)
    return (S.T @ S).cpu().numpy()


def nearest_centres(X, centres, s):
    """Return the numbers (b, s) of the s nearest centres, nearest first, and squared distances."""
    middle = torch.mean(centres, dim=0)
    C = centres - middle
    D = torch.addmm(squared_norms(C), X - middle, C.T, alpha=-2)
    near = torch.empty((len(X), s), dtype=torch.int64, device=X.device)
    for a in range(s):  # s are few: faster than torch.topk
        near[:, a] = torch.argmin(D, dim=1)
        D.scatter_(1, near[:, a : a + 1], torch.inf)
    squared = torch.stack([squared_norms(X - centres[near[:, a]]) for a in range(s)], dim=1)
    squared, order = torch.sort(squared, dim=1, stable=True)
    return torch.gather(near, 1, order).to(torch.int32), squared


def moved_means(X, centres, steps):
    """Return the centres after some steps of k-means; a centre without rows stays."""
    for _ in range(steps):
        labels = nearest_centres(X, centres, 1)[0][:, 0].long()
        total, count = label_sums(X, labels, len(centres))
        count = count.to(X.dtype)[:, None]
        centres = torch.where(count > 0, total / torch.clamp(count, min=1), centres)
    return centres


def in_order_of_appearance(labels, k):
    """Return the different labels, as a NumPy array, by first appearance."""
    n = len(labels)
    first = torch.full((k,), n, device=labels.device)
    rows = torch.arange(n, device=labels.device)
    first = first.scatter_reduce(0, labels, rows, "amin").cpu().numpy()
    return np.argsort(first, kind="stable")[: np.count_nonzero(first < n)]


def equal(A, B):
    """Tell whether two tensors of one shape are equal."""
    return bool(torch.all(A == B))


def pair_sums(indices, weights, p, left=None):
    """Return half of Z^T Z (p, p), and Z^T 1, of rows with s numbers and weights in [0, 1].

    ``left`` are the weights of Z^T, those of Z if None.
    """
    s = indices.shape[1]
    place, weights = indices.long(), weights.double()
    largest = 1.0 if left is None else max(float(left.max()), 1e-300)
    left = weights if left is None else left / largest
    total = torch.zeros(p * p, dtype=torch.int64, device=place.device)
    mass = torch.zeros(p, dtype=torch.int64, device=place.device)
    for a in range(s):
        mass.index_add_(0, place[:, a], _fixed(weights[:, a]))
        for b in range(s):
            total.index_add_(0, place[:, a] * p + place[:, b], _fixed(left[:, a] * weights[:, b]))
    half = largest * total.reshape(p, p).double() / (2 * FIXED_POINT)
    return half, mass.double() / FIXED_POINT


def _fixed(values):
    return torch.round(values * FIXED_POINT).to(torch.int64)


def row_keys(X):
    """Return one 64-bit number per row, equal for equal rows, and else different but by chance."""
    bits = (X + 0.0).contiguous().view(torch.int32 if X.dtype == torch.float32 else torch.int64)
    random = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, bits.shape[1]) | 1
    factors = torch.as_tensor(random, device=X.device)
    mixed = (bits.long() + factors) * factors  # products and sums wrap around
    mixed = (mixed ^ (mixed >> 29)) * factors
    return torch.sum(mixed ^ (mixed >> 32), dim=1)


def match_rows(X, queries):
    """Return for every query the first row of X equal to it, -1 where there is none."""
    keys, order = torch.sort(row_keys(X), stable=True)
    place = torch.searchsorted(keys, row_keys(queries.to(X.dtype)))
    found = order[torch.clamp(place, max=len(keys) - 1)]
    same = torch.all(X[found] == queries.to(X.dtype), dim=1)
    return torch.where(same, found, -1)


@cache
def _side_stream(device):
    """Return a stream to record on: always the same, because each has memory for products."""
    return torch.cuda.Stream(device)


def repeated(step, state):
    """Return a function of a number of times that applies ``step`` to the state that often.

    The state is a tensor or several. On a GPU the step is recorded once and replayed, which saves
    the time of its many small calls. The result is overwritten by the next call. The first step is
    not recorded: it sets up what the device needs.
    """
    several = isinstance(state, tuple)
    device = (state[0] if several else state).device
    if device.type != "cuda":
        return host.repeated(step, state)
    replay: Any = None

    def prepare():
        nonlocal state, replay
        side = _side_stream(device)
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side):
            state = step(state)
            held, replay = _recorded(step, state if several else (state,))
        state = held if several else held[0]
        torch.cuda.current_stream(device).wait_stream(side)

    def advance(times):
        if times and replay is None:
            prepare()
            times -= 1
        for _ in range(times):
            replay()
        return state

    return advance


def _recorded(step, state):
    """Return a copy of the state, a tuple, and a function that applies a step to it in place."""
    graph, held = torch.cuda.CUDAGraph(), tuple(A.clone() for A in state)
    graph.capture_begin(capture_error_mode="thread_local")
    try:
        new = step(held) if len(held) > 1 else (step(held[0]),)
        for A, B in zip(held, new, strict=True):
            A.copy_(B)
    finally:
        graph.capture_end()  # after an interrupt too: nothing else may be recorded meanwhile
    return held, graph.replay


def minima(objective, W, *, steps, settled):
    """Return W (b, ...) at a minimum of each of b functions; see `minima_tensors.minima`."""
    from linkwise.arrays import minima_tensors

    return minima_tensors.minima(objective, W, steps=steps, settled=settled, repeated=repeated)


def batches(jobs, size):
    """Return lists of jobs that are done at a time: as many as keep a device busy, of any size."""
    return [jobs[start : start + MOST_JOBS] for start in range(0, len(jobs), MOST_JOBS)]


def _kernels_for(S):
    """Return the kernels if S is a sparse matrix on a GPU, else None.

    The sparse product of torch adds in another order from run to run there.
    """
    if S.layout != torch.sparse_csr or S.device.type != "cuda":
        return None
    from linkwise.arrays.products import kernels

    return kernels


def product(S, V):
    """Return S V of a sparse or dense matrix S."""
    if V.ndim == 1:
        return product(S, V[:, None])[:, 0]
    S = S.to(V.dtype)
    kernels = _kernels_for(S)
    return S @ V if kernels is None else kernels.sparse_product(S, V)


def chebyshev_step(S, now, before, factor, shift):
    """Return factor S now - shift now - before."""
    kernels = _kernels_for(S)
    if kernels is not None:
        return kernels.sparse_product(S, now, before, factor, shift)
    return torch.addmm(before, S, now, beta=-1, alpha=factor).sub_(now, alpha=shift)


def nearest(X, Q, k, wanted, *, centre, exact, progress=None):
    """Return distances and numbers of the nearest points; see `nearest_tensors.search`."""
    from linkwise.arrays.nearest_tensors import search

    return search(X, Q, k, wanted, centre=centre, exact=exact, progress=progress)


def free_memory(like):
    """Return the bytes of free memory on the device of a tensor; None: that of the machine."""
    if like.device.type != "cuda":
        return None
    held = torch.cuda.memory_reserved(like.device) - torch.cuda.memory_allocated(like.device)
    return torch.cuda.mem_get_info(like.device)[0] + held


def block_rows(like, bytes_a_row, most):
    """Return the number of rows, at most ``most``, whose work fits in the memory of a device."""
    if most * bytes_a_row <= SMALL:
        return most
    free = free_memory(like) or (1 << 30)
    return int(min(most, max(FEWEST_ROWS, SPARE_MEMORY * free / max(bytes_a_row, 1))))


def rows_a_block(like, n, size):
    """Return how many of n rows of ``size`` bytes make a block: as free memory allows."""
    return block_rows(like, 8 * size, min(max(n, 1), DEVICE_ROWS))


def in_memory(X):
    """Tell whether X is an array in memory, whose rows can be listed."""
    return True


def fits(size, limit):
    """Tell whether so many bytes are to be held at once: on a device always."""
    return True


def large(shape, like, dtype, *, in_file):
    """Return a tensor to be filled; a device has no files."""
    return empty(shape, like, dtype)


def number_type(p):
    """Return the dtype of the numbers of p anchors."""
    return torch.int32


def float_type(X):
    """Return the dtype of computations with X: float32 or float64."""
    return X.dtype


def contiguous(X):
    """Return X with its rows one after the other in memory."""
    return X.contiguous()


def search_width(d, p):
    """Return the numbers that a row of d columns takes in a search of the nearest of p anchors.

    A device holds the products with all anchors.
    """
    return p // 4


def in_blocks(work, n, rows, *, instead):
    """Call work(slice) over n rows; where memory runs out, with half as many rows at a time.

    Parameters
    ----------
    work : function of a slice; it may be called again for the same rows
    n, rows : int, number of rows in all and at a time
    instead : str, what a user can do if even the smallest block does not fit
    """
    start = 0
    while start < n:
        part = slice(start, min(start + rows, n))
        try:
            work(part)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            if rows <= FEWEST_ROWS:
                raise MemoryError(
                    f"the device has too little memory for {rows} of {n} rows at a time: {instead}"
                ) from None
            rows = max(rows // 2, FEWEST_ROWS)
            continue
        start = part.stop
