"""What the spectral estimators share: graph, embed, partition, and the way in for new points."""

import warnings
from typing import ClassVar

from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory
from linkwise.embedding.spectral import extend, unit_rows
from linkwise.estimators._base import AT_LEAST_ONE, SIGMA, InductiveClusterer
from linkwise.exceptions import ConvergenceWarning
from linkwise.graph.affinity import build_affinity
from linkwise.kernel.graph_kernels import DEFAULTS, GraphKernelAffinity
from linkwise.partition.kmeans import kmeans, nearest_centre

GRAPH_KERNELS = set(DEFAULTS)


class SpectralClusterer(InductiveClusterer):
    """Graph, learn, embed, partition; new points enter through the graph."""

    _parameter_constraints: ClassVar[dict] = {
        **InductiveClusterer._parameter_constraints,
        "affinity": [StrOptions({"nearest_neighbors", "rbf", "precomputed"} | GRAPH_KERNELS)],
        "n_neighbors": [AT_LEAST_ONE],
        "sigma": SIGMA,
        "kernel_params": [dict, None],
    }

    def _graph(self, X):
        kind = self.affinity
        if kind == "rbf" or kind in GRAPH_KERNELS:
            check_memory(X.shape[0], X.dtype, copies=3, instead='use affinity="nearest_neighbors"')
        if kind in GRAPH_KERNELS:
            return GraphKernelAffinity(
                X, kind, n_neighbors=self.n_neighbors, sigma=self.sigma, params=self.kernel_params
            )
        if self.kernel_params:
            raise ValueError(f"kernel_params are for {', '.join(sorted(GRAPH_KERNELS))} only")
        return build_affinity(X, kind, n_neighbors=self.n_neighbors, sigma=self.sigma)

    def _warn_of_components(self):
        """Say so when the graph falls into more parts than clusters are asked for."""
        parts = self._basis.parts if sparse.issparse(self.affinity_matrix_) else 1
        if parts > self.n_clusters:
            warnings.warn(
                f"the graph has {parts} separate parts, more than n_clusters={self.n_clusters}: "
                "small parts are put together arbitrarily; raise n_neighbors",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _partition(self, Z, rng):
        self.embedding_ = Z
        self._warn_of_components()
        labels, self._centres, _ = kmeans(Z, self.n_clusters, n_init=self.n_init, rng=rng)
        return labels

    def _assign(self, X):
        V = extend(self._basis, *self._graph_.rows(X))
        return nearest_centre(self._embed(V), self._centres)

    def _embed(self, V):
        """Return what k-means sees of the eigenvectors V."""
        return unit_rows(V)
