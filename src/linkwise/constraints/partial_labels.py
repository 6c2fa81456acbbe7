"""Turn labels, chunks and groups into pairs of rows.

Each row has a code, the number of its class, or -1 if the class is unknown. All
functions return rows (m, 2) in time proportional to the number of pairs. More
than MAX_PAIRS are refused, with the count, before any pair is made.
"""

from typing import Any

import numpy as np

from linkwise._typing import Array
from linkwise.constraints.ids import as_array

MAX_PAIRS = 5_000_000  # about 300 MB as Constraints; more are rarely intended


def check_count(count: int, remedy: str, limit: int = MAX_PAIRS) -> None:
    """Refuse to write out more than `limit` pairs."""
    if count > limit:
        raise ValueError(f"this makes {count:,} pairs, more than {limit:,}; {remedy}")


def class_codes(y: Any, unknown: Any, name: str) -> Array:
    """Return classes as 0..k-1, and -1 where y is `unknown`, None or NaN; shape (n,)."""
    y = as_array(y, name)
    if y.ndim != 1:
        raise ValueError(f"{name} must be one value per row, got shape {y.shape}")
    if y.dtype.kind in "biuf":
        known = y == y
        if unknown is not None:
            known &= y != unknown
        code = np.full(len(y), -1, dtype=np.int64)
        code[known] = np.unique(y[known], return_inverse=True)[1]
        return code
    code_of: dict[Any, int] = {}
    return np.array(
        [
            -1 if _is_unknown(v, unknown) else code_of.setdefault(v, len(code_of))
            for v in y.tolist()
        ],
        dtype=np.int64,
    )


def _is_unknown(value: Any, unknown: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value) or bool(value == unknown)
    except TypeError:  # pandas.NA answers no comparison
        return True


def by_class(code: Array) -> tuple[Array, Array]:
    """Return (rows, size): the known rows class by class, and the size of each class."""
    rows = np.argsort(code, kind="stable")
    rows = rows[code[rows] >= 0]
    return rows, np.bincount(code[rows]) if len(rows) else np.zeros(0, dtype=np.int64)


def all_within(code: Array, *, remedy: str, limit: int = MAX_PAIRS) -> Array:
    """Return every pair of rows of one class."""
    rows, size = by_class(code)
    check_count(int((size * (size - 1) // 2).sum()), remedy, limit)
    end = np.repeat(np.cumsum(size), size)
    later = end - np.arange(len(rows)) - 1  # how many of its class follow each row
    first = np.repeat(np.arange(len(rows)), later)
    nth = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return np.stack([rows[first], rows[first + 1 + nth]], axis=1)


def all_between(code: Array, classes: Array, *, remedy: str, limit: int = MAX_PAIRS) -> Array:
    """Return every pair of a row of class c and one of class d, for (c, d) in classes (r, 2)."""
    rows, size = by_class(code)
    start = np.cumsum(size) - size
    c, d = classes.T
    count = size[c] * size[d]
    check_count(int(count.sum()), remedy, limit)
    c, d, block = (
        np.repeat(c, count),
        np.repeat(d, count),
        np.repeat(np.cumsum(count) - count, count),
    )
    nth = np.arange(len(c)) - block
    return np.stack([rows[start[c] + nth // size[d]], rows[start[d] + nth % size[d]]], axis=1)


def chains(code: Array) -> Array:
    """Return a chain through each class, the fewest pairs that join it."""
    rows, _ = by_class(code)
    pairs = np.stack([rows[:-1], rows[1:]], axis=1)
    return pairs[code[pairs[:, 0]] == code[pairs[:, 1]]]


def check_choice(pairs: str) -> None:
    """Refuse an unknown value of ``pairs``."""
    if pairs not in ("all", "spanning"):
        raise ValueError(f"pairs must be 'all' or 'spanning', got {pairs!r}")


def label_pairs(code: Array, pairs: str) -> tuple[Array, Array]:
    """Return (rows (m, 2), sign (m,)) of the pairs that a partial labelling implies."""
    check_choice(pairs)
    if pairs == "all":
        known = np.where(code >= 0, 0, -1)
        remedy = 'pass pairs="spanning" (same closure), or draw some by Constraints.sample'
        ends = all_within(known, remedy=remedy)
    else:
        first = np.unique(code[code >= 0], return_index=True)[1]
        first = np.flatnonzero(code >= 0)[first]  # one row of each class
        one_each = np.full(len(code), -1)
        one_each[first] = 0
        remedy = "for so many classes use chunks: Constraints.from_chunks"
        ends = np.concatenate([chains(code), all_within(one_each, remedy=remedy)])
    return ends, np.where(code[ends[:, 0]] == code[ends[:, 1]], 1, -1)


def chunk_pairs(code: Array, pairs: str) -> Array:
    """Return must-linked rows (m, 2) that join each chunk."""
    check_choice(pairs)
    if pairs == "spanning":
        return chains(code)
    return all_within(code, remedy='pass pairs="spanning" (same closure)')


def set_pairs(together: list[Array], apart: list[Array]) -> tuple[Array, Array]:
    """Return pairs (m, 2) and signs of answers about sets.

    Parameters
    ----------
    together : list of arrays, the members of each set that belong together
    apart : list of arrays, the members of the same set that do not belong to them
    """
    chains_of = [np.stack([t[:-1], t[1:]], axis=1) for t in together]
    outside = [
        np.stack([np.full(len(a), t[0] if len(t) else -1, dtype=a.dtype), a], axis=1)
        for t, a in zip(together, apart, strict=True)
        if len(t)
    ]
    parts = [*chains_of, *outside]
    ends = np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.int64)
    n_must = sum(map(len, chains_of))
    return ends, np.repeat([1, -1], [n_must, len(ends) - n_must])
