"""What the kernel k-means estimators share."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.constraints.closure import components
from linkwise.estimators._base import AT_LEAST_ONE, InductiveClusterer, Traits
from linkwise.partition.kernel_kmeans import kernel_kmeans


class KernelClusterer(InductiveClusterer):
    """Partition by SS-Kernel-KMeans; subclasses give `_kernel(X, Y)`."""

    _parameter_constraints: ClassVar[dict] = {
        **InductiveClusterer._parameter_constraints,
        "constraint_weight": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "max_iter": [AT_LEAST_ONE],
        "shift": [Interval(Real, 0, None, closed="left")],
    }

    _traits = Traits(rows=10_000)

    def _kernel(self, X, Y=None):
        raise NotImplementedError

    def _partition(self, X, links, rng):
        n, k = X.shape[0], self.n_clusters
        K = self._kernel(X)
        w = self.constraint_weight
        if w == "auto":
            w = n / (k * links.weight.sum()) if links else 0.0  # Eq. (4)
        must = links.pairs[links.sign > 0]
        groups = np.arange(n)
        groups[links.ids] = n + components(len(links.ids), must)
        labels, self._within, self.inertia_, self.n_iter_ = kernel_kmeans(
            K, k, R=w * links.matrix(n), groups=groups, n_init=self.n_init,
            max_iter=self.max_iter, shift=self.shift, rng=rng,
        )  # fmt: skip
        return labels

    def _assign(self, X):
        K = self._kernel(X, self._fit_X)  # (q, n)
        one_hot = np.eye(self.n_clusters, dtype=K.dtype)[self.labels_]
        means = K @ one_hot / np.maximum(one_hot.sum(axis=0), 1)
        d = self._within - 2 * means  # Eq. (2) less K(x, x), the same for all clusters
        d[:, one_hot.sum(axis=0) == 0] = np.inf
        return np.argmin(d, axis=1)
