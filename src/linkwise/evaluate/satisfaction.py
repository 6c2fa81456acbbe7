"""The share of constraints that a clustering keeps, and its scores on unconstrained points.

Scores over all points measure satisfaction as much as generalisation: with as many uniform pairs
as points, 86 % of the points occur in a pair. So every score is also computed on the untouched
points, those that occur in no pair.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwise._typing import Mask, Selection
from linkwise.constraints import as_constraints
from linkwise.constraints.convert import ConstraintsLike
from linkwise.evaluate.agreement import (
    accuracy,
    adjusted_rand_index,
    clustering_error,
    mutual_information,
    rand_index,
)

MEASURES = {
    "error": clustering_error,
    "accuracy": accuracy,
    "rand": rand_index,
    "adjusted_rand": adjusted_rand_index,
    "mutual_information": mutual_information,
}


class Kept(NamedTuple):
    """Shares of constraints that hold, in [0, 1]; NaN where there are none."""

    all: float
    must: float
    cannot: float
    weighted: float


def _share(good: float, whole: float) -> float:
    return float(good / whole) if whole else float("nan")


def kept(
    labels: ArrayLike,
    constraints: ConstraintsLike,
    *,
    sample_id: ArrayLike | None = None,
    stray: int | None = None,
) -> Kept:
    """Return the share of constraints that labels keep, by sign and weighted.

    ``stray`` is the label of rows in no cluster, as in `Constraints.violated`.

    >>> kept([0, 0, 1], ([(0, 1), (1, 2)], [(0, 2)]))
    Kept(all=0.6666666666666666, must=0.5, cannot=1.0, weighted=0.6666666666666666)
    """
    labels = np.asarray(labels)
    links = as_constraints(constraints).active().resolve(sample_id, n=len(labels))
    broken, n = links.violations(labels, stray=stray), links.n_pairs
    listed = links.without_groups()
    weight = listed.weight.sum() + (n - listed.n_pairs)
    return Kept(
        _share(n - broken.n_pairs, n),
        _share(links.n_must - broken.n_must, links.n_must),
        _share(links.n_cannot - broken.n_cannot, links.n_cannot),
        _share(weight - broken.weight.sum(), weight),
    )


def untouched(
    constraints: ConstraintsLike, n: int | None = None, *, sample_id: ArrayLike | None = None
) -> Mask:
    """Return the mask (n,) of points that occur in no constraint."""
    if n is None:
        if sample_id is None:
            raise TypeError("untouched needs the number of points: pass n or sample_id")
        n = len(np.asarray(sample_id))
    mask = np.ones(n, dtype=bool)
    mask[as_constraints(constraints).active().resolve(sample_id, n=n).touched] = False
    return mask


def scores(
    y: ArrayLike,
    labels: ArrayLike,
    constraints: ConstraintsLike = None,
    *,
    sample_id: ArrayLike | None = None,
    rows: Selection | None = None,
) -> dict[str, float]:
    """Return all measures in a dictionary, on all points and on the untouched ones.

    Parameters
    ----------
    y, labels : arrays (n,)
    constraints : Constraints, or what `as_constraints` accepts
    sample_id : array (n,) or None, the ids that constraints name
    rows : mask or indices or None, the rows to measure on, such as the test part

    Returns
    -------
    dict with "error", "accuracy", "rand", "adjusted_rand", "mutual_information", each also with
    the ending "_untouched" (NaN if every point is touched), "n_untouched", and "kept",
    "kept_must", "kept_cannot", "kept_weighted".
    """
    labels = np.asarray(labels)
    n = len(labels)
    part = np.zeros(n, dtype=bool)
    part[slice(None) if rows is None else rows] = True
    silent = part & untouched(constraints, n, sample_id=sample_id)
    found = {name: measure(y, labels, rows=part) for name, measure in MEASURES.items()}
    for name, measure in MEASURES.items():
        score = measure(y, labels, rows=silent) if silent.any() else float("nan")
        found[f"{name}_untouched"] = score
    found["n_untouched"] = int(silent.sum())
    share = kept(labels, constraints, sample_id=sample_id)
    found |= {"kept": share.all, "kept_must": share.must}
    return found | {"kept_cannot": share.cannot, "kept_weighted": share.weighted}
