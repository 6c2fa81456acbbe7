"""Check what users pass to an estimator. The code behind these checks trusts its input."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.utils.validation import validate_data

from linkwise._typing import Array, Integers, Matrix, OnConflict, OnUnknown
from linkwise._wording import counted
from linkwise.arrays import Caller, caller_of, door, dtype_name, namespace, on_device, take
from linkwise.blocks.cost import check_cost
from linkwise.blocks.passes import over_blocks
from linkwise.constraints import Constraints, as_constraints
from linkwise.constraints.cluster_numbers import is_range
from linkwise.constraints.convert import ConstraintsLike, looks_like_constraints
from linkwise.constraints.ids import as_array, as_ids, as_sample_id, lookup
from linkwise.exceptions import ConstraintWarning, warn

# flops for each entry of a dense matrix: a dense fit takes a few hundred products, and they are
# limited by memory rather than by arithmetic
DENSE_PRODUCTS = 20_000.0
# magnitudes of points whose squares, summed over rows, stay finite numbers other than 0
RANGE = {"float64": (1e-149, 1e149), "float32": (1e-15, 1e15)}
FEW = 8  # parts of a tuple of arrays; a longer list has one entry for each row
WEIGHTS = 1e-15, 1e15  # of constraints: their squares are ordinary numbers in float32 too


def check_range(X: Matrix, *, smallest: bool) -> None:
    """Refuse points whose squared distances overflow, or vanish, in their dtype."""
    name = dtype_name(X)
    low, high = RANGE[name]
    largest = max(float(X.max()), -float(X.min()))
    if largest > high or (smallest and 0 < largest < low):
        raise ValueError(
            f"X has values up to {largest:.3g} in magnitude; {name} squares of values "
            f"outside {low:g} to {high:g} overflow or vanish: scale X to ordinary numbers"
        )


def check_points(estimator: Any, X: Any, *, reset: bool = True, sparse_ok: bool = True) -> Matrix:
    """Return X as a finite float32 or float64 array or csr_array, checked by scikit-learn."""
    if on_device(X):
        return check_tensor(estimator, X, reset=reset)
    try:
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr" if sparse_ok else False,
            dtype=[np.float64, np.float32],
            reset=reset,
            ensure_min_samples=2 if reset else 1,
        )
    except (ValueError, TypeError) as error:
        if isinstance(error, ValueError) or hasattr(X, "columns"):
            check_columns(X)
        raise
    check_range(X, smallest=reset)
    return sparse.csr_array(X) if sparse.issparse(X) else X


def is_number(value: Any) -> bool:
    """Tell whether a value can be converted to a number."""
    try:
        float(value)
    except (ValueError, TypeError):
        return False
    return True


def check_columns(X: Any) -> None:
    """Refuse a table with a column that does not hold numbers."""
    try:
        table = np.asarray(X, dtype=object)
    except ValueError:  # rows of different lengths
        return
    if table.ndim != 2 or np.iscomplexobj(X):
        return
    for name, column in zip(getattr(X, "columns", range(table.shape[1])), table.T, strict=True):
        wrong = next((value for value in column.tolist() if not is_number(value)), None)
        if wrong is not None:
            raise ValueError(
                f"X: column {name!r} has values that are not numbers, such as {wrong!r}; leave the "
                "column out, or pass it as sample_id if it has the ids of the samples"
            )


def check_weights(links: Constraints) -> None:
    """Refuse weights whose squares and sums overflow or vanish."""
    low, high = WEIGHTS
    outside = np.flatnonzero((links.weight < low) | (links.weight > high))
    if len(outside):
        a, b, _, weight = next(iter(links.select(outside[:1])))
        raise ValueError(
            f"constraints: the pair ({a!r}, {b!r}) has weight {weight:.3g}; weights other than 0 "
            f"must be between {low:g} and {high:g}: multiply all by a common factor"
        )


def check_tensor(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X, a tensor on a device, as finite float32 or float64 numbers."""
    if "sparse" in str(X.layout):
        raise TypeError("X is a sparse tensor; pass X.to_dense(), or a sparse matrix of SciPy")
    kind = dtype_name(X)
    if "complex" in kind:
        raise ValueError("Complex data not supported: X is a complex tensor")
    if kind not in ("float32", "float64"):
        X = door(X).cast(X, "float32" if "float" in kind else "float64")
    X = check_rows(estimator, X, reset=reset)
    xp = namespace(X)
    if not bool(xp.isfinite(xp.sum(X))) and not bool(xp.all(xp.isfinite(X))):
        raise ValueError("Input X contains NaN or infinity; fill these entries, or remove the rows")
    check_range(X, smallest=reset)
    return X


