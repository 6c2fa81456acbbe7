"""Seconds of every method at one size of generated data."""

import time
import warnings

from sklearn.datasets import make_blobs

from benchmarks.methods.agreement import cluster, names
from linkwise import sample_pairs, scores


def run(*, rows, columns, pairs, clusters, methods):
    """Print the seconds, the agreement and the constraints kept of every method.

    Parameters
    ----------
    rows, columns, pairs, clusters : int, the size of the data
    methods : names, or None for all
    """
    warnings.simplefilter("ignore")
    X, y = make_blobs(rows, columns, centers=clusters, cluster_std=6.0, random_state=0)
    links = sample_pairs(y, pairs, random_state=0)
    print("| method | seconds | adjusted Rand | kept |\n|---|---|---|---|")
    for method in names() if methods is None else methods:
        start = time.perf_counter()
        labels = cluster(method, X, links, clusters, 0)
        seconds = time.perf_counter() - start
        found = scores(y, labels, links)
        print(
            f"| {method} | {seconds:.1f} | {found['adjusted_rand']:.2f} | {found['kept']:.2f} |",
            flush=True,
        )
