"""What all estimators share: the order of a fit, and how points already seen are recognised."""

from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise._check import (
    CheckedConstraints,
    check_affinity,
    check_constraints,
    check_mixed,
    check_n_clusters,
    check_no_weights,
    check_one_number,
    check_out,
    check_points,
    check_sample_id,
    check_y,
)
from linkwise._typing import Array, FilePath, Integers, Matrix, Points
from linkwise.arrays import (
    Caller,
    caller_of,
    door,
    is_sparse,
    memory_in_words,
    namespace,
    on_device,
    send,
    take,
    to_host,
)
from linkwise.blocks.rows import is_external, new_labels, on_cluster, take_rows
from linkwise.blocks.sources import open_rows
from linkwise.constraints import Constraints, Pair
from linkwise.constraints.convert import ConstraintsLike
from linkwise.constraints.pairs import broken
from linkwise.estimators.summary import FittedSummary

POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
SIGMA = [POSITIVE, str]
STRAY = -1  # label of rows in no cluster

Estimator = TypeVar("Estimator", bound=BaseEstimator)
Arguments = ParamSpec("Arguments")


def whole(
    fit: Callable[Concatenate[Estimator, Arguments], Estimator],
) -> Callable[Concatenate[Estimator, Arguments], Estimator]:
    """Make a fit take effect completely or not at all.

    The fit runs on a copy of the estimator, which shares its parts. One assignment at the end gives
    the estimator the state of the copy. After an error or an interrupt the estimator is therefore
    as it was before. A fit replaces attributes; it never writes into the arrays of an older one.
    """

    @wraps(fit)
    def fit_whole(
        self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Estimator:
        copy = object.__new__(type(self))
        copy.__dict__ = dict(vars(self))
        with memory_in_words():
            fit(copy, *args, **kwargs)
        self.__dict__ = copy.__dict__
        return self

    return fit_whole


def match_rows(X: Matrix, queries: Matrix) -> Integers:
    """Return for every query the first row of X equal to it, -1 where there is none.

    >>> match_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([ 1, -1])
    """
    return door(X).match_rows(X, queries)


def seen_rows(fitted: Matrix, X: Matrix) -> Integers:
    """Return the fitted row that every row of X equals, -1 where there is none.

    The fitted points are recognised as a whole, because results may differ for equal rows of them.
    """
    tools = door(X)
    if X.shape == fitted.shape and tools.equal(fitted, X):
        return tools.asarray(np.arange(X.shape[0]), X)
    return match_rows(fitted, X)


def broken_links(links: Constraints, labels: Any) -> Array:
    """Return which pairs of row numbers are broken, (m,); only labels of linked rows are read."""
    if on_cluster(labels) is None:
        return links.violated(to_host(labels), stray=STRAY)
    if not links:
        return np.zeros(0, dtype=bool)
    a, b = take_rows(labels, links.ids)[links.pairs].T
    return (links.weight > 0) & broken(a, b, links.sign, STRAY)


def check_parts_out(out: FilePath | None, X: Any) -> None:
    """Refuse one file for the labels of rows on a cluster."""
    if out is not None and on_cluster(X) is not None:
        raise TypeError(
            "out= names one file of this process, and X is on a Dask cluster: leave it out and "
            "store labels_, a collection of Dask, or use linkwise fit -o FOLDER"
        )


class Traits(NamedTuple):
    """What a method supports; `linkwise methods` builds its table from it."""

    constrained: bool = True  # uses constraints at all
    hard: bool = False  # all constraints kept, or InfeasibleConstraints
    weights: bool = True  # weights of pairs count (otherwise they are refused)
    new_points: bool = True  # has predict or transform
    sparse: bool = True  # takes sparse points as they are
    device: bool = False  # computes on the device of the points
    rows: int = 100_000  # number of points that a laptop can cluster with it


class CallerArrays(FittedSummary, BaseEstimator):
    """Fitted attributes as arrays of the library and device that the points came from."""

    _told = "labels_"  # the attribute that tells whose arrays they are
    _device: Any = None  # that the caller named; None: the model computes where the points are

    def _arrays(self) -> dict[str, Any]:
        """Return the fitted attributes that are arrays of numbers."""
        held = vars(self).keys() - self.get_params(deep=False).keys() - {"_sample_id"}
        values = {name: vars(self)[name] for name in held}
        return {
            name: value
            for name, value in values.items()
            if (isinstance(value, np.ndarray) and value.dtype.kind in "biuf")
            or caller_of(value).library != "numpy"
        }

    def _give(self, caller: Caller) -> Self:
        """Turn the fitted attributes into arrays of the caller.

        What is private stays on a device that the caller named.
        """
        if caller.library != "numpy" or self._device is not None:
            given = {
                name: caller.give(value)
                for name, value in self._arrays().items()
                if self._device is None or not name.startswith("_")
            }
            self.__dict__.update(given)
        return self

    def _working(self) -> Self:
        """Return this estimator if it computes with its arrays, else a copy that does."""
        if self._device is None and caller_of(getattr(self, self._told)).library == "numpy":
            return self
        copy = object.__new__(type(self))
        taken = {
            name: value if is_sparse(value) else send(take(value), self._device)
            for name, value in self._arrays().items()
        }
        copy.__dict__ = vars(self) | taken
        return copy

    def _asked(self, X: Any, method: str) -> Caller:
        """Return whose array X is; refuse one of another library or device than in fit."""
        caller, fitted = caller_of(X), caller_of(getattr(self, self._told))
        if not caller.same(fitted):
            raise ValueError(
                f"Inputs passed to {type(self).__name__}.{method}() must use the same namespace "
                f"and the same device as those passed to fit(): X is {caller}, and the model was "
                f"fitted to {fitted}. Pass X as {fitted}; linkwise.save and linkwise.load turn a "
                "model into one of NumPy"
            )
        return caller


class ConstrainedClusterer(ClusterMixin, CallerArrays):
    """A clusterer that takes constraints. Subclasses implement `_learn`."""

    traits = Traits()

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_ONE],
        "on_conflict": [StrOptions({"raise", "drop", "keep"})],
        "on_unknown": [StrOptions({"raise", "drop"})],
        "n_init": [AT_LEAST_ONE],
        "random_state": ["random_state"],
    }
    _precomputed_by = "affinity"  # the parameter that may say "precomputed"
    _nonnegative = True  # what a precomputed matrix must be

    labels_: Integers
    violations_: list[Pair]
    n_dropped_: int
    n_features_in_: int
    feature_names_in_: Array
    _fit_X: Matrix
    _sample_id: Any
    _seed: int
    _n_links: tuple[int, int]  # must-links and cannot-links of the last fit
    _label_rows: Any  # ClusterRows, if the points are on a cluster

    @whole
    def fit(
        self,
        X: Points,
        y: ArrayLike | None = None,
        *,
        constraints: ConstraintsLike = None,
        sample_id: ArrayLike | None = None,
        out: FilePath | None = None,
        device: Any = None,
    ) -> Self:
        """Cluster the points. After an error or an interrupt the estimator is as it was before.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
            The points. An array may be of any library that follows the array API standard, such
            as torch; results are arrays of the same library on the same device. With
            ``"precomputed"`` the matrix (n_samples, n_samples) itself. Kept for `predict`, by
            reference: do not overwrite it. Also the name of a .npy file, or any object with
            ``shape``, ``dtype`` and row slicing: with ``affinity="anchors"`` it is read in blocks
            and need not fit in memory. A pattern such as ``"parts/part-*.parquet"`` names rows in
            several .npy or .parquet files. With ``affinity="anchors"`` also a dask array or data
            frame; the workers of the ambient ``distributed.Client`` then process it, and rows
            named by a pattern, and ``labels_`` is a dask array or series.
        y : ignored
            Constraints in its place are refused: pass them as ``constraints=``.
        constraints : Constraints, or what `as_constraints` accepts, or None
            Pairs that belong together or apart.
        sample_id : array (n_samples,), str or None
            One id per row; constraints then name these ids. Without it they name row numbers. For
            .parquet files and dask data frames the name of the column of ids, for a dask array
            also another dask array.
        out : str or None
            Name of a new .npy file for the labels; ``labels_`` is then that file, memory-mapped.
        device : str or None
            Device of torch to compute on, such as "cuda". The points are copied to it, and results
            are arrays of the library of X. None computes where X is.

        Returns
        -------
        self
        """
        self._validate_params()
        caller = caller_of(X)
        for name, value in (("constraints", constraints), ("sample_id", sample_id), ("y", y)):
            check_mixed(name, value, caller)
        check_y(y)
        check_out(out, caller, device)
        if device is not None:
            self._check_device(f"device={str(device)!r}", "leave device out")
        self._device = device
        id_column = sample_id if isinstance(sample_id, str) else None
        points = self._points(X, id_column=id_column)
        sample_id = check_sample_id(sample_id, points)
        check_parts_out(out, points)
        self._check_clusters(points.shape[0])
        checked = self._check_links(constraints, points.shape[0], sample_id)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._fit_X, self._sample_id = points, sample_id
        self._prepare(points, np.random.default_rng([self._seed, 0]))
        self._fit_links(checked, out)
        return self._give(caller)

    @whole
    def refit(self, constraints: ConstraintsLike = None, *, out: FilePath | None = None) -> Self:
        """Cluster the fitted points again under other constraints.

        What does not depend on constraints is kept: the graph, and where the method allows it
        the eigenvectors and factors. The labels are those that `fit` with these constraints gives
        (for a ``random_state`` that is a number). After an error or an interrupt the estimator is
        as it was before.

        Parameters
        ----------
        constraints : Constraints, or what `as_constraints` accepts, or None
            All of them, not only new ones: ``model.refit(links + more)``. Rows are named as in
            `fit`.
        out : str or None, as in `fit`

        Returns
        -------
        self
        """
        check_is_fitted(self)
        caller = caller_of(self.labels_)
        check_mixed("constraints", constraints, caller)
        checked = self._check_links(constraints, self._fit_X.shape[0], self._sample_id)
        check_out(out, caller, self._device)
        self.__dict__ = self._working()._fit_links(checked, out)._give(caller).__dict__
        return self

    def _validate_params(self) -> None:
        if tuple not in self._parameter_constraints["n_clusters"]:
            check_one_number(type(self).__name__, self.n_clusters)
        super()._validate_params()

    def extend(
        self,
        X: Points,
        *,
        constraints: ConstraintsLike = None,
        sample_id: ArrayLike | None = None,
    ) -> Self:
        """Refuse new rows: only `LinkClustering` keeps old clusters while it learns from new rows.

        Raises
        ------
        TypeError, always
        """
        name = type(self).__name__
        places = hasattr(self, "predict")
        instead = f"{name}.predict places them" if places else f"{name} places no new rows"
        raise TypeError(
            f"{name} has no way to add rows and keep the old clusters: {instead}, fit clusters all "
            "rows anew, and LinkClustering.extend does both"
        )

    def _check_clusters(self, n: int) -> None:
        """Refuse a number of clusters that n points cannot have."""
        check_n_clusters(self.n_clusters, n)

    def _check_links(
        self, constraints: ConstraintsLike, n: int, sample_id: Any
    ) -> CheckedConstraints:
        """Return the CheckedConstraints that this method can use."""
        checked = check_constraints(
            constraints, n, sample_id, on_conflict=self.on_conflict, on_unknown=self.on_unknown
        )
        if self.traits.hard and self._must_fit():  # here, because pairs have the user's ids
            checked.by_id.drop_conflicts()[0].check(self.n_clusters)
        if not self.traits.weights:
            check_no_weights(checked.by_row, type(self).__name__)
        return checked

    def _fit_links(self, checked: CheckedConstraints, out: FilePath | None) -> Self:
        """Cluster the stored points under CheckedConstraints."""
        X = self._fit_X
        rng = np.random.default_rng([self._seed, 1])
        with new_labels(out, X.shape[0]) as target:
            labels = self._learn(X, checked.by_row, rng, out=target)
            if target is not None and labels is not target:
                target[:] = labels
        self.labels_ = labels if out is None else np.load(out, mmap_mode="r")
        broken = broken_links(checked.by_row, self.labels_)
        self.violations_ = list(checked.by_id.select(broken))
        self._n_links = checked.by_id.n_must, checked.by_id.n_cannot
        self.n_dropped_ = checked.n_dropped
        remote = on_cluster(labels)
        if remote is not None:
            self._label_rows, self.labels_ = remote, remote.lazy()
        return self

    def fit_predict(
        self,
        X: Points,
        y: ArrayLike | None = None,
        *,
        constraints: ConstraintsLike = None,
        sample_id: ArrayLike | None = None,
        out: FilePath | None = None,
        device: Any = None,
    ) -> Integers:
        """Cluster the points and return their labels; see `fit`."""
        return self.fit(
            X, y, constraints=constraints, sample_id=sample_id, out=out, device=device
        ).labels_

    def _must_fit(self) -> bool:
        """Tell whether a hard method must keep all constraints with n_clusters clusters."""
        return True

    def _precomputed(self) -> bool:
        return getattr(self, self._precomputed_by, None) == "precomputed"

    def _points(self, X: Any, *, reset: bool = True, id_column: str | None = None) -> Any:
        """Return X, checked, where this model computes."""
        points = self._check_X(open_rows(take(X), id_column=id_column), reset=reset)
        return send(points, self._device)

    def _check_X(self, X: Any, reset: bool = True) -> Any:
        X = open_rows(X)
        if on_cluster(X) is not None:
            self._refuse_cluster()
        if is_external(X):
            X = np.asarray(X)
        if on_device(X):
            self._check_device(f"X is on {X.device}", "pass X.cpu()")
        X = check_points(self, X, reset=reset, sparse_ok=self.traits.sparse)
        if self._precomputed():
            check_affinity(X, square=reset, nonnegative=self._nonnegative)
        return X

    def _refuse_cluster(self) -> None:
        """Say what reads rows on a cluster instead."""
        anchors = ' with affinity="anchors"' if "affinity" in self.get_params(deep=False) else ""
        raise TypeError(
            f"X is on a Dask cluster, and {type(self).__name__} reads all rows into this process: "
            + (f"use it{anchors}" if anchors else 'use CCSKL with affinity="anchors"')
            + ", or pass X.compute()"
        )

    def _check_device(self, where: str, instead: str) -> None:
        """Refuse points on a device if this method computes on the CPU."""
        if not self.traits.device:
            raise TypeError(f"{type(self).__name__} computes on the CPU, and {where}: {instead}")

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        """Store results that do not depend on constraints; `refit` does not call this again."""

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        """Store what was learnt and return labels (n,).

        Methods that label block by block write the labels to ``out``, an int array (n,), and
        return it. ``out`` is None where the labels need no file.
        """
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = self.traits.sparse
        tags.input_tags.pairwise = self._precomputed()
        tags.input_tags.positive_only = self._precomputed() and self._nonnegative
        return tags


