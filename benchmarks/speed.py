"""Time of CCSKL against scikit-learn's SpectralClustering, in one run on the same data.

Usage: python benchmarks/speed.py --data DIR [--set usps] [--pairs 1100] [--repeats 3]
"""

import argparse
import statistics
import time

import numpy as np
from sklearn.cluster import SpectralClustering

from linkwise import CCSKL, datasets, sample_pairs, scores


def timed(fit):
    start = time.perf_counter()
    labels = fit()
    return time.perf_counter() - start, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the data sets as NAME.npz")
    parser.add_argument("--set", default="usps")
    parser.add_argument("--pairs", type=int, default=1100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    X, y = datasets.load(options.set, data=options.data)
    k = len(np.unique(y))
    links = sample_pairs(y, options.pairs, scheme="balanced", random_state=0)
    contestants = {
        "CCSKL": lambda: CCSKL(k, random_state=0).fit_predict(X, constraints=links),
        "CCSKL, no constraints": lambda: CCSKL(k, random_state=0).fit_predict(X),
        "SpectralClustering": lambda: SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=20, random_state=0
        ).fit_predict(X),
    }
    print(f"{options.set}: {X.shape[0]} x {X.shape[1]} {X.dtype}, {options.pairs} pairs")
    times = {name: [] for name in contestants}
    found = {}
    for _ in range(options.repeats):
        for name, fit in contestants.items():
            seconds, found[name] = timed(fit)
            times[name].append(seconds)
    base = statistics.median(times["SpectralClustering"])
    print("| | seconds (median) | share of SpectralClustering | adjusted Rand | untouched | kept |")
    print("|---|---|---|---|---|---|")
    for name, seconds in times.items():
        median, score = statistics.median(seconds), scores(y, found[name], links)
        print(
            f"| {name} | {median:.2f} | {median / base:.2f} | {score['adjusted_rand']:.3f} "
            f"| {score['adjusted_rand_untouched']:.3f} | {score['kept']:.2f} |"
        )


if __name__ == "__main__":
    main()
