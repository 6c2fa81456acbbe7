"""Partitions to start from: many, different and cheap.

Those that use constraints are made anew from a part of the constraints whenever the other part
judges them: a start that has seen a constraint would only repeat it.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from linkwise.class_models import ERROR, pair_softmax, plain_partitions, trust
from linkwise.class_models.learners import graphs_among
from linkwise.class_models.similarity import learn_weights, spectral_of_kernel
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

# The values below were chosen on the development sets of the quality benchmark, unless a comment
# gives another reason.
DIFFUSION = (1, 3, 5)  # indices on the grid of a graph smoother: near, middle and far similarity
SOFTMAX = (  # features, penalty; those that helped most come first
    (("graph",), 1.0), (("graph", "near"), 1.0), (("near",), 3.0),
    (("graph",), 3.0), (("graph", "near"), 3.0), (("near",), 1.0),
)  # fmt: skip
DOUBT = 0.2  # share of wrong constraints in their fit: with less, one wrong constraint in ten on
#              ten classes spoils the fit, since half of the must-links are then wrong
COLUMNS = 20  # of a view for the slow methods, some of which learn a metric in O(COLUMNS^3)
MANY_ROWS = 700  # points; beyond, most of the slow methods would take longer than all the rest


class Start(NamedTuple):
    """A partition made from constraints."""

    name: str
    make: Callable  # Constraints -> labels (n,)
    method: str = ""  # the estimator as a user would write it, "" if it is none of the library's
    points: str = "X"  # its points, likewise


PREPARED = {  # the views as a user would write them
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


def similarity_maps(partitions, learners):
    """Return feature vectors (n, r) whose inner products are similarities in [0, 1]."""
    maps = [np.eye(one.labels.max() + 1)[one.labels] for one in partitions]
    for graph in graphs_among(learners):
        maps += [unit_rows(graph.U * graph.shrink[strength]) for strength in DIFFUSION]
    return maps


def leading(Y, columns):
    """Return the leading principal directions of centred points, or the points themselves."""
    if Y.shape[1] <= columns:
        return Y
    return Y @ eigh(Y.T @ Y)[1][:, : -columns - 1 : -1]


def plain_start(partition):
    """Return the start that is a partition made without constraints."""
    return Start(partition.name, lambda _: partition.labels)


def classical_start(method, view, k, seed, **options):
    """Return the start from an estimator of the library in a view."""
    shown = [f"{name}={value!r}" for name, value in options.items()]
    Y = view.X if method is CCSKL else leading(view.X, COLUMNS)

    def labels(links):
        model = method(k, random_state=seed, on_conflict="drop", **options)
        with warnings.catch_warnings():  # the combination is judged, not its parts
            warnings.simplefilter("ignore")
            return model.fit(Y, constraints=links).labels_

    return Start(
        f"{method.__name__}, {view.name}",
        labels,
        f"{method.__name__}({', '.join([f'n_clusters={k}', *shown, 'random_state=0'])})",
        PREPARED[view.name],
    )


def similarity_start(partitions, learners, k, seed):
    """Return spectral clustering of the similarity that the constraints confirm."""
    maps = similarity_maps(partitions, learners)

    def labels(links):
        w = learn_weights(maps, links)
        return spectral_of_kernel(maps, w, k, np.random.default_rng([seed, k]))

    return Start("learnt similarity", labels)


def softmax_starts(partitions, learners, k, most):
    """Return classes that make the constraints most likely, fitted from the best partition."""

    def likeliest(links):
        scores = [trust(one.labels, k, links, ERROR)[1] for one in partitions]
        return partitions[int(np.argmax(scores))].labels

    def start(kinds, penalty):
        Z = pair_softmax.features(learners, kinds)

        def labels(links):
            W = pair_softmax.logits_of(Z, likeliest(links), k)
            return np.argmax(Z @ pair_softmax.fit(Z, W, links, DOUBT, penalty), axis=1)

        return Start(f"softmax, {' and '.join(kinds)}, {penalty:g}", labels)

    return [start(*each) for each in SOFTMAX[:most]]


def classical_starts(views, k, effort, seed):
    """Return CCSKL in every view, and the slower methods in few views."""
    if not effort.classical:
        return []
    found = [classical_start(CCSKL, view, k, seed) for view in views]
    most = effort.many if len(views[0].X) > MANY_ROWS else effort.classical
    plain = [view for view in views if view.name in ("scaled", "given")]
    for view in plain[::-1][: effort.seen]:
        for method, options in CLASSICAL[:most]:
            found.append(classical_start(method, view, k, seed, **options))
    return found


def starts(views, learners, k, effort, seed):
    """Return the starts for k clusters, cheap ones first."""
    partitions = plain_partitions(views, learners, k, seed)
    whole = [one for one in partitions if not one.fine]
    return [
        *softmax_starts(whole, learners, k, effort.softmax),
        *(plain_start(one) for one in whole),
        similarity_start(partitions, learners, k, seed),
        *classical_starts(views, k, effort, seed),
    ]
