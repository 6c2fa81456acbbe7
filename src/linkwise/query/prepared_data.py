"""What is computed from the points once, before any question.

The points are seen as LinkClustering sees them (``class_models``): some views, a graph and a kernel
in each. Beyond ``MOST`` points the models are learnt from a sample, the core; questions are about
points of the core, and the models place all others. The time for a question then does not grow
with the number of points, except for the labels: O(n r k).
"""

import warnings
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.blocks.executors import one_thread
from linkwise.blocks.rows import content_sample, row_blocks, take_rows
from linkwise.class_models import (
    agreements,
    coordinates,
    make_learners,
    make_views,
    mean_silhouettes,
    plain_partitions,
    prepare,
)
from linkwise.class_models.learners import Smoother
from linkwise.class_models.views import View
from linkwise.embedding.spectral import unit_rows

MOST = 2_000  # points that are learnt from; a question then takes a fraction of a second
VIEWS = ("given", "scaled")
KINDS = ("graph", "near")
VECTORS = 100  # of a learner, those smoothed least; more cost r^3 and change few labels


def leading(learner: Smoother) -> np.ndarray:
    """Return the places of the vectors of a learner that are kept, ascending."""
    shrink = learner.shrink[len(learner.shrink) // 2]
    return np.sort(np.argsort(-shrink, kind="stable")[:VECTORS])


class PreparedData:
    """The points in several views, with what strategies and models need of them.

    Attributes
    ----------
    n : int
    core : int array (c,), ascending, the points that are learnt from and asked about
    views : list of View of the core
    learners : list of Smoother of the core
    features : array (n, d), all points in the last view
    U : list of float32 arrays (n, r), all points in the basis of each learner
    """

    def __init__(self, X: Any, *, seed: int) -> None:
        self.n, self.seed = X.shape[0], seed
        with one_thread():
            rng = np.random.default_rng([seed, 1])
            whole = self.n <= MOST
            self.core = np.arange(self.n) if whole else np.sort(content_sample(X, MOST, rng))
            self.views = make_views(take_rows(X, self.core), kinds=VIEWS, seed=seed)
            last = self.views[-1]
            self.features = last.X if whole else self._seen(X, last)
            self.learners: list[Smoother] = []
            self.U: list[np.ndarray] = []
            for one in make_learners(self.views, KINDS, seed):
                kept = leading(one)
                U = one.U[:, kept]
                self.U.append(U if whole else self._placed(X, one, kept))
                self.learners.append(one._replace(U=U, shrink=one.shrink[:, kept]))
            self._partitions: dict[int, list[np.ndarray]] = {}
            self._positions: dict[int, np.ndarray] = {}

    def _seen(self, X: Any, view: View) -> np.ndarray:
        parts = row_blocks(self.n, max(X.shape[1], 1000))
        return np.concatenate([prepare(view, X[part]) for part in parts])

    def _placed(self, X: Any, learner: Smoother, kept: np.ndarray) -> np.ndarray:
        view, out = self.views[learner.view], np.empty((self.n, len(kept)), np.float32)
        for part in row_blocks(self.n, max(X.shape[1], 1000)):
            out[part] = coordinates(learner, prepare(view, X[part]))[:, kept]
        out[self.core] = learner.U[:, kept]
        return out

    @cached_property
    def likely_count(self) -> int:
        """The number of clusters of the largest silhouette."""
        most = min(10, len(self.core) - 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = mean_silhouettes(self.views, least=2, most=most, seed=self.seed)
        return max(found, key=lambda k: (found[k], -k), default=1)

    def positions(self, k: int) -> np.ndarray:
        """Return all points in the k smoothest directions of every graph, (n, r)."""
        if k not in self._positions:
            graphs = [
                U for one, U in zip(self.learners, self.U, strict=True) if one.name == "graph"
            ]
            Z = np.hstack([unit_rows(U[:, :k]) for U in graphs]) / np.sqrt(len(graphs))
            self._positions[k] = Z
        return self._positions[k]

    def partitions(self, k: int) -> list[np.ndarray]:
        """Return partitions of the core in k clusters, labels (c,), computed once for every k.

        Those that agree most with the others come first.
        """
        if k not in self._partitions:
            with warnings.catch_warnings():  # fewer distinct points than clusters are no harm
                warnings.simplefilter("ignore")
                found = plain_partitions(self.views, self.learners, k, self.seed)
            ranked = np.argsort(-agreements(found), kind="stable")
            self._partitions[k] = [found[i].labels for i in ranked]
        return self._partitions[k]
