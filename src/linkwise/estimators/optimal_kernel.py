"""Kernel k-means with a kernel fitted to the constraints."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import paired_euclidean_distances
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.sparsefuncs import mean_variance_axis

from linkwise._check import check_memory
from linkwise._typing import Floats, Integers, Matrix, OnConflict, OnUnknown, RandomState
from linkwise.constraints import Constraints
from linkwise.estimators.base import AT_LEAST_ONE
from linkwise.estimators.kernel_base import KernelClusterer
from linkwise.exceptions import ConstraintWarning, ConvergenceWarning, warn
from linkwise.graph.affinity import squared_distances
from linkwise.graph.weights import median_scale, resolve_sigma
from linkwise.kernel.optimal_kernel import (
    Mixture,
    fit_mixture,
    mixture_kernel,
    objective,
    pair_weights,
)

NARROWEST = 2 / 3  # of the median distance to the 7th neighbour: below, points resemble none
WIDEST = 10  # cap of the widths in root mean square distances: a wider kernel is nearly constant


class OptimalKernelKMeans(KernelClusterer):
    """Kernel k-means with a mixture of Gaussian kernels fitted to the constraints.

    SS-Optimal-Kernel-KMeans: gradient ascent sets the widths and weights of ``n_kernels``
    Gaussians so that must-linked points are close and cannot-linked points far apart in feature
    space. `KernelKMeans` then partitions. Needs the whole kernel matrix, n_samples^2 memory.

    Without constraints there is nothing to fit: the kernel is one Gaussian of width "2r", as in
    `KernelKMeans`.

    Parameters
    ----------
    n_clusters : int
    n_kernels : int
        Number of Gaussians in the mixture. At the optimum one of them, or several of the same
        width, have all the weight: more kernels mean more starting widths.
    objective : {"paper", "balanced"}
        The paper's plain sums over must-links and cannot-links, or both divided by their total
        weight. The plain sums pull towards the constant kernel if must-links outnumber
        cannot-links, and towards ever narrower kernels in the opposite case, which is usual with
        many clusters: try "balanced" then.
    n_starts : int
        Number of starts of the gradient ascent; the one with the largest objective is kept.
    constraint_weight, n_init, max_iter, shift : as in `KernelKMeans`
    on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    weights_, widths_ : arrays (n_kernels,), of the mixture; weights >= 0 that sum to 1
    objective_ : float, the paper's objective, Eq. (6), at that mixture
    inertia_ : float, of the kernel k-means, as in `KernelKMeans`
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelClusterer._parameter_constraints,
        "n_kernels": [AT_LEAST_ONE],
        "objective": [StrOptions({"paper", "balanced"})],
        "n_starts": [AT_LEAST_ONE],
    }

    weights_: Floats
    widths_: Floats
    objective_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_kernels: int = 3,
        objective: Literal["paper", "balanced"] = "paper",
        n_starts: int = 5,
        constraint_weight: float | Literal["auto"] = "auto",
        n_init: int = 10,
        max_iter: int = 100,
        shift: float = 0.0,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_kernels = n_kernels
        self.objective = objective
        self.n_starts = n_starts
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.shift = shift
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
        check_memory(X.shape[0], X.dtype, copies=3, instead="use CCSKL, which is sparse")
        self.weights_, self.widths_, self.objective_ = self._mixture(X, links, rng)[:3]
        return self._partition(self._kernel(X), links, rng)

    def _mixture(self, X: Matrix, links: Constraints, rng: np.random.Generator) -> Mixture:
        m = self.n_kernels
        variance = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else X.var(axis=0)
        spread = float(np.sqrt(2 * variance.sum(dtype=np.float64)))  # root mean square distance
        if not links or spread == 0:
            width = resolve_sigma("2r", median_scale(X))
            return Mixture(np.full(m, 1 / m), np.full(m, width), 0.0, True)
        i, j, sign, weight = links.arrays()
        squared = (paired_euclidean_distances(X[i], X[j]) / spread) ** 2  # no unit, no underflow
        scale = float(np.sqrt(variance).mean()) / spread
        mixture = fit_mixture(
            squared, sign, weight, n_kernels=m, scale=scale, widest=WIDEST, rng=rng,
            balanced=self.objective == "balanced", n_starts=self.n_starts,
        )  # fmt: skip
        value = objective(squared, pair_weights(sign, weight), mixture.weights, mixture.widths)
        mixture = mixture._replace(widths=mixture.widths * spread, objective=value)
        if not mixture.converged:
            warn(
                "the ascent of the kernel objective reached its limit of steps; the widths may not "
                "be optimal",
                ConvergenceWarning,
            )
        width, near = mixture.widths[np.argmax(mixture.weights)], median_scale(X)
        if width >= 0.99 * WIDEST * spread:
            warn(
                "the constraints ask for the widest kernel allowed, which is nearly constant: "
                'there are more must-links than cannot-links; try objective="balanced"',
                ConstraintWarning,
            )
        if width < NARROWEST * near:
            warn(
                f"the constraints ask for a kernel of width {width:.3g}, but the median distance "
                f"to the 7th neighbour is {near:.3g}: most points resemble no other and end in "
                'one cluster; try objective="balanced"',
                ConstraintWarning,
            )
        return mixture

    def _kernel(self, X: Matrix, Y: Matrix | None = None) -> Matrix:
        return mixture_kernel(squared_distances(X, Y), self.weights_, self.widths_)

    def _rows(self, X: Matrix) -> Matrix:
        return self._kernel(X, self._fit_X)
