"""k-means: the best of several k-means++ starts, by scikit-learn's Lloyd iteration.

For more than a few thousand rows, the starts are made on a sample, and the best one continues for
some Lloyd steps on a sample 15 times as large. A further step on all rows lowered the inertia by
only 0.005 to 0.03 % on three generated sets of up to 1,000,000 x 20. It is left out: all rows are
read once, for their labels.

The random draws of k-means++ pick row numbers, so the same points in another order would start
differently. The rows are therefore sorted by their coordinates first: shuffled data gives the same
clusters. Labels are numbered by first appearance.
"""

import warnings
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from linkwise.arrays import PerKind, door, namespace, to_host
from linkwise.blocks.executors import run_blocks
from linkwise.blocks.passes import over_blocks
from linkwise.blocks.rows import (
    content_sample,
    on_cluster,
    over_rows,
    read_block,
    take_rows,
    write_block,
)
from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.partition.batched_starts import best_of_batch, settle, with_ones

SAMPLE = 3_000  # rows for the starts, at least: bounds their time, whatever the number of rows
PER_CLUSTER = 200  # rows for the starts for each cluster: small clusters are in the sample too
LARGER = 15  # times that sample for the Lloyd steps; see above for what more would gain
STEPS = 20  # Lloyd steps at most: the start is already good
AT_REST = 1e-3  # largest move of a centre, in units of the spread of the centres, that ends them


class KMeansPartition(NamedTuple):
    """Labels and centres."""

    labels: np.ndarray  # (n,) int
    centres: np.ndarray  # (k, m)
    inertia: float


def by_appearance(labels):
    """Return labels renamed 0, 1, ... by first appearance, and the old names in that order.

    >>> by_appearance(np.array([5, 2, 5, 9]))
    (array([0, 1, 0, 2]), array([5, 2, 9]))
    """
    names, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[inverse], names[order]


def canonical_order(Z):
    """Return a permutation of the rows that depends on their coordinates alone."""
    return door(Z).canonical_order(Z)


def sample_size(k):
    """Return the number of rows on which starts are made."""
    return max(SAMPLE, PER_CLUSTER * k)


