"""Levels of the 20 newsgroups: their names have two levels, such as rec.autos and rec.

Answers that suit all levels: must-links join texts of one newsgroup, cannot-links separate texts of
different upper groups. Each method gets the same answers, clusters the texts into 20, and its tree
is cut into as many clusters as there are upper groups. Compared are the adjusted Rand indices at
both levels, and the answers that a level breaks.
"""

import time
from pathlib import Path

import numpy as np
from sklearn.cluster import AgglomerativeClustering

from benchmarks.runs.output import say
from benchmarks.runs.points import read_set
from linkwise import ConstrainedAgglomerative, Constraints, LinkClustering
from linkwise.evaluate import adjusted_rand_index

SET = "newsgroups20_counts"


def upper_groups(names):
    """Return the upper group of every newsgroup, int (20,): the first part of its name.

    The three of religion (alt.atheism, soc.religion.christian, talk.religion.misc) are one group.
    """
    tops = [
        "religion" if "religion" in name or "atheism" in name else name.partition(".")[0]
        for name in names
    ]
    return np.unique(tops, return_inverse=True)[1]


def answers(fine, coarse, pairs, rng):
    """Return as many must-links as cannot-links, ``pairs`` in all."""
    must: set = set()
    cannot: set = set()
    while len(must) + len(cannot) < pairs:
        a, b = sorted(rng.choice(len(fine), 2, replace=False).tolist())
        if fine[a] == fine[b] and len(must) < pairs // 2:
            must.add((a, b))
        elif coarse[a] != coarse[b] and len(cannot) < pairs - pairs // 2:
            cannot.add((a, b))
    return Constraints(sorted(must), sorted(cannot))


def ward(X, k):
    """Return the labels of k clusters by Ward's method, which knows no answers."""
    return AgglomerativeClustering(k).fit_predict(X)


def run(data, rows, pairs, seed):
    """Print one line for each method and number of clusters."""
    X, y = read_set(SET, data)
    with np.load(Path(data) / f"{SET}.npz", allow_pickle=False) as archive:
        group = upper_groups(archive["classes"].tolist())
    order = np.random.default_rng(seed).permutation(len(X))[:rows]
    X, fine = X[order], y[order]
    coarse = group[fine]
    links = answers(fine, coarse, pairs, np.random.default_rng(seed))
    numbers = len(np.unique(fine)), len(np.unique(coarse))
    models = {
        "LinkClustering": LinkClustering(numbers[0], effort="fast", random_state=seed),
        "ConstrainedAgglomerative": ConstrainedAgglomerative(numbers[1]),
    }
    say("method                     clusters  ARI  answers broken  seconds of the fit, of the tree")
    for name, model in models.items():
        began = time.perf_counter()
        model.fit(X, constraints=links)
        fitted = time.perf_counter()
        tree = model.tree_
        seconds = f"{fitted - began:8.1f} {time.perf_counter() - fitted:8.1f}"
        kept = links.select(~links.violated(model.labels_))
        for k, classes in zip(numbers, (fine, coarse), strict=True):
            cut = tree.cut(max(k, tree.n_roots))
            broken = int(kept.violated(cut).sum())
            say(f"{name:<26} {cut.max() + 1:>6}  {adjusted_rand_index(classes, cut):.3f}"
                f"  {broken:>6}  {seconds}")  # fmt: skip
    for k, classes in zip(numbers, (fine, coarse), strict=True):
        labels = ward(X, k)
        say(f"{'Ward, no answers':<26} {k:>6}  {adjusted_rand_index(classes, labels):.3f}"
            f"  {int(links.violated(labels).sum()):>6}")  # fmt: skip
