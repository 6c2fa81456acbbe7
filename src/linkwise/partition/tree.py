"""A tree of clusters: the parts of the clusters of a clustering, and their unions.

The leaves are merged two by two, the nearest first, by the distance of Ward,

    (1)  d(A, B)^2 = 2 a b / (a + b) |mean of A - mean of B|^2,     a, b numbers of rows

first within the clusters of the given labels, then between these clusters. So the labels are one
level of the tree, and every level is nested in those above it.

The constraints that the labels keep hold at every level. Must-linked rows are in one leaf. No merge
crosses a cannot-link, so the tree ends where cannot-links keep all clusters apart. It ends in as
few clusters as a colouring of them shows to be possible; merges that would lead into a dead end
before are not made (``agglomerative``). Heights never fall:

    (2)  h_t = max(h_{t-1}, d_t)

Up to MOST_ROWS rows, every row is a leaf, or every must-linked group. Beyond, each cluster is first
cut into small clusters by k-means on a sample, as many as suit its share of the rows, and these are
the leaves: O(n L d) time and O(n + L^2) memory for L leaves.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.arrays import door, to_host
from linkwise.blocks.rows import LazyRows, content_sample, over_rows, read_block, take_rows
from linkwise.constraints.closure import component_pairs, components
from linkwise.exceptions import InfeasibleConstraints
from linkwise.partition.agglomerative import Witness, merge_nearest, ward_distances
from linkwise.partition.colouring import colour
from linkwise.partition.groups import one_hot
from linkwise.partition.k_means import best_starts, by_appearance

MOST_ROWS = 5_000  # that are leaves themselves: all distances of so many fit in 200 MB
LEAVES = 1_000  # for more rows
SAMPLE = 20_000  # rows that the leaves of more rows are found on
DIRECTIONS = 100  # singular directions that sparse rows are reduced to


class Tree(NamedTuple):
    """A tree of clusters, or several trees where cannot-links end the merges.

    Attributes
    ----------
    children : int array (t, 2)
        The two nodes of every merge: leaves 0 ... n_leaves - 1, or n_leaves + i for merge i, as in
        `scipy.cluster.hierarchy.linkage`.
    heights : array (t,), the distances of the merges, never falling
    leaf : int array (n,), the leaf of every row, -1 for a stray
    sizes : int array (n_leaves,), the number of rows of every leaf
    clusters : int array (n_leaves,), the cluster of every leaf in the clustering
    """

    children: np.ndarray
    heights: np.ndarray
    leaf: np.ndarray
    sizes: np.ndarray
    clusters: np.ndarray

    @property
    def n_leaves(self):
        """Return the largest number of clusters that the tree can be cut into."""
        return len(self.sizes)

    @property
    def n_roots(self):
        """Return the smallest number of clusters: more than 1 where cannot-links end the merges."""
        return self.n_leaves - len(self.children)

    def cut(self, n_clusters):
        """Return labels (n,) of n_clusters clusters, -1 for strays.

        Clusters are numbered in the order of the clustering, so that the parts of its cluster 0
        come first.

        Examples
        --------
        >>> from linkwise.partition import link_tree
        >>> X = np.array([[0.0], [1.0], [5.0], [6.5], [30.0]])
        >>> tree = link_tree(X, np.array([0, 0, 1, 1, 2]))
        >>> tree.cut(2).tolist(), tree.cut(4).tolist()
        ([0, 0, 0, 0, 1], [0, 0, 1, 2, 3])
        """
        if not 1 <= n_clusters <= self.n_leaves:
            raise ValueError(
                f"n_clusters={n_clusters}: expected 1..{self.n_leaves}, the leaves of the tree"
            )
        if n_clusters < self.n_roots:
            raise InfeasibleConstraints(
                f"n_clusters={n_clusters}: the tree ends at {self.n_roots} clusters, which "
                f"cannot-links keep apart; ask for at least {self.n_roots}"
            )
        top = roots(self.n_leaves, self.children[: self.n_leaves - n_clusters])
        order = np.lexsort((np.arange(self.n_leaves), self.clusters))
        label = np.empty(self.n_leaves + 1, dtype=np.int64)
        label[order], label[-1] = by_appearance(top[order])[0], -1
        return label[self.leaf]

    def linkage(self):
        """Return the merges as SciPy has them, array (n_leaves - 1, 4).

        Columns: the two nodes, the height, and the number of leaves. Where cannot-links end the
        merges, the trees are put together at infinite height.
        """
        L, t = self.n_leaves, len(self.children)
        ends = np.setdiff1d(np.arange(L + t), self.children)
        further = np.arange(len(ends) - 1)
        last = np.c_[np.where(further, L + t + further - 1, ends[0]), ends[1:]]
        children = np.sort(np.r_[self.children, last], axis=1)
        leaves = np.ones(L + len(children))
        for i, pair in enumerate(children):
            leaves[L + i] = leaves[pair].sum()
        heights = np.r_[self.heights, np.full(len(further), np.inf)]
        return np.c_[children, heights, leaves[L:]]


def roots(n_leaves, children):
    """Return the topmost node of every leaf after some merges, int (n_leaves,)."""
    up = np.arange(n_leaves + len(children))
    up[children] = n_leaves + np.arange(len(children))[:, None]
    for node in range(len(up) - 2, -1, -1):
        up[node] = up[up[node]]
    return up[:n_leaves]


class Leaves(NamedTuple):
    """What the tree is made of."""

    of: np.ndarray  # (n,) leaf of every row, -1 for a stray
    size: np.ndarray  # (L,)
    means: np.ndarray  # (L, d)
    clusters: np.ndarray  # (L,) cluster of every leaf


def leaves_of(Z, labels, of):
    """Return the Leaves for the leaf of every row; an array or rows computed when asked for."""
    size = np.bincount(of[of >= 0])
    clusters = np.empty(len(size), dtype=np.int64)
    clusters[of[of >= 0]] = labels[of >= 0]

    def sums(part):
        inside = np.flatnonzero(of[part] >= 0)
        block = to_host(read_block(Z, part)).astype(np.float64)
        return one_hot(of[part][inside], len(size)) @ block[inside]

    width = max(Z.shape[1], 1)
    total = sum(found for _, found in over_rows(sums, size, len(of), width))
    means = total / size[:, None]
    return Leaves(of, size, means - means.mean(axis=0), clusters)


def numbered(of):
    """Return leaves numbered 0, 1, ... by first row; -1 stays."""
    of = of.copy()
    of[of >= 0] = by_appearance(of[of >= 0])[0]
    return of


def nearest_own(rows, labels, centres, owner):
    """Return the nearest centre of every row among those of its own cluster."""
    D = (centres**2).sum(axis=1) - 2 * rows @ centres.T
    D[labels[:, None] != owner] = np.inf
    return np.argmin(D, axis=1)


def small_centres(Z, labels, leaves, rng):
    """Return (centres (c, d) of small clusters, the cluster that each is part of)."""
    k = labels.max() + 1
    first = np.unique(labels, return_index=True)[1]
    rows = np.union1d(content_sample(Z, SAMPLE, rng), first)
    rows = rows[labels[rows] >= 0]
    sample, given = to_host(take_rows(Z, rows)).astype(np.float64), labels[rows]
    share = np.bincount(labels[labels >= 0], minlength=k) / np.count_nonzero(labels >= 0)
    found, owner = [], []
    for c in np.unique(given):
        own = sample[given == c]
        parts = int(np.clip(round(leaves * share[c]), 1, len(own)))
        seed = int(rng.integers(2**31 - 1))
        found += best_starts([own], parts, n_init=1, seed=seed)
        owner += [c] * parts
    return np.concatenate(found), np.array(owner)


def small_clusters(Z, labels, must, leaves, rng):
    """Return for many rows the part (n,) of its cluster that each is in; must-links hold."""
    n = len(labels)
    centres, owner = small_centres(Z, labels, leaves, rng)
    of = np.full(n, -1)

    def nearest(part):
        inside = part.start + np.flatnonzero(labels[part] >= 0)
        block = to_host(read_block(Z, part)).astype(np.float64)[inside - part.start]
        return inside, nearest_own(block, labels[inside], centres, owner)

    for _, (rows, found) in over_rows(nearest, centres, n, max(Z.shape[1], len(centres))):
        of[rows] = found
    joined = np.unique(must)
    if len(joined):
        group = np.unique(components(n, must)[joined], return_inverse=True)[1]
        members = one_hot(group, group.max() + 1)
        means = (members @ to_host(take_rows(Z, joined))) / members.sum(axis=1)[:, None]
        first = joined[np.unique(group, return_index=True)[1]]
        of[joined] = nearest_own(means, labels[first], centres, owner)[group]
    return of


def merges_within(means, size, clusters):
    """Yield (groups of a cluster, their Merges into one) for every cluster."""
    for c in np.unique(clusters):
        own = np.flatnonzero(clusters == c)
        D = ward_distances(means[own], size[own])
        yield own, merge_nearest(D, size[own].astype(D.dtype), np.zeros((0, 2), dtype=int), 1)


def merges_between(means, size, edges, rng):
    """Return the Merges of clusters that edges (r, 2) keep apart, into as few as possible."""
    k = len(size)
    for least in range(1, k + 1):
        colours, _ = colour(np.zeros((k, least)), edges, rng)
        if colours is not None:
            break
    D = ward_distances(means, size)
    witness = Witness(colours, edges, least) if len(edges) else None
    return merge_nearest(D, size.astype(D.dtype), edges, least, witness=witness)


def link_tree(Z, labels, links=None, *, leaves=None, rng=None):
    """Return the Tree around a clustering.

    Parameters
    ----------
    Z : array or sparse array (n, d), or rows in a file: coordinates that distances are taken in
    labels : int array (n,), the clusters; -1 for rows that are in none
    links : Constraints on row numbers, or None; those that the labels keep hold at every level
    leaves : int or None
        The number of leaves, about: at least the number of clusters. None: the rows, or 1,000 for
        more than 5,000 rows.
    rng : numpy Generator or None, to find the leaves of many rows

    Examples
    --------
    >>> from linkwise import Constraints
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0], [30.0]])
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> tree = link_tree(X, np.array([0, 0, 1, 1, 2]), links)
    >>> tree.n_roots, tree.cut(4).tolist(), tree.cut(2).tolist()
    (2, [0, 0, 1, 2, 3], [0, 0, 1, 1, 1])
    """
    rng = np.random.default_rng(0) if rng is None else rng
    labels = np.asarray(labels)
    must, cannot = kept_pairs(labels, links)
    if sparse.issparse(Z):
        rank = max(1, min(DIRECTIONS, min(Z.shape) - 1))
        basis = door(Z).leading_directions(Z, rank, int(rng.integers(2**31 - 1)))
        Z = LazyRows(Z, lambda rows: rows @ basis)
    groups = np.where(labels < 0, -1, components(len(labels), must))
    rows = np.count_nonzero(labels >= 0)
    if rows > MOST_ROWS or (leaves is not None and leaves < rows):
        groups = small_clusters(Z, labels, must, leaves or LEAVES, rng)
    found = leaves_of(Z, labels, numbered(groups))
    return tree_of(found, found.of[cannot], rng)


def kept_pairs(labels, links):
    """Return the must-links and the cannot-links (m, 2) that labels keep."""
    none = np.zeros((0, 2), dtype=np.int64)
    if links is None or not links:
        return none, none
    a, b = labels[links.ends].T
    kept = links.select(((a == b) == (links.sign > 0)) & (a >= 0) & (b >= 0))
    return kept.must_link, kept.cannot_link


def tree_of(leaves, cannot, rng):
    """Return the Tree of Leaves under cannot-links (m, 2) between them."""
    of, size, means, clusters = leaves
    L, children = len(size), []
    merged = list(merges_within(means, size, clusters))
    heights = [np.maximum.accumulate(one.heights) for _, one in merged]
    whose = np.repeat(np.arange(len(merged)), [len(one) for one in heights])
    nodes = [own.tolist() for own, _ in merged]  # of a cluster: its leaves, then its merges
    done = [0] * len(merged)
    order = np.argsort(np.concatenate(heights), kind="stable")
    for c in whose[order].tolist():
        a, b = merged[c][1].children[done[c]].tolist()
        children.append((nodes[c][a], nodes[c][b]))
        nodes[c].append(L + len(children) - 1)
        done[c] += 1

    numbers, cluster = np.unique(clusters, return_inverse=True)
    inside = one_hot(cluster, len(numbers))
    total = inside @ size
    centres = (inside @ (size[:, None] * means)) / total[:, None]
    top = merges_between(centres, total, component_pairs(cluster, cannot), rng)
    tops = [each[-1] for each in nodes]
    for a, b in top.children.tolist():
        children.append((tops[a], tops[b]))
        tops.append(L + len(children) - 1)
    found = np.r_[np.concatenate(heights)[order], top.heights]  # Eq. (2) below
    pairs = np.sort(np.array(children, dtype=np.int64).reshape(-1, 2), axis=1)
    return Tree(pairs, np.maximum.accumulate(found), of, size, clusters)
