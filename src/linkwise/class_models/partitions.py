"""Partitions without constraints: k-means and spectral clustering in every view.

A finer partition of each view, of about three times as many clusters, serves as a similarity of
points: two points of one small cluster are alike even where k clusters are cut wrongly.
"""

from typing import NamedTuple

import numpy as np

from linkwise.class_models.learners import graphs_among
from linkwise.embedding.spectral import unit_rows
from linkwise.evaluate import adjusted_rand_index
from linkwise.partition.k_means import kmeans

FINE = 3  # times k clusters in the finer partition; chosen on the development sets
PER_CLUSTER = 4  # points a cluster of it has on average at least: fewer would be single points
STARTS = 3  # of k-means: many partitions are made, and none of them has to be the very best
FINE_STARTS = 2  # as a similarity a finer partition matters less


class Partition(NamedTuple):
    """One way to cut the points into clusters."""

    name: str
    labels: np.ndarray  # (n,)
    fine: bool = False  # whether it has more clusters than asked for


def view_k_means(view, k, rng):
    """Return labels (n,) of k-means in a view."""
    return kmeans(view.X, k, n_init=STARTS, rng=rng).labels


def plain_partitions(views, learners, k, seed):
    """Return partitions by k-means and spectral clustering in every view, and finer ones.

    Parameters
    ----------
    views : list of View
    learners : list of Smoother and Gaussian; the graphs among them give the spectral partitions
    k : int
    seed : int

    Returns
    -------
    list of Partition
    """
    found = []
    for number, view in enumerate(views):
        rng = np.random.default_rng([seed, k, number])
        found.append(Partition(f"k-means, {view.name}", view_k_means(view, k, rng)))
        fine = min(FINE * k, len(view.X) // PER_CLUSTER)
        if fine > k:
            labels = kmeans(view.X, fine, n_init=FINE_STARTS, rng=rng).labels
            found.append(Partition(f"fine, {view.name}", labels, fine=True))
    for graph in graphs_among(learners):
        rng = np.random.default_rng([seed, k, graph.view])
        Z = unit_rows(graph.U[:, :k])
        labels = kmeans(Z, k, n_init=STARTS, rng=rng).labels
        found.append(Partition(f"spectral, {views[graph.view].name}", labels))
    return found


def agreements(partitions):
    """Return how much each partition agrees with all, the mean adjusted Rand index (p,)."""
    return np.array(
        [
            np.mean([adjusted_rand_index(one.labels, other.labels) for other in partitions])
            for one in partitions
        ]
    )
