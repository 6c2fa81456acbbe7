"""An image and its regions, for any set of strokes."""

from threading import Lock
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from linkwise._wording import counted
from linkwise.segment.colour import lab, shrink, working_shape
from linkwise.segment.region_scores import EPS, covariance, pixel_regions, scores
from linkwise.segment.slic import COMPACTNESS, Superpixels, enlarge, means, slic_superpixels
from linkwise.segment.strokes import COLOURS, painted, values_of

SUPERPIXELS = 500  # enough for most objects; time grows with their cube, and a stroke takes .04 s
WORKING = 1 << 18  # pixels of the working size: about 500 for each superpixel


class Regions(NamedTuple):
    """Regions at the working size.

    Attributes
    ----------
    mask : uint8 array (h, w), the value of the region of each pixel, from 1 on
    names : dict, the colour of each value, None for a region that is not painted
    """

    mask: np.ndarray
    names: dict


class Solution(NamedTuple):
    """The scores of superpixels that follow from strokes.

    Attributes
    ----------
    superpixels : Superpixels
    f : array (n, k), the score of each superpixel for each region
    value : uint8 array (k,), of each region in a mask
    seen : uint8 array, the values that are painted
    values : dict, the value of each colour
    """

    superpixels: Superpixels
    f: np.ndarray
    value: np.ndarray
    seen: np.ndarray
    values: dict


def cut(superpixels, colour, paint):
    """Return superpixels none of which is painted with two colours.

    A superpixel with two colours is cut: each of its pixels goes to the colour of the nearest
    painted pixel, by colour and place.

    Parameters
    ----------
    superpixels : Superpixels
    colour : array (h, w, 3), L*a*b* of the pixels
    paint : int array (h, w), 0 for none
    """
    label, new = superpixels.label.copy(), len(superpixels.size)
    row, column = np.nonzero(paint)
    pairs = np.unique(np.stack([label[row, column], paint[row, column]], axis=1), axis=0)
    which, count = np.unique(pairs[:, 0], return_counts=True)
    for number in which[count > 1]:
        i, j = np.nonzero(superpixels.label == number)
        place = np.stack([i, j], axis=1) * (COMPACTNESS / superpixels.step)
        X = np.concatenate([colour[i, j], place], axis=1)
        on = paint[i, j] > 0
        nearest = cKDTree(X[on]).query(X)[1]
        side = np.unique(paint[i, j][on][nearest], return_inverse=True)[1]
        label[i, j] = np.where(side == 0, number, new + side - 1)
        new += side.max()
    if new == len(superpixels.size):
        return superpixels
    return Superpixels(label, superpixels.step, *means(label, colour, new))


def count_painted(superpixels, paint):
    """Return the number of painted pixels of each superpixel, (n,)."""
    return np.bincount(superpixels.label.ravel(), paint.ravel() > 0, len(superpixels.size))


def seeds(superpixels, paint, line):
    """Return the paint that stands for whole superpixels, 0 elsewhere.

    That is the middle line of a stroke, and all paint on a superpixel of which more than half is
    painted. The rest of a wide brush may lie across an edge. Its pixels keep their colour, but do
    not determine their superpixel.

    Parameters
    ----------
    superpixels : Superpixels
    paint, line : uint8 arrays (h, w), the painted pixels, and the middle lines of strokes alone
    """
    most = count_painted(superpixels, paint) > superpixels.size / 2
    sure = (line == paint) | most[superpixels.label]  # a line may be painted over
    return np.where(sure, paint, 0)


def paint_noise(superpixels, paint):
    """Return e of each superpixel, float (n,): EPS, and more where few of its pixels are painted.

    A line through a superpixel covers about as many pixels as the superpixel is wide.
    """
    across = np.minimum(superpixels.step, superpixels.size / 2)
    return EPS * np.maximum(1, across / np.maximum(count_painted(superpixels, paint), 1))


class Segmenter:
    """Regions of an image by strokes.

    Parameters
    ----------
    rgb : uint8 array (height, width, 3), or (height, width) for grey
    n_superpixels : int, approximate number of superpixels
    random_state : int, seed of the search for regions that are not painted

    Attributes
    ----------
    shape : (height, width) of the image
    working_shape : (height, width) at which superpixels are computed
    superpixels : Superpixels

    Notes
    -----
    The result depends on the strokes alone, not on earlier calls: a stroke undone leaves no trace.
    A Segmenter may be used from several threads.

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
        self.superpixels = slic_superpixels(self._colour, n_superpixels)
        self._lock = Lock()
        self._last: tuple = ()  # the last superpixels, and their covariance
        self._last_full: tuple = ()  # the last superpixels, and their labels at full size

    def _cut(self, paint):
        """Return (Superpixels, K) cut by paint (h, w); the last K is kept for equal superpixels."""
        superpixels = cut(self.superpixels, self._colour, paint)
        with self._lock:
            last = self._last
        if last and np.array_equal(last[0].label, superpixels.label):
            return last
        found = superpixels, covariance(superpixels)
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
        seed = seeds(self.superpixels, paint, line)
        seen = np.unique(seed[seed > 0])  # a colour that is painted over does not count
        k = max(2, len(seen)) if n_regions is None else n_regions
        if k < len(seen):
            raise ValueError(
                f"strokes have {len(seen)} colours, more than {k} regions; ask for more regions, "
                "or draw with fewer colours"
            )
        superpixels, K = self._cut(seed)
        n = len(superpixels.size)
        if k > min(n, COLOURS):
            raise ValueError(
                f"{k} regions are too many for an image of {counted(n, 'superpixel')}; ask for at "
                f"most {min(n, COLOURS)}"
            )
        free = np.setdiff1d(np.arange(1, COLOURS + 1), seen)
        value = np.r_[seen, free[: k - len(seen)]].astype(np.uint8)
        y = np.full(n, -1)
        y[superpixels.label[seed > 0]] = np.searchsorted(seen, seed[seed > 0])
        rng = np.random.default_rng(self.random_state)
        f = scores(K, y, k, rng=rng, eps=paint_noise(superpixels, seed))
        return Solution(superpixels, f, value, seen, values)

    def _mask(self, strokes, solved, label):
        """Return the value of every pixel, given the superpixels of the pixels (height, width)."""
        found = solved.value[pixel_regions(solved.superpixels, solved.f, label)]
        paint = painted(strokes, solved.values, self.shape, label.shape)
        return np.where(np.isin(paint, solved.seen), paint, found)

    def regions(self, strokes, *, n_regions=None):
        """Return the Regions at the working size.

        Parameters
        ----------
        strokes : list of Stroke, in the order in which they were drawn
        n_regions : int, or None: as many as there are colours, at least two
        """
        solved = self._solve(strokes, n_regions)
        names = dict.fromkeys(solved.value.tolist())
        names |= {value: colour for colour, value in solved.values.items() if value in solved.seen}
        return Regions(self._mask(strokes, solved, solved.superpixels.label), names)

    def mask(self, strokes, *, n_regions=None):
        """Return the value of the region of every pixel at full size, uint8 (height, width)."""
        solved = self._solve(strokes, n_regions)
        with self._lock:
            last = self._last_full
        if not last or last[0] is not solved.superpixels:
            last = solved.superpixels, enlarge(self.rgb, solved.superpixels)
            with self._lock:
                self._last_full = last
        return self._mask(strokes, solved, last[1])
