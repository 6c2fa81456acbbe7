"""Constraints bound to an estimator, and scores by constraints that it did not see.

Many tools know only ``fit(X)``: scikit-learn's searches and pipelines, topic models. An estimator
with its constraints bound fits there. Without true classes it is judged by held-out constraints:

    (1)  score = 1/2 (share of held-out must-links kept + share of held-out cannot-links kept)

mean over folds, in each of which the estimator is fitted to the other constraints. 1 is perfect,
and 1/2 is what one cluster, or as many clusters as points, would get. An estimator that sees no
constraints, such as scikit-learn's KMeans, is scored by Eq. (1) with all of them (`LinkScore`).
"""

from collections.abc import Callable, Iterator
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils._tags import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from linkwise._typing import Array, Floats, Integers, Points, RandomState
from linkwise.constraints import Constraints, as_constraints
from linkwise.constraints.convert import ConstraintsLike
from linkwise.estimators.base import whole
from linkwise.estimators.summary import FittedSummary, summary
from linkwise.evaluate import kept

ENOUGH = 2  # constraints of a kind for each fold: fewer say nothing about a fold


def has(method: str) -> Callable[[Any], bool]:
    """Return a check that the bound estimator has a method."""
    return lambda self: hasattr(self.estimator, method)


def can_score(self: Any) -> bool:
    """Tell whether there are constraints to hold out, and an estimator that refits."""
    return self.constraints is not None and hasattr(self.estimator, "refit")


class AllRows:
    """The cross-validation of a search by `WithConstraints.score`: one split, with all rows.

    The score holds out constraints, not rows: every fit needs all rows.

    >>> [(len(train), len(test)) for train, test in AllRows().split(np.zeros((150, 4)))]
    [(150, 150)]
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the one split."""
        rows = np.arange(_num_samples(X))
        yield rows, rows

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        return 1


def folds_of(links: Constraints, folds: int, rng: np.random.Generator) -> Integers:
    """Return the fold of every constraint (m,), with as many of each kind in every fold."""
    fold = np.empty(links.n_pairs, dtype=np.intp)
    for kind in (1, -1):
        of_kind = np.flatnonzero(links.sign == kind)
        fold[rng.permutation(of_kind)] = np.arange(len(of_kind)) % folds
    return fold


class LinkScore:
    """A score by constraints, for ``scoring`` of a search, without true classes.

    An estimator that sees no constraints gets the mean of the shares of must-links and of
    cannot-links that its clusters keep, Eq. (1) with all constraints. `WithConstraints` sees them,
    so it is scored by those that it holds out, see `WithConstraints.score`.

    Parameters
    ----------
    constraints : Constraints, or what `as_constraints` accepts; both kinds are needed
    sample_id : array (n_samples,) or None
        One id per row; constraints then name these ids.

    Examples
    --------
    >>> from linkwise import AllRows, LinkScore, sample_pairs
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> score = LinkScore(sample_pairs(y, 100, random_state=0))
    >>> model = KMeans(n_init=5, random_state=0)
    >>> search = GridSearchCV(model, {"n_clusters": [2, 3, 6]}, scoring=score, cv=AllRows())
    >>> search.fit(X).best_params_
    {'n_clusters': 3}
    """

    def __init__(self, constraints: ConstraintsLike, *, sample_id: ArrayLike | None = None) -> None:
        self.constraints = constraints
        self.sample_id = sample_id

    def __call__(self, estimator: Any, X: Points, y: ArrayLike | None = None) -> float:
        """Return the score of a fitted estimator for the points of its fit, in 0..1."""
        last = getattr(estimator, "_final_estimator", estimator)  # of a Pipeline
        if isinstance(last, WithConstraints):
            return float(estimator.score(X))
        links = as_constraints(self.constraints).active()
        if not (links.n_must and links.n_cannot):
            raise ValueError(
                f"LinkScore needs must-links and cannot-links, got {links.n_must} and "
                f"{links.n_cannot}; add constraints of the other kind"
            )
        labels = getattr(last, "labels_", None)
        if labels is None or len(labels) != _num_samples(X):
            labels = estimator.predict(X)
        held = kept(labels, links, sample_id=self.sample_id)
        return (held.must + held.cannot) / 2


