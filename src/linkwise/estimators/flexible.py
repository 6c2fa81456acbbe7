"""FCSC, spectral clustering under a lower bound on the constraints kept."""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise._check import check_memory
from linkwise._typing import (
    Affinity,
    Array,
    Floats,
    Integers,
    Matrix,
    OnConflict,
    OnUnknown,
    RandomState,
)
from linkwise.constraints import Constraints
from linkwise.embedding.flexible import (
    Flexible,
    Problem,
    flexible_embedding,
    flexible_problem,
    positive,
    two_way_embedding,
)
from linkwise.embedding.spectral import spectral_basis
from linkwise.estimators.base import Traits
from linkwise.estimators.spectral_base import OPTIONS, SpectralClusterer
from linkwise.exceptions import ConvergenceWarning, InfeasibleConstraints, warn
from linkwise.partition.k_means import by_appearance, kmeans, nearest_centre


class FlexibleSpectralClustering(SpectralClusterer):
    """Flexible constrained spectral clustering, FCSC (Wang & Davidson 2010), two-way and K-way.

    Finds the cheapest cut among those that satisfy the constraints to a given degree, by a
    generalised eigenproblem. If too few of them exist for more than two clusters, `fit` raises
    InfeasibleConstraints and says how many there are. If none exists for two clusters, as with one
    must-link alone, the result is that of plain spectral clustering, with a ConvergenceWarning
    unless it satisfies the bound. Dense: n_samples^2 memory and n_samples^3 time.

    Without constraints it is plain spectral clustering.

    Parameters
    ----------
    n_clusters : int
    bound : "auto", "kway" or float in (0, 1)
        How well the constraints must be satisfied, as a share of what is possible; "kway" is the
        degree that leaves n_clusters vectors feasible. The papers use 0.5 for two clusters and
        "kway" for more. "auto" also tries 0.1 and 0.01, and uses the partition that keeps most
        constraints.
    affinity, n_neighbors, sigma, affinity_params : as in `CCSKL`
    n_init, on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    embedding_ : array (n_samples, n_clusters - 1), cluster indicators weighted by 1 - cost;
        (n_samples, n_clusters) without constraints
    bound_ : float, the bound used, in the units of the eigenvalues
    costs_ : array (n_clusters - 1,), normalised cut cost of each vector
    affinity_matrix_ : array or csr_array (n_samples, n_samples)
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "affinity": [StrOptions(set(OPTIONS) - {"anchors"})],
        "bound": [StrOptions({"auto", "kway"}), Interval(Real, 0, 1, closed="neither")],
    }
    traits = Traits(rows=5_000)

    bound_: float
    costs_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        bound: float | Literal["auto", "kway"] = "auto",
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
        self.bound = bound
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
        n, k = X.shape[0], self.n_clusters
        W = self.affinity_matrix_ = self._graph_.W
        self._plain = not links or k == 1
        if self._plain:
            self._basis = spectral_basis(W, k, rng)
            return self._partition(rng, out=out)
        check_memory(n, np.float64, copies=8, instead="use CCSKL, which is sparse")
        problem = flexible_problem(W, links.matrix(n))
        tried, fault = [], None
        for bound in self._bounds():
            try:
                labels, centres, found, bounded = self._cut(problem, bound, X.dtype, rng)
            except InfeasibleConstraints as error:
                fault = fault or error
                continue
            kept = links.weight[~links.violated(labels)].sum()
            tried.append(((len(centres), kept, bounded), labels, centres, found))
        if not tried:
            raise fault or InfeasibleConstraints("no bound was tried")
        (count, _, bounded), labels, self._centres, best = max(tried, key=lambda run: run[0])
        self.embedding_ = weighted(best, X.dtype)
        self.costs_, self.bound_ = best.costs, best.b
        if count < k:
            warn(f"only {count} of {k} clusters found: add constraints", ConvergenceWarning)
        elif not bounded:
            warn(
                "no vector with two signs satisfies the constraints to the degree asked for: the "
                "clusters are those of plain spectral clustering; add constraints, among them a "
                "cannot-link",
                ConvergenceWarning,
            )
        return labels

    def _bounds(self) -> list[Any]:
        if self.bound != "auto":
            return [self.bound]
        return [0.5 if self.n_clusters == 2 else "kway", 0.1, 0.01]

    def _cut(
        self, problem: Problem, bound: Any, dtype: Any, rng: np.random.Generator
    ) -> tuple[Array, Array, Flexible, bool]:
        """Return labels, centres, the vectors and whether they satisfy a bound.

        Two clusters are the signs of one vector, more are found by k-means.
        """
        if self.n_clusters > 2:
            found = flexible_embedding(problem, self.n_clusters, bound=bound)
            Z = weighted(found, dtype)
            labels, centres, *_ = kmeans(Z, self.n_clusters, n_init=self.n_init, rng=rng)
            return labels, centres, found, True
        found, bounded = two_way_embedding(problem, bound=bound)
        labels, names = by_appearance(positive(found.vectors[:, 0]).astype(np.int64))
        return labels, np.where(names == 1, 1, -1)[:, None].astype(dtype), found, bounded

    def _assign(self, X: Matrix) -> Integers:
        if self._plain:
            return super()._assign(X)
        P = self._graph_.rows(X).P  # u is smooth: a new point gets the mean of its neighbours
        return nearest_centre(P @ self.embedding_, self._centres)


def weighted(found: Flexible, dtype: Any) -> Array:
    """Return the vectors weighted by 1 - cost, the rows for k-means."""
    return (found.vectors * (1 - found.costs)).astype(dtype)
