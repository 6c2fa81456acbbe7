"""E2CP, constraints propagated over the graph."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise._check import check_memory
from linkwise._typing import Affinity, Array, Integers, Matrix, OnConflict, OnUnknown, RandomState
from linkwise.arrays import door, dtype_name, is_sparse, to_host
from linkwise.blocks.cost import check_cost
from linkwise.blocks.executors import executor_of
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import spectral_basis
from linkwise.estimators.base import Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.graph.anchors import inverse
from linkwise.kernel.exhaustive import spread, spread_edges, spread_memory
from linkwise.kernel.exhaustive_anchors import anchor_judgement, spread_core

ALL_UP_TO = 5_000  # points: four dense matrices of this size take less than 1 GB


class ExhaustivePropagation(SpectralClusterer):
    """Exhaustive and efficient constraint propagation, E2CP (Lu & Ip 2010).

    Every pair of points is judged by the constraints on their neighbourhoods, and the affinity
    raised or lowered accordingly; then spectral clustering.

    Parameters
    ----------
    n_clusters : int
    reach : {"auto", "all", "edges"}
        Judge all pairs of points, n_samples^2 memory, or only the edges of the neighbour graph,
        the given pairs, and the pairs between neighbours of must-linked points, which learns as
        much in most cases. "auto" judges all pairs up to 5,000 points. With affinity="anchors" all
        pairs of anchors are judged instead.
    alpha : float in [0, 1)
        How far a constraint reaches; with 0 it affects the given pair alone.
    affinity, n_neighbors, sigma, affinity_params : as in `CCSKL`
    n_init, on_conflict, on_unknown, random_state : as in `CCSKL`
        Affinities above 1 are scaled down to 1.

    Attributes
    ----------
    labels_ : int array (n_samples,)
    embedding_ : array (n_samples, n_clusters), unit rows
    affinity_matrix_ : array or csr_array (n_samples, n_samples), after propagation
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "reach": [StrOptions({"auto", "all", "edges"})],
    }
    traits = Traits(rows=10_000_000, device=True)  # through anchors
    _on_device = ("nearest_neighbors", "anchors")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.8,
        reach: Literal["auto", "all", "edges"] = "auto",
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 20,
        sigma: float | str = "r",
        affinity_params: dict[str, Any] | None = None,
        n_init: int = 10,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.reach = reach
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.affinity_params = affinity_params
        self.n_init = n_init
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
        W = self._graph_.W
        if links and self.affinity == "anchors":
            W = self._on_anchors(W, links)
        elif links:
            tools = door(W)
            W = tools.times(W, 1 / max(tools.largest_entry(W), 1))  # Eq. (4): weights in [0, 1]
            with executor_of(X):
                W = self._on_points(W, links.arrays())
        self.affinity_matrix_ = W
        self._basis = spectral_basis(W, self.n_clusters, rng, order=self._graph_.order)
        return self._partition(rng, out=out)

    def _on_points(self, W: Matrix, pairs: tuple[Array, ...]) -> Matrix:
        if not is_sparse(W) or self._reach(W) == "all":
            return spread(W, *pairs, alpha=self.alpha)
        memory = spread_memory(to_host(W), *pairs[:3])
        check_cost(W.shape[0], memory=memory, instead='use affinity="anchors"')
        return spread_edges(
            W, *pairs, alpha=self.alpha, surroundings=True, order=self._graph_.order
        )

    def _on_anchors(self, W: Matrix, links: Constraints) -> Any:
        root = np.sqrt(inverse(W.mass))
        gram = root[:, None] * W.G * root
        S_touched = (to_host(W.Z[links.ids]) * root).tocsr()
        pairs = *links.pairs.T, links.sign, links.weight
        F = anchor_judgement(gram, S_touched, *pairs, alpha=self.alpha)
        return W.with_core(spread_core(F, gram, W.mass))

    def _reach(self, W: Matrix) -> str:
        n = W.shape[0]
        if self.reach == "auto":
            return "all" if n <= ALL_UP_TO else "edges"
        if self.reach == "all":
            check_memory(n, dtype_name(W), copies=4, instead='use reach="edges"')
        return self.reach
