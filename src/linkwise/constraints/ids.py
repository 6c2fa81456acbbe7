"""Ids of points: integers or strings, never floats, never both.

UUIDs and time stamps become strings, see `id_text`.

Every id that a user passes is checked here. Inside the library, ids are an int64
array or an object array of str, and pairs are codes 0..u-1 into the u distinct ids.

`at(i)` in the signatures below names the i-th entry in an error message, for
example "must_link[3]" or "links.csv, line 4".
"""

import datetime
import numbers
import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NoReturn, TypeAlias

import numpy as np

from linkwise._typing import Array

DATE = re.compile(r"\d{4}-\d\d-\d\d")
MIDNIGHT = " 00:00:00"
At: TypeAlias = Callable[[int], str]


def as_array(values: Any, name: str) -> Array:
    """Return values as an array in which every element keeps its own type.

    NumPy would silently turn the list [(1, "a")] into strings and [(True, 2)]
    into integers; lists therefore become object arrays.
    """
    iterable = hasattr(values, "__iter__") or hasattr(values, "__array__")
    if isinstance(values, str | bytes) or not iterable:
        raise TypeError(f"{name} must be a list or an array, got {values!r}")
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    if hasattr(values, "__array__"):
        return np.asarray(values)
    values = values if isinstance(values, list | tuple) else list(values)
    try:
        return np.array(values, dtype=object)
    except ValueError:  # rows of unequal length
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array


def as_ids(values: Array, at: At) -> Array:
    """Return an array of ids as int64 or as objects of type str, same shape."""
    kind = values.dtype.kind
    if values.size == 0:
        return np.empty(values.shape, dtype=np.int64)
    if kind == "i":
        return values.astype(np.int64)
    if kind in "uf":
        return _from_numbers(values, at)
    if kind in "OUT":
        return _from_objects(values.astype(object), at)
    if kind == "M":
        texts = np.array([id_text(value) for value in values.ravel()], dtype=object)
        return _from_objects(texts.reshape(values.shape), at)
    raise TypeError(f"{at(0)}: an id must be an integer or a string, got {values.dtype} values")


def _from_numbers(values: Array, at: At) -> Array:
    # Not all integers from 2^53 on are floats: such an id may be the rounding of another.
    limit = 2**53 if values.dtype.kind == "f" else 2**63 - 1
    with np.errstate(invalid="ignore"):
        bad = ~((values == np.trunc(values)) & (abs(values) <= limit))
    if bad.any():
        i = np.argwhere(bad)[0]
        _refuse(values[tuple(i)], at(i[0]))
    return values.astype(np.int64)


