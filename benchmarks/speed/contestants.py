"""The contestants of the speed benchmark, one function of a Task each.

Each imports what it needs when it runs, so that a process holds no other contestant's libraries.
"""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.stages import clocked

NEIGHBOURS = 20
ANCHORS, NEAREST_ANCHORS = 1000, 3
REFIT = 100  # constraints that the warm refit adds


class Task(NamedTuple):
    X: Any  # (n, d) float32, or the name of the .npy file
    n: int
    k: int
    links: Any  # Constraints
    more: Any  # the same and REFIT others
    seed: int
    out: str | None  # file that the labels of rows in a file go to


class Contestant(NamedTuple):
    name: str
    run: Callable
    kind: str  # of what comes back: "labels", "neighbours", "stages" or "nothing"
    rows: float = float("inf")  # above which it is left out unless all is asked for
    needs: str | None = None  # a module that has to be installed
    file: bool = False  # reads the rows from their file


def _ccskl(task, **options):
    from linkwise.estimators import CCSKL

    return CCSKL(task.k, n_neighbors=NEIGHBOURS, random_state=task.seed, **options)


def _anchored(task, count=ANCHORS):
    params = {"n_anchors": min(count, task.n // 10), "n_nearest": NEAREST_ANCHORS}
    return _ccskl(task, affinity="anchors", affinity_params=params)


def ccskl(task):
    return _ccskl(task).fit(task.X).labels_


def ccskl_linked(task):
    return _ccskl(task).fit(task.X, constraints=task.links).labels_


def anchors(task):
    return _anchored(task).fit(task.X, out=task.out).labels_


def anchors_linked(task):
    return _anchored(task).fit(task.X, constraints=task.links, out=task.out).labels_


def more_anchors(task):
    return _anchored(task, 4 * ANCHORS).fit(task.X, constraints=task.links).labels_


def spectral_clustering(task):
    from sklearn.cluster import SpectralClustering

    model = SpectralClustering(
        task.k, affinity="nearest_neighbors", n_neighbors=NEIGHBOURS, random_state=task.seed
    )
    return model.fit_predict(task.X)


def k_means(task):
    from sklearn.cluster import KMeans

    return KMeans(task.k, n_init=5, random_state=task.seed).fit_predict(task.X)


def mini_batch(task):
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(task.k, n_init=3, random_state=task.seed).fit_predict(task.X)


def search(task):
    from linkwise.graph import nearest_neighbours

    return nearest_neighbours(task.X, NEIGHBOURS).indices


def brute_force(task):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=NEIGHBOURS, algorithm="brute").fit(task.X)
    return model.kneighbors(return_distance=False)


def _hnsw(task, m, construction, ef):
    hnswlib = import_module("hnswlib")
    index = hnswlib.Index("l2", task.X.shape[1])
    index.init_index(task.n, M=m, ef_construction=construction, random_seed=task.seed)
    index.add_items(task.X)
    index.set_ef(ef)
    return index.knn_query(task.X, NEIGHBOURS + 1)[0]


def hnsw_small(task):
    return _hnsw(task, 8, 40, 30)


def hnsw_middle(task):
    return _hnsw(task, 12, 40, 40)


def hnsw_large(task):
    return _hnsw(task, 16, 100, 60)


def faiss_cells(task):
    faiss = import_module("faiss")
    cells = max(1, round(4 * task.n**0.5))
    index = faiss.index_factory(task.X.shape[1], f"IVF{cells},Flat")
    index.train(task.X[:: max(1, task.n // (64 * cells))])
    index.add(task.X)
    index.nprobe = 16
    return index.search(task.X, NEIGHBOURS + 1)[1]


def descent(task):
    index = import_module("pynndescent").NNDescent(
        task.X, n_neighbors=NEIGHBOURS + 1, random_state=task.seed
    )
    return index.neighbor_graph[0]


def _product(task, rows, nearest=1):
    """Multiply all rows with ANCHORS of them, block by block, and find the largest of each row."""
    X, best = task.X, np.empty((task.n, nearest), dtype=np.int64)
    A = np.ascontiguousarray(X[: min(ANCHORS, task.n // 10)].T)  # (d, p)
    for start in range(0, task.n, rows):
        S = X[start : start + rows] @ A
        for slot in range(nearest):
            best[start : start + rows, slot] = found = S.argmax(axis=1)
            if slot + 1 < nearest:
                S[np.arange(len(S)), found] = -np.inf


def product_512(task):
    _product(task, 512)


def product_4096(task):
    _product(task, 4096)


def product_nearest(task):
    _product(task, 512, NEAREST_ANCHORS)


LEARN = [
    ("learning", "linkwise.kernel:diagonal_terms"),
    ("learning", "linkwise.kernel:fit_spectrum"),
    ("k-means", "linkwise.partition:best_starts"),
    ("k-means", "linkwise.partition:kmeans"),
]
GRAPH_STAGES = [
    ("nearest neighbours", "linkwise.graph:nearest_neighbours"),
    ("weights", "linkwise.graph:NeighbourAffinity"),
    ("eigenvectors", "linkwise.embedding:spectral_basis"),
    *LEARN,
]
ANCHOR_STAGES = [
    ("choosing anchors", "linkwise.graph:choose_anchors"),
    ("assignment", "linkwise.graph:AnchorAffinity"),
    ("Gram matrix", "linkwise.graph:gram"),
    ("eigenvectors of anchors", "linkwise.embedding:anchored_basis"),
    *LEARN,
]


def _stages(model, task, places):
    """Return the seconds of each stage of a fit, of the rest, and of a refit with more links."""
    started = time.perf_counter()
    with clocked(places) as seconds:
        model.fit(task.X, constraints=task.links)
    fitted = time.perf_counter()
    model.refit(task.more)
    refitted = time.perf_counter()
    rest = fitted - started - sum(seconds.values())
    return {**seconds, "rest": rest, "warm refit": refitted - fitted}


def graph_stages(task):
    return _stages(_ccskl(task), task, GRAPH_STAGES)


def anchor_stages(task):
    return _stages(_anchored(task), task, ANCHOR_STAGES)


SLOW, PEERS, GRAPH, LARGE = 20_000, 100_000, 1_000_000, 10_000_000  # rows
CONTESTANTS = {
    "graph_linked": Contestant("CCSKL, constraints", ccskl_linked, "labels", GRAPH),
    "graph": Contestant("CCSKL", ccskl, "labels", GRAPH),
    "anchors_linked": Contestant("CCSKL, anchors, constraints", anchors_linked, "labels"),
    "anchors": Contestant("CCSKL, anchors", anchors, "labels"),
    "more_anchors": Contestant("CCSKL, 4,000 anchors, constraints", more_anchors, "labels", GRAPH),
    "spectral": Contestant("SpectralClustering", spectral_clustering, "labels", SLOW),
    "kmeans": Contestant("KMeans", k_means, "labels", GRAPH),
    "minibatch": Contestant("MiniBatchKMeans", mini_batch, "labels", LARGE),
    "product_512": Contestant("bare product, 512 rows", product_512, "nothing", LARGE),
    "product_4096": Contestant("bare product, 4,096 rows", product_4096, "nothing", LARGE),
    "product_nearest": Contestant(
        f"bare product, {NEAREST_ANCHORS} largest", product_nearest, "nothing", LARGE
    ),
    "search": Contestant("linkwise search", search, "neighbours", GRAPH),
    "brute": Contestant("scikit-learn brute force", brute_force, "neighbours", PEERS),
    "hnsw_small": Contestant("hnswlib M=8 ef=30", hnsw_small, "neighbours", PEERS, "hnswlib"),
    "hnsw_middle": Contestant("hnswlib M=12 ef=40", hnsw_middle, "neighbours", PEERS, "hnswlib"),
    "hnsw_large": Contestant("hnswlib M=16 ef=60", hnsw_large, "neighbours", PEERS, "hnswlib"),
    "faiss": Contestant("faiss IVF", faiss_cells, "neighbours", PEERS, "faiss"),
    "descent": Contestant("pynndescent", descent, "neighbours", PEERS, "pynndescent"),
    "graph_stages": Contestant("stages, neighbour graph", graph_stages, "stages", GRAPH),
    "anchor_stages": Contestant("stages, anchors", anchor_stages, "stages", LARGE),
}  # fmt: skip
OUT_OF_CORE = {  # what runs on rows in a file
    key: CONTESTANTS[key]._replace(file=True) for key in ("anchors_linked", "anchors")
}
