"""LinkClustering."""

import time
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise._check import (
    CheckedConstraints,
    check_cluster_range,
    check_constraints,
    check_n_clusters,
    check_rows,
    check_sizes,
    extended_ids,
)
from linkwise._typing import (
    FilePath,
    Floats,
    Integers,
    Mask,
    Matrix,
    OnUnknown,
    Points,
    RandomState,
    Sizes,
)
from linkwise.arrays import door, namespace, to_host
from linkwise.blocks.executors import executor_of, one_thread
from linkwise.blocks.rows import on_cluster, row_blocks, stack_rows, take_rows
from linkwise.blocks.sources import open_rows
from linkwise.choice.candidates import SCORED_ERROR
from linkwise.choice.cluster_labels import place_rows, placed, settle_on_cluster
from linkwise.choice.combination import Combination, combine, soft_labels
from linkwise.choice.counting import MOST_CLUSTERS, Count, choose_count
from linkwise.choice.effort import (
    EFFORTS,
    FOR_CANDIDATES,
    MANY,
    PROBE,
    SLOWER,
    Effort,
    rows_within,
)
from linkwise.choice.explanation import explanation, report
from linkwise.choice.extension import (
    FURTHER,
    GROWTH,
    Move,
    earlier_start,
    extended,
    free_rows,
    match_clusters,
    moves_of,
    staying,
)
from linkwise.choice.final_labels import SUSPECT, FinalLabels, settle, soft_labels_of_all
from linkwise.choice.levels import tree_rows
from linkwise.choice.sample_models import (
    COLUMNS,
    Plain,
    SampleModels,
    fit_models,
    sample_rows,
    see,
)
from linkwise.constraints import Constraints, Pair, as_constraints
from linkwise.constraints.closure import components
from linkwise.constraints.cluster_numbers import NClusters, as_n_clusters, cluster_limits
from linkwise.constraints.convert import ConstraintsLike
from linkwise.estimators.base import AT_LEAST_ONE, InductiveClusterer, Traits, whole
from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.partition.sizes import limits_of
from linkwise.partition.strays import Strays, distances, find_strays, typical_of
from linkwise.partition.tree import Tree, link_tree


class Attempt(NamedTuple):
    """What one level of effort finds."""

    plain: Plain
    clusters: Count
    found: Combination


class Earlier(NamedTuple):
    """What is known of the rows before something is learnt again."""

    labels: Integers  # (n,) the clusters so far, of new rows those that the models give them
    fresh: Mask  # (m,) which constraints the models were not fitted to
    models: SampleModels | None  # to be used again, None: all rows get new ones


