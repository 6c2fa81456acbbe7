"""Constrained spectral clustering through affinity propagation (Lu & Carreira-Perpinan 2008).

Figures 5 and 6: Rand index against the number of uniform pairs, hard links (eps = 1e-5, Algorithm A
for two classes, B for more). Four made-up sets of two classes with 200 points each, three UCI sets
(z-scored), three tasks of 20 newsgroups (1,000 texts evenly over the classes; tf-idf, heat kernel
exp(-20 L) on the graph of 10 neighbours).

    propagation         hard links
    soft propagation    eps = 1, the library's default
    SL                  1 and 0 written into the same affinity (KKM in the paper)
    COP-KMeans          (CKmeans)
    Gaussian mixture    constrained; with diagonal covariances for texts, in 20 columns

The paper's Gaussian has "suitable width": here the best of three by the classes, for every method;
label-free is the library's width of 2r. Table 1 and figures 1 to 4 are in `lines`, figure 7 in
`images`.
"""

import warnings
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import sparse

from benchmarks.papers import images
from benchmarks.papers.protocol import (
    Source,
    attempt,
    draw,
    job_of,
    kept_share,
    of_untouched,
    rng_of,
    seed_of,
)
from benchmarks.runs.points import floating, stored, tf_idf, zscored
from linkwise.embedding import spectral_basis, unit_rows
from linkwise.estimators import ConstrainedGaussianMixture, COPKMeans
from linkwise.evaluate import rand_index
from linkwise.graph import GaussianAffinity, NeighbourAffinity
from linkwise.kernel import graph_kernel, impose, propagate
from linkwise.partition import kmeans

NAME = "propagation"
HARD, SOFT, LEARNING, COP, MIXTURE = (
    "propagation",
    "soft propagation",
    "SL",
    "COP-KMeans",
    "Gaussian mixture",
)
METHODS = (HARD, SOFT, LEARNING, COP, MIXTURE)
EPS = {HARD: 1e-5, SOFT: 1.0}
WIDTHS, DEFAULT_WIDTH = (1.0, 2.0, 4.0), 2.0  # in r
HEAT, TEXT_NEIGHBOURS, TEXT_COLUMNS, TEXTS = 20.0, 10, 20, 1000
EACH = 200  # points of a class
NUMBERS = {
    "synthetic": (0, 5, 10, 20, 40, 80),
    "uci": (0, 10, 25, 50, 100, 150),
    "news": (0, 10, 25, 50, 100, 200),
}
STARTS = 10


def moons(_=None):
    """Return two half circles that reach into each other."""
    rng = rng_of(NAME, "moons")
    angle = rng.uniform(0, np.pi, (2, EACH))
    first = np.stack([np.cos(angle[0]), np.sin(angle[0])], axis=1)
    second = np.stack([1 - np.cos(angle[1]), 0.5 - np.sin(angle[1])], axis=1)
    X = np.concatenate([first, second]) + rng.normal(0, 0.12, (2 * EACH, 2))
    return {"X": X, "y": np.repeat([0, 1], EACH)}


