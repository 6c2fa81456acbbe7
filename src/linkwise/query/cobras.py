"""Super-instances, split and merged: COBRAS [1]. The number of clusters is not needed.

A super-instance is a set of points that belong together, represented by the one nearest to its
mean; a cluster is a set of super-instances. The largest super-instance is split in 2^d parts:
halves of halves are compared until two are the same, d cuts down. Then the clusters whose
super-instances are nearest are compared, and merged if they are the same, until no two are left
that could be. This is repeated until all super-instances are single points.

The procedure is a generator: it yields a pair and is sent an answer. What the answers imply is
answered without a question. A "don't know" counts as "different".

[1] Van Craenendonck, Dumancic, Van Wolputte & Blockeel, COBRAS: interactive clustering with
    pairwise queries, IDA 2018.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from linkwise.blocks.executors import one_thread
from linkwise.query.model import Context, Question

DEEPEST = 8  # halvings; 2^8 parts are more than MOST_PARTS
Pair = tuple[int, int]  # of points
MOST_PARTS = 64  # of a split, so that merging needs few thousand distances


class Instance(NamedTuple):
    members: np.ndarray  # points
    representative: int  # a point


Clusters = list[list[Instance]]


def _instance(X: np.ndarray, members: np.ndarray) -> Instance:
    gap = ((X[members] - X[members].mean(axis=0)) ** 2).sum(axis=1)
    return Instance(members, int(members[np.argmin(gap)]))


def split(X: np.ndarray, members: np.ndarray, parts: int, seed: int) -> list[Instance]:
    """Return instances that members fall in by k-means; one if they are all alike."""
    parts = min(parts, len(np.unique(X[members], axis=0)))
    if parts < 2:
        return [_instance(X, members)]
    with one_thread():
        labels = KMeans(parts, n_init=3, random_state=seed).fit(X[members]).labels_
    return [_instance(X, members[labels == c]) for c in range(parts) if (labels == c).any()]


class Cobras:
    """The procedure, and the clusters that it has come to.

    Attributes
    ----------
    clusters : list of lists of Instance, after the last round of merging
    """

    def __init__(self, X: np.ndarray, points: np.ndarray, seed: int) -> None:
        self.X, self.seed = X, seed
        self.clusters = [[_instance(X, points)]]

    def labels(self, n: int) -> np.ndarray:
        """Return the cluster of every point (n,); -1 for those that it is not about."""
        out = np.full(n, -1)
        for c, cluster in enumerate(self.clusters):
            for instance in cluster:
                out[instance.members] = c
        return out

    def _depth(self, instance: Instance) -> Generator[Pair, bool, int]:
        """Yield pairs; return how many times the instance is to be halved."""
        depth = 0
        while depth < DEEPEST and len(instance.members) > 1:
            halves = split(self.X, instance.members, 2, self.seed)
            if len(halves) < 2 or (yield halves[0].representative, halves[1].representative):
                break
            depth += 1
            instance = max(halves, key=lambda half: len(half.members))
        return max(depth, 1)

    def _merged(self, clusters: Clusters) -> Generator[Pair, bool, Clusters]:
        """Yield pairs; return the clusters after all that are the same have been merged."""
        flat = np.array([one.representative for cluster in clusters for one in cluster])
        of = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
        instances = [one for cluster in clusters for one in cluster]
        D = cdist(self.X[flat], self.X[flat])  # infinite within clusters and where they differ
        D[of[:, None] == of] = np.inf
        apart = np.zeros(D.shape, dtype=bool)
        while np.isfinite(D).any():
            a, b = np.unravel_index(np.argmin(D), D.shape)
            first, second = of == of[a], of == of[b]
            if (yield int(flat[a]), int(flat[b])):
                both = first | second
                of[both] = of[a]
                differ = apart[both].any(axis=0)
                D[np.ix_(both, both)] = np.inf
            else:
                both, differ = first, second
            for rows, columns in ((both, differ), (differ, both)):
                D[np.ix_(rows, columns)] = np.inf
                apart[np.ix_(rows, columns)] = True
        return [[instances[i] for i in np.flatnonzero(of == c)] for c in np.unique(of)]

    def run(self) -> Generator[Pair, bool, None]:
        """Yield pairs until every super-instance is a single point, or of equal points."""
        whole: set[int] = set()  # representatives of instances that cannot be split
        while True:
            candidates = [
                (len(one.members), -c, -i)
                for c, cluster in enumerate(self.clusters)
                for i, one in enumerate(cluster)
                if len(one.members) > 1 and one.representative not in whole
            ]
            if not candidates:
                return
            _, c, i = max(candidates)
            chosen = self.clusters[-c][-i]
            depth = yield from self._depth(chosen)
            parts = min(2**depth, MOST_PARTS, len(chosen.members))
            pieces = split(self.X, chosen.members, parts, self.seed)
            if len(pieces) < 2:
                whole.add(chosen.representative)
                continue
            rest = [[one for one in cluster if one is not chosen] for cluster in self.clusters]
            rest = [cluster for cluster in rest if cluster]
            self.clusters = yield from self._merged(rest + [[piece] for piece in pieces])


class Running(NamedTuple):
    procedure: Cobras
    generator: Generator[Pair, bool, None]
    pair: Pair | None  # that it waits for


def _started(context: Context) -> Running:
    procedure = Cobras(context.data.features, context.data.core, context.data.seed)
    generator = procedure.run()
    return Running(procedure, generator, next(generator, None))


def advance(context: Context) -> Running:
    """Return the procedure as far as the answers carry it."""
    known = context.known
    procedure, generator, pair = context.memo.get("cobras") or _started(context)
    while pair is not None and not known.is_open(*pair):
        answer = known.answer(*pair)
        same = known.relation(*pair) if answer is None else answer
        try:
            pair = generator.send(bool(same))
        except StopIteration:
            pair = None
    context.memo["cobras"] = Running(procedure, generator, pair)
    return context.memo["cobras"]


def cobras_labels(context: Context) -> np.ndarray:
    """Return the partition of COBRAS itself, (n,), as far as the answers carry it."""
    return advance(context).procedure.labels(context.data.n)


def super_instances(context: Context, n: int) -> list[Question]:
    """Return the pair that COBRAS asks next; it asks one at a time."""
    pair = advance(context).pair
    if pair is None:
        return []
    return [
        Question(pair[0], pair[1], "Each represents a group of points; are the groups the same?")
    ]
