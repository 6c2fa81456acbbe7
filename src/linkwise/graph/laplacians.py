"""Degrees, normalised matrices and Laplacians of a graph, signed or not.

For a symmetric W whose entries may be negative [1]:

    (1)  d_i = sum_j |w_ij|                        the signed degree
    (2)  S   = D^-1/2 W D^-1/2                     eigenvalues in [-1, 1]
    (3)  L   = I - S                               positive semi-definite

A point without edges has D^-1/2 = 0: its row of S is 0, not NaN.

The eigenvalue 1 of S belongs to the *balanced* components: those whose points have signs e_i with
e_i e_j w_ij >= 0 on every edge. Its eigenvectors are known in advance: D^1/2 e on each balanced
component. Without negative weights every component is balanced, and e = 1.

[1] Kunegis et al., Spectral analysis of signed graphs for clustering, SDM 2010.
"""

import numpy as np
from scipy import sparse

from linkwise.arrays import door, is_sparse, namespace


def degrees(W):
    """Return d of Eq. (1), (n,)."""
    return door(W).row_sums(W)


def inverse_root(d):
    """Return d^-1/2, and 0 where d is 0."""
    xp = namespace(d)
    some = d > 0
    return xp.where(some, 1 / xp.sqrt(xp.where(some, d, xp.ones_like(d))), xp.zeros_like(d))


def normalise(W, d=None):
    """Return S of Eq. (2), dense or csr_array as W is."""
    root = inverse_root(degrees(W) if d is None else d)
    if is_sparse(W):
        return door(W).scaled(W, root)
    return root[:, None] * W * root


def laplacian(W):
    """Return L of Eq. (3), dense or csr_array as W is."""
    S = normalise(W)
    if sparse.issparse(S):
        return (sparse.eye_array(S.shape[0], dtype=S.dtype) - S).tocsr()
    return np.eye(len(S), dtype=S.dtype) - S


def component_vectors(W, d, most=None):
    """Return the eigenvectors of `balanced_components`, and the number c of the components.

    Parameters
    ----------
    W : symmetric array or sparse array (n, n)
    d : array (n,), degrees
    most : int or None, how many vectors are needed

    Returns
    -------
    top : csc_array (n, c); on a device a tensor (n, at most ``most``)
    c : int
    """
    n, tools, xp = W.shape[0], door(W), namespace(W)
    if not is_sparse(W) and xp.any(xp.all(W != 0, axis=1)):  # a point has all edges
        if xp.any(W < 0):  # connected: at most one balanced component, nothing repeats
            return tools.indicators(n, [], [], d[:0], 0), 0
        return tools.one_column(xp.sqrt(d) / xp.sqrt(xp.sum(d))), 1

    plus, minus = tools.cover_components(W)
    if n > 1 and bool(xp.all(plus == plus[0]) & (plus[0] != minus[0])):  # connected, as most are
        volume = xp.sum(tools.cast(d, "float64"))
        return tools.one_column(tools.cast(xp.sqrt(d / volume), W)), 1
    (rows,) = xp.nonzero((plus != minus) & (d > 0))
    # both halves of the cover have each balanced component once: keep the half of lower number
    component = xp.minimum(plus[rows], minus[rows])
    sign = xp.where(plus[rows] == component, 1, -1)
    column, volume = tools.totals_by_name(component, d[rows])
    rank = tools.ranks_from_largest(volume)
    values = sign * xp.sqrt(d[rows] / volume[column])
    count = len(volume)
    width = count if most is None else min(count, most)
    return tools.indicators(n, rows, rank[column], tools.cast(values, W), width), count


def balanced_components(W, d=None):
    """Return the eigenvectors of S of eigenvalue 1 that are known from the graph.

    Parameters
    ----------
    W : symmetric array or sparse array (n, n)

    Returns
    -------
    csc_array (n, c), orthonormal columns, components of large volume first
    """
    return component_vectors(W, degrees(W) if d is None else d)[0]