def check_out(out: Any, caller: Caller, device: Any) -> None:
    """Refuse a file for labels that are to be arrays of another library, or on a device."""
    if out is not None and (caller.library != "numpy" or device is not None):
        where = f"X is {caller}" if device is None else f"device={str(device)!r}"
        raise TypeError(
            f"out= writes a file of NumPy, and {where}: leave it out, or pass X as a NumPy array"
        )


def check_mixed(name: str, value: Any, points: Caller) -> None:
    """Refuse arrays beside the points that are on a device, or of another library than the points.

    NumPy arrays go with points of every library. y, which is ignored, may be of any library, and
    on a device too unless the points are NumPy's. ``value`` may be a tuple or dict of arrays.
    """
    if name == "y" and points.library != "numpy":
        return
    parts = value.values() if isinstance(value, dict) else value
    several = isinstance(value, tuple | list | dict) and len(value) <= FEW
    for part in parts if several else (value,):
        if on_device(take(part)):
            raise TypeError(
                f"{name} has an array on {part.device}; constraints, ids and labels are computed "
                f"with on the CPU, whatever the device of X: pass them as NumPy arrays, .cpu()"
            )
        owner = caller_of(part)
        if name != "y" and owner.library not in ("numpy", points.library):
            raise TypeError(
                f"{name} has an array of {owner}, and X is {points}: pass {name} as a NumPy array"
            )


def check_y(y: object, *, instead: str = "pass them as constraints=") -> None:
    """Refuse constraints in the place of y, which estimators ignore."""
    if looks_like_constraints(y):
        raise TypeError(
            f"y looks like constraints ({type(y).__name__}), but fit ignores y: {instead}"
        )


def check_affinity(W: Matrix, *, square: bool, nonnegative: bool) -> None:
    """Refuse a precomputed matrix that is not an affinity."""
    if square and W.shape[0] != W.shape[1]:
        raise ValueError(f'"precomputed" needs a square matrix; got X of shape {W.shape}')
    if nonnegative and W.min() < 0:
        raise ValueError(
            f"an affinity must not be negative; X has {W.min():.3g} (pass cannot-links as "
            "constraints=)"
        )
    if square and abs(W - W.T).max() > 1e-5 * abs(W).max():
        raise ValueError("the matrix in X is not symmetric; pass (X + X.T) / 2 to symmetrise it")


def check_n_clusters(n_clusters: int, n: int) -> None:
    """Refuse more clusters than points, and True as their number."""
    if isinstance(n_clusters, bool):
        raise ValueError(f"n_clusters={n_clusters}: expected a whole number, such as 3")
    if n_clusters > n:
        raise ValueError(
            f"n_clusters={n_clusters} is more than n_samples={n}: ask for at most {n} clusters"
        )


def check_one_number(method: str, n_clusters: Any) -> None:
    """Refuse a range of numbers of clusters in a method that needs one number."""
    if isinstance(n_clusters, tuple | list | range):
        raise ValueError(
            f"n_clusters={n_clusters!r}: {method} needs one number of clusters, such as 5; "
            "LinkClustering(n_clusters=(2, 12)) takes a range"
        )


def check_cluster_range(limits: Any, n: int) -> None:
    """Refuse a range of numbers of clusters that is none, or that n points cannot have."""
    if not is_range(limits):
        raise ValueError(
            f"n_clusters={limits!r}: expected (least, most) with 2 <= least <= most, such as "
            "(2, 12)"
        )
    if limits[1] > n:
        raise ValueError(
            f"n_clusters={limits!r} reaches beyond n_samples={n}: ask for at most {n} clusters"
        )


