"""Answers about pairs and what follows from them, kept up to date one answer at a time.

    (1)  a ~ b            if a chain of answers "same" joins a and b
    (2)  a is not with b  if "different" was answered for some a' ~ a and some b' ~ b

(1) are the sets of a union-find and (2) is a set of roots beside each root. The smaller of two
sets is merged into the larger one: m answers cost O(m log m) in all. To forget an answer costs
a pass over the others.

An answer that contradicts what follows from earlier ones is kept, and nothing follows from it.
Answers of a higher weight are taken as if they had come first.
"""

import numpy as np


class Known:
    """The answers so far, and what follows from them.

    Attributes
    ----------
    answers : dict {(a, b): True, False or None}, a < b, in the order in which they came
    weights : dict {(a, b): float}, of those with a weight above 1
    contradicted : list of (a, b), answers that earlier ones contradict

    Parameters
    ----------
    answers : (a, b, same) or (a, b, same, weight) each, the weight 1 or more
    """

    def __init__(self, answers=()):
        self.answers: dict = {}
        self.weights: dict = {}
        for a, b, same, *weight in answers:
            self._write(_ordered(a, b), same, *weight)
        self._rebuild()

    def _write(self, pair, same, weight=1.0):
        """Note an answer; it replaces one before about the same pair."""
        self.answers.pop(pair, None)
        self.weights.pop(pair, None)
        self.answers[pair] = same
        if weight > 1:
            self.weights[pair] = weight

    def weight(self, pair):
        """Return the weight of the answer about (a, b), a < b."""
        return self.weights.get(pair, 1.0)

    def _rebuild(self):
        self.contradicted: list = []
        self._root: dict = {}  # point: root of its set
        self._members: dict = {}  # root: list of points
        self._apart: dict = {}  # root: roots of the sets it cannot be with
        for a, b in sorted(self.answers, key=lambda pair: -self.weight(pair)):
            self._enter(a, b, self.answers[a, b])

    def _enter(self, a, b, same):
        if same is None:
            return
        pair = a, b
        a, b = self._add(a), self._add(b)
        if (a == b) if not same else (b in self._apart[a]):
            self.contradicted.append(pair)
        elif not same:
            self._apart[a].add(b)
            self._apart[b].add(a)
        elif a != b:
            self._merge(a, b)

    def _add(self, a):
        if a not in self._root:
            self._root[a], self._members[a], self._apart[a] = a, [a], set()
        return self._root[a]

    def _merge(self, a, b):
        if len(self._members[a]) < len(self._members[b]):
            a, b = b, a
        for point in self._members[b]:
            self._root[point] = a
        self._members[a] += self._members.pop(b)
        for other in self._apart.pop(b):
            self._apart[other].discard(b)
            self._apart[other].add(a)
            self._apart[a].add(other)

    def tell(self, a, b, same, weight=1.0):
        """Take an answer: True, False, or None for "don't know"."""
        pair = _ordered(a, b)
        again = pair in self.answers
        self._write(pair, same, weight)
        if again or weight > 1:
            self._rebuild()
        else:
            self._enter(pair[0], pair[1], same)

    def forget(self, a, b):
        """Undo the answer about a pair."""
        del self.answers[_ordered(a, b)]
        self.weights.pop(_ordered(a, b), None)
        self._rebuild()

    def root(self, a):
        """Return the point that stands for all that a is known to be with."""
        return self._root.get(a, a)

    def members(self, a):
        """Return the points known to be with a, a among them."""
        return self._members.get(self.root(a), [a])

    def apart(self, a):
        """Return the roots of the sets that a is known not to be with."""
        return self._apart.get(self.root(a), frozenset())

    def roots(self):
        """Return the roots of all sets that answers speak of, by the order of their points."""
        return list(dict.fromkeys(self._root.values()))

    def touched(self):
        """Return the points that answers other than "don't know" speak of."""
        return list(self._root)

    def relation(self, a, b):
        """Return True or False if that follows for a and b, else None."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return True
        return False if b in self._apart.get(a, ()) else None

    def is_open(self, a, b):
        """Tell whether a pair may be asked: nothing follows, and nobody has said "don't know"."""
        return self.relation(a, b) is None and _ordered(a, b) not in self.answers


def _ordered(a, b):
    return (a, b) if a < b else (b, a)


def neighbourhoods(known, most=None, *, E=None, asked=None):
    """Return roots of sets that are apart from each other, the largest set first.

    Taken greedily, so that there may be more than are found; at most ``most`` of them. With
    positions E (n, r) of the points a set is taken to be apart from all if it is known to be so
    from the ``asked`` nearest: to be sure of k sets takes k^2 / 2 answers, and this takes less.
    """
    rank = {root: place for place, root in enumerate(known.roots())}
    found: list = []
    centres: list = []
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
