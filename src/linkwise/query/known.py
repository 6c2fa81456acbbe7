"""Pairs that were answered and what follows from them, updated one answer at a time.

What follows is known by sets (``constraints.linked_sets``): m answers cost O(m log m) in all. To
forget an answer, or to state a pair again, costs a pass over the others.

The weights of pairs stated several times, the same way, add up. Heavier pairs are entered first,
equal ones in their order. A pair that contradicts what already follows is kept, but nothing
follows from it: when links conflict, the heavier wins.
"""

from array import array
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from linkwise._wording import STRAY
from linkwise.constraints import Constraints
from linkwise.constraints.linked_sets import LinkedSets

ASIDE = 2  # answers "don't know" about a point after which it is not asked about any more


class Known:
    """The answers so far, and what follows from them.

    Parameters
    ----------
    links : Constraints by row number; pairs of weight 0 say nothing and are left out
    unsure : pairs (a, b) of rows to which "don't know" was answered
    marks : dict {row: "unclear" or "stray"}, the rows that are not asked about

    Attributes
    ----------
    links : Constraints, in their order
    unsure : dict with a key (a, b), a < b, for each such pair
    marks : dict {row: "unclear" or "stray"}
    unsure_of : dict, how many such pairs each point has that has any
    contradicted : list of (a, b), a < b, pairs that heavier or earlier ones contradict

    Examples
    --------
    >>> known = Known(Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)]))
    >>> known.relation(0, 2)
    False
    """

    def __init__(
        self,
        links: Constraints | None = None,
        unsure: Iterable[tuple[int, int]] = (),
        marks: dict[int, str] | None = None,
    ) -> None:
        self.links = Constraints() if links is None else links.active()
        self.unsure: dict[tuple[int, int], None] = {}
        self.unsure_of: dict[int, int] = {}
        self._unsure_ends = array("q")  # those of all such pairs, one after the other
        for a, b in unsure:
            self._add_unsure(_ordered(a, b))
        self.marks: dict[int, str] = dict(marks or {})
        self._rebuild()

    def copy(self) -> "Known":
        """Return a copy that further answers to this one do not change."""
        new = object.__new__(Known)
        new.links, new.contradicted = self.links, self.contradicted.copy()
        new.unsure, new.marks = self.unsure.copy(), self.marks.copy()
        new.unsure_of, new._unsure_ends = self.unsure_of.copy(), self._unsure_ends[:]
        new._weight, new._sets = self._weight.copy(), self._sets.copy()
        return new

    def among(self, rows: np.ndarray) -> "Known":
        """Return what the answers about some rows (r,), ascending, say without the others."""
        inside = self.unsure_pairs[np.isin(self.unsure_pairs, rows).all(axis=1)]
        marks = {row: self.marks[row] for row in np.intersect1d(list(self.marks), rows).tolist()}
        return Known(self.links.restrict(rows), inside.tolist(), marks)

    @property
    def n_answers(self) -> int:
        """How many pairs and rows were answered about, "don't know" among them."""
        return self.links.n_pairs + len(self.unsure) + len(self.marks)

    def _rebuild(self) -> None:
        self.contradicted: list[tuple[int, int]] = []
        self._weight: dict[tuple[int, int, int], float] = {}  # of (a, b, sign), a < b
        self._sets: LinkedSets[int] = LinkedSets()
        for a, b, sign, weight in self.links:
            key = (*_ordered(a, b), sign)
            self._weight[key] = self._weight.get(key, 0.0) + weight
        for a, b, sign in sorted(self._weight, key=lambda key: -self._weight[key]):
            self._enter(a, b, sign)

    def _enter(self, a: int, b: int, sign: int) -> None:
        if not self._sets.enter(a, b, sign):
            self.contradicted.append((a, b))

    def tell(self, a: int, b: int, same: bool | None, weight: float = 1.0) -> None:
        """Take an answer: True, False, or None for "don't know".

        It replaces earlier answers about the same pair. One of weight 0 says nothing.
        """
        pair = _ordered(a, b)
        if self.has(a, b):
            self._remove(pair)
            self._rebuild()
        self.add(a, b, same, weight)

    def add(self, a: int, b: int, same: bool | None, weight: float = 1.0) -> None:
        """Take an answer beside all earlier ones, as if it were the last of those given first."""
        pair = _ordered(a, b)
        if same is None:
            self._add_unsure(pair)
        elif weight > 0:
            key = (*pair, 1 if same else -1)
            self.links = self.links + Constraints.from_table([(*key, weight)])
            if key not in self._weight and weight <= min(self._weight.values(), default=np.inf):
                self._weight[key] = weight
                self._enter(*key)
            else:  # it is not the last to be entered
                self._rebuild()

    def forget(self, a: int, b: int) -> None:
        """Remove the answers about a pair."""
        self._remove(_ordered(a, b))
        self._rebuild()

    def _add_unsure(self, pair: tuple[int, int]) -> None:
        if pair not in self.unsure:
            self.unsure[pair] = None
            self._unsure_ends.extend(pair)
            for a in pair:
                self.unsure_of[a] = self.unsure_of.get(a, 0) + 1

    def _remove(self, pair: tuple[int, int]) -> None:
        if pair in self.unsure:
            del self.unsure[pair]
            self._unsure_ends = array("q", chain.from_iterable(self.unsure))
            for a in pair:
                self.unsure_of[a] -= 1
                if not self.unsure_of[a]:
                    del self.unsure_of[a]
        self.links = self.links.select(~(np.sort(self.links.ends, axis=1) == pair).all(axis=1))

    def has(self, a: int, b: int) -> bool:
        """Tell whether there is an answer about this very pair."""
        return self.answer(a, b) is not None or _ordered(a, b) in self.unsure

    def answer(self, a: int, b: int) -> bool | None:
        """Return True or False as answered for this very pair, the heavier of both; else None."""
        must, cannot = (self._weight.get((*_ordered(a, b), sign), 0.0) for sign in (1, -1))
        return None if must == cannot == 0 else must >= cannot

    @property
    def unsure_pairs(self) -> np.ndarray:
        """The pairs to which "don't know" was answered, int array (u, 2)."""
        return np.array(self._unsure_ends, dtype=np.int64).reshape(-1, 2)

    def root(self, a: int) -> int:
        """Return the point that represents all that a is known to be with."""
        return self._sets.root.get(a, a)

    def roots_of(self, points: np.ndarray) -> np.ndarray:
        """Return the root of every point, int array (r,)."""
        return np.array([self._sets.root.get(a, a) for a in points.tolist()], dtype=np.int64)

    def members(self, a: int) -> list[int]:
        """Return the points known to be with a, including a."""
        return self._sets.members.get(self.root(a), [a])

    def apart(self, a: int) -> set[int] | frozenset[int]:
        """Return the roots of the sets that a is known not to be with."""
        return self._sets.apart.get(self.root(a), frozenset())

    def roots(self) -> list[int]:
        """Return the roots of all sets with answers, by the order of their points."""
        return list(dict.fromkeys(self._sets.root.values()))

    def touched(self) -> list[int]:
        """Return the points that occur in an answer other than "don't know"."""
        return list(self._sets.root)

    def relation(self, a: int, b: int) -> bool | None:
        """Return True or False if that follows for a and b, else None."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return True
        return False if b in self._sets.apart.get(a, ()) else None

    def is_open(self, a: int, b: int) -> bool:
        """Tell whether a pair may be asked: nothing follows, it was not answered, none is aside."""
        if self.is_aside(a) or self.is_aside(b):
            return False
        return self.relation(a, b) is None and _ordered(a, b) not in self.unsure

    def is_aside(self, a: int) -> bool:
        """Tell whether a point is set aside: marked, or "don't know" was answered ASIDE times.

        Such a point is not asked about any more. An unmarked point with another answer is clear
        enough.
        """
        return a in self.marks or (a not in self._sets.root and self.unsure_of.get(a, 0) >= ASIDE)

    def aside(self) -> list[int]:
        """Return the points that are set aside."""
        return [a for a in {**self.marks, **self.unsure_of} if self.is_aside(a)]

    @property
    def strays(self) -> list[int]:
        """The points that belong to no cluster."""
        return [a for a, mark in self.marks.items() if mark == STRAY]


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def separate_sets(
    known: Known, most: int | None = None, *, E: Any = None, asked: int | None = None
) -> list[int]:
    """Return roots of sets that are apart from each other, the largest set first.

    They are taken greedily, so there may be more than are found; at most ``most`` of them. With
    positions E (n, r) of the points, a set counts as apart from all if it is known to be apart
    from the ``asked`` nearest: to be sure of k sets takes k^2 / 2 answers, and this takes fewer.
    """
    rank = {root: place for place, root in enumerate(known.roots())}
    found: list[int] = []
    centres: list[np.ndarray] = []
    for root in sorted(rank, key=lambda r: (-len(known.members(r)), rank[r])):
        if len(found) == most:
            break
        apart = known.apart(root)
        if len(apart) < len(found) and asked is None:
            continue
        near = found
        if asked is not None and len(found) > asked:
            if len(apart) < asked:
                continue
            centre = E[known.members(root)].mean(axis=0)
            near = [found[i] for i in np.argsort(-(np.array(centres) @ centre))[:asked]]
        if all(other in apart for other in near):
            found.append(root)
            if asked is not None:
                centres.append(E[known.members(root)].mean(axis=0))
    return found
