"""The points, and the LinkClustering that clusters them, held warm.

A LinkClustering is fitted once; every answer refits it. Its views, learners, partitions and layouts
are computed once, and what it says about the answers is what `LinkClustering.fit` says, number by
number. Questions are about at most ``MOST`` of its points, the core, so that the time to choose one
does not grow with the number of points.
"""

import warnings
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from linkwise.blocks.executors import one_thread
from linkwise.blocks.rows import content_sample, row_blocks, take_rows
from linkwise.choice import LinkClustering
from linkwise.choice.candidates import SCORED_ERROR
from linkwise.choice.final_labels import settle
from linkwise.choice.sample_models import Plain, place_one
from linkwise.class_models import prepare
from linkwise.class_models.learners import GraphPlace, Smoother, graphs_among
from linkwise.constraints import Constraints
from linkwise.constraints.cluster_numbers import NClusters, least_clusters
from linkwise.embedding.spectral import unit_rows
from linkwise.estimators.base import match_rows

MOST = 2_000  # points to ask about; a question then takes a fraction of a second
KEPT = 4  # clusterings of earlier answers that are kept: those of the last few undos and redos
BALANCED = 20_000  # points up to which the effort is balanced: beyond, an answer would take minutes


def effort_for(n: int) -> Literal["balanced", "fast"]:
    """Return the effort for n points, the same for a session, a project and its exports."""
    return "balanced" if n <= BALANCED else "fast"


class Clustering(NamedTuple):
    """What LinkClustering says about some answers.

    Attributes
    ----------
    labels : int array (n,)
    probabilities : array (n, k)
    suspicion : array (m,), the probability that each answer is wrong
    soft : array (n, k), labels by the features alone
    wrong : float, estimated share of wrong answers
    least : int, the least number of clusters that was asked for, 0 if any will do
    runners_up : list of (int, float), other numbers of clusters with their scores, the best first
    """

    labels: np.ndarray
    probabilities: np.ndarray
    suspicion: np.ndarray
    soft: np.ndarray
    wrong: float
    least: int
    runners_up: list[tuple[int, float]]


def teaching(links: Constraints) -> Constraints:
    """Return the constraints that models learn from: all but corrections by hand."""
    return links.select(links.source != "hand").active()


