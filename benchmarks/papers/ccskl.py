"""Constrained clustering by spectral kernel learning (Li & Liu 2009): figures 3, 4, 5 and times.

Error against the number of class-balanced constraints on nine graphs (20 nearest neighbours,
nine widths), for five methods on the same graphs and constraints:

    CCSKL    k-means on F diag(b)^1/2, m = 20, the paper's sums, rows as they are
    SL       1 and 0 written into the weights, k-means on unit rows of k eigenvectors
    SSKK     normalised-cut version, penalty n / (k s), random starts, no shift
    CCSR     m = 15, no shrinkage
    NCuts    no constraints, discretisation of D^-1/2 v from a random first row

A cell is one set, width and draw; it has all numbers of constraints and all methods. On graphs of
n > LARGE rows the narrowest width is left out: its weights fall below 1e-15 and hundreds of its
eigenvalues cannot be told from 1; every method is at chance there.
"""

import base64
import time
import warnings
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.spatial.distance import cdist

from benchmarks.papers.protocol import (
    SIGMAS,
    Source,
    attempt,
    balanced_number,
    draw,
    job_of,
    kept_share,
    of_starts,
    of_untouched,
    rng_of,
    seed_of,
    single_starts,
)
from benchmarks.runs.points import floating, stored, zscored
from linkwise.embedding import spectral_basis, unit_rows
from linkwise.estimators import CCSKL
from linkwise.evaluate import clustering_error
from linkwise.graph import degrees, gaussian, nearest_neighbours, symmetrise
from linkwise.kernel import diagonal_errors, fit_matrix, fit_spectrum, impose, matrix_root
from linkwise.partition import discretise, kernel_kmeans

NAME = "ccskl"
METHODS = ("CCSKL", "SL", "SSKK", "CCSR", "NCuts")
DEFAULT = "CCSKL()"  # the library's, at its defaults
NEIGHBOURS, VECTORS, CCSR_VECTORS = 20, 20, 15
PASSES = 50  # of SSKK, which may cycle
LARGE = 3000  # rows
STARTS_OF_DISCRETISATION = 10
SHOWN, MEASURED = 120, 600  # rows of a distance matrix in the picture, and for its contrast
TIMED = ("CCSKL", "SL", "SSKK", "NCuts", "CCSR")


def _first_classes(count):
    def pick(arrays):
        rows = arrays["y"] < count
        return {"X": arrays["X"][rows], "y": arrays["y"][rows]}

    return pick


def _scene(arrays):
    return {"X": zscored(floating(arrays["X"])), "y": arrays["y"]}


SETS = {
    "usps": Source("USPS", "usps"),
    "mnist04": Source("MNIST 0-4", "mnist_test", _first_classes(5)),
    "yaleb10": Source(
        "Yale B",
        "yaleb_ext_32x32",
        _first_classes(10),
        "640 frontal images of 32 x 32 pixels; the paper has 5,760 of nine poses",
    ),
    "scene8": Source(
        "Scene",
        "scene8_119d",
        _scene,
        "119 other features, z-scored; the paper has 512 of the spatial envelope",
    ),
    "iris": Source("iris", "iris"),
    "wdbc": Source("wdbc", "wdbc"),
    "sonar": Source("sonar", "sonar"),
    "protein": Source("protein", "protein"),
}
IMAGES = ("usps", "mnist04", "yaleb10", "scene8")
MOST = {"yaleb10": 20, "iris": 20, "wdbc": 120, "sonar": 120, "protein": 10}  # p of Eq. (2)
TENTHS, QUICK_TENTHS = tuple(range(11)), (0, 1, 4, 7, 10)


def numbers(name, quick):
    """Return the p of Eq. (2) that a set is run with."""
    most = MOST.get(name, 200)
    return [
        max(round(most * tenth / 10), int(tenth > 0))
        for tenth in (QUICK_TENTHS if quick else TENTHS)
    ]


