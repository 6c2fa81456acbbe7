"""Partitions to start from: many, different, and cheap.

Those without constraints are made once. Those that use constraints are made again from a part of
the answers whenever the other part is to judge them.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from linkwise.choice import softmax
from linkwise.choice.learners import graphs_among
from linkwise.choice.pool import ERROR, trust
from linkwise.choice.similarity import learn_weights, spectral_of_kernel
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import unit_rows
from linkwise.estimators import (
    CCSKL,
    ConstrainedGaussianMixture,
    ExhaustivePropagation,
    PCKMeans,
    PropagatedSpectralClustering,
)
from linkwise.partition.kmeans import kmeans

DIFFUSION = (1, 3, 5)  # strengths of a graph smoother that serve as similarities
SOFTMAX = (  # features, penalty
    (("graph",), 1.0), (("graph", "near"), 1.0), (("near",), 3.0),
    (("graph",), 3.0), (("graph", "near"), 3.0), (("near",), 1.0),
)  # fmt: skip
DOUBT = 0.2  # share of wrong answers in their fit: much, so that no answer counts too much
COLUMNS = 20  # of a view that the classical methods see
FINE = 3  # times k clusters in the finer partition of a view
PER_CLUSTER = 4  # points at least in one of those
MANY_ROWS = 700  # and more: the mixture alone of the classical methods, unless thorough


class Start(NamedTuple):
    name: str
    expression: str  # what a user would write
    make: Callable  # Answers -> labels (n,)
    constrained: bool


PREPARED = {  # as a user would write the views
    "given": "X",
    "scaled": "StandardScaler().fit_transform(X)",
    "ranked": 'QuantileTransformer(output_distribution="normal").fit_transform(X)',
    "directions": "normalize(X)",
}
CLASSICAL: tuple = (
    (ConstrainedGaussianMixture, {"n_init": 3}),
    (PropagatedSpectralClustering, {}),
    (ExhaustivePropagation, {"sigma": "local"}),
    (PCKMeans, {"n_init": 3}),
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


def starts(views, learners, k, *, classical, seed):
    """Return the starts for k clusters.

    Parameters
    ----------
    views : list of View
    learners : list of Smoother and Gaussian on them
    classical : int, in how many views the slower constrained methods start; CCSKL in all
    seed : int
    """
    partitions = plain_partitions(views, learners, k, seed)
    maps = similarity_maps(partitions, learners)

    def similarity(answers):
        w = learn_weights(maps, answers)
        return spectral_of_kernel(maps, w, k, np.random.default_rng([seed, k]))

    def likeliest(answers):
        scores = {name: trust(p, k, answers, ERROR)[1] for name, p in whole.items()}
        return whole[max(scores, key=lambda name: scores[name])]

    def softmax_of(Z, penalty):
        def labels(answers):
            W = softmax.logits_of(Z, likeliest(answers), k)
            return np.argmax(Z @ softmax.fit(Z, W, answers, DOUBT, penalty), axis=1)

        return labels

    whole = {name: p for name, p in partitions.items() if not name.startswith("fine")}
    found = [Start("learnt similarity", "", similarity, True)]
    for kinds, penalty in SOFTMAX[: len(SOFTMAX) if classical > 1 else 3 if classical else 1]:
        Z = softmax.features(learners, kinds)
        name = f"softmax of pairs, {' and '.join(kinds)}, {penalty:g}"
        found.append(Start(name, "", softmax_of(Z, penalty), True))
    for name, labels in whole.items():
        found.append(Start(name, "", lambda _, labels=labels: labels, False))
    methods: list = [(CCSKL, {}, view) for view in views[: 4 * classical]]
    most = 1 if len(views[0].X) > MANY_ROWS and classical == 1 else len(CLASSICAL)
    for view in [view for view in views if view.name in ("scaled", "given")][::-1][:classical]:
        methods += [(method, options, view) for method, options in CLASSICAL[:most]]
    for method, options, view in methods:
        name, expression, make = _classical(method, view, **options)
        found.append(Start(name, expression.format(k=k), make(k, seed), True))
    return found
