"""LinkClustering."""

import time
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise._check import CheckedConstraints, check_constraints, check_n_clusters
from linkwise._typing import FilePath, Floats, Integers, Matrix, OnUnknown, Points, RandomState
from linkwise.arrays import door, namespace, take, to_host
from linkwise.blocks.executors import executor_of, one_thread
from linkwise.choice.candidates import SCORED_ERROR
from linkwise.choice.combination import Combination, combine, soft_labels
from linkwise.choice.counting import Count, choose_count
from linkwise.choice.effort import EFFORTS, FOR_CANDIDATES, SLOWER, Effort
from linkwise.choice.explanation import explanation, report
from linkwise.choice.final_labels import SUSPECT, FinalLabels, settle, soft_labels_of_all
from linkwise.choice.sample_models import Plain, SampleModels, fit_models, sample_rows
from linkwise.constraints import Constraints, Pair
from linkwise.constraints.convert import ConstraintsLike
from linkwise.estimators.base import AT_LEAST_ONE, InductiveClusterer, Traits
from linkwise.exceptions import ConvergenceWarning, warn


class Attempt(NamedTuple):
    """What one level of effort finds."""

    plain: Plain
    clusters: Count
    found: Combination


class LinkClustering(InductiveClusterer):
    """Constrained clustering without a choice of method: the data and the constraints choose.

    Without constraints, several partitions are made (k-means, spectral clustering, and clusters of
    a layout of the neighbour graph, in several preparations of the features), and the one that the
    others and the graphs support most is taken. Constraints then correct it: class probabilities
    are fitted to them from these partitions on, with several sets of features. Few constraints move
    the clusters a little, many a lot. Each fit counts as much as it predicts constraints that it
    has not used. `explain` says what was chosen.

    Constraints may be wrong: their share is estimated, and ``suspects_`` ranks them.

    Parameters
    ----------
    n_clusters : int or None
        None: chosen by data and constraints, see ``n_clusters_`` and ``runner_up_``.
    effort : "fast", "balanced", "thorough" or number
        How much is tried. A number is a budget in seconds: "fast" first, then as much of another
        level as fits. Results then depend on the speed of the machine.
    respect : {"soft", "hard"}
        "soft" keeps a constraint unless the rest of the evidence says that it is wrong. "hard"
        keeps all, or raises InfeasibleConstraints with a conflict.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    probabilities_ : array (n_samples, n_clusters_), of the clusters, constraints included
    n_clusters_ : int
    runner_up_ : int or None, the second best number of clusters when it was open
    score_ : float or None
        Mean log-likelihood of constraints in a combination made without them; higher is better.
        None if there are too few constraints.
    chance_ : float or None
        The same for a model that knows the share of must-links and nothing else.
    wrong_ : float, estimated share of wrong constraints
    suspicion_ : array (n_constraints,)
        The probability that each constraint is wrong, in the order of the constraints.
    suspects_ : list of (Pair, float)
        The same as a list: every constraint with this probability, most likely first.
    report_ : list of dict, the candidates, best first
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    Landmarks and folds are drawn by row number: another order of the rows, or of the constraints,
    may give slightly other clusters.

    Beyond 20,000, 100,000 or 200,000 points (by effort) the models are learnt from a sample, which
    keeps as many whole constraints as fit. The models place all other points, and all constraints
    count in the end. Memory grows like n_samples times n_clusters, and like the points that are
    learnt from times some thousand numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from linkwise import Constraints, LinkClustering
    >>> X, y = load_wine(return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=60, random_state=0)
    >>> model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    >>> model.score_ > model.chance_
    True
    """

    traits = Traits(rows=10_000_000, device=True)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_ONE, None],
        "effort": [StrOptions(set(EFFORTS)), Interval(Real, 0, None, closed="neither")],
        "respect": [StrOptions({"soft", "hard"})],
        "on_unknown": [StrOptions({"raise", "drop"})],
        "random_state": ["random_state"],
    }

    probabilities_: Floats
    n_clusters_: int
    runner_up_: int | None
    score_: float | None
    chance_: float | None
    wrong_: float
    suspicion_: Floats
    report_: list[dict[str, Any]]

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        effort: float | Literal["fast", "balanced", "thorough"] = "balanced",
        respect: Literal["soft", "hard"] = "soft",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.effort = effort
        self.respect = respect
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _check_clusters(self, n: int) -> None:
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, n)

    def _check_links(
        self, constraints: ConstraintsLike, n: int, sample_id: Any
    ) -> CheckedConstraints:
        checked = check_constraints(
            constraints, n, sample_id, on_conflict="keep", on_unknown=self.on_unknown
        )
        if self.respect == "hard":
            checked.by_id.check(self.n_clusters)
        return checked

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        self._models: SampleModels | None = None  # refit keeps them if the sample is the same
        self._unconstrained: Plain | None = None  # goes with _models; not saved
        self._soft: Floats  # (n, k) labels by the features alone; not saved

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        with (
            executor_of(X),
            one_thread(),
        ):  # the products are small: more threads only wait for each other
            if isinstance(self.effort, str):
                plain, count, found = self._attempt(X, links, EFFORTS[self.effort])
            else:
                plain, count, found = self._attempt_within(X, links, float(self.effort))
            soft = soft_labels_of_all(X, plain.models, found)
            final = settle(
                soft, links, max(found.wrong, SCORED_ERROR), rng,
                hard=self.respect == "hard", keep_empty=self.n_clusters is not None,
            )  # fmt: skip
        self._unconstrained, self._soft = plain, soft
        self._store(plain.models, count, found, final)
        return final.labels

    def _attempt(
        self, X: Matrix, links: Constraints, effort: Effort, deadline: float = np.inf
    ) -> Attempt:
        rows = sample_rows(X, links, effort.rows, self._seed)
        plain = self._plain_of(self._sample_models(X, rows, effort))
        known = links.restrict(rows).resolve(rows)
        count = self._count(plain, known, links, effort)
        found = combine(plain, known, count.best, effort, deadline=deadline, seed=self._seed)
        return Attempt(plain, count, found)

    def _attempt_within(self, X: Matrix, links: Constraints, seconds: float) -> Attempt:
        began = time.perf_counter()
        first = self._attempt(X, links, EFFORTS["fast"])
        spent = time.perf_counter() - began
        for name, times in SLOWER:
            if seconds - spent > times * spent:
                deadline = began + FOR_CANDIDATES * seconds
                return self._attempt(X, links, EFFORTS[name], deadline)
        return first

    def _sample_models(self, X: Matrix, rows: Integers, effort: Effort) -> SampleModels:
        if self._models is not None and np.array_equal(rows, self._models.rows):
            return self._models
        return fit_models(X, rows, effort, self._seed)

    def _plain_of(self, models: SampleModels) -> Plain:
        plain: Plain | None = getattr(self, "_unconstrained", None)  # a model from a file has none
        if plain is not None and plain.models is models:
            return plain
        return Plain(models, self._seed)

    def _count(self, plain: Plain, known: Constraints, links: Constraints, effort: Effort) -> Count:
        if self.n_clusters is not None:
            return Count(self.n_clusters)
        return choose_count(plain, known, links, effort, self._seed)

    def _store(
        self, models: SampleModels, count: Count, found: Combination, final: FinalLabels
    ) -> None:
        self._models, kept = models, final.clusters
        self._members = [one._replace(W=one.W[:, kept]) for one in found.members]
        trained = found.co_trained
        self._co_trained = trained and trained._replace(
            labels=trained.labels[:, door(trained.labels).asarray(kept, trained.labels)]
        )
        self.n_clusters_, self.runner_up_ = len(final.clusters), count.runner_up
        self.wrong_, self.score_, self.chance_ = found.wrong, found.score, found.chance
        self.report_ = report(found)
        self.probabilities_, self.suspicion_ = final.probabilities, final.suspicion
        clusters = int(final.labels.max()) + 1
        if clusters < self.n_clusters_:
            warn(
                f"only {clusters} of {self.n_clusters_} clusters found: constraints and data leave "
                "no point to the others; ask for fewer clusters",
                ConvergenceWarning,
            )

    def _fit_links(self, checked: CheckedConstraints, out: FilePath | None) -> Self:
        super()._fit_links(checked, out)
        self._given = checked.by_id
        return self

    @property
    def suspects_(self) -> list[tuple[Pair, float]]:
        """Every constraint with the probability that it is wrong, most likely first."""
        check_is_fitted(self)
        pairs, wrong = list(self._given), to_host(self.suspicion_)
        return [(pairs[i], float(wrong[i])) for i in np.argsort(-wrong, kind="stable")]

    def _assign(self, X: Matrix) -> Integers:
        soft = self._soft_labels(X)
        return namespace(soft).argmax(soft, axis=1)

    def _soft_labels(self, X: Matrix) -> Floats:
        return soft_labels(self._models, self._members, self._co_trained, X)

    def predict_proba(self, X: Points) -> Floats:
        """Return the probability of every cluster for every point, (n_samples, n_clusters_).

        Points given to `fit` have the probabilities they got there, constraints included.
        """
        check_is_fitted(self)
        caller = self._asked(X, "predict_proba")
        model = self._working()
        points = model._check_X(take(X), reset=False)
        seen = model._seen(points)
        out = model.probabilities_[seen]
        (new,) = namespace(seen).nonzero(seen < 0)
        for start in range(0, len(new), model._block()):
            rows = new[start : start + model._block()]
            out[rows] = model._soft_labels(door(points).cast(points[rows], model._fit_X))
        return caller.give(out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks look there in anything that has predict_proba and takes sparse X
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def trusted(self, most: float = SUSPECT) -> Constraints:
        """Return the constraints that are wrong with a probability of at most ``most``.

        ``model.refit(model.trusted())`` clusters again without the others.
        """
        check_is_fitted(self)
        return self._given.select(to_host(self.suspicion_) <= most)

    def explain(self) -> str:
        """Return in words what was chosen and why, with expressions to paste.

        ``X``, ``links`` and ``ids`` in them are the points, the constraints and the sample_id.
        """
        check_is_fitted(self)
        return explanation(self, by_id=self._sample_id is not None)
