"""Affinity propagation."""

from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory
from linkwise.embedding.spectral import extend, spectral_basis, unit_rows
from linkwise.estimators._base import POSITIVE, Traits
from linkwise.estimators._spectral import GRAPH_KERNELS, SpectralClusterer
from linkwise.kernel.propagation import propagate
from linkwise.partition.kmeans import nearest_centre


class PropagatedSpectralClustering(SpectralClusterer):
    """Spectral clustering on affinities that constraints have spread over (Lu & Carreira-Perpinan).

    The affinity is read as the covariance of a Gaussian process; the constraints are noisy
    observations of it, and its posterior covariance, negative entries cut off, is the affinity
    that spectral clustering gets. One link changes many affinities around its two ends.

    The affinity is dense: n_samples^2 memory (about four such matrices), and time
    O(n_samples^2 n_pairs). A fit that cannot fit in memory is refused with an estimate.

    Parameters
    ----------
    n_clusters : int
    algorithm : {"auto", "a", "b"}
        A enforces all links at once and is meant for two clusters; B enforces the cannot-links
        one by one and has no false affinity between the enemies of an enemy. "auto" is A for
        two clusters and B for more.
    eps : float or (float, float)
        How much a link may be missed, for must-links and cannot-links, in units of the standard
        deviation of the process. 1e-5 is the paper's hard link; soft ones do better as soon as
        there are many, or more than two clusters. A pair of weight w has eps / sqrt(w).
    affinity : {"rbf", "precomputed", "heat", "regularized_laplacian", "random_walk"}
        A Gaussian, or a spectral kernel of the graph of ``n_neighbors`` neighbours ("heat" with
        10 neighbours for text). A precomputed affinity must be positive semi-definite.
    n_neighbors : int, of that graph
    sigma : float, "r", a multiple such as "2r", or "local"
        Width of the Gaussian; r is the median distance to the 7th neighbour.
        On the graph r is the mean distance to the n_neighbors-th neighbour.
    kernel_params, n_init, on_conflict, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    affinity_matrix_ : array (n_samples, n_samples), the propagated affinity, >= 0
    embedding_ : array (n_samples, n_clusters), unit rows
    algorithm_ : "a" or "b", the one used
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **SpectralClusterer._parameter_constraints,
        "affinity": [StrOptions({"rbf", "precomputed"} | GRAPH_KERNELS)],
        "algorithm": [StrOptions({"auto", "a", "b"})],
        "eps": [POSITIVE, tuple, list],
    }
    _traits = Traits(rows=10_000)

    def __init__(
        self,
        n_clusters=8,
        *,
        algorithm="auto",
        eps=1.0,
        affinity="rbf",
        n_neighbors=10,
        sigma="2r",
        kernel_params=None,
        n_init=10,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.eps = eps
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _eps(self):
        eps = self.eps if isinstance(self.eps, tuple | list) else (self.eps, self.eps)
        if len(eps) != 2 or not all(isinstance(e, Real) and 0 < float(e) < np.inf for e in eps):
            raise ValueError(
                f"eps must be a positive number or two of them, (must, cannot); got {self.eps!r}"
            )
        return eps

    def _learn(self, X, links, rng):
        eps_must, eps_cannot = self._eps()
        check_memory(X.shape[0], np.float64, copies=4, instead="use CCSKL, which is sparse")
        self.algorithm_ = self.algorithm
        if self.algorithm == "auto":
            self.algorithm_ = "a" if self.n_clusters == 2 else "b"
        self._graph_ = self._graph(X.astype(np.float64))  # float32 would hide what links leave
        K = self._graph_.W
        K = K.toarray() if sparse.issparse(K) else K
        self._propagated = propagate(
            K, *links.merged().arrays(),
            algorithm=self.algorithm_, eps_must=eps_must, eps_cannot=eps_cannot,
        )  # fmt: skip
        self.affinity_matrix_ = self._propagated.A.astype(X.dtype, copy=False)
        self._basis = spectral_basis(self.affinity_matrix_, self.n_clusters, rng)
        return self._partition(unit_rows(self._basis.vectors), rng)

    def _assign(self, X):
        # A is linear in the scale of a row of K and unit rows forget it: P serves for K
        P = self._graph_.rows(X.astype(np.float64)).P
        A = self._propagated.rows(P.toarray() if sparse.issparse(P) else P)
        degree = A.sum(axis=1)
        P = np.divide(A, degree[:, None], out=np.zeros_like(A), where=degree[:, None] > 0)
        V = extend(self._basis, P, np.ones(len(A), dtype=A.dtype))
        return nearest_centre(unit_rows(V), self._centres)
