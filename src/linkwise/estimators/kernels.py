"""Kernel k-means with constraints, for a given kernel and for a learned one."""

import warnings
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    PAIRWISE_KERNEL_FUNCTIONS,
    euclidean_distances,
    paired_euclidean_distances,
    pairwise_kernels,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.sparsefuncs import mean_variance_axis

from linkwise._check import check_memory
from linkwise.constraints.closure import components
from linkwise.estimators._base import AT_LEAST_ONE, SIGMA, InductiveClusterer, Traits
from linkwise.exceptions import ConstraintWarning
from linkwise.graph.weights import median_scale, resolve_sigma
from linkwise.kernel.mixture import Mixture, fit_mixture, mixture_kernel
from linkwise.partition.kernel_kmeans import kernel_kmeans

WIDEST = 10  # cap of the widths, in root mean square distances between points


class _KernelClusterer(InductiveClusterer):
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


class KernelKMeans(_KernelClusterer):
    """Kernel k-means with rewards and penalties for constraints (SS-Kernel-KMeans, Kulis 2005).

    Needs the whole kernel matrix: n_samples^2 memory; refused with an estimate when it does not
    fit. Without constraints it is plain kernel k-means.

    Parameters
    ----------
    n_clusters : int
    kernel : str or callable
        "rbf" (with ``sigma``), "precomputed", another name that scikit-learn's
        ``pairwise_kernels`` knows, or a function (X, Y) -> matrix (rows of X, rows of Y).
    sigma : float, "r" or a multiple such as "2r"
        Width of "rbf"; r is the median distance to the 7th neighbour.
    kernel_params : dict or None
        Further arguments of a named kernel.
    constraint_weight : "auto" or float
        Reward for a must-link and penalty for a cannot-link; "auto" is
        n_samples / (n_clusters * total weight of the constraints).
    n_init : int
        Starts: one from the must-link groups farthest apart, the others drawn.
    max_iter : int
    shift : float
        Added to the diagonal. Large values force the objective to fall at every pass and hold
        the partition close to its start.
    on_conflict, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    inertia_ : float, within-cluster scatter less rewards plus penalties
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **_KernelClusterer._parameter_constraints,
        "kernel": [StrOptions({*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"}), callable],
        "sigma": SIGMA,
        "kernel_params": [dict, None],
    }
    _precomputed_by = "kernel"
    _nonnegative = False

    def __init__(
        self,
        n_clusters=8,
        *,
        kernel="rbf",
        sigma="2r",
        kernel_params=None,
        constraint_weight="auto",
        n_init=10,
        max_iter=100,
        shift=0.0,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.shift = shift
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _learn(self, X, links, rng):
        check_memory(X.shape[0], X.dtype, copies=3, instead="use CCSKL, which is sparse")
        if self.kernel == "rbf":
            self.sigma_ = resolve_sigma(self.sigma, median_scale(X))
        return self._partition(X, links, rng)

    def _kernel(self, X, Y=None):
        if self.kernel == "precomputed":
            return X.toarray() if sparse.issparse(X) else X
        if callable(self.kernel):
            return np.asarray(self.kernel(X, X if Y is None else Y))
        if self.kernel == "rbf":
            squared = euclidean_distances(X, Y, squared=True)
            return np.exp(squared * squared.dtype.type(-0.5 / self.sigma_**2))
        return pairwise_kernels(X, Y, metric=self.kernel, **(self.kernel_params or {}))


class OptimalKernelKMeans(_KernelClusterer):
    """Kernel k-means with a mixture of Gaussian kernels fitted to the constraints.

    SS-Optimal-Kernel-KMeans: the widths and weights of ``n_kernels`` Gaussians are set by
    gradient ascent so that must-linked points come close and cannot-linked ones apart in
    feature space; then `KernelKMeans`. Needs the whole kernel matrix, n_samples^2 memory.

    Without constraints there is nothing to fit: one Gaussian of width "2r", as `KernelKMeans`.

    Parameters
    ----------
    n_clusters : int
    n_kernels : int
        Gaussians in the mixture. At the optimum one of them, or several of the same width, has
        all the weight: more kernels are more starting widths.
    objective : {"paper", "balanced"}
        The paper's plain sums over must-links and cannot-links, or both divided by their total
        weight. The plain sums pull towards the constant kernel when must-links outnumber
        cannot-links, and towards ever narrower ones when it is the other way round, as it is
        with many clusters: try "balanced" there.
    n_starts : int
        Starts of the gradient ascent, of which the one of largest objective counts.
    constraint_weight, n_init, max_iter, shift : as in `KernelKMeans`
    on_conflict, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    weights_, widths_ : arrays (n_kernels,), of the mixture; weights >= 0 that sum to 1
    objective_ : float, the paper's objective, Eq. (6), at that mixture
    inertia_ : float, of the kernel k-means, as in `KernelKMeans`
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **_KernelClusterer._parameter_constraints,
        "n_kernels": [AT_LEAST_ONE],
        "objective": [StrOptions({"paper", "balanced"})],
        "n_starts": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        n_kernels=3,
        objective="paper",
        n_starts=5,
        constraint_weight="auto",
        n_init=10,
        max_iter=100,
        shift=0.0,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_kernels = n_kernels
        self.objective = objective
        self.n_starts = n_starts
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.shift = shift
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _learn(self, X, links, rng):
        check_memory(X.shape[0], X.dtype, copies=3, instead="use CCSKL, which is sparse")
        mixture = self._mixture(X, links, rng)
        self.weights_, self.widths_, self.objective_, _ = mixture
        return self._partition(X, links, rng)

    def _mixture(self, X, links, rng):
        m = self.n_kernels
        variance = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else X.var(axis=0)
        spread = float(np.sqrt(2 * variance.sum(dtype=np.float64)))  # root mean square distance
        if not links or spread == 0:
            width = resolve_sigma("2r", median_scale(X))
            return Mixture(np.full(m, 1 / m), np.full(m, width), 0.0, True)
        i, j, sign, weight = links.arrays()
        mixture = fit_mixture(
            paired_euclidean_distances(X[i], X[j]) ** 2, sign, weight,
            n_kernels=m, scale=float(np.sqrt(variance).mean()), widest=WIDEST * spread, rng=rng,
            balanced=self.objective == "balanced", n_starts=self.n_starts,
        )  # fmt: skip
        if mixture.widths[np.argmax(mixture.weights)] >= 0.99 * WIDEST * spread:
            warnings.warn(
                "the constraints ask for the widest kernel allowed, which is nearly constant: "
                'there are more must-links than cannot-links; try objective="balanced"',
                ConstraintWarning,
                stacklevel=4,
            )
        return mixture

    def _kernel(self, X, Y=None):
        squared = euclidean_distances(X, Y, squared=True)
        return mixture_kernel(squared, self.weights_, self.widths_)
