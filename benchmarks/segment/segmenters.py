"""Linkwise and other ways from strokes to regions."""

import numpy as np
from scipy.spatial import cKDTree

from linkwise.segment import Segmenter, lab, painted, values_of


def paint_of(strokes, shape):
    """Return the number of the stroke's colour at every painted pixel, else 0."""
    return painted(strokes, values_of([stroke.colour for stroke in strokes]), shape, shape)


def nearest(rgb):
    """Return a method: the colour of the nearest painted pixel, by L*a*b* and place."""
    shape = rgb.shape[:2]
    X = np.concatenate([lab(rgb), 30 / max(shape) * np.moveaxis(np.indices(shape), 0, -1)], axis=2)

    def mask(strokes):
        paint = paint_of(strokes, shape)
        on = paint > 0
        return paint[on][cKDTree(X[on]).query(X.reshape(-1, 5))[1]].reshape(shape)

    return mask


def walker(rgb):
    """Return a method: the random walker of scikit-image."""
    from skimage.segmentation import random_walker

    shape = rgb.shape[:2]

    def mask(strokes):
        paint = paint_of(strokes, shape)
        return random_walker(rgb / 255, paint.astype(int), beta=130, mode="cg_j", channel_axis=-1)

    return mask


def grabcut(rgb):
    """Return a method for two regions: GrabCut of OpenCV, background until painted otherwise."""
    import cv2

    def mask(strokes):
        paint = paint_of(strokes, rgb.shape[:2])
        state = np.full(paint.shape, cv2.GC_PR_BGD, np.uint8)
        state[paint == 1], state[paint == 2] = cv2.GC_BGD, cv2.GC_FGD
        cv2.setRNGSeed(0)
        models = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(rgb[..., ::-1].copy(), state, None, *models, 5, cv2.GC_INIT_WITH_MASK)
        return np.where((state == cv2.GC_FGD) | (state == cv2.GC_PR_FGD), 2, 1)

    return mask


def methods_for_two():
    """Return `methods` and, where OpenCV can be imported, those for two regions only."""
    try:
        import cv2  # noqa: F401
    except ImportError:
        return methods()
    return methods() | {"GrabCut": grabcut}


def methods():
    """Return {name: function(rgb) -> function(strokes) -> mask} of what can be imported."""
    found = {"linkwise": lambda rgb: Segmenter(rgb).mask, "nearest colour": nearest}
    try:
        import skimage.segmentation  # noqa: F401
    except ImportError:
        return found
    return found | {"random walker": walker}
