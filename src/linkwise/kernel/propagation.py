"""Constrained affinity by propagation: a Gaussian process that is told who goes with whom [1].

    (1)  f ~ N(0, K)                                    continuous labels, two classes by sign
    (M)  f_i - f_j ~ N(0, e_m^2) for a must-link, (C)  f_i + f_j ~ N(0, e_c^2) for a cannot-link
    (2)  K' = (K^-1 + M)^-1 = K - K V (E + V^T K V)^-1 V^T K
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

K is dense: n^2 memory, O(n^2 L) time for L links. Equation numbers are the paper's.

[1] Lu & Carreira-Perpinan, Constrained spectral clustering through affinity propagation,
    CVPR 2008.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy import linalg

from linkwise.linalg.woodbury import CUTOFF, downdate

NOT_PSD = "the affinity matrix is not positive semi-definite, so it is no covariance"
REMEDY = 'a neighbour graph is not; use affinity="rbf" or "heat"'
TILE = 256  # rows and columns of a tile: it and its temporary stay in the cache


class Propagated(NamedTuple):
    """The propagated affinity and what a new point needs to get its row of it."""

    A: np.ndarray  # (n, n), >= 0
    V: "Links"  # links that act together
    T: np.ndarray  # (L, q): row k of K gives row k - (k V T) B^T of K'
    B: np.ndarray  # (n, q)
    apart: "Links"  # cannot-links that act one by one (Algorithm B)
    Z: np.ndarray  # (n, n_c), the z_c as columns
    root: np.ndarray  # (n_c,), their denominators

    def rows(self, K_new):
        """Return the rows of A for new points from their rows of K, (q, n)."""
        K_m = K_new - self.V.times(K_new) @ self.T @ self.B.T
        if len(self.root):
            K_m = K_m - largest_product(self.apart.times(K_m) / self.root, self.Z)
        return np.maximum(K_m, 0).astype(self.A.dtype, copy=False)


class Links(NamedTuple):
    """Columns e_i - sign_l e_j of V, Eq. (3), or dense columns over the touched points."""

    i: np.ndarray
    j: np.ndarray
    sign: np.ndarray
    columns: np.ndarray | None = None  # (r, L) over the points i, where links outnumber points

    def times(self, K):
        """Return K V, (rows of K, L)."""
        if self.columns is not None:
            return K[:, self.i].astype(np.float64) @ self.columns
        return K[:, self.i].astype(np.float64) - self.sign * K[:, self.j]

    def transposed_times(self, KV):
        """Return V^T (K V), (L, L)."""
        if self.columns is not None:
            return self.columns.T @ KV[self.i]
        return KV[self.i] - self.sign[:, None] * KV[self.j]


def compress(links, noise):
    """Return (links, noise) with as few columns as there are touched points, the same M.

    M = V E^-1 V^T lives on the r touched points. Where L > r, its square root has r columns.
    """
    touched = np.unique(np.concatenate([links.i, links.j]))
    r = len(touched)
    if len(links.i) <= r:
        return links, noise
    i, j = np.searchsorted(touched, links.i), np.searchsorted(touched, links.j)
    unit = noise.min()
    M = np.zeros((r, r))
    np.add.at(M, (i, i), unit / noise)
    np.add.at(M, (j, j), unit / noise)
    np.add.at(M, (i, j), -links.sign * unit / noise)
    np.add.at(M, (j, i), -links.sign * unit / noise)
    values, vectors = linalg.eigh(M)
    keep = values > CUTOFF * values[-1]
    columns = vectors[:, keep] * np.sqrt(values[keep])
    none = np.empty(0)
    return Links(touched, none, none, columns), np.full(columns.shape[1], unit)


def condition(K, links, noise):
    """Return K' of Eq. (2) with the factors (links, T, B)."""
    links, noise = compress(links, noise)
    KV = links.times(K)  # (n, L)
    G = links.transposed_times(KV) + np.diag(noise)
    try:
        B, T = downdate(KV, (G + G.T) / 2)
    except ValueError as error:
        raise ValueError(f"{NOT_PSD}; {REMEDY}") from error
    return K - (B @ B.T).astype(K.dtype), links, T, B


def largest_product(Y, Z=None):
    """Return the array max_c y_ic z_jc of two arrays (rows, c) and (columns, c); Z = Y if None.

    Tiles are independent, so they go to threads; numpy holds no lock inside them. For Z = Y the
    result is symmetric and half of the tiles are copies.
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
    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, corners))
    return out


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
    scale = np.mean(np.diagonal(K), dtype=np.float64)
    if scale <= 0 and len(sign):
        raise ValueError(f"{NOT_PSD}: its diagonal is 0; {REMEDY}")
    eps = np.where(sign > 0, eps_must, eps_cannot)
    noise = scale * eps**2 / weight  # E, Eq. (3)
    links = Links(i, j, sign.astype(np.float64))
    together = np.ones(len(sign), dtype=bool) if algorithm == "a" else sign > 0
    joint = Links(*(part[together] for part in links[:3]))
    apart = Links(*(part[~together] for part in links[:3]))

    K_m, joint, T, B = condition(K, joint, noise[together])  # K', or K^m of Algorithm B
    Z, root = np.empty((len(K), 0)), np.empty(0)
    if len(apart.i):
        KV = apart.times(K_m)  # (n, n_c)
        c = np.arange(len(apart.i))
        variance = KV[apart.i, c] - apart.sign * KV[apart.j, c]  # v_c^T K^m v_c
        if variance.min() < -1e-7 * scale:
            raise ValueError(f"{NOT_PSD}; {REMEDY}")
        root = np.sqrt(noise[~together] + np.maximum(variance, 0))
        Z = (KV / root).astype(K.dtype)
        K_m = K_m - largest_product(Z)
    return Propagated(np.maximum(K_m, 0), joint, T, B, apart, Z, root)
