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

from linkwise.arrays import door, namespace
from linkwise.blocks import one_thread, run_blocks
from linkwise.blocks.executors import executor_of
from linkwise.blocks.progress import Progress
from linkwise.blocks.rows import over_rows, parts_of
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
    owners: np.ndarray  # (edges,) the row of every edge
    columns: np.ndarray  # (edges,)
    weights: np.ndarray  # (edges,)


def edges_of(W, part):
    """Return the Edges of the rows ``part``, a slice, of a sparse matrix W."""
    starts, columns, weights = door(W).edges(W)
    low, high = int(starts[part.start]), int(starts[part.stop])
    ends = starts[part.start : part.stop + 1] - low
    return Edges(ends, door(W).edge_owners(ends), columns[low:high], weights[low:high])


def attraction(y, edges, Y):
    """Return sum_j c_ij (y_j - y_i), (b, r), and sum_j c_ij, (b,), of Eq. (3)."""
    tools = door(Y)
    D = tools.rows_at(Y, edges.columns)
    D -= tools.rows_at(y, edges.owners)  # (edges, r)
    D *= D
    c = 2 * edges.weights / (1 + tools.row_totals(D))
    pulled, total = tools.edge_sums(c, edges.columns, edges.ends, Y)
    return pulled - total[:, None] * y, total


def repulsion_from(drawn, y):
    """Return sum_j r_ij (y_i - y_j) of Eq. (4) over the drawn points, (b, r), for g d_i = 1."""
    tools, xp = door(y), namespace(y)
    left = tools.beside((y, tools.squared_norms(y)[:, None], xp.ones_like(y[:, :1])))
    right = tools.beside(
        (-2 * drawn, xp.ones_like(drawn[:, :1]), tools.squared_norms(drawn)[:, None])
    )
    squared = left @ right.T  # (b, m); in place below, because this takes most of a step
    xp.abs(squared, out=squared)  # rounding may leave less than 0
    r = squared + SOFTENED
    squared += 1
    r *= squared
    r = tools.inverse(r, 2 / len(drawn))
    total = r @ tools.beside((drawn, xp.ones_like(drawn[:, :1])))  # (b, r + 1)
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
    h : float, or array (1,)
    """
    force, attracted = attraction(y, edges, Y)
    force += push[:, None] * repulsion_from(drawn, y)
    step = h * force / (1 + h * attracted)[:, None]
    return y + namespace(y).clip(step, -LARGEST, LARGEST)  # Eq. (5)


def _steps(first, count):
    return (float(np.float32(first * (1 - step / count))) for step in range(count))


def start(basis, r, rng):
    """Return where the layout starts: the r smoothest eigenvectors that are not constant."""
    V = basis.vectors[:, 1 : r + 1]
    tools, xp = door(V), namespace(V)
    if V.shape[1] < r:  # a graph of few points has few eigenvectors
        V = tools.beside((V, xp.zeros_like(tools.empty((len(V), r - V.shape[1]), V))))
    V = V * (REACH / max(float(xp.max(xp.abs(V))), 1e-12))
    jitter = tools.asarray(rng.normal(scale=JITTER, size=tuple(V.shape)), V)
    return tools.cast(V + jitter, "float32")


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
    tools = door(Y)
    W = tools.cast(W, "float32")
    if order is not None:
        W, Y = W[order][:, order], Y[order]
    push = repulsion * degrees(W)
    parts = [(part, edges_of(W, part), push[part]) for part in parts_of(Y, len(Y), WIDTH)]
    run = run_blocks if len(parts) > 1 else map  # threads take longer to start than one block
    lengths = tools.asarray(np.array(list(_steps(FIRST, steps)), dtype=np.float32), Y)
    drawn = tools.asarray(rng.integers(len(Y), size=(steps, DRAWN)), Y)

    def one_step(state):
        Y, step = state
        repelling, h = Y[drawn[step][0]], lengths[step]

        def move(one):
            part, edges, push = one
            return moved(Y[part], edges, Y, repelling, push, h)

        return tools.below(list(run(move, parts))), step + 1

    with executor_of(Y), one_thread(), Progress("layout", steps, unit="steps") as progress:
        advance = tools.repeated(one_step, (Y, tools.asarray(np.zeros(1, dtype=np.int64), Y)))
        for _ in range(steps):
            Y, _ = advance(1)
            progress.advance()
        Y = Y + 0
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
    tools, xp = door(Y), namespace(Y)
    Y, P = tools.cast(Y, "float32"), tools.cast(P, "float32")
    drawn = Y[tools.asarray(rng.integers(len(Y), size=(PLACING, DRAWN)), Y)]  # (steps, m, r)

    def settled(part):
        edges = edges_of(P, part)
        y, _ = tools.edge_sums(edges.weights, edges.columns, edges.ends, Y)
        edges = edges._replace(weights=degree * edges.weights)
        push = xp.full_like(y[:, 0], repulsion * degree)
        for h, repelling in zip(_steps(FIRST / 2, PLACING), drawn, strict=True):
            y = moved(y, edges, Y, repelling, push, h)
        return y

    n = P.shape[0]
    found = over_rows(settled, Y, n, WIDTH, label="places", total=n)
    return tools.below([y for _, y in found])
