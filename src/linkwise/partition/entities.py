"""One cluster for each entity, from scored pairs of records instead of features.

A score s_p in [0, 1] says how likely the two records of pair p are the same entity. Clusters are to
have a large sum of evidence inside,

    (1)  maximise  sum over pairs p inside clusters of  w_p = logit s_p - logit t

with t the threshold, under rules: two records of one source are never together, must-links are
together, cannot-links apart. Pairs that are not listed have no evidence, w = 0. (1) is correlation
clustering, which is NP-hard. Greedy additive edge contraction [1] merges the two clusters with the
largest sum of evidence between them, as long as it is positive and no rule forbids it, or until a
given number of entities is left:

    (2)  w(A, B) = sum of w_p over pairs between A and B

So a chain of likely pairs does not join records that other pairs say are different. That records of
one source are apart is kept as a set of sources for each cluster; no pair is listed for it. The
result depends on the pairs, not on their order. O(m log m) time and O(m + n) memory for m pairs.

[1] Keuper, Levinkov, Bonneel, Lavoue, Brox & Andres, Efficient decomposition of image and mesh
    graphs by lifted multicuts, ICCV 2015.
"""

import heapq
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from linkwise.constraints.closure import components
from linkwise.exceptions import ConvergenceWarning, InfeasibleConstraints, warn

CERTAIN = 1e-6  # of 0 or 1: such a score outweighs some others, not all


def evidence(score, threshold):
    """Return w (m,) of Eq. (1)."""
    bounded = np.clip(np.asarray(score, dtype=np.float64), CERTAIN, 1 - CERTAIN)
    return logit(bounded) - logit(np.clip(threshold, CERTAIN, 1 - CERTAIN))


class _Clusters:
    """Clusters of records with their evidence, Eq. (2), and the rules."""

    def __init__(self, group, source, apart):
        size = int(group.max(initial=-1)) + 1
        self.into = list(range(size))  # the cluster that a merged one went into
        self.near: list[dict[int, float]] = [{} for _ in range(size)]
        self.apart: list[set[int]] = [set() for _ in range(size)]
        self.sources: list[set[int]] = [set() for _ in range(size)]
        for column in source:
            self._add_sources(group, column)
        for a, b in apart.tolist():
            self.apart[a].add(b)
            self.apart[b].add(a)

    def _add_sources(self, group, column):
        """Note the sources of all records, (n,); sources of different columns are different."""
        first = 1 + max((s for sources in self.sources for s in sources), default=-1)
        for record, (c, s) in enumerate(zip(group.tolist(), column.tolist(), strict=True)):
            if s >= 0 and first + s in self.sources[c]:
                raise InfeasibleConstraints(
                    f"must-links join record {record} with another of its source, and one source "
                    "has one record of an entity: remove one of these must-links, or the source"
                )
            if s >= 0:
                self.sources[c].add(first + s)

    def add(self, a, b, w):
        """Add evidence between two clusters."""
        if a != b:
            self.near[a][b] = self.near[b][a] = self.near[a].get(b, 0.0) + w

    def allowed(self, a, b):
        """Tell whether no rule keeps two clusters apart."""
        return b not in self.apart[a] and self.sources[a].isdisjoint(self.sources[b])

    def merge(self, a, b):
        """Put cluster b into a, the one with more neighbours, and return it."""
        if len(self.near[a]) < len(self.near[b]):
            a, b = b, a
        for c, w in self.near[b].items():
            del self.near[c][b]
            if c != a:
                self.add(a, c, w)
        for c in self.apart[b]:
            self.apart[c].discard(b)
            self.apart[c].add(a)
        self.apart[a] |= self.apart[b]
        self.sources[a] |= self.sources[b]
        self.near[b], self.apart[b], self.sources[b], self.into[b] = {}, set(), set(), a
        return a

    def cluster(self, c):
        """Return the cluster that c is in now."""
        while self.into[c] != c:
            c = self.into[c]
        return c


