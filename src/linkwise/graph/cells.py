"""Cells of bounded size that put neighbouring points side by side.

    (1)  z = V^T (x - mu)              the leading r - 1 principal directions of a sample
    (2)  z_r = |x - mu - V V^T (x - mu)| / sqrt(2)      from the length of what they leave out
    (3)  |x - y|^2 ~ |x - mu|^2 + |y - mu|^2 - 2 z_x.z_y

|z_x - z_y| is never larger than |x - y|. Eq. (3) assumes an angle of 60 degrees between the parts
of x and y outside the projection: for neighbours it is smaller than the 90 degrees of unrelated
points. So it ranks neighbours better than |z_x - z_y|. Up to ``MAX_DIMENSIONS`` the points
themselves are used.

The cells come from two levels of k-means with a few steps each: about sqrt(c) regions, then as many
cells in each, so that a point is compared with O(sqrt(c)) centres. Cells that stay large (because
points are equal) are cut, so that no cell has more than ``2 * size`` points.

Cost: O(n sqrt(n / size) r) time with a small constant, O(n r) memory. Samples are drawn along a
random projection of the points, so that the order of the rows only affects ties.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from linkwise.blocks import run_blocks
from linkwise.graph.packed import factor_points

MAX_DIMENSIONS = 80  # measured: more make products slower, fewer need more full distances
SAMPLE = 4000  # rows for the principal directions, about 50 for each direction
PER_CENTRE = 16  # rows per region on which k-means runs
STEPS = 3  # of k-means; cells need not be optimal
POWER_STEPS = 5  # of subspace iteration; directions need not be exact
BLOCK = 8192  # rows in one task


class Projection(NamedTuple):
    centre: np.ndarray  # (d,), or 0 for sparse points
    basis: np.ndarray | None  # (d, r - 1); None: the points themselves


class Cells(NamedTuple):
    order: np.ndarray  # (n,) row numbers, cell by cell
    starts: np.ndarray  # (c + 1,) where each cell begins in that order
    centres: np.ndarray  # (c, r)


def blocks_of(n, size=BLOCK):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def spread_sample(X, size, seed):
    """Return the numbers of at most ``size`` rows, evenly along a random projection of all."""
    n, d = X.shape
    if n <= size:
        return np.arange(n)
    direction = np.random.default_rng(seed).standard_normal(d).astype(X.dtype)
    order = np.argsort(np.asarray(X @ direction).ravel(), kind="stable")
    return order[((np.arange(size) + 0.5) * n / size).astype(np.intp)]


def squared_norms(X):
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def leading_directions(S, r, seed):
    """Return r orthonormal directions (d, r) near those of most variance, by subspace iteration.

    They need not be exact: Eq. (2) corrects for the rest.
    """
    G = S.T @ S  # (d, d)
    V = np.random.default_rng(seed).standard_normal((S.shape[1], r)).astype(S.dtype)
    for _ in range(POWER_STEPS):
        V = np.linalg.qr(G @ V)[0]
    return V


def fit_projection(X, centre, *, seed=0):
    """Return the projection of Eq. (1) for points X."""
    d = X.shape[1]
    if d <= MAX_DIMENSIONS and not sparse.issparse(X):
        return Projection(centre, None)
    S = X[spread_sample(X, SAMPLE, seed)]
    r = min(d, MAX_DIMENSIONS) - 1
    if sparse.issparse(X):
        r = min(r, min(S.shape) - 1)
        V = randomized_svd(S, r, n_iter=3, random_state=seed)[2].T
    else:
        S = S - centre
        S -= S.mean(axis=0)  # variance about the mean; the same directions then serve any centre
        V = leading_directions(S, r, seed)
    return Projection(centre, np.ascontiguousarray(V, dtype=X.dtype))


def project(X, projection):
    """Return z of Eqs. (1) and (2), (n, r), in the dtype of X."""
    centre, V = projection
    if V is None:
        return X - centre
    Z = np.empty((X.shape[0], V.shape[1] + 1), dtype=X.dtype)

    def one(part):
        Y = X[part] if sparse.issparse(X) else X[part] - centre
        Z[part, :-1] = Y @ V
        left = squared_norms(Y) - squared_norms(Z[part, :-1])
        Z[part, -1] = np.sqrt(np.maximum(left, 0) / 2)  # Eq. (2)

    for _ in run_blocks(one, blocks_of(X.shape[0], 1024)):
        pass
    return Z


def sorted_points(X, order, centre):
    """Return the points less their centre in another order; sparse points stay where they are."""
    if sparse.issparse(X):
        return X[order]
    out = np.empty(X.shape, dtype=X.dtype)

    def one(part):
        np.take(X, order[part], axis=0, out=out[part], mode="clip")
        out[part] -= centre

    for _ in run_blocks(one, blocks_of(len(X), 1024)):
        pass
    return out


def nearest_centre(Z, centres):
    """Return the number of the nearest centre of each row."""
    middle = centres.mean(axis=0)
    C = np.delete(factor_points(centres - middle), Z.shape[1], axis=0)  # |z|^2 changes nothing
    out = np.empty(len(Z), dtype=np.intp)
    size = max(16, (1 << 17) // max(C.shape))
    rows = np.ones((size, Z.shape[1] + 1), dtype=Z.dtype)
    for part in blocks_of(len(Z), size):
        left = rows[: part.stop - part.start]
        np.subtract(Z[part], middle, out=left[:, :-1])
        out[part] = (left @ C).argmin(axis=1)
    return out


def means(Z, label, count):
    """Return the mean of the rows of each label, and how many there are; 0 of none."""
    sizes = np.bincount(label, minlength=count)
    where = np.argsort(label, kind="stable")
    start = np.concatenate(([0], np.cumsum(sizes)))
    indicator = sparse.csr_array((np.ones(len(Z), dtype=Z.dtype), where, start), (count, len(Z)))
    return (indicator @ Z) / np.maximum(sizes, 1)[:, None].astype(Z.dtype), sizes


def kmeans_centres(S, count, rng):
    """Return ``count`` centres after a few steps of k-means from random rows of S."""
    centres = S[rng.choice(len(S), count, replace=False)]
    for _ in range(STEPS):
        mean, sizes = means(S, nearest_centre(S, centres), count)
        centres = np.where(sizes[:, None] > 0, mean, centres)
    return centres


def _subdivide(Z, count, seed):
    """Return labels 0..count - 1 of the rows of one region."""
    if count <= 1:
        return np.zeros(len(Z), dtype=np.intp)
    sample = spread_sample(Z, PER_CENTRE * count, seed)
    centres = kmeans_centres(Z[sample], count, np.random.default_rng(seed))
    return nearest_centre(Z, centres)


def build_cells(Z, size, *, seed=0):
    """Return cells of about ``size`` rows, none above twice that.

    Parameters
    ----------
    Z : array (n, r)
    size : int
    seed : int
    """
    n = len(Z)
    regions = max(1, round((n / size) ** 0.5))
    sample = spread_sample(Z, 4 * PER_CENTRE * regions, seed)
    centres = kmeans_centres(Z[sample], regions, np.random.default_rng(seed))
    parts = run_blocks(lambda part: nearest_centre(Z[part], centres), blocks_of(n))
    region = np.concatenate(list(parts))
    direction = np.random.default_rng(seed).standard_normal(Z.shape[1]).astype(Z.dtype)
    height = Z @ direction
    order = np.lexsort((height, region))
    bounds = np.searchsorted(region[order], np.arange(regions + 1))

    def one(j):
        rows = order[bounds[j] : bounds[j + 1]]
        label = _subdivide(Z[rows], round(len(rows) / size), seed)
        by_cell = np.argsort(label, kind="stable")  # within a cell by height, as before
        counts = np.bincount(label)
        counts = counts[counts > 0]
        pieces = -(-counts // (2 * size))
        first = np.concatenate(([0], np.cumsum(counts)[:-1]))
        cuts = [
            start + np.arange(p) * count // p
            for start, count, p in zip(first, counts, pieces, strict=True)
        ]
        return rows[by_cell], bounds[j] + np.concatenate(cuts)

    results = list(run_blocks(one, np.flatnonzero(np.diff(bounds))))
    order = np.concatenate([rows for rows, _ in results])
    starts = np.concatenate([cut for _, cut in results])
    Z = Z[order]
    centres = np.add.reduceat(Z, starts, axis=0, dtype=np.float64)
    starts = np.append(starts, n)
    centres /= np.diff(starts)[:, None]
    return Cells(order, starts, centres.astype(Z.dtype))
