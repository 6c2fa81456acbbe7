"""The base class of the kernel k-means estimators."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._typing import Array, Integers, Matrix
from linkwise.constraints import Constraints
from linkwise.constraints.closure import components
from linkwise.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, InductiveClusterer, Traits
from linkwise.partition.kernel_k_means import kernel_kmeans, membership


class KernelClusterer(InductiveClusterer):
    """Partition by SS-Kernel-KMeans; subclasses implement `_rows`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **InductiveClusterer._parameter_constraints,
        "constraint_weight": [StrOptions({"auto"}), NOT_NEGATIVE],
        "max_iter": [AT_LEAST_ONE],
        "shift": [NOT_NEGATIVE],
    }
    traits = Traits(rows=10_000)

    inertia_: float
    n_iter_: int

    def _partition(
        self,
        K: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        mass: Array | None = None,
        starts: Sequence[Array] = (),
    ) -> Integers:
        n, k = K.shape[0], self.n_clusters
        w = self.constraint_weight
        if w == "auto":
            w = n / (k * links.weight.sum()) if links else 0.0  # Eq. (4), for K_ii = 1
            own = float(np.mean(K.diagonal()))
            w *= own if own > 0 else 1.0
        groups = np.arange(n)
        groups[links.ids] = n + components(len(links.ids), links.pairs[links.sign > 0])
        labels, self._within, self.inertia_, self.n_iter_ = kernel_kmeans(
            K, k, R=w * links.matrix(n), mass=mass, groups=groups, starts=starts,
            n_init=self.n_init, max_iter=self.max_iter, shift=self.shift, rng=rng,
        )  # fmt: skip
        self._volume = np.bincount(labels, weights=mass, minlength=k)
        return labels

    def _rows(self, X: Matrix) -> Matrix:
        """Return the kernel of new with fitted points (q, n), divided by the mass of the new."""
        raise NotImplementedError

    def _assign(self, X: Matrix) -> Integers:
        N = membership(self.labels_, self.n_clusters, self._within.dtype)
        means = self._rows(X) @ N / self._volume
        means = means.toarray() if sparse.issparse(means) else means
        return np.argmin(self._within - 2 * means, axis=1)  # Eq. (2) without the common term
