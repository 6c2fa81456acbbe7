"""Agreement on the points no constraint touches, against reference values.

Usage: python benchmarks/untouched.py --data DIR [--draws 8] [--out FILE]

Features are z-scored, pairs drawn uniformly, n/4 and n of them. Beside each adjusted Rand index
stands the one of an independent implementation of the same method on its own draws; a cell
agrees if it is not more than two standard errors + 0.03 below.
"""

import argparse
import time

import numpy as np

from linkwise import (
    CCSKL,
    OptimalKernelKMeans,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    datasets,
    sample_pairs,
    scores,
)

SETS = ["iris", "wine", "wdbc", "ionosphere", "sonar", "glass", "ecoli", "dermatology"]
METHODS = {
    "CCSKL": CCSKL,
    "cSC": SignedSpectralClustering,
    "affinity propagation": PropagatedSpectralClustering,
    "optimal kernel": OptimalKernelKMeans,
}
REFERENCE = {  # at n/4 pairs, at n pairs; sets in the order of SETS
    "CCSKL": (
        (0.61, 0.96, 0.73, 0.18, 0.00, 0.13, 0.30, 0.85),
        (0.61, 0.91, 0.80, 0.20, 0.06, 0.17, 0.32, 0.86),
    ),
    "cSC": (
        (0.62, 0.89, 0.65, 0.09, 0.00, 0.17, 0.37, 0.91),
        (0.69, 0.88, 0.77, 0.00, 0.00, 0.15, 0.31, 0.90),
    ),
    "affinity propagation": (
        (0.70, 0.90, 0.87, 0.61, 0.05, 0.24, 0.63, 0.85),
        (0.73, 0.89, 0.90, 0.78, 0.35, 0.27, 0.69, 0.86),
    ),
}


def z_scored(X):
    X = X.astype(float)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def measure(method, X, y, n_pairs, draws):
    """Return means and standard errors of the scores over draws, and seconds a fit."""
    rows = []
    for draw in range(draws):
        links = sample_pairs(y, n_pairs, random_state=draw)
        model = METHODS[method](len(np.unique(y)), random_state=draw)
        start = time.perf_counter()
        labels = model.fit_predict(X, constraints=links)
        seconds = time.perf_counter() - start
        found = scores(y, labels, links)
        names = ("adjusted_rand", "adjusted_rand_untouched", "kept")
        rows.append([*(found[name] for name in names), seconds])
    rows = np.array(rows)
    return rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(draws)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the data sets as NAME.npz")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--out", help="write the table here as well")
    options = parser.parse_args()

    lines = [
        "| set | method | pairs | all points | untouched | reference | agrees | kept | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for name in options.sets:
        X, y = datasets.load(name, data=options.data)
        for method in options.methods:
            for column, n_pairs in enumerate((len(y) // 4, len(y))):
                mean, error = measure(method, z_scored(X), y, n_pairs, options.draws)
                reference, agrees = "", ""
                if method in REFERENCE:
                    value = REFERENCE[method][column][SETS.index(name)]
                    reference = f"{value:.2f}"
                    agrees = "yes" if mean[1] >= value - 2 * error[1] - 0.03 else "no"
                lines.append(
                    f"| {name} | {method} | {n_pairs} | {mean[0]:.2f} "
                    f"| {mean[1]:.2f} ± {error[1]:.2f} | {reference} | {agrees} "
                    f"| {mean[2]:.2f} | {mean[3]:.2f} |"
                )
                print(lines[-1], flush=True)
    if options.out:
        with open(options.out, "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
