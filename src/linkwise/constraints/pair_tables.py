"""Read pairs from rows (id_a, id_b, kind, weight) and from signed matrices.

Pairs are three columns: ends, ids (m, 2); sign (m,) in {+1, -1}; weight (m,) >= 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from linkwise._typing import Array
from linkwise.constraints.ids import At, as_array, as_ids, check_ends, join

PairColumns: TypeAlias = tuple[Array, NDArray[np.int8], NDArray[np.float64]]  # ends, sign, weight
Places: TypeAlias = dict[str, Any]  # part of a pair -> number of its column, or None

KINDS = {"must": 1, "must-link": 1, "must_link": 1, "same": 1, "+1": 1, "1": 1, "1.0": 1}
KINDS |= {"cannot": -1, "cannot-link": -1, "cannot_link": -1, "different": -1, "-1": -1, "-1.0": -1}

COLUMNS = {"a": ("id_a", "a"), "b": ("id_b", "b"), "kind": ("kind", "sign", "link")}
COLUMNS["weight"] = ("weight",)


def kind_of(value: Any) -> int:
    """Return +1 or -1 for a way to write a kind, 0 for anything else."""
    if isinstance(value, str):
        return KINDS.get(value.strip().lower(), 0)
    if isinstance(value, bool | np.bool_):
        return 0
    try:
        return int(value) if value in (1, -1) else 0
    except (TypeError, ValueError):
        return 0


def as_signs(values: Array, at: At) -> NDArray[np.int8]:
    """Return kinds, written in any way, as int8 +1 and -1."""
    if values.dtype.kind in "iuf":
        sign = np.where(values == 1, 1, np.where(values == -1, -1, 0))
    else:
        flat = values.tolist()
        # Each distinct spelling is read once; the type distinguishes True from 1.
        known = {key: kind_of(key[1]) for key in set(zip(map(type, flat), flat, strict=True))}
        sign = np.array([known[key] for key in zip(map(type, flat), flat, strict=True)], dtype=int)
    if (sign == 0).any():
        i = np.flatnonzero(sign == 0)[0]
        raise ValueError(
            f"{at(i)}: kind must be 'must' or 'cannot' (or +1, -1, 'same', 'different'), "
            f"got {values.item(i)!r}"
        )
    return sign.astype(np.int8)


def as_weights(values: Any, m: int, at: At) -> NDArray[np.float64]:
    """Return m weights as float64; None means 1 throughout, a number is repeated."""
    if values is None:
        return np.ones(m)
    array = np.full(m, values) if np.ndim(values) == 0 else as_array(values, "weight")
    if array.shape != (m,):
        name = at(0).removesuffix("[0]")
        raise ValueError(f"{name}: expected one weight or {m}, got shape {array.shape}")
    try:
        weight = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        i = next(i for i, value in enumerate(array) if not _is_number(value))
        raise ValueError(f"{at(i)}: weight must be a number >= 0, got {array[i]!r}") from error
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        i = bad[0]
        raise ValueError(
            f"{at(i)}: weight must be finite and >= 0, got {weight[i]}; "
            "the kind is must or cannot, the weight its strength"
        )
    return weight


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def columns_of(a: Array, b: Array, kind: Array, weight: Any, at: At) -> PairColumns:
    """Return (ends, sign, weight), checked, from four columns (weight may be None)."""
    ends = join(as_ids(a, at), as_ids(b, at)).reshape(2, -1).T  # (m, 2)
    return check_ends(ends, at), as_signs(kind, at), as_weights(weight, len(ends), at)


def find_columns(names: Sequence[object]) -> Places:
    """Return {"a": j, "b": j, "kind": j, "weight": j}, None where a part is not named."""
    lower = [str(name).strip().lower() for name in names]
    twice = [alias for aliases in COLUMNS.values() for alias in aliases if lower.count(alias) > 1]
    if twice:
        raise ValueError(f"two columns are called {twice[0]!r}; rename or remove one of them")
    return {
        part: next((lower.index(alias) for alias in aliases if alias in lower), None)
        for part, aliases in COLUMNS.items()
    }


def is_header(names: Sequence[object]) -> bool:
    """Tell whether both ids and the kind are among the column names."""
    found = find_columns(names)
    return None not in (found["a"], found["b"], found["kind"])


def place_columns(names: Sequence[object]) -> Places:
    """Return {part: j} by name, or by place where no part is named."""
    found = find_columns(names)
    missing = [COLUMNS[part][0] for part in ("a", "b", "kind") if found[part] is None]
    if not missing:
        return found
    if len(missing) == 3 and len(names) in (3, 4):
        return {"a": 0, "b": 1, "kind": 2, "weight": 3 if len(names) == 4 else None}
    raise ValueError(
        f"table has the columns {list(names)}, without {', '.join(missing)}; "
        "expected id_a, id_b, kind and optionally weight"
    )


def read_table(table: Any) -> PairColumns:
    """Return (ends, sign, weight) from rows, a mapping of columns, or a data frame."""
    if hasattr(table, "columns") or isinstance(table, Mapping):
        names = list(table.columns if hasattr(table, "columns") else table)
        columns = [as_array(table[name], f"column {name}") for name in names]
    else:
        rows = as_array(table, "table")
        if rows.size == 0:
            rows = rows.reshape(0, 3)
        if rows.ndim != 2:
            raise ValueError(
                f"table must have rows (id_a, id_b, kind) or (id_a, id_b, kind, weight), "
                f"got shape {rows.shape}"
            )
        names, columns = list(range(rows.shape[1])), list(rows.T)
    place = place_columns(names)
    a, b, kind = (columns[place[part]] for part in ("a", "b", "kind"))
    if not a.shape == b.shape == kind.shape or a.ndim != 1:
        raise ValueError(f"table columns differ in length: {a.shape}, {b.shape} and {kind.shape}")
    weight = None if place["weight"] is None else columns[place["weight"]]
    return columns_of(a, b, kind, weight, lambda i: f"table row {i}")


def read_matrix(Q: Any) -> PairColumns:
    """Return (ends, sign, weight) from a signed matrix, q_ij = sign * weight.

    The pairs are in one triangle, or equal in both.
    """
    Q = Q if sparse.issparse(Q) else np.asarray(Q)
    if Q.ndim != 2 or Q.shape[0] != Q.shape[1]:
        raise ValueError(f"Q must be square, one row and column per point, got shape {Q.shape}")
    Q = sparse.coo_array(sparse.csr_array(Q))
    Q.sum_duplicates()
    i, j, q = Q.row.astype(np.int64), Q.col.astype(np.int64), Q.data.astype(np.float64)
    i, j, q = i[q != 0], j[q != 0], q[q != 0]
    if (i == j).any():
        p = i[i == j][0]
        raise ValueError(f"Q[{p}, {p}] is not zero: a point is paired with itself; clear diag(Q)")
    if not np.isfinite(q).all():
        p = np.flatnonzero(~np.isfinite(q))[0]
        raise ValueError(f"Q[{i[p]}, {j[p]}] = {q[p]} is not finite")

    a, b = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((b, a))
    a, b, q = a[order], b[order], q[order]
    again = np.zeros(len(a), dtype=bool)  # the other triangle's entry
    again[1:] = (a[1:] == a[:-1]) & (b[1:] == b[:-1])
    twin = np.flatnonzero(again)
    # A product such as W.T @ W is symmetric only up to rounding.
    unequal = twin[~np.isclose(q[twin], q[twin - 1], rtol=1e-9, atol=0)]
    if len(unequal):
        p = unequal[0]
        raise ValueError(
            f"Q is not symmetric: ({a[p]}, {b[p]}) has {q[p - 1]} in one triangle and {q[p]} in "
            "the other; fill one triangle, or make both equal"
        )
    a, b, q = a[~again], b[~again], q[~again]
    return np.stack([a, b], axis=1), np.sign(q).astype(np.int8), abs(q)
