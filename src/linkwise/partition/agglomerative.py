"""Agglomerative clustering that keeps every constraint [1].

Must-linked points start as one group. Then the two nearest clusters are merged repeatedly, unless
a cannot-link separates them. Distances follow Lance & Williams [2]; a, b, c are the sizes of
A, B, C:

    (1)  single    d(AB, C) = min(d(A, C), d(B, C))
    (2)  complete  d(AB, C) = max(d(A, C), d(B, C))
    (3)  average   d(AB, C) = (a d(A, C) + b d(B, C)) / (a + b)
    (4)  ward      d(AB, C)^2 = ((a+c) d(A, C)^2 + (b+c) d(B, C)^2 - c d(A, B)^2) / (a + b + c)

The distance is infinite where there is a cannot-link, and stays so. A union is never nearer to a
third cluster than the nearer of its parts, so the distances of successive merges never decrease,
with or without cannot-links.

Greedy merging can reach a dead end: more than k clusters, all kept apart, although k clusters are
possible. The algorithm therefore maintains a witness that k clusters can still be reached: a
colouring with k colours in which clusters kept apart differ. Two clusters may merge if they have
the same colour, or can be given the same colour by exchanging two colours along a connected part
(a Kempe chain). If that fails, they are kept apart from then on. Among more than k clusters two
have the same colour and may merge, so k is always reached. For two clusters the test is exact. For
more clusters it may refuse a possible merge; after PATIENCE refusals in a connected part of the
cannot-link graph, the colours of that part are final.

Memory is n^2. The nearest cluster of a cluster is only looked up again when the cluster comes
first, which usually gives O(n^2) time, O(n^3) at worst.

[1] Davidson & Ravi, Agglomerative hierarchical clustering with constraints: theoretical and
    empirical results, PKDD 2005.
[2] Lance & Williams, A general theory of classificatory sorting strategies, Computer Journal 9,
    1967.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from linkwise.partition.groups import one_hot

PATIENCE = 30  # refused merges in a part of the cannot-link graph; bounds the recolouring


class Merges(NamedTuple):
    """The clusters and how they were merged."""

    labels: np.ndarray  # (g,) cluster of every group, any numbers
    children: np.ndarray  # (merges, 2) groups 0 ... g-1, or g + t for the cluster of merge t
    heights: np.ndarray  # (merges,) linkage distances, never decreasing


class Witness:
    """A proper colouring of the clusters that are kept apart.

    Its vertices are nodes, sets of clusters that must end up together. At first every cluster is a
    node. ``near`` lists the nodes kept apart from a node; their colours always differ.

    Parameters
    ----------
    colours : int array (g,), below k, different at the two ends of each edge
    edges : int array (r, 2)
    k : int, number of colours
    """

    def __init__(self, colours, edges, k):
        self.k = k
        self.node = np.arange(len(colours))  # of every cluster
        self.colour = colours.tolist()
        self.near: list[set[int]] = [set() for _ in range(len(colours))]
        self.refused = [0] * len(colours)
        for a, b in edges.tolist():
            self.near[a].add(b)
            self.near[b].add(a)

    def allows(self, a, b):
        """Tell whether clusters a and b may merge; if so, give them the same colour."""
        a, b = self.node[a], self.node[b]
        if b in self.near[a]:
            return False
        if not self.near[a]:
            self.colour[a] = self.colour[b]
        if not self.near[b]:
            self.colour[b] = self.colour[a]
        for c in (self.colour[a], self.colour[b], *range(self.k)):
            if self.colour[a] == self.colour[b]:
                return True
            self._exchange(a, c, keep=b)
            self._exchange(b, c, keep=a)
        return self.colour[a] == self.colour[b]

    def _exchange(self, v, c, keep):
        """Give v the colour c by a Kempe chain, unless that would recolour ``keep``."""
        chain = self._reach(v, {self.colour[v], c})
        if keep not in chain:
            swap = {self.colour[v]: c, c: self.colour[v]}
            for u in chain:
                self.colour[u] = swap[self.colour[u]]

    def _reach(self, v, colours):
        """Return the nodes of these colours that are joined to v."""
        seen, stack = {v}, [v]
        while stack:
            new = {u for u in self.near[stack.pop()] if self.colour[u] in colours} - seen
            seen |= new
            stack.extend(new)
        return seen

    def merge(self, a, b):
        """Put the clusters a and b, of equal colour, into one node."""
        self._join(self.node[a], self.node[b])

    def _join(self, a, b):
        if a == b:
            return
        for u in self.near[b]:
            self.near[u].remove(b)
            self._part(u, a)
        self.near[b] = set()
        self.refused[a] += self.refused[b]
        self.node[self.node == b] = a

    def _part(self, a, b):
        self.near[a].add(b)
        self.near[b].add(a)

    def refuse(self, a, b):
        """Keep two clusters apart from now on; return pairs of arrays of clusters kept apart."""
        a, b = self.node[a], self.node[b]
        self.refused[a] += b not in self.near[a]
        self._part(a, b)
        joined = self._reach(a, set(range(self.k)))
        if self.k > 2 and sum(self.refused[v] for v in joined) < PATIENCE:
            return [(self._members(a), self._members(b))]
        first: dict[int, int] = {}
        for v in sorted(joined):
            self._join(first.setdefault(self.colour[v], v), v)
        nodes = list(first.values())
        pairs = [(v, u) for i, v in enumerate(nodes) for u in nodes[:i]]
        for v, u in pairs:
            self._part(v, u)
        return [(self._members(v), self._members(u)) for v, u in pairs]

    def _members(self, v):
        return np.flatnonzero(self.node == v)


def ward_distances(means, size):
    """Return the squared Ward distances (g, g) of groups with these means (g, d) and sizes (g,)."""
    share = (1 / size).astype(means.dtype)
    D = euclidean_distances(means, squared=True)
    D /= share[:, None] + share  # 1/a + 1/b
    D *= 2
    return D


def group_distances(X, group, linkage):
    """Return the linkage distances (g, g) of the groups 0 ... g - 1; for "ward" squared."""
    size = np.bincount(group)
    if linkage == "ward":
        share = (1 / size).astype(X.dtype)
        return ward_distances(
            sparse.diags_array(share) @ (one_hot(group, len(size), X.dtype) @ X), size
        )
    D = euclidean_distances(X)
    if np.array_equal(group, np.arange(len(group))):
        return D
    fold = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
    order, start = np.argsort(group, kind="stable"), np.cumsum(size) - size
    D = fold.reduceat(fold.reduceat(D[order][:, order], start, axis=0), start, axis=1)
    if linkage == "average":
        D /= size.astype(D.dtype)[:, None] * size.astype(D.dtype)
    return D


def _updated(D, size, a, b, linkage):
    """Return the distances (g,) of the union of clusters a and b, Eqs. (1) to (4)."""
    if linkage == "single":
        new = np.minimum(D[a], D[b])  # Eq. (1)
        return np.where(np.maximum(D[a], D[b]) == np.inf, np.inf, new)
    if linkage == "complete":
        return np.maximum(D[a], D[b])  # Eq. (2)
    if linkage == "average":
        return (size[a] * D[a] + size[b] * D[b]) / (size[a] + size[b])  # Eq. (3)
    total = size[a] + size[b] + size
    new = (size[a] + size) * D[a] + (size[b] + size) * D[b] - size * D[a, b]
    return new / total  # Eq. (4)


def merge_nearest(D, size, cannot, k, *, linkage="ward", threshold=np.inf, witness=None):
    """Return the Merges of groups with linkage distances D (g, g), for "ward" squared.

    D is overwritten. size (g,) is of the dtype of D; the rest is as in `agglomerate`, the threshold
    in the units of D.
    """
    g = len(D)
    every = np.arange(g)
    D[every, every] = np.inf
    D[cannot[:, 0], cannot[:, 1]] = D[cannot[:, 1], cannot[:, 0]] = np.inf
    nearest = D.argmin(axis=1)
    height = D[every, nearest]  # at most the distance to the nearest cluster
    label, name = every.copy(), every.copy()
    children: list[list[int]] = []
    heights: list[float] = []
    while len(children) < g - k:
        a = int(np.argmin(height))
        if not height[a] < threshold:
            break
        b = int(nearest[a])
        if D[a, b] > height[a]:  # height was only a lower bound
            nearest[a] = D[a].argmin()
            height[a] = D[a, nearest[a]]
        elif witness is not None and not witness.allows(a, b):
            for rows, columns in witness.refuse(a, b):
                D[np.ix_(rows, columns)] = D[np.ix_(columns, rows)] = np.inf
        else:
            if witness is not None:
                witness.merge(a, b)
            children.append(sorted((name[a], name[b])))
            heights.append(height[a])
            D[a] = D[:, a] = _updated(D, size, a, b, linkage)
            D[b] = D[:, b] = height[b] = np.inf
            size[a] += size[b]
            label[label == b] = a
            name[a] = g + len(children) - 1
            nearest[a] = D[a].argmin()
            height[a] = D[a, nearest[a]]
    found = np.array(heights, dtype=D.dtype)
    if linkage == "ward":
        found = np.sqrt(np.maximum(found, 0))  # below 0 only by rounding
    return Merges(label, np.array(children, dtype=np.int64).reshape(-1, 2), found)


def agglomerate(X, group, cannot, k, *, linkage="ward", threshold=np.inf, witness=None):
    """Merge groups until k clusters are left, or the next distance is ``threshold`` or more.

    Parameters
    ----------
    X : array or csr_array (n, d)
    group : int array (n,), the group 0 ... g - 1 of every point
    cannot : int array (r, 2), pairs of groups that are never together
    k : int <= g
    linkage : "ward", "average", "complete" or "single"
    threshold : float
    witness : Witness or None; with a witness and no threshold, exactly k clusters are reached
    """
    D = group_distances(X, group, linkage)
    threshold = threshold**2 if linkage == "ward" else threshold
    size = np.bincount(group).astype(D.dtype)
    return merge_nearest(D, size, cannot, k, linkage=linkage, threshold=threshold, witness=witness)
