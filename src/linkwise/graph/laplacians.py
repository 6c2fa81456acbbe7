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
from scipy.sparse.csgraph import connected_components

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


def _double_cover(W):
    """Return the components of the graph with two copies, i+ and i-, of every point.

    A positive edge joins equal signs, a negative edge opposite ones, so a component is balanced
    exactly if its points' two copies lie in different components of the cover.
    """
    W = sparse.csr_array(W)
    W.eliminate_zeros()
    if W.nnz == 0 or W.data.min() > 0:  # two equal copies without an edge between them
        count, label = connected_components(W, directed=False)
        return np.stack([label, label + count])
    positive, negative = W > 0, W < 0
    cover = sparse.block_array([[positive, negative], [negative, positive]], format="csr")
    return connected_components(cover, directed=False)[1].reshape(2, -1)


def component_vectors(W, d, most):
    """Return what `balanced_components` does for weights >= 0, as (n, at most ``most``) and c."""
    xp, tools = namespace(d), door(d)
    label = tools.components(W)
    volume = tools.label_totals(d, label)
    largest = xp.argsort(volume, descending=True, stable=True)
    parts = int(xp.sum(tools.cast(volume > 0, "int64")))
    own = largest[: min(parts, most)]
    member = (label[:, None] == own[None, :]) & (d > 0)[:, None]
    share = xp.sqrt(tools.cast(d, "float64")[:, None] / volume[own])
    return tools.cast(xp.where(member, share, xp.zeros_like(share)), d), parts


def balanced_components(W, d=None):
    """Return the eigenvectors of S of eigenvalue 1 that are known from the graph.

    Parameters
    ----------
    W : symmetric array or sparse array (n, n)

    Returns
    -------
    csc_array (n, c), orthonormal columns, components of large volume first
    """
    n = W.shape[0]
    d = degrees(W) if d is None else d
    if not sparse.issparse(W) and np.any(np.all(W != 0, axis=1)):  # a point has all edges
        if np.any(W < 0):  # connected: at most one balanced component, nothing repeats
            return sparse.csc_array((n, 0), dtype=W.dtype)
        return sparse.csc_array((np.sqrt(d) / np.sqrt(d.sum()))[:, None])

    plus, minus = _double_cover(W)
    rows = np.flatnonzero((plus != minus) & (d > 0))
    # both halves of the cover have each balanced component once: keep the half of lower number
    component = np.minimum(plus, minus)[rows]
    sign = np.where(plus[rows] == component, 1, -1)
    _, column = np.unique(component, return_inverse=True)
    volume = np.bincount(column, weights=d[rows])
    rank = np.empty(len(volume), dtype=np.int64)
    rank[np.argsort(-volume, kind="stable")] = np.arange(len(volume))
    values = (sign * np.sqrt(d[rows] / volume[column])).astype(W.dtype)
    return sparse.csc_array((values, (rows, rank[column])), shape=(n, len(volume)))
