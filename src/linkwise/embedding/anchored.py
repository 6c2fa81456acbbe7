"""The exact smooth eigenvectors of an anchor graph, from its factors.

    (1)  S = D^-1/2 (Z C Z^T + Q) D^-1/2      Y = D^-1/2 Z;  Q between the r touched points only
    (2)  Y_u^T Y_u = R^T R                    p x p, over the points that no constraint touches
    (3)  S' = B C B^T + D_t^-1/2 Q D_t^-1/2   B = (R; Y_t), (p + r, p)
    (4)  v(x) = d(x)^-1/2 z(x) T              T = C B^T u / mu for S' u = mu u

The untouched points enter S through Y_u alone, and Y_u = U R with orthonormal columns U. Replacing
U by the identity is an isometry, so S' has the nonzero eigenvalues of S, and its vectors give those
of S by (4). The touched points are kept as they are. Nothing of size n is formed: vectors are
computed from Z block by block when they are read, and a new point gets its vector by the same map.

Cost: O(p^3) for (2), O((p^2 + r s) m) for a Lanczos step.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from linkwise.arrays import PerKind, door, namespace, to_host
from linkwise.blocks.executors import one_thread
from linkwise.blocks.rows import ComputedRows, bounds_of, computed
from linkwise.graph.anchors import inverse
from linkwise.linalg.eigen import dense_eigenpairs, fix_signs, largest_eigenpairs

DENSE = 2_000  # rows of S' up to which LAPACK is used: it misses no repeated eigenvalue
JITTER = 1e-12  # of the mean of G's diagonal; an unused anchor has a zero row
IN_MEMORY = 1 << 30  # bytes of F; a larger one is computed block by block
SMALL = 1e-6  # mu below this belongs to directions outside the graph


class AnchoredBasis(NamedTuple):
    """The basis of an anchor graph; `Basis` is that of other graphs."""

    vectors: "np.ndarray | AnchoredVectors"  # F (n, m), computed when read if it is large
    values: np.ndarray  # mu (m,)
    parts: int  # connected parts of the graph
    map: "AnchoredVectors"  # Eq. (4), also for new points


class AnchoredVectors(ComputedRows):
    """The vectors of Eq. (4)."""

    def __init__(self, Z, T, reach, touched, V_t):
        self.Z, self.T, self.reach = Z, T, reach
        self.touched, self.V_t = touched, V_t
        self.shape, self.dtype = (Z.shape[0], T.shape[1]), T.dtype

    def of(self, rows):
        """Return the vectors of rows z(x) of any points, (q, m)."""
        V = door(self.T).product(rows, self.T)
        if self.reach is None:
            return V
        tools = door(V)
        degree = tools.product(rows, tools.asarray(self.reach, V))
        scale = namespace(V).sqrt(inverse(degree))[:, None]
        return V * tools.cast(scale, V)  # degrees are float64 whatever the points are

    def given(self, part, rows):
        """Return the vectors of given points, a slice or a list of them, with the rows z(x)."""
        V = self.of(rows)
        if len(self.touched):
            numbers = np.arange(part.start, part.stop) if isinstance(part, slice) else part
            at = np.minimum(np.searchsorted(self.touched, numbers), len(self.touched) - 1)
            here = self.touched[at] == numbers
            tools = door(V)
            V[tools.asarray(here, V)] = self.V_t[tools.asarray(at[here], V)]
        return V

    def __getitem__(self, part):
        return self.given(part, self.Z[part])

    def recipe(self):
        """Return Z, and the function of a block of it."""
        light = self.alone()
        return self.Z, lambda part, block: light.given(part, block[slice(None)])

    def alone(self):
        """Return the map of Eq. (4) without the given points."""
        light = object.__new__(type(self))
        light.T, light.reach, light.touched, light.V_t = (
            self.T, self.reach, self.touched, self.V_t,
        )  # fmt: skip
        return light


def upper_root(G):
    """Return R with R^T R = G, a positive semi-definite matrix, nearly so where G is singular."""
    p = G.shape[0]
    jitter = JITTER * max(np.trace(G) / p, 1e-300)
    try:
        return linalg.cholesky(G + jitter * np.eye(p), check_finite=False)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(G)
        return np.sqrt(np.maximum(values, 0))[:, None] * vectors.T


def reduced(W, *, additive=False):
    """Return S' of Eq. (3) as B, C and Q, with the degrees of the touched points and a shift.

    With ``additive`` it is that of N = (W + d_max I - D) / d_max, Kamvar's normalisation, minus
    ``shift`` times the identity; the degrees of Z C Z^T must then all be equal.
    """
    reach = W.reach()
    G, p = W.G, W.G.shape[0]
    if W.touched is None:
        rows, Q = np.empty(0, np.int64), sparse.csr_array((0, 0))
        Z_t = sparse.csr_array((0, p))
        d_t = np.empty(0)
    else:
        rows, Q = W.touched.rows, W.touched.Q.tocoo()
        Z_t = to_host(W.Z[rows]).astype(np.float64)
        base = Z_t @ reach
        G = G - (Z_t.T @ sparse.diags_array(inverse(base)) @ Z_t).toarray()
        w = W.entries(rows[Q.coords[0]], rows[Q.coords[1]])
        d_t = base + np.bincount(Q.coords[0], abs(w + Q.data) - w, len(rows))  # signed degree
    scale_t = np.sqrt(inverse(d_t))
    shift, most = 0.0, 1.0
    if additive:
        unit = float(reach[W.mass > 0].mean())
        most = max(unit, d_t.max(initial=0))
        shift = (most - unit) / most
        scale_t = np.full(len(rows), most**-0.5)
        G = G * unit / most
        Q = Q + sparse.diags_array(unit - d_t) if len(rows) else Q
    R = upper_root((G + G.T) / 2)
    Y_t = (sparse.diags_array(scale_t) @ Z_t).tocsr() if len(rows) else Z_t
    Q = (sparse.diags_array(scale_t) @ Q @ sparse.diags_array(scale_t)).tocsr() if len(rows) else Q
    return R, Y_t, Q, rows, shift, most


def anchored_basis(W, m, rng, *, additive=False):
    """Return the m smoothest eigenvectors of an anchor graph with constraints, Eq. (1) to (4).

    Parameters
    ----------
    W : AnchoredMatrix
    m : int; fewer are returned if the graph has fewer than m directions
    rng : numpy Generator
    additive : bool, Kamvar's normalisation instead of D^-1/2 W D^-1/2
    """
    with one_thread():
        return _anchored_basis(W, m, rng, additive)


@PerKind
def _dense_pairs(like, A, m, rng):
    """Return the m largest eigenpairs of a dense A, on the device of ``like`` if it has one."""
    values, u = dense_eigenpairs(A, m)
    return values[::-1], fix_signs(u[:, ::-1])


@_dense_pairs.of_tensors
def _dense_pairs_of_tensors(like, A, m, rng):
    return map(to_host, largest_eigenpairs(door(like).asarray(A, like), m, rng=rng))


def _anchored_basis(W, m, rng, additive):
    R, Y_t, Q, rows, shift, most = reduced(W, additive=additive)
    p, r = R.shape[1], len(rows)

    def onto_anchors(x):
        return R.T @ x[:p] + Y_t.T @ x[p:]  # B^T x

    def product(x):
        x = np.asarray(x, dtype=np.float64)
        y = (W.times_core(onto_anchors(x).T)).T  # C B^T x
        return np.concatenate([R @ y, Y_t @ y + Q @ x[p:]])

    m = min(m, p + r)
    S = LinearOperator((p + r,) * 2, matvec=product, matmat=product, dtype=np.float64)
    if p + r <= DENSE:
        B = np.vstack([R, Y_t.toarray()])
        A = W.times_core(B) @ B.T
        A[p:, p:] += Q.toarray()
        values, u = _dense_pairs(W.like, A, m, rng)
    else:
        values, u = largest_eigenpairs(S, m, rng=rng)
    T = W.times_core(onto_anchors(u).T).T / np.maximum(values, SMALL)  # Eq. (4)
    reach = W.reach()
    used = reach[W.mass > 0]
    alike = used.max() > 0 and np.ptp(used) <= 1e-9 * used.max()
    if additive or alike:
        T, reach = T / np.sqrt(most if additive else used.mean()), None
    T, V_t, values = (
        door(W.like).asarray(np.ascontiguousarray(A), W.like, W.dtype)
        for A in (T, u[p:], values + shift)
    )
    map_ = AnchoredVectors(W.Z, T, reach, rows, V_t)
    small = door(T).fits(map_.shape[0] * m * W.dtype.itemsize, IN_MEMORY)
    small = small and bounds_of(W.Z) is None  # rows in parts are processed in their blocks
    return AnchoredBasis(computed(map_) if small else map_, values, parts(W), map_)


def parts(W):
    """Return the number of connected parts of the graph."""
    graph = sparse.csr_array(W.G > 0) + (0 if W.core.ndim == 1 else sparse.csr_array(W.core > 0))
    if W.touched is not None:
        Z_t = to_host(W.Z[W.touched.rows])
        graph = sparse.block_array([[graph, Z_t.T], [Z_t, W.touched.Q]])
    return int(connected_components(graph, directed=False)[0] - np.count_nonzero(W.mass == 0))
