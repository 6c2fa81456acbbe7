"""Spread pairwise constraints over a graph, exhaustively: E2CP [1].

    (1)  S = D^-1/2 W D^-1/2               one step of diffusion
    (2)  G = (1 - a) (I - a S)^-1          diffusion run to its end
    (3)  F = G Z G, divided by max |F|     every pair, judged by its neighbours
    (4)  W'_ij = 1 - (1 - F_ij)(1 - W_ij)  where F_ij >= 0
                 (1 + F_ij) W_ij           elsewhere

Z is zero outside the r points the user spoke of, so with H = G[:, touched] (n x r) we have
F = H Z H^T. `spread_edges` takes F on the edges of a sparse graph and on the given pairs alone: the
n x n matrices G and F are never formed. `spread` takes it everywhere, which also joins points that
no edge joins and learns more, at n^2 memory.

I - a S has its eigenvalues in [1 - a, 1 + a], so Chebyshev's iteration solves (2) with a known
number of products; 27 of them give 8 digits at a = 0.8. Cost: O(nnz r) a product, O(n r) memory.

[1] Lu & Ip, Constrained spectral clustering via exhaustive and efficient constraint propagation,
    ECCV 2010.
"""

import numpy as np
from scipy import sparse

from linkwise.graph.laplacian import normalise

COLUMNS = 256  # of H at a time: they stay in the cache
EDGES = 1 << 16


def diffuse(S, B, *, alpha, tol=1e-8):
    """Return G B, Eq. (2), by Chebyshev's iteration [on (I - a S) X = (1 - a) B].

    >>> diffuse(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0], [0.0]]), alpha=0.5).round(4)
    array([[0.6667],
           [0.3333]])
    """
    if alpha == 0:
        return B
    alpha = float(alpha)  # a NumPy scalar would turn float32 into float64
    rate = alpha / (1 + (1 - alpha**2) ** 0.5)  # the error shrinks by this every product
    steps = int(np.ceil(np.log(tol / 2) / np.log(rate)))
    # the centre of the spectrum is 1 and its radius alpha
    previous, X, weight = np.zeros_like(B), (1 - alpha) * B, 2.0
    for _ in range(steps):
        weight = 1 / (1 - alpha**2 * weight / 4)
        step = alpha * (S @ X) + (1 - alpha) * B
        X, previous = weight * (step - previous) + previous, X
    return X


def touched_matrix(i, j, sign, weight):
    """Return the touched points (r,) and Z (r, r) over them."""
    touched = np.unique(np.r_[i, j])
    a, b = np.searchsorted(touched, i), np.searchsorted(touched, j)
    r = len(touched)
    value = np.r_[sign * weight, sign * weight]
    return touched, sparse.csr_array((value, (np.r_[a, b], np.r_[b, a])), shape=(r, r))


def diffused_columns(S, touched, *, alpha):
    """Return H = G[:, touched], (n, r), in blocks of columns."""
    n, r = S.shape[0], len(touched)
    H = np.empty((n, r), dtype=S.dtype)
    for start in range(0, r, COLUMNS):
        part = touched[start : start + COLUMNS]
        B = np.zeros((n, len(part)), dtype=S.dtype)
        B[part, np.arange(len(part))] = 1
        H[:, start : start + COLUMNS] = diffuse(S, B, alpha=alpha)
    return H


def reweight(F, w):
    """Return W' of Eq. (4)."""
    return np.where(F >= 0, 1 - (1 - F) * (1 - w), (1 + F) * w)


def _on_edges(H, HZ, rows, columns):
    """Return F of Eq. (3) on listed entries."""
    F = np.empty(len(rows), dtype=H.dtype)
    for start in range(0, len(rows), EDGES):
        part = slice(start, start + EDGES)
        F[part] = np.einsum("ij,ij->i", HZ[rows[part]], H[columns[part]])
    return F


def _factors(W, i, j, sign, weight, alpha):
    """Return H and H Z, both (n, r): F = (H Z) H^T, Eq. (3)."""
    touched, Z = touched_matrix(i, j, sign, weight)
    H = diffused_columns(normalise(W), touched, alpha=alpha)
    return H, np.asarray((Z.astype(H.dtype) @ H.T).T)  # Z is symmetric


def _largest(F):
    return max(np.abs(F).max(initial=0), np.finfo(F.dtype).tiny)


def spread(W, i, j, sign, weight, *, alpha=0.8):
    """Return the affinity W' that constraints have spread over, dense.

    Parameters
    ----------
    W : array or csr_array (n, n), symmetric, weights in [0, 1]; the diagonal plays no part
    i, j, sign, weight : the pairs, at least one
    alpha : float in [0, 1), how far a constraint reaches

    Returns
    -------
    array (n, n), zero diagonal
    """
    H, HZ = _factors(W, i, j, sign, weight, alpha)
    F = HZ @ H.T
    np.fill_diagonal(F, 0)
    F /= _largest(F)
    W = reweight(F, W.toarray() if sparse.issparse(W) else W)
    np.fill_diagonal(W, 0)
    return W


def spread_edges(W, i, j, sign, weight, *, alpha=0.8):
    """Return W' on the edges of W and on the given pairs alone, a csr_array; see `spread`."""
    n = W.shape[0]
    H, HZ = _factors(W, i, j, sign, weight, alpha)
    zero = np.zeros(2 * len(i), dtype=W.dtype)
    pairs = sparse.coo_array((zero, (np.r_[i, j], np.r_[j, i])), shape=W.shape)
    edges = sparse.coo_array(W)
    rows = np.r_[edges.coords[0], pairs.coords[0]]
    columns = np.r_[edges.coords[1], pairs.coords[1]]
    keys, first = np.unique(rows.astype(np.int64) * n + columns, return_index=True)
    w = np.r_[edges.data, pairs.data][first]  # an edge comes before the pair that names it again
    rows, columns = keys // n, keys % n
    off = rows != columns
    rows, columns, w = rows[off], columns[off], w[off]
    F = _on_edges(H, HZ, rows, columns)
    F = (F + _on_edges(H, HZ, columns, rows)) / 2  # symmetric to the last digit
    F /= _largest(F)
    spread_ = sparse.csr_array((reweight(F, w).astype(W.dtype), (rows, columns)), shape=W.shape)
    spread_.eliminate_zeros()
    return spread_
