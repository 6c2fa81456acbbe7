"""A Gaussian mixture with constraints."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise._typing import (
    Array,
    Floats,
    Integers,
    Matrix,
    OnConflict,
    OnUnknown,
    Points,
    RandomState,
    Sparse,
)
from linkwise.constraints import Constraints
from linkwise.constraints.closure import components
from linkwise.estimators.base import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    InductiveClusterer,
    Traits,
)
from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.partition.gaussian_mixture import TINY, Gaussians, Shape, fit_mixture, log_density
from linkwise.partition.groups import must_groups
from linkwise.partition.k_means import by_appearance, canonical_order

# labellings of a component that "auto" enumerates; larger ones are inferred by mean field, which
# takes time linear in the size of the component
ENUMERATED = 2**9
ENUMERABLE = 2**16  # the most that "exact" enumerates: memory and time grow in proportion


class ConstrainedGaussianMixture(InductiveClusterer):
    """Gaussian mixture fitted by EM with constraints on the hidden labels (Shental et al. 2003).

    Must-linked points share one hidden label. Labels joined by cannot-links are inferred together:
    exactly in small groups of points, by mean field in larger ones. The pairs shape the clusters
    and so affect points that no pair names.

    Without constraints it is scikit-learn's GaussianMixture, except for ``reg`` and ``shrinkage``.

    Parameters
    ----------
    n_clusters : int
    covariance_type : {"full", "tied", "diag"}
        One covariance matrix for each cluster, one for all, or variances of the features alone.
    reg : float
        Ridge that prevents collapse: this times the mean variance of the features is added to the
        diagonal of each covariance.
    shrinkage : float
        Pulls the covariances of the clusters towards a common one, with the weight of this number
        of points in each cluster. 0 leaves them free, which needs far more points than features.
    strength : float
        Log-odds that a constraint of weight 1 is right. 100 is practically certain; if some
        constraints are wrong, 5 to 10 lets the points outvote them.
    cannot : {"auto", "exact", "mean_field"}
        How to infer labels that cannot-links join. "exact" sums over all labellings of each
        connected group and refuses groups with too many; "auto" uses mean field for them.
    n_init : int
        Number of starts: one from the must-link groups farthest apart, the others by k-means. The
        one with the largest bound is kept.
    max_iter : int
    tol : float
        Change of the bound below which the passes stop.
    on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
        The most probable joint labels of all points; must-linked points always share theirs.
    responsibilities_ : array (n_samples, n_clusters)
        Probability of each label, point by point, given all points and constraints.
    weights_ : array (n_clusters,), sizes of the clusters (in must-link groups), sum 1
    means_ : array (n_clusters, n_features)
    covariances_ : array (n_clusters, n_features, n_features); (n_features, n_features) for
        "tied" and (n_clusters, n_features) for "diag"
    lower_bound_ : float
        Log-likelihood of points and constraints per point, minus the penalty of shrinkage; with
        mean field a lower bound of it.
    n_iter_ : int, passes of the start that was kept
    converged_ : bool
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    Weights multiply the log-odds of a constraint: a pair listed twice is a pair of weight 2. A
    must-link of weight 1 or more always holds; a lighter one may be broken at a cost of
    weight * strength. Points with equal coordinates but different constraints are distinguished
    by their order.

    Examples
    --------
    >>> from linkwise import ConstrainedGaussianMixture
    >>> X = [[0.0], [0.2], [0.9], [5.0], [5.1], [5.9]]
    >>> model = ConstrainedGaussianMixture(2, random_state=0)
    >>> model.fit(X, constraints=([(0, 2)], [(2, 3)])).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    >>> model.predict_proba([[0.1], [6.0]]).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **InductiveClusterer._parameter_constraints,
        "covariance_type": [StrOptions({"full", "tied", "diag"})],
        "reg": [POSITIVE],
        "shrinkage": [NOT_NEGATIVE],
        "strength": [POSITIVE],
        "cannot": [StrOptions({"auto", "exact", "mean_field"})],
        "max_iter": [AT_LEAST_ONE],
        "tol": [NOT_NEGATIVE],
    }
    traits = Traits(sparse=False)

    responsibilities_: Floats
    weights_: Floats
    means_: Floats
    covariances_: Floats
    lower_bound_: float
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        covariance_type: Literal["full", "tied", "diag"] = "full",
        reg: float = 1e-3,
        shrinkage: float = 40.0,
        strength: float = 100.0,
        cannot: Literal["auto", "exact", "mean_field"] = "auto",
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-4,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance_type = covariance_type
        self.reg = reg
        self.shrinkage = shrinkage
        self.strength = strength
        self.cannot = cannot
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
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
        order = canonical_order(X)
        points = X[order].astype(np.float64)
        i, j, sign, weight = links.merged().arrays()
        i, j = np.argsort(order)[np.stack([i, j])]
        certain = (sign > 0) & (weight >= 1)
        groups = must_groups(points, np.stack([i, j], axis=1)[certain])
        Q = _between(groups, i[~certain], j[~certain], (self.strength * sign * weight)[~certain])
        spread = points.var(axis=0).mean()
        shape = Shape(self.covariance_type, self.reg * (spread or 1.0), self.shrinkage)
        try:
            fit = fit_mixture(
                points, self.n_clusters, groups, Q, shape, limit=self._limit(Q),
                n_init=self.n_init, max_iter=self.max_iter, tol=self.tol, rng=rng,
            )  # fmt: skip
        except np.linalg.LinAlgError:
            raise ValueError(
                f"reg={self.reg:g} is too small for these points: a covariance is singular, "
                "because features depend on each other or differ in scale by many orders of "
                "magnitude; raise reg, or scale the features"
            ) from None
        group = groups.of[np.argsort(order)]  # by row of X
        labels, names = by_appearance(fit.labels[group])
        self._announce(fit, len(names))
        names = np.r_[names, np.setdiff1d(np.arange(self.n_clusters), names)]
        alpha, means, S, P = fit.model
        self._model = Gaussians(alpha[names], means[names], S[names], P)
        self._ridge = shape.ridge
        self.weights_ = alpha[names].astype(X.dtype)
        self.means_ = means[names].astype(X.dtype)
        self.covariances_ = (P if shape.kind == "tied" else S[names]).astype(X.dtype)
        self.responsibilities_ = fit.q[group][:, names].astype(X.dtype)
        self.lower_bound_ = fit.bound / len(X)
        self.n_iter_, self.converged_ = fit.n_iter, fit.converged
        return labels

    def _limit(self, Q: Sparse) -> int:
        """Return the largest number of labellings of a component to enumerate."""
        if self.cannot != "exact":
            return ENUMERATED if self.cannot == "auto" else 0
        size = int(np.bincount(components(Q.shape[0], np.stack(Q.nonzero(), axis=1))).max())
        if self.n_clusters**size > ENUMERABLE:
            raise ValueError(
                f'cannot="exact": constraints join {size} must-link groups, which is '
                f"{self.n_clusters}^{size} labellings; at most {ENUMERABLE} are summed over: use "
                '"auto" or "mean_field"'
            )
        return ENUMERABLE

    def _announce(self, fit: Any, found: int) -> None:
        if found < self.n_clusters:
            warn(
                f"only {found} of {self.n_clusters} clusters have a point: ask for fewer clusters "
                "or raise shrinkage",
                ConvergenceWarning,
            )
        if not fit.converged:
            warn(
                f"Gaussian mixture: max_iter={self.max_iter} passes did not reach tol={self.tol}",
                ConvergenceWarning,
            )

    def predict_proba(self, X: Points) -> Floats:
        """Return the probability of every cluster for every point.

        Points that were given to `fit` get their ``responsibilities_``, which depend on the
        constraints. All others are judged by their coordinates alone.

        Parameters
        ----------
        X : array (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_clusters), rows sum to 1
        """
        check_is_fitted(self)
        caller = self._asked(X, "predict_proba")
        model = self._working()
        points = model._points(X, reset=False)
        row = model._seen(points)
        found = model._posterior(points)
        found[row >= 0] = model.responsibilities_[row[row >= 0]]
        return caller.give(found)

    def _posterior(self, X: Array) -> Array:
        L = log_density(X.astype(np.float64), self._model, self._ridge)
        L += np.log(np.maximum(self._model.alpha, TINY))
        return softmax(L, axis=1).astype(self._fit_X.dtype)

    def _assign(self, X: Matrix) -> Integers:
        return self._posterior(X).argmax(axis=1)


def _between(groups: Any, i: Array, j: Array, value: Array) -> Sparse:
    """Return the symmetric csr_array (g, g) of summed values between different groups."""
    a, b = groups.of[i], groups.of[j]
    a, b, value = a[a != b], b[a != b], value[a != b]
    g = len(groups.size)
    Q = sparse.coo_array((np.r_[value, value], (np.r_[a, b], np.r_[b, a])), shape=(g, g))
    return sparse.csr_array(Q)
