"""The labels that follow from the answers so far, quick enough to be computed after each answer.

The core and all points with answers have probabilities q of the clusters, by co-EM
(``class_models.co_training``) over the learners of the data and belief propagation over the
answers. It starts from labels that follow from neighbourhoods, or from a partition (``seeds``).
Where the partition predicts the answers better, the answers that it makes likely wrong are left
out, and the neighbourhoods of the rest are tried again.

Strategies see the points, the answers and their model as a Context, and return Questions.

The model is a function of the data and the answers: an answer undone leaves no trace.
O(r^2 m + r^3 + n r k) for m answers, r vectors, k clusters.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.blocks.executors import one_thread
from linkwise.class_models import (
    ERROR,
    co_em,
    leverages,
    log_probabilities,
    predict_classes,
    probability_wrong,
)
from linkwise.class_models.co_training import State
from linkwise.class_models.learners import Smoother
from linkwise.query.known import Known
from linkwise.query.prepared_data import PreparedData
from linkwise.query.seeds import Start, by_partition, by_seeds, classes_of, spread

ROUNDS = 2  # of co-EM; more change few labels and take as long again
LIKELY = 0.5  # probability of being wrong above which an answer is left out


class Model(NamedTuple):
    """The labels that follow from the answers.

    Attributes
    ----------
    rows : int array (r,), ascending, the points that have probabilities
    q : array (r, k)
    labels : int array (n,)
    k : int
    classes : list of roots of the neighbourhoods
    trusted : Known, the answers that are not likely wrong
    graph : int, the number of the graph that counts most among the learners
    strength : int, the strength of its smoother
    """

    rows: np.ndarray
    q: np.ndarray
    labels: np.ndarray
    k: int
    classes: list[int]
    trusted: Known
    graph: int
    strength: int


def learners_at(data: PreparedData, rows: np.ndarray) -> list[Smoother]:
    """Return the learners of the data at some of its points."""
    found = []
    for one, U in zip(data.learners, data.U, strict=True):
        found.append(one._replace(U=U[rows], leverage=leverages(U[rows], one.shrink)))
    return found


def without_wrong(known: Known, state: State) -> Known:
    """Return what is known without the answers that the rest makes likely wrong."""
    wrong = probability_wrong(state.beliefs.same, known.links.sign, state.error) > LIKELY
    return Known(known.links.select(~wrong)) if wrong.any() else known


def labels_of_all(
    data: PreparedData, learners: list[Smoother], rows: np.ndarray, state: State
) -> np.ndarray:
    """Return the labels of all points (n,), those outside the rows by the learners."""
    q = state.beliefs.q
    labels = np.empty(data.n, dtype=np.int64)
    if len(rows) < data.n:
        evidence = np.zeros((data.n, q.shape[1]), dtype=np.float32)
        for v in np.flatnonzero(state.weights > 0):
            f = predict_classes(learners[v], state.strengths[v], state.labels, data.U[v])
            evidence += np.float32(state.weights[v]) * log_probabilities(f)
        labels[:] = np.argmax(evidence, axis=1)
    labels[rows] = np.argmax(q, axis=1)
    return labels


def fit(data: PreparedData, known: Known, n_clusters: int | None = None) -> Model:
    """Return the Model of the data and what is known."""
    with one_thread():
        links = known.links
        rows = np.union1d(data.core, links.touched)
        answers = links.resolve(rows)  # by place in rows
        least = n_clusters or data.likely_count
        classes = classes_of(data, known, n_clusters, least)
        k = max(least, len(classes))
        learners = learners_at(data, rows)
        partitions = [spread(data, learners, labels, k) for labels in data.partitions(k)]

        def labels_from(start: Start) -> State:
            return co_em(learners, start.labels, k, answers, rounds=ROUNDS, error=ERROR)

        def seeds(known: Known, classes: list[int]) -> Start | None:
            return by_seeds(learners, partitions, rows, known, classes, k, answers, plain)

        plain, trusted = by_partition(partitions, k, answers), known
        start = seeds(known, classes)
        if start is not None and start.score >= plain.score:
            state = labels_from(start)
        else:
            state = labels_from(plain)
            trusted = without_wrong(known, state)
            if trusted is not known:
                classes = classes_of(data, trusted, n_clusters, least)
                start = seeds(trusted, classes)
                if start is not None and start.score >= plain.score:
                    state = labels_from(start)
        labels = labels_of_all(data, learners, rows, state)
        graphs = [v for v, one in enumerate(learners) if one.name == "graph"]
        graph = max(graphs, key=lambda v: state.weights[v])
        q = state.beliefs.q
        return Model(rows, q, labels, k, classes, trusted, graph, state.strengths[graph])


class Question(NamedTuple):
    """A pair to ask about.

    Attributes
    ----------
    a, b : int, row numbers
    reason : str, why this pair, a sentence for a person
    """

    a: int
    b: int
    reason: str


class Context:
    """What a strategy sees: the points, the answers, and the model that follows from both.

    Attributes
    ----------
    data : PreparedData, the points
    known : Known, the answers and what follows from them
    n_clusters : int, or None where it is not known
    memo : dict, where a strategy may keep something; it may be emptied at any time
    model : Model, the labels now, computed on first use
    """

    def __init__(
        self,
        data: PreparedData,
        known: Known,
        n_clusters: int | None = None,
        *,
        seed: int = 0,
        memo: dict[str, Any] | None = None,
    ) -> None:
        self.data, self.known, self.n_clusters = data, known, n_clusters
        self.seed = seed
        self.memo: dict[str, Any] = {} if memo is None else memo

    def rng(self) -> np.random.Generator:
        """Return a numpy Generator, the same for the same number of answers."""
        return np.random.default_rng([self.seed, self.known.n_answers])

    @cached_property
    def model(self) -> Model:
        return fit(self.data, self.known, self.n_clusters)
