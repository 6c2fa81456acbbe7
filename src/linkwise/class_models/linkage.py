"""Small clusters of a layout, merged into k clusters by the graph and by constraints.

    (1)  argmax_ab  sum_{i in a, j in b} w_ij / (|a| |b|)

Linkage merges the two clusters with the largest mean weight of the graph between them, again and
again: it sees the gaps of the layout through the edges that cross them. Often a class is several
islands. A few constraints tell which: linkage with constraints merges

    (2)  argmax_ab  log((1) + EMPTY w) + VOTE sum_{i in a, j in b} c_ij,   c > 0 for must-links

with c the weights of constraints and w the mean weight of the graph: islands without an edge
between them are not infinitely far apart, so that constraints can join them. VOTE is less than the
log odds of a constraint: small clusters are not pure, and with a large vote one wrong constraint
merges two of them.

An early merge cannot be undone by what later ones tell. So whole branches of the tree of merges
then move to the cluster b with which they have the largest (2), one after the other, as long as
that is larger than with the rest of their own cluster:

    (3)  s(t, b) - s(t, a without t) > 0,   s of (2); t a branch in cluster a

O(c^3) for c small clusters.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from linkwise.arrays import door, to_host
from linkwise.blocks import run_blocks
from linkwise.class_models.learners import among
from linkwise.partition.k_means import equal_rows_ignored, kmeans

SMALL = 100  # small clusters that linkage merges; 200 for many points
SMALL_SIZE = 10  # points of one on average at least
EACH = 5  # small clusters of a cluster, if there are the points: 38 faces .66, .65 by SMALL
VOTE = 0.9  # with n/4 constraints, one in ten wrong, digits .86 by it and .67 by the log odds, 3
EMPTY = 1e-2  # digits and pendigits gain .02 to .04 by linkage over 1e-9; about the same up to 1e-1
LEAST = 1e-12  # gain of a move that is not one of rounding
TINY = np.finfo(np.float64).tiny

quiet_kmeans = partial(kmeans, announce=False)  # LinkClustering says how many clusters it found


class Linkage(NamedTuple):
    """Small clusters of a layout, for linkage to merge."""

    small: np.ndarray  # (n,) of 0..c - 1
    size: np.ndarray  # (c,)
    between: np.ndarray  # (c, c) sums of graph weights
    tree: np.ndarray = np.zeros((0, 2))  # (c - 1, 2) its merges without constraints
    excess: np.ndarray = np.zeros(0)  # (c - 1,) weight that each of these joins, by that of chance


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


def votes(linkage, links):
    """Return the sums of c_ij between every two small clusters, (c, c)."""
    A = np.zeros(linkage.between.shape)
    if links is None:
        return A
    a, b = at_ends(linkage.small, links)
    says = links.sign * links.weight
    np.add.at(A, (a, b), says)
    np.add.at(A, (b, a), says)
    np.fill_diagonal(A, 0)  # within a small cluster nothing can be changed
    return A


def merges(linkage, links=None):
    """Return the order in which small clusters merge by Eq. (2), (c - 1, 2)."""
    C, size, A = linkage.between.copy(), linkage.size.copy(), VOTE * votes(linkage, links)
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


def branches(*trees):
    """Return the small clusters of every branch of trees of merges but the whole, (t, c)."""
    found = []
    for order in trees:
        c = len(order) + 1
        grown, of_tree = np.eye(c), list(np.eye(c))
        for a, b in order:
            grown[a] += grown[b]
            of_tree.append(grown[a].copy())
        found += of_tree[: 2 * c - 2]
    T = np.array(found)
    return T[np.unique(np.packbits(T > 0, axis=1), axis=0, return_index=True)[1]]


def parts_of_clusters(shared, count):
    """Return (numbers of the branches within one cluster and less than it, their clusters).

    Parameters
    ----------
    shared : array (t, k), how many small clusters each branch has in each cluster
    count : array (k,), how many each cluster has
    """
    whole = (shared > 0).sum(axis=1) == 1
    home = shared.argmax(axis=1)
    found = np.flatnonzero(whole & (shared.max(axis=1) < count[home]))
    return found, home[found]


def move_branches(linkage, links, of, T):
    """Return the clusters (c,) of the small clusters after the moves of Eq. (3).

    Parameters
    ----------
    of : int array (c,), clusters 0..k - 1; none of them gets empty
    T : array (t, c), the branches
    """
    of, size = of.copy(), T @ linkage.size
    weights, said = T @ linkage.between, T @ (VOTE * votes(linkage, links))  # (t, c)
    own = np.sum(weights * T, axis=1), np.sum(said * T, axis=1)
    member, least = np.eye(of.max() + 1)[of], least_weight(linkage)  # (c, k)
    count, sizes = member.sum(axis=0), linkage.size @ member
    # small clusters that a branch and a cluster share, and weights and votes between the two
    shared, w, v = T @ member, weights @ member, said @ member  # (t, k)
    for _ in of:  # (3) is no ascent of one objective, and may come back to where it was
        t, home = parts_of_clusters(shared, count)
        if len(t) == 0:
            break
        row = np.arange(len(t))
        others, w_others, v_others = np.tile(sizes, (len(t), 1)), w[t], v[t]
        for sums, of_branch in ((others, size), (w_others, own[0]), (v_others, own[1])):
            sums[row, home] -= of_branch[t]
        score = nearness(w_others, size[t, None] * others, least) + v_others  # Eq. (2)
        gain = score - score[row, home][:, None]
        best, to = np.unravel_index(np.argmax(gain), gain.shape)
        if gain[best, to] <= LEAST:
            break
        moved, origin = T[t[best]], home[best]
        of[moved > 0] = to
        for sums, change in (
            (shared, T @ moved), (w, weights @ moved), (v, said @ moved),
            (count, moved.sum()), (sizes, size[t[best]]),
        ):  # fmt: skip
            sums[..., origin] -= change
            sums[..., to] += change
    return of


def excesses(C, order):
    """Return the weight between the two clusters of every merge by that of chance, (c - 1,).

    By chance, clusters of the degrees d_a and d_b share d_a d_b / total.
    """
    C, degree = C.copy(), C.sum(axis=1)
    total, found = max(degree.sum(), TINY), np.zeros(len(order))
    for number, (a, b) in enumerate(order):
        found[number] = C[a, b] * total / max(degree[a] * degree[b], TINY)
        C[a] += C[b]
        C[:, a] += C[:, b]
        degree[a] += degree[b]
    return found


def with_tree(linkage):
    """Return a Linkage with its merges without constraints."""
    tree = merges(linkage)
    return linkage._replace(tree=tree, excess=excesses(linkage.between, tree))


def small_clusters(n, k):
    """Return the number of small clusters of n points, for linkage into k clusters.

    >>> small_clusters(1000, 2), small_clusters(20_000, 10), small_clusters(2000, 38)
    (100, 200, 190)
    """
    usual = SMALL if n <= 100 * SMALL else 2 * SMALL
    return max(min(max(usual, EACH * k), n // SMALL_SIZE), 2)


def linkage_of(island, count, rng):
    """Return the Linkage of that many small clusters of an island smoother."""
    small, centres, _ = quiet_kmeans(island.place.Y, count, n_init=1, rng=rng)
    c = len(centres)
    size = np.bincount(to_host(small)).astype(np.float64)
    C = between(island.place.graph.W, small, c)
    C = (C + C.T) / 2  # sums in single precision depend on their order
    return with_tree(Linkage(small, size, C))


def linkages_of(learners, count, seed):
    """Return {view: Linkage} of that many small clusters of the island smoothers."""

    def of_island(island):
        return island.view, linkage_of(island, count, np.random.default_rng([seed, island.view]))

    with equal_rows_ignored():
        return dict(run_blocks(of_island, among(learners, "island")))
