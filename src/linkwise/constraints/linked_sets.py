"""Sets of items that are known to be together, and which of them are apart; one pair at a time.

    (1)  a ~ b            if a chain of must-links joins a and b
    (2)  a is not with b  if a cannot-link joins some a' ~ a and some b' ~ b

(1) are the sets of a union-find, and (2) is a set of roots beside each root. The smaller of two
sets is merged into the larger one: m pairs cost O(m log m) in all. `closure` has the same for many
pairs at once.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item", int, str, int | str)


@dataclass
class LinkedSets(Generic[Item]):
    """Sets of items, by the pairs entered so far.

    Attributes
    ----------
    root : dict {item: root of its set}, of the items that occur in a pair
    members : dict {root: items}
    apart : dict {root: roots of the sets that it cannot be with}

    Examples
    --------
    >>> sets = LinkedSets()
    >>> sets.enter(0, 1, 1), sets.enter(1, 2, -1), sets.enter(0, 2, 1)
    (True, True, False)
    """

    root: dict[Item, Item] = field(default_factory=dict)
    members: dict[Item, list[Item]] = field(default_factory=dict)
    apart: dict[Item, set[Item]] = field(default_factory=dict)

    def copy(self) -> "LinkedSets[Item]":
        """Return a copy that further pairs do not change."""
        members = {root: items.copy() for root, items in self.members.items()}
        apart = {root: others.copy() for root, others in self.apart.items()}
        return LinkedSets(self.root.copy(), members, apart)

    def enter(self, a: Item, b: Item, sign: int) -> bool:
        """Enter a must-link (1) or a cannot-link (-1); tell whether it can hold with the others.

        Nothing follows from one that cannot.
        """
        a, b = self._add(a), self._add(b)
        if (a == b) if sign < 0 else (b in self.apart[a]):
            return False
        if sign < 0:
            self.apart[a].add(b)
            self.apart[b].add(a)
        elif a != b:
            self._merge(a, b)
        return True

    def _add(self, a: Item) -> Item:
        if a not in self.root:
            self.root[a], self.members[a], self.apart[a] = a, [a], set()
        return self.root[a]

    def _merge(self, a: Item, b: Item) -> None:
        if len(self.members[a]) < len(self.members[b]):
            a, b = b, a
        for item in self.members[b]:
            self.root[item] = a
        self.members[a] += self.members.pop(b)
        for other in self.apart.pop(b):
            self.apart[other].discard(b)
            self.apart[other].add(a)
            self.apart[a].add(other)
