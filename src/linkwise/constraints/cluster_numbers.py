"""How many clusters are asked for: a number, a range (least, most), or None for any number."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, TypeAlias

NClusters: TypeAlias = int | tuple[int, int] | None


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_range(value: Any) -> bool:
    """Tell whether a value is a range of numbers of clusters, (least, most), least >= 2."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(map(is_whole, value)) and 2 <= value[0] <= value[1]


def is_n_clusters(value: Any, n: float = float("inf")) -> bool:
    """Tell whether a value asks for clusters that n points can have: a number or a range."""
    if is_range(value):
        return bool(value[1] <= n)
    return is_whole(value) and 1 <= value <= n


def as_n_clusters(value: Any) -> NClusters:
    """Return a number or a range in the types of Python, None as it is.

    >>> as_n_clusters([2, 12])
    (2, 12)
    """
    if value is None:
        return None
    return (int(value[0]), int(value[1])) if isinstance(value, tuple | list) else int(value)


def checked_n_clusters(value: Any, n: int | None = None, *, name: str = "n_clusters") -> NClusters:
    """Return what is asked for of n points; raise ValueError if it is no number and no range."""
    if value is not None and not is_n_clusters(value, float("inf") if n is None else n):
        most = "" if n is None else str(n)
        raise ValueError(
            f"{name}={value!r}: expected a whole number in 1..{most}, a range (least, most) in "
            f"2..{most}, or None"
        )
    return as_n_clusters(value)


def cluster_limits(n_clusters: NClusters) -> tuple[int, int] | None:
    """Return the least and the most clusters, None if any number will do."""
    if n_clusters is None:
        return None
    return n_clusters if isinstance(n_clusters, tuple) else (n_clusters, n_clusters)


def least_clusters(n_clusters: NClusters) -> int:
    """Return the least number of clusters, 0 if any number will do."""
    limits = cluster_limits(n_clusters)
    return 0 if limits is None else limits[0]


def most_clusters(n_clusters: NClusters) -> int | None:
    """Return the largest number of clusters, None if any number will do."""
    limits = cluster_limits(n_clusters)
    return None if limits is None else limits[1]


def next_best(runners_up: Iterable[tuple[int, float]], shown: int = 5) -> str:
    """Return in words the best of the other numbers of clusters, with their scores.

    >>> next_best([(4, 0.51234), (6, 0.4)])
    'next best numbers of clusters, with scores: 4 (0.512), 6 (0.4)'
    """
    best = ", ".join(f"{k} ({score:.3g})" for k, score in list(runners_up)[:shown])
    return f"next best numbers of clusters, with scores: {best}"


def read_n_clusters(text: str) -> int | tuple[int, int]:
    """Read a number of clusters, or a range.

    >>> read_n_clusters("5"), read_n_clusters("2-12")
    (5, (2, 12))
    """
    parts = text.split("-")
    found = [int(part) for part in parts if part.isdecimal()]
    if len(found) == len(parts) == 1 and is_n_clusters(found[0]):
        return found[0]
    if len(found) == len(parts) == 2 and is_range(found):
        return found[0], found[1]
    raise ValueError(
        f"expected a number of clusters, 1 or more, or a range from 2 on such as 2-12; got {text!r}"
    )
