"""An image and its regions, for any sequence of strokes."""

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from linkwise._wording import counted
from linkwise.segment.colour import lab, shrink, working_shape
from linkwise.segment.random_walker import candidate_scores, edge_weights, grown, walk_scores
from linkwise.segment.region_scores import covariance, pixel_regions, regions
from linkwise.segment.seeds import colours_of, cut, seeds
from linkwise.segment.slic import Superpixels, enlarge, means, slic_superpixels
from linkwise.segment.strokes import COLOURS, covered, painted, values_of

SUPERPIXELS = 2000  # borders are a few pixels off at most, and a stroke takes less than .1 s
COARSE = 500  # superpixels to find regions without a stroke: time grows with their cube
WORKING = 1 << 18  # pixels of the working size: about 130 for each superpixel
PART = 0.25  # of the part that is painted: smaller ones that are not painted rarely belong to it
KEPT = 32  # states in memory, .8 MB each; undo and further strokes start from one of these


class Regions(NamedTuple):
    """Regions at the working size.

    Attributes
    ----------
    mask : uint8 array (h, w), the value of the region of each pixel, from 1 on
    names : dict, the colour of each value, None for a region that is not painted
    """

    mask: np.ndarray
    names: dict


class State(NamedTuple):
    """An image after some strokes, at the working size. Colours have numbers 1, 2, ... by age.

    Attributes
    ----------
    paint, line : uint8 arrays (h, w), the colour of painted pixels, and of the middle lines alone
    seen : int array, the colours that are not painted over
    region : uint8 array (h, w), the colour of the region of each pixel; None: too few colours
    """

    paint: np.ndarray
    line: np.ndarray
    seen: np.ndarray
    region: Any


def touching(region, paint, share):
    """Return regions of which every part touches a stroke of their colour, or is large.

    The pixels of other parts join the region of the nearest pixel of a part that stays. A region
    without a stroke stays.

    Parameters
    ----------
    region, paint : uint8 arrays (h, w); paint is 0 where nothing is painted
    share : float, a part is large from this share of the largest part that touches a stroke on
    """
    loose = np.zeros(region.shape, dtype=bool)
    for value in np.intersect1d(region, paint):
        part = ndimage.label(region == value)[0]
        size = np.bincount(part.ravel())
        held = np.zeros(len(size), dtype=bool)
        held[np.setdiff1d(part[paint == value], 0)] = True
        if held.any():
            held |= size >= share * size[held].max()
        held[0] = True  # pixels of other regions
        loose |= ~held[part]
    if not loose.any():
        return region
    at = ndimage.distance_transform_edt(loose, return_distances=False, return_indices=True)
    return region[tuple(at)]


def shown(paint, seen):
    """Return the paint (h, w) of the colours seen, 0 elsewhere."""
    return np.where(np.isin(paint, seen), paint, 0)


def over(paint, seen, region):
    """Return regions with the paint of the colours seen on top."""
    return np.where(np.isin(paint, seen), paint, region).astype(np.uint8)


def full_size(rgb, superpixels, colour, region):
    """Return regions (h, w) at the size of the image; pixels near their borders are assigned again.

    colour : array (h, w, 3), L*a*b* of the pixels at the working size
    """
    if region.shape == rgb.shape[:2]:
        return region
    pair = superpixels.label * np.int64(COLOURS + 1) + region
    values, label = np.unique(pair, return_inverse=True)
    label = label.reshape(region.shape)
    of = (values % (COLOURS + 1)).astype(np.uint8)
    pieces = Superpixels(label, superpixels.step, *means(label, colour, len(of)))
    return of[enlarge(rgb, pieces, region=of)]