def rings(_=None):
    """Return two concentric rings."""
    rng = rng_of(NAME, "rings")
    y = np.repeat([0, 1], EACH)
    angle = rng.uniform(0, 2 * np.pi, 2 * EACH)
    X = np.array([1.0, 2.0])[y, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return {"X": X + rng.normal(0, 0.2, X.shape), "y": y}


def crossed(_=None):
    """Return four groups at the corners of a square, opposite ones of one class."""
    rng = rng_of(NAME, "crossed")
    corner = np.arange(2 * EACH) % 4
    centres = np.array([(-1, -1), (1, 1), (-1, 1), (1, -1)])
    X = centres[corner] + rng.normal(0, 0.5, (2 * EACH, 2))
    return {"X": X, "y": corner // 2}


def overlapping(_=None):
    """Return two long Gaussians side by side that overlap."""
    rng = rng_of(NAME, "overlapping")
    y = np.repeat([0, 1], EACH)
    X = rng.normal(size=(2 * EACH, 2)) * (0.6, 2.0)
    X[:, 0] += np.where(y == 1, 1.6, 0)
    return {"X": X, "y": y}


def _z(arrays):
    return {"X": zscored(floating(arrays["X"])), "y": arrays["y"]}


def texts(*groups):
    """Return a function that picks 1,000 texts of some groups: tf-idf T, few columns X, y."""

    def pick(arrays):
        names = [str(name) for name in arrays["classes"]]
        counts, y = sparse.csr_matrix(arrays["X"]), np.asarray(arrays["y"])
        full = np.diff(counts.indptr) > 0
        rng = rng_of(NAME, *groups)
        rows, own = [], []
        for number, group in enumerate(groups):
            members = np.flatnonzero((y == names.index(group)) & full)
            share = TEXTS // len(groups) + (number < TEXTS % len(groups))
            taken = np.sort(rng.permutation(members)[:share])
            rows.append(taken)
            own += [number] * len(taken)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            T, X = tf_idf(counts[np.concatenate(rows)], TEXT_COLUMNS)
        return {"T": T, "X": unit_rows(X), "y": np.array(own)}

    return pick


SETS = {
    "moons": Source("half circles", None, moons),
    "rings": Source("rings", None, rings),
    "crossed": Source("crossed groups", None, crossed),
    "overlapping": Source("overlapping groups", None, overlapping),
    "iris": Source("iris", "iris", _z),
    "wine": Source("wine", "wine", _z),
    "ionosphere": Source("ionosphere", "ionosphere", _z),
    "news_easy": Source(
        "news, easy",
        "newsgroups20_counts",
        texts("alt.atheism", "rec.sport.baseball", "sci.space"),
    ),
    "news_medium": Source(
        "news, medium",
        "newsgroups20_counts",
        texts("comp.os.ms-windows.misc", "comp.sys.mac.hardware"),
    ),
    "news_difficult": Source(
        "news, difficult",
        "newsgroups20_counts",
        texts("talk.politics.misc", "talk.politics.guns", "talk.politics.mideast"),
    ),
}
SYNTHETIC = ("moons", "rings", "crossed", "overlapping")
UCI = ("iris", "wine", "ionosphere")
NEWS = ("news_easy", "news_medium", "news_difficult")


def kind_of(name):
    """Return which of the three kinds a set is of."""
    return "synthetic" if name in SYNTHETIC else "uci" if name in UCI else "news"


def numbers(name, quick):
    """Return the numbers of pairs that a set is run with."""
    found = NUMBERS[kind_of(name)]
    return [found[i] for i in (0, 2, 3, 5)] if quick else list(found)


def jobs(sets, effort):
    """Return the jobs of the sets, {name: description}; images come first."""
    found = [job_of(NAME, "-", f"image {name}", 0, effort, 1500) for name in images.IMAGES]
    draws = 2 * effort.draws  # 100 in the paper
    for name, data in sets.items():
        each = max(1, draws // 2) if kind_of(name) == "news" else draws
        found += [
            job_of(NAME, name, "curve", number, effort, 6 * data["n"] + 1000)
            for number in range(each)
        ]
    return found


@lru_cache(maxsize=4)
def _affinities(folder, name):
    """Return {width: affinity}; for texts the heat kernel alone, under the default width."""
    arrays = stored(folder, name)
    if "T" in arrays:
        K = graph_kernel(NeighbourAffinity(arrays["T"], TEXT_NEIGHBOURS, "r").W, "heat", t=HEAT)
        root = np.sqrt(np.diagonal(K))
        return {DEFAULT_WIDTH: K / root / root[:, None]}  # K_ii = 1, as the paper assumes
    return {width: GaussianAffinity(floating(arrays["X"]), f"{width:g}r").W for width in WIDTHS}


def by_spectrum(A, k, rng):
    """Return the labels of normalised cuts on an affinity, the best of ten starts."""
    Z = unit_rows(spectral_basis(A, k, rng).vectors)
    return kmeans(Z, k, n_init=STARTS, rng=rng).labels


def by_propagation(K, links, k, eps, rng):
    """Return the labels of spectral clustering on a propagated affinity."""
    if links:
        told = {"algorithm": "a" if k == 2 else "b", "eps_must": eps, "eps_cannot": eps}
        K = propagate(K, *links.arrays(), **told).A
    return by_spectrum(K, k, rng)


def by_learning(K, links, k, rng):
    """Return the labels of spectral learning on an affinity."""
    i, j, sign, _ = links.arrays()
    return by_spectrum(impose(K, i, j, sign), k, rng)


def by_points(model, X, links):
    """Return the labels of a method that looks at the points themselves."""
    return model.fit_predict(X, constraints=links)


def curve(job):
    """Return the record of a cell: every method at every number of pairs and width."""
    arrays, name, number = stored(job["folder"], job["set"]), job["set"], job["draw"]
    X, y = floating(arrays["X"]), arrays["y"]
    k, rows = int(y.max()) + 1, []
    kind: Literal["diag", "full"] = "diag" if kind_of(name) == "news" else "full"
    for s in numbers(name, job["quick"]):
        names = (NAME, name, number, s)
        links, seed = draw(y, s, rng_of(*names)), seed_of(*names)

        def judged(labels, links=links):
            return {
                "rand": rand_index(y, labels),
                "kept": kept_share(labels, links),
                **of_untouched(y, labels, links),
            }

        for width, K in _affinities(job["folder"], name).items():
            for method, eps in EPS.items():
                rows.append(
                    attempt(
                        lambda K=K, c=links, e=eps, w=width, q=judged, t=names: q(
                            by_propagation(K, c, k, e, rng_of(*t, w))
                        ),
                        method=method,
                        at=s,
                        width=width,
                    )
                )
            rows.append(
                attempt(
                    lambda K=K, c=links, w=width, q=judged, t=names: q(
                        by_learning(K, c, k, rng_of(*t, w))
                    ),
                    method=LEARNING,
                    at=s,
                    width=width,
                )
            )
        mixture = ConstrainedGaussianMixture(k, covariance_type=kind, n_init=3, random_state=seed)
        models = {COP: COPKMeans(k, random_state=seed), MIXTURE: mixture}
        rows += [
            attempt(lambda m=model, c=links, q=judged: q(by_points(m, X, c)), method=method, at=s)
            for method, model in models.items()
        ]
    return {"rows": rows}


def run(job):
    """Return the record of a job."""
    if job["part"].startswith("image "):
        return images.run(job["part"].removeprefix("image "))
    return curve(job)
