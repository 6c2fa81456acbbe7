"""Kernel k-means with constraints, also as a normalised cut."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    PAIRWISE_KERNEL_FUNCTIONS,
    pairwise_kernels,
)
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory
from linkwise._typing import Integers, Matrix, OnConflict, OnUnknown, RandomState
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import spectral_embedding
from linkwise.estimators.base import AT_LEAST_ONE, SIGMA
from linkwise.estimators.kernel_base import KernelClusterer
from linkwise.graph.affinity import NeighbourAffinity, squared_distances
from linkwise.graph.laplacians import degrees
from linkwise.graph.weights import median_scale, resolve_sigma
from linkwise.kernel.graph_kernels import DEFAULTS, GraphKernelAffinity
from linkwise.partition.k_means import kmeans


class KernelKMeans(KernelClusterer):
    """Kernel k-means with rewards and penalties for constraints (SS-Kernel-KMeans, Kulis 2005).

    Needs the whole kernel matrix, n_samples^2 memory; a fit that does not fit in memory is refused
    with an estimate. Only the neighbour graph is sparse. Without constraints it is plain kernel
    k-means.

    Parameters
    ----------
    n_clusters : int
    kernel : str or callable
        "rbf" (with ``sigma``), "precomputed", "nearest_neighbors" (the weights of the neighbour
        graph; use version "ncut"), a spectral kernel of that graph ("heat",
        "regularized_laplacian", "random_walk"), another kernel of scikit-learn's
        ``pairwise_kernels``, or a function (X, Y) -> matrix (rows of X, rows of Y).
    version : {"kmeans", "ncut"}
        "ncut" weighs every point by its degree, so that the objective is the normalised cut of
        the kernel as a graph: the SSKK that spectral methods are compared with. It starts from
        the must-link groups and from the spectral partition.
    sigma : float, "r" or a multiple such as "2r"
        Width of "rbf", where r is the median distance to the 7th neighbour, or of the weights of
        the graph, where it is the mean distance to the n_neighbors-th.
    n_neighbors : int, of the graph
    kernel_params : dict or None
        Further arguments of a named kernel.
    constraint_weight : "auto" or float
        Reward for a must-link and penalty for a cannot-link; "auto" is
        n_samples / (n_clusters * total weight of the constraints), times the mean of the kernel's
        diagonal unless that is 0.
    n_init : int
        Number of starts: one from the must-link groups farthest apart, the others random.
    max_iter : int
    shift : float
        Added to the diagonal. Large values make the objective fall in every pass and keep the
        partition close to its start.
    on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    inertia_ : float, within-cluster scatter minus rewards plus penalties
    n_iter_ : int, passes of the start that was kept
    sigma_ : float, width of the kernel "rbf"; only with that kernel
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelClusterer._parameter_constraints,
        "kernel": [
            StrOptions({*PAIRWISE_KERNEL_FUNCTIONS, *DEFAULTS, "precomputed", "nearest_neighbors"}),
            callable,
        ],
        "version": [StrOptions({"kmeans", "ncut"})],
        "sigma": SIGMA,
        "n_neighbors": [AT_LEAST_ONE],
        "kernel_params": [dict, None],
    }
    _precomputed_by = "kernel"
    _nonnegative = False

    sigma_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        version: Literal["kmeans", "ncut"] = "kmeans",
        sigma: float | str = "2r",
        n_neighbors: int = 20,
        kernel_params: dict[str, Any] | None = None,
        constraint_weight: float | Literal["auto"] = "auto",
        n_init: int = 10,
        max_iter: int = 100,
        shift: float = 0.0,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.version = version
        self.sigma = sigma
        self.n_neighbors = n_neighbors
        self.kernel_params = kernel_params
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.shift = shift
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        if self.kernel != "nearest_neighbors":
            check_memory(X.shape[0], X.dtype, copies=3, instead="use CCSKL, which is sparse")
        K = self._matrix(X)
        if self.version == "kmeans":
            return self._partition(K, links, rng)
        if K.min() < 0:
            raise ValueError(f'version="ncut" needs a kernel >= 0; {self.kernel!r} has {K.min():g}')
        d = degrees(K)
        d = np.maximum(d, d[d > 0].min() if np.any(d > 0) else 1)
        Z, _ = spectral_embedding(K, self.n_clusters, rng)
        spectral = kmeans(Z, self.n_clusters, n_init=self.n_init, rng=rng).labels
        return self._partition(K, links, rng, mass=d, starts=[spectral])

    def _matrix(self, X: Matrix) -> Matrix:
        """Return the kernel of the points to fit, and store what new points need."""
        self._graph: NeighbourAffinity | GraphKernelAffinity | None = None
        if self.kernel == "nearest_neighbors":
            self._graph = NeighbourAffinity(X, self.n_neighbors, self.sigma)
        elif self.kernel in DEFAULTS:
            self._graph = GraphKernelAffinity(
                X, self.kernel, n_neighbors=self.n_neighbors, sigma=self.sigma,
                params=self.kernel_params,
            )  # fmt: skip
        elif self.kernel == "rbf":
            if self.sigma == "local":
                raise ValueError('sigma="local" gives no kernel; pass a number, "r" or a multiple')
            self.sigma_ = resolve_sigma(self.sigma, median_scale(X))
        return self._kernel(X) if self._graph is None else self._graph.W

    def _kernel(self, X: Matrix, Y: Matrix | None = None) -> Matrix:
        if self.kernel == "precomputed":
            return X.toarray() if sparse.issparse(X) and self.version == "kmeans" else X
        if callable(self.kernel):
            return np.asarray(self.kernel(X, X if Y is None else Y))
        if self.kernel == "rbf":
            squared = squared_distances(X, Y)
            return np.exp(squared * squared.dtype.type(-0.5 / self.sigma_**2))
        return pairwise_kernels(X, Y, metric=self.kernel, **(self.kernel_params or {}))

    def _rows(self, X: Matrix) -> Matrix:
        if self._graph is not None:
            P, degree = self._graph.rows(X)
            scale = 1 if self.version == "ncut" else degree[:, None]
            return P * scale if not sparse.issparse(P) else P.multiply(scale).tocsr()
        K = self._kernel(X, self._fit_X)
        if self.version == "kmeans":
            return K
        d = degrees(K)
        inverse = np.divide(1, d, out=np.zeros_like(d), where=d > 0)
        return sparse.diags_array(inverse) @ K
