"""Cannot-links that groups imply: no two members of a group may be together.

G (c, u) has c columns of groups for u points: G_ji is the group of point i in column j, or -1. It
implies

    (1)  a cannot-link between i and i' for every column j with G_ji = G_ji' >= 0

O(c u) memory, however many cannot-links that are; only the functions that say so list some of them.
"""

from collections.abc import Iterator

import numpy as np

from linkwise._typing import Array
from linkwise.constraints.partial_labels import MAX_PAIRS, all_within, by_class, chains

REMEDY = (
    "resolve_entities and resolve_pairs use groups without a list, and for other methods mark "
    "large groups as unknown"
)


def tidied(G: Array) -> Array:
    """Return G without groups of one member and empty columns, groups numbered by first member.

    >>> tidied(np.array([[7, 2, 2, 7, -1, 3], [0, 1, 2, 3, 4, 5]]))
    array([[ 0,  1,  1,  0, -1, -1]])
    """
    found = []
    for column in G:
        codes, first, which, size = np.unique(
            column, return_index=True, return_inverse=True, return_counts=True
        )
        real = (codes >= 0) & (size > 1)
        number = np.full(len(codes), -1, dtype=np.int64)
        number[np.flatnonzero(real)[np.argsort(first[real])]] = np.arange(np.count_nonzero(real))
        if real.any():
            found.append(number[which])
    return np.array(found, dtype=np.int64).reshape(len(found), G.shape[1])


def _alike(G: Array, key: Array) -> Iterator[Array]:
    """Yield for every column the code (u,) of group and key of each point, -1 where there is none.

    Points whose key is negative have none.
    """
    for column in G:
        known = (column >= 0) & (key >= 0)
        code = np.full(len(column), -1, dtype=np.int64)
        if known.any():
            width = int(key.max()) + 1
            code[known] = np.unique(column[known] * width + key[known], return_inverse=True)[1]
        yield code


def count_within(G: Array, key: Array) -> int:
    """Return how many implied pairs, Eq. (1), have ends with the same key (u,) >= 0."""
    sizes = (by_class(code)[1] for code in _alike(G, key))
    return int(sum((size * (size - 1) // 2).sum() for size in sizes))


def pairs_within(G: Array, key: Array, limit: int = MAX_PAIRS) -> Array:
    """Return the implied pairs, Eq. (1), whose ends have the same key (u,) >= 0, (m, 2)."""
    count = count_within(G, key)
    if count > limit:
        raise ValueError(
            f"constraints: groups imply {count:,} cannot-links, and at most {limit:,} are listed; "
            f"{REMEDY}"
        )
    none = np.zeros((0, 2), dtype=np.int64)
    return np.concatenate([none, *(all_within(code, remedy=REMEDY) for code in _alike(G, key))])


def few_within(G: Array, key: Array) -> Array:
    """Return the pairs of `pairs_within`, or a chain through each group if they are too many."""
    if count_within(G, key) <= MAX_PAIRS:
        return pairs_within(G, key)
    return np.concatenate([chains(code) for code in _alike(G, key)])


def count_implied(G: Array) -> int:
    """Return how many pairs G implies."""
    return count_within(G, np.zeros(G.shape[1], dtype=np.int64))


def implied_pairs(G: Array) -> Array:
    """Return all pairs that G implies, (m, 2)."""
    return pairs_within(G, np.zeros(G.shape[1], dtype=np.int64))


def members(G: Array) -> Iterator[Array]:
    """Yield the members of every group."""
    for column in G:
        rows, size = by_class(column)
        yield from np.split(rows, np.cumsum(size)[:-1]) if len(size) else ()


def columns_of(sets: list[Array], u: int) -> Array:
    """Return G (c, u) in which each set of points 0 ... u - 1 is a group.

    Sets that share a point are in different columns; sets that share none are in one.

    >>> columns_of([np.array([0, 1]), np.array([2, 3]), np.array([1, 2])], 4)
    array([[ 0,  0,  1,  1],
           [-1,  2,  2, -1]])
    """
    level = np.zeros(u, dtype=np.int64)  # the first column in which a point is free
    found = []
    for one in sets:
        column = int(level[one].max(initial=0))
        level[one] = column + 1
        found.append(column)
    G = np.full((max(found, default=-1) + 1, u), -1)
    for number, (column, one) in enumerate(zip(found, sets, strict=True)):
        G[column, one] = number
    return G
