"""The transitive closure of must-links and cannot-links.

    (1)  a ~ b            if a chain of must-links joins a and b
    (2)  a is not with b  if a cannot-link joins some a' ~ a and some b' ~ b

(1) are the connected components of the must-links, and (2) is a set of pairs
of components. So the closure of m pairs takes O(m) memory and O(m log m) time,
however many pairs it implies. Pairs are codes 0..n-1.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkwise._typing import Array
from linkwise.constraints.ids import as_array, as_ids, lookup
from linkwise.constraints.partial_labels import (
    MAX_PAIRS,
    all_between,
    all_within,
    by_class,
    check_count,
)

if TYPE_CHECKING:
    from linkwise.constraints.pairs import Constraints


def components(n: int, ends: Array) -> Array:
    """Return the connected component 0, 1, ... of each of n points, (n,)."""
    ones = np.ones(len(ends), dtype=np.int8)
    graph = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int64)  # Eq. (1)


def component_pairs(component: Array, cannot: Array) -> Array:
    """Return the distinct pairs c < d of components that a cannot-link keeps apart, (r, 2)."""
    ends = np.sort(component[cannot], axis=1)
    width = len(component) + 1
    key = np.unique(ends[:, 0] * width + ends[:, 1])  # Eq. (2)
    return np.stack([key // width, key % width], axis=1)


class Closure(NamedTuple):
    """The pairs that a set of pairs implies.

    Attributes
    ----------
    ids : array (u,), the ids that occur in a pair of weight > 0, ascending
    component : int array (u,), the must-link component 0..c-1 of each id
    cannot : int array (r, 2), the pairs of components that must be apart
    """

    ids: Array
    component: Array
    cannot: Array

    def relation(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.int8]:
        """Return +1 where a and b must be together, -1 where they cannot, 0 if unknown.

        Parameters
        ----------
        a, b : ids, or arrays of ids that broadcast

        Returns
        -------
        int8 array of their common shape; 0 for ids that occur in no pair
        """
        a, b = np.broadcast_arrays(self._codes(a, "a"), self._codes(b, "b"))
        component = np.r_[self.component, -1]  # an unknown id has code -1: the last
        c, d = component[a], component[b]
        known = (c >= 0) & (d >= 0)
        width = len(self.ids) + 1
        key = np.minimum(c, d) * width + np.maximum(c, d)
        apart = np.isin(key, self.cannot[:, 0] * width + self.cannot[:, 1])
        return np.where(known, np.where(c == d, 1, np.where(apart, -1, 0)), 0).astype(np.int8)

    def _codes(self, ids: ArrayLike, name: str) -> Array:
        array = np.asarray(ids) if np.ndim(ids) == 0 else as_array(ids, name)
        flat = as_ids(array.reshape(-1), lambda i: f"{name}[{i}]")
        return lookup(flat, self.ids).reshape(array.shape)

    def groups(self) -> list[Array]:
        """Return the ids of each component, a list of arrays; entry c is component c."""
        rows, size = by_class(self.component)
        return np.split(self.ids[rows], np.cumsum(size)[:-1]) if len(size) else []

    def constraints(self, max_pairs: int = MAX_PAIRS) -> "Constraints":
        """Return every implied pair as Constraints of weight 1.

        The number of pairs grows with the square of the component sizes. More than
        max_pairs are refused before any pair is made.
        """
        from linkwise.constraints.pairs import Constraints

        size = np.bincount(self.component, minlength=1)
        c, d = self.cannot.T
        count = int((size * (size - 1) // 2).sum() + (size[c] * size[d]).sum())
        remedy = "ask relation(a, b) for the pairs you need, or raise max_pairs"
        check_count(count, remedy, max_pairs)
        must = all_within(self.component, remedy=remedy, limit=max_pairs)
        cannot = all_between(self.component, self.cannot, remedy=remedy, limit=max_pairs)
        return Constraints(self.ids[must], self.ids[cannot])
