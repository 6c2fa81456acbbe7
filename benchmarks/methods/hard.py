"""How often COPKMeans keeps all of n consistent constraints, drawn from the true labels."""

import numpy as np

from benchmarks.runs.points import zscored
from linkwise import COPKMeans, InfeasibleConstraints, datasets, sample_pairs

SETS = ("iris", "wine", "wdbc", "digits")


def run(*, data, draws, sets, factor):
    """Print on how many draws all constraints are kept.

    Parameters
    ----------
    data : folder with the data sets as NAME.npz, or None
    draws : int
    sets : names, or None for all
    factor : float, pairs in multiples of the points
    """
    for name in SETS if sets is None else sets:
        X, y = datasets.load(name, data=data)
        X, k = zscored(X.astype(float)), len(np.unique(y))
        kept = 0
        for draw in range(draws):
            links = sample_pairs(y, int(factor * len(y)), random_state=draw)
            try:
                model = COPKMeans(k, random_state=draw).fit(X, constraints=links)
            except InfeasibleConstraints:
                continue
            kept += not model.violations_
        print(f"{name}: all constraints kept on {kept} of {draws} draws", flush=True)
