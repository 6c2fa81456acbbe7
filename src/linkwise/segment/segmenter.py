"""A picture and its regions, for any set of strokes."""

from threading import Lock
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from linkwise.segment.assign import EPS, covariance, opinions
from linkwise.segment.blend import blended
from linkwise.segment.colour import lab, shrink, working_shape
from linkwise.segment.slic import COMPACTNESS, Pieces, enlarge, means, superpixels
from linkwise.segment.strokes import COLOURS, painted, values_of

SUPERPIXELS = 500
WORKING = 1 << 18  # pixels that superpixels are cut from


class Regions(NamedTuple):
    """Regions at the working size.

    Attributes
    ----------
    mask : uint8 array (h, w), the value of each pixel's region, from 1 on
    names : dict, the colour that a value stands for, None for a region that nobody painted
    """

    mask: np.ndarray
    names: dict


class Solution(NamedTuple):
    """What strokes say of pieces.

    Attributes
    ----------
    pieces : Pieces
    f : array (n, k), what each piece says of each region
    value : uint8 array (k,), of each region in a mask
    seen : uint8 array, the values that are painted
    values : dict, the value of each colour
    """

    pieces: Pieces
    f: np.ndarray
    value: np.ndarray
    seen: np.ndarray
    values: dict


def cut(pieces, colour, paint):
    """Return pieces of which none has two colours of paint on it.

    A piece that has is cut: its pixels go with the nearest painted one, by colour and place.

    Parameters
    ----------
    pieces : Pieces
    colour : array (h, w, 3), L*a*b* of the pixels
    paint : int array (h, w), 0 for none
    """
    row, column = np.nonzero(paint)
    pairs = np.unique(np.stack([pieces.label[row, column], paint[row, column]], axis=1), axis=0)
    piece, count = np.unique(pairs[:, 0], return_counts=True)
    label, new = pieces.label.copy(), len(pieces.size)
    for number in piece[count > 1]:
        i, j = np.nonzero(pieces.label == number)
        place = np.stack([i, j], axis=1) * (COMPACTNESS / pieces.step)
        X = np.concatenate([colour[i, j], place], axis=1)
        on = paint[i, j] > 0
        nearest = cKDTree(X[on]).query(X)[1]
        side = np.unique(paint[i, j][on][nearest], return_inverse=True)[1]
        label[i, j] = np.where(side == 0, number, new + side - 1)
        new += side.max()
    if new == len(pieces.size):
        return pieces
    return Pieces(label, pieces.step, *means(label, colour, new))


def seeds(pieces, paint, line):
    """Return the paint that speaks for whole pieces, 0 elsewhere.

    That is the middle of a stroke, and all paint on a piece that is painted by more than half. The
    rest of a wide brush may have slipped over an edge: it stays what it is painted, but says
    nothing of the piece it is on.

    Parameters
    ----------
    pieces : Pieces
    paint, line : uint8 arrays (h, w), what is painted, and the middle of the strokes alone
    """
    on = np.bincount(pieces.label.ravel(), paint.ravel() > 0, len(pieces.size))
    sure = (line == paint) | (on > pieces.size / 2)[pieces.label]  # a line may be painted over
    return np.where(sure, paint, 0)


def doubts(pieces, paint):
    """Return e of each piece, float (n,): EPS, and more where few of its pixels are painted.

    A line through a piece has about as many as the piece is wide.
    """
    count = np.bincount(pieces.label.ravel(), paint.ravel() > 0, len(pieces.size))
    across = np.minimum(pieces.step, pieces.size / 2)
    return EPS * np.maximum(1, across / np.maximum(count, 1))


