"""The features prepared in several ways, and new points prepared alike.

    given       as they are
    scaled      every column of variance 1; constant columns are left out
    ranged      every column of range 1 (min-max)
    ranked      every column replaced by the normal quantile of its rank
    directions  every row of length 1: as given if no entry is negative, else of scaled columns
    whitened    principal directions of the scaled columns, each divided by its deviation, then
                every row of length 1
    half whitened   the same, each divided by the root of its deviation

The first directions of many columns often show what all classes share (the light in pictures of
faces) and hide the others; whitened views are made where there are more than ``LIMIT`` columns,
unless these are nearly uncorrelated: then whitened is the same as scaled.

Each view is centred and reduced to at most ``LIMIT`` principal directions. A view that would
repeat another is left out: scaled, if all columns already have about the same variance; ranged, if
all ranges are about the same multiple of the deviation; ranked, if there are many columns. Of many
points with many columns of one unit (pixels), scaled is left out too: it takes long and magnifies
columns that are almost constant. Sparse points are first reduced to ``LIMIT`` singular
directions.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.arrays import door, namespace, to_host
from linkwise.embedding.spectral import unit_rows

LIMIT = 100  # directions: the graph and the kernels of a view cost O(n LIMIT) a neighbour
ALIKE = 1.2  # ratio of largest to smallest deviation up to which scaling would change little
MANY = 200  # columns; ranks of more (pixels, words) are mostly ties, and slow to look up
FEW = 8  # columns; the length of a row of fewer is information rather than scale
WHITENED = {"half whitened": 0.5, "whitened": 1.0}  # power of the deviation to divide by
FLAT = 1e-5  # of the largest deviation; directions of less are rounding errors
UNEVEN = 3.0  # largest deviation of a direction by the median; 2 for 300 singular vectors of texts
LARGE = 5000  # rows, from which on a view costs seconds
# geometric mean of the ranges of columns by the largest: .2 to 1 for pixels and their principal
# coordinates, at most .1 for measurements in several units
ONE_UNIT = 1 / 8
TABLE = 2000  # rows kept to look ranks up: errs by at most 1/2000 in rank, and keeps models small


class View(NamedTuple):
    """One preparation of the features."""

    name: str
    first: np.ndarray | None  # (d, LIMIT) for sparse points
    scale: np.ndarray | None  # (d,) factors of the columns; 0 leaves a column out
    table: np.ndarray | None  # (t, d) sorted columns, for ranks
    unit: bool
    centre: np.ndarray  # (d,)
    basis: np.ndarray | None  # (d, r)
    X: np.ndarray  # (n, r) the points, prepared
    last: bool = False  # whether rows get length 1 in the basis, after everything else


def one_unit(ranges):
    """Tell whether columns of these ranges (d,), all > 0, are measured in one unit.

    >>> one_unit(np.array([255, 250, 3])), one_unit(np.array([1, 1000]))
    (True, False)
    """
    return bool(np.log(ranges / ranges.max(initial=0)).sum() > np.log(ONE_UNIT) * len(ranges))


def _prepared(X, first, scale, table, unit):
    if first is not None:
        X = X @ first
    if scale is not None:
        X = X * scale
    if table is not None:
        X = _ranked(X, table)
    return unit_rows(X) if unit else X


def _ranked(X, table):
    tools = door(X)
    share = (tools.ranks(table, X) + 0.5) / (len(table) + 1)
    return tools.cast(tools.normal_quantiles(share), X)


def prepare(view, X):
    """Return new points prepared as in a view, (q, r)."""
    Y = _prepared(X, view.first, view.scale, view.table, view.unit) - view.centre
    Y = Y if view.basis is None else Y @ view.basis
    return unit_rows(Y) if view.last else Y


def _view(name, X, *, first=None, scale=None, table=None, unit=False, seed=0):
    Y = _prepared(X, first, scale, table, unit)
    centre = namespace(Y).mean(Y, axis=0)
    Y = Y - centre
    basis = None
    if Y.shape[1] > LIMIT:
        rank = min(LIMIT, *Y.shape)
        basis = door(Y).leading_directions(Y, rank, seed)
        Y = Y @ basis
    return View(name, first, scale, table, unit, centre, basis, Y)


def _whitened(X, names, *, first, scale, seed):
    """Return the Views of some names in WHITENED; none if the columns are nearly uncorrelated."""
    Y = _prepared(X, first, scale, None, False)
    xp, tools = namespace(Y), door(Y)
    centre = xp.mean(Y, axis=0)
    Y = Y - centre
    basis = tools.leading_directions(Y, min(LIMIT, *Y.shape), seed)
    deviation = to_host(xp.std(Y @ basis, axis=0))
    kept = deviation > FLAT * deviation.max()
    if deviation.max() < UNEVEN * np.median(deviation[kept]):
        return []
    found = []
    for name in names:
        power = deviation ** WHITENED[name]
        factor = np.divide(1, power, out=np.zeros_like(deviation), where=kept)
        each = basis * tools.asarray(factor, basis)
        points = unit_rows(Y @ each)
        found.append(View(name, first, scale, None, False, centre, each, points, last=True))
    return found


def whitened_among(views):
    """Return the numbers of the whitened views."""
    return [number for number, view in enumerate(views) if view.name in WHITENED]


def make_views(X, *, kinds=("given", "scaled", "ranked", "directions", *WHITENED), seed=0):
    """Return the views of points X (n, d), dense or sparse: a list of at least one View."""
    first = None
    if sparse.issparse(X):
        rank = max(1, min(LIMIT, min(X.shape) - 1))
        first = door(X).leading_directions(X, rank, seed).astype(X.dtype)
    Y = X if first is None else X @ first
    xp, tools = namespace(Y), door(Y)
    most, least = (to_host(bound(Y, axis=0)) for bound in (xp.max, xp.min))
    deviation = to_host(xp.std(Y, axis=0))
    largest = max(most.max(), -least.min())
    kept = deviation > 1e-10 * max(largest, np.finfo(deviation.dtype).tiny)
    scale = np.divide(1, deviation, out=np.zeros_like(deviation), where=kept)
    found = []
    if "given" in kinds or not kept.any():
        found.append(_view("given", X, first=first, seed=seed))
    if not kept.any():
        return found
    spread, ranges = deviation[kept], (most - least)[kept]
    pixels = Y.shape[1] > MANY and len(Y) > LARGE and one_unit(ranges)
    by_deviation = tools.asarray(scale, Y)
    if "scaled" in kinds and spread.max() > ALIKE * spread.min() and not pixels:
        found.append(_view("scaled", X, first=first, scale=by_deviation, seed=seed))
    if "ranged" in kinds and (ranges / spread).max() > ALIKE * (ranges / spread).min():
        ranged = np.zeros_like(scale)
        ranged[kept] = 1 / ranges
        found.append(_view("ranged", X, first=first, scale=tools.asarray(ranged, Y), seed=seed))
    if "ranked" in kinds and first is None and Y.shape[1] <= MANY:
        step = max(1, len(Y) // TABLE)
        found.append(_view("ranked", X, table=xp.sort(Y, axis=0)[::step], seed=seed))
    if "directions" in kinds and Y.shape[1] >= FEW:
        scale = None if least.min() >= 0 else by_deviation
        found.append(_view("directions", X, first=first, scale=scale, unit=True, seed=seed))
    names = [name for name in WHITENED if name in kinds]
    if names and Y.shape[1] > LIMIT and not pixels:
        found += _whitened(X, names, first=first, scale=by_deviation, seed=seed)
    return found
