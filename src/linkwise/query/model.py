"""What the answers so far suggest, quick enough to choose the next question by.

Labels are those of LinkClustering (``prepared_data``), which take seconds when there are many
answers. Questions are therefore chosen by one of its candidates alone, which is fitted to the
answers in a fraction of a second: the first feature set, from the partition that data and answers
support most (``choice.candidates``), with a penalty that falls with the number of answers. Belief
propagation over the answers gives the probabilities q of the clusters, and the answers that are
likely wrong.

Strategies see the points, the answers and this model as a Context, and return Questions.

The model is a function of the data and the answers: an answer undone leaves no trace. Where there
are many answers the fit uses some of them, so that the time to a question does not grow; the belief
propagation uses all. O(m r k) a step of the fit for m answers, r features, k clusters.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.blocks.executors import one_thread
from linkwise.choice.candidates import (
    PENALTIES,
    Job,
    Problem,
    chained,
    fits,
    rank_starts,
    signed_keys,
)
from linkwise.class_models import ERROR, probability_wrong, propagate
from linkwise.class_models.learners import best_strength
from linkwise.class_models.pair_softmax import LEAST, class_probabilities, start_weights
from linkwise.class_models.partitions import modularity
from linkwise.constraints import Constraints
from linkwise.constraints.cluster_numbers import NClusters, most_clusters
from linkwise.query.known import Known, separate_sets
from linkwise.query.prepared_data import Clustering, PreparedData, teaching

ASKED = 3  # nearest neighbourhoods a set must be apart from to be one itself
LIKELY = 0.5  # probability of being wrong above which an answer is left out
FROM = (0, 10, 60)  # answers from which on each penalty, the next smaller one, is used
RANKED, LEARNT = 300, 600  # answers that the start and the weights are chosen by, at most


class Model(NamedTuple):
    """What the answers suggest.

    Attributes
    ----------
    rows : int array (r,), ascending, the points that have probabilities
    q : array (r, k)
    k : int
    classes : list of roots of the neighbourhoods
    known : Known, the answers about points that the models learn from
    trusted : Known, the answers that are not likely wrong
    graph : int, the number of the graph in which the clusters are clearest
    strength : int, the strength of its smoother
    """

    rows: np.ndarray
    q: np.ndarray
    k: int
    classes: list[int]
    known: Known
    trusted: Known
    graph: int
    strength: int


def classes_of(data: PreparedData, known: Known, n_clusters: NClusters, k: int) -> list[int]:
    """Return the roots of the neighbourhoods."""
    return separate_sets(known, most_clusters(n_clusters), E=data.positions(k), asked=ASKED)


def fit(data: PreparedData, known: Known, n_clusters: NClusters = None) -> Model:
    """Return the Model of the data and what is known."""
    with one_thread():
        plain, sample = data.plain, data.plain.models.rows
        if len(sample) < data.n:  # then some points are not learnt from
            known = known.among(sample)
        links = teaching(known.links)
        by_place = links.resolve(sample)
        least = data.likely_count(n_clusters)
        classes = classes_of(data, known, n_clusters, least)
        k = max(least, len(classes))
        partitions, belief = plain.partitions(k)
        fixed = [one._replace(linkage=None) for one in partitions]
        start = fixed[rank_starts(fixed, belief, k, _spread(by_place, RANKED)).numbers[0]]
        at = np.searchsorted(sample, np.union1d(data.core, np.array(known.touched(), int)))
        Z = plain.sets[0].Z
        if links:
            penalties = PENALTIES[: int(np.sum(np.array(FROM) <= links.n_pairs))]
            learnt = _spread(by_place, LEARNT)
            problem = Problem(plain.sets[:1], [start], k, learnt)
            job = Job(0, start.labels, learnt, chained(learnt, k), penalties)
            W = fits(problem, [job])[0][-1]
        else:
            W = start_weights(Z, start.labels, k)
        rows = sample[at]
        evidence = np.log(np.maximum(class_probabilities(Z[at], W), LEAST))
        found = propagate(evidence, links.resolve(rows), ERROR)
        wrong = probability_wrong(found.same, links.sign, ERROR) > LIKELY
        trusted = known
        if wrong.any():
            kept = known.links.select(~np.isin(*signed_keys(known.links, links.select(wrong))))
            trusted = Known(kept)
            classes = classes_of(data, trusted, n_clusters, least)[:k]
        graph = int(np.argmax([modularity(W, start.labels) for W in data.affinities]))
        hot = np.eye(k, dtype=np.float32)[start.labels]
        strength = best_strength(data.graphs[graph], hot, np.ones(len(hot), dtype=np.float32))
        return Model(rows, found.q, k, classes, known, trusted, graph, strength)


def _spread(links: Constraints, most: int) -> Constraints:
    """Return at most so many links, spread evenly over their order."""
    if links.n_pairs <= most:
        return links
    return links.select(np.linspace(0, links.n_pairs - 1, most).astype(np.intp))


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
    n_clusters : int, (least, most), or None where it is not known
    memo : dict, where a strategy may keep something; it may be emptied at any time
    model : Model, what questions are chosen by, computed on first use
    clustering : Clustering by LinkClustering, computed on first use
    """

    def __init__(
        self,
        data: PreparedData,
        known: Known,
        n_clusters: NClusters = None,
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

    def may_ask(self, a: int, b: int) -> bool:
        """Tell whether a pair is open and its rows are not identical."""
        twins = self.data.twins
        return bool(twins[a] != twins[b]) and self.known.is_open(a, b)

    @cached_property
    def model(self) -> Model:
        return fit(self.data, self.known, self.n_clusters)

    @property
    def clustering(self) -> Clustering:
        return self.data.cluster(self.known.links, self.n_clusters)
