"""Spread pairwise constraints over a graph, exhaustively: E2CP [1].

    (1)  S = D^-1/2 W D^-1/2               one step of diffusion
    (2)  G = (1 - a) (I - a S)^-1          diffusion run to its end
    (3)  F = G Z G, divided by max |F|     every pair, judged by its neighbours
    (4)  W'_ij = 1 - (1 - F_ij)(1 - W_ij)  where F_ij >= 0
                 (1 + F_ij) W_ij           elsewhere

Z is zero outside the r constrained points, so with H = G[:, touched] (n x r) we have F = H Z H^T.
`spread_edges` computes F only on the edges of a sparse graph, on the given pairs and around
must-links: the n x n matrices G and F are never formed. `spread` computes all of F, which learns
more, with n^2 memory.

F is summed over blocks of columns of H and H Z. Columns are ordered by the connected components of
Z, so that a block of H Z depends mostly on the same block of H. The rest,
(H Z)_b = H_b Z_bb + G Z_(other, b), is diffused again.

I - a S has its eigenvalues in [1 - a, 1 + a], so Chebyshev's iteration solves (2) with a known
number of products: 27 give 8 digits at a = 0.8 (21 give the 6 of float32). A product takes O(nnz r)
time, 1 to 4 ms for a column at n = 70,000 with 20 neighbours. It is faster if neighbours are close
in memory: `order` puts them side by side. Blocks run on threads, with O(nnz + n COLUMNS) memory
each.

[1] Lu & Ip, Constrained spectral clustering via exhaustive and efficient constraint propagation,
    ECCV 2010.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkwise.arrays import door, dtype_name, namespace, to_host
from linkwise.blocks import run_blocks
from linkwise.blocks.executors import available_cores
from linkwise.graph.laplacians import normalise
from linkwise.kernel.entries import linked_pairs, linked_pairs_count, listed, row_products

COLUMNS = 64  # of H at a time: enough to use each row of S several times, few enough for memory
VALUES = 1 << 23  # in such a block at most; with many points it has fewer columns


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
    rest = (1 - alpha) * B
    previous, X, weight = namespace(B).zeros_like(B), rest, 2.0
    for _ in range(steps):
        weight = 1 / (1 - alpha**2 * weight / 4)
        step = door(S).product(
            S, X
        )  # then in place: previous + weight (alpha S X + rest - previous)
        step *= alpha
        step += rest
        step -= previous
        step *= weight
        step += previous
        X, previous = step, X
    return X


def unit_columns(n, points, like):
    """Return the columns of the identity that belong to some points, dense (n, len(points)).

    >>> unit_columns(3, np.array([2, 0]), np.zeros(1))
    array([[0., 1.],
           [0., 0.],
           [1., 0.]])
    """
    return door(like).scattered((n, len(points)), points, np.arange(len(points)), 1, like)


def touched_matrix(i, j, sign, weight):
    """Return the touched points (r,) and Z (r, r) over them, components of Z side by side."""
    touched = np.unique(np.r_[i, j])
    a, b = np.searchsorted(touched, i), np.searchsorted(touched, j)
    r = len(touched)
    value = np.r_[sign * weight, sign * weight]
    Z = sparse.csr_array((value, (np.r_[a, b], np.r_[b, a])), shape=(r, r))
    order = np.argsort(connected_components(Z, directed=False)[1], kind="stable")
    return touched[order], Z[order][:, order]


def reweight(F, w):
    """Return W' of Eq. (4)."""
    return namespace(F).where(F >= 0, 1 - (1 - F) * (1 - w), (1 + F) * w)


def _width(n):
    """Return how many columns of H make a block."""
    return max(min(COLUMNS, VALUES // n), 1)


def factor_block(S, touched, Z, columns, *, alpha):
    """Return columns of H Z and of H, Eq. (3); Z csc_array, ``columns`` a slice of it."""
    n, tools = S.shape[0], door(S)
    tol = 1e-8 if dtype_name(S) == "float64" else 1e-6
    H = diffuse(S, unit_columns(n, touched[columns], S), alpha=alpha, tol=tol)
    HZ = tools.times_sparse(H, Z[columns, columns])
    part = Z[:, columns].tocoo()
    away = (part.row < columns.start) | (part.row >= columns.stop)
    far, column = np.unique(part.col[away], return_inverse=True)
    if len(far):
        rows = touched[part.row[away]]
        B = tools.scattered((n, len(far)), rows, column, part.data[away], S)
        HZ[:, tools.asarray(far, S)] += diffuse(S, B, alpha=alpha, tol=tol)
    return HZ, H


def factors(W, i, j, sign, weight, *, alpha, then):
    """Yield then((H Z)_b, H_b) of blocks of columns: F = sum_b (H Z)_b H_b^T, Eq. (3)."""
    S = normalise(W)
    touched, Z = touched_matrix(i, j, sign, weight)
    Z = Z.astype(dtype_name(S)).tocsc()

    def block(columns):
        return then(*factor_block(S, touched, Z, columns, alpha=alpha))

    r, width = len(touched), _width(W.shape[0])
    blocks = (slice(start, min(start + width, r)) for start in range(0, r, width))
    return run_blocks(block, blocks)


def _largest(F):
    most = float(namespace(F).max(namespace(F).abs(F))) if len(F) else 0.0
    return max(most, float(np.finfo(dtype_name(F)).tiny))


def spread_memory(W, i, j, sign):
    """Return about how many bytes `spread_edges` needs beside W."""
    must, n = sign > 0, W.shape[0]
    entries = W.nnz // 2 + len(i) + linked_pairs_count(W, i[must], j[must])
    columns = 8 * available_cores() * min(_width(n), 2 * len(i))
    return entries * (100 + 8 * W.dtype.itemsize) + n * columns * W.dtype.itemsize


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
    parts = factors(W, i, j, sign, weight, alpha=alpha, then=lambda *pair: pair)
    tools = door(W)
    HZ, H = (tools.beside(part) for part in zip(*parts, strict=True))  # (n, r)
    F = tools.without_diagonal(HZ @ H.T)
    F /= _largest(F)
    return tools.without_diagonal(reweight(F, tools.dense(W)))


def spread_edges(W, i, j, sign, weight, *, alpha=0.8, surroundings=False, order=None):
    """Return W' on the edges of W and on the given pairs alone, sparse as W; see `spread`.

    The edges are listed on the CPU.

    Parameters
    ----------
    surroundings : bool, whether also on the pairs between the neighbours of must-linked points
    order : permutation of the points that puts neighbours side by side, or None
    """
    if order is not None:
        place = np.argsort(order)
        W, i, j = W[order][:, order], place[i], place[j]
    pairs, edges, tools = (i, j), to_host(W), door(W)
    if surroundings:
        must = sign > 0
        near = linked_pairs(edges, i[must], j[must])
        pairs = np.r_[i, near[0]], np.r_[j, near[1]]
    entries = listed(edges, *pairs)
    places = [tools.asarray(part, W) for part in (entries.rows, entries.columns)]

    def on_entries(HZ, H):
        return row_products(HZ, H, *places, run=map)

    F = tools.asarray(np.zeros(len(entries.rows), dtype=dtype_name(W)), W)
    for part in factors(W, i, j, sign, weight, alpha=alpha, then=on_entries):
        F += part
    F /= _largest(F)
    values = tools.cast(reweight(F, tools.asarray(entries.weight, W)), W)
    spread_ = tools.like_graph(entries.symmetric(to_host(values), W.shape[0]), W)
    return spread_ if order is None else spread_[place][:, place]