class Segmenter:
    """Regions of an image by strokes.

    Parameters
    ----------
    rgb : uint8 array (height, width, 3), or (height, width) for grey
    n_superpixels : int, approximate number of superpixels
    random_state : int, seed of the search for regions that are not painted
    only_touching : bool, whether every part of a painted region must touch one of its strokes, and
        not only small parts

    Attributes
    ----------
    shape : (height, width) of the image
    working_shape : (height, width) at which superpixels are computed
    superpixels : Superpixels

    Notes
    -----
    The result depends on the sequence of strokes, not on earlier calls: a stroke undone leaves no
    trace. When every region has a stroke for the first time, small parts that touch no stroke of
    their colour join the region around them. A further stroke changes pixels to its own colour
    only, in one piece that the stroke touches; small parts that it cuts off join it. A Segmenter
    may be used from several threads.

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

    def __init__(self, rgb, *, n_superpixels=SUPERPIXELS, random_state=0, only_touching=False):
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
        self.rgb, self.random_state, self.only_touching = rgb, random_state, only_touching
        self.shape = rgb.shape[:2]
        self.working_shape = working_shape(self.shape, WORKING)
        self._colour = lab(shrink(rgb, self.working_shape))
        self.superpixels = slic_superpixels(self._colour, n_superpixels)
        self._weights = edge_weights(self.superpixels, self._colour)
        self._lock = Lock()
        self._states: OrderedDict = OrderedDict()  # by least number of colours and strokes so far
        self._coarse: Any = None  # superpixels to find regions without a stroke
        self._last: tuple = ()  # the last of these, cut, and their covariance

    def _scores(self, seed, seen):
        """Return (Superpixels, their scores (n, k) by random walks) for seeds (h, w)."""
        superpixels = cut(self.superpixels, self._colour, seed)
        W = self._weights
        if superpixels is not self.superpixels:
            W = edge_weights(superpixels, self._colour)
        y = colours_of(superpixels, seed, seen)
        return superpixels, walk_scores(superpixels, W, y, len(seen))

    def _next(self, state, stroke, number, least):
        """Return the State after one more stroke, whose colour has a number."""
        paint, line, on = state.paint.copy(), state.line.copy(), np.zeros_like(state.paint, bool)
        on[covered(stroke, self.shape, self.working_shape)] = True
        paint[on] = number
        line[covered(stroke._replace(width=0), self.shape, self.working_shape)] = number
        seed = seeds(self.superpixels, paint, line)
        seen = np.unique(seed[seed > 0])  # a colour that is painted over does not count
        if len(seen) < least:
            return State(paint, line, seen, None)
        superpixels, f = self._scores(seed, seen)
        begins = state.region is None or not np.isin(state.seen, seen).all()
        if begins or number not in seen:
            found = over(paint, seen, seen[pixel_regions(superpixels, f, superpixels.label)])
            found = touching(found, shown(paint, seen), PART)
        else:
            shifted = candidate_scores(superpixels, f, np.searchsorted(seen, number), on)
            candidate = seen[pixel_regions(superpixels, shifted, superpixels.label)] == number
            found = over(paint, seen, grown(state.region, candidate, on, number))
            left = touching(found, shown(paint, seen), PART)  # small parts that were cut off
            found = grown(state.region, left == number, on, number)
        return State(paint, line, seen, over(paint, seen, found))

    def _state(self, strokes, numbers, least):
        """Return the State after strokes, from the longest part of them that is known."""
        keys = [(least, *strokes[:length]) for length in range(len(strokes) + 1)]
        none = np.zeros(self.working_shape, dtype=np.uint8)
        state, known = State(none, none, np.zeros(0, dtype=np.uint8), None), 0
        with self._lock:
            for length in range(len(strokes), 0, -1):
                if keys[length] in self._states:
                    state, known = self._states[keys[length]], length
                    break
        for length in range(known, len(strokes)):
            stroke = strokes[length]
            state = self._next(state, stroke, numbers[stroke.colour], least)
            with self._lock:
                self._states[keys[length + 1]] = state
                while len(self._states) > KEPT:
                    self._states.popitem(last=False)
        return state

    def _covariance(self, state):
        """Return (coarse Superpixels cut by the strokes of a State, seeds, K); K is kept."""
        with self._lock:
            if self._coarse is None:
                n = min(COARSE, len(self.superpixels.size))
                self._coarse = slic_superpixels(self._colour, n)
            coarse, last = self._coarse, self._last
        seed = seeds(coarse, state.paint, state.line)
        superpixels = cut(coarse, self._colour, seed)
        if not last or not np.array_equal(last[0].label, superpixels.label):
            last = superpixels, covariance(superpixels)
            with self._lock:
                self._last = last
        return last[0], seed, last[1]

    def _with_unpainted(self, state, k):
        """Return regions (h, w) and their colours; those without a stroke get new numbers."""
        superpixels, seed, K = self._covariance(state)
        n = len(superpixels.size)
        if k > min(n, COLOURS):
            raise ValueError(
                f"{k} regions are too many for an image of {counted(n, 'superpixel')}; ask for at "
                f"most {min(n, COLOURS)}"
            )
        seen = np.unique(seed[seed > 0])
        free = np.setdiff1d(np.arange(1, COLOURS + 1), np.unique(state.paint))
        colours = np.r_[seen, free[: k - len(seen)]].astype(np.uint8)
        y = colours_of(superpixels, seed, seen)
        found = regions(K, y, k, rng=np.random.default_rng(self.random_state))
        f = np.eye(k)[found] - 1 / k
        region = colours[pixel_regions(superpixels, f, superpixels.label)]
        return over(state.paint, seen, region), colours

    def _solve(self, strokes, n_regions):
        """Return (regions at the working size, by value; values of colours; values painted)."""
        strokes = list(strokes)
        values = values_of([stroke.colour for stroke in strokes])
        numbers = {colour: i + 1 for i, colour in enumerate(values)}
        state = self._state(strokes, numbers, max(2, n_regions or 0))
        k = max(2, len(state.seen)) if n_regions is None else n_regions
        if k < len(state.seen):
            raise ValueError(
                f"strokes have {len(state.seen)} colours, more than {k} regions; ask for more "
                "regions, or draw with fewer colours"
            )
        region, colours = state.region, state.seen
        if region is None or len(colours) < k:
            region, colours = self._with_unpainted(state, k)
        if self.only_touching:
            region = touching(region, shown(state.paint, state.seen), np.inf)
        value = np.zeros(COLOURS + 1, dtype=np.uint8)
        for colour, number in numbers.items():
            if number in colours:
                value[number] = values[colour]
        painted_values = np.sort(value[value > 0])
        free = np.setdiff1d(np.arange(1, COLOURS + 1), painted_values)
        rest = [number for number in colours if not value[number]]
        value[rest] = free[: len(rest)]
        return value[region], values, painted_values

    def regions(self, strokes, *, n_regions=None):
        """Return the Regions at the working size.

        Parameters
        ----------
        strokes : list of Stroke, in the order in which they were drawn
        n_regions : int, or None: as many as there are colours, at least two
        """
        mask, values, seen = self._solve(strokes, n_regions)
        names = dict.fromkeys([*seen.tolist(), *np.setdiff1d(mask, seen).tolist()])
        names |= {value: colour for colour, value in values.items() if value in seen}
        return Regions(mask, names)

    def mask(self, strokes, *, n_regions=None):
        """Return the value of the region of every pixel at full size, uint8 (height, width)."""
        small, values, seen = self._solve(strokes, n_regions)
        found = full_size(self.rgb, self.superpixels, self._colour, small)
        return over(painted(strokes, values, self.shape, self.shape), seen, found)
