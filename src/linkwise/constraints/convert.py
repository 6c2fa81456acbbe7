"""Recognise and convert the other forms in which users write constraints."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from linkwise._typing import PairsLike, TableLike
from linkwise.constraints.ids import as_array
from linkwise.constraints.pair_tables import is_header
from linkwise.constraints.pairs import Constraints

ConstraintsLike: TypeAlias = Constraints | tuple[PairsLike, PairsLike] | TableLike | None
ACCEPTED = (
    "constraints must be a Constraints object, a (must_link, cannot_link) tuple, a dict with these "
    "keys, rows (id_a, id_b, kind[, weight]) as a list, an array or a data frame, "
    "a signed sparse matrix, or None"
)
PARTS = {"must_link", "cannot_link", "must_weight", "cannot_weight"}


def as_constraints(constraints: ConstraintsLike) -> Constraints:
    """Return a Constraints object from any other form of constraints.

    Parameters
    ----------
    constraints : None (no pairs), Constraints, a (must_link, cannot_link) tuple, a
        dict with these keys, rows (id_a, id_b, kind[, weight]) as a list, an
        (m, 3) or (m, 4) array, a dict of columns or a data frame, or a signed
        sparse matrix. A tuple of length 2 is always (must_link, cannot_link); a
        dense square matrix goes through Constraints.from_matrix.

    Examples
    --------
    >>> as_constraints(([(0, 5), (3, 8)], [(0, 9)]))
    Constraints(2 must-links, 1 cannot-link)
    >>> as_constraints([("a", "b", "must"), ("a", "c", "cannot")])
    Constraints(1 must-link, 1 cannot-link)
    """
    if constraints is None:
        return Constraints()
    if isinstance(constraints, Constraints):
        return constraints
    return _converted(constraints)


def _converted(constraints: Any) -> Constraints:
    if sparse.issparse(constraints):
        return Constraints.from_matrix(constraints)
    if isinstance(constraints, Mapping) and constraints.keys() <= PARTS:
        return Constraints(**constraints)
    if isinstance(constraints, Mapping) or hasattr(constraints, "columns"):
        return Constraints.from_table(constraints)
    if isinstance(constraints, tuple) and len(constraints) == 2:
        return Constraints(*constraints)
    if isinstance(constraints, list | tuple | np.ndarray):
        rows = as_array(constraints, "constraints")
        if rows.size == 0 or (rows.ndim == 2 and rows.shape[1] in (3, 4)):
            return Constraints.from_table(rows)
        raise TypeError(f"{ACCEPTED}; got a {type(constraints).__name__} of shape {rows.shape}")
    hint = "; a file is read by Constraints.read(path)" if isinstance(constraints, str) else ""
    raise TypeError(f"{ACCEPTED}; got {type(constraints).__name__}{hint}")


def looks_like_constraints(value: Any) -> bool:
    """Tell whether a value can only be meant as constraints, not as one label per row.

    >>> looks_like_constraints(([(0, 5)], [(0, 9)])), looks_like_constraints([0, 1, 1])
    (True, False)
    """
    if value is None or isinstance(value, Constraints):
        return value is not None
    if isinstance(value, Mapping) or hasattr(value, "columns"):
        names = list(getattr(value, "columns", value))
        if names and (set(map(str, names)) <= PARTS or is_header(names)):
            return True
    try:
        return bool(as_constraints(value))
    except (TypeError, ValueError):
        return False