def corrected(before: Clustering, links: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Return labels (n,) and probabilities (n, k) of an earlier clustering under all answers.

    The answers change the probabilities of the points that they reach, and teach nothing else.
    """
    with one_thread():
        found = settle(
            before.soft, links, max(before.wrong, SCORED_ERROR), np.random.default_rng(0),
            hard=False, least=before.least,
        )  # fmt: skip
    return found.labels, found.probabilities


class PreparedData:
    """The points, and a LinkClustering of them.

    Parameters
    ----------
    X : array or sparse matrix (n, d), n >= 2
    seed : int
    n_clusters : int, (least, most) or None, what is asked for first

    Attributes
    ----------
    n : int
    estimator : LinkClustering, fitted
    core : int array (c,), ascending, the points that are asked about
    """

    def __init__(self, X: Any, *, seed: int, n_clusters: NClusters = None) -> None:
        self.X, self.n, self.seed = X, X.shape[0], seed
        self.estimator = LinkClustering(n_clusters, effort=effort_for(self.n), random_state=seed)
        self._clusterings: dict[Any, Clustering] = {}
        self._without: dict[NClusters, np.ndarray] = {}
        self._positions: dict[int, np.ndarray] = {}
        self._U: dict[int, np.ndarray] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer clusters than asked for are shown, not told
            self.estimator.fit(X)
        self._keep(Constraints(), n_clusters)
        rows, rng = self.plain.models.rows, np.random.default_rng([seed, 1])
        few = np.arange(len(rows))
        if len(rows) > MOST:
            few = np.sort(content_sample(take_rows(X, rows), MOST, rng))
        self.core = rows[few]

    @property
    def plain(self) -> Plain:
        """What the models of the points say without answers."""
        assert self.estimator._unconstrained is not None  # it is fitted
        return self.estimator._unconstrained

    @property
    def whole(self) -> bool:
        """Whether the models learn from all points; others have to be placed after every fit."""
        return len(self.plain.models.rows) == self.n

    def _keep(self, links: Constraints, n_clusters: NClusters) -> Clustering:
        one = self.estimator
        found = Clustering(
            one.labels_, one.probabilities_, one.suspicion_, one._soft, one.wrong_,
            least_clusters(n_clusters), one.runners_up_,
        )  # fmt: skip
        while len(self._clusterings) >= KEPT:
            del self._clusterings[next(iter(self._clusterings))]
        self._clusterings[key_of(links, n_clusters)] = found
        return found

    def kept(self, links: Constraints, n_clusters: NClusters = None) -> Clustering | None:
        """Return the Clustering of some answers if it is known, else None."""
        return self._clusterings.get(key_of(teaching(links), n_clusters))

    def cluster(self, links: Constraints, n_clusters: NClusters = None) -> Clustering:
        """Return the Clustering of some answers; takes seconds where there are many of them."""
        links = teaching(links)
        found = self._clusterings.get(key_of(links, n_clusters))
        if found is not None:
            return found
        self.estimator.set_params(n_clusters=n_clusters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.estimator.refit(links)
        return self._keep(links, n_clusters)

    def without_answers(self, n_clusters: NClusters = None) -> np.ndarray:
        """Return the labels without answers (n,)."""
        if n_clusters not in self._without:
            self._without[n_clusters] = self.cluster(Constraints(), n_clusters).labels
        return self._without[n_clusters]

    def likely_count(self, n_clusters: NClusters = None) -> int:
        """Return the number of clusters asked for, in a range the one that the points suggest."""
        if isinstance(n_clusters, int):
            return n_clusters
        return int(self.without_answers(n_clusters).max()) + 1

    @cached_property
    def twins(self) -> np.ndarray:
        """The first row that each row is identical to, (n,)."""
        return match_rows(self.X, self.X)

    @cached_property
    def graphs(self) -> list[Smoother]:
        """The smoothers on the neighbour graphs of the views."""
        return list(graphs_among(self.plain.models.learners))

    @cached_property
    def affinities(self) -> list[Any]:
        """The weights of the neighbour graphs, (s, s) each for s points that are learnt from."""
        return [one.place.graph.W for one in self.graphs if isinstance(one.place, GraphPlace)]

    @cached_property
    def features(self) -> np.ndarray:
        """All points in the last view, (n, d)."""
        view = self.plain.models.views[-1]
        if self.whole:
            return np.asarray(view.X)
        parts = row_blocks(self.n, max(self.X.shape[1], 1000))
        return np.concatenate([prepare(view, self.X[part]) for part in parts])

    def in_basis(self, number: int) -> np.ndarray:
        """Return all points in the basis of a graph, float32 (n, r)."""
        if number not in self._U:
            models, graph = self.plain.models, self.graphs[number]
            if self.whole:
                return np.asarray(graph.U)
            out = np.empty((self.n, graph.U.shape[1]), np.float32)
            for rows, seen in self.plain.others(self.X, out):
                out[rows] = place_one(graph, seen)
            out[models.rows] = graph.U
            self._U[number] = out
        return self._U[number]

    def positions(self, k: int) -> np.ndarray:
        """Return all points in the k smoothest directions of every graph, (n, r)."""
        if k not in self._positions:
            parts = [unit_rows(self.in_basis(v)[:, :k]) for v in range(len(self.graphs))]
            self._positions[k] = np.hstack(parts) / np.sqrt(len(parts))
        return self._positions[k]


def key_of(links: Constraints, n_clusters: NClusters) -> Any:
    """Return what tells some answers and a number of clusters from others."""
    columns = links.ends, links.sign, links.weight
    return n_clusters, *(column.tobytes() for column in columns)
