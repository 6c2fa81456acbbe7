"""Where the tree of a LinkClustering takes its distances.

In a layout of a neighbour graph clusters are islands, and their parts and neighbours show better
than in the features. Of several layouts, or of several preparations of the features if there are no
layouts, the one is taken in which the clusters stand out most:

    (1)  argmax  sum_c n_c |mean of c - mean|^2 / sum_i |y_i - mean|^2
"""

import numpy as np

from linkwise.arrays import to_host
from linkwise.blocks.rows import LazyRows, parts_of, take_rows
from linkwise.class_models import island_positions, prepare
from linkwise.class_models.learners import among
from linkwise.partition.groups import one_hot


def explained(Y, labels):
    """Return the share of the variance of Y (n, d) between clusters, Eq. (1)."""
    Y = to_host(Y).astype(np.float64)
    Y = Y[labels >= 0] - Y[labels >= 0].mean(axis=0)
    size = np.bincount(labels[labels >= 0])
    sums = one_hot(labels[labels >= 0], len(size)) @ Y
    between = ((sums**2).sum(axis=1) / np.maximum(size, 1)).sum()
    return float(between / max((Y**2).sum(), np.finfo(np.float64).tiny))


def tree_rows(X, models, labels):
    """Return coordinates of all rows (n, r), an array, or rows computed when asked for.

    Parameters
    ----------
    X : the rows of the fit
    models : SampleModels of them
    labels : int array (n,)
    """
    own = labels[models.rows]
    islands = among(models.learners, "island")
    if not islands:
        view = max(models.views, key=lambda one: explained(one.X, own))
        return LazyRows(X, lambda rows: to_host(prepare(view, rows)))
    island = max(islands, key=lambda one: explained(one.place.Y, own))
    layout = to_host(island.place.Y)
    found = np.empty((X.shape[0], layout.shape[1]), dtype=layout.dtype)
    found[models.rows] = layout
    rest = np.setdiff1d(np.arange(len(found)), models.rows, assume_unique=True)
    view = models.views[island.view]
    for part in parts_of(island.place.Y, len(rest), max(X.shape[1], view.X.shape[1])):
        block = prepare(view, take_rows(X, rest[part]))
        found[rest[part]] = to_host(island_positions(island, block))
    return found
