"""Kernel k-means with constraints."""

from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    PAIRWISE_KERNEL_FUNCTIONS,
    euclidean_distances,
    pairwise_kernels,
)
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory
from linkwise.estimators._base import SIGMA
from linkwise.estimators._kernel import KernelClusterer
from linkwise.graph.weights import median_scale, resolve_sigma


class KernelKMeans(KernelClusterer):
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
        **KernelClusterer._parameter_constraints,
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
