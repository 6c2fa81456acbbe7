"""How often COPKMeans keeps all of n consistent constraints, drawn from the true labels.

Usage: python benchmarks/hard.py --data DIR [--draws 100] [--sets iris wine ...] [--factor 1]
"""

import argparse

import numpy as np

from benchmarks.agreement import z_scored
from linkwise import COPKMeans, InfeasibleConstraints, datasets, sample_pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the data sets as NAME.npz")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--sets", nargs="*", default=["iris", "wine", "wdbc", "digits"])
    parser.add_argument("--factor", type=float, default=1, help="pairs, in multiples of the points")
    options = parser.parse_args()
    for name in options.sets:
        X, y = datasets.load(name, data=options.data)
        X, k = z_scored(X), len(np.unique(y))
        kept = 0
        for draw in range(options.draws):
            links = sample_pairs(y, int(options.factor * len(y)), random_state=draw)
            try:
                model = COPKMeans(k, random_state=draw).fit(X, constraints=links)
            except InfeasibleConstraints:
                continue
            kept += not model.violations_
        print(f"{name}: all constraints kept on {kept} of {options.draws} draws", flush=True)


if __name__ == "__main__":
    main()
