"""The model of a project: questions, labels in which corrections hold, and likely errors."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.choice import LinkClustering
from linkwise.choice.candidates import FEWEST
from linkwise.choice.final_labels import SUSPECT
from linkwise.constraints import Constraints
from linkwise.constraints.closure import components
from linkwise.constraints.cluster_numbers import NClusters
from linkwise.labelling.edits import Edit, edited
from linkwise.labelling.kept_clusters import Kept
from linkwise.partition.strays import distances, find_strays
from linkwise.query import LabelQuestion, Progress, Question, Session, SetQuestion
from linkwise.query.prepared_data import Clustering, corrected, effort_for, teaching
from linkwise.query.wider_questions import wider_question

QUICK = FEWEST  # answers below which the exact labels take a fraction of a second
SUSPECTS_FROM = 5  # pairs; with fewer nothing can be said about a single one
SHOWN = 20  # suspects at most: more would not be looked through


class Task(NamedTuple):
    """What a project says, for a model to follow.

    Attributes
    ----------
    links : Constraints by row, weight > 0; corrections by hand have the source "hand"
    unsure : list of (a, b), the pairs of rows to which "don't know" was answered
    edits : list of Edit, the corrections by hand and the strays in their order
    n_clusters : int, (least, most), or None: free. Corrections may make more or fewer
    marks : dict {row: "unclear" or "stray"}, the rows that are not asked about
    outliers : share in [0, 1) of rows that are left out of clusters, "auto", or None
    kept : Kept, the clusters of the rows before the data got more of them, or None
    """

    links: Constraints
    unsure: list[tuple[int, int]]
    edits: list[Edit]
    n_clusters: NClusters
    marks: Mapping[int, str] = {}
    outliers: float | str | None = None
    kept: Kept | None = None


class Suspected(NamedTuple):
    """Pairs that are likely wrong, the likeliest first: Constraints, and probabilities (m,)."""

    links: Constraints
    wrong: np.ndarray


NOTHING = Suspected(Constraints(), np.zeros(0))


def estimator(n: int, n_clusters: NClusters, seed: int) -> LinkClustering:
    """Return the LinkClustering of a project of n rows; page and command line use the same."""
    return LinkClustering(n_clusters, effort=effort_for(n), random_state=seed)


def without_strays(labels: np.ndarray, task: Task, r: np.ndarray) -> np.ndarray:
    """Return labels (n,) in which strays have no cluster, and no cluster lost all its rows.

    Rows that a correction by hand names are where the person put them.

    Parameters
    ----------
    labels : int array (n,), -1 for rows that a person marked
    task : Task
    r : array (n,), how far every row is from its neighbours (``partition.strays``)
    """
    inside = np.flatnonzero(labels >= 0)
    if len(inside) < 2:
        return labels
    group = components(len(labels), teaching(task.links).must_link)[inside]
    group = np.unique(group, return_inverse=True)[1]
    clusters, found = np.unique(labels[inside], return_inverse=True)
    _, far = find_strays(r[inside], found, len(clusters), group, task.outliers)
    named = [row for edit in task.edits for part in edit.parts for row in part]
    far &= ~np.isin(group, group[np.isin(inside, named)])
    kept = np.bincount(found[~far], minlength=len(clusters)) > 0
    out = labels.copy()
    out[inside[far & kept[found]]] = -1
    return out


def _edited(
    labels: np.ndarray, probabilities: np.ndarray, task: Task, X: Any, reference: np.ndarray
) -> np.ndarray:
    links = teaching(task.links)
    return edited(labels, probabilities, task.edits, X, reference, task.kept, links)


def project_labels(
    model: LinkClustering,
    X: Any,
    task: Task,
    *,
    links: Constraints | None = None,
    sample_id: Any = None,
) -> np.ndarray:
    """Return the labels of a project, int32 (n,), by a LinkClustering, which is fitted.

    They are those that a `ClusterModel` with the same effort and seed gives. With a sample_id the
    model names samples by it, and so do the links, which are otherwise those of the task.
    """
    reference = model.fit(X, sample_id=sample_id).labels_
    model.refit(teaching(task.links if links is None else links))
    labels = _edited(model.labels_, model.probabilities_, task, X, reference)
    return with_outliers(labels, X, task)


def with_outliers(labels: np.ndarray, X: Any, task: Task) -> np.ndarray:
    """Return labels (n,) of points X in which the share of rows that a Task asks for are strays."""
    return labels if task.outliers is None else without_strays(labels, task, distances(X))


class ClusterModel:
    """A Session that follows a project.

    Parameters
    ----------
    X : array (n, d), n >= 2
    seed : int
    n_clusters : int, (least, most) or None, the number that is asked for first
    """

    def __init__(self, X: Any, *, seed: int = 0, n_clusters: NClusters = None) -> None:
        self.X, self.seed = X, seed
        self.session = Session(X, n_clusters=n_clusters, random_state=seed)
        self.data = self.session.data
        self._task = Task(Constraints(), [], [], n_clusters)
        self._latest: Clustering | None = None

    def follow(self, task: Task) -> None:
        """Follow what a project says now."""
        self._task = task
        self.session.n_clusters = task.n_clusters
        self.session.follow(task.links, task.unsure, dict(task.marks))

    def questions(self, n: int) -> list[Question]:
        """Return at most n questions, the most informative first."""
        return self.session.ask(n)

    def wider_question(self, question: Question) -> LabelQuestion | SetQuestion | None:
        """Return the question that tells more than a pair for the time it takes, or None."""
        return wider_question(self.session.context, question)

    def progress(self) -> Progress:
        """Return how far the answers have come."""
        return self.session.progress()

    def _edited(self, labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        reference = self.data.without_answers(self._task.n_clusters)
        found = _edited(labels, probabilities, self._task, self.X, reference)
        return found if self._task.outliers is None else without_strays(found, self._task, self._r)

    @cached_property
    def _r(self) -> np.ndarray:
        """How far every row is from its neighbours, (n,)."""
        return distances(self.X)

    def labels(self) -> np.ndarray:
        """Return the clusters, int32 (n,), in which all corrections by hand hold.

        They are those of `project_labels`, and may take seconds.
        """
        self._latest = self.data.cluster(self._task.links, self._task.n_clusters)
        return self._edited(self._latest.labels, self._latest.probabilities)

    def quick_labels(self) -> tuple[np.ndarray, bool]:
        """Return clusters at once, and whether they are those of `labels`.

        If they are not, they are the last ones, corrected by the answers since.
        """
        task = self._task
        exact = self.data.kept(task.links, task.n_clusters)
        few = self.data.whole and teaching(task.links).n_pairs < QUICK
        if exact is not None or few or self._latest is None:
            return self.labels(), True
        return self._edited(*corrected(self._latest, teaching(task.links))), False

    def runners_up(self) -> list[tuple[int, float]]:
        """Return other numbers of clusters than that of the last labels, with their scores."""
        return [] if self._latest is None else self._latest.runners_up

    def suspects(self) -> Suspected:
        """Return the answers that are likely wrong, as the labels say; takes seconds."""
        links = teaching(self._task.links)
        if len(np.unique(np.sort(links.pairs, axis=1), axis=0)) < SUSPECTS_FROM:
            return NOTHING
        wrong = self.data.cluster(links, self._task.n_clusters).suspicion
        likely = np.flatnonzero(wrong > SUSPECT)
        likely = likely[np.argsort(-wrong[likely], kind="stable")][:SHOWN]
        return Suspected(links.select(likely), wrong[likely])


class SingleRow:
    """The model of a single row: one cluster, and nothing to ask."""

    def follow(self, task: Task) -> None:
        """Do nothing: no pair can be named."""

    def questions(self, n: int) -> list[Question]:
        """Return no question."""
        return []

    def wider_question(self, question: Question) -> None:
        """Return None."""

    def progress(self) -> Progress:
        """Return that nothing is left to ask."""
        return Progress(0, 0.0, 0.0, True, False)

    def labels(self) -> np.ndarray:
        """Return the one cluster."""
        return np.zeros(1, dtype=np.int32)

    def quick_labels(self) -> tuple[np.ndarray, bool]:
        """Return the one cluster, and that it is exact."""
        return self.labels(), True

    def runners_up(self) -> list[tuple[int, float]]:
        """Return none."""
        return []

    def suspects(self) -> Suspected:
        """Return none."""
        return NOTHING


def model_of(X: Any, *, seed: int = 0, n_clusters: NClusters = None) -> ClusterModel | SingleRow:
    """Return the model of points X (n, d)."""
    return ClusterModel(X, seed=seed, n_clusters=n_clusters) if len(X) > 1 else SingleRow()
