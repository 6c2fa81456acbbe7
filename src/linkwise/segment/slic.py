"""Superpixels: small connected parts of an image with one colour each, after SLIC [1].

Centres start on a grid, one for every s x s pixels; each has a place p and a colour c (L*a*b*). In
turn, every pixel is assigned to the nearest of the nine centres around it, and every centre moves
to the mean of its pixels:

    (1)  D^2 = |c_i - c_k|^2 + (m / s)^2 |p_i - p_k|^2        m: compactness

A superpixel that is not connected is then split into its parts. Small parts join the adjacent
superpixel of the most similar colour, so that superpixels do not cross the borders of objects. In
an image with few pixels, every pixel is a superpixel.

The superpixels of a large image are computed at a smaller working size. At full size (`enlarge`)
every pixel near a border is assigned again by (1), among the superpixels around its place, so that
borders follow the pixels. Cost: O(9 N) an iteration for N pixels of the working size, whatever the
number of superpixels; at full size O(9) for a pixel near a border.

[1] Achanta et al., SLIC superpixels compared to state-of-the-art superpixel methods, PAMI 2012.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linkwise.segment.colour import lab

COMPACTNESS = 10.0  # m, in units of L*a*b*, the value of the paper
ITERATIONS = 8  # the paper has 10; superpixels hardly change after a few
PIXELS = 1.5  # pixels for a superpixel, at least; with fewer, every pixel is a superpixel
PASSES = 6  # of joining small parts: the part that one joins may be small itself
SMALL = 4  # parts smaller than a quarter of the mean size join another; larger ones stay
BLOCK = 1 << 20  # pixels at full size at a time, to bound memory
AROUND = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]


class Superpixels(NamedTuple):
    """Superpixels of an image at its working size.

    Attributes
    ----------
    label : int array (h, w), 0 ... n - 1
    step : float, s of Eq. (1)
    colour : float32 array (n, 3), mean L*a*b*
    place : float32 array (n, 2), mean (row, column)
    size : int array (n,), pixels
    """

    label: np.ndarray
    step: float
    colour: np.ndarray
    place: np.ndarray
    size: np.ndarray


def means(label, colour, n):
    """Return (colour (n, 3), place (n, 2), size (n,)): the mean of the pixels of each label."""
    flat = label.ravel()
    size = np.bincount(flat, minlength=n)
    row, column = np.indices(label.shape, dtype=np.float32)
    values = [*np.moveaxis(colour, -1, 0), row, column]
    total = np.stack([np.bincount(flat, v.ravel(), minlength=n) for v in values], axis=1)
    mean = (total / np.maximum(size, 1)[:, None]).astype(np.float32)
    return mean[:, :3], mean[:, 3:], size


def _grid(shape, step):
    """Return the cell of each row, and of each column, in a grid of cells of about s x s."""
    counts = [max(1, round(side / step)) for side in shape]
    return [np.arange(side) * count // side for side, count in zip(shape, counts, strict=True)]


def _choose(colour, gi, gj, centres, weight):
    """Return the number of the nearest among the nine centres around each pixel, Eq. (1)."""
    rows, columns = centres.shape[:2]
    place = np.indices(colour.shape[:2], dtype=np.float32)
    best = np.full(colour.shape[:2], np.inf, dtype=np.float32)
    label = np.zeros(colour.shape[:2], dtype=np.int32)
    for dy, dx in AROUND:
        i, j = gi + dy, gj + dx
        ok = ((i >= 0) & (i < rows))[:, None] & ((j >= 0) & (j < columns))
        i, j = np.clip(i, 0, rows - 1), np.clip(j, 0, columns - 1)
        near = centres[i][:, j]  # (h, w, 5)
        D = np.zeros_like(best)
        for axis in range(3):
            D += (colour[..., axis] - near[..., axis]) ** 2
        for axis in range(2):
            D += weight * (place[axis] - near[..., 3 + axis]) ** 2
        take = ok & (best > D)
        best = np.where(take, D, best)
        label = np.where(take, i[:, None] * columns + j, label)
    return label


def adjacent(label):
    """Return the numbers of adjacent pixels (m, 2), and whether their labels agree (m,)."""
    number = np.arange(label.size).reshape(label.shape)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    ends = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    flat = label.ravel()
    return ends, flat[ends[:, 0]] == flat[ends[:, 1]]


def _components(ends, n):
    graph = sparse.coo_array((np.ones(len(ends), dtype=np.int8), tuple(ends.T)), shape=(n, n))
    return connected_components(graph.tocsr(), directed=False)[1]


def connected(label, colour, least):
    """Return labels 0 ... n - 1 of connected parts; those smaller than `least` join another."""
    ends, same = adjacent(label)
    part = _components(ends[same], label.size)
    mean, _, size = means(part.reshape(label.shape), colour, part.max() + 1)
    a, b = part[ends[~same]].T
    a, b = np.r_[a, b], np.r_[b, a]
    small = size[a] < least
    a, b = a[small], b[small]
    D = ((mean[a] - mean[b]) ** 2).sum(axis=1)
    order = np.lexsort([b, -D, a])  # the part most similar to each small one comes last
    last = np.flatnonzero(np.r_[np.diff(a[order]) != 0, True]) if len(a) else order
    joined = _components(np.stack([a[order][last], b[order][last]], axis=1), len(size))
    found = joined[part].reshape(label.shape)
    return np.unique(found, return_inverse=True)[1].reshape(label.shape)


def slic_superpixels(colour, n, *, compactness=COMPACTNESS, iterations=ITERATIONS):
    """Return about n superpixels of an image in L*a*b*, float32 (h, w, 3), as Superpixels."""
    h, w = colour.shape[:2]
    step = max((h * w / n) ** 0.5, max(h, w) / n)  # a thin image has one row of them
    if h * w <= PIXELS * n:
        label, step = np.arange(h * w).reshape(h, w), 1.0
        return Superpixels(label, step, *means(label, colour, h * w))
    gi, gj = _grid((h, w), step)
    columns = gj[-1] + 1
    label = gi[:, None] * columns + gj
    shape = gi[-1] + 1, columns, 5
    weight = np.float32((compactness / step) ** 2)
    centres = np.zeros((shape[0] * columns, 5), dtype=np.float32)
    for _ in range(iterations):
        c, p, size = means(label, colour, shape[0] * columns)
        fresh = np.concatenate([c, p], axis=1)
        centres = np.where(size[:, None] > 0, fresh, centres)
        label = _choose(colour, gi, gj, centres.reshape(shape), weight)
    for _ in range(PASSES):
        label = connected(label, colour, h * w / n / SMALL)
    return Superpixels(label, step, *means(label, colour, label.max() + 1))


def enlarge(rgb, superpixels, *, region=None, compactness=COMPACTNESS):
    """Return the label of every pixel of the full-size image, int32 (height, width).

    Pixels near a border between superpixels are assigned again. With `region`, an array (n,), only
    borders between superpixels of two regions count.
    """
    height, width = rgb.shape[:2]
    label = superpixels.label.astype(np.int32)
    h, w = label.shape
    if (h, w) == (height, width):
        return label
    padded = np.pad(label, 1, mode="edge")
    around = [padded[1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w] for dy, dx in AROUND]
    of = np.arange(len(superpixels.size)) if region is None else np.asarray(region)
    border = np.any([of[near] != of[label] for near in around], axis=0)
    weight = np.float32((compactness / superpixels.step) ** 2)
    column = (np.arange(width) * w) // width
    out = np.empty((height, width), dtype=np.int32)
    step = max(1, BLOCK // width)
    for start in range(0, height, step):
        rows = np.arange(start, min(start + step, height))
        row = rows * h // height
        out[rows] = label[row][:, column]
        y, x = np.nonzero(border[row][:, column])
        i, j = row[y], column[x]
        at = np.stack([(rows[y] + 0.5) * h / height - 0.5, (x + 0.5) * w / width - 0.5], axis=1)
        colour, at = lab(rgb[rows[y], x]), at.astype(np.float32)
        best = np.full(len(y), np.inf, dtype=np.float32)
        for near in around:
            k = near[i, j]
            D = ((colour - superpixels.colour[k]) ** 2).sum(axis=1)
            D += weight * ((at - superpixels.place[k]) ** 2).sum(axis=1)  # Eq. (1)
            take = best > D
            out[rows[y[take]], x[take]] = k[take]
            best = np.minimum(best, D)
    return out
