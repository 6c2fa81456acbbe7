"""Partitions without constraints: several in every view, and the one to believe.

    k-means    of the view
    spectral   k-means of the smoothest eigenvectors of its graph
    islands    k-means of the layout of the graph (``embedding.manifold``)
    linkage    small clusters of the layout, merged two by two where the mean weight of the graph
               between them is largest:

    (1)  argmax_ab  sum_{i in a, j in b} w_ij / (|a| |b|)

An island may be long or bent, and k-means cuts it; linkage does not, since (1) sees the gaps of the
layout through the edges that cross them. On tables without islands k-means is better. Which one to
believe is told by the partitions together and by the graphs:

    (2)  score = mean adjusted Rand index with the others * max(mean modularity in the graphs, 0)

O(n k) for each, O(c^3) for the linkage of c small clusters.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.class_models.learners import among, graphs_among
from linkwise.embedding.spectral import unit_rows
from linkwise.partition.k_means import kmeans

STARTS = 3  # of k-means: many partitions are made, and none of them has to be the very best
SMALL = 100  # small clusters that linkage merges; 200 for many points and for many clusters
SMALL_SIZE = 10  # points of one on average at least


class Partition(NamedTuple):
    """One way to cut the points into clusters."""

    name: str
    labels: np.ndarray  # (n,)


def view_k_means(view, k, rng):
    """Return labels (n,) of k-means in a view."""
    return kmeans(view.X, k, n_init=STARTS, rng=rng).labels


def between(W, labels, c):
    """Return the sums of graph weights between c clusters, (c, c)."""
    S = sparse.csr_array((np.ones(len(labels), dtype=W.dtype), (labels, np.arange(len(labels)))))
    S.resize((c, len(labels)))
    return (S @ W @ S.T).toarray().astype(np.float64)


def merges(W, small):
    """Return the order in which small clusters (labels, 0..c - 1) merge by Eq. (1), (c - 1, 2)."""
    c = int(small.max()) + 1
    C, size = between(W, small, c), np.bincount(small, minlength=c).astype(np.float64)
    mean = C / np.outer(size, size)
    np.fill_diagonal(mean, -1)
    found = []
    for _ in range(c - 1):
        a, b = np.unravel_index(np.argmax(mean), mean.shape)
        found.append((a, b))
        C[a] += C[b]
        C[:, a] += C[:, b]
        size[a] += size[b]
        mean[a] = mean[:, a] = np.where(mean[a] == -2, -2, C[a] / (size[a] * size))
        mean[b] = mean[:, b] = -2  # gone
        mean[a, a] = -1
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def cut(small, order, k):
    """Return labels 0..k - 1 after as many merges as leave k clusters."""
    of = np.arange(int(small.max()) + 1)
    for a, b in order[: max(len(order) + 1 - k, 0)]:
        of[of == b] = a
    return np.unique(of, return_inverse=True)[1][small]


class Linkage(NamedTuple):
    """The small clusters of a layout, and the order in which they merge."""

    small: np.ndarray  # (n,)
    order: np.ndarray  # (c - 1, 2)


def linkage_of(island, rng):
    """Return the Linkage of an island smoother."""
    Y = island.place.Y
    c = int(min(SMALL if len(Y) <= 100 * SMALL else 2 * SMALL, max(len(Y) // SMALL_SIZE, 2)))
    small = np.unique(kmeans(Y, c, n_init=1, rng=rng).labels, return_inverse=True)[1]
    return Linkage(small, merges(island.place.graph.W, small))


def plain_partitions(views, learners, k, seed):
    """Return partitions into k clusters, several in every view.

    Parameters
    ----------
    views : list of View
    learners : list of Smoother and Gaussian; the graphs and islands among them give partitions
    k : int
    seed : int

    Returns
    -------
    list of Partition
    """
    found = []
    for number, view in enumerate(views):
        rng = np.random.default_rng([seed, k, number])
        found.append(Partition(f"k-means, {view.name}", view_k_means(view, k, rng)))
    for graph in graphs_among(learners):
        rng = np.random.default_rng([seed, k, graph.view])
        Z = unit_rows(graph.U[:, :k])
        labels = kmeans(Z, k, n_init=STARTS, rng=rng).labels
        found.append(Partition(f"spectral, {views[graph.view].name}", labels))
    for island in among(learners, "island"):
        rng = np.random.default_rng([seed, k, island.view])
        name = views[island.view].name
        labels = kmeans(island.place.Y, k, n_init=STARTS, rng=rng).labels
        found.append(Partition(f"islands, {name}", labels))
        linkage = linkage_of(island, np.random.default_rng([seed, island.view]))
        if len(linkage.order) >= k:
            found.append(Partition(f"linkage, {name}", cut(linkage.small, linkage.order, k)))
    return found


def agreements(partitions):
    """Return how much each partition agrees with all, the mean adjusted Rand index (p,)."""
    n, sizes = len(partitions[0].labels), [int(one.labels.max()) + 1 for one in partitions]
    first = np.concatenate(([0], np.cumsum(sizes)))
    columns = np.concatenate([one.labels + a for one, a in zip(partitions, first, strict=False)])
    rows = np.tile(np.arange(n), len(partitions))
    S = sparse.csr_array((np.ones(len(rows), dtype=np.float64), (rows, columns)))
    shared = (S.T @ S).toarray()  # of every two clusters, the number of points in both
    both = np.add.reduceat(np.add.reduceat(shared * (shared - 1), first[:-1]), first[:-1], axis=1)
    own = np.diag(both)  # points together, two by two: in one partition, and in both of two
    chance = np.outer(own, own) / max(n * (n - 1), 1)
    most = (own[:, None] + own) / 2 - chance
    index = np.divide(both - chance, most, out=np.ones_like(most), where=most > 0)
    return index.mean(axis=1)


def modularity(W, labels):
    """Return the modularity of labels (n,) in a graph: the share of weight within, less chance."""
    C = between(W, labels, int(labels.max()) + 1)
    total = max(C.sum(), np.finfo(np.float64).tiny)
    return float(np.trace(C) / total - ((C.sum(axis=1) / total) ** 2).sum())


def believed(partitions, learners):
    """Return how much each partition is to be believed, Eq. (2), (p,), at least 0."""
    graphs = [graph.place.graph.W for graph in graphs_among(learners)]
    inside = [np.mean([modularity(W, one.labels) for W in graphs] or [1]) for one in partitions]
    return np.maximum(agreements(partitions), 0) * np.maximum(inside, 0)