class WithConstraints(FittedSummary, MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """An estimator with its constraints, for callers that know only ``fit(X)``.

    Parameters
    ----------
    estimator : a clusterer of linkwise, or any whose ``fit`` takes ``constraints``
        It is cloned before it is fitted.
    constraints : Constraints, or what `as_constraints` accepts, or None
    sample_id : array (n_samples,) or None
        One id per row; constraints then name these ids. Without it they name row numbers.
    folds : int
        Number of folds of the constraints for `score`.
    random_state : int, RandomState or None
        Seed of the folds. The estimator has a seed of its own.

    Attributes
    ----------
    estimator_ : the fitted estimator
    labels_ : array (n_samples,), its labels
    probabilities_ : array (n_samples, n_clusters), if the estimator has them

    Examples
    --------
    A search for the parameters that keep constraints which were held out:

    >>> from linkwise import CCSKL, AllRows, WithConstraints, sample_pairs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> links = sample_pairs(y, 100, random_state=0)
    >>> bound = WithConstraints(CCSKL(random_state=0), links, random_state=0)
    >>> search = GridSearchCV(bound, {"estimator__n_clusters": [2, 3, 4, 5]}, cv=AllRows())
    >>> search.fit(X).best_params_
    {'estimator__n_clusters': 3}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "fit_predict"])],
        "constraints": "no_validation",
        "sample_id": "no_validation",
        "folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    estimator_: Any
    labels_: Integers
    probabilities_: Floats
    n_features_in_: int

    def __init__(
        self,
        estimator: Any,
        constraints: ConstraintsLike = None,
        *,
        sample_id: ArrayLike | None = None,
        folds: int = 5,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.constraints = constraints
        self.sample_id = sample_id
        self.folds = folds
        self.random_state = random_state

    @whole
    def fit(self, X: Points, y: ArrayLike | None = None) -> Self:
        """Fit a clone of the estimator to the points, under the bound constraints."""
        self._validate_params()
        fitted = clone(self.estimator)
        fitted.fit(X, y, constraints=self.constraints, sample_id=self.sample_id)
        self.estimator_ = fitted
        for name in ("labels_", "probabilities_", "n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def fit_predict(self, X: Points, y: ArrayLike | None = None) -> Integers:
        """Fit, and return the labels."""
        return self.fit(X, y).labels_

    @available_if(has("predict"))
    def predict(self, X: Points) -> Integers:
        """Return the labels of points, by the fitted estimator."""
        check_is_fitted(self)
        found: Integers = self.estimator_.predict(X)
        return found

    @available_if(has("predict_proba"))
    def predict_proba(self, X: Points) -> Floats:
        """Return the probabilities of clusters, by the fitted estimator."""
        check_is_fitted(self)
        found: Floats = self.estimator_.predict_proba(X)
        return found

    @available_if(can_score)
    def score(self, X: Points, y: ArrayLike | None = None) -> float:
        """Return the share of held-out constraints that are kept, Eq. (1), in 0..1.

        The fitted estimator clusters its points again for every fold, without the constraints of
        the fold. It keeps what does not depend on constraints, so a fold costs less than a fit.

        Parameters
        ----------
        X : the points of `fit`
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        n, rows = len(self.labels_), _num_samples(X)
        if rows != n:
            raise ValueError(
                f"score holds out constraints, not rows: X must be the {n:,} rows of fit, got "
                f"{rows:,}; in a search pass cv=AllRows()"
            )
        links = as_constraints(self.constraints).active()
        if min(links.n_must, links.n_cannot) < ENOUGH * self.folds:
            raise ValueError(
                f"score with {self.folds} folds needs at least {ENOUGH * self.folds} must-links "
                f"and as many cannot-links, got {links.n_must} and {links.n_cannot}; lower folds, "
                "or add constraints"
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        fold = folds_of(links, self.folds, np.random.default_rng(seed))
        scores = []
        for number in range(self.folds):
            model = copy(self.estimator_).refit(links.select(fold != number))
            held = kept(model.labels_, links.select(fold == number), sample_id=self.sample_id)
            scores.append((held.must + held.cannot) / 2)
        return float(np.mean(scores))

    def _summary(self) -> str:
        return summary(getattr(self, "estimator_", None))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        bound = get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = bound.input_tags, bound.classifier_tags
        tags.non_deterministic = bound.non_deterministic
        return tags
