"""Other libraries of constrained clustering; ``pip install 'linkwise[peers]'`` installs them.

Each runs as its manual shows, at its defaults, on pairs without contradictions, since none accepts
contradictions. Left out are COBRAS, which asks its own questions and takes no given pairs;
k-means-constrained, which knows only sizes; metric-learn 0.7, which does not run with scikit-learn
1.8 or later; and MPCKMeansMF of active-semi-supervised-clustering, which takes minutes for 200
points.

EVoC is of another kind: it takes no constraints, but embeds the neighbour graph of all points and
finds dense clusters in that. It is told the number of clusters. Points that it leaves out as noise
join the cluster of the nearest point that it has placed.
"""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

import numpy as np

from benchmarks.quality.protocol import Found

EVOC = "EVoC"
PENALTY = 0.6  # of a pair in units of the largest distance, as in the manual of constrained-linkage
DEEP = 20_000  # calls: chains of must-links are followed by recursion


class Peer(NamedTuple):
    run: Callable  # (task, argument) -> Found
    argument: str
    needs: tuple  # module, and a name in it
    package: str


def possible_pairs(task):
    """Return (must, cannot), pairs of row numbers (m, 2), without those that contradict others."""
    links = task.links.drop_conflicts()[0]
    a, b, sign, _ = links.resolve(n=len(task.X)).arrays()
    ends = np.stack([a, b], axis=1)
    return ends[sign > 0], ends[sign < 0]


@contextmanager
def seeded(seed):
    """Seed the global random numbers of numpy, from which a peer draws, while it runs."""
    before, depth = np.random.get_state(), sys.getrecursionlimit()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    sys.setrecursionlimit(max(depth, DEEP))
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
        sys.setrecursionlimit(depth)


def semi_supervised(task, name):
    """Cluster by a class of active-semi-supervised-clustering."""
    model = getattr(import_module("active_semi_clustering"), name)(n_clusters=task.k)
    must, cannot = (list(map(tuple, ends.tolist())) for ends in possible_pairs(task))
    with seeded(task.seed):
        model.fit(task.X, ml=must, cl=cannot)
    return Found(model.labels_)


def linkage(task, name):
    """Cluster by constrained-linkage, the tree cut into k clusters."""
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import pdist

    M = np.zeros((len(task.X), len(task.X)))
    for ends, penalty in zip(possible_pairs(task), (-PENALTY, PENALTY), strict=True):
        M[ends[:, 0], ends[:, 1]] = M[ends[:, 1], ends[:, 0]] = penalty
    tree = getattr(import_module("constrained_linkage"), name)(
        pdist(task.X), method="average", constraint_matrix=M, normalize_distances=True
    )
    return Found(fcluster(tree, task.k, criterion="maxclust"))


def noise_placed(X, labels):
    """Return labels in which points of noise, -1, have the label of the nearest other point."""
    from sklearn.neighbors import NearestNeighbors

    noise = labels < 0
    if noise.all():
        return np.zeros_like(labels)
    labels = labels.copy()
    if noise.any():
        near = NearestNeighbors(n_neighbors=1).fit(X[~noise])
        place = near.kneighbors(X[noise], return_distance=False)[:, 0]
        labels[noise] = labels[~noise][place]
    return labels


def evoc(task, _):
    """Cluster by EVoC: the layer with about k clusters, its noise placed."""
    X = np.asarray(task.X, dtype=np.float32)
    model = import_module("evoc").EVoC(approx_n_clusters=task.k, random_state=task.seed).fit(X)
    layer = min(model.cluster_layers_, key=lambda labels: abs(int(labels.max()) + 1 - task.k))
    return Found(noise_placed(X, np.asarray(layer)))


PEERS = {
    f"peer:{name}": Peer(
        semi_supervised, name, ("active_semi_clustering", name), "active-semi-supervised-clustering"
    )
    for name in ("COPKMeans", "PCKMeans", "MPCKMeans")
} | {
    "peer:linkage": Peer(
        linkage, "constrained_linkage", ("constrained_linkage", "constrained_linkage"),
        "constrained-linkage",
    ),
}  # fmt: skip
