"""Borders where there is no edge: what pieces say, blended over their pixels.

A piece is of one region as a whole. Where a border crosses even ground, such as a sky, its pieces
would make stairs of it. There a pixel x of piece i hears the pieces around that look like its own:

    (1)  f(x) = sum_j w_j f_j / sum_j w_j
         w_j = exp(-(|c_i - c_j|^2 + (m / s)^2 |x - p_j|^2) / (2 h^2))          h = .6 m

with m, s, c and p of the superpixels, and j over piece i and the eight nearest to it. Across an
edge w_j is nothing and the border stays with the pixels. Cost: O(9 k) for a pixel of a piece near
such a border, nothing for the others.
"""

import numpy as np
from scipy.spatial import cKDTree

from linkwise.segment.slic import BLOCK, COMPACTNESS

NEAR = 9
H = 0.6 * COMPACTNESS
ALIKE = 1.5 * COMPACTNESS  # pieces further apart in colour than this have an edge between them


def around(pieces):
    """Return the pieces nearest to each by place, itself among them, int (n, 9) or fewer."""
    count = min(NEAR, len(pieces.size))
    return cKDTree(pieces.place).query(pieces.place, np.arange(1, count + 1))[1]


def apart(pieces, near):
    """Return |c_i - c_j|^2 for the pieces j near each i, (n, 9)."""
    return ((pieces.colour[:, None] - pieces.colour[near]) ** 2).sum(axis=2)


def heard(pieces, near, f, own, at):
    """Return the region, int (M,), of pixels at (row, column) in pieces `own`, Eq. (1)."""
    C = apart(pieces, near)
    weight = np.float32((COMPACTNESS / pieces.step) ** 2)
    total = np.zeros((len(own), f.shape[1]), dtype=np.float32)
    for c in range(near.shape[1]):
        j = near[own, c]
        D = C[own, c] + weight * ((at - pieces.place[j]) ** 2).sum(axis=1)
        total += np.exp(-D / (2 * H**2))[:, None] * f[j]
    return total.argmax(axis=1)


def blended(pieces, f, label):
    """Return the region of every pixel, int (height, width).

    Parameters
    ----------
    pieces : Pieces
    f : array (n, k), what each piece says of each region
    label : int array (height, width), the piece of each pixel, at the working size or another
    """
    found = f.argmax(axis=1)
    out = found[label]
    if pieces.step <= 1:  # pieces are pixels
        return out
    near, f = around(pieces), f.astype(np.float32)
    other = found[near] != found[:, None]
    which = np.any(other & (apart(pieces, near) < ALIKE**2), axis=1)
    (h, w), (height, width) = pieces.label.shape, label.shape
    step = max(1, BLOCK // width)
    for start in range(0, height, step):
        part = label[start : start + step]
        row, column = np.nonzero(which[part])
        at = np.stack([(row + start + 0.5) * h / height, (column + 0.5) * w / width], axis=1) - 0.5
        out[row + start, column] = heard(pieces, near, f, part[row, column], at.astype(np.float32))
    return out
