"""Constrained affinity by propagation: a Gaussian process that is told who goes with whom [1].

    (1)  f ~ N(0, K)                                    continuous labels, two classes by sign
    (M)  f_i - f_j ~ N(0, e_m^2) for a must-link, (C)  f_i + f_j ~ N(0, e_c^2) for a cannot-link
    (2)  K' = (K^-1 + M)^-1 = K - K V (E + V^T K V)^-1 V^T K = K - B B^T
    (3)  M = V E^-1 V^T, a column of V for each link: e_i - e_j or e_i + e_j; E = diag(e^2 / weight)

Algorithm A: A = max(0, K') of all links at once; right for two classes. With more classes two
cannot-links i-k, j-k would make i and j alike ("the enemy of my enemy"), so

Algorithm B: K^m from the must-links; then every cannot-link c alone,
    K^c = K^m - z_c z_c^T,  z_c = K^m v_c / sqrt(e_c^2 + v_c^T K^m v_c),
    A_ij = max(0, min_c K^c_ij) = max(0, K^m_ij - max_c z_ci z_cj),
which is a largest rank-one product, taken in tiles: the K^c are never formed.

Eq. (3) is taken as derived from (M) and (C); the paper's (5) has 2 e^2 for e^2, so its closed
forms (6), (7) for one link hold here with e^2 / 2. With e -> 0 each hard link removes variance,
and many of them empty the affinity: e of about .3 to 1 (for K_ii = 1) serves better than the
paper's 1e-5 with more than two classes.

B and Z = (z_1 z_2 ...) are linear in the columns of K at the points that V touches:

    (4)  B = K V T,   Z = (K V_c - B Y) / root,   Y = B^T v_c

so `condition` asks for K between touched points alone, and whoever needs rows of B and Z brings
rows of K. `propagate` does that for all points, K dense: n^2 memory, O(n^2 L) time for L links.
`propagate_core` does it for p anchors between which f is interpolated, f_i = z_i . f_A: a link
observes (z_i -+ z_j) . f_A, a column of V with a few entries more. The affinity of the points is
Z A Z^T with the core A (p, p), and never formed: O(p^2 L) time, whatever n is.

Equation numbers (1) to (3) are the paper's.

[1] Lu & Carreira-Perpinan, Constrained spectral clustering through affinity propagation,
    CVPR 2008.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from linkwise.blocks.executors import run_blocks
from linkwise.linalg.woodbury import CUTOFF, downdate

NOT_PSD = "the affinity matrix is not positive semi-definite, so it is no covariance"
REMEDY = 'a neighbour graph is not; use affinity="rbf" or "heat"'
TILE = 256  # rows and columns of a tile: it and its temporary fit in the cache


class Links(NamedTuple):
    """The columns of V, Eq. (3), over the points they touch."""

    points: np.ndarray  # (r,)
    V: np.ndarray | sparse.csr_array  # (r, L)

    def times(self, K):
        """Return K V from the columns K[:, points], (rows, L)."""
        return K @ self.V.astype(K.dtype, copy=False)

    def transposed_times(self, KV):
        """Return V^T K V from the rows (K V)[points], (L, L)."""
        return self.V.T @ KV


class Joint(NamedTuple):
    """Links that act together."""

    links: Links
    T: np.ndarray  # (L, q)

    @property
    def width(self):
        return self.T.shape[1]

    def columns(self, K):
        """Return rows of B, Eq. (4), from rows of K[:, links.points]."""
        return self.links.times(K) @ self.T.astype(K.dtype, copy=False)


class Apart(NamedTuple):
    """Cannot-links that act one by one on what the joint ones left (Algorithm B)."""

    links: Links
    Y: np.ndarray  # (q, n_c)
    root: np.ndarray  # (n_c,)

    @property
    def width(self):
        return len(self.root)

    def columns(self, K, B):
        """Return rows of Z, Eq. (4), from rows of K[:, links.points] and of B."""
        KV = self.links.times(K) - B @ self.Y.astype(B.dtype, copy=False)
        return KV / self.root.astype(KV.dtype)


class Propagated(NamedTuple):
    """The propagated affinity and what a new point needs to get its row of it."""

    A: np.ndarray  # (n, n), >= 0
    joint: Joint
    B: np.ndarray  # (n, q)
    apart: Apart
    Z: np.ndarray  # (n, n_c), the z_c as columns

    def rows(self, K_new):
        """Return the rows of A for new points from their rows of K, (q, n)."""
        B, Z = _factors(K_new, self.joint, self.apart)
        return _posterior(K_new, B @ self.B.T, Z, self.Z)


def touching(V):
    """Return the Links of the columns V, csr_array (n, L)."""
    V = V.tocsr()
    points = np.flatnonzero(np.diff(V.indptr))
    return Links(points, V[points])


def pair_columns(i, j, sign, n):
    """Return V of Eq. (3), csr_array (n, L): e_i - sign_l e_j."""
    link = np.arange(len(i))
    value = np.r_[np.ones(len(i)), -sign.astype(np.float64)]
    return sparse.csr_array((value, (np.r_[i, j], np.r_[link, link])), shape=(n, len(i)))


def compress(links, noise):
    """Return (links, noise) with as few columns as there are touched points, the same M.

    M = V E^-1 V^T lives on the r touched points. Where L > r, its square root has r columns.
    """
    r, count = links.V.shape
    if count <= r or r == 0:  # none, if the two ends of every link interpolate the same
        return links, noise
    unit = noise.min()
    M = (links.V @ sparse.diags_array(unit / noise) @ links.V.T).toarray()
    values, vectors = linalg.eigh(M)
    keep = values > CUTOFF * values[-1]
    columns = vectors[:, keep] * np.sqrt(values[keep])
    return Links(links.points, columns), np.full(columns.shape[1], unit)


def condition(K, V, noise):
    """Return the Joint of links that act together.

    Parameters
    ----------
    K : callable, K(a, b) returns the entries of the covariance in rows a and columns b
    V : csr_array (n, L)
    noise : array (L,), the diagonal of E
    """
    links, noise = compress(touching(V), noise)
    KV = links.times(K(links.points, links.points).astype(np.float64))  # (r, L)
    G = links.transposed_times(KV) + np.diag(noise)
    try:
        T = downdate(KV, (G + G.T) / 2).T
    except ValueError as error:
        raise ValueError(f"{NOT_PSD}; {REMEDY}") from error
    return Joint(links, T)


def one_by_one(K, joint, V, noise, *, scale):
    """Return the Apart of cannot-links; arguments as in `condition`."""
    links = touching(V)
    t = links.points
    KV = links.times(K(t, t).astype(np.float64))  # (r, n_c)
    B = joint.columns(K(t, joint.links.points).astype(np.float64))  # (r, q)
    Y = (links.V.T @ B).T
    variance = np.asarray(links.V.multiply(KV).sum(axis=0)).ravel()  # v_c^T K v_c
    variance = variance - np.einsum("ij,ij->j", Y, Y)  # v_c^T K^m v_c
    if variance.min(initial=0) < -1e-7 * scale:
        raise ValueError(f"{NOT_PSD}; {REMEDY}")
    return Apart(links, Y, np.sqrt(noise + np.maximum(variance, 0)))


def largest_product(Y, Z=None):
    """Return the array max_c y_ic z_jc of two arrays (rows, c) and (columns, c); Z = Y if None.

    The executor works on the tiles, which are independent of each other. For Z = Y the result is
    symmetric, and half of the tiles are copies.
    """
    mirror = Z is None
    Y = np.ascontiguousarray(Y.T)  # (c, rows)
    Z = Y if mirror else np.ascontiguousarray(Z.T)  # (c, columns)
    out = np.empty((Y.shape[1], Z.shape[1]), dtype=np.result_type(Y, Z))

    def fill(corner):
        a, b = (slice(start, start + TILE) for start in corner)
        best = np.multiply.outer(Y[0, a], Z[0, b])
        product = np.empty_like(best)
        for y, z in zip(Y[1:, a], Z[1:, b], strict=True):
            np.multiply(y[:, None], z, out=product)
            np.maximum(best, product, out=best)
        out[a, b] = best
        if mirror:
            out[b, a] = best.T

    rows, columns = (range(0, size, TILE) for size in out.shape)
    corners = [(i, j) for i in rows for j in columns if not mirror or i <= j]
    for _ in run_blocks(fill, corners):
        pass
    return out


def noise_of(sign, weight, *, scale, eps_must, eps_cannot):
    """Return the diagonal of E, Eq. (3), for K_ii = scale."""
    if scale <= 0 and len(sign):
        raise ValueError(f"{NOT_PSD}: its diagonal is 0; {REMEDY}")
    return scale * np.where(sign > 0, eps_must, eps_cannot) ** 2 / weight


def together(sign, algorithm):
    """Return a mask of the links that act together: all of them (A) or the must-links (B)."""
    return np.ones(len(sign), dtype=bool) if algorithm == "a" else sign > 0


def _factors(K, joint, apart):
    """Return the rows of B and Z that belong to whole rows of K, Eq. (4)."""
    B = joint.columns(K[:, joint.links.points].astype(np.float64))
    Z = apart.columns(K[:, apart.links.points].astype(np.float64), B)
    return B, Z.astype(K.dtype, copy=False)


def _posterior(K, BB, *Z):
    """Return max(0, K - BB - the largest product of Z)."""
    K = K - BB.astype(K.dtype, copy=False)
    if Z[0].shape[1]:
        K -= largest_product(*Z)
    return np.maximum(K, 0, out=K)


def _propagate(K, V, sign, weight, *, algorithm, eps_must, eps_cannot):
    scale = np.mean(np.diagonal(K), dtype=np.float64)
    noise = noise_of(sign, weight, scale=scale, eps_must=eps_must, eps_cannot=eps_cannot)
    joined = together(sign, algorithm)

    def entries(a, b):
        return K[np.ix_(a, b)]

    joint = condition(entries, V[:, joined], noise[joined])
    apart = one_by_one(entries, joint, V[:, ~joined], noise[~joined], scale=scale)
    B, Z = _factors(K, joint, apart)
    return Propagated(_posterior(K, B @ B.T, Z), joint, B, apart, Z)


def propagate_core(K_A, Z_i, Z_j, sign, weight, *, algorithm, eps_must, eps_cannot):
    """Return the affinity of p anchors, A of Algorithm A or B, told of links between points.

    Parameters
    ----------
    K_A : array (p, p), covariance of f at the anchors, positive semi-definite
    Z_i, Z_j : csr_arrays (L, p), the weights with which the two ends of each link interpolate f
    sign, weight, algorithm : as in `propagate`
    eps_must, eps_cannot : as in `propagate`, in units of the square root of the mean of diag(K_A):
        the standard deviation of f at an anchor, a little more than that between anchors

    Returns
    -------
    array (p, p), >= 0; the affinity of points is Z A Z^T

    >>> near = sparse.csr_array([[0.5, 0.5, 0.0]]), sparse.csr_array([[0.0, 0.0, 1.0]])
    >>> propagate_core(np.eye(3), *near, np.array([1]), np.ones(1),
    ...                algorithm="a", eps_must=0.5, eps_cannot=0.5).round(2)
    array([[0.86, 0.  , 0.29],
           [0.  , 0.86, 0.29],
           [0.29, 0.29, 0.43]])
    """
    V = (Z_i - sparse.diags_array(sign.astype(np.float64)) @ Z_j).T.tocsr()
    eps = {"eps_must": eps_must, "eps_cannot": eps_cannot}
    return _propagate(K_A, V, sign, weight, algorithm=algorithm, **eps).A


def propagate(K, i, j, sign, weight, *, algorithm, eps_must, eps_cannot):
    """Return the affinity A of Algorithm A or B.

    Parameters
    ----------
    K : array (n, n), symmetric positive semi-definite
    i, j : int arrays (L,), the two ends of each link, each pair once (merge repeated ones first)
    sign : array (L,), +1 must-link, -1 cannot-link
    weight : array (L,), > 0, divides the noise variance
    algorithm : "a" or "b"
    eps_must, eps_cannot : floats > 0, the noise e of (M) and (C), in units of sqrt(K_ii)

    Returns
    -------
    Propagated
    """
    V = pair_columns(i, j, sign, len(K))
    eps = {"eps_must": eps_must, "eps_cannot": eps_cannot}
    return _propagate(K, V, sign, weight, algorithm=algorithm, **eps)
