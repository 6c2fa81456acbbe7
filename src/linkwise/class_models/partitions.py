"""Partitions without constraints: several in every view, and the one to believe.

    k-means    of the view
    mixture    of Gaussian distributions, from k-means on; in one view
    spectral   k-means of the smoothest eigenvectors of its graph
    islands    k-means of the layout of the graph (``embedding.manifold``)
    linkage    small clusters of the layout, merged two by two where the mean weight of the graph
               between them is largest:

    (1)  argmax_ab  sum_{i in a, j in b} w_ij / (|a| |b|)

An island may be long or bent, and k-means cuts it; linkage does not, since (1) sees the gaps of the
layout through the edges that cross them. On tables without islands k-means is better.

Often a class is several islands. A few constraints tell which: linkage with constraints merges

    (2)  argmax_ab  log((1) + EMPTY w) + v sum_{i in a, j in b} c_ij,   c > 0 for must-links

with c the weights of constraints and w the mean weight of the graph: islands without an edge
between them are not infinitely far apart, so that constraints can join them. The vote v is either
the log odds of a constraint, or less: small clusters are not pure, and with a large vote one wrong
constraint merges two of them. Constraints that were held out tell which is right (``choice``).

An early merge cannot be undone by what later ones tell. So whole branches of the tree of merges
then move to the cluster b with which they have the largest (2), one after the other, as long as
that is larger than with the rest of their own cluster:

    (3)  s(t, b) - s(t, a without t) > 0,   s of (2); t a branch in cluster a

Which partition to believe is told by the partitions together and by the graphs:

    (4)  score = mean adjusted Rand index with the others * max(mean modularity in the graphs, 0)

Where some partition comes near the largest possible modularity, 1 - 1/k, the graphs show k islands,
and the modularity decides alone: partitions that cut islands would agree on what is wrong. Where
islands are blurred, partitions by k-means and mixtures get a factor BLIND: they do not see the
graph, and those made from the graph have its modularity partly by fitting it.

A whitened view (``views``) may show islands where all others show what the classes share. If its
graph lacks less than CLEARER of the modularity that the clearest of the other graphs lacks, it
decides alone. No other graph does: one column of large values makes a clear and wrong one.

O(n k) for each, O(c^3) for the linkage of c small clusters.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from linkwise.arrays import door, to_host
from linkwise.blocks import run_blocks
from linkwise.class_models.learners import Gaussian, among, graphs_among, mixture
from linkwise.embedding.spectral import unit_rows
from linkwise.partition.k_means import equal_rows_ignored, kmeans

STARTS = 3  # of k-means: many partitions are made, and none of them has to be the very best
CLEAR = 0.9  # share of the largest possible modularity; images of digits have .92 to .95
CLEARER = 2 / 3  # 38 faces in changing light .47; other images and tables .98 and more
BLIND = 1.09  # from 1.06 to 1.1 texts gain .1 and tables lose nothing
SMALL = 100  # small clusters that linkage merges; 200 for many points and for many clusters
CAUTIOUS = 0.9  # v; with n/4 constraints, one in ten wrong, digits .86 by it and .67 by BOLD
BOLD = 3.0  # v; log odds of a constraint right 19 times in 20; with n/10 right ones .89, not .82
EMPTY = 1e-2  # digits and pendigits gain .02 to .04 by linkage over 1e-9; about the same up to 1e-1
LEAST = 1e-12  # gain of a move that is not one of rounding
TINY = np.finfo(np.float64).tiny
SMALL_SIZE = 10  # points of one on average at least


class Linkage(NamedTuple):
    """Small clusters of a layout, for linkage to merge."""

    small: np.ndarray  # (n,) of 0..c - 1
    size: np.ndarray  # (c,)
    between: np.ndarray  # (c, c) sums of graph weights
    tree: np.ndarray = np.zeros((0, 2))  # (c - 1, 2) its merges without constraints


class Partition(NamedTuple):
    """One way to cut the points into clusters."""

    name: str
    labels: np.ndarray  # (n,)
    of_graph: bool = False  # whether it was made from a graph
    linkage: Linkage | None = None  # that it comes from
    vote: float = CAUTIOUS  # of a constraint, in the linkage


quiet_kmeans = partial(kmeans, announce=False)  # LinkClustering says how many clusters it found


def view_k_means(view, k, rng):
    """Return labels (n,) of k-means in a view."""
    return quiet_kmeans(view.X, k, n_init=STARTS, rng=rng).labels


def between(W, labels, c):
    """Return the sums of graph weights between c clusters, (c, c)."""
    return door(W).weights_between(W, labels, c)


def at_ends(labels, links):
    """Return the labels of the two points of every constraint, NumPy (m,) and (m,)."""
    return to_host(labels[door(labels).asarray(links.ends, labels)]).T


def least_weight(linkage):
    """Return what Eq. (2) adds to a mean weight, EMPTY w, positive."""
    return max(EMPTY * linkage.between.sum() / linkage.size.sum() ** 2, TINY)


def nearness(weights, sizes, least):
    """Return the first term of Eq. (2) from sums of weights and products of sizes."""
    return np.log(np.maximum(weights / sizes, 0) + least)


def votes(linkage, links, vote):
    """Return what constraints say about every two small clusters, the last term of Eq. (2)."""
    A = np.zeros(linkage.between.shape)
    if links is None:
        return A
    a, b = at_ends(linkage.small, links)
    says = links.sign * links.weight * vote
    np.add.at(A, (a, b), says)
    np.add.at(A, (b, a), says)
    np.fill_diagonal(A, 0)  # within a small cluster nothing can be changed
    return A


def merges(linkage, links=None, vote=0.0):
    """Return the order in which small clusters merge by Eq. (2), (c - 1, 2)."""
    C, size, A = linkage.between.copy(), linkage.size.copy(), votes(linkage, links, vote)
    c, least = len(size), least_weight(linkage)
    score = nearness(C, np.outer(size, size), least) + A
    np.fill_diagonal(score, -np.inf)
    gone, found = np.zeros(c, dtype=bool), []
    for _ in range(c - 1):
        a, b = np.unravel_index(np.argmax(score), score.shape)
        found.append((a, b))
        for sums in (C, A):
            sums[a] += sums[b]
            sums[:, a] += sums[:, b]
        size[a] += size[b]
        gone[b] = True
        score[a] = np.where(gone, -np.inf, nearness(C[a], size[a] * size, least) + A[a])
        score[a, a] = -np.inf
        score[:, a] = score[a]
        score[b] = score[:, b] = -np.inf
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def cut(order, k):
    """Return the clusters 0..k - 1 of the small clusters (c,) after merges that leave k."""
    of = np.arange(len(order) + 1)
    for a, b in order[: max(len(order) + 1 - k, 0)]:
        of[of == b] = a
    return np.unique(of, return_inverse=True)[1]


def branches(order):
    """Return the small clusters of every branch of a tree of merges but the whole, (t, c)."""
    c = len(order) + 1
    grown, found = np.eye(c), list(np.eye(c))
    for a, b in order:
        grown[a] += grown[b]
        found.append(grown[a].copy())
    return np.array(found[: 2 * c - 2])


def move_branches(linkage, links, vote, of, trees):
    """Return the clusters (c,) of the small clusters after the moves of Eq. (3).

    Parameters
    ----------
    of : int array (c,), clusters 0..k - 1; none of them gets empty
    trees : list of merges, whose branches may move
    """
    T, of = np.concatenate([branches(tree) for tree in trees]), of.copy()
    T = T[np.unique(np.packbits(T > 0, axis=1), axis=0, return_index=True)[1]]
    size = T @ linkage.size
    weights, said = T @ linkage.between, T @ votes(linkage, links, vote)  # (t, c)
    inside = np.sum(weights * T, axis=1), np.sum(said * T, axis=1)
    least = least_weight(linkage)
    for _ in of:  # (3) is no descent of one objective, and may come back to where it was
        member = np.eye(of.max() + 1)[of]  # (c, k)
        shared = T @ member
        whole = np.flatnonzero((shared > 0).sum(axis=1) == 1)  # branches within one cluster
        home, row = shared[whole].argmax(axis=1), np.arange(len(whole))
        others = np.tile(linkage.size @ member, (len(whole), 1))
        w, v = weights[whole] @ member, said[whole] @ member
        for sums, own in ((others, size), (w, inside[0]), (v, inside[1])):
            sums[row, home] -= own[whole]
        score = nearness(w, size[whole, None] * np.maximum(others, 1), least) + v  # Eq. (2)
        gain = score - score[row, home][:, None]
        gain[others[row, home] <= 0] = 0  # the branch is all of its cluster
        best, to = np.unravel_index(np.argmax(gain), gain.shape)
        if gain[best, to] <= LEAST:
            break
        of[T[whole[best]] > 0] = to
    return of


def linkage_of(island, rng):
    """Return the Linkage of an island smoother."""
    Y = island.place.Y
    c = int(min(SMALL if len(Y) <= 100 * SMALL else 2 * SMALL, max(len(Y) // SMALL_SIZE, 2)))
    small, centres, _ = quiet_kmeans(Y, c, n_init=1, rng=rng)
    c = len(centres)
    size = np.bincount(to_host(small)).astype(np.float64)
    found = Linkage(small, size, between(island.place.graph.W, small, c))
    return found._replace(tree=merges(found))


def linkages_of(learners, seed):
    """Return {view: Linkage} of the island smoothers; they serve every number of clusters."""

    def of_island(island):
        return island.view, linkage_of(island, np.random.default_rng([seed, island.view]))

    with equal_rows_ignored():
        return dict(run_blocks(of_island, among(learners, "island")))


def linked(name, linkage, k, links=None, vote=CAUTIOUS):
    """Return the Partition into k clusters by linkage and constraints."""
    if links is None:
        of = cut(linkage.tree, k)
    else:
        order = merges(linkage, links, vote)
        of = move_branches(linkage, links, vote, cut(order, k), [linkage.tree, order])
    labels = door(linkage.small).asarray(of, linkage.small)[linkage.small]
    return Partition(name, labels, of_graph=True, linkage=linkage)


def with_constraints(partition, k, links):
    """Return labels (n,) of a partition, those of linkage merged by the constraints."""
    if partition.linkage is None:
        return partition.labels
    return linked(partition.name, partition.linkage, k, links, partition.vote).labels


def plain_partitions(views, learners, linkages, k, seed):
    """Return partitions into k clusters, several in every view.

    Parameters
    ----------
    views : list of View
    learners : list of Smoother and Gaussian; the graphs and islands among them give partitions
    linkages : dict {view: Linkage}, of the islands
    k : int
    seed : int

    Returns
    -------
    list of Partition
    """

    def of_view(number):
        def rng():
            return np.random.default_rng([seed, k, number])

        view = views[number]
        plain = view_k_means(view, k, rng())
        found = [Partition("k-means", plain)]
        for one in learners:
            if one.view != number:
                continue
            if isinstance(one, Gaussian):
                found.append(Partition(f"{one.name} mixture", mixture(one, plain, k)))
            elif one.name == "graph":
                labels = quiet_kmeans(unit_rows(one.U[:, :k]), k, n_init=STARTS, rng=rng()).labels
                found.append(Partition("spectral", labels, of_graph=True))
            elif one.name == "island":
                labels = quiet_kmeans(one.place.Y, k, n_init=STARTS, rng=rng()).labels
                found.append(Partition("islands", labels, of_graph=True))
                if len(linkages[number].size) >= k:
                    found.append(linked("linkage", linkages[number], k))
        return [one._replace(name=f"{one.name}, {view.name}") for one in found]

    with equal_rows_ignored():
        return [one for found in run_blocks(of_view, range(len(views))) for one in found]


def agreements(partitions):
    """Return how much each partition agrees with all, the mean adjusted Rand index (p,)."""
    labels = [one.labels for one in partitions]
    n, sizes = len(labels[0]), [int(one.max()) + 1 for one in labels]
    first = np.concatenate(([0], np.cumsum(sizes)))
    shared = door(labels[0]).shared_counts(labels)  # of every two clusters, the points in both
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


def clearest(inside, views, whitened, k):
    """Return the number of the whitened graph that decides alone, None if there is none.

    Parameters
    ----------
    inside : array (p, g), modularity of every partition in every graph
    views : array (g,), the view of every graph
    whitened : list of the numbers of whitened views
    k : int
    """
    white = np.isin(views, whitened)
    if not white.any() or white.all():
        return None
    lacking = 1 - 1 / k - inside.max(axis=0)
    best = int(np.argmin(np.where(white, lacking, np.inf)))
    return best if lacking[best] < CLEARER * lacking[~white].min() else None


def believed(partitions, learners, k, whitened=()):
    """Return how much each partition into k clusters is to be believed, Eq. (4), (p,), >= 0.

    Parameters
    ----------
    partitions : list of Partition
    learners : list of Smoother and Gaussian; the graphs among them judge
    k : int
    whitened : list of the numbers of whitened views
    """
    graphs = graphs_among(learners)
    if not graphs:
        return np.maximum(agreements(partitions), 0)
    inside = np.array(
        [[modularity(one.place.graph.W, each.labels) for one in graphs] for each in partitions]
    )
    alone = clearest(inside, [one.view for one in graphs], list(whitened), k)
    inside = np.maximum(inside.mean(axis=1) if alone is None else inside[:, alone], 0)
    if alone is not None or inside.max() >= CLEAR * (1 - 1 / k):
        return inside
    factor = [1 if one.of_graph else BLIND for one in partitions]
    return np.maximum(agreements(partitions), 0) * inside * factor
