"""E2CP, constraints propagated over the graph."""

from numbers import Real
from typing import ClassVar

from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise._check import check_memory
from linkwise.embedding.spectral import spectral_basis, unit_rows
from linkwise.estimators._spectral import SpectralClusterer
from linkwise.kernel.exhaustive import spread, spread_edges

ALL_UP_TO = 5_000


class ExhaustivePropagation(SpectralClusterer):
    """Exhaustive and efficient constraint propagation, E2CP (Lu & Ip 2010).

    Every pair of points is judged by the constraints on their neighbourhoods, and the affinity
    raised or lowered accordingly; then spectral clustering.

    Parameters
    ----------
    n_clusters : int
    reach : {"auto", "all", "edges"}
        Judge all pairs of points, n_samples^2 memory, or only those joined by an edge of the
        neighbour graph and the given ones, n_samples x (points that occur in a pair) memory. All
        pairs learn more. "auto" judges all up to 5,000 points.
    alpha : float in [0, 1)
        How far a constraint reaches; 0 is the given pairs alone.
    affinity, n_neighbors, sigma, kernel_params, n_init, on_conflict, random_state : as in `CCSKL`
        Affinities above 1 are scaled down to 1.

    Attributes
    ----------
    labels_ : int array (n_samples,)
    embedding_ : array (n_samples, n_clusters), unit rows
    affinity_matrix_ : array or csr_array (n_samples, n_samples), after propagation
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **SpectralClusterer._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "reach": [StrOptions({"auto", "all", "edges"})],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        alpha=0.8,
        reach="auto",
        affinity="nearest_neighbors",
        n_neighbors=20,
        sigma="r",
        kernel_params=None,
        n_init=10,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.reach = reach
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _learn(self, X, links, rng):
        self._graph_ = self._graph(X)
        W = self._graph_.W
        if links:
            W = W * W.dtype.type(1 / max(W.max(), 1))  # Eq. (4) is for weights in [0, 1]
            edges = sparse.issparse(W) and self._reach(X) == "edges"
            W = (spread_edges if edges else spread)(W, *links.arrays(), alpha=self.alpha)
        self.affinity_matrix_ = W
        self._basis = spectral_basis(W, self.n_clusters, rng)
        return self._partition(unit_rows(self._basis.vectors), rng)

    def _reach(self, X):
        n = X.shape[0]
        if self.reach == "auto":
            return "all" if n <= ALL_UP_TO else "edges"
        if self.reach == "all":
            check_memory(n, X.dtype, copies=4, instead='use reach="edges"')
        return self.reach
