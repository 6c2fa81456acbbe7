"""The points to learn from, the class models of them, and what these say without constraints."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwise.arrays import to_host
from linkwise.blocks.rows import content_sample, parts_of, take_rows
from linkwise.choice.effort import for_points
from linkwise.class_models import (
    coordinates,
    make_learners,
    make_views,
    mean_silhouettes,
    plain_partitions,
    prepare,
)
from linkwise.class_models.learners import graph_of
from linkwise.class_models.linkage import linkages_of, small_clusters
from linkwise.class_models.pair_softmax import feature_sets
from linkwise.class_models.partitions import believed
from linkwise.class_models.views import whitened_among

COLUMNS = 1000  # numbers a row takes at least while it is placed, for the size of the blocks
NEIGHBOURS_KEPT = 500_000  # points whose neighbours in the graphs are kept: about 200 MB
CONSTRAINED = 0.5  # largest share of constrained points: the others show where the clusters are


class SampleModels(NamedTuple):
    """Views and learners of a sample of the points."""

    rows: np.ndarray  # (s,) the sample, ascending
    views: list  # of View
    learners: list  # of Smoother and Gaussian


class Seen(NamedTuple):
    """Points that are not learnt from: as every view shows them, and their neighbours."""

    views: list  # of arrays (q, d)
    near: dict  # {view: Rows of its neighbour graph}


class Plain:
    """What the models say without constraints; each part is computed once, when first used.

    Attributes
    ----------
    models : SampleModels
    sets : list of Features
    """

    def __init__(self, models, seed):
        self.models, self.seed = models, seed
        self._partitions: dict = {}
        self._linkages: dict = {}
        self._silhouettes: dict = {}
        self._near: dict = {}  # neighbours of the points that are not learnt from, by block

    @cached_property
    def sets(self):
        return feature_sets(self.models.learners)

    def linkages(self, k):
        """Return {view: Linkage} of the island smoothers, for k clusters."""
        count = small_clusters(len(self.models.rows), k)
        if count not in self._linkages:
            self._linkages[count] = linkages_of(self.models.learners, count, self.seed)
        return self._linkages[count]

    def partitions(self, k):
        """Return (list of Partition into k clusters, how much each is believed (p,))."""
        if k not in self._partitions:
            views, learners = self.models.views, self.models.learners
            found = plain_partitions(views, learners, self.linkages(k), k, self.seed)
            self._partitions[k] = found, believed(found, learners, k, whitened_among(views))
        return self._partitions[k]

    def silhouettes(self, numbers):
        """Return {k: mean silhouette} for some numbers of clusters, a tuple."""
        if numbers not in self._silhouettes:
            found = mean_silhouettes(self.models.views, numbers, seed=self.seed)
            self._silhouettes[numbers] = found
        return self._silhouettes[numbers]

    def others(self, X, like):
        """Yield (rows, Seen) of the points of X that are not learnt from, in blocks.

        Their neighbours are found once, so that a refit does not search for them again. The size
        of a block fits the device of the array ``like``.
        """
        rest = np.setdiff1d(np.arange(X.shape[0]), self.models.rows, assume_unique=True)
        for part in parts_of(like, len(rest), max(X.shape[1], COLUMNS)):
            rows = rest[part]
            key = int(rows[0]), int(rows[-1])
            seen = see(self.models, take_rows(X, rows), self._near.get(key))
            if len(self._near) * len(rows) < NEIGHBOURS_KEPT:
                self._near[key] = seen.near
            yield rows, seen


def sample_rows(X, links, most, seed):
    """Return the rows to learn from, ascending: all, or ``most`` with constraints kept first.

    A constraint teaches only if both its points are in the sample. So whole constraints are drawn,
    as many as fit in CONSTRAINED of the sample; the others still count in the final labels.
    """
    n = X.shape[0]
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng([seed, 3])
    plain = to_host(content_sample(X, most, rng))
    touched, limit = links.touched, int(CONSTRAINED * most)
    if len(touched) > limit:
        ends = links.ends[rng.permutation(links.n_pairs)].ravel()
        first = np.sort(np.unique(ends, return_index=True)[1])  # where each point comes up
        touched = np.sort(ends[first[: limit - limit % 2]])
    others = rng.permutation(np.setdiff1d(plain, touched))  # the sample without constraints stays
    return np.union1d(touched, others[: most - len(touched)])  # if it has all their points


def fit_models(X, rows, effort, seed):
    """Return the SampleModels of some rows of X."""
    effort = for_points(effort, len(rows))
    views = make_views(take_rows(X, rows), kinds=effort.views, seed=seed)
    return SampleModels(rows, views, make_learners(views, effort.learners, seed))


def see(models, X, near=None):
    """Return new points X as Seen by the models; ``near`` are their neighbours, if known."""
    views = [prepare(view, X) for view in models.views]
    if near is None:
        found = [(one.view, graph_of(one)) for one in models.learners]
        graphs = {view: graph for view, graph in found if graph is not None}  # one in each view
        near = {view: graph.rows(views[view]) for view, graph in graphs.items()}
    return Seen(views, near)


def place_one(learner, seen):
    """Return points that are Seen in the basis of a learner, (q, r)."""
    return coordinates(learner, seen.views[learner.view], seen.near.get(learner.view))


def place_points(models, seen):
    """Return points that are Seen in the basis of every learner, a list of (q, r)."""
    return [place_one(one, seen) for one in models.learners]
