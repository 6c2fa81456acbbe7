"""The operations that have no standard form, for NumPy and SciPy."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


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


def canonical_order(Z):
    """Return a permutation of the rows that depends on their coordinates alone."""
    return np.lexsort(Z.T[::-1])


def lexsort_rows(first, second):
    """Return the order of the entries of each row by ``first``, and where it ties by ``second``."""
    return np.lexsort((second, first), axis=1)


def median(A):
    """Return the median of each column, or of a row of numbers."""
    return np.median(A, axis=0)


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


def components(W):
    """Return the number of the connected component of each point of a sparse graph."""
    return connected_components(W, directed=False)[1]


def label_sums(rows, labels, k):
    """Return the sum of the rows of each label, (k, m), and how many there are."""
    members = sparse.csc_array(
        (np.ones(len(rows), rows.dtype), labels, np.arange(len(rows) + 1)), (k, len(rows))
    )
    return members @ rows, np.bincount(labels, minlength=k)


def in_order_of_appearance(labels, k):
    """Return the different labels, as a NumPy array, by first appearance."""
    names, first = np.unique(labels, return_index=True)
    return names[np.argsort(first)]


def repeated(step, state):
    """Return a function of a number of times that applies ``step`` to the state that often."""

    def advance(times):
        nonlocal state
        for _ in range(times):
            state = step(state)
        return state

    return advance


def chebyshev_step(S, now, before, factor, shift):
    """Return factor S now - shift now - before."""
    return factor * (S @ now) - shift * now - before


def free_memory(like):
    """Return the bytes of free memory; None: the limits of the machine apply."""
    return None
