"""A user who knows the regions: strokes through the largest mistakes."""

import numpy as np
from scipy import ndimage

from linkwise.segment import Stroke

MOST = 16  # strokes after the first ones


def stroke_through(wrong, region):
    """Return a stroke through the largest wrong patch, along its longer way at its middle."""
    patches = [ndimage.label(wrong & (region == r))[0] for r in np.unique(region)]
    sizes = [np.bincount(patch.ravel())[1:] for patch in patches]
    r = int(np.argmax([size.max(initial=0) for size in sizes]))
    patch = patches[r] == 1 + np.argmax(sizes[r])
    depth = ndimage.distance_transform_edt(np.pad(patch, 1))[1:-1, 1:-1]
    at = np.unravel_index(depth.argmax(), depth.shape)
    ends = []
    for line, middle in ((patch[at[0]], at[1]), (patch[:, at[1]], at[0])):
        outside = np.flatnonzero(~np.pad(line, 1)) - 1
        ends.append((outside[outside < middle].max() + 1, outside[outside > middle].min() - 1))
    across = ends[0][1] - ends[0][0] >= ends[1][1] - ends[1][0]
    low, high = ends[0] if across else ends[1]
    inset = min(3, (high - low) // 3)
    run = (low + inset + 0.5, high - inset + 0.5)
    points = [(end, at[0] + 0.5) if across else (at[1] + 0.5, end) for end in run]
    return Stroke(str(r + 1), tuple(points), 3 if depth.max() > 4 else 0)


def overlap(mask, region, *, most):
    """Return the intersection over union of region 1 after two strokes and after each more.

    most : int, strokes in all
    """
    strokes = [stroke_through(region == r, region) for r in (1, 0)]
    found: list = []
    while True:
        inside, wanted = mask(strokes) == 2, region == 1
        found.append(float((inside & wanted).sum() / (inside | wanted).sum()))
        wrong = inside != wanted
        if len(strokes) >= most or not wrong.any():
            return found
        strokes.append(stroke_through(wrong, region))


def user(mask, region, most=MOST):
    """Return (errors after the first strokes and after each more, strokes, the last regions)."""
    strokes = [stroke_through(region == r, region) for r in np.unique(region)]
    errors: list = []
    while True:
        found = mask(strokes)
        wrong = found != region + 1
        errors.append(float(wrong.mean()))
        if len(errors) > most or not wrong.any():
            return errors, strokes, found
        strokes.append(stroke_through(wrong, region))