class InductiveClusterer(ConstrainedClusterer):
    """A clusterer that also places new points. Subclasses implement `_learn` and `_assign`."""

    def predict(self, X: Points, *, out: FilePath | None = None) -> Integers:
        """Return the cluster of every point.

        Points that were given to `fit` keep the label they got there. The learned embedding or
        kernel places all others.

        Parameters
        ----------
        X : array or sparse matrix (n_samples, n_features), or rows in a file as in `fit`
            With ``"precomputed"``: affinities (n_samples, n_samples_fit) to the fitted points.
        out : str or None
            Name of a new .npy file for the labels. The result is then that file, memory-mapped.

        Returns
        -------
        array (n_samples,) of int
        """
        check_is_fitted(self)
        caller = self._asked(X, "predict")
        check_out(out, caller, self._device)
        model = self._working()
        points = model._points(X, reset=False)
        check_parts_out(out, points)
        if on_cluster(points) is not None:
            return model._place_on_cluster(points)
        with memory_in_words(), new_labels(out, points.shape[0]) as target:
            labels = target
            if labels is None:
                labels = door(points).empty(points.shape[0], points, "int64")
            model._place(points, labels)
        return caller.give(labels) if out is None else np.load(out, mmap_mode="r")

    def _block(self) -> int:
        """Return the number of new points to assign at a time."""
        return 2048

    def _place(self, X: Any, labels: Integers) -> None:
        """Write the cluster of every row of X to labels."""
        seen = self._seen(X)
        labels[:] = self.labels_[seen]
        (new,) = namespace(seen).nonzero(seen < 0)
        block = self._block()
        for start in range(0, len(new), block):
            rows = new[start : start + block]
            labels[rows] = self._assign(door(X).cast(X[rows], self._fit_X))

    def _place_on_cluster(self, X: Any) -> Any:
        """Return the clusters of rows on a cluster, a lazy object of the kind of X."""
        raise TypeError(f"{type(self).__name__} does not place rows on a cluster; pass an array")

    def _seen(self, X: Matrix) -> Integers:
        """Return the fitted row that every row of X equals, -1 where there is none."""
        return seen_rows(self._fit_X, X)

    def _assign(self, X: Matrix) -> Integers:
        """Return labels (q,) of points that were not in fit."""
        raise NotImplementedError
