"""Balanced k-means, beside k-means-constrained."""

import time
from importlib import import_module

import numpy as np

from benchmarks.runs.output import say
from linkwise import COPKMeans


def peer():
    """Return the class of k-means-constrained."""
    try:
        return import_module("k_means_constrained").KMeansConstrained
    except ImportError as error:
        fault = "this compares with k-means-constrained: pip install k-means-constrained"
        raise ValueError(fault) from error


def run(rows, columns, clusters, starts, seed):
    """Print inertia, sizes and seconds of both."""
    X = np.random.default_rng(seed).normal(size=(rows, columns))
    least, most = rows // clusters, -(-rows // clusters)
    both = {
        "linkwise": COPKMeans(clusters, size=(least, most), n_init=starts, random_state=seed),
        "k-means-constrained": peer()(
            clusters, size_min=least, size_max=most, n_init=starts, random_state=seed
        ),
    }
    say("                      inertia  least  most   seconds")
    for name, model in both.items():
        began = time.perf_counter()
        model.fit(X)
        seconds = time.perf_counter() - began
        size = np.bincount(model.labels_, minlength=clusters)
        say(f"{name:<20} {model.inertia_:>8.0f}  {size.min():>5}  {size.max():>4}  {seconds:>8.1f}")