def _from_objects(values: Array, at: At) -> Array:
    flat = values.ravel().tolist()
    width = len(flat) // len(values)
    types = set(map(type, flat))
    if types != {str} and types != {int}:
        flat = [_plain(v, at, i // width) for i, v in enumerate(flat)]
        types = set(map(type, flat))
    if types == {int, str}:
        number = next(v for v in flat if isinstance(v, int))
        text = next(v for v in flat if isinstance(v, str))
        raise TypeError(
            f"{at(_first(type(v) is not type(flat[0]) for v in flat) // width)}: integer and "
            f"string ids are mixed, such as {number!r} and {text!r}; "
            "use one kind, for example str(id) throughout"
        )
    if types == {int}:
        try:
            return np.array(flat, dtype=np.int64).reshape(values.shape)
        except OverflowError:
            i = _first(not -(2**63) <= v < 2**63 for v in flat)
            _refuse(flat[i], at(i // width))
    if "" in flat:
        _refuse("", at(flat.index("") // width))
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape(values.shape)


def _first(flags: Iterable[bool]) -> int:
    return next(i for i, flag in enumerate(flags) if flag)


def _plain(value: object, at: At, i: int) -> int | str:
    """Return one id as a plain int or str."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float | np.floating) and value.is_integer() and abs(float(value)) <= 2**53:
        return int(value)
    text = id_text(value)
    if text is not None:
        return text
    _refuse(value, at(i))


def id_text(value: object) -> str | None:
    """Return a UUID or a time stamp as the text that is its id, or None for anything else.

    Time stamps of all libraries become the same text, that of pandas in a .csv file; midnight
    without a time zone is a date.

    >>> from datetime import datetime
    >>> id_text(datetime(2026, 5, 3, 14, 30)), id_text(np.datetime64("2026-05-03T00:00", "ns"))
    ('2026-05-03 14:30:00', '2026-05-03')
    """
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, np.datetime64):
        fine = value.astype("datetime64[s]") if np.datetime_data(value)[0] in "hm" else value
        text = str(fine)
    elif isinstance(value, datetime.date):  # datetime and pandas.Timestamp too
        text = str(value)
    elif isinstance(value, datetime.time):
        return str(value)
    else:
        return None
    if text == "NaT":
        return ""
    whole, point, fraction = text.replace("T", " ").partition(".")
    digits = len(fraction) - len(fraction.lstrip("0123456789"))
    fraction, zone = fraction[:digits].rstrip("0"), fraction[digits:]
    return f"{whole}{point if fraction else ''}{fraction}{zone}".removesuffix(MIDNIGHT)


def _refuse(value: object, where: str) -> NoReturn:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value is None or (isinstance(value, str) and not value) or (is_number and value != value):
        raise ValueError(f"{where}: an id is missing (got {value}); remove or complete the entry")
    if is_number:
        raise ValueError(f"{where}: {value} is not usable as an id; use 64-bit integers or strings")
    raise TypeError(
        f"{where}: an id must be an integer or a string, got {value!r} of type "
        f"{type(value).__name__}"
    )


def as_pairs(values: Any, name: str) -> Array:
    """Return (m, 2) ids, checked; name is the argument in messages."""
    array = as_array(values, name)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must be pairs of ids, shape (m, 2), got shape {array.shape}; "
            "one pair alone is written [(a, b)]"
        )
    return check_ends(as_ids(array, lambda i: f"{name}[{i}]"), lambda i: f"{name}[{i}]")


def check_ends(ends: Array, at: At) -> Array:
    """Return (m, 2) ids, or refuse the first pair of a point with itself."""
    same = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(same):
        i = same[0]
        raise ValueError(f"{at(i)}: {ends.item(i, 0)!r} is paired with itself; remove the pair")
    return ends


def as_sample_id(sample_id: Any, n: int | None = None) -> Array:
    """Return one distinct id per row."""
    ids = as_array(sample_id, "sample_id")
    if ids.ndim != 1:
        raise ValueError(f"sample_id must be one id per row, got shape {ids.shape}")
    if n is not None and len(ids) != n:
        raise ValueError(f"sample_id has {len(ids)} ids, the data have {n} rows; give one per row")
    ids = as_ids(ids, lambda i: f"sample_id[{i}]")
    n_distinct = len(set(ids.tolist())) if ids.dtype == object else len(np.unique(ids))
    if n_distinct < len(ids):
        codes = encode(ids)[1]
        order = np.argsort(codes, kind="stable")
        i = np.flatnonzero(np.diff(codes[order]) == 0)[0]
        first, second = order[i], order[i + 1]
        raise ValueError(
            f"sample_id names {ids.item(first)!r} twice, at rows {first} and {second}; "
            "ids must be unique"
        )
    return ids


def join(first: Array, second: Array) -> Array:
    """Return two id arrays as one, stacked along axis 0."""
    if first.size and second.size and first.dtype != second.dtype:
        raise TypeError(
            f"integer and string ids are mixed: {first.item(0)!r} here, {second.item(0)!r} there; "
            "use one kind, for example str(id) throughout"
        )
    if first.size == 0:
        return second
    return first if second.size == 0 else np.concatenate([first, second])


def encode(values: Array) -> tuple[Array, Array]:
    """Return (ids, codes): the distinct ids ascending, and values = ids[codes]."""
    if values.dtype != object:
        ids, codes = np.unique(values, return_inverse=True)
        return ids, codes.reshape(values.shape)
    flat = values.ravel().tolist()
    code: dict[Any, int] = defaultdict(count().__next__)  # in order of appearance
    codes = np.fromiter(map(code.__getitem__, flat), np.int64, len(flat))
    ids = np.empty(len(code), dtype=object)
    ids[:] = list(code)
    order = np.array(sorted(range(len(code)), key=ids.tolist().__getitem__), dtype=np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return ids[order], rank[codes].reshape(values.shape)


def compact(codes: Array, count: int) -> tuple[Array, Array]:
    """Return (used, new): the codes that occur, ascending, and codes = used[new].

    `encode` of codes 0 ... count - 1, without sorting them.

    >>> compact(np.array([[4, 1], [1, 2]]), 6)
    (array([1, 2, 4]), array([[2, 0],
           [0, 1]]))
    """
    used = np.flatnonzero(np.bincount(codes.ravel(), minlength=count))
    new = np.empty(count, dtype=np.int64)
    new[used] = np.arange(len(used))
    return used, new[codes]


def lookup(ids: Array, among: Array) -> Array:
    """Return for each id its position in `among`, or -1.

    Integers on one side and strings on the other are compared as str(integer). A date that is not
    there is looked for as its midnight, and the other way round: files have both.
    """
    if ids.size and among.size and ids.dtype != among.dtype:
        ids, among = _as_text(ids), _as_text(among)
    if ids.size == 0 or among.size == 0:
        return np.full(ids.shape, -1, dtype=np.int64)
    if ids.dtype == object:
        position = {name: i for i, name in enumerate(among.tolist())}
        flat = ids.ravel().tolist()
        found = np.fromiter((position.get(v, -1) for v in flat), np.int64, ids.size)
        for i in np.flatnonzero(found < 0):
            found[i] = position.get(same_time(flat[i]), -1)
        return found.reshape(ids.shape)
    order = np.argsort(among, kind="stable")
    place = order[np.minimum(np.searchsorted(among[order], ids), len(among) - 1)]
    return np.where(among[place] == ids, place, -1)


def same_time(name: str) -> str | None:
    """Return the other way to write a date or its midnight, or None.

    >>> same_time("2026-05-03"), same_time("2026-05-03 00:00:00"), same_time("a")
    ('2026-05-03 00:00:00', '2026-05-03', None)
    """
    if name.endswith(MIDNIGHT):
        return name.removesuffix(MIDNIGHT)
    return f"{name}{MIDNIGHT}" if len(name) == 10 and DATE.fullmatch(name) else None


def similar_id(id_: Any, among: Iterable[Any]) -> Any:
    """Return the first id that differs only in case, spaces, leading zeros or ".0", or None.

    A date and its midnight are similar too, and so are two ways to write a time.

    >>> similar_id(7, ["006", "007"]), similar_id("a ", [" A"]), similar_id("b", ["a"])
    ('007', ' A', None)
    """

    def plain(name: Any) -> str:
        text = re.sub(r"\.0+$", "", str(name).strip().casefold())
        text = re.sub(r"^(\d{4}-\d\d-\d\d)t", r"\1 ", text).removesuffix(MIDNIGHT)
        return (text.lstrip("0") or "0") if text.isdecimal() else text

    wanted = plain(id_)
    return next((name for name in among if plain(name) == wanted), None)


def _as_text(ids: Array) -> Array:
    return ids if ids.dtype == object else ids.astype(str).astype(object)
