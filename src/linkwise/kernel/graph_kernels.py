"""Fixed spectral kernels of a graph.

With S the normalised adjacency of a graph and L = I - S its Laplacian:

    (1)  "regularized_laplacian"   K = (I + t^2 L)^-1
    (2)  "heat"                    K = exp(-t L)
    (3)  "random_walk"             K = (a I - L)^p        a >= 2 keeps it positive semi-definite

All are positive semi-definite functions of S with entries >= 0, so they serve as kernels and as
affinities: they know who is near along the graph, not only next to whom. Each is applied to
vectors by products with S alone,

    (1)  Chebyshev's iteration (`diffuse` with alpha = t^2 / (1 + t^2) is the same matrix)
    (2)  exp(-t) exp(t S) = e^-t (I_0(t) + 2 sum_q I_q(t) T_q(S))    I Bessel, T Chebyshev
    (3)  p products with (a - 1) I + S

so nothing dense is formed unless the whole matrix is asked for: O(nnz) a product and column,
about sqrt-many to t + 6 sqrt(t) of them. Diffusion with t = 20 on a 10-neighbour graph is what
affinity propagation uses for text.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator
from scipy.special import ive

from linkwise.graph.affinity import NeighbourAffinity, Rows
from linkwise.graph.laplacians import normalise
from linkwise.kernel.exhaustive import COLUMNS, diffuse, unit_columns

DEFAULTS: dict[str, dict] = {
    "regularized_laplacian": {"t": 3.0},
    "heat": {"t": 20.0},
    "random_walk": {"a": 2.0, "p": 20},
}


def regularized_laplacian(S, B, *, t):
    """Return (I + t^2 L)^-1 B, Eq. (1)."""
    return diffuse(S, B, alpha=t**2 / (1 + t**2))


def heat(S, B, *, t, tol=1e-12):
    """Return exp(-t L) B, Eq. (2)."""
    before, now = B, S @ B  # T_0(S) B, T_1(S) B
    total = ive(0, t) * before
    q = 1
    while (coefficient := 2 * ive(q, t)) > tol:
        total = total + coefficient * now
        before, now = now, 2 * (S @ now) - before
        q += 1
    return total.astype(B.dtype, copy=False)


def random_walk(S, B, *, a, p):
    """Return (a I - L)^p B divided by a^p, Eq. (3): the scale keeps entries below 1."""
    for _ in range(p):
        B = ((a - 1) * B + S @ B) / a
    return B


APPLY: dict[str, Callable] = {
    "regularized_laplacian": regularized_laplacian,
    "heat": heat,
    "random_walk": random_walk,
}


def kernel_params(kind, params):
    """Return the parameters of a kernel, defaults filled in, checked."""
    allowed = DEFAULTS[kind]
    unknown = set(params) - set(allowed)
    if unknown:
        raise ValueError(
            f"kernel_params of {kind!r} are {', '.join(allowed)}; got {', '.join(sorted(unknown))}"
        )
    params = allowed | params
    least = {"t": 0, "a": 2, "p": 1}
    for name, value in params.items():
        if not value >= least[name] or not np.isfinite(value):
            raise ValueError(f"kernel_params: {name} must be at least {least[name]}; got {value!r}")
    return params


def graph_kernel_operator(W, kind, **params):
    """Return the kernel of a graph as an operator: matrix-free, O(nnz) a product.

    >>> path = np.diag([1.0] * 3, 1) + np.diag([1.0] * 3, -1)
    >>> K = graph_kernel_operator(path, "heat", t=1.0)
    >>> (K @ np.array([1.0, 0, 0, 0])).round(3)
    array([0.466, 0.294, 0.072, 0.016])
    """
    S = normalise(W)
    params = kernel_params(kind, params)

    def product(B):
        return APPLY[kind](S, B, **params)

    return LinearOperator(S.shape, matvec=product, matmat=product, rmatvec=product, dtype=S.dtype)


def graph_kernel(W, kind, **params):
    """Return the whole kernel matrix of a graph, dense (n, n), by blocks of columns."""
    n = W.shape[0]
    operator = graph_kernel_operator(W, kind, **params)
    K = np.empty((n, n), dtype=W.dtype)
    for start in range(0, n, COLUMNS):
        stop = min(start + COLUMNS, n)
        K[:, start:stop] = operator @ unit_columns(n, np.arange(start, stop), W)
    K += K.T
    K /= 2
    return np.maximum(K, 0, out=K)


class GraphKernelAffinity:
    """A spectral kernel of the neighbour graph as an affinity: dense, n^2 memory.

    A new point has the mean of the rows of its neighbours.
    """

    order = None

    def __init__(self, X, kind, *, n_neighbors, sigma, params):
        self.graph = NeighbourAffinity(X, n_neighbors, sigma)
        self.W = graph_kernel(self.graph.W, kind, **(params or {}))

    def weights(self, X_new):
        """Return the kernel between new and given points, (q, n)."""
        return self.graph.rows(X_new).P @ self.W

    def rows(self, X_new):
        weights = self.weights(X_new)
        degree = weights.sum(axis=1)
        return Rows(weights / degree[:, None], degree)
