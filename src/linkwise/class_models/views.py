"""The features prepared in several ways, and new points prepared alike.

    given       as they are
    scaled      every column of variance 1; constant columns are left out
    ranged      every column of range 1 (min-max)
    ranked      every column replaced by the normal quantile of its rank
    directions  every row of length 1: as given if no entry is negative, else of scaled columns
    cosines     every row of length 1, as given: in place of all others but given, for texts
    whitened    principal directions of the scaled columns, each divided by its deviation, then
                every row of length 1
    half whitened   the same, each divided by the root of its deviation

The first directions of many columns often show what all classes share (the light in pictures of
faces) and hide the others; whitened views are made where there are more than ``LIMIT`` columns,
unless these are nearly uncorrelated: then whitened is the same as scaled.

Each view is centred and reduced to at most ``LIMIT`` principal directions. A view that would
repeat another is left out: given, if the rows of texts have length 1; scaled, if all columns
already have about the same variance; ranged, if all ranges are about the same multiple of the
deviation; ranked, if there are many columns. Of many points with many columns of one unit (pixels),
scaled is left out too: it takes long and magnifies columns that are almost constant. Sparse points
are first reduced to ``LIMIT`` singular directions.

Texts are usually given as singular directions of their words (LSA). They are recognised by columns
that are nearly uncorrelated, about as large one as another, and not centred, as principal
components are; pictures share more, and most of what tells them apart is in a few directions. A
text's length says nothing about its topic, and ranked or scaled columns say less than cosines.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.arrays import door, namespace, to_host
from linkwise.embedding.spectral import unit_rows

LIMIT = 100  # directions: the graph and the kernels of a view cost O(n LIMIT) a neighbour
UNCORRELATED = 0.1  # root mean square: .01 to .07 for most texts, .12 to .9 for other data
COMMON = 0.03, 0.5  # share of the mean square length that is in the mean; .08 to .48 for texts
# largest deviation by that of the direction after FIRST others, or by the median of few: 1.2 to 1.9
# for texts; 2.4 and more for most other data, pictures in ten directions 1.4 to 2.5
EVEN, FIRST = 2.2, 15
ALIKE = 1.2  # ratio of largest to smallest deviation up to which scaling would change little
MANY = 200  # columns; ranks of more (pixels, words) are mostly ties, and slow to look up
FEW = 8  # columns; the length of a row of fewer is information rather than scale
WHITENED = {"half whitened": 0.5, "whitened": 1.0}  # power of the deviation to divide by
WIDEST = 500  # columns; wider data is not checked for being singular directions, O(n d^2)
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


def are_texts(X):
    """Tell whether the points X (n, d) are texts, in singular directions of their words."""
    if not FEW <= X.shape[1] <= WIDEST:
        return False
    xp = namespace(X)
    most, least, centre = (to_host(of(X, axis=0)) for of in (xp.max, xp.min, xp.mean))
    X = X[:, door(X).asarray(np.flatnonzero(most > least), X)]
    centre, ranges = centre[most > least].astype(np.float64), (most - least)[most > least]
    if len(ranges) < FEW or least.min() >= 0 or not one_unit(ranges):
        return False
    S = to_host(X.T @ X / len(X)).astype(np.float64)
    C, d = S - np.outer(centre, centre), len(S)
    deviation = np.sqrt(np.maximum(np.diag(C), np.finfo(np.float64).tiny))
    R = C / np.outer(deviation, deviation)
    uncorrelated = (R**2).sum() - d < UNCORRELATED**2 * d * (d - 1)
    even = deviation.max() < EVEN * np.sort(deviation)[::-1][min(FIRST, d // 2)]
    return bool(uncorrelated and even and COMMON[0] < centre @ centre / np.trace(S) < COMMON[1])


def scaled_among(views):
    """Return the number of the view that is scaled: by columns, or by rows if these are texts."""
    return max(i for i, view in enumerate(views) if view.name in ("given", "scaled", "cosines"))


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
    if kept.any() and "scaled" in kinds and are_texts(Y):
        cosines = _view("cosines", X, first=first, unit=True, seed=seed)
        length = tools.squared_norms(Y)
        unit = xp.max(length) < ALIKE * xp.min(length)
        return [cosines] if unit else [_view("given", X, first=first, seed=seed), cosines]
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