def check_sizes(size: Any, balanced: bool, n_clusters: int) -> None:
    """Refuse limits of sizes that are none."""
    if size is None:
        return
    if balanced:
        raise ValueError("balanced=True and size are two ways to limit sizes: pass one of them")
    given = np.asarray(size)
    whole = given.dtype.kind in "iu" and given.shape in ((2,), (n_clusters, 2))
    if not whole or given.min() < 0 or np.any(given[..., 0] > given[..., 1]):
        raise ValueError(
            f"size={size!r}: expected whole numbers (least, most), least <= most, or a list of "
            f"{n_clusters} such pairs, one for each cluster"
        )


def extended_ids(old: Any, new: Any, n_new: int) -> Any:
    """Return the ids of old and new rows together, None if the rows have none."""
    if (old is None) != (new is None):
        fault = "and none were" if old is None else "as one was"
        raise ValueError(
            f"sample_id: {'ids were passed' if old is None else 'pass one id per new row'}, "
            f"{fault} passed to fit; name old and new rows alike"
        )
    if new is None:
        return None
    if len(new) != n_new:
        raise ValueError(f"sample_id needs one id per new row, {n_new}; got {len(new)}")
    first = as_sample_id(old)
    second = as_sample_id(new)
    known = np.flatnonzero(lookup(second, first) >= 0)
    if len(known):
        raise ValueError(
            f"sample_id: {second[known[0]]!r} is the id of an old row ({len(known)} such ids); "
            "pass new rows only"
        )
    return np.concatenate([first, second])


