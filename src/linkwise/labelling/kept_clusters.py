"""Clusters that rows keep after the data of a project have got more rows.

The log then has a `keep` event with the clusters of the rows so far. Free rows are the new ones,
and the others that an answer since then reaches:

    (1)  free = new, or joined by a chain of answers to an end of a later answer

All other rows keep their clusters. The models, learnt from all rows, give clusters with
probabilities p. M says how the kept rows of such a cluster f are divided:

    (2)  M_fc = share of the kept rows in f that are in cluster c

A cluster of the models of which at most NEW are kept rows is new, with the next number; if the
number of clusters is given and reached, its rows go with the nearest kept row of all. Any other
free row i goes with the nearest kept row in its cluster of the models, one cluster e_i of all:

    (3)  q_i = (e_i + p_i M) / 2

Answers about free rows then settle their labels. When there are FURTHER times as many answers as
when all rows were last free, all rows are free again, as after any answer in a project that has not
grown; the clusters that were kept then say only how clusters are numbered. Data that grow in many
small steps have many `keep` events; only those at which all rows were free count for this.

O(n k) and the distances between free rows and kept rows of the same clusters.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from linkwise.choice.candidates import SCORED_ERROR
from linkwise.choice.extension import FURTHER
from linkwise.choice.final_labels import settle
from linkwise.constraints import Constraints
from linkwise.constraints.closure import components

UNKNOWN = -2  # the cluster of a row that the event does not name; -1 is a stray
NEW = 0.05  # share of kept rows below which a cluster of the models is a new one
FEW = 20  # later answers below which rows stay, however few there were before


class Kept(NamedTuple):
    """The clusters that rows had when the data got more rows."""

    labels: np.ndarray  # (n,) int; -1: in no cluster, UNKNOWN: not there yet
    event: int  # the number of the event
    most: int | None = None  # clusters asked for: new rows found no further one; None: free
    free_at: int | None = None  # the event at which all rows were last free; None: this one


def are_many(events: np.ndarray, since: int) -> bool:
    """Tell whether the answers, by their event numbers (m,), have grown enough to free all rows."""
    later = np.count_nonzero(events > since)
    return bool(later >= max(FEW, (FURTHER - 1) * (len(events) - later)))


def last_free(keeps: Sequence[int], events: np.ndarray) -> int:
    """Return the last of some `keep` events at which all rows were free.

    ``events`` (m,) are the numbers of the events of the answers that models learn from.
    """
    since = keeps[0]
    for event in keeps[1:]:
        if are_many(events[events < event], since):
            since = event
    return since


def staying_rows(kept: Kept, links: Constraints) -> np.ndarray:
    """Return which rows keep their clusters, bool (n,): those that are not free, Eq. (1).

    ``links`` are the answers that models learn from, by row.
    """
    later, n = links.event > kept.event, len(kept.labels)
    if are_many(links.event, kept.event if kept.free_at is None else kept.free_at):
        return np.zeros(n, dtype=bool)
    part = components(n, links.ends)
    free = np.union1d(part[links.ends[later]], part[kept.labels == UNKNOWN])
    stays = ~np.isin(part, free)
    return stays if (kept.labels[stays] >= 0).any() else np.zeros(n, dtype=bool)


def joined(
    labels: np.ndarray, p: np.ndarray, X: np.ndarray, kept: Kept, links: Constraints
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels (n,) in which rows keep their clusters, and probabilities (n, K) of them.

    Parameters
    ----------
    labels, p : int array (n,) and array (n, k), clusters by the models, and their probabilities
    X : array (n, d), comparable points
    kept : Kept, with some rows that stay in clusters
    links : Constraints by row, the answers that models learn from
    """
    stays = staying_rows(kept, links)
    known = stays & (kept.labels >= 0)
    new = np.where(stays, kept.labels, UNKNOWN)
    clusters = int(kept.labels.max()) + 1
    room = kept.most is None or clusters < kept.most
    M = np.zeros((p.shape[1], clusters + p.shape[1]))
    for f in range(p.shape[1]):
        there, rest = (np.flatnonzero((labels == f) & which) for which in (known, ~stays))
        few = len(there) <= NEW * (len(there) + len(rest))
        if few and room:
            M[f, clusters + f] = 1
            new[rest] = clusters + f
            continue
        there = np.flatnonzero(known) if few else there
        M[f, :clusters] = np.bincount(kept.labels[there], minlength=clusters) / len(there)
        if len(rest):
            new[rest] = kept.labels[there[pairwise_distances_argmin(X[rest], X[there])]]
    likely = p @ M  # Eq. (2)
    free = np.flatnonzero(~stays)
    if len(free):
        q = likely[free] / 2
        q[np.arange(len(free)), new[free]] += 0.5  # Eq. (3)
        answers = links.restrict(free).resolve(free)
        found = settle(q, answers, SCORED_ERROR, np.random.default_rng(0), hard=False, least=0)
        new[free] = found.clusters[found.labels]
    return new, likely
