"""The one door for what users pass to an estimator. Inside it, everything is trusted."""

import sys
import warnings
from types import FrameType

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from linkwise.blocks.cost import check_cost
from linkwise.constraints import as_constraints
from linkwise.constraints.convert import looks_like_constraints
from linkwise.exceptions import ConstraintWarning

DENSE_PRODUCTS = 20_000.0  # flops an entry: some hundreds of products, bound by memory


def check_points(estimator, X, *, reset=True, sparse_ok=True):
    """Return X as a finite float32 or float64 array or csr_array, checked by scikit-learn."""
    X = validate_data(
        estimator,
        X,
        accept_sparse="csr" if sparse_ok else False,
        dtype=[np.float64, np.float32],
        reset=reset,
        ensure_min_samples=2 if reset else 1,
    )
    return sparse.csr_array(X) if sparse.issparse(X) else X


def check_y(y):
    """Refuse constraints in the place of y, which estimators ignore."""
    if looks_like_constraints(y):
        raise TypeError(
            f"y is a {type(y).__name__} of constraints, but fit ignores y: pass them as "
            "constraints="
        )


def check_affinity(W, *, square, nonnegative):
    """Refuse a precomputed matrix that cannot be one."""
    if square and W.shape[0] != W.shape[1]:
        raise ValueError(f'"precomputed" needs a square matrix; got X of shape {W.shape}')
    if nonnegative and W.min() < 0:
        raise ValueError(
            f"an affinity is never negative; X has {W.min():.3g} (cannot-links go into constraints)"
        )
    if square and abs(W - W.T).max() > 1e-5 * abs(W).max():
        raise ValueError("the matrix in X is not symmetric; pass (X + X.T) / 2 if that is meant")


def check_n_clusters(n_clusters, n):
    """Refuse more clusters than points, and True for a number of them."""
    if isinstance(n_clusters, bool):
        raise ValueError(f"n_clusters={n_clusters}: expected a whole number, such as 3")
    if n_clusters > n:
        raise ValueError(
            f"n_clusters={n_clusters} is more than n_samples={n}: ask for at most {n} clusters"
        )


def check_memory(n, dtype, *, copies, instead):
    """Refuse what would not fit: ``copies`` arrays of n x n, products with which take the time."""
    memory = copies * n * n * np.dtype(dtype).itemsize
    check_cost(n, memory=memory, flops=DENSE_PRODUCTS * n * n, instead=instead)


def check_rows(estimator, X, *, reset):
    """Return X, rows that are read in blocks, if their shape and dtype will do."""
    shape, dtype = tuple(X.shape), np.dtype(X.dtype)
    if len(shape) != 2 or shape[1] < 1 or shape[0] < 1 + reset or dtype.kind not in "biuf":
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


def check_no_weights(links, method):
    """Refuse weights where they would be ignored."""
    if np.any(links.weight != 1):
        raise ValueError(
            f"constraints: {method} knows no weights and a pair has weight "
            f"{links.weight[links.weight != 1][0]:g}; give every pair weight 1, "
            "constraints.with_weight(1), if all are meant alike"
        )


def inside_resampling():
    """Tell whether scikit-learn's cross-validation is what called fit.

    It hands over a part of the rows without a word. Pairs that name other rows are then meant
    to be left out (with sample_id), or cannot be told (with row numbers); anywhere else an
    unknown id is a mistake. The final refit of a search is an ordinary call.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "sklearn.model_selection._validation":
            return True
        frame = frame.f_back
    return False


def check_constraints(constraints, n, sample_id=None, *, on_conflict="raise"):
    """Return the constraints, and the same pairs by row number.

    Pairs of weight 0 say nothing and are left out of both; so are, inside scikit-learn's
    cross-validation, pairs with an end outside the rows at hand, and with
    ``on_conflict="drop"`` the cannot-links that contradict must-links (with a warning).
    """
    given = as_constraints(constraints)
    resampled = bool(given) and inside_resampling()
    if resampled and constraints is not given:
        raise TypeError(
            "cross-validation slices tables and tuples of constraints as if they were rows: pass a "
            "Constraints object, as_constraints(...)"
        )
    if sample_id is not None and len(sample_id) != n:
        raise ValueError(f"sample_id needs one id per row of X, {n}; got {len(sample_id)}")
    given = given.active()
    if resampled:
        if sample_id is None:
            raise ValueError(
                "cross-validation passes a part of the rows, and constraints that name row "
                "numbers of the whole would fall on the wrong points: pass sample_id, one id per "
                "row, and constraints that name these ids"
            )
        given = given.restrict(sample_id)
    if on_conflict == "raise":
        given.check()
    elif on_conflict == "drop":
        given, dropped = given.drop_conflicts()
        if dropped:
            a, b = next(iter(dropped))[:2]
            warnings.warn(
                f"dropped {dropped.n_pairs} of {given.n_pairs + dropped.n_pairs} constraints: "
                f"must-links contradict these cannot-links, ({a!r}, {b!r}) first",
                ConstraintWarning,
                stacklevel=3,
            )
    return given, given.resolve(sample_id, n=n)
