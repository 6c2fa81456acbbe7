"""Seconds of every method at one size: n = 5,000, d = 50, 2,500 pairs.

Usage: python benchmarks/size.py [--rows 5000] [--columns 50] [--pairs 2500] [--methods ...]
"""

import argparse
import time
import warnings

from sklearn.datasets import make_blobs

from benchmarks.agreement import cluster, names
from linkwise import sample_pairs, scores


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=2500)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=names())
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    k = options.clusters
    X, y = make_blobs(options.rows, options.columns, centers=k, cluster_std=6.0, random_state=0)
    links = sample_pairs(y, options.pairs, random_state=0)
    print("| method | seconds | adjusted Rand | kept |\n|---|---|---|---|")
    for method in options.methods:
        start = time.perf_counter()
        labels = cluster(method, X, links, k, 0)
        seconds = time.perf_counter() - start
        found = scores(y, labels, links)
        print(
            f"| {method} | {seconds:.1f} | {found['adjusted_rand']:.2f} | {found['kept']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
