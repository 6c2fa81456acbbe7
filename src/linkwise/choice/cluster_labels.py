"""Labels of rows on a cluster: the models are sent to the workers, which place their blocks.

Constraints change only the labels of the points that they touch. These points are gathered, and
`settle_raw` labels them under the constraints, as it labels all points elsewhere. The workers label
all others by the features alone. Nothing of the size of the data comes to this process.
"""

import numpy as np

from linkwise.blocks.rows import row_blocks, take_rows
from linkwise.choice.combination import soft_labels
from linkwise.choice.final_labels import LEAST, FinalLabels, at_least, settle_raw
from linkwise.choice.sample_models import COLUMNS, see
from linkwise.constraints import Constraints
from linkwise.graph.anchors import check_finite
from linkwise.partition.k_means import Appearance, label_on_cluster


def placed(models, members, co_trained, X):
    """Return soft labels (q, k) of points, a few at a time."""
    parts = row_blocks(len(X), max(X.shape[1], COLUMNS))
    seen = (see(models, X[part]) for part in parts)
    return np.concatenate([soft_labels(models, members, co_trained, one) for one in seen])


def with_sample(soft, numbers, models, combination):
    """Return soft labels of points with these row numbers, as found on the sample if in it."""
    at = np.minimum(np.searchsorted(models.rows, numbers), len(models.rows) - 1)
    known = models.rows[at] == numbers
    soft[known] = combination.soft[at[known]]
    return soft


def place_rows(models, members, co_trained):
    """Return the function that gives a block of points its soft labels."""

    def place(part, block):
        check_finite(block, range(part.start, part.stop))
        return placed(models, members, co_trained, block)

    return place


def settle_on_cluster(X, models, combination, links, error, rng, *, hard, least):
    """Return the FinalLabels of rows on a cluster; arguments as of `settle`."""
    members, co_trained = combination.members, combination.co_trained
    place = place_rows(models, members, co_trained)

    def soft_of(part, block):
        return with_sample(
            place(part, block), np.arange(part.start, part.stop), models, combination
        )

    touched = np.asarray(links.ids) if links else np.empty(0, np.int64)
    raw, q_touched, wrong = np.empty(0, np.int64), np.empty((0, 0)), np.zeros(0)
    if len(touched):
        few = placed(models, members, co_trained, take_rows(X, touched, X.dtype))
        few = with_sample(few, touched, models, combination)
        inner = Constraints.from_columns(
            np.arange(len(touched)), links.pairs, links.sign, links.weight
        )
        raw, q_touched, wrong = settle_raw(few, inner, error, rng, hard=hard)

    def beliefs(part, block):
        q = np.maximum(soft_of(part, block), LEAST)
        q /= q.sum(axis=1, keepdims=True)
        here = (touched >= part.start) & (touched < part.stop)
        if here.any():
            q[touched[here] - part.start] = q_touched[here]
        return q

    def nearest(part, block):
        labels = np.argmax(beliefs(part, block), axis=1)
        here = (touched >= part.start) & (touched < part.stop)
        labels[touched[here] - part.start] = raw[here]
        return labels, 0.0

    k = combination.soft.shape[1]
    seen = Appearance(k)
    labels, _ = label_on_cluster(X.then(nearest), seen)
    clusters = at_least(seen.order(), k, least)

    def probabilities(part, block):
        q = beliefs(part, block)[:, clusters]
        return q / q.sum(axis=1, keepdims=True)

    shown = X.then(probabilities, width=len(clusters), dtype=np.float64).as_dask_array()
    return FinalLabels(labels, shown, wrong, clusters.astype(np.intp))
