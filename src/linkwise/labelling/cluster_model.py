"""The model of a project: questions, labels in which corrections hold, and likely errors."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from linkwise.choice import LinkClustering
from linkwise.constraints import Constraints
from linkwise.labelling.settling import count, renumbered, settle
from linkwise.query import Known, Progress, Question, Session
from linkwise.query.model import Model, fit
from linkwise.query.seeds import classes_of

SUSPECT = 0.8  # probability of being wrong above which an answer is shown for review
SUSPECTS_FROM = 5  # pairs; with fewer nothing can be said about a single one
SHOWN = 20  # suspects at most: more would not be looked through


class Task(NamedTuple):
    """What a project says, for a model to follow.

    Attributes
    ----------
    links : Constraints by row, weight > 0; corrections by hand have the source "hand"
    unsure : list of (a, b), the pairs of rows to which "don't know" was answered
    merges, splits : lists of lists of rows, those of each merge and each split by hand
    n_clusters : int, or None: free
    """

    links: Constraints
    unsure: list[tuple[int, int]]
    merges: list[list[int]]
    splits: list[list[int]]
    n_clusters: int | None


class Suspected(NamedTuple):
    """Pairs that are likely wrong, the likeliest first: Constraints, and probabilities (m,)."""

    links: Constraints
    wrong: np.ndarray


NOTHING = Suspected(Constraints(), np.zeros(0))


class ClusterModel:
    """A Session that follows a project.

    Parameters
    ----------
    X : array (n, d), n >= 2
    seed : int
    """

    def __init__(self, X: Any, *, seed: int = 0) -> None:
        self.X, self.seed = X, seed
        self.session = Session(X, random_state=seed)
        self.data = self.session.data
        self._task = Task(Constraints(), [], [], [], None)
        self._shown: np.ndarray | None = None

    def follow(self, task: Task) -> None:
        """Follow what a project says now."""
        self._task = task
        self.session.n_clusters = task.n_clusters
        self.session.follow(task.links, task.unsure)

    def questions(self, n: int) -> list[Question]:
        """Return at most n questions, the most informative first."""
        return self.session.ask(n)

    def progress(self) -> Progress:
        """Return how far the answers have come."""
        return self.session.progress()

    def _model(self) -> Model:
        """Return the model with as many clusters as the corrections leave."""
        task, model = self._task, self.session.context.model
        if task.n_clusters is not None or not (task.splits or task.merges):
            return model
        answers = Known(task.links.select(task.links.source != "hand"))
        likely = self.data.likely_count
        k = max(likely, len(classes_of(self.data, answers, None, likely)))
        k = count(k, len(task.splits), len(task.merges), len(model.classes))
        return fit(self.data, self.session.context.known, min(k, self.data.n))

    def labels(self) -> np.ndarray:
        """Return the clusters, int32 (n,), in which all corrections by hand hold.

        Clusters keep their numbers from one call to the next as far as they have points in common.
        """
        task, model = self._task, self._model()

        def q(rows: np.ndarray) -> np.ndarray:
            place = np.minimum(np.searchsorted(model.rows, rows), len(model.rows) - 1)
            seen = model.rows[place] == rows
            plain = np.eye(model.q.shape[1])[model.labels[rows]]
            return np.where(seen[:, None], model.q[place], plain)

        labels = settle(
            model.labels,
            q,
            self.data.positions(max(model.k, 2)),
            task.links.select(task.links.source == "hand"),
            merges=task.merges,
            splits=task.splits,
            free=task.n_clusters is None,
        )
        self._shown = renumbered(labels, self._shown)
        return self._shown

    def suspects(self) -> Suspected:
        """Return the answers that are likely wrong, by a LinkClustering; takes seconds.

        The labels of the session must contradict them too: what is asked about is in doubt by its
        nature, and one model alone takes too many right answers for wrong.
        """
        links = self._task.links
        if len(np.unique(np.sort(links.pairs, axis=1), axis=0)) < SUSPECTS_FROM:
            return NOTHING
        shown = self.labels() if self._shown is None else self._shown
        k = self._task.n_clusters or len(np.unique(shown))
        model = LinkClustering(k, effort="fast", random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer clusters than asked for do no harm here
            model.fit(self.X, constraints=links)
        wrong = model.suspicion_
        likely = np.flatnonzero((wrong > SUSPECT) & links.violated(self.session.labels))
        likely = likely[np.argsort(-wrong[likely], kind="stable")][:SHOWN]
        return Suspected(links.select(likely), wrong[likely])


class SingleRow:
    """The model of a single row: one cluster, and nothing to ask."""

    def follow(self, task: Task) -> None:
        """Do nothing: no pair can be named."""

    def questions(self, n: int) -> list[Question]:
        """Return no question."""
        return []

    def progress(self) -> Progress:
        """Return that nothing is left to ask."""
        return Progress(0, 0.0, 0.0, True, False)

    def labels(self) -> np.ndarray:
        """Return the one cluster."""
        return np.zeros(1, dtype=np.int32)

    def suspects(self) -> Suspected:
        """Return none."""
        return NOTHING


def model_of(X: Any, *, seed: int = 0) -> ClusterModel | SingleRow:
    """Return the model of points X (n, d)."""
    return ClusterModel(X, seed=seed) if len(X) > 1 else SingleRow()
