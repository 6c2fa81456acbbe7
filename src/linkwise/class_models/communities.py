"""Small clusters of a layout, put together so that the graph and the constraints agree most.

Linkage (``linkage``) does not care how large clusters are. A small island that is far from all
others stays a cluster to the end, and two classes have to merge in its place. Communities are the
clusters with

    (1)  max  N Q / 2 + sum over pairs in one cluster of c_ij,   c_ij > 0 for must-links
    (2)  Q = sum over clusters of inside / total - R (degree / total)^2

Q is the modularity with the resolution R [1], from sums of the weights of the graph. Two clusters
without an edge between them lose N R times the product of their shares by a merge, and N / 2
cannot-links between pairs drawn at random would cost them as much.

A small R suits few communities, a large R many. With an R that suits other numbers than k, chance
decides which are cut or joined. So R is the median of what linkage joins between 2 k and k / 2
clusters, by what chance would: two clusters with less in common stay apart.

From linkage on, a part of a cluster leaves it, and of the k + 1 clusters those two merge that lose
least, as long as (1) grows. The parts are the branches of the trees of merges; where no branch
gains, the halves of every cluster.

O(c^3) a move, for c small clusters.

[1] Reichardt & Bornholdt, Statistical mechanics of community detection, Physical Review E 2006.
"""

import numpy as np

from linkwise.class_models.linkage import LEAST, TINY, parts_of_clusters, votes

MOST, EACH = 3000, 2  # N at most, and for every point; 1,000 to 10,000 do about the same
RESOLUTION = 0.85  # R at least: islands far apart give about 0; with 1 large classes are halved


def best_pairs(S):
    """Return for every cluster h the largest S_ab (k,) with a, b other than h, and a, b (k, 2)."""
    k = len(S)
    first = np.unravel_index(np.argmax(S), S.shape)
    most, pair = np.full(k, S[first]), np.tile(first, (k, 1))
    for h in first:
        rest = S.copy()
        rest[h] = rest[:, h] = -np.inf
        pair[h] = np.unravel_index(np.argmax(rest), S.shape)
        most[h] = rest[tuple(pair[h])]
    return most, pair


def halves(S, of):
    """Return one half of every cluster of several small ones, (h, c) with 0 and 1.

    Two halves lose about the least possible sum of S between them: the signs of the smoothest
    vector on the graph S, apart from the constant one.
    """
    found = []
    for cluster in range(of.max() + 1):
        rows = np.flatnonzero(of == cluster)
        if len(rows) < 2:
            continue
        inside = S[np.ix_(rows, rows)]
        L = np.diag(inside.sum(axis=1)) - inside
        vector = np.linalg.eigh(L + abs(L).sum() / len(rows))[1][:, 0]
        half = np.zeros(len(of))
        half[rows[vector > 0]] = 1
        found.append(half)
    return np.array(found).reshape(-1, len(of))


def leave_and_merge(S, of, T):
    """Return the clusters after the move for which Eq. (1) grows most, and by how much.

    A part t of a cluster h leaves it, and of the k + 1 clusters two merge: t and another one, the
    rest of h and another one, or two others.

    Parameters
    ----------
    S : array (c, c), of `agreement`
    of : int array (c,), clusters 0..k - 1
    T : array (t, c), the parts; those within one cluster, and less than it, may leave
    """
    member = np.eye(of.max() + 1)[of]  # (c, k)
    t, home = parts_of_clusters(T @ member, member.sum(axis=0))
    if len(t) == 0:
        return of, 0.0
    row, both, T = np.arange(len(t)), member.T @ S @ member, T[t]
    gained = T @ S  # (t, c)
    part = gained @ member  # by a merge of the part with every cluster, (t, k)
    rest = both[home] - part  # and of the rest of its cluster
    lost = part[row, home] - np.sum(gained * T, axis=1)
    part[row, home] = rest[row, home] = -np.inf
    np.fill_diagonal(both, -np.inf)
    others, pair = best_pairs(both)
    options = np.stack((part.max(axis=1), rest.max(axis=1), others[home]))
    gain = options.max(axis=0) - lost
    best = int(np.argmax(gain))
    kind, moved, h, of = int(options[:, best].argmax()), T[best] > 0, home[best], of.copy()
    if kind == 0:
        of[moved] = part[best].argmax()
    elif kind == 1:
        of[(of == h) & ~moved] = rest[best].argmax()
    else:
        a, b = pair[h]
        of[of == b] = a
        of[moved] = b
    return of, gain[best]


def resolution(linkage, k):
    """Return R of Eq. (2)."""
    c = len(linkage.size)
    joined = linkage.excess[max(c - 2 * k, 0) : c - max(k // 2, 1)]
    return max(RESOLUTION, float(np.median(joined))) if len(joined) else RESOLUTION


def agreement(linkage, k, links=None):
    """Return what Eq. (1) gains by every two small clusters in one cluster, (c, c), 0 for one."""
    degree, total = linkage.between.sum(axis=1), max(linkage.between.sum(), TINY)
    N = min(EACH * linkage.size.sum(), MOST)
    chance = np.outer(degree, degree / total)
    S = N * (linkage.between - resolution(linkage, k) * chance) / total + votes(linkage, links)
    np.fill_diagonal(S, 0)
    return S


def communities(linkage, links, of, T):
    """Return the clusters (c,) of the small clusters after the moves for Eq. (1).

    Parameters
    ----------
    linkage : Linkage
    links : Constraints on the points, or None
    of : int array (c,), clusters 0..k - 1; none of them gets empty
    T : array (t, c), the branches
    """
    S = agreement(linkage, int(of.max()) + 1, links)
    least = LEAST * abs(S).sum()

    def ascended(of, parts):
        """Return the clusters after all moves of some parts that gain, and the gain."""
        total = 0.0
        while True:
            found, gain = leave_and_merge(S, of, parts)
            if not gain > least:
                return of, total
            of, total = found, total + gain

    of, _ = ascended(of, T)
    while True:
        found, change = leave_and_merge(S, of, halves(S, of))
        found, gain = ascended(found, T)
        if not change + gain > least:
            return of
        of = found
