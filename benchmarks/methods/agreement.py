"""Every method on small real sets: agreement with the classes, constraints kept, seconds.

Features are z-scored, n/4 and n pairs are drawn uniformly, and all methods run with their defaults;
transformers are followed by k-means. The score is the adjusted Rand index, on all points and on
those that no pair touches. Some scores have a reference: that of an independent implementation of
the same method on its own draws. A score agrees with it if it is at most two standard errors + 0.05
(0.03 for CCSKL, cSC and affinity propagation) lower.
"""

import time
import warnings
from inspect import signature

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.runs.output import write
from benchmarks.runs.points import zscored
from linkwise import datasets, estimators, sample_pairs, scores

SETS = ["iris", "wine", "wdbc", "ionosphere", "sonar", "glass", "ecoli", "dermatology"]
TRANSFORMERS = {"ConstrainedPCA": "k", "ConstrainedLPP": "k", "ITML": None}
VARIANTS = {  # other settings worth a row of their own
    "CCSKL, as in the paper": ("CCSKL", {"normalize_rows": False}),
    "KernelKMeans, normalised cut": (
        "KernelKMeans",
        {"kernel": "nearest_neighbors", "version": "ncut", "sigma": "r"},
    ),
    "SpectralLearning, additive": ("SpectralLearning", {"normalization": "additive"}),
    "SpectralRegularization, no shrinkage": ("SpectralRegularization", {"shrinkage": 0}),
    "ConstrainedGaussianMixture, no shrinkage": ("ConstrainedGaussianMixture", {"shrinkage": 0}),
    "MPCKMeans, diagonal": ("MPCKMeans", {"metric": "diagonal"}),
}
REFERENCE = {  # at n/4 pairs, at n pairs; sets in the order of SETS
    "CCSKL": (
        (0.61, 0.96, 0.73, 0.18, 0.00, 0.13, 0.30, 0.85),
        (0.61, 0.91, 0.80, 0.20, 0.06, 0.17, 0.32, 0.86),
    ),
    "SignedSpectralClustering": (
        (0.62, 0.89, 0.65, 0.09, 0.00, 0.17, 0.37, 0.91),
        (0.69, 0.88, 0.77, 0.00, 0.00, 0.15, 0.31, 0.90),
    ),
    "PropagatedSpectralClustering": (
        (0.70, 0.90, 0.87, 0.61, 0.05, 0.24, 0.63, 0.85),
        (0.73, 0.89, 0.90, 0.78, 0.35, 0.27, 0.69, 0.86),
    ),
    "SpectralRegularization": (
        (0.77, 0.82, 0.82, 0.29, 0.09, 0.18, 0.30, 0.77),
        (0.79, 0.93, 0.87, 0.69, 0.21, 0.24, 0.48, 0.90),
    ),
    "ExhaustivePropagation": (
        (0.63, 0.90, 0.81, 0.29, 0.00, 0.20, 0.37, 0.91),
        (0.67, 0.90, 0.80, 0.48, 0.04, 0.23, 0.44, 0.90),
    ),
    "ConstrainedGaussianMixture": (
        (0.90, 0.95, 0.73, 0.67, 0.00, 0.19, 0.65, 0.80),
        (0.89, 1.00, 0.80, 0.75, 0.01, 0.25, 0.66, 0.76),
    ),
    "COPKMeans": (
        (0.61, 0.89, 0.72, 0.17, 0.01, 0.17, 0.47, 0.78),
        (0.62, 0.88, 0.75, 0.25, 0.13, 0.24, 0.50, 0.87),
    ),
}
STRICT = {"CCSKL", "SignedSpectralClustering", "PropagatedSpectralClustering"}


def names():
    """Return all methods: the estimators of the library that take constraints, and variants."""
    fits = {name: getattr(estimators, name).fit for name in estimators.__all__}
    taking = [name for name, fit in fits.items() if "constraints" in signature(fit).parameters]
    return [*taking, *VARIANTS]


def cluster(method, X, links, k, seed):
    """Return the labels a method gives."""
    name, options = VARIANTS.get(method, (method, {}))
    Estimator = getattr(estimators, name)
    if name in TRANSFORMERS:
        size = {"n_components": min(k, X.shape[1])} if TRANSFORMERS[name] else {}
        Z = Estimator(**size, **options).fit_transform(X, constraints=links)
        return KMeans(k, n_init=10, random_state=seed).fit_predict(Z)
    if "random_state" in signature(Estimator).parameters:
        options = {"random_state": seed, **options}
    return Estimator(k, **options).fit(X, constraints=links).labels_


def measure(method, X, y, n_pairs, draws):
    """Return means and standard errors over draws: agreement, untouched, kept, seconds."""
    rows = []
    for draw in draws:
        links = sample_pairs(y, n_pairs, random_state=draw)
        start = time.perf_counter()
        labels = cluster(method, X, links, len(np.unique(y)), draw)
        seconds = time.perf_counter() - start
        found = scores(y, labels, links)
        measures = ("adjusted_rand", "adjusted_rand_untouched", "kept")
        rows.append([*(found[name] for name in measures), seconds])
    table = np.array(rows)  # (draws, 4)
    return table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(draws))


def judge(method, name, column, mean, error):
    """Return the reference value and whether the measured one agrees with it."""
    if method not in REFERENCE or name not in SETS:
        return "", ""
    value = REFERENCE[method][column][SETS.index(name)]
    slack = 0.03 if method in STRICT else 0.05
    return f"{value:.2f}", "yes" if mean >= value - 2 * error - slack else "no"


def run(*, data, draws, first_draw, sets, methods, out):
    """Print the table of agreement, and write it to a file.

    Parameters
    ----------
    data : folder with the data sets as NAME.npz, or None
    draws, first_draw : int, how many draws of pairs, and the seed of the first
    sets, methods : names, or None for all
    out : file for the table, or None
    """
    warnings.simplefilter("ignore")
    seeds = range(first_draw, first_draw + draws)
    lines = [
        "| method | set | pairs | all points | untouched | reference | agrees | kept | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for method in names() if methods is None else methods:
        for name in SETS if sets is None else sets:
            X, y = datasets.load(name, data=data)
            for column, n_pairs in enumerate((len(y) // 4, len(y))):
                mean, error = measure(method, zscored(X.astype(float)), y, n_pairs, seeds)
                reference, agrees = judge(method, name, column, mean[1], error[1])
                lines.append(
                    f"| {method} | {name} | {n_pairs} | {mean[0]:.2f} "
                    f"| {mean[1]:.2f} ± {error[1]:.2f} | {reference} | {agrees} "
                    f"| {mean[2]:.2f} | {mean[3]:.2f} |"
                )
                print(lines[-1], flush=True)
    if out:
        write(out, "\n".join(lines) + "\n")
