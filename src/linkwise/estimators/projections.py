"""Linear maps learned from constraints, for use before any clusterer."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise._check import (
    check_constraints,
    check_memory,
    check_mixed,
    check_points,
    check_y,
)
from linkwise._typing import Affinity, Array, Floats, Mask, OnConflict, OnUnknown, Points
from linkwise.arrays import caller_of, on_device, take
from linkwise.constraints import Constraints
from linkwise.constraints.convert import ConstraintsLike
from linkwise.embedding.projections import constrained_lpp, constrained_pca, enough, principal_axes
from linkwise.estimators.base import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    SIGMA,
    CallerArrays,
    Traits,
    whole,
)
from linkwise.exceptions import ConstraintWarning, warn
from linkwise.graph.affinity import build_affinity
from linkwise.kernel.metric import distance_bounds, fit_metric


class ConstrainedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallerArrays):
    """A linear map that takes constraints. Subclasses implement `_learn`."""

    _told = "components_"
    traits = Traits(sparse=False, rows=1_000_000)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "on_conflict": [StrOptions({"raise", "drop", "keep"})],
        "on_unknown": [StrOptions({"raise", "drop"})],
    }

    components_: Floats
    n_dropped_: int
    n_features_in_: int
    feature_names_in_: Array
    _centre: Floats

    @whole
    def fit(
        self,
        X: Points,
        y: ArrayLike | None = None,
        *,
        constraints: ConstraintsLike = None,
        sample_id: ArrayLike | None = None,
    ) -> Self:
        """Learn the map. After an error or an interrupt the estimator is as it was before.

        Parameters
        ----------
        X : array or data frame (n_samples, n_features)
        y : ignored
            Constraints in its place are refused: pass them as ``constraints=``.
        constraints : Constraints, or what `as_constraints` accepts, or None
            Pairs that belong together or apart.
        sample_id : array (n_samples,) or None
            One id per row; constraints then name these ids. Without it they name row numbers.

        Returns
        -------
        self
        """
        self._validate_params()
        caller = caller_of(X)
        for name, value in (("constraints", constraints), ("sample_id", sample_id), ("y", y)):
            check_mixed(name, value, caller)
        check_y(y)
        points = self._points(X, reset=True)
        checked = check_constraints(
            constraints, len(points), sample_id,
            on_conflict=self.on_conflict, on_unknown=self.on_unknown,
        )  # fmt: skip
        self.n_dropped_ = checked.n_dropped
        self._centre, components = self._learn(points, checked.by_id, checked.by_row)
        self.components_ = components.astype(points.dtype)
        return self._give(caller)

    def _points(self, X: Any, *, reset: bool) -> Array:
        """Return X as a checked array of NumPy; refuse points on a device."""
        X = take(X)
        if on_device(X):
            raise TypeError(
                f"{type(self).__name__} computes on the CPU, and X is on {X.device}: pass X.cpu()"
            )
        return check_points(self, X, reset=reset, sparse_ok=self.traits.sparse)

    def fit_transform(
        self,
        X: Points,
        y: ArrayLike | None = None,
        *,
        constraints: ConstraintsLike = None,
        sample_id: ArrayLike | None = None,
    ) -> Floats:
        """Learn the map and return the mapped points; see `fit`."""
        return self.fit(X, y, constraints=constraints, sample_id=sample_id).transform(X)

    def transform(self, X: Points) -> Floats:
        """Return the mapped points.

        Parameters
        ----------
        X : array or data frame (n_samples, n_features)

        Returns
        -------
        array (n_samples, number of rows of components_), in the dtype of X
        """
        check_is_fitted(self)
        caller, model = self._asked(X, "transform"), self._working()
        points = model._points(X, reset=False)
        dtype = points.dtype
        out = (points - model._centre.astype(dtype)) @ model.components_.T.astype(dtype)
        return caller.give(out)

    def _learn(self, X: Array, given: Constraints, links: Constraints) -> tuple[Array, Array]:
        """Store what was learned; return the centre (d,) and the components (c, d) of the map.

        ``given`` has the pairs by the user's ids, ``links`` the same pairs by row number.
        """
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = self.traits.sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_n_components(n_components: int, X: Array) -> None:
    if n_components > min(X.shape):
        n, d = X.shape
        raise ValueError(
            f"n_components={n_components} is more than n_samples={n} or n_features={d}: "
            f"ask for at most {min(n, d)}"
        )


class ConstrainedPCA(ConstrainedTransformer):
    """Principal components that part cannot-linked and join must-linked points (cPCA, SSDR).

    PCA of the covariance plus ``alpha`` times that of cannot-linked pairs minus ``beta`` times
    that of must-linked pairs. It is an exact eigenproblem of O(n_samples n_features^2) time and
    forms no n_samples x n_samples matrix. Without constraints, or with alpha = beta = 0, it is
    PCA.

    Parameters
    ----------
    n_components : int, float in (0, 1) or None
        The number of components; or a share: as many as plain PCA needs for this share of the
        variance; or None: those with a positive objective, along which must-linked points are
        close relative to the spread of the data, at least one. Without constraints None keeps all
        components of positive variance.
    alpha : float
        Weight of the cannot-links.
    beta : float
        Weight of the must-links. 1 (Wacquet et al.) hardly removes a direction, 20 (Zhang et al.)
        removes nearly all if clusters overlap.
    on_conflict : {"raise", "drop", "keep"}
        What to do when must-links and cannot-links contradict each other: raise
        InfeasibleConstraints, drop the cannot-links concerned with a warning, or use all.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.

    Attributes
    ----------
    components_ : array (n_components_, n_features), orthonormal rows
    objective_ : array (n_components_,), the maximised objective, largest first; may be negative
    explained_variance_, explained_variance_ratio_ : arrays (n_components_,)
        Variance of the points along each component; with constraints not sorted.
    mean_ : array (n_features,)
    n_components_ : int
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    Means over pairs use the weights of the pairs.

    Examples
    --------
    >>> from linkwise import ConstrainedPCA, sample_pairs
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> links = sample_pairs(y, 50, random_state=0)
    >>> ConstrainedPCA(2).fit_transform(X, constraints=links).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ConstrainedTransformer._parameter_constraints,
        "n_components": [AT_LEAST_ONE, Interval(Real, 0, 1, closed="neither"), None],
        "alpha": [NOT_NEGATIVE],
        "beta": [NOT_NEGATIVE],
    }

    objective_: Floats
    explained_variance_: Floats
    explained_variance_ratio_: Floats
    mean_: Floats
    n_components_: int

    def __init__(
        self,
        n_components: float | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 5.0,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown

    def _learn(self, X: Array, given: Constraints, links: Constraints) -> tuple[Array, Array]:
        found = constrained_pca(X, *links.arrays(), alpha=self.alpha, beta=self.beta)
        c = self._count(found, X)
        self.n_components_ = c
        self.mean_ = found.mean.astype(X.dtype)
        self.objective_ = found.values[:c].astype(X.dtype)
        variance = found.variance * (len(X) / (len(X) - 1))
        self.explained_variance_ = variance[:c].astype(X.dtype)
        self.explained_variance_ratio_ = (variance[:c] / (variance.sum() or 1)).astype(X.dtype)
        return found.mean, found.components[:c]

    def _count(self, found: Any, X: Array) -> int:
        c = self.n_components
        if c is None:
            return max(1, int(np.count_nonzero(found.values > 0)))
        if c < 1:
            return enough(principal_axes(X).variance, c)
        _check_n_components(int(c), X)
        return int(c)


class ConstrainedLPP(ConstrainedTransformer):
    """Locality preserving projections of a graph with constraints as further edges (cLPP).

    Finds directions along which neighbours and must-linked points stay close and cannot-linked
    points do not. The result depends strongly on the number of components; the number of clusters
    minus one is a good first guess. Without constraints it is LPP. Cost: that of the neighbour
    graph plus O(n_samples n_features^2).

    Parameters
    ----------
    n_components : int
    affinity : {"nearest_neighbors", "rbf"}
        "rbf" is dense: n_samples^2 memory.
    n_neighbors : int
        Number of neighbours in the graph; with fewer points, all others are neighbours.
    sigma : float, "r", a multiple such as "0.5r", or "local"
        Width of the Gaussian weights. r is the mean distance to the n_neighbors-th neighbour
        (for "rbf" the median distance to the 7th); "local" is local scaling.
    variance : float in (0, 1]
        Share of the variance that a first PCA keeps, with at least n_components directions.
        Otherwise directions of little spread follow the cannot-links of a few outliers.
    on_conflict, on_unknown : as in `ConstrainedPCA`

    Attributes
    ----------
    components_ : array (n_components, n_features)
        Scaled so that the mapped points have mean square 1, weighted by their degrees.
    eigenvalues_ : array (n_components,), smallest first; negative where cannot-links prevail
    mean_ : array (n_features,)
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    A pair is an edge with its weight, +1 or -1 by default; the edges of the graph have weights
    in (0, 1].
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ConstrainedTransformer._parameter_constraints,
        "n_components": [AT_LEAST_ONE],
        "affinity": [StrOptions({"nearest_neighbors", "rbf"})],
        "n_neighbors": [AT_LEAST_ONE],
        "sigma": SIGMA,
        "variance": [Interval(Real, 0, 1, closed="right")],
    }
    traits = Traits(sparse=False)

    eigenvalues_: Floats
    mean_: Floats

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 10,
        sigma: float | str = "r",
        variance: float = 0.95,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.variance = variance
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown

    def _learn(self, X: Array, given: Constraints, links: Constraints) -> tuple[Array, Array]:
        _check_n_components(self.n_components, X)
        if self.affinity == "rbf":
            check_memory(len(X), X.dtype, copies=3, instead='use affinity="nearest_neighbors"')
        W = build_affinity(X, self.affinity, n_neighbors=self.n_neighbors, sigma=self.sigma).W
        found = constrained_lpp(
            X, W, links.matrix(len(X)), self.n_components, variance=self.variance
        )
        self.mean_ = found.mean.astype(X.dtype)
        self.eigenvalues_ = found.values.astype(X.dtype)
        return found.mean, found.components


class ITML(ConstrainedTransformer):
    """Information-theoretic metric learning (Davis et al. 2007).

    Learns the Mahalanobis metric nearest to a prior in which must-linked points are close and
    cannot-linked points far apart; a missed bound has a price. `transform` maps the points so that
    their Euclidean distances are those of the metric: use it before `KMeans`, or any method based
    on distances. The problem is convex and solved exactly. Without constraints the metric is the
    prior. A fit takes about ten Newton steps, each of about ten times
    O(n_pairs n_features^2 + n_features^3); the number of points hardly matters.

    Parameters
    ----------
    gamma : float
        Price of a missed bound: large values follow the constraints, small ones the prior. Values
        much larger than 100 may need more than ``max_iter`` steps.
    prior : {"identity", "covariance"}
        The Euclidean metric, which needs features in comparable units, or the inverse of the
        covariance (its pseudo-inverse if singular).
    bounds : (u, l) or None
        Squared distances in the prior: the largest wanted for must-links and the smallest for
        cannot-links. None: the 5th and 95th percentile over all points.
    max_iter : int
        Maximum number of Newton steps.
    tol : float
        The fit ends when the objective is about tol^2 / 2 above its minimum.
    on_conflict, on_unknown : as in `ConstrainedPCA`

    Attributes
    ----------
    metric_ : array (n_features, n_features), positive semi-definite
    components_ : array (n_features, n_features), the symmetric square root of ``metric_``
    bounds_ : (u, l), the bounds used
    dual_ : array (n_pairs,), the Lagrange multiplier of each constraint, >= 0
        0 where the bound is met. In the order of the constraints of weight > 0.
    n_iter_ : int
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    The weight of a pair multiplies gamma. No metric separates equal rows: a cannot-link between
    them is left out with a ConstraintWarning.

    Examples
    --------
    >>> from linkwise import ITML, sample_pairs
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ITML().fit(X, constraints=sample_pairs(y, 50, random_state=0))
    >>> model.metric_.shape
    (4, 4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ConstrainedTransformer._parameter_constraints,
        "gamma": [POSITIVE],
        "prior": [StrOptions({"identity", "covariance"})],
        "bounds": [tuple, list, None],
        "max_iter": [AT_LEAST_ONE],
        "tol": [POSITIVE],
    }

    metric_: Floats
    bounds_: tuple[float, float]
    dual_: Floats
    n_iter_: int

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        prior: Literal["identity", "covariance"] = "identity",
        bounds: Sequence[float] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
    ) -> None:
        self.gamma = gamma
        self.prior = prior
        self.bounds = bounds
        self.max_iter = max_iter
        self.tol = tol
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown

    def _bounds(self, Z: Array) -> tuple[float, float]:
        if self.bounds is None:
            return distance_bounds(Z)
        numbers = len(self.bounds) == 2 and all(isinstance(b, Real) for b in self.bounds)
        if not numbers or not 0 < self.bounds[0] <= self.bounds[1] < np.inf:
            raise ValueError(
                f"bounds must be (u, l), squared distances with 0 < u <= l; got {self.bounds!r}"
            )
        return float(self.bounds[0]), float(self.bounds[1])

    def _prior_map(self, X: Array) -> Array:
        """Return L (r, d) with A0 = L^T L."""
        if self.prior == "identity":
            return np.eye(X.shape[1])
        axes = principal_axes(X)
        unbiased = axes.variance[: axes.rank, None] * (len(X) / (len(X) - 1))
        return axes.rows[: axes.rank] / np.sqrt(unbiased)

    def _learn(self, X: Array, given: Constraints, links: Constraints) -> tuple[Array, Array]:
        L = self._prior_map(X)
        self.bounds_ = self._bounds(X @ L.T)
        i, j, sign, weight = links.arrays()
        V = (X[i].astype(np.float64) - X[j]) @ L.T  # (s, r), 0 for equal rows
        distinct = np.sum(V**2, axis=1) > 0
        self._warn_of_equal_rows(given, ~distinct & (sign < 0))
        A, dual, self.n_iter_ = fit_metric(
            V[distinct], sign[distinct], weight[distinct], self.bounds_,
            gamma=self.gamma, max_iter=self.max_iter, tol=self.tol,
        )  # fmt: skip
        self.dual_ = np.zeros(len(sign))
        self.dual_[distinct] = dual
        metric = L.T @ A @ L
        self.metric_ = metric.astype(X.dtype)
        values, vectors = np.linalg.eigh(metric)
        return np.zeros(X.shape[1]), (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T

    def _warn_of_equal_rows(self, given: Constraints, hopeless: Mask) -> None:
        if np.any(hopeless):
            a, b = next(iter(given.select(hopeless)))[:2]
            warn(
                f"left out {np.count_nonzero(hopeless)} of {given.n_pairs} constraints: "
                f"cannot-links between equal rows, which no metric separates, ({a!r}, {b!r}) first",
                ConstraintWarning,
            )
