"""Partitions without constraints: several in every view, and the one to believe.

    k-means    of the view
    mixture    of Gaussian distributions, from k-means on; in one view
    spectral   k-means of the smoothest eigenvectors of its graph
    islands    k-means of the layout of the graph (``embedding.manifold``)
    linkage    small clusters of the layout, merged where the graph joins them (``linkage``)
    communities   the same small clusters, put together so that the modularity is largest

An island may be long or bent, and k-means cuts it; linkage does not. Linkage leaves small islands
alone, communities are of about equal size. On tables without islands k-means is better. With
constraints, linkage and communities are made anew.

Which partition to believe is told by the partitions together and by the graphs:

    (1)  score = mean adjusted Rand index with the others * max(mean modularity in the graphs, 0)

Where some partition comes near the largest possible modularity, 1 - 1/k, the graphs show k islands,
and the modularity decides alone: partitions that cut islands would agree on what is wrong. Where
islands are blurred, partitions by k-means and mixtures get a factor BLIND: they do not see the
graph, and those made from the graph have its modularity partly by fitting it.

A whitened view (``views``) may show islands where all others show what the classes share. If its
graph lacks less than CLEARER of the modularity that the clearest of the other graphs lacks, it
decides alone. No other graph does: one column of large values makes a clear and wrong one.

O(n k) for each, O(c^3) for the linkage of c small clusters.
"""

from typing import NamedTuple

import numpy as np

from linkwise.arrays import door
from linkwise.blocks import run_blocks
from linkwise.class_models.communities import communities
from linkwise.class_models.learners import Gaussian, graphs_among, mixture
from linkwise.class_models.linkage import (
    Linkage,
    between,
    branches,
    cut,
    merges,
    move_branches,
    quiet_kmeans,
)
from linkwise.embedding.spectral import unit_rows
from linkwise.partition.k_means import equal_rows_ignored

STARTS = 3  # of k-means: many partitions are made, and none of them has to be the very best
CLEAR = 0.9  # share of the largest possible modularity; images of digits have .92 to .95
CLEARER = 2 / 3  # 38 faces in changing light .47; other images and tables .98 and more
BLIND = 1.09  # from 1.06 to 1.1 texts gain .1 and tables lose nothing


class Partition(NamedTuple):
    """One way to cut the points into clusters."""

    name: str
    labels: np.ndarray | None  # (n,); None if they are only made with constraints
    of_graph: bool = False  # whether it was made from a graph
    linkage: Linkage | None = None  # that it comes from
    even: bool = False  # whether small clusters are put together by modularity


def view_k_means(view, k, rng):
    """Return labels (n,) of k-means in a view."""
    return quiet_kmeans(view.X, k, n_init=STARTS, rng=rng).labels


class Merged(NamedTuple):
    """The merges of small clusters by a graph and by constraints, for any number of clusters."""

    order: np.ndarray  # (c - 1, 2)
    parts: np.ndarray  # (t, c), the branches of these merges and of those by the graph alone


def merged(linkage, links):
    """Return the small clusters of a linkage as Merged by constraints."""
    order = merges(linkage, links)
    return Merged(order, branches(linkage.tree, order))


def labels_of(linkage, of):
    """Return the labels (n,) of the points from the clusters (c,) of their small clusters."""
    return door(linkage.small).asarray(of, linkage.small)[linkage.small]


def unmade(linkage):
    """Return the Partitions by linkage and by communities, to be made with constraints."""
    return [
        Partition("linkage", None, True, linkage),
        Partition("communities", None, True, linkage, even=True),
    ]


def linked(linkage, k):
    """Return the Partitions into k clusters by linkage and by communities, without constraints."""
    of = cut(linkage.tree, k)
    both = of, communities(linkage, None, of, branches(linkage.tree))
    return [
        one._replace(labels=labels_of(linkage, each))
        for one, each in zip(unmade(linkage), both, strict=True)
    ]


def with_constraints(partitions, k, links, known=None):
    """Return the labels (n,) of each of some partitions; small clusters follow the constraints.

    ``known`` is a dict that keeps, for these constraints, what does not depend on k.
    """
    known = {} if known is None else known
    by_linkage: dict = {}  # linkage and communities start alike
    found = []
    for one in partitions:
        if one.linkage is None:
            found.append(one.labels)
            continue
        key = id(one.linkage)
        if key not in known:
            known[key] = one.linkage, merged(one.linkage, links)  # the id is taken as long as it is
        order, T = known[key][1]
        if key not in by_linkage:
            by_linkage[key] = move_branches(one.linkage, links, cut(order, k), T)
        of = by_linkage[key]
        of = communities(one.linkage, links, of, T) if one.even else of
        found.append(labels_of(one.linkage, of))
    return found


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
                    found += linked(linkages[number], k)
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
    """Return how much each partition into k clusters is to be believed, Eq. (1), (p,), >= 0.

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
