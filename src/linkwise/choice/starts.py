"""Partitions to start from: many, different, and cheap.

Those without constraints are made once. Those that use constraints are made again from a part of
the answers whenever the other part is to judge them.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from linkwise.class_models import pair_softmax
from linkwise.class_models.co_training import ERROR, trust
from linkwise.class_models.learners import graphs_among
from linkwise.class_models.similarity import learn_weights, spectral_of_kernel
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import unit_rows
from linkwise.estimators import (
    CCSKL,
    ConstrainedGaussianMixture,
    ExhaustivePropagation,
    HMRFKMeans,
    MPCKMeans,
    PCKMeans,
    PropagatedSpectralClustering,
)
from linkwise.partition.k_means import kmeans

DIFFUSION = (1, 3, 5)  # strengths of a graph smoother that serve as similarities
SOFTMAX = (  # features, penalty
    (("graph",), 1.0), (("graph", "near"), 1.0), (("near",), 3.0),
    (("graph",), 3.0), (("graph", "near"), 3.0), (("near",), 1.0),
)  # fmt: skip
DOUBT = 0.2  # share of wrong answers in their fit: much, so that no answer counts too much
COLUMNS = 20  # of a view that the classical methods see
FINE = 3  # times k clusters in the finer partition of a view
PER_CLUSTER = 4  # points at least in one of those
MANY_ROWS = 700  # and more: few of the classical methods


class Start(NamedTuple):
    name: str
    expression: str  # what a user would write
    make: Callable  # Answers -> labels (n,)


PREPARED = {  # as a user would write the views
    "given": "X",
    "scaled": "StandardScaler().fit_transform(X)",
    "ranged": "MinMaxScaler().fit_transform(X)",
    "ranked": 'QuantileTransformer(output_distribution="normal").fit_transform(X)',
    "directions": "normalize(X)",
}
CLASSICAL: tuple = (
    (ConstrainedGaussianMixture, {"n_init": 3}),
    (PropagatedSpectralClustering, {}),
    (ExhaustivePropagation, {"sigma": "local"}),
    (PCKMeans, {"n_init": 3}),
    (MPCKMeans, {"n_init": 3}),
    (HMRFKMeans, {"n_init": 3}),
)


def plain_partitions(views, learners, k, seed):
    """Return {name: labels} of k-means and spectral clustering in every view, and finer ones."""
    found = {}
    for number, view in enumerate(views):
        rng = np.random.default_rng([seed, k, number])
        found[f"k-means, {view.name}"] = kmeans(view.X, k, n_init=3, rng=rng).labels
        fine = min(FINE * k, len(view.X) // PER_CLUSTER)
        if fine > k:
            found[f"fine, {view.name}"] = kmeans(view.X, fine, n_init=2, rng=rng).labels
    for graph in graphs_among(learners):
        rng = np.random.default_rng([seed, k, graph.view])
        Z = unit_rows(graph.U[:, :k])
        found[f"spectral, {views[graph.view].name}"] = kmeans(Z, k, n_init=3, rng=rng).labels
    return found


def similarity_maps(partitions, learners):
    """Return feature vectors (n, r) whose inner products are similarities in [0, 1]."""
    maps = [np.eye(labels.max() + 1)[labels] for labels in partitions.values()]
    for graph in graphs_among(learners):
        maps += [unit_rows(graph.U * graph.shrink[strength]) for strength in DIFFUSION]
    return maps


def leading(Y, columns):
    """Return the leading principal directions of centred points, or the points themselves."""
    if Y.shape[1] <= columns:
        return Y
    return Y @ eigh(Y.T @ Y)[1][:, : -columns - 1 : -1]


def as_links(answers):
    """Return answers as Constraints on row numbers."""
    must, cannot = answers.sign > 0, answers.sign < 0
    return Constraints(
        answers.pairs[must], answers.pairs[cannot],
        must_weight=answers.weight[must], cannot_weight=answers.weight[cannot],
    )  # fmt: skip


def _classical(method, view, **options):
    name = method.__name__
    prepared = PREPARED[view.name]
    shown = ", ".join(f"{key}={value!r}" for key, value in options.items())
    expression = f"{name}(n_clusters={{k}}, {shown}{', ' if shown else ''}random_state=0)"
    Y = view.X if method is CCSKL else leading(view.X, COLUMNS)

    def make(k, seed):
        def labels(answers):
            model = method(k, random_state=seed, on_conflict="drop", **options)
            with warnings.catch_warnings():  # the combination is judged, not its parts
                warnings.simplefilter("ignore")
                return model.fit(Y, constraints=as_links(answers)).labels_

        return labels

    return f"{name}, {view.name}", f"{expression}.fit({prepared}, constraints=links)", make


def similarity_start(partitions, learners, k, seed):
    """Return spectral clustering of the similarity that the answers confirm."""
    maps = similarity_maps(partitions, learners)

    def labels(answers):
        w = learn_weights(maps, answers)
        return spectral_of_kernel(maps, w, k, np.random.default_rng([seed, k]))

    return Start("learnt similarity", "", labels)


def softmax_starts(partitions, learners, k, most):
    """Return the classes that the pairs make most likely, from the best of the partitions on."""

    def likeliest(answers):
        scores = [trust(labels, k, answers, ERROR)[1] for labels in partitions]
        return partitions[int(np.argmax(scores))]

    def start(kinds, penalty):
        Z = pair_softmax.features(learners, kinds)

        def labels(answers):
            W = pair_softmax.logits_of(Z, likeliest(answers), k)
            return np.argmax(Z @ pair_softmax.fit(Z, W, answers, DOUBT, penalty), axis=1)

        return Start(f"softmax, {' and '.join(kinds)}, {penalty:g}", "", labels)

    return [start(*each) for each in SOFTMAX[:most]]


def classical_starts(views, k, effort, seed):
    """Return CCSKL in every view, and the slower methods in few."""
    if not effort.classical:
        return []
    methods: list = [(CCSKL, {}, view) for view in views]
    most = effort.many if len(views[0].X) > MANY_ROWS else effort.classical
    plain = [view for view in views if view.name in ("scaled", "given")]
    for view in plain[::-1][: effort.seen]:
        methods += [(method, options, view) for method, options in CLASSICAL[:most]]
    found = []
    for method, options, view in methods:
        name, expression, make = _classical(method, view, **options)
        found.append(Start(name, expression.format(k=k), make(k, seed)))
    return found


def starts(views, learners, k, effort, seed):
    """Return the starts for k clusters, cheap ones first."""
    partitions = plain_partitions(views, learners, k, seed)
    whole = {name: p for name, p in partitions.items() if not name.startswith("fine")}
    plain = [Start(name, "", lambda _, p=p: p) for name, p in whole.items()]
    return [
        *softmax_starts(list(whole.values()), learners, k, effort.softmax),
        *plain,
        similarity_start(partitions, learners, k, seed),
        *classical_starts(views, k, effort, seed),
    ]
