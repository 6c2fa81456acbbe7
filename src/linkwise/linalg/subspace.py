"""The few largest eigenpairs of a symmetric matrix with eigenvalues in [-1, 1], in blocks.

Chebyshev-filtered subspace iteration [1]. With T_j the Chebyshev polynomials and [-1, a] the part
of the spectrum to damp, c = (a - 1) / 2 and e = (a + 1) / 2,

    (1)  Y = T_j((S - c I) / e) V       by the three-term recurrence: j products S V
    (2)  G = Y^T Y,  H = Y^T S Y,  K = (S Y)^T S Y      b x b, in double precision
    (3)  H c_i = mu_i G c_i,  V = Y C                   Rayleigh and Ritz
    (4)  |S v - mu v|^2 = c^T K c - 2 mu c^T H c + mu^2 c^T G c

T_j stays within [-1, 1] on [-1, a] and grows like exp(j arccosh((mu - c) / e)) above it. Each round
takes a = the smallest Ritz value of the block, and the j that would reach the accuracy. The work
is products of S with b = m + ``EXTRA`` vectors at a time, which suits a device. LAPACK solves the
b x b problems on the CPU, which waits for the device once a round, for (2).

Vectors that are known in advance are projected out before (2).

A block finds repeated eigenvalues, which a Lanczos iteration from one vector may miss.

Cost: O(nnz b) a product, O(n b^2) a round; O(n b) memory.

[1] Zhou, Saad, Tiago & Chelikowsky, Self-consistent-field calculations using Chebyshev-filtered
    subspace iteration, J. Comput. Phys. 2006.
"""

import math

import numpy as np

from linkwise.arrays import door, to_host

EXTRA = 12  # vectors beyond those wanted: the gap to the last of them sets the speed
ROUNDS = 60  # at most; a few are usual
FIRST = 10  # degree of the first filter, when nothing is known of the spectrum
FEWEST, MOST = 8, 80  # degree of a filter; a larger one loses vectors of small growth to rounding
GROWTH = 1e5  # of the wanted vectors against the damped ones in one round, at most
DEPENDENT = 1e-9  # eigenvalue of G below which a direction is a rounding error; it is kept short
ROUNDING = 1e-15  # of the terms of Eq. (4), which nearly cancel
RESIDUAL = {"float32": 1e-4, "float64": 1e-7}  # of the eigenvectors; eigenvalues are far better


def filtered(S, V, degree, cut, progress):
    """Return Y of Eq. (1)."""
    tools = door(V)
    centre, half = (cut - 1) / 2, (cut + 1) / 2
    before, now = V, tools.chebyshev_step(S, V, 0 * V, 1 / half, centre / half)
    for _ in range(degree - 1):
        before, now = now, tools.chebyshev_step(S, now, before, 2 / half, 2 * centre / half)
        progress(1)
    return now


def ritz(S, U, Y):
    """Return the Ritz values, largest first, the vectors, and the lengths of S v - mu v."""
    tools, b = door(Y), Y.shape[1]
    Y = Y - U @ (U.T @ Y)
    both = tools.cast(tools.beside((Y, tools.product(S, Y))), "float64")  # (n, 2 b)
    products = to_host(both.T @ both)
    scale = 1 / np.sqrt(np.diagonal(products)[:b])  # columns of Y of length 1
    products = products * np.tile(scale, 2)[:, None] * np.tile(scale, 2)
    G, H, K = products[:b, :b], products[:b, b:], products[b:, b:]  # Eq. (2)
    size, directions = np.linalg.eigh(G)
    root = directions / np.sqrt(np.maximum(size, DEPENDENT))
    values, C = np.linalg.eigh(root.T @ ((H + H.T) / 2) @ root)
    values, C = values[::-1], (root @ C)[:, ::-1]  # Eq. (3)
    terms = K @ C - 2 * values * (H @ C) + values**2 * (G @ C)
    squared = np.sum(C * (terms + ROUNDING * C), axis=0)  # Eq. (4)
    V = Y @ tools.cast(tools.asarray(scale[:, None] * C, Y), Y)
    return values, V, np.sqrt(np.maximum(squared, 0))


def degree_for(cut, value, accuracy):
    """Return the degree that raises a Ritz value above the cut by 1 / accuracy, within bounds."""
    x = (value - (cut - 1) / 2) / ((cut + 1) / 2)
    if x <= 1:
        return MOST
    most = math.log(GROWTH) / math.acosh(max((1 - (cut - 1) / 2) / ((cut + 1) / 2), 1 + 1e-12))
    wanted = math.log(2 / accuracy) / math.acosh(x)
    return int(min(max(wanted, FEWEST), max(most, FEWEST), MOST))


def filtered_subspace(S, U, start, m, *, accuracy, progress):
    """Return the m largest eigenvalues, largest first, their vectors, and whether they converged.

    Parameters
    ----------
    S : symmetric matrix (n, n), dense or sparse
    U : array (n, c), orthonormal eigenvectors of S to leave out; c may be 0
    start : array (n, b), b >= m; random numbers
    m : int
    accuracy : float, largest length of S v - mu v
    progress : callable, told of every product
    """
    start = start - U @ (U.T @ start)
    values, V, residual = ritz(S, U, filtered(S, start, FIRST, 0.0, progress))
    for _ in range(ROUNDS):
        error = float(np.max(residual[:m]))
        if error <= accuracy:
            return values[:m], V[:, :m], True
        cut = min(float(values[-1]), 1 - 1e-6)
        degree = degree_for(cut, float(values[m - 1]), accuracy / min(error, 1.0))
        values, V, residual = ritz(S, U, filtered(S, V, degree, cut, progress))
    return values[:m], V[:, :m], False
