"""k-means with constraints: hard, with a penalty, or with a learned metric."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_sizes
from linkwise._typing import (
    Array,
    Floats,
    Integers,
    Matrix,
    OnConflict,
    OnUnknown,
    RandomState,
    Sizes,
)
from linkwise.constraints import Constraints
from linkwise.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, InductiveClusterer, Traits
from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.partition.distortion import (
    Cosine,
    Euclidean,
    Mahalanobis,
    cosine_costs,
    metric_costs,
    variances,
)
from linkwise.partition.hard import cop_kmeans, sized_kmeans
from linkwise.partition.k_means import by_appearance, canonical_order, nearest_centre
from linkwise.partition.penalised import penalised_kmeans
from linkwise.partition.sizes import limits_of


def row_order(X: Matrix) -> Array:
    """Return a permutation of the rows that depends on their values alone."""
    if sparse.issparse(X):  # distinct rows differ in a fixed random projection
        X = X @ np.random.default_rng(0).standard_normal((X.shape[1], 1))
    return canonical_order(X)


def centred(X: Matrix) -> tuple[Matrix, Array]:
    """Return X minus a vector (d,), and that vector: distances far from the origin lose digits.

    The vector is the mean. In sparse points it is 0 in columns with zeros, which stay zeros.
    """
    if not sparse.issparse(X):
        middle = X.mean(axis=0, dtype=X.dtype)
        return X - middle, middle
    X = X.copy()
    X.sum_duplicates()
    stored = np.bincount(X.indices, minlength=X.shape[1])
    sums = np.bincount(X.indices, weights=X.data, minlength=X.shape[1])
    middle = np.where(stored == X.shape[0], sums / X.shape[0], 0).astype(X.dtype)
    X.data -= middle[X.indices]
    return X, middle


class _Centroids(InductiveClusterer):
    """Partition the centred points in a canonical order. Subclasses implement `_cluster`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **InductiveClusterer._parameter_constraints,
        "max_iter": [AT_LEAST_ONE],
    }

    cluster_centers_: Floats
    inertia_: float
    n_iter_: int

    def _centred(self) -> bool:
        """Tell whether a common shift of points and centres has no effect."""
        return True

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        order = row_order(X)
        place = np.argsort(order)  # equal rows keep their order: among them it may matter
        X, middle = centred(X[order]) if self._centred() else (X[order], 0)
        found, centres = self._cluster(X, links.resolve(order).merged(), rng)
        labels, names = by_appearance(found[place])
        if self._named_clusters():
            labels, names = found[place], np.arange(self.n_clusters)
        self.cluster_centers_ = centres[names] + middle
        if len(names) < self.n_clusters:
            warn(
                f"only {len(names)} of {self.n_clusters} clusters found: must-linked or equal "
                "points leave no more; ask for fewer clusters",
                ConvergenceWarning,
            )
        self._names = names
        return labels

    def _named_clusters(self) -> bool:
        """Tell whether the parameters speak of single clusters, by number."""
        return False

    def _cluster(
        self, X: Matrix, links: Constraints, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Store inertia and passes, and return labels (n,) and centres (k, d)."""
        raise NotImplementedError

    def _assign(self, X: Matrix) -> Integers:
        return nearest_centre(X, self.cluster_centers_)


class COPKMeans(_Centroids):
    """k-means that keeps every constraint (COP-KMeans, Wagstaff et al. 2001).

    Must-linked points are clustered as one group, and cannot-linked groups are never put together:
    every constraint holds, or `InfeasibleConstraints` names those that conflict. The first
    assignment colours the cannot-link graph with backtracking, so it finds a feasible assignment
    if there is one. (The search is bounded; only graphs that ``n_clusters`` colours barely suffice
    for reach the bound.) Then groups change clusters alone or in chains, and no constraint is
    broken.

    It keeps all constraints and learns little beyond them. Without constraints it is k-means. A
    pass takes O(n_samples n_features n_clusters) time, with thousands of pairs little more.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Number of starts; the one with the smallest inertia is kept. One starts from the must-link
        groups farthest apart, the others are drawn as in k-means++.
    max_iter : int
        Maximum number of passes for each start.
    size : (least, most), a list of n_clusters such pairs, or None
        Limits of the sizes of the clusters, which hold exactly; a list has those of cluster 0, 1,
        and so on. Sizes that cannot hold raise InfeasibleConstraints.
    balanced : bool
        Whether all clusters have the same size, up to one.
    on_conflict : {"raise", "drop"}
        What to do when must-links and cannot-links contradict each other: raise
        InfeasibleConstraints, or drop the cannot-links concerned with a warning. Constraints
        that need more than ``n_clusters`` clusters always raise.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    cluster_centers_ : array (n_clusters, n_features)
    inertia_ : float, sum of the squared distances to the centres
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, empty
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    All constraints are kept, so weights would have no effect and are refused.

    Examples
    --------
    >>> from linkwise import Constraints, COPKMeans
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> links = Constraints(must_link=[(0, 3)], cannot_link=[(0, 1), (0, 2)])
    >>> COPKMeans(2, random_state=0).fit_predict(X, constraints=links)
    array([0, 1, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Centroids._parameter_constraints,
        "on_conflict": [StrOptions({"raise", "drop"})],
        "size": [tuple, list, np.ndarray, None],
        "balanced": ["boolean"],
    }
    traits = Traits(hard=True, weights=False)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        size: Sizes = None,
        balanced: bool = False,
        on_conflict: Literal["raise", "drop"] = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.size = size
        self.balanced = balanced
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _check_clusters(self, n: int) -> None:
        super()._check_clusters(n)
        check_sizes(self.size, self.balanced, self.n_clusters)

    def _named_clusters(self) -> bool:
        return self.size is not None and np.ndim(self.size) == 2

    def _cluster(
        self, X: Matrix, links: Constraints, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        limits = limits_of(self.size, self.balanced, X.shape[0], self.n_clusters)
        if limits is not None:
            labels, centres, self.inertia_, self.n_iter_ = sized_kmeans(
                X, self.n_clusters, links.must_link, links.cannot_link, limits,
                n_init=self.n_init, max_iter=self.max_iter, rng=rng,
            )  # fmt: skip
            return labels, centres
        labels, centres, self.inertia_, self.n_iter_ = cop_kmeans(
            X, self.n_clusters, links.must_link, links.cannot_link,
            n_init=self.n_init, max_iter=self.max_iter, rng=rng,
        )  # fmt: skip
        return labels, centres


class _Penalised(_Centroids):
    """Minimise distortion plus the penalty of broken pairs. Subclasses implement `_distortion`."""

    def _distortion(self, X: Matrix, links: Constraints) -> Any:
        raise NotImplementedError

    def _cluster(
        self, X: Matrix, links: Constraints, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        found = penalised_kmeans(
            self._distortion(X, links), self.n_clusters, links,
            n_init=self.n_init, max_iter=self.max_iter, rng=rng,
        )  # fmt: skip
        self.inertia_, self.n_iter_ = found.objective, found.n_iter
        self._metric = found.params.A
        return found.labels, found.params.centres


class PCKMeans(_Penalised):
    """k-means plus a price for every broken constraint (PCK-Means, Basu et al. 2004).

    Without constraints it is k-means. `MPCKMeans` also learns a metric from the constraints and
    does better on unconstrained points.

    Parameters
    ----------
    n_clusters : int
    constraint_weight : "auto" or float
        Penalty of a broken constraint of weight 1; "auto" is the mean squared distance of the
        points from their mean, which breaks few.
    n_init, max_iter : as in `COPKMeans`
    on_conflict : {"raise", "drop", "keep"}
        What to do when must-links and cannot-links contradict each other: raise
        InfeasibleConstraints, drop the cannot-links concerned with a warning, or use all.
    on_unknown : as in `COPKMeans`
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    cluster_centers_ : array (n_clusters, n_features)
    inertia_ : float, sum of the squared distances to the centres and of the penalties
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Centroids._parameter_constraints,
        "constraint_weight": [StrOptions({"auto"}), NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        constraint_weight: float | Literal["auto"] = "auto",
        n_init: int = 10,
        max_iter: int = 300,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _distortion(self, X: Matrix, links: Constraints) -> Any:
        weight = self.constraint_weight
        weight = float(variances(X)[1].sum()) if weight == "auto" else weight
        return Euclidean(X, links, weight, self.n_clusters)


class HMRFKMeans(_Penalised):
    """k-means on a hidden Markov random field (HMRF-KMeans, Basu, Bilenko & Mooney 2004).

    A broken must-link costs the distance of its two points, a broken cannot-link the largest
    distance minus that of its points. ``distortion="euclidean"`` learns weights of the features
    along with the clusters: it is `MPCKMeans` with one diagonal metric, and accepts sparse points.
    "cosine", for text and other directions, learns no weights.

    Parameters
    ----------
    n_clusters : int
    distortion : {"euclidean", "cosine"}
    constraint_weight : float
        Factor of the penalty of a broken constraint.
    n_init, max_iter : as in `COPKMeans`
    on_conflict, on_unknown, random_state : as in `PCKMeans`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    cluster_centers_ : array (n_clusters, n_features)
        With "cosine" unit vectors.
    metric_ : array (n_features,), the learned weights; only with "euclidean"
    inertia_ : float, the objective
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Centroids._parameter_constraints,
        "distortion": [StrOptions({"euclidean", "cosine"})],
        "constraint_weight": [NOT_NEGATIVE],
    }

    metric_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distortion: Literal["euclidean", "cosine"] = "euclidean",
        constraint_weight: float = 1.0,
        n_init: int = 10,
        max_iter: int = 100,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _centred(self) -> bool:
        return self.distortion == "euclidean"  # directions are seen from the origin

    def _distortion(self, X: Matrix, links: Constraints) -> Any:
        if self.distortion == "cosine":
            return Cosine(X, links, self.constraint_weight, self.n_clusters)
        return Mahalanobis(
            X, links, self.constraint_weight, self.n_clusters, full=False, shared=True
        )

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        labels = super()._learn(X, links, rng, out=out)
        if self.distortion == "euclidean":
            self.metric_ = self._metric[0].astype(X.dtype)
        return labels

    def _assign(self, X: Matrix) -> Integers:
        if self.distortion == "cosine":
            return np.argmin(cosine_costs(X, self.cluster_centers_), axis=1)
        return np.argmin(metric_costs(X, self.cluster_centers_, self._metric), axis=1)


class MPCKMeans(_Penalised):
    """k-means that learns a metric from clusters and constraints (MPCK-Means, Bilenko et al. 2004).

    The learned Mahalanobis metric makes clusters compact, broken must-links short and broken
    cannot-links long. The scale of the features does not matter to a diagonal metric, and hardly
    to a full one. On unconstrained points the full shared metric does best of this family; one
    metric for each cluster needs more points or constraints. A pass with a full metric takes
    O(n_samples n_features^2 + n_features^3) time; use "diagonal" with hundreds of features.

    Parameters
    ----------
    n_clusters : int
    metric : {"full", "diagonal"}
    shared_metric : bool
        One metric for all clusters, or one for each.
    constraint_weight : float
        Factor of the penalty of a broken constraint.
    n_init, max_iter : as in `COPKMeans`
    on_conflict, on_unknown, random_state : as in `PCKMeans`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    cluster_centers_ : array (n_clusters, n_features)
    metric_ : array (n_features,) or (n_features, n_features)
        The learned metric; with ``shared_metric=False`` one for every cluster, stacked.
    inertia_ : float, the objective; it may be negative
    n_iter_ : int, passes of the start that was kept
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Centroids._parameter_constraints,
        "metric": [StrOptions({"full", "diagonal"})],
        "shared_metric": ["boolean"],
        "constraint_weight": [NOT_NEGATIVE],
    }
    traits = Traits(sparse=False)

    metric_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Literal["full", "diagonal"] = "full",
        shared_metric: bool = True,
        constraint_weight: float = 1.0,
        n_init: int = 10,
        max_iter: int = 100,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared_metric = shared_metric
        self.constraint_weight = constraint_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _distortion(self, X: Matrix, links: Constraints) -> Any:
        return Mahalanobis(
            X, links, self.constraint_weight, self.n_clusters,
            full=self.metric == "full", shared=self.shared_metric,
        )  # fmt: skip

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        labels = super()._learn(X, links, rng, out=out)
        if not self.shared_metric:
            self._metric = self._metric[self._names]
        self.metric_ = (self._metric[0] if self.shared_metric else self._metric).astype(X.dtype)
        return labels

    def _assign(self, X: Matrix) -> Integers:
        return np.argmin(metric_costs(X, self.cluster_centers_, self._metric), axis=1)
