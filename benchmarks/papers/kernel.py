"""Kernel optimisation with pairwise constraints (SS-Optimal-Kernel-KMeans): figures 2 to 4.

Rand index on the test part against the number of constraints. In each draw 30 % of the points are
drawn as training part, constraints are uniform pairs of them, all points are clustered and the
Rand index is taken over pairs of test points. Features are as given.

    optimal            three Gaussians fitted from the paper's start (weights 1/3, widths below the
                       mean standard deviation)
    six widths         sigma^2 = .1, 1, 10, 100, 1000, 10000: the mean of their Rand indices, and
                       the mean of the best three, which takes the classes to know
    width by links     of the six the one that keeps most constraints, as a user could choose
    default width      the library's, at its default width
"""

import numpy as np

from benchmarks.papers.protocol import (
    Source,
    attempt,
    draw,
    job_of,
    kept_share,
    rng_of,
    seed_of,
    split,
)
from benchmarks.runs.cells import rounded
from benchmarks.runs.points import floating, stored
from linkwise.estimators import KernelKMeans, OptimalKernelKMeans
from linkwise.evaluate import rand_index

NAME = "kernel"
WIDTHS = (0.1, 1, 10, 100, 1000, 10000)  # sigma^2
TRAIN = 0.3
NUMBERS, QUICK_NUMBERS = (10, 30, 50, 100, 150, 200), (10, 50, 100, 200)
OPTIMAL, MEAN, BEST, BY_LINKS, DEFAULT, FULL = (
    "optimal kernel",
    "mean of six",
    "mean of best three",
    "width by links",
    "default width",
    "optimal, defaults",
)
CIRCLE, NOISE, RADII = 200, 0.15, (1.0, 3.0)
STARTS = 5  # of kernel k-means


def circles(_=None):
    """Return two concentric circles of 200 points each."""
    rng = rng_of(NAME, "circles")
    y = np.repeat([0, 1], CIRCLE)
    angle = rng.uniform(0, 2 * np.pi, 2 * CIRCLE)
    X = np.array(RADII)[y, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return {"X": X + rng.normal(0, NOISE, X.shape), "y": y}


def four_digits(arrays):
    """Return a tenth of the digits 3, 6, 8 and 9."""
    names = np.unique(arrays["y"])
    chosen = np.flatnonzero(np.isin(arrays["y"], names[[3, 6, 8, 9]]))
    rows = rng_of(NAME, "pendigits").permutation(chosen)[: -(-len(chosen) // 10)]
    y = np.unique(arrays["y"][np.sort(rows)], return_inverse=True)[1]
    return {"X": arrays["X"][np.sort(rows)], "y": y}


def three_vowels(arrays):
    """Return i, I and E of the test speakers, 126 rows."""
    rows = arrays["y"] < 3
    if "is_test" in arrays:
        rows = rows & (arrays["is_test"] == 1)
    return {"X": arrays["X"][rows], "y": arrays["y"][rows]}


SETS = {
    "circles": Source("two concentric circles", None, circles, "radii 1 and 3, noise 0.15"),
    "pendigits3689": Source("digits 3, 6, 8, 9", "pendigits", four_digits),
    "ionosphere": Source("ionosphere", "ionosphere"),
    "vowel3": Source("vowel i, I, E", "vowel", three_vowels),
    "wine": Source("wine", "wine"),
}


def jobs(sets, effort):
    """Return the jobs of the sets, {name: description}."""
    return [
        job_of(NAME, name, "curve", number, effort, 2500)
        for name in sets
        for number in range(2 * effort.draws)  # 20 in the paper
    ]


def figures_of(model, X, y, links, test):
    """Return the Rand index of a model on the test part, and the share of constraints it keeps."""
    labels = model.fit_predict(X, constraints=links)
    found = {"rand": rand_index(y, labels, rows=test), "kept": kept_share(labels, links)}
    if hasattr(model, "weights_"):
        found["largest_weight"] = float(model.weights_.max())
        found["width"] = float(model.widths_[np.argmax(model.weights_)])
    return found


def from_widths(fixed):
    """Return the rows that come from the six widths: mean, best three, and by links."""
    fixed = [row for row in fixed if "rand" in row]
    if not fixed:
        return []
    rand = sorted((row["rand"] for row in fixed), reverse=True)
    most = max(reversed(fixed), key=lambda row: row["kept"])  # of equals the widest
    at = fixed[0]["at"]
    return [
        rounded({"method": MEAN, "at": at, "rand": float(np.mean(rand))}),
        rounded({"method": BEST, "at": at, "rand": float(np.mean(rand[:3]))}),
        {"method": BY_LINKS, "at": at, "rand": most["rand"], "kept": most["kept"]},
    ]


def run(job):
    """Return the record of a job: every method at every number of constraints."""
    arrays, name, number = stored(job["folder"], job["set"]), job["set"], job["draw"]
    X, y = floating(arrays["X"]), arrays["y"]
    k = int(y.max()) + 1
    train = split(len(y), TRAIN, rng_of(NAME, name, number))
    rows = []
    for s in QUICK_NUMBERS if job["quick"] else NUMBERS:
        links = draw(y, s, rng_of(NAME, name, number, s), rows=train)
        seed = seed_of(NAME, name, number, s)

        def score(model, links=links):
            return figures_of(model, X, y, links, ~train)

        options = {"random_state": seed, "n_init": STARTS}
        models = {
            OPTIMAL: OptimalKernelKMeans(k, n_starts=1, **options),
            FULL: OptimalKernelKMeans(k, **options),
            DEFAULT: KernelKMeans(k, **options),
        }
        rows += [
            attempt(lambda m=model, f=score: f(m), method=method, at=s)
            for method, model in models.items()
        ]
        fixed = []
        for squared in WIDTHS:
            model = KernelKMeans(k, sigma=squared**0.5, **options)
            fixed.append(
                attempt(lambda m=model, f=score: f(m), method=f"sigma^2 = {squared:g}", at=s)
            )
        rows += fixed + from_widths(fixed)
    return {"rows": rows}
