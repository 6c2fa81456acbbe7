"""Pictures as points, by NumPy alone: what is where, which shapes there are, which colours.

A picture has 64 x 64 pixels. At every pixel the colour channel with the largest gradient gives its
length m and its direction, without a sign.

    (1)  histograms of oriented gradients [1]: m summed by 9 directions in 8 x 8 cells; each block
         of 2 x 2 cells scaled to length 1, cut off at .2, and scaled again
    (2)  pairs of gradients: with o_d = sqrt(m) where the direction is d (of 8), else 0,
         C_de(s) = sum_x o_d(x) o_e(x + s), by Fourier transforms; s pooled on a grid of 8 x 8
    (3)  colours: red, green and blue of 4 x 4 cells

(1) compares what is at the same place, as in aligned faces. (2) does not change when things move,
and tells their shapes apart. (3) counts half. Each part has mean squared length 1 around its mean;
the points are the projections on the first singular vectors of all three.

Cost: about 15 ms and 16 kB for a picture.

[1] Dalal & Triggs, Histograms of oriented gradients for human detection, CVPR 2005.
"""

import numpy as np
from scipy import fft

SIDE = 64  # pixels across: enough for shapes, and a few milliseconds for a picture
CELLS, DIRECTIONS = 8, 9  # of Eq. (1), as in the paper
PAIRED = 8  # directions of Eq. (2): the pairs grow with their square
GRID, STEP = 8, 12  # of the shifts s: 8 x 8 cells, 12 pixels each, around no shift
COARSE = 4  # cells across of Eq. (3)
COLOUR = 0.5  # weight of Eq. (3): light and background change colours, not shapes
CUT = 0.2  # of Eq. (1), as in the paper
LEAST = 1e-2  # added to squared lengths, so that an even area stays near 0
DIMENSIONS = 50  # singular vectors; later ones are noise


def gradients(pixels):
    """Return (m, direction in 0 ... 1) of pixels, uint8 (64, 64, 3), each (64, 64)."""
    dy, dx = np.gradient(pixels.astype(np.float64) / 255, axis=(0, 1))
    m = np.hypot(dx, dy)
    channel = m.argmax(axis=2)[..., None]
    dx, dy, m = (np.take_along_axis(v, channel, 2)[..., 0] for v in (dx, dy, m))
    return m, np.arctan2(dy, dx) % np.pi / np.pi


def _pooled(values, cells):
    """Return the sums of (..., h, w) over cells x cells boxes."""
    *first, h, w = values.shape
    return values.reshape(*first, cells, h // cells, cells, w // cells).sum(axis=(-3, -1))


def _unit(values):
    return values / np.sqrt((values**2).sum(axis=-1, keepdims=True) + LEAST)


def oriented_histograms(m, direction):
    """Return the values of Eq. (1), length 7 * 7 * 4 * 9."""
    at = direction * DIRECTIONS
    low, part = np.floor(at).astype(int) % DIRECTIONS, at - np.floor(at)
    each = np.arange(DIRECTIONS)[:, None, None]
    share = np.where(low == each, 1 - part, 0) + np.where((low + 1) % DIRECTIONS == each, part, 0)
    H = np.moveaxis(_pooled(m * share, CELLS), 0, -1)  # (8, 8, 9)
    last = CELLS - 1
    corners = [H[i : last + i, j : last + j] for i in (0, 1) for j in (0, 1)]
    blocks = _unit(np.minimum(_unit(np.concatenate(corners, axis=-1)), CUT))
    return blocks.ravel()


def gradient_pairs(m, direction):
    """Return the values of Eq. (2), as square roots, length 36 * 8 * 8."""
    size = 2 * SIDE  # without wrapping around
    d = np.minimum((direction * PAIRED).astype(int), PAIRED - 1)
    o = np.sqrt(m) * (d == np.arange(PAIRED)[:, None, None])
    F = fft.rfft2(o, s=(size, size))
    first, second = np.triu_indices(PAIRED)
    C = fft.irfft2(F[first] * np.conj(F[second]), s=(size, size))
    half = GRID * STEP // 2
    near = np.fft.fftshift(C, axes=(1, 2))[:, SIDE - half : SIDE + half, SIDE - half : SIDE + half]
    return np.sqrt(np.maximum(_pooled(near, GRID), 0)).ravel()


def features(pixels):
    """Return the three parts of a picture, uint8 (64, 64, 3), as float32 arrays."""
    m, direction = gradients(pixels)
    shapes, pairs = oriented_histograms(m, direction), gradient_pairs(m, direction)
    colours = _pooled(np.moveaxis(pixels / 255, -1, 0), COARSE).ravel()
    parts = (v / max(np.linalg.norm(v), 1e-9) for v in (shapes, pairs))
    return tuple(part.astype(np.float32) for part in (*parts, colours))


def _scaled(part):
    part = part - part.mean(axis=0)
    length = np.sqrt((part**2).sum(axis=1).mean())
    return part / length if length > 0 else part


def picture_points(pictures):
    """Return pictures as points, (n, d), d at most 50.

    pictures : iterable of uint8 arrays (64, 64, 3)
    """
    from sklearn.utils.extmath import randomized_svd

    shapes, pairs, colours = (
        _scaled(np.stack(part)) for part in zip(*map(features, pictures), strict=True)
    )
    X = np.hstack([shapes, pairs, COLOUR * colours])
    U, s, _ = randomized_svd(X, min(DIMENSIONS, *X.shape), random_state=0)
    return (U * s).astype(np.float64)