def check_memory(n: int, dtype: DTypeLike, *, copies: int, instead: str) -> None:
    """Refuse a fit that needs too much memory or time for ``copies`` dense n x n arrays."""
    memory = copies * n * n * np.dtype(dtype).itemsize
    check_cost(n, memory=memory, flops=DENSE_PRODUCTS * n * n, instead=instead)


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X, rows that are read in blocks, after a check of its shape and dtype."""
    shape, dtype = tuple(X.shape), X.dtype if on_device(X) else np.dtype(X.dtype)
    numbers = on_device(X) or dtype.kind in "biuf"
    if len(shape) != 2 or shape[1] < 1 or shape[0] < 1 + reset or not numbers:
        raise ValueError(
            f"X must be numbers of shape (n_samples >= {1 + reset}, n_features); got {dtype} of "
            f"shape {shape}"
        )
    if reset:
        estimator.n_features_in_ = shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
    elif shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return X


def check_no_weights(links: Constraints, method: str) -> None:
    """Refuse weights in a method that would ignore them."""
    if np.any(links.weight != 1):
        raise ValueError(
            f"constraints: {method} does not use weights, and a pair has weight "
            f"{links.weight[links.weight != 1][0]:g}; give every pair weight 1, "
            "constraints.with_weight(1), if all count the same"
        )


class IdColumn(NamedTuple):
    """Ids that stay where the rows are: in files, or on a cluster."""

    rows: Any  # one id per row, in blocks

    def find(self, wanted: Array) -> tuple[Array, Integers]:
        """Return those of the wanted ids that rows have, and the numbers of these rows, ascending.

        Every block looks for the ids among its own. An id of two rows is refused.
        """

        def look(part: slice, ids: Any) -> tuple[Integers, Integers]:
            ids = as_ids(as_array(ids, "sample_id"), lambda i: f"the id of row {part.start + i}")
            code = lookup(ids, wanted)
            here = np.flatnonzero(code >= 0)
            return code[here], part.start + here

        found = [pair for _, pair in over_blocks(look, self.rows, 1)] if len(wanted) else []
        code, row = (
            np.concatenate([np.empty(0, np.int64), *some])
            for some in (zip(*found, strict=True) if found else ((), ()))
        )
        distinct, count = np.unique(code, return_counts=True)
        if (count > 1).any():
            twice = distinct[count > 1][0]
            a, b = row[code == twice][:2].tolist()
            raise ValueError(
                f"sample_id names {wanted[twice : twice + 1].item()!r} twice, at rows {a} and {b}; "
                "ids must be unique"
            )
        return wanted[code], row


def check_sample_id(sample_id: Any, X: Any) -> Any:
    """Return sample_id, or an IdColumn if it names a column of X or is a collection of Dask."""
    if isinstance(sample_id, str):
        ids = getattr(X, "ids", None)
        if ids is None:
            raise ValueError(
                f"sample_id={sample_id!r} names a column of .parquet files or of a dask data "
                "frame, and X is neither; pass one id per row"
            )
        return IdColumn(ids)
    if hasattr(sample_id, "__dask_graph__"):
        from linkwise.blocks.cluster import rows_of_array

        ids = rows_of_array(sample_id, ndim=1)
        if ids.shape[0] != X.shape[0]:
            raise ValueError(
                f"sample_id needs one id per row of X, {X.shape[0]}; got {ids.shape[0]}"
            )
        return IdColumn(ids)
    return sample_id


class CheckedConstraints(NamedTuple):
    """Constraints that a fit may use."""

    by_id: Constraints  # pairs of the user's ids
    by_row: Constraints  # the same pairs in the same order, by row number
    n_dropped: int  # pairs left out because they name samples outside sample_id


def known_pairs(constraints: Constraints, sample_id: Any) -> Constraints:
    """Return the pairs with both ends in sample_id; warn if none is left."""
    if sample_id is None:
        raise ValueError(
            'on_unknown="drop" needs sample_id, one id per row of X, and constraints that name '
            "these ids: row numbers of the whole data would name other rows of a part"
        )
    kept = constraints.restrict(sample_id)
    if constraints and not kept:
        warn(
            f'on_unknown="drop" left out all {counted(constraints.n_pairs, "constraint")}: none '
            "has both ends in sample_id",
            ConstraintWarning,
        )
    return kept


def renumbered(links: Constraints, rows: Integers) -> Constraints:
    """Return pairs of row i as pairs of row rows[i]; rows ascend."""
    columns = links.sign, links.weight, links.source, links.event
    return Constraints.from_columns(rows[links.ids], links.pairs, *columns)


def check_constraints(
    constraints: ConstraintsLike,
    n: int,
    sample_id: Any = None,
    *,
    on_conflict: OnConflict = "raise",
    on_unknown: OnUnknown = "raise",
) -> CheckedConstraints:
    """Return CheckedConstraints for n rows.

    Pairs of weight 0 have no effect and are left out. ``on_unknown="drop"`` leaves out pairs with
    an end outside sample_id, and counts them. ``on_conflict="drop"`` leaves out the cannot-links
    that contradict must-links, with a warning.
    """
    given = as_constraints(constraints)
    if isinstance(sample_id, IdColumn):
        ids, rows = sample_id.find(given.active().ids)
        how: Any = {"on_conflict": on_conflict, "on_unknown": on_unknown}
        checked = check_constraints(constraints, len(ids), ids, **how)
        return checked._replace(by_row=renumbered(checked.by_row, rows))
    if given and on_unknown == "drop" and constraints is not given:
        raise TypeError(
            'on_unknown="drop" is for cross-validation, which slices tables and tuples of '
            "constraints as if they were rows: pass a Constraints object, as_constraints(...)"
        )
    if sample_id is not None and len(sample_id) != n:
        raise ValueError(f"sample_id needs one id per row of X, {n}; got {len(sample_id)}")
    given = given.active()
    check_weights(given.without_groups())
    known = known_pairs(given, sample_id) if given and on_unknown == "drop" else given
    n_dropped = given.n_pairs - known.n_pairs
    known = known.listed()  # methods go through all pairs
    if on_conflict == "raise":
        known.check()
    elif on_conflict == "drop":
        known, contradicted = known.drop_conflicts()
        if contradicted:
            a, b = next(iter(contradicted))[:2]
            warn(
                f"dropped {contradicted.n_pairs} of {known.n_pairs + contradicted.n_pairs} "
                f"constraints: must-links contradict these cannot-links, ({a!r}, {b!r}) first",
                ConstraintWarning,
            )
    return CheckedConstraints(known, known.resolve(sample_id, n=n), n_dropped)
