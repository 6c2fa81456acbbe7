"""Lay a neighbour graph out in a few dimensions, so that clusters become islands.

Neighbours attract each other, and all other points repel, as in UMAP [1], with a Cauchy kernel:

    (1)  q_ij = 1 / (1 + |y_i - y_j|^2)                      how near two points of the layout are
    (2)  min_Y  -1/2 sum_ij w_ij log q_ij - g/2 sum_i d_i mean_j log(1 - q_ij),  d_i = sum_j w_ij
    (3)  c_ij = 2 w_ij q_ij                                  attraction along an edge
    (4)  r_ij = 2 g d_i q_ij / (m (e + |y_i - y_j|^2))       repulsion from m points drawn at random
    (5)  y_i <- y_i + h (sum_j c_ij (y_j - y_i) + sum_j r_ij (y_i - y_j)) / (1 + h sum_j c_ij)

[1] takes one edge after the other, which no array library does well. Here all points move at once,
and the same m random points repel all of them: attraction is a product with a sparse matrix and
repulsion one with a dense matrix of m columns. The denominator of (5) makes the step implicit in
the attraction, so that a point never overshoots its neighbours, however many it has. The step h
falls to 0. The layout starts from eigenvectors of the graph and is the same for the same seed,
whatever the number of threads; another order of the rows draws other points in (4).

O(steps (edges + n m) dimensions) time; memory for the edges once, and for some blocks of rows.

[1] McInnes, Healy & Melville, UMAP: uniform manifold approximation and projection, 2018.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.blocks import one_thread, row_blocks, run_blocks
from linkwise.blocks.progress import Progress
from linkwise.embedding.spectral import spectral_basis
from linkwise.graph.laplacians import degrees

# On USPS and MNIST 100 gave the same islands in 2 dimensions and 60 blurred ones. In 8 dimensions
# 500 take 2.5 times as long; k-means then agrees better (USPS .67 to .77, MNIST test .66 to .71).
STEPS = 200
FIRST = 2.0  # h of the first step: a learning rate of 1 in UMAP; 4 and 8 gave the same layouts
REPULSION = 2.5  # g: 5 negative samples for each end of an edge in UMAP; 1 and 5 were no better
DRAWN = 64  # m: with 32 the islands of USPS touched, with 256 nothing was gained
REACH = 10.0  # largest coordinate of the start, as in UMAP
JITTER = 1e-4  # tells apart points that share all eigenvectors
SOFTENED = 1 / 16  # e: one point then repels by less than 4, the bound of UMAP, without a clip
LARGEST = 4.0  # most that a coordinate moves in a step, as in UMAP
PLACING = 30  # steps of new points: they start among their neighbours and settle quickly
WIDTH = 500  # numbers that a step holds for a row: the ends of its edges and the drawn points


class Edges(NamedTuple):
    """The edges of some rows to all points of the layout: w of Eq. (2)."""

    ends: np.ndarray  # (rows + 1,) where the edges of each row start
    columns: np.ndarray  # (edges,)
    weights: np.ndarray  # (edges,)


def edges_of(W, part):
    """Return the Edges of the rows ``part``, a slice, of a csr_array W."""
    low, high = W.indptr[part.start], W.indptr[part.stop]
    ends = W.indptr[part.start : part.stop + 1] - low
    return Edges(ends, W.indices[low:high], W.data[low:high])


def attraction(y, edges, Y):
    """Return sum_j c_ij (y_j - y_i), (b, r), and sum_j c_ij, (b,), of Eq. (3)."""
    D = Y[edges.columns]
    D -= np.repeat(y, np.diff(edges.ends), axis=0)  # (edges, r)
    c = 2 * edges.weights / (1 + np.einsum("ij,ij->i", D, D))
    C = sparse.csr_array((c, np.arange(len(c)), edges.ends), (len(y), len(c)))
    return C @ D, C @ np.ones_like(c)


def repulsion_from(drawn, y):
    """Return sum_j r_ij (y_i - y_j) of Eq. (4) over the drawn points, (b, r), for g d_i = 1."""
    squared = y @ (-2 * drawn.T)  # (b, m); in place below, because this takes most of a step
    squared += np.einsum("ij,ij->i", y, y)[:, None]
    squared += np.einsum("ij,ij->i", drawn, drawn)
    np.maximum(squared, 0, out=squared)
    r = squared + SOFTENED
    squared += 1
    r *= squared
    np.divide(2 / len(drawn), r, out=r)
    total = r @ np.hstack((drawn, np.ones_like(drawn[:, :1])))  # (b, r + 1)
    return total[:, -1:] * y - total[:, :-1]


def moved(y, edges, Y, drawn, push, h):
    """Return points y (b, r) after one step, Eq. (5).

    Parameters
    ----------
    y : array (b, r), the points that move
    edges : Edges of these to the points Y
    Y : array (n, r), where all points are
    drawn : array (m, r), the points that repel
    push : array (b,), g d_i
    h : float
    """
    force, attracted = attraction(y, edges, Y)
    force += push[:, None] * repulsion_from(drawn, y)
    step = h * force / (1 + h * attracted)[:, None]
    return y + np.clip(step, -LARGEST, LARGEST)  # Eq. (5)


def _steps(first, count):
    return (np.float32(first * (1 - step / count)) for step in range(count))


def start(basis, r, rng):
    """Return where the layout starts: the r smoothest eigenvectors that are not constant."""
    V = basis.vectors[:, 1 : r + 1]
    V = np.pad(V, ((0, 0), (0, r - V.shape[1])))  # a graph of few points has few eigenvectors
    V = V * (REACH / max(float(abs(V).max()), 1e-12))
    return (V + rng.normal(scale=JITTER, size=V.shape)).astype(np.float32, order="C")


def layout(W, r, rng, *, basis=None, order=None, steps=STEPS, repulsion=REPULSION):
    """Return a layout of a graph in r dimensions, float32 (n, r).

    Parameters
    ----------
    W : csr_array (n, n), symmetric, weights >= 0
    r : int
    rng : numpy Generator
    basis : Basis of the graph with r + 1 eigenvectors or more, or None: computed here
    order : permutation of the points that puts neighbours side by side, or None
        With many points a step is several times faster in that order.
    steps : int
    repulsion : float, g: more leaves wider gaps between the islands
    """
    if basis is None:
        basis = spectral_basis(W, r + 1, rng, order=order)
    Y = start(basis, r, rng)
    W = W.astype(np.float32)
    if order is not None:
        W, Y = W[order][:, order], Y[order]
    push = np.float32(repulsion) * degrees(W)
    parts = row_blocks(len(Y), WIDTH)
    run = run_blocks if len(parts) > 1 else map  # threads take longer to start than one block
    with one_thread(), Progress("layout", steps, unit="steps") as progress:
        for h in _steps(FIRST, steps):
            drawn = Y[rng.integers(len(Y), size=DRAWN)]

            def move(part, Y=Y, drawn=drawn, h=h):
                return moved(Y[part], edges_of(W, part), Y, drawn, push[part], h)

            Y = np.concatenate(list(run(move, parts)))
            progress.advance()
    if order is not None:
        Y[order] = Y.copy()
    return Y


def place(Y, P, degree, rng, *, repulsion=REPULSION):
    """Return where new points belong in a layout, float32 (q, r).

    They start at the mean of their neighbours and take the steps of Eq. (5), while the layout
    itself stays as it is. The place of a point does not depend on the other new points.

    Parameters
    ----------
    Y : array (n, r), the layout
    P : csr_array (q, n), weights of the new points to the given ones divided by their sum
    degree : float, what the weights of a new point are taken to add up to: that of a given point
    rng : numpy Generator
    repulsion : float, that of the layout
    """
    Y = np.asarray(Y, dtype=np.float32)
    P = sparse.csr_array(P).astype(np.float32)
    drawn = Y[rng.integers(len(Y), size=(PLACING, DRAWN))]  # (steps, m, r)

    def settled(part):
        y, edges = P[part] @ Y, edges_of(P, part)
        edges = edges._replace(weights=degree * edges.weights)
        push = np.full(len(y), repulsion * degree, dtype=np.float32)
        for h, repelling in zip(_steps(FIRST / 2, PLACING), drawn, strict=True):
            y = moved(y, edges, Y, repelling, push, h)
        return y

    parts = row_blocks(P.shape[0], WIDTH)
    return np.concatenate(list(run_blocks(settled, parts, label="places", total=P.shape[0])))
