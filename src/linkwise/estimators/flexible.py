"""FCSC, spectral clustering under a lower bound on the constraints kept."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise._check import check_memory
from linkwise.embedding.flexible import flexible_embedding
from linkwise.embedding.spectral import spectral_basis, unit_rows
from linkwise.estimators._base import Traits
from linkwise.estimators._spectral import SpectralClusterer
from linkwise.partition.kmeans import nearest_centre


class FlexibleSpectralClustering(SpectralClusterer):
    """Flexible constrained spectral clustering, FCSC (Wang & Davidson 2010), two-way and K-way.

    The cheapest cut among those that satisfy the constraints to a given degree: a generalised
    eigenproblem. There may be no such cut: then `fit` raises InfeasibleConstraints and says how
    many of the vectors needed exist. Dense: n_samples^2 memory and n_samples^3 time.

    Without constraints it is plain spectral clustering.

    Parameters
    ----------
    n_clusters : int
    bound : "auto", "kway" or float in (0, 1)
        How well the constraints must be satisfied, as a share of what is possible; "kway" takes
        the degree that leaves n_clusters vectors feasible. "auto" is 0.5 for two clusters and
        "kway" for more.
    affinity, n_neighbors, sigma, kernel_params, n_init, on_conflict, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    embedding_ : array (n_samples, n_clusters - 1), cluster indicators weighted by 1 - cost;
        (n_samples, n_clusters) without constraints
    costs_ : array (n_clusters - 1,), normalised cut cost of each vector
    affinity_matrix_ : array or csr_array (n_samples, n_samples)
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **SpectralClusterer._parameter_constraints,
        "bound": [StrOptions({"auto", "kway"}), Interval(Real, 0, 1, closed="neither")],
    }
    _traits = Traits(rows=5_000)

    def __init__(
        self,
        n_clusters=8,
        *,
        bound="auto",
        affinity="nearest_neighbors",
        n_neighbors=20,
        sigma="r",
        kernel_params=None,
        n_init=10,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.bound = bound
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _learn(self, X, links, rng):
        n, k = X.shape[0], self.n_clusters
        self._graph_ = self._graph(X)
        W = self.affinity_matrix_ = self._graph_.W
        self._plain = not links or k == 1
        if self._plain:
            self._basis = spectral_basis(W, k, rng)
            return self._partition(unit_rows(self._basis.vectors), rng)
        check_memory(n, np.float64, copies=6, instead="use CCSKL, which is sparse")
        U, self.costs_, self.bound_ = flexible_embedding(W, links.matrix(n), k, bound=self.bound)
        return self._partition((U * (1 - self.costs_)).astype(X.dtype), rng)

    def _assign(self, X):
        if self._plain:
            return super()._assign(X)
        P = self._graph_.rows(X).P  # u is smooth on the graph: a new point has its neighbours' mean
        return nearest_centre(P @ self.embedding_, self._centres)
