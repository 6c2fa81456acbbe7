"""Affinity propagation on the edges of a sparse graph.

The posterior affinity A of `propagation`, Algorithm A or B, only where a neighbour graph has an
edge, on the diagonal, and between the surroundings of must-linked points, where a link can make
points alike that no edge joins (a cannot-link can only lower what is there):

    (1)  A_ij = max(0, K_ij - b_i . b_j - max_c z_ci z_cj)

with the rows b_i of B and z_i of Z linear in the covariances of point i with the touched points.
K is never held: rows of it are made as they are needed, (block of rows) x (touched points).

Cannot-links that act one by one are taken in blocks, so that for L_m links that act together and
e entries the memory is O(n L_m + e): B, and one block of Z. Time: O(n r d) for the covariances
with r touched points in d dimensions, O(n L_m L) for B and Z, O(e L) for (1).

In float32 the entries of B and Z have 7 digits, and K_ij - b_i . b_j as many after the point:
right for eps of about .01 and more. Harder links need float64 points.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.blocks import run_blocks
from linkwise.graph.cells import squared_norms
from linkwise.graph.neighbours import centre_of
from linkwise.kernel.entries import (
    in_blocks,
    linked_pairs,
    linked_pairs_count,
    listed,
    row_maxima,
    row_products,
)
from linkwise.kernel.propagation import (
    Apart,
    Joint,
    condition,
    noise_of,
    one_by_one,
    pair_columns,
    together,
)

ROWS = 2048  # of K to compute at a time, which limits memory
COLUMNS = 256  # of Z to hold at a time, which limits memory


class GaussianKernel:
    """The covariance K_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)) of points, made on demand.

    Any object with these two methods serves as well, if its K is positive semi-definite.
    """

    def __init__(self, X, sigma):
        self.X, self.sigma = X, float(sigma)
        self._centre = centre_of(X)  # |x|^2 + |y|^2 - 2 x.y loses its digits far from the origin

    def _points(self, X, rows):
        X = X[rows]
        return X if sparse.issparse(X) else X - self._centre

    def block(self, a, b, *, queries=None):
        """Return K[a][:, b], dense; rows a are those of ``queries`` where given."""
        P, Q = self._points(self.X if queries is None else queries, a), self._points(self.X, b)
        squared = Q @ P.T  # one column of K after the other: so the product K V reads it
        squared = squared.toarray() if sparse.issparse(squared) else squared
        squared *= -2
        squared += squared_norms(Q)[:, None]
        squared += squared_norms(P)
        np.maximum(squared, 0, out=squared)
        squared *= -0.5 / self.sigma**2
        return np.exp(squared, out=squared).T

    def entries(self, a, b, *, queries=None):
        """Return K_ab of listed pairs, (len(a),)."""
        X = self.X if queries is None else queries

        def evaluate(part):
            return squared_norms(X[a[part]] - self.X[b[part]])

        squared = in_blocks(evaluate, len(a), self.X.shape[1], self.X)
        squared *= -0.5 / self.sigma**2
        return np.exp(squared, out=squared)


class EdgePosterior(NamedTuple):
    """The propagated affinity of a sparse graph, and what new points need."""

    A: sparse.csr_array  # (n, n), >= 0
    kernel: GaussianKernel
    joint: Joint
    apart: list[Apart]

    def rows(self, queries, neighbours):
        """Return the affinity of new points to some given ones each, csr_array (q, n).

        Parameters
        ----------
        queries : array or csr_array (q, d)
        neighbours : int array (q, k), rows of the given points
        """
        q, k = neighbours.shape
        near, place = np.unique(neighbours, return_inverse=True)
        a, b = np.repeat(np.arange(q), k), place.ravel()
        K = self.kernel.entries(a, neighbours.ravel(), queries=queries)
        B_new = _columns(self.kernel, self.joint, np.arange(q), queries=queries)
        B = _columns(self.kernel, self.joint, near)
        largest = np.zeros_like(K) if not self.apart else np.full_like(K, -np.inf)
        for apart in self.apart:
            Z_new = _columns(self.kernel, apart, np.arange(q), B_new, queries=queries)
            Z = _columns(self.kernel, apart, near, B)
            np.maximum(largest, row_maxima(Z_new, Z, a, b), out=largest)
        A = np.maximum(K - row_products(B_new, B, a, b) - largest, 0)
        start = np.arange(q + 1) * k
        return sparse.csr_array((A, neighbours.ravel(), start), shape=(q, self.A.shape[0]))


def _columns(kernel, links, points, *given, queries=None):
    """Return rows of B, or of Z given those of B, for some points, in blocks of rows."""
    t = links.links.points
    out = np.empty((len(points), links.width), dtype=kernel.block(t[:0], t[:0]).dtype)

    def fill(part):
        K = kernel.block(points[part], t, queries=queries)
        out[part] = links.columns(K, *(array[part] for array in given))

    for _ in run_blocks(fill, (slice(a, a + ROWS) for a in range(0, len(points), ROWS))):
        pass
    return out


def propagation_memory(W, i, j, sign, *, algorithm):
    """Return about how many bytes `propagate_edges` needs beside W and the points.

    B, and for Algorithm B a block of Z and the one before it; the entries with their numbers; small
    matrices over the links.
    """
    n, size = W.shape[0], W.dtype.itemsize
    must = sign > 0
    joined = len(sign) if algorithm == "a" else int(must.sum())
    columns = joined + 2 * min(len(sign) - joined, COLUMNS)
    entries = W.nnz // 2 + linked_pairs_count(W, i[must], j[must])
    return (
        n * columns * size + entries * (100 + 8 * size) + 8 * (7 * joined**2 + 2 * ROWS * columns)
    )


def propagate_edges(
    kernel, W, i, j, sign, weight, *, algorithm, eps_must, eps_cannot, surroundings=True
):
    """Return the affinity A of Algorithm A or B on the edges of a graph.

    Parameters
    ----------
    kernel : GaussianKernel or its like, the covariance of the n points
    W : csr_array (n, n), symmetric; its pattern says where A is wanted, its dtype what A has
    i, j, sign, weight : the links, each pair once
    algorithm, eps_must, eps_cannot : as in `propagate`
    surroundings : bool, whether to add the pairs of `linked_pairs` of must-links

    Returns
    -------
    EdgePosterior
    """
    n = W.shape[0]
    must = sign > 0
    extra = linked_pairs(W, i[must], j[must]) if surroundings else (i[must], j[must])
    entries = listed(W, *extra)
    everyone = np.arange(n)
    diagonal = kernel.entries(everyone, everyone)
    scale = np.mean(diagonal, dtype=np.float64)
    noise = noise_of(sign, weight, scale=scale, eps_must=eps_must, eps_cannot=eps_cannot)
    joined = together(sign, algorithm)
    V = pair_columns(i, j, sign, n).tocsc()

    joint = condition(kernel.block, V[:, joined], noise[joined])
    B = _columns(kernel, joint, everyone)  # (n, q)
    A = kernel.entries(entries.rows, entries.columns)
    A -= row_products(B, B, entries.rows, entries.columns)
    diagonal = diagonal - np.einsum("ij,ij->i", B, B)

    singles = np.flatnonzero(~joined)
    blocks = []
    largest, own = np.full(len(A), -np.inf, A.dtype), np.zeros(n, A.dtype)
    for start in range(0, len(singles), COLUMNS):
        part = singles[start : start + COLUMNS]
        apart = one_by_one(kernel.block, joint, V[:, part], noise[part], scale=scale)
        Z = _columns(kernel, apart, everyone, B)  # (n, COLUMNS)
        np.maximum(largest, row_maxima(Z, Z, entries.rows, entries.columns), out=largest)
        np.maximum(own, np.maximum(Z.max(axis=1), -Z.min(axis=1)) ** 2, out=own)
        blocks.append(apart)
    if blocks:
        A -= largest
        diagonal = diagonal - own
    A, diagonal = (np.maximum(part, 0).astype(W.dtype, copy=False) for part in (A, diagonal))
    return EdgePosterior(entries.symmetric(A, n, diagonal), kernel, joint, blocks)
