"""Constrained affinity propagation (Lu & Carreira-Perpinan)."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory
from linkwise._typing import Affinity, Integers, Matrix, OnConflict, OnUnknown, RandomState
from linkwise.arrays import to_host
from linkwise.blocks.cost import check_cost
from linkwise.blocks.rows import spaced, take_rows
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import extend, spectral_basis, unit_rows
from linkwise.estimators.base import POSITIVE, Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.graph.affinity import GaussianAffinity
from linkwise.graph.anchors import inverse
from linkwise.graph.weights import median_scale, resolve_sigma
from linkwise.kernel.propagation import propagate, propagate_core
from linkwise.kernel.propagation_edges import GaussianKernel, propagate_edges, propagation_memory
from linkwise.partition.k_means import nearest_centre

POINTS = 4  # sampled for every anchor to measure the width of the covariance


class PropagatedSpectralClustering(SpectralClusterer):
    """Spectral clustering on affinities that constraints have spread over (Lu & Carreira-Perpinan).

    The affinity is the covariance of a Gaussian process and the constraints are noisy observations
    of it. Spectral clustering uses the posterior covariance, with negative entries set to 0. One
    link changes many affinities around its two ends.

    A dense affinity takes n_samples^2 memory (about four such matrices) and
    O(n_samples^2 n_pairs) time; a fit that does not fit in memory is refused with an estimate. For
    more points, "nearest_neighbors" evaluates the same posterior on the edges of a graph alone,
    and "anchors" on all pairs of anchors.

    Parameters
    ----------
    n_clusters : int
    algorithm : {"auto", "a", "b"}
        A enforces all links at once and is meant for two clusters. B enforces the cannot-links
        one by one, so that two points with cannot-links to a third do not become similar. "auto"
        is A for two clusters and B for more.
    eps : float or (float, float)
        How much a link may be missed, for must-links and cannot-links, in units of the standard
        deviation of the process. 1e-5 is the paper's hard link; soft links do better if there are
        many of them, or more than two clusters. A pair of weight w has eps / sqrt(w).
    affinity : as in `CCSKL`
        A Gaussian: on all pairs, on the edges of a graph of ``n_neighbors`` neighbours and
        between the neighbours of must-linked points, or on anchors ("rbf", "nearest_neighbors",
        "anchors"); or a spectral kernel of the graph ("heat" with 10 neighbours for text). A
        precomputed affinity must be positive semi-definite.
    n_neighbors : int, of the graph
    sigma : float, "r", a multiple such as "2r", or "local"
        Width of the Gaussian; r is the median distance to the 7th neighbour (for anchors, among
        four times as many points as anchors). For a spectral kernel the width of the graph's
        weights, r the mean distance to the n_neighbors-th neighbour. Not "local" on a graph or on
        anchors.
    affinity_params, n_init, on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    affinity_matrix_ : array, csr_array or AnchoredMatrix (n_samples, n_samples)
        The propagated affinity, >= 0.
    embedding_ : array (n_samples, n_clusters), unit rows
    algorithm_ : "a" or "b", the one used
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "algorithm": [StrOptions({"auto", "a", "b"})],
        "eps": [POSITIVE, tuple, list],
    }

    traits = Traits(rows=10_000_000, device=True)  # through anchors
    _on_device = ("anchors",)

    algorithm_: Literal["a", "b"]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        algorithm: Literal["auto", "a", "b"] = "auto",
        eps: float | Sequence[float] = 1.0,
        affinity: Affinity = "rbf",
        n_neighbors: int = 10,
        sigma: float | str = "2r",
        affinity_params: dict[str, Any] | None = None,
        n_init: int = 10,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.eps = eps
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _eps(self) -> Sequence[float]:
        eps = self.eps if isinstance(self.eps, tuple | list) else (self.eps, self.eps)
        if len(eps) != 2 or not all(isinstance(e, Real) and 0 < float(e) < np.inf for e in eps):
            raise ValueError(
                f"eps must be a positive number or two of them, (must, cannot); got {self.eps!r}"
            )
        return eps

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        if self.affinity not in ("anchors", "nearest_neighbors"):
            instead = 'use affinity="nearest_neighbors" or "anchors"'
            check_memory(X.shape[0], np.float64, copies=4, instead=instead)
            X = X.astype(np.float64)  # float32 would hide what links leave
        super()._prepare(X, rng)

    def _graph_sigma(self) -> float | str:
        # the links act through a covariance of its own width; the graph only says where
        return "r" if self.affinity in ("anchors", "nearest_neighbors") else self.sigma

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        eps_must, eps_cannot = self._eps()
        if self.algorithm == "auto":
            self.algorithm_ = "a" if self.n_clusters == 2 else "b"
        else:
            self.algorithm_ = self.algorithm
        told = {"algorithm": self.algorithm_, "eps_must": eps_must, "eps_cannot": eps_cannot}
        learn = {"anchors": self._on_anchors, "nearest_neighbors": self._on_edges}
        W = learn.get(self.affinity, self._on_all_pairs)(X, links.merged(), told)
        self.affinity_matrix_ = W
        self._basis = spectral_basis(W, self.n_clusters, rng, order=self._graph_.order)
        return self._partition(rng, out=out)

    def _on_all_pairs(self, X: Matrix, links: Constraints, told: dict[str, Any]) -> Matrix:
        K = self._graph_.W
        K = K.toarray() if sparse.issparse(K) else K
        self._propagated = propagate(K, *links.arrays(), **told)
        return self._propagated.A.astype(X.dtype, copy=False)

    def _on_edges(self, X: Matrix, links: Constraints, told: dict[str, Any]) -> Matrix:
        W = self._graph_.W
        kernel = GaussianKernel(X, resolve_sigma(self.sigma, self._graph_.median_scale))
        i, j, sign, weight = links.arrays()
        check_cost(
            X.shape[0], memory=propagation_memory(W, i, j, sign, algorithm=self.algorithm_),
            instead='use affinity="anchors"',
        )  # fmt: skip
        self._propagated = propagate_edges(kernel, W, i, j, sign, weight, **told)
        return self._propagated.A

    def _on_anchors(self, X: Matrix, links: Constraints, told: dict[str, Any]) -> Any:
        graph = self._graph_
        size = min(len(graph.sample), POINTS * graph.W.G.shape[0])
        few = to_host(take_rows(X, spaced(graph.sample, size)))
        sigma = resolve_sigma(self.sigma, median_scale(few.astype(np.float64)))
        K_A = GaussianAffinity(to_host(graph.anchors).astype(np.float64), sigma).W
        i, j, sign, weight = links.arrays()
        Z_i, Z_j = (to_host(graph.Z[end]) for end in (i, j))
        core = propagate_core(K_A, Z_i, Z_j, sign, weight, **told)
        return graph.W.with_core(core)

    def _assign(self, X: Matrix) -> Integers:
        if self.affinity == "anchors":
            return super()._assign(X)
        if self.affinity == "nearest_neighbors":
            A = self._propagated.rows(X, self._graph_.nearest(X).indices)
            degree = A.sum(axis=1)
            P = (sparse.diags_array(inverse(degree)) @ A).tocsr()
        else:
            # A is linear in the scale of a row of K and unit rows forget it: P serves for K
            P = self._graph_.rows(X.astype(np.float64)).P
            A = self._propagated.rows(P.toarray() if sparse.issparse(P) else P)
            P = A * inverse(A.sum(axis=1))[:, None]
        V = extend(self._basis, P, np.ones(P.shape[0], dtype=P.dtype))
        return nearest_centre(unit_rows(V), self._centres)
