"""The cases: points of a shape, and what is measured on them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.runs.points import numbered
from benchmarks.speed.sheets import sheets

CLUSTERS = 20  # of generated points
PAIRS = 1000  # constraints of LinkClustering


class Case(NamedTuple):
    """What is measured on points of one shape."""

    rows: int
    columns: int
    files: tuple[str, ...]  # of real points; () where they are generated
    measures: str  # "fit", "basis" (graph and eigenvectors), "neighbours" or "link clustering"
    n_neighbors: int
    options: dict  # of the neighbour search, or of the anchors
    affinity: str = "nearest_neighbors"


MNIST = ("mnist_train", "mnist_test")
EXACT, FAST = {"search": "exact"}, {"search": "approximate"}
CASES = {
    "usps": Case(9_298, 256, ("usps",), "fit", 20, EXACT),
    "basis": Case(50_000, 784, MNIST, "basis", 20, EXACT),
    "mnist": Case(70_000, 784, MNIST, "fit", 20, EXACT),
    "neighbours": Case(1_300_000, 50, (), "neighbours", 15, FAST),
    "exact-neighbours": Case(1_300_000, 50, (), "neighbours", 15, EXACT),
    "million": Case(1_000_000, 64, (), "fit", 20, EXACT),
    "link-clustering-usps": Case(9_298, 256, ("usps",), "link clustering", 10, {}),
    "link-clustering-mnist": Case(60_000, 784, MNIST, "link clustering", 10, {}),
    "anchors": Case(10_000_000, 32, (), "fit", 20, {"n_anchors": 1000}, "anchors"),
}


def points(case, folder):
    """Return (X float32, y, where they come from) of a case."""
    n, d = case.rows, case.columns
    paths = [Path(folder or ".") / f"{name}.npz" for name in case.files]
    if folder is not None and paths and all(path.exists() for path in paths):
        archives = [np.load(path, allow_pickle=False) for path in paths]
        X = np.concatenate([archive["X"] for archive in archives])[:n]
        y = np.concatenate([archive["y"] for archive in archives])[:n]
        return X.astype(np.float32), numbered(y), " and ".join(case.files)
    X, y = sheets(n, d, CLUSTERS, np.random.default_rng(0))
    return X, y, "generated"
