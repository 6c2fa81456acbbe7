"""The smooth eigenvectors of a graph.

    (1)  S v = mu v          S = D^-1/2 W D^-1/2, the m largest mu (the smallest 1 - mu of the
                             normalised Laplacian)
    (2)  z_i = v_i / |v_i|   rows on the unit sphere: plain spectral clustering is k-means on
                             z with m = k [1]

A new point x with weights w(x, j) to the given ones extends (1), which on a given point is the
eigenvector equation itself:

    (3)  v(x) = 1/mu sum_j w(x, j) v_j / sqrt(d(x) d_j)

Cost: O(nnz m) a Lanczos step, O(n m) memory.

[1] Ng, Jordan & Weiss, On spectral clustering, NIPS 2001.
"""

from typing import NamedTuple

import numpy as np

from linkwise.arrays import door, namespace
from linkwise.embedding.anchored import AnchoredBasis, anchored_basis
from linkwise.graph.anchors import AnchoredMatrix
from linkwise.graph.laplacians import (
    component_vectors,
    degrees,
    inverse_root,
    normalise,
)
from linkwise.linalg.eigen import largest_eigenpairs

FLAT = 0.1  # vectors with a smaller mu are noise, which (3) would amplify


class Basis(NamedTuple):
    vectors: np.ndarray  # F (n, m), orthonormal columns, smoothest first
    values: np.ndarray  # mu (m,), eigenvalues of S, largest first
    degrees: np.ndarray  # d (n,)
    parts: int  # balanced components of the graph, without points that have no edge


def unit_rows(V):
    """Return V with rows of length 1, Eq. (2); a zero row stays."""
    xp = namespace(V)
    length = xp.linalg.norm(V, axis=1, keepdims=True)
    return V / xp.where(length > 0, length, xp.ones_like(length))


def spectral_basis(W, m, rng, *, order=None):
    """Return the m smoothest eigenvectors of a graph, Eq. (1); weights may be negative.

    Parameters
    ----------
    W : symmetric array, csr_array or AnchoredMatrix (n, n)
    m : int
    rng : numpy Generator
    order : permutation of the points that puts neighbours side by side, or None
        Products with a sparse W of many points are several times faster in that order.

    Returns
    -------
    Basis, or AnchoredBasis
    """
    if isinstance(W, AnchoredMatrix):
        return anchored_basis(W, m, rng)
    d = degrees(W)
    S = normalise(W, d)
    m = min(m, W.shape[0])
    top, parts = component_vectors(W, d, m)
    if order is not None:
        S, top = S[order][:, order], top[order]
    values, vectors = largest_eigenpairs(S, m, top=top, rng=rng)
    if order is not None:
        back = np.empty_like(vectors)
        back[order] = vectors
        vectors = back
    return Basis(vectors, values, d, parts)


def additive_basis(W, m, rng):
    """Return the m largest eigenvectors of N = (W + d_max I - D) / d_max, Kamvar's normalisation.

    N = I - (D - W) / d_max: eigenvalue 1 belongs to the plain indicators of the components. In
    the result all degrees are d_max, so that `extend` is the equation N v = mu v itself.
    """
    if isinstance(W, AnchoredMatrix):
        return anchored_basis(W, m, rng, additive=True)
    d = degrees(W)
    xp, m = namespace(d), min(m, W.shape[0])
    most = xp.max(d) if xp.max(d) > 0 else xp.ones_like(d[0])
    N = door(W).shifted(W, most - d, most)
    top, count = component_vectors(W, xp.ones_like(d), m)
    values, vectors = largest_eigenpairs(N, m, top=top, rng=rng)
    alone = int(xp.sum(door(d).cast(d == 0, "int64")))  # points without edges
    return Basis(vectors, values, most * xp.ones_like(d), count - alone)


def spectral_embedding(W, k, rng):
    """Return the rows z of Eq. (2), (n, k), and the basis they come from."""
    basis = spectral_basis(W, k, rng)
    return unit_rows(basis.vectors), basis


def extend(basis, P, degree):
    """Return v of Eq. (3) for new points, (q, m).

    Parameters
    ----------
    basis : Basis of the given points
    P : array or csr_array (q, n), weights to the given points divided by their sum; on an anchor
        graph (q, p), the weights z(x) of the anchors
    degree : array (q,), that sum. Far from all points it underflows; it is then replaced by the
        smallest degree of a given point.
    """
    if isinstance(basis, AnchoredBasis):
        return basis.map.of(P)
    F, mu, d = basis.vectors, basis.values, basis.degrees
    xp = namespace(F)
    some = d[d > 0]
    floor = xp.min(some) if some.shape[0] else 1
    reach = door(F).product(P, F * inverse_root(d)[:, None])  # (q, m)
    degree = xp.where(degree < floor, floor, degree)
    v = reach * xp.sqrt(degree)[:, None] / xp.where(mu < FLAT, FLAT, mu)  # Eq. (3)
    return door(F).cast(v, F)
