"""What the answers so far make of the labels: quick enough to be done again after each.

The core and all points with answers have probabilities q of the clusters, by co-EM
(``co_training``) over the learners of the scene and belief propagation over the answers. It starts
from labels that neighbourhoods speak for, or from a partition (``seeds``). Where the partition
tells the answers better, those that it makes likely wrong are left out, and the neighbourhoods of
the rest tried again.

The model is a function of the scene and the answers, not of the way that led to them: an answer
undone is as if it had never been.  O(r^2 m + r^3 + n r k) for m answers, r vectors, k clusters.
"""

from typing import NamedTuple

import numpy as np

from linkwise.blocks.thread_limits import one_thread
from linkwise.class_models import (
    ERROR,
    co_em,
    leverages,
    log_probabilities,
    predict_classes,
    probability_wrong,
)
from linkwise.constraints import Constraints
from linkwise.query.known import Known
from linkwise.query.seeds import by_partition, by_seeds, classes_of, spread

ROUNDS = 2  # of co-EM
LIKELY = 0.5  # probability of being wrong from which on an answer is left out


class Model(NamedTuple):
    """The labels now.

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
    classes: list
    trusted: Known
    graph: int
    strength: int


def told(known):
    """Return the answers other than "don't know" as Constraints on row numbers."""
    return Constraints.from_table(
        [
            (a, b, 1 if same else -1, known.weight((a, b)))
            for (a, b), same in known.answers.items()
            if same is not None
        ]
    )


def seen_at(scene, rows):
    """Return the learners of a scene at some of its points."""
    found = []
    for one, U in zip(scene.learners, scene.U, strict=True):
        found.append(one._replace(U=U[rows], leverage=leverages(U[rows], one.shrink)))
    return found


def without_wrong(known, answers, state):
    """Return what is known without the answers that the rest makes likely wrong."""
    wrong = probability_wrong(state.beliefs.same, answers.sign, state.error) > LIKELY
    if not wrong.any():
        return known
    left = told(known).select(~wrong)
    return Known((pair.a, pair.b, pair.sign > 0, pair.weight) for pair in left)


def labels_of_all(scene, learners, rows, state):
    """Return the labels of all points (n,), those outside the rows by the learners."""
    q = state.beliefs.q
    labels = np.empty(scene.n, dtype=np.int64)
    if len(rows) < scene.n:
        evidence = np.zeros((scene.n, q.shape[1]), dtype=np.float32)
        for v in np.flatnonzero(state.weights > 0):
            f = predict_classes(learners[v], state.strengths[v], state.labels, scene.U[v])
            evidence += np.float32(state.weights[v]) * log_probabilities(f)
        labels[:] = np.argmax(evidence, axis=1)
    labels[rows] = np.argmax(q, axis=1)
    return labels


def fit(scene, known, n_clusters=None):
    """Return the Model of a scene and what is known."""
    with one_thread():
        answers = told(known)
        rows = np.union1d(scene.core, answers.touched)
        answers = answers.resolve(rows)
        least = n_clusters or scene.likely_count
        classes = classes_of(scene, known, n_clusters, least)
        k = max(least, len(classes))
        learners = seen_at(scene, rows)
        partitions = [spread(scene, learners, labels, k) for labels in scene.partitions(k)]

        def labels_from(start):
            return co_em(learners, start.labels, k, answers, rounds=ROUNDS, error=ERROR)

        def seeds(known, classes):
            return by_seeds(learners, partitions, rows, known, classes, k, answers, plain)

        plain, trusted = by_partition(partitions, k, answers), known
        start = seeds(known, classes)
        if start is not None and start.score >= plain.score:
            state = labels_from(start)
        else:
            state = labels_from(plain)
            trusted = without_wrong(known, answers, state)
            if trusted is not known:
                classes = classes_of(scene, trusted, n_clusters, least)
                start = seeds(trusted, classes)
                if start is not None and start.score >= plain.score:
                    state = labels_from(start)
        labels = labels_of_all(scene, learners, rows, state)
        graphs = [v for v, one in enumerate(learners) if one.name == "graph"]
        graph = max(graphs, key=lambda v: state.weights[v])
        q = state.beliefs.q
        return Model(rows, q, labels, k, classes, trusted, graph, state.strengths[graph])