def start_rows(rows, k):
    """Return those of a larger sample, evenly spaced, on which starts are made."""
    return rows[:: max(1, len(rows) // sample_size(k))]


@contextmanager
def equal_rows_ignored():
    """Silence what scikit-learn's KMeans says of equal rows: `kmeans` warns itself.

    The filters of warnings belong to the process. Where `kmeans` runs on several threads, one may
    restore them while another still needs them, so this has to be around all threads as well.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Number of distinct clusters", category=SklearnConvergenceWarning
        )
        yield


@PerKind
def best_starts(samples, k, *, n_init, seed):
    """Return for each sample the centres (k, m) of the best of ``n_init`` starts on it.

    They are found by scikit-learn, and on a device all starts of all samples at a time.
    """

    def best(Z):
        model = KMeans(k, n_init=n_init, random_state=seed)
        return model.fit(Z[canonical_order(Z)]).cluster_centers_

    with equal_rows_ignored():
        return list(run_blocks(best, samples))


@best_starts.of_tensors
def _best_starts_of_tensors(samples, k, *, n_init, seed):
    ordered = [Z[canonical_order(Z)] for Z in samples]
    return best_of_batch(ordered, k, n_init=n_init, rng=np.random.default_rng(seed))


def assign(Z, centres):
    """Return the nearest centre of every row, and the squared distance to it less |z|^2."""
    D = Z @ (-2 * centres.T)
    D += door(centres).squared_norms(centres)
    labels = namespace(D).argmin(D, axis=1)
    return labels, namespace(D).take_along_axis(D, labels[:, None], axis=1)[:, 0]


def lloyd_step(Z, centres):
    """Return the means of the rows nearest to each centre."""
    k, m = centres.shape

    def sums(part):
        rows = read_block(Z, part)
        return door(rows).label_sums(rows, assign(rows, centres)[0], k)

    total, count = np.zeros((k, m)), np.zeros(k)
    for _, (more_total, more_count) in over_rows(sums, centres, Z.shape[0], max(m, k)):
        total, count = total + more_total, count + more_count
    means = np.divide(
        total, count[:, None], out=centres.astype(np.float64), where=count[:, None] > 0
    )
    return means.astype(centres.dtype)


@PerKind
def polish(Z, centres, steps):
    """Return centres after at most ``steps`` Lloyd steps on the rows of Z."""
    spread = np.sqrt(np.var(centres, axis=0).sum())
    for _ in range(steps):
        old = centres
        centres = lloyd_step(Z, old)
        if np.sqrt(((centres - old) ** 2).sum(axis=1).max()) <= AT_REST * spread:
            break
    return centres


@polish.of_tensors
def _polish_of_tensors(Z, centres, steps):
    spread = np.sqrt(np.var(to_host(centres), axis=0).sum())
    rest = door(Z).asarray([(AT_REST * float(spread)) ** 2], Z, Z.dtype)
    return settle(with_ones(Z)[None], centres[None, None], most=steps, rest=rest)[0, 0]


class Appearance:
    """The order in which k labels appear in blocks of rows."""

    def __init__(self, k):
        self.rank = np.full(k, -1, dtype=np.int64)  # of each label; -1 until it appears
        self.found = 0

    def see(self, new):
        """Count the labels of a block, in the order in which they appear there."""
        new = new[self.rank[new] < 0]
        self.rank[new] = self.found + np.arange(len(new))
        self.found += len(new)

    def order(self):
        """Return the labels that appeared, in their order."""
        return np.argsort(self.rank, kind="stable")[len(self.rank) - self.found :]


def label_rows(Z, centres, out=None):
    """Return (labels, centres, inertia): the nearest centre of every row, by first appearance.

    The centres are those of non-empty clusters in that order. The labels are an array, written to
    ``out`` if it is given; on a cluster they stay with the workers.
    """
    n, k = Z.shape[0], len(centres)
    tools, seen = door(centres), Appearance(k)

    def nearest(part, rows):
        labels, less = assign(rows, centres)
        total = door(less).cast(less, "float64").sum() + door(rows).squared_norms(rows).sum()
        return labels, float(total)

    remote = on_cluster(Z)
    if remote is not None:
        labels, inertia = label_on_cluster(remote.then(nearest), seen)
    else:
        inertia, width = 0.0, max(Z.shape[1], k)
        labels = tools.empty(n, centres, "int64") if out is None else out
        shown = {"label": "labels", "total": n}
        for part, (block, more) in over_blocks(nearest, Z, width, like=centres, **shown):
            inertia += more
            if seen.found < k:
                seen.see(tools.in_order_of_appearance(block, k))
            write_block(labels, part, tools.asarray(seen.rank, block)[block])
    return labels, centres[tools.asarray(seen.order(), centres)], inertia


def label_on_cluster(nearest, seen):
    """Return (labels, inertia) of rows (nearest centre, inertia) on a cluster.

    Two tasks a block: the first finds the nearest centres, which the worker keeps, the second
    renames them when the labels are used.
    """
    k = len(seen.rank)
    small = nearest.then(lambda part, found: (found[0].astype(np.int32), found[1]))
    kept = small.keep("labels")
    inertia = 0.0
    for _, (new, more) in kept.each(
        lambda part, found: (door(found[0]).in_order_of_appearance(found[0], k), found[1])
    ):
        inertia += more
        seen.see(new)
    rank = seen.rank
    return kept.then(lambda part, found: rank[found[0]], width=None, dtype=np.int64), inertia


def kmeans(Z, k, *, n_init=10, start=None, sample=None, rng, out=None, announce=True):
    """Return the partition of least inertia among ``n_init`` starts.

    Parameters
    ----------
    Z : array (n, m), or rows computed when asked for (`blocks.LazyRows`)
    k : int <= n
    start : centres (k, m) to continue from instead, or None
    sample : function (size) -> row numbers, or None for `content_sample`
    rng : numpy Generator
    out : int array (n,) to write the labels to, or None
    announce : bool, warn if there are fewer than k clusters
    """
    n = Z.shape[0]
    size = sample_size(k)
    if n > size:
        larger = content_sample(Z, LARGER * size, rng) if sample is None else sample(LARGER * size)
        larger = take_rows(Z, larger)
    else:
        larger = read_block(Z, slice(0, n))
    if start is None:
        seed = int(rng.integers(2**31 - 1))
        (start,) = best_starts([start_rows(larger, k)], k, n_init=n_init, seed=seed)
    centres = polish(larger, start, STEPS)
    labels, centres, inertia = label_rows(Z, centres, out)
    if len(centres) < k and announce:
        warn(
            f"only {len(centres)} of {k} clusters found: the points, or their embedding under the "
            "constraints, have no more distinct positions; ask for fewer clusters",
            ConvergenceWarning,
        )
    return KMeansPartition(labels, centres, inertia)


def nearest_centre(Z, centres):
    """Return the number of the nearest centre for every row of Z."""
    return assign(Z, centres)[0]
