"""Planted noise, found by LinkClustering and by HDBSCAN.

Uniform noise over the box of the data is added to the rows of a set, one row for ten. Reported are
the F1 of the noise, and the adjusted Rand index on the other rows. There, a row that is left out is
a cluster of its own. HDBSCAN gets the best of several least sizes of a cluster; linkwise gets the
number of classes, and no answers.
"""

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs

from benchmarks.runs.output import say
from benchmarks.runs.points import read_set
from linkwise import LinkClustering
from linkwise.evaluate import adjusted_rand_index

SIZES = (5, 10, 15, 25, 50)  # least sizes of a cluster for HDBSCAN; the best counts
SHARE = 0.1


def with_noise(X, y, rng):
    """Return rows and classes with noise, whose class is -1."""
    noise = rng.uniform(X.min(axis=0), X.max(axis=0), (round(SHARE * len(X)), X.shape[1]))
    return np.r_[X, noise], np.r_[y, np.full(len(noise), -1)]


def judged(labels, y):
    """Return (F1 of the noise, adjusted Rand index on the other rows)."""
    both = np.count_nonzero((labels < 0) & (y < 0))
    f1 = 2.0 * both / (int(np.count_nonzero(labels < 0)) + int(np.count_nonzero(y < 0)))
    alone = labels.max() + 1 + np.arange(len(labels))
    own = np.where(labels < 0, alone, labels)[y >= 0]
    return f1, adjusted_rand_index(y[y >= 0], own)


def points(name, data, seed):
    """Return the rows and classes of a set; blobs are generated."""
    if name == "blobs":
        return make_blobs(1000, 5, centers=6, cluster_std=1.0, random_state=seed)[:2]
    X, y = read_set(name, data)
    return np.asarray(X, dtype=float), y


def run(data, sets, seeds):
    """Print one line for each set and method."""
    say("set           rows  method         F1 of noise  ARI of the others")
    for name in sets:
        found: dict = {"HDBSCAN": [], "linkwise": []}
        for seed in range(seeds):
            X, y = points(name, data, seed)
            X, y = with_noise(X, y, np.random.default_rng(seed))
            tried = [judged(HDBSCAN(min_cluster_size=size).fit_predict(X), y) for size in SIZES]
            found["HDBSCAN"].append(max(tried, key=sum))
            model = LinkClustering(
                int(y.max()) + 1, effort="fast", outliers="auto", random_state=seed
            )
            found["linkwise"].append(judged(model.fit_predict(X), y))
        for method, scores in found.items():
            f1, ari = np.mean(scores, axis=0)
            say(f"{name:<12} {len(X):>5}  {method:<13} {f1:12.3f}  {ari:17.3f}")
