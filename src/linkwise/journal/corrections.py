"""Corrections of clusters, as bodies of events that stay true when the clusters change.

The number of a cluster means nothing after the next fit, and naming all of its rows would keep its
errors as well. A correction therefore names representatives: the rows nearest to the centres of a
small k-means within the cluster. Each represents many rows, and none lies at the edge.

    (1)  merge clusters c, d        one group through the representatives of both
    (2)  split rows S off c         S apart from the representatives of the rest of c
    (3)  move rows S into d         S and the representatives of d are one group, apart from those
                                    of the clusters that S leaves

S is the selection of the user, and all of it is named. These functions take row numbers and return
the user's ids.

Where two corrections disagree, the later one holds, and pairs of the earlier one are taken back.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from linkwise.journal.events import BY_HAND, Body, Id

if TYPE_CHECKING:
    import numpy as np

    from linkwise.constraints import Constraints

N = 12  # representatives of a cluster: enough for several dense parts, few enough for a short log
SAMPLE = 2000  # rows of a cluster that k-means sees; it bounds the time on large clusters


def representatives(X: Any, rows: Any, n: int = N) -> list[int]:
    """Return at most n of the rows (row numbers) that represent all of them, ascending."""
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    rows = np.asarray(rows)
    if len(rows) <= n:
        return sorted(rows.tolist())
    if len(rows) > SAMPLE:
        rows = np.random.default_rng(0).choice(rows, SAMPLE, replace=False)
    X = X[rows]
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    distinct = len(np.unique(dense, axis=0))
    centers = KMeans(min(n, distinct), n_init=1, random_state=0).fit(X).cluster_centers_
    return sorted(set(rows[pairwise_distances_argmin(centers, X)].tolist()))


def _members(labels: Iterable[int], cluster: int, but: Iterable[int] = ()) -> list[int]:
    rows = [i for i, label in enumerate(labels) if label == cluster]
    but = set(but)
    return [i for i in rows if i not in but]


def _named(rows: Iterable[int], ids: Sequence[str] | None) -> list[Id]:
    return list(rows) if ids is None else [ids[i] for i in rows]


def merging(
    X: Any, labels: Any, first: int, second: int, *, ids: Sequence[str] | None = None
) -> Body:
    """Return the body of the merge of two clusters, Eq. (1)."""
    if first == second:
        raise ValueError(f"second must be another cluster than first; got {first} twice")
    parts = [_members(labels, cluster) for cluster in (first, second)]
    if not all(parts):
        empty = second if parts[0] else first
        raise ValueError(f"there is no cluster {empty}; name one that labels have")
    named = [_named(representatives(X, part), ids) for part in parts]
    return {"first": named[0], "second": named[1]}


def splitting(
    X: Any, labels: Any, rows: Iterable[int], *, ids: Sequence[str] | None = None
) -> Body:
    """Return the body of the split of rows, all of one cluster, off the rest of it, Eq. (2)."""
    rows = list(rows)
    clusters = {labels[i] for i in rows}
    if len(clusters) != 1:
        raise ValueError(f"rows must be of one cluster; they are of {len(clusters)}")
    rest = _members(labels, clusters.pop(), but=rows)
    if not rest:
        raise ValueError("rows are the whole cluster; leave some of it out")
    parts = [_named(rows, ids), _named(representatives(X, rest), ids)]
    return {"parts": parts, "others": "stay"}


def moving(
    X: Any, labels: Any, rows: Iterable[int], cluster: int, *, ids: Sequence[str] | None = None
) -> Body:
    """Return the body of the group that moves rows into a cluster, Eq. (3)."""
    rows = list(rows)
    there = _members(labels, cluster, but=rows)
    if not (rows and there):
        raise ValueError(f"cluster {cluster} has no other rows; name one that labels have")
    left = {labels[i] for i in rows if labels[i] >= 0} - {cluster}  # -1: a row of no cluster
    rest = [_members(labels, old, but=rows) for old in sorted(left)]
    apart = [i for old in rest if old for i in representatives(X, old)]
    to = representatives(X, there)
    return {
        name: _named(part, ids) for name, part in (("rows", rows), ("to", to), ("apart", apart))
    }


def taken_back(links: "Constraints") -> "np.ndarray":
    """Return which pairs by hand the pairs of later corrections contradict, bool (m,).

    Models go on learning from a pair until a correction that they learn from takes it back: any
    other correction changes nothing but what it names.
    """
    import numpy as np

    from linkwise.constraints.linked_sets import LinkedSets

    back = np.zeros(links.n_pairs, dtype=bool)
    by_hand = np.flatnonzero(np.isin(links.source, BY_HAND) & (links.weight > 0))
    latest_first = by_hand[np.argsort(-links.event[by_hand], kind="stable")]
    every: LinkedSets[Id] = LinkedSets()
    taught: LinkedSets[Id] = LinkedSets()
    pairs = links.select(latest_first)
    for i, pair, source in zip(latest_first, pairs, pairs.source.tolist(), strict=True):
        holds = every.enter(pair.a, pair.b, pair.sign)
        if source == "taught":
            holds = taught.enter(pair.a, pair.b, pair.sign)
        back[i] = not holds
    return back