def jobs(sets, effort):
    """Return the jobs of the sets, {name: description}."""
    found = []
    for name, data in sets.items():
        n = data["n"]
        draws = range(max(1, effort.draws // 3) if n > LARGE else effort.draws)
        starts = max(3, effort.starts // 3) if n > LARGE else effort.starts
        for sigma in SIGMAS[1:] if n > LARGE else SIGMAS:
            part, more = f"sigma {sigma:g}", {"starts": starts, "sigma": sigma}
            found += [job_of(NAME, name, part, d, effort, 2500 + n, **more) for d in draws]
        found += [job_of(NAME, name, "default", d, effort, 500 + n, starts=starts) for d in draws]
    return found


def timed_jobs(sets, effort):
    """Return the jobs that are run alone, by the clock: on the largest set."""
    if not sets:
        return []
    name = max(sets, key=lambda name: sets[name]["n"])
    draws = range(1 if effort.quick else 3)
    return [job_of(NAME, name, "times", draw, effort, 6000, starts=1) for draw in draws]


@lru_cache(maxsize=1)
def _neighbours(folder, name):
    return nearest_neighbours(floating(stored(folder, name)["X"]), NEIGHBOURS, search="exact")


def graph(near, sigma):
    r = near.distances[:, -1].mean(dtype=np.float64)
    return symmetrise(near.indices, gaussian(near.distances, sigma * r))


@lru_cache(maxsize=1)
def _basis(folder, name, sigma):
    """Return the graph, its smooth eigenvectors, and what CCSR sums over all points."""
    near = _neighbours(folder, name)
    W = graph(near, sigma)
    k = int(stored(folder, name)["y"].max()) + 1
    basis = spectral_basis(W, max(VECTORS, k), rng_of(NAME, name, sigma), order=near.order)
    return W, basis, diagonal_errors(basis.vectors[:, :CCSR_VECTORS])


def spectral_kernel(F, links):
    """Return what k-means of CCSKL is run on: F diag(b)^1/2, step 5 of its Algorithm 1."""
    i, j, sign, weight = links.arrays()
    b = fit_spectrum(F[:, :VECTORS], i, j, sign, weight, diagonal="paper")
    return F[:, :VECTORS] * np.sqrt(b).astype(F.dtype)


def regularised(F, links, k, errors, rng):
    """Return what k-means of CCSR is run on: F M^1/2."""
    F = F[:, :CCSR_VECTORS]
    M, _ = fit_matrix(
        F, *links.arrays(), n_clusters=k, shrinkage=0, diagonal="paper", errors=errors, rng=rng
    )
    return np.sqrt(len(F)) * F @ matrix_root(M)


def imposed(W, links, k, rng):
    """Return what k-means of SL is run on."""
    i, j, sign, _ = links.arrays()
    return unit_rows(spectral_basis(impose(W, i, j, sign), k, rng).vectors)


def kernel_starts(W, links, k, starts, rng):
    """Return the labels of SSKK from random labels, and the objective of each start.

    The normalised-cut version with the penalty n / (k s), as published: no single moves.
    """
    n = W.shape[0]
    d = degrees(W).astype(np.float64)
    d = np.maximum(d, d[d > 0].min())
    R = (links.matrix(n) * (n / (k * max(links.n_pairs, 1)))).tocsr()
    options = {"R": R, "mass": d, "n_init": 0, "max_iter": PASSES, "moves": False, "rng": rng}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # passes may cycle
        found = [
            kernel_kmeans(W, k, starts=[rng.integers(k, size=n)], **options) for _ in range(starts)
        ]
    return [run.labels for run in found], [run.objective for run in found]


def cuts(F, k, starts, rng):
    """Return the labels of several discretisations, and of the best of ten."""
    Z = unit_rows(F[:, :k])
    runs = [discretise(Z, n_init=1, rng=rng).labels for _ in range(starts)]
    return runs, discretise(Z, n_init=STARTS_OF_DISCRETISATION, rng=rng).labels


def contrast(D, y):
    """Return how much farther points of different classes are than points of one, on average."""
    same = y[:, None] == y
    np.fill_diagonal(same, False)
    other = y[:, None] != y
    return float(D[other].mean() / max(D[same].mean(), 1e-300))


def even_rows(y, count):
    """Return rows sorted by class, about equally many of each."""
    k = int(y.max()) + 1
    each = max(2, count // k)
    return np.concatenate(
        [
            rows[np.linspace(0, len(rows) - 1, min(each, len(rows))).astype(int)]
            for rows in (np.flatnonzero(y == c) for c in range(k))
        ]
    )


def packed(D):
    """Return a matrix of distances as text: one byte for each, 255 for the largest."""
    small = np.rint(255 * D / max(D.max(), 1e-300)).astype(np.uint8)
    return base64.b64encode(small.tobytes()).decode()


def matrices(y, views):
    """Return the distance matrices of views of the points, {name: rows}, and their contrasts."""
    shown, measured = even_rows(y, SHOWN), even_rows(y, MEASURED)
    return {
        name: {
            "contrast": round(contrast(cdist(Z[measured], Z[measured]), y[measured]), 4),
            "side": len(shown),
            "bytes": packed(cdist(Z[shown], Z[shown])),
        }
        for name, Z in views.items()
    }


def curves(job):
    """Return the rows of a cell: every method at every number of constraints on one graph."""
    folder, name, sigma, number = (job[key] for key in ("folder", "set", "sigma", "draw"))
    X, y = (stored(folder, name)[key] for key in ("X", "y"))
    k, starts = int(y.max()) + 1, job["starts"]
    W, basis, errors = _basis(folder, name, sigma)
    F = basis.vectors
    rows = [
        attempt(
            lambda: _cut_figures(F, y, k, starts, rng_of(NAME, name, sigma, number)),
            method="NCuts",
            at=0,
        )
    ]
    record = {}
    for p in numbers(name, job["quick"]):
        s = balanced_number(p, k)
        links = draw(y, s, rng_of(NAME, name, number, p), scheme="balanced")
        seed, rng = seed_of(NAME, name, number, p, sigma), rng_of(NAME, name, number, p, sigma)

        def by_kmeans(Z, links=links, seed=seed):
            return of_starts(y, single_starts(Z, k, starts, seed), links, clustering_error)

        def by_kernel(links=links, rng=rng):
            runs = kernel_starts(W, links, k, starts, rng)
            return of_starts(y, runs, links, clustering_error)

        learn: dict[str, Callable] = {
            "CCSKL": lambda f=by_kmeans, c=links: f(spectral_kernel(F, c)),
            "SL": lambda f=by_kmeans, c=links, g=rng: f(imposed(W, c, k, g)),
            "SSKK": by_kernel,
            "CCSR": lambda f=by_kmeans, c=links, g=rng: f(regularised(F, c, k, errors, g)),
        }
        for method, function in learn.items():
            if s or method != "CCSR":  # it has nothing to fit without constraints
                rows.append(attempt(function, method=method, at=s))
        if name in IMAGES and number == 0 and p == numbers(name, job["quick"])[-1]:
            views = {"spectral embedding": unit_rows(F[:, :k]), "kernel": spectral_kernel(F, links)}
            record["matrices"] = matrices(y, {"original": floating(X), **views})
    return record | {"rows": rows}


def _cut_figures(F, y, k, starts, rng):
    runs, best = cuts(F, k, starts, rng)
    return {
        "mean": float(np.mean([clustering_error(y, labels) for labels in runs])),
        "least": clustering_error(y, best),
    }


def defaults(job):
    """Return what the library's CCSKL does at its defaults, without a look at the classes."""
    X, y = (stored(job["folder"], job["set"])[key] for key in ("X", "y"))
    k, rows = int(y.max()) + 1, []
    for p in numbers(job["set"], job["quick"]):
        s = balanced_number(p, k)
        links = draw(y, s, rng_of(NAME, job["set"], job["draw"], p), scheme="balanced")
        seed = seed_of(NAME, job["set"], job["draw"], p)

        def figures(links=links, seed=seed):
            labels = CCSKL(k, random_state=seed).fit_predict(floating(X), constraints=links)
            return {
                "least": clustering_error(y, labels),
                "kept": kept_share(labels, links),
                **of_untouched(y, labels, links),
            }

        rows.append(attempt(figures, method=DEFAULT, at=s))
    return {"rows": rows}


def times(job):
    """Return seconds of whole runs, and of what each learns alone, one method after the other."""
    X, y = (stored(job["folder"], job["set"])[key] for key in ("X", "y"))
    X, k, name = floating(X), int(y.max()) + 1, job["set"]
    s = balanced_number(numbers(name, job["quick"])[-1], k)
    links = draw(y, s, rng_of(NAME, name, job["draw"], s), scheme="balanced")
    rows = []
    for method in TIMED:
        started = time.perf_counter()
        rng = rng_of(NAME, name, "times")
        near = nearest_neighbours(X, NEIGHBOURS, search="exact")
        W, learnt = graph(near, 1.0), None
        if method in ("CCSKL", "CCSR"):
            F = spectral_basis(W, VECTORS, rng, order=near.order).vectors
            began = time.perf_counter()
            Z = (
                spectral_kernel(F, links)
                if method == "CCSKL"
                else regularised(F, links, k, None, rng)
            )
            learnt = time.perf_counter() - began
            single_starts(Z, k, 1, 0)
        elif method == "SL":
            single_starts(imposed(W, links, k, rng), k, 1, 0)
        elif method == "SSKK":
            kernel_starts(W, links, k, 1, rng)
        else:
            F = spectral_basis(W, k, rng, order=near.order).vectors
            discretise(unit_rows(F), n_init=1, rng=rng)
        whole_run = time.perf_counter() - started
        rows.append({"method": method, "at": s, "whole": whole_run, "learnt": learnt})
    return {"rows": rows}


def run(job):
    """Return the record of a job."""
    parts = {"default": defaults, "times": times}
    return parts.get(job["part"], curves)(job)