class Relearnt(NamedTuple):
    """What is learnt again from old and new rows."""

    models: SampleModels
    clusters: Count
    found: Combination
    soft: Floats  # (n, k) labels by the features alone, the clusters so far first
    columns: Integers  # (k,) the cluster of the combination that each column is


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
    n_clusters : int, (least, most) or None
        A range, or None for 2 to 40: chosen by data and constraints, see ``n_clusters_`` and
        ``runners_up_``. At least as many as the constraints force, within the range.
    effort : "fast", "balanced", "thorough" or number
        How much is tried. A number is a budget in seconds: "fast" first, learnt from as many points
        as the time allows, then as much of another level as fits. Results then depend on the speed
        of the machine.
    respect : {"soft", "hard"}
        "soft" keeps a constraint unless the rest of the evidence says that it is wrong. "hard"
        keeps all, or raises InfeasibleConstraints with a conflict.
    size : (least, most), a list of n_clusters such pairs, or None
        Limits of the sizes of the clusters, which hold exactly; a list has those of cluster 0, 1,
        and so on. Sizes that cannot hold raise InfeasibleConstraints.
    balanced : bool
        Whether all clusters have the same size, up to one.
    size_weight : float > 0 or None
        Makes the limits soft: a row moves to meet them only if that divides its probability by less
        than exp(size_weight). None: they hold exactly.
    outliers : share in [0, 1), "auto" or None
        Rows that belong to no cluster get the label -1: this share of them, or with "auto" those
        far from all others. Rows that must-links join are strays together or not at all. None:
        there are none.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    probabilities_ : array (n_samples, n_clusters_), of the clusters, constraints included
        What is missing to 1 in a row is the probability of a stray, with ``outliers``.
    n_clusters_ : int
    runners_up_ : list of (int, float)
        The other numbers of clusters that were tried, the best first, with their scores: mean
        silhouettes, or with 20 constraints and more log-likelihoods. Empty if n_clusters is a
        number.
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
    tree_ : Tree
        The parts of the clusters and their unions, level by level: ``tree_.cut(5)`` returns the
        labels of 5 clusters. The constraints that the clusters keep hold at every level.
    moves_ : list of Move, old rows that `extend` put into another cluster, and why; else empty

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
        "n_clusters": [AT_LEAST_ONE, tuple, list, None],
        "effort": [StrOptions(set(EFFORTS)), Interval(Real, 0, None, closed="neither")],
        "respect": [StrOptions({"soft", "hard"})],
        "size": [tuple, list, None],
        "balanced": ["boolean"],
        "size_weight": [Interval(Real, 0, None, closed="neither"), None],
        "outliers": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left"), None],
        "on_unknown": [StrOptions({"raise", "drop"})],
        "random_state": ["random_state"],
    }

    probabilities_: Floats
    n_clusters_: int
    runners_up_: list[tuple[int, float]]
    score_: float | None
    chance_: float | None
    wrong_: float
    suspicion_: Floats
    report_: list[dict[str, Any]]
    moves_: list[Move]
    _strays: Strays

    def __init__(
        self,
        n_clusters: NClusters = None,
        *,
        effort: float | Literal["fast", "balanced", "thorough"] = "balanced",
        respect: Literal["soft", "hard"] = "soft",
        size: Sizes = None,
        balanced: bool = False,
        size_weight: float | None = None,
        outliers: float | Literal["auto"] | None = None,
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.effort = effort
        self.respect = respect
        self.size = size
        self.balanced = balanced
        self.size_weight = size_weight
        self.outliers = outliers
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _check_clusters(self, n: int) -> None:
        if isinstance(self.n_clusters, tuple | list):
            check_cluster_range(self.n_clusters, n)
        elif self.n_clusters is not None:
            check_n_clusters(self.n_clusters, n)
        each = int(self.n_clusters) if isinstance(self.n_clusters, Integral) else 1
        check_sizes(self.size, self.balanced, each)
        if self.size_weight is not None and self.size is None and not self.balanced:
            raise ValueError("size_weight is how much size= or balanced= weigh: pass one of them")

    def _check_links(
        self, constraints: ConstraintsLike, n: int, sample_id: Any
    ) -> CheckedConstraints:
        checked = check_constraints(
            constraints, n, sample_id, on_conflict="keep", on_unknown=self.on_unknown
        )
        if self.respect == "hard":
            limits = self._limits()
            checked.by_id.check(limits[1] if limits else None)
        return checked

    def _limits(self) -> tuple[int, int] | None:
        """Return the least and the most clusters, None if any number will do."""
        return cluster_limits(as_n_clusters(self.n_clusters))

    def _open(self) -> bool:
        """Tell whether the number of clusters is chosen."""
        return not isinstance(self.n_clusters, Integral)

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
        labels = self._labels_of(X, links, rng)
        if self.outliers is None:
            return labels
        r, labels = to_host(distances(X)), to_host(labels)
        alien = np.flatnonzero(typical_of(r, labels, self.n_clusters_)[1])
        if 0 < len(alien) < self.n_clusters_:  # noise is not to be learnt from
            noise = np.flatnonzero(np.isin(labels, alien))
            labels = to_host(self._labels_of(X, links, rng, left_out=noise))
        return self._without_strays(r, links, labels)

    def _labels_of(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        left_out: Integers | None = None,
    ) -> Integers:
        """Learn from the rows that are not left out, and return the labels of all."""
        self._left_out = np.zeros(0, dtype=np.intp) if left_out is None else left_out
        with (
            executor_of(X),
            one_thread(),
        ):  # the products are small: more threads only wait for each other
            plain, count, found = self._try(X, links, self._limits())
            error, remote = max(found.wrong, SCORED_ERROR), on_cluster(X)
            how: Any = {"hard": self.respect == "hard", "least": (self._limits() or (0,))[0]}
            if remote is None:
                self._soft = soft_labels_of_all(X, plain, found)
                limits = limits_of(self.size, self.balanced, X.shape[0], count.best)
                how |= {
                    "named": self.size is not None and np.ndim(self.size) == 2,
                    "size_weight": self.size_weight,
                }
                final = settle(self._soft, links, error, rng, limits=limits, **how)
            else:
                final = settle_on_cluster(remote, plain.models, found, links, error, rng, **how)
        self._unconstrained = plain
        self._store(plain.models, count, found, final)
        self._learnt_from, self.moves_ = (X.shape[0], links.n_pairs), []
        return final.labels

    def _without_strays(self, r: Floats, links: Constraints, labels: Integers) -> Integers:
        """Return labels with -1 for strays, and lower their probabilities."""
        group = components(len(r), links.active().must_link)
        self._strays, far = find_strays(r, labels, self.n_clusters_, group, self.outliers)
        chance = self._strays.probability(r, labels)
        chance = np.where(far, np.maximum(chance, 0.5), np.minimum(chance, 0.5))
        self.probabilities_ = to_host(self.probabilities_) * (1 - chance)[:, None]
        return np.where(far, -1, labels)

    @whole
    def extend(
        self,
        X: Points,
        *,
        constraints: ConstraintsLike = None,
        sample_id: ArrayLike | None = None,
    ) -> Self:
        """Add new rows to the clustering. After an error or an interrupt it is as it was before.

        Old rows keep their clusters, unless further constraints move them: ``moves_`` lists these
        rows with the reasons. New rows join clusters; if the number of clusters is open, they may
        also form new ones, which get the next numbers. The models are learnt again when the rows
        have doubled, or when the constraints need more clusters, and fitted to the constraints
        again when these have grown by a quarter; so the cost of many steps is in proportion to the
        rows. A later `refit` clusters all rows from the start.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_new, n_features), as in `fit`
        constraints : Constraints, or what `as_constraints` accepts, or None
            Further constraints, about new rows, old rows or both; the earlier ones stay. Without
            sample_id new rows have the numbers after those of the old rows.
        sample_id : array (n_new,) or None
            One id per new row; needed if `fit` had one.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from linkwise import LinkClustering
        >>> X = load_iris().data
        >>> model = LinkClustering(3, effort="fast", random_state=0).fit(X[::2])
        >>> before = model.labels_
        >>> bool((model.extend(X[1::2]).labels_[:75] == before).all())
        True
        """
        check_is_fitted(self)
        if on_cluster(self._fit_X) is not None:
            raise TypeError(
                "extend keeps all rows in this process, and those of fit are on a Dask cluster: "
                "fit all rows, or place the new ones by predict"
            )
        if self.size is not None or self.balanced or self.outliers is not None:
            raise TypeError(
                "extend keeps the clusters of old rows, so that limits of sizes and shares of "
                "strays may not hold: leave size, balanced and outliers out, or fit all rows"
            )
        caller = self._asked(X, "extend")
        model = self._working()
        points = model._points(X, reset=False)
        for name in ("labels_", "probabilities_", "suspicion_"):  # are put together on the CPU
            setattr(model, name, to_host(getattr(model, name)))
        ids = extended_ids(model._sample_id, sample_id, points.shape[0])
        fresh = as_constraints(constraints)
        rows = stack_rows(model._fit_X, points)
        checked = model._check_links(model._given + fresh, rows.shape[0], ids)
        fresh_pairs = checked.by_id.n_pairs - model._given.n_pairs
        before, rng = model.labels_, np.random.default_rng([model._seed, 2, len(model.labels_)])
        model._fit_X, model._sample_id, model._given = rows, ids, checked.by_id
        model.labels_ = model._extended(rows, checked.by_row, fresh_pairs, rng)
        model.violations_ = list(checked.by_id.select(checked.by_row.violated(model.labels_)))
        model._n_links = checked.by_id.n_must, checked.by_id.n_cannot
        model.n_dropped_ += checked.n_dropped
        model.moves_ = moves_of(before, model.labels_, checked, fresh_pairs, ids)
        self.__dict__ = model._give(caller).__dict__
        return self

    def _extended(
        self, X: Matrix, links: Constraints, fresh: int, rng: np.random.Generator
    ) -> Integers:
        """Place old and new rows, and return their labels."""
        n_old, free = len(self.labels_), free_rows(len(self.labels_), X.shape[0], links, fresh)
        taught = links.n_pairs > self._learnt()[1]
        with one_thread():
            again = None
            if self._outgrown(X, links):
                again = self._learn_again(X, links)
            elif links.n_pairs >= FURTHER * self._learnt()[1] and taught:
                again = self._learn_again(X, links, self._models)
            if again is not None and taught:
                free = np.arange(X.shape[0])
            soft = self._placed(X, free) if again is None else again.soft[free]
            known = links.restrict(free).resolve(free)
            final = settle(
                staying(soft, self.labels_[free[free < n_old]]), known,
                max(self.wrong_, SCORED_ERROR), rng, hard=self.respect == "hard",
                least=soft.shape[1],
            )  # fmt: skip
        before = self.labels_, self.probabilities_, self.suspicion_
        both = extended(before, final, free, links, shrink=self._open())
        if again is not None:
            columns = again.columns[both.clusters]
            rows = self._learnt()[0] if again.models is self._models else X.shape[0]
            self._store(again.models, again.clusters, again.found, both._replace(clusters=columns))
            self._learnt_from = rows, links.n_pairs
        self.probabilities_, self.suspicion_ = both.probabilities, both.suspicion
        for name in ("_soft", "_tree"):  # of the old rows alone
            self.__dict__.pop(name, None)
        return both.labels

    def _learnt(self) -> tuple[int, int]:
        """Return the number of rows and of constraints that the models were learnt from."""
        before = self.probabilities_.shape[0], len(self.suspicion_)
        return getattr(self, "_learnt_from", before)  # a model of an earlier version has none

    def _outgrown(self, X: Matrix, links: Constraints) -> bool:
        """Tell whether the models are to be learnt again: rows doubled, or too few clusters."""
        if X.shape[0] >= GROWTH * self._learnt()[0]:
            return True
        possible = links.drop_conflicts()[0]
        return self._open() and possible.conflict(self.n_clusters_) is not None

    def _placed(self, X: Matrix, rows: Integers) -> Floats:
        """Return soft labels (r, k) of some rows by the features alone."""
        parts = row_blocks(len(rows), max(X.shape[1], COLUMNS))
        return np.concatenate(
            [to_host(self._soft_labels(take_rows(X, rows[part]))) for part in parts]
        )

    def _learn_again(
        self, X: Matrix, links: Constraints, models: SampleModels | None = None
    ) -> Relearnt:
        """Return what all constraints tell; the clusters so far are the first columns of labels.

        If no models are given, they are learnt from all rows.
        """
        n_old, least = len(self.labels_), self.n_clusters_
        most = max(least, (self._limits() or (2, MOST_CLUSTERS))[1]) if models is None else least
        new = np.argmax(self._placed(X, np.arange(n_old, X.shape[0])), axis=1)
        fresh = np.arange(links.n_pairs) >= self._learnt()[1]
        earlier = Earlier(np.r_[self.labels_, new], fresh, models)
        plain, count, found = self._try(X, links, (least, most), earlier)
        soft = to_host(soft_labels_of_all(X, plain, found))
        old = np.argmax(soft[:n_old], axis=1)
        columns = match_clusters(old, self.labels_, soft.shape[1], self.n_clusters_)
        self._unconstrained = plain
        return Relearnt(plain.models, count, found, soft[:, columns], columns)

    def _try(
        self,
        X: Matrix,
        links: Constraints,
        limits: tuple[int, int] | None,
        earlier: Earlier | None = None,
    ) -> Attempt:
        """Return what the effort finds; an open number of clusters stays within limits."""
        if isinstance(self.effort, str):
            return self._attempt(X, links, EFFORTS[self.effort], limits, earlier)
        return self._attempt_within(float(self.effort), X, links, limits, earlier)

    def _attempt_within(
        self,
        seconds: float,
        X: Matrix,
        links: Constraints,
        limits: tuple[int, int] | None,
        earlier: Earlier | None = None,
    ) -> Attempt:
        """Return what is found in about so many seconds, the labels of all points included."""
        began, n, fast = time.perf_counter(), X.shape[0], EFFORTS["fast"]
        again = earlier is not None and earlier.models is not None  # with all that they learnt from
        rows = n if again else min(n, PROBE)
        found = self._attempt(X, links, fast._replace(rows=rows), limits, earlier)
        learning = (time.perf_counter() - began) / rows
        placing = self._seconds_to_place(X, found)
        left = began + FOR_CANDIDATES * seconds - time.perf_counter()
        most = rows_within(left, n, fast.rows, learning=learning, placing=placing)
        if most > rows:
            started = time.perf_counter()
            found = self._attempt(X, links, fast._replace(rows=most), limits, earlier)
            learning = (time.perf_counter() - started) / most
        for name, times in SLOWER:
            effort = EFFORTS[name]
            end = began + seconds - placing * max(0, n - effort.rows)
            if end - time.perf_counter() > times * learning * min(n, MANY):
                deadline = end - (1 - FOR_CANDIDATES) * seconds
                return self._attempt(X, links, effort, limits, earlier, deadline)
        return found

    def _seconds_to_place(self, X: Matrix, attempt: Attempt) -> float:
        """Return how long a point takes that an attempt has not learnt from, 0 on a cluster."""
        if on_cluster(X) is not None:
            return 0.0
        rest = np.setdiff1d(np.arange(X.shape[0]), attempt.plain.models.rows)[:PROBE]
        if len(rest) == 0:
            return 0.0
        began = time.perf_counter()
        models, found = attempt.plain.models, attempt.found
        soft_labels(models, found.members, found.co_trained, see(models, take_rows(X, rest)))
        return (time.perf_counter() - began) / len(rest)

    def _attempt(
        self,
        X: Matrix,
        links: Constraints,
        effort: Effort,
        limits: tuple[int, int] | None,
        earlier: Earlier | None = None,
        deadline: float = np.inf,
    ) -> Attempt:
        if earlier is not None and earlier.models is not None:
            plain = self._plain_of(earlier.models)
        else:
            rows = sample_rows(X, links, effort.rows, self._seed)
            rows = np.setdiff1d(
                rows, to_host(getattr(self, "_left_out", np.zeros(0))), assume_unique=True
            )
            plain = self._plain_of(self._sample_models(X, rows, effort))
        rows = plain.models.rows
        known = links.restrict(rows).resolve(rows)
        count = self._count(plain, known, links, effort, limits)
        start = None
        if earlier is not None and count.best == self.n_clusters_:  # a new cluster needs a start
            fresh = earlier.fresh[np.isin(links.ends, rows).all(axis=1)]
            others = plain.partitions(count.best)[0] if earlier.models is None else []
            labels = door(X).asarray(earlier.labels[rows], X)
            start = earlier_start(labels, others, count.best, known, fresh)
        found = combine(
            plain, known, count.best, effort, deadline=deadline, seed=self._seed, earlier=start
        )
        return Attempt(plain, count, found)

    def _sample_models(self, X: Matrix, rows: Integers, effort: Effort) -> SampleModels:
        if self._models is not None and np.array_equal(rows, self._models.rows):
            return self._models
        return fit_models(X, rows, effort, self._seed)

    def _plain_of(self, models: SampleModels) -> Plain:
        plain: Plain | None = getattr(self, "_unconstrained", None)  # a model from a file has none
        if plain is not None and plain.models is models:
            return plain
        return Plain(models, self._seed)

    def _count(
        self,
        plain: Plain,
        known: Constraints,
        links: Constraints,
        effort: Effort,
        limits: tuple[int, int] | None,
    ) -> Count:
        if isinstance(self.n_clusters, Integral):
            return Count(int(self.n_clusters))
        if limits is not None and limits[0] == limits[1]:
            return Count(limits[0])
        return choose_count(plain, known, links, effort, self._seed, limits)

    def _store(
        self, models: SampleModels, count: Count, found: Combination, final: FinalLabels
    ) -> None:
        self._models, kept = models, final.clusters
        self._members = [one._replace(W=one.W[:, kept]) for one in found.members]
        trained = found.co_trained
        self._co_trained = trained and trained._replace(
            labels=trained.labels[:, door(trained.labels).asarray(kept, trained.labels)]
        )
        self.n_clusters_ = len(final.clusters)
        self.runners_up_ = [one for one in count.scores if one[0] != count.best]
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
        self.__dict__.pop("_tree", None)
        return self

    @property
    def suspects_(self) -> list[tuple[Pair, float]]:
        """Every constraint with the probability that it is wrong, most likely first."""
        check_is_fitted(self)
        pairs, wrong = list(self._given), to_host(self.suspicion_)
        return [(pairs[i], float(wrong[i])) for i in np.argsort(-wrong, kind="stable")]

    @property
    def tree_(self) -> Tree:
        """The parts of the clusters and their unions, level by level; made when first used."""
        check_is_fitted(self)
        if "_tree" not in vars(self):
            if on_cluster(self._fit_X) is not None:
                raise TypeError(
                    "tree_ needs the fitted rows in this process, and they are on a Dask cluster: "
                    "fit all rows here, or a sample of them"
                )
            self._tree: Tree = self._tree_of(to_host(self.labels_))
        return self._tree

    def _tree_of(self, labels: Integers, leaves: int | None = None) -> Tree:
        """Return the Tree around labels of the fitted rows."""
        model = self._working()
        links = self._given.resolve(self._sample_id, n=len(labels))
        rows = tree_rows(model._fit_X, model._models, labels)
        rng = np.random.default_rng([self._seed, 4])
        return link_tree(rows, labels, links, leaves=leaves, rng=rng)

    def _check_X(self, X: Any, reset: bool = True) -> Any:
        X = open_rows(X)
        if on_cluster(X) is None:
            return super()._check_X(X, reset=reset)
        if self.size is not None or self.balanced or self.outliers is not None:
            raise TypeError(
                "size=, balanced= and outliers= need all rows together, and X is on a Dask "
                "cluster: leave them out, or pass X.compute()"
            )
        check_rows(self, X, reset=reset)
        if X.dtype.kind == "f":
            return X
        return X.then(lambda part, block: block.astype(np.float64), dtype=np.float64)

    def _place(self, X: Any, labels: Integers) -> None:
        if on_cluster(self._fit_X) is None:
            super()._place(X, labels)
            return
        labels[:] = np.argmax(placed(self._models, self._members, self._co_trained, X), axis=1)

    def _place_on_cluster(self, X: Any) -> Any:
        if X.named_as(self._fit_X):
            return self.labels_
        place = place_rows(self._models, self._members, self._co_trained)
        soft = X.then(place)
        return soft.then(lambda part, q: np.argmax(q, axis=1), width=None, dtype=np.int64).lazy()

    def _assign(self, X: Matrix) -> Integers:
        soft = self._soft_labels(X)
        labels = namespace(soft).argmax(soft, axis=1)
        if self.outliers is None:
            return labels
        stray = door(labels).asarray(self._stray_chance(X, labels) >= 0.5, labels)
        return namespace(labels).where(stray, -1, labels)

    def _stray_chance(self, X: Matrix, labels: Integers) -> Floats:
        """Return the probability (q,) that new points are strays."""
        return self._strays.probability(to_host(distances(self._fit_X, X)), to_host(labels))

    def _soft_labels(self, X: Matrix) -> Floats:
        seen = see(self._models, X)
        return soft_labels(self._models, self._members, self._co_trained, seen)

    def predict_proba(self, X: Points) -> Floats:
        """Return the probability of every cluster for every point, (n_samples, n_clusters_).

        Points given to `fit` have the probabilities they got there, constraints included.
        """
        check_is_fitted(self)
        caller = self._asked(X, "predict_proba")
        model = self._working()
        points = model._points(X, reset=False)
        if on_cluster(points) is not None or on_cluster(self._fit_X) is not None:
            raise TypeError(
                "predict_proba needs the fitted rows in this process, and they are on a Dask "
                "cluster: use predict, or probabilities_ for the rows of fit"
            )
        seen = model._seen(points)
        out = model.probabilities_[seen]
        (new,) = namespace(seen).nonzero(seen < 0)
        for start in range(0, len(new), model._block()):
            rows = new[start : start + model._block()]
            block = door(points).cast(points[rows], model._fit_X)
            out[rows] = model._soft_labels(block)
            if model.outliers is not None:
                labels = namespace(out).argmax(out[rows], axis=1)
                chance = door(out).asarray(model._stray_chance(block, labels), out)
                out[rows] *= (1 - chance)[:, None]
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
