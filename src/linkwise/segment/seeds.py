"""Which superpixels strokes paint.

A superpixel is painted with one colour at most: one that strokes of two colours cross is cut. The
middle line of a stroke paints what it runs through. The rest of a wide brush paints only
superpixels that it mostly covers, as it may lie across an edge.
"""

import numpy as np
from scipy.spatial import cKDTree

from linkwise.segment.slic import COMPACTNESS, Superpixels, means


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


def colours_of(superpixels, seed, seen):
    """Return the position in seen of the colour of every superpixel, int (n,); -1 for none."""
    y = np.full(len(superpixels.size), -1)
    on = seed > 0
    y[superpixels.label[on]] = np.searchsorted(seen, seed[on])
    return y