class Segmenter:
    """Regions of a picture by strokes.

    Parameters
    ----------
    rgb : uint8 array (height, width, 3), or (height, width) for grey
    n_superpixels : int, about how many pieces the picture is cut into
    random_state : int, where regions that nobody painted are looked for

    Attributes
    ----------
    shape : (height, width) of the picture
    working_shape : (height, width) of what is worked on
    pieces : Pieces

    Notes
    -----
    What comes out depends on the strokes alone, not on what was asked before: a stroke undone
    leaves no trace. It may be used from several threads.

    Examples
    --------
    >>> rgb = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> rgb[:, 30:] = 200
    >>> from linkwise.segment import Stroke
    >>> left, right = Stroke("1", ((5, 5), (5, 30)), 2), Stroke("2", ((50, 20),), 2)
    >>> mask = Segmenter(rgb).mask([left, right])
    >>> [np.unique(half).tolist() for half in (mask[:, :30], mask[:, 30:])]
    [[1], [2]]
    """

    def __init__(self, rgb, *, n_superpixels=SUPERPIXELS, random_state=0):
        rgb = np.asarray(rgb)
        if rgb.dtype != np.uint8 or rgb.ndim not in (2, 3) or rgb.shape[2:] not in ((), (3,)):
            raise ValueError(
                f"rgb must be bytes (height, width, 3) or (height, width); got {rgb.dtype} "
                f"{rgb.shape}"
            )
        if rgb.size == 0:
            raise ValueError(f"rgb has no pixels; its shape is {rgb.shape}")
        if rgb.ndim == 2:
            rgb = np.repeat(rgb[..., None], 3, axis=2)
        self.rgb, self.random_state = rgb, random_state
        self.shape = rgb.shape[:2]
        self.working_shape = working_shape(self.shape, WORKING)
        self._colour = lab(shrink(rgb, self.working_shape))
        self.pieces = superpixels(self._colour, n_superpixels)
        self._lock = Lock()
        self._last: tuple = ()  # label of the last pieces, and their covariance
        self._last_full: tuple = ()

    def _pieces(self, paint):
        """Return (Pieces, K) for what is painted, those of the last time if they are the same."""
        pieces = cut(self.pieces, self._colour, paint)
        with self._lock:
            last = self._last
        if last and np.array_equal(last[0].label, pieces.label):
            return last
        found = pieces, covariance(pieces)
        with self._lock:
            self._last = found
        return found

    def _solve(self, strokes, n_regions):
        """Return the Solution for strokes."""
        values = values_of([stroke.colour for stroke in strokes])
        thin = [stroke._replace(width=0) for stroke in strokes]
        paint, line = (
            painted(drawn, values, self.shape, self.working_shape) for drawn in (strokes, thin)
        )
        seed = seeds(self.pieces, paint, line)
        seen = np.unique(seed[seed > 0])  # a colour painted over wholly says nothing
        k = max(2, len(seen)) if n_regions is None else n_regions
        if k < len(seen):
            raise ValueError(
                f"strokes have {len(seen)} colours, more than {k} regions; ask for more regions, "
                "or draw with fewer colours"
            )
        pieces, K = self._pieces(seed)
        if k > min(len(pieces.size), COLOURS):
            raise ValueError(
                f"{k} regions are too many for a picture of {len(pieces.size)} pieces; ask for at "
                f"most {min(len(pieces.size), COLOURS)}"
            )
        free = np.setdiff1d(np.arange(1, COLOURS + 1), seen)
        value = np.r_[seen, free[: k - len(seen)]].astype(np.uint8)
        y = np.full(len(pieces.size), -1)
        y[pieces.label[seed > 0]] = np.searchsorted(seen, seed[seed > 0])
        rng = np.random.default_rng(self.random_state)
        f = opinions(K, y, k, rng=rng, eps=doubts(pieces, seed))
        return Solution(pieces, f, value, seen, values)

    def _mask(self, strokes, solved, label):
        """Return the value of every pixel of a picture whose pixels are in these pieces."""
        found = solved.value[blended(solved.pieces, solved.f, label)]
        paint = painted(strokes, solved.values, self.shape, label.shape)
        return np.where(np.isin(paint, solved.seen), paint, found)

    def regions(self, strokes, *, n_regions=None):
        """Return the Regions at the working size.

        Parameters
        ----------
        strokes : list of Stroke, in the order they were drawn
        n_regions : int, or None: as many as there are colours, and at least two
        """
        solved = self._solve(strokes, n_regions)
        names = dict.fromkeys(solved.value.tolist())
        names |= {value: colour for colour, value in solved.values.items() if value in solved.seen}
        return Regions(self._mask(strokes, solved, solved.pieces.label), names)

    def mask(self, strokes, *, n_regions=None):
        """Return the value of the region of every pixel of the picture, uint8 (height, width)."""
        solved = self._solve(strokes, n_regions)
        with self._lock:
            last = self._last_full
        if not last or last[0] is not solved.pieces:
            last = solved.pieces, enlarge(self.rgb, solved.pieces)
            with self._lock:
                self._last_full = last
        return self._mask(strokes, solved, last[1])
