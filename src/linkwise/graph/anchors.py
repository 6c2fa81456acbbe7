"""A graph through anchors: points are connected through the few anchors near each of them.

With p anchors u_a, the centres of k-means on a sample of the points, and s of them nearest to x:

    (1)  z_a(x) = exp(-|x - u_a|^2 / (2 sigma^2)) / sum over the s nearest, 0 for all other anchors
    (2)  W = Z C Z^T                C = diag(l)^-1,  l_a = sum_i z_ia
    (3)  d = Z C l                  the degrees; with the C of (2) all are 1

W is positive semi-definite. Its n^2 entries are never formed: Z has s numbers in each row [1].
Constraints enter as a few more entries Q between the points they touch, W + Q, or as another core
C. A spectral method needs only the p x p matrix

    (4)  G = Z^T D^-1 Z,

which is computed in one pass over the rows; see `embedding.anchored`. A new point gets its row z(x)
by (1), like the given points.

Cost: O(n p d) for the search at worst, O(n s^2) for G; memory O(n s + p^2), the n s part in a
temporary file if it is large.

[1] Liu, He & Chang, Large graph construction for scalable semi-supervised learning, ICML 2010.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from linkwise.arrays import PerKind, door, dtype_name, namespace, to_host
from linkwise.blocks.executors import one_thread, run_blocks
from linkwise.blocks.passes import over_blocks, tree_sum
from linkwise.blocks.rows import (
    bounds_of,
    content_sample,
    on_cluster,
    read_block,
    slices_of,
    take_rows,
    write_block,
)
from linkwise.graph.affinity import Rows
from linkwise.graph.nearest_anchors import nearest_anchors, plan_anchors
from linkwise.graph.weights import resolve_sigma

SAMPLE = 20  # rows of the sample for every anchor: enough for k-means to place it
LEAST = 45_000  # rows of the sample: k-means on the embedding draws its starts from them
LLOYD = 5  # steps of k-means for the anchors; they need not be optimal
IN_MEMORY = 1 << 30  # bytes of Z; a larger one is stored in a temporary file


class Interpolation:
    """Z: for every row the numbers and weights of s anchors, in memory or in a scratch file."""

    bounds = None  # of its blocks, if the rows are in parts

    def __init__(self, indices, weights, p, bounds=None):
        self.indices, self.weights = indices, weights
        if bounds is not None:
            self.bounds = bounds
        self.shape = (indices.shape[0], p)
        self.dtype = weights.dtype

    @classmethod
    def empty(cls, n, p, s, like, bounds=None):
        """Return a Z to be filled block by block, of the dtype and on the device of an array."""
        tools = door(like)
        number = tools.number_type(p)
        in_file = n * s * (number.itemsize + like.dtype.itemsize) > IN_MEMORY
        numbers = tools.large((n, s), like, number, in_file=in_file)
        return cls(numbers, tools.large((n, s), like, like.dtype, in_file=in_file), p, bounds)

    def block(self, part):
        """Return (indices, weights) of a slice or of listed rows."""
        read = read_block if isinstance(part, slice) else take_rows
        return read(self.indices, part), read(self.weights, part)

    def part(self, part):
        """Return the Interpolation of a slice of the rows."""
        indices, weights = self.block(part)
        return Interpolation(indices, weights, self.shape[1])

    def __getitem__(self, part):
        """Return rows of Z as a sparse matrix."""
        indices, weights = self.block(part)
        return door(weights).row_matrix(indices, weights, self.shape[1])


@PerKind
def choose_anchors(sample, p, rng):
    """Return at most p distinct anchors: the centres of a few steps of k-means from random rows."""
    p = min(p, len(sample))
    first = rng.choice(len(sample), p, replace=False)
    model = KMeans(p, init=sample[first], n_init=1, max_iter=LLOYD, algorithm="lloyd")
    with warnings.catch_warnings():  # fewer distinct points than p give fewer anchors
        warnings.simplefilter("ignore")
        centres = model.fit(sample).cluster_centers_
    return np.unique(centres.astype(sample.dtype), axis=0)


@choose_anchors.of_tensors
def _choose_anchors_of_tensors(sample, p, rng):
    tools, p = door(sample), min(p, len(sample))
    first = rng.choice(len(sample), p, replace=False)
    centres = tools.moved_means(sample, take_rows(sample, first), LLOYD)
    return tools.asarray(np.unique(to_host(centres), axis=0), sample)


def check_finite(X, rows):
    """Refuse NaN and infinity in a block of rows with these numbers (a list or a range)."""
    xp = namespace(X)
    if xp.isfinite(xp.sum(X, dtype=xp.float64)):
        return
    bad = np.argwhere(~np.isfinite(to_host(X)))
    if len(bad):
        i, column = bad[0].tolist()
        raise ValueError(
            f"Input X contains NaN or infinity: row {rows[i]}, column {column} is {X[i, column]}; "
            "fill it, or remove the row"
        )


def weights_of(squared, sigma):
    """Return z of Eq. (1) from squared distances (b, s), nearest first; rows sum to 1.

    sigma None is local: the width of a row is the distance of its farthest anchor.
    """
    xp = namespace(squared)
    exponent = squared - squared[:, :1]
    one, zero = xp.ones_like(exponent), xp.zeros_like(exponent)
    scale = squared[:, -1:] if sigma is None else (sigma * one) ** 2
    some = exponent > 0
    exponent = xp.where(some, exponent / xp.where(some, scale, one), zero)
    z = xp.exp(-0.5 * exponent)
    return z / xp.sum(z, axis=1, keepdims=True)


class AnchorAffinity:
    """The graph of Eq. (2) over rows in memory or in a file; `rows` is the map for new points."""

    order = None

    def __init__(self, X, *, n_anchors, n_nearest, sigma, rng):
        dtype = door(X).float_type(X)
        self.sample = content_sample(X, max(SAMPLE * n_anchors, LEAST), rng)
        sample = take_rows(X, self.sample, dtype)
        check_finite(sample, self.sample)
        self.anchors = choose_anchors(
            sample[:: max(1, len(sample) // (SAMPLE * n_anchors))], n_anchors, rng
        )
        self.s = min(n_nearest, len(self.anchors))
        with one_thread():
            self.plan = plan_anchors(self.anchors, self.s, sample=sample)
            near = nearest_anchors(sample[::4], self.plan).squared_distances
        farthest = door(near).cast(namespace(near).sqrt(near[:, -1]), "float64")
        self.sigma = None if sigma == "local" else resolve_sigma(sigma, float(farthest.mean()))
        self.Z = interpolation(X, self.plan, self.sigma, sample)
        self.W = AnchoredMatrix.of(self.Z)

    def interpolate(self, X):
        """Return (indices, weights) of the anchors of new points, (q, s) each."""
        indices, squared = nearest_anchors(X, self.plan)
        return indices, weights_of(squared, self.sigma)

    def alone(self):
        """Return what `rows` needs, without the graph of the given points."""
        light = object.__new__(type(self))
        light.anchors, light.s, light.plan, light.sigma = (
            self.anchors, self.s, self.plan, self.sigma,
        )  # fmt: skip
        return light

    def rows(self, X_new):
        """Return z(x) of new points as P, csr_array (q, p)."""
        indices, weights = self.interpolate(door(X_new).contiguous(X_new))
        Z = door(weights).row_matrix(indices, weights, len(self.anchors))
        return Rows(Z, namespace(weights).ones_like(weights[:, 0]))


def interpolation(X, plan, sigma, like):
    """Return Z of Eq. (1) for all rows of X, in the dtype and on the device of an array.

    On a cluster every worker keeps the blocks that it computed.
    """
    n, d = X.shape
    p, dtype = len(plan.anchors), like.dtype

    def assign(part, block):
        block = door(block).cast(block, dtype)
        check_finite(block, range(part.start, part.stop))
        indices, squared = nearest_anchors(block, plan)
        indices = door(block).cast(indices, door(block).number_type(p))
        return Interpolation(indices, weights_of(squared, sigma), p)

    remote = on_cluster(X)
    if remote is not None:
        return remote.then(assign, width=p, dtype=dtype).keep("anchors")
    Z = Interpolation.empty(n, p, plan.s, like, bounds_of(X))
    width = door(X).search_width(d, p)
    for part, block in over_blocks(assign, X, width, like=like, label="anchors", total=n):
        write_block(Z.indices, part, block.indices)
        write_block(Z.weights, part, block.weights)
    return Z


def add_each(left, right):
    """Return the sums of two tuples of arrays."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def gram(Z, inverse_degrees=None):
    """Return G of Eq. (4), (p, p) float64, and l = Z^T 1, in one pass over the rows.

    Parameters
    ----------
    Z : Interpolation
    inverse_degrees : function (rows of Z, a csr_array) -> array (b,), or None for D = I
    """
    n, p = Z.shape

    def add(part, block):
        indices, weights = block.block(slice(None))
        tools, left = door(weights), None
        weights = tools.cast(weights, "float64")  # float32 would give no Gram matrix
        if inverse_degrees is not None:
            rows = tools.row_matrix(indices, weights, p)
            left = weights * inverse_degrees(rows)[:, None]
        return tuple(map(to_host, tools.pair_sums(indices, weights, p, left)))

    remote = on_cluster(Z)
    if remote is not None:
        half, mass = remote.sum(add, add_each, label="gram")
        return half + half.T, mass
    if Z.bounds is not None:
        parts = slices_of(Z.bounds)
    else:
        rows = max(door(Z.weights).GRAM_ROWS, p * p // 8)
        parts = [slice(start, min(start + rows, n)) for start in range(0, n, rows)]
    half, mass = tree_sum(run_blocks(lambda part: add(part, Z.part(part)), parts), add_each)
    return half + half.T, mass


class Touched(NamedTuple):
    """Entries between the points that constraints touch."""

    rows: np.ndarray  # (r,) sorted
    Q: sparse.csr_array  # (r, r), symmetric


class AnchoredMatrix:
    """W = Z C Z^T + Q, of which only the factors exist; `toarray` is for small n.

    It can be multiplied by a number, and a sparse array (n, n), its Q, can be added.
    """

    __array_priority__ = 20.0  # NumPy and SciPy defer to its operators

    def __init__(self, Z, core, mass, G, touched=None):
        self.Z, self.core = Z, core  # core: (p,) for a diagonal C, or (p, p)
        self.mass, self.G = mass, G  # l (p,), and G of Eq. (4) with the degrees of Z C Z^T
        self.touched = touched
        self.shape, self.dtype, self.ndim = (Z.shape[0],) * 2, Z.dtype, 2

    @property
    def like(self):
        """An array of the library and on the device of Z."""
        return getattr(self.Z, "weights", self.mass)

    @classmethod
    def of(cls, Z):
        """Return the matrix of Eq. (2)."""
        G, mass = gram(Z)
        return cls(Z, inverse(mass), mass, G)

    def with_core(self, core):
        """Return Z C Z^T with another C, (p, p)."""
        reach = core @ self.mass

        def inverse_degrees(rows):
            tools = door(rows)
            return inverse(tools.product(rows, tools.asarray(reach, rows)))

        G, mass = gram(self.Z, inverse_degrees)
        return type(self)(self.Z, core, mass, G)

    def times_core(self, A):
        """Return A C for rows A of Z, or C A for columns."""
        return A * self.core if self.core.ndim == 1 else A @ self.core

    def reach(self):
        """Return C l (p,): the degree of a point in Z C Z^T is z(x) C l, Eq. (3)."""
        return self.times_core(self.mass)

    def entries(self, i, j):
        """Return the entries (i, j) of Z C Z^T for lists of rows."""
        left, right = (to_host(self.Z[np.asarray(end)]) for end in (i, j))
        left = sparse.csr_array(self.times_core(left))
        return np.asarray(left.multiply(right).sum(axis=1)).ravel()

    def mean_weight(self):
        """Return the mean of the entries of Z C Z^T, each weighted by itself."""
        M = self.times_core(self.times_core(self.G).T)  # C G C
        return float(np.sum(M * self.G) / (self.mass @ self.reach()))

    def max(self):
        """Return an upper bound of the entries: 1, the sum of a row."""
        return np.dtype(dtype_name(self)).type(1)

    def __rmul__(self, c):
        touched = self.touched and Touched(self.touched.rows, c * self.touched.Q)
        return type(self)(self.Z, c * self.core, self.mass, self.G / c if c else self.G, touched)

    def __add__(self, Q):
        Q = sparse.csr_array(Q)
        if self.touched is not None:
            r = self.touched.rows
            own = sparse.coo_array(self.touched.Q)
            Q = Q + sparse.csr_array((own.data, (r[own.coords[0]], r[own.coords[1]])), self.shape)
        rows = np.flatnonzero(np.diff(Q.indptr))
        return type(self)(
            self.Z, self.core, self.mass, self.G, Touched(rows, Q[rows][:, rows].tocsr())
        )

    __radd__ = __add__

    def toarray(self):
        """Return W as a dense array, n^2 memory."""
        Z = to_host(self.Z[slice(0, self.shape[0])]).toarray()
        W = self.times_core(Z) @ Z.T
        if self.touched is not None:
            W[np.ix_(self.touched.rows, self.touched.rows)] += self.touched.Q.toarray()
        return W


def inverse(d):
    """Return 1 / d, and 0 where d is 0."""
    xp, some = namespace(d), d > 0
    return xp.where(some, 1 / xp.where(some, d, xp.ones_like(d)), xp.zeros_like(d))