def resolve_entities(
    n, pairs, score, *, source=None, must=(), cannot=(), links=None, threshold=0.5, n_entities=None
):
    """Return the entity of every record, int (n,), numbered by first record.

    Parameters
    ----------
    n : int, the number of records
    pairs : int array (m, 2), candidate pairs of records
    score : array (m,) in [0, 1], how likely each pair is one entity
    source : int array (n,), the source of every record, -1 if unknown; None: there are none. No two
        records of one source are put together
    must, cannot : int arrays (r, 2), pairs that are together, and apart
    links : Constraints by record number, or None; all are kept. The cannot-links that groups imply
        (`Constraints.from_groups`) are not listed
    threshold : float in (0, 1), score from which on a pair speaks for one entity
    n_entities : int or None
        The number of entities: merging ends there, whatever the threshold. None: as many as the
        evidence says.

    Examples
    --------
    >>> pairs, score = [(0, 1), (1, 2), (0, 2)], [0.9, 0.8, 0.1]
    >>> resolve_entities(4, pairs, score).tolist()
    [0, 0, 1, 2]
    >>> resolve_entities(4, pairs, score, source=[0, 0, 1, 1]).tolist()
    [0, 1, 1, 2]
    """
    pairs, must, cannot = (
        np.asarray(each, dtype=np.int64).reshape(-1, 2) for each in (pairs, must, cannot)
    )
    source = np.full((0, n), -1) if source is None else np.asarray(source).reshape(1, n)
    if links is not None:
        rows = links.active().resolve(n=n)
        listed, groups = rows.without_groups(), np.full((len(rows.groups), n), -1)
        groups[:, rows.ids] = rows.groups
        source = np.concatenate([source, groups])
        must = np.concatenate([must, listed.must_link])
        cannot = np.concatenate([cannot, listed.cannot_link])
    group = components(n, must)
    apart = group[cannot]
    if np.any(apart[:, 0] == apart[:, 1]):
        a, b = cannot[apart[:, 0] == apart[:, 1]][0].tolist()
        raise InfeasibleConstraints(
            f"the cannot-link ({a}, {b}) contradicts must-links; remove one of them"
        )
    clusters = _Clusters(group, source, apart)
    for (a, b), w in zip(group[pairs].tolist(), evidence(score, threshold).tolist(), strict=True):
        clusters.add(a, b, w)
    heap = [(-w, a, b) for a, near in enumerate(clusters.near) for b, w in near.items() if a < b]
    enough, left = 0 if n_entities is None else n_entities, len(clusters.into)
    if left < enough:
        raise InfeasibleConstraints(
            f"n_entities={n_entities}: must-links leave {left} entities; ask for at most {left}"
        )
    least = 0.0 if n_entities is None else -np.inf
    heap = [entry for entry in heap if -entry[0] > least]
    heapq.heapify(heap)
    while heap and left > enough:
        less, a, b = heapq.heappop(heap)
        if clusters.near[a].get(b) != -less or not clusters.allowed(a, b):
            continue  # merged or changed since, or forbidden for good
        a = clusters.merge(a, b)
        left -= 1
        for c, w in clusters.near[a].items():
            if w > least and clusters.allowed(a, c):
                heapq.heappush(heap, (-w, min(a, c), max(a, c)))
    if left > max(enough, 1) and n_entities is not None:
        warn(
            f"n_entities={n_entities}, and {left} are left: no further pair of records is listed "
            "that may be merged; list more pairs, or ask for more entities",
            ConvergenceWarning,
        )
    found = np.array([clusters.cluster(c) for c in range(len(clusters.into))], dtype=np.int64)
    _, first, labels = np.unique(found[group], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


class Entities(NamedTuple):
    """The entity of every record."""

    ids: np.ndarray  # (n,) ids of the records, in order of appearance
    labels: np.ndarray  # (n,) int, their entities


def resolve_pairs(id_a, id_b, score, *, source=None, links=None, threshold=0.5, n_entities=None):
    """Return the Entities of a table of scored pairs, by ids.

    Parameters
    ----------
    id_a, id_b : arrays (m,), the two records of every pair; columns of a data frame will do
    score : array (m,) in [0, 1], how likely each pair is one entity
    source : mapping {id: source} or None; records that are not in it have no source
    links : Constraints that name ids, or None; all are kept. Members of groups that are in no pair
        are entities of their own
    threshold, n_entities : as in `resolve_entities`

    Examples
    --------
    >>> found = resolve_pairs(["ann", "bob"], ["anna", "rob"], [0.9, 0.2])
    >>> dict(zip(found.ids.tolist(), found.labels.tolist()))
    {'ann': 0, 'bob': 1, 'anna': 0, 'rob': 2}
    """
    id_a, id_b, score = (np.asarray(column) for column in (id_a, id_b, score))
    if not id_a.shape == id_b.shape == score.shape or score.ndim != 1:
        raise ValueError(
            f"id_a, id_b and score have shapes {id_a.shape}, {id_b.shape} and {score.shape}: "
            "expected one of each for every pair"
        )
    if not np.all((score >= 0) & (score <= 1)):
        raise ValueError("score has values that are not numbers from 0 to 1; scale them first")
    if np.any(id_a == id_b):
        raise ValueError(
            f"{id_a[id_a == id_b].tolist()[0]!r} is paired with itself; remove the pair"
        )
    ids, first, place = np.unique(np.r_[id_a, id_b], return_index=True, return_inverse=True)
    order = np.argsort(first)
    ids, place = ids[order], np.argsort(order)[place]
    known: dict = {}
    groups = None
    if source is not None:
        given = dict(source.items())
        groups = [
            known.setdefault(given[i], len(known)) if i in given else -1 for i in ids.tolist()
        ]
    if links is not None:
        links.without_groups().resolve(ids, n=len(ids))  # refuses pairs of unknown records
        links = links.restrict(ids).resolve(ids, n=len(ids))
    labels = resolve_entities(
        len(ids), place.reshape(2, -1).T, score, source=groups, links=links, threshold=threshold,
        n_entities=n_entities,
    )  # fmt: skip
    return Entities(ids, labels)
