"""Regions of superpixels of which some have no stroke, and the region of every pixel.

Every superpixel has a mean colour c and a mean place p. The covariance of affinity propagation [1]
is the mean of two: one along paths over adjacent superpixels, one between superpixels that look
alike, wherever they are:

    (1)  W_ij = exp(-|c_i - c_j|^2 / (2 s^2)) for adjacent superpixels; s^2 is .3 of the mean
    (2)  R = (I + t^2 (I - D^-1/2 W D^-1/2))^-1, scaled to R_ii = 1           t = 30
    (3)  K = (R + G) / 2,  G a Gaussian of (.3 p, c), sigma = 2 r

Constraints between some painted superpixels of each colour are propagated: must-links within a
colour, cannot-links between two (Algorithm A for two regions, B for more). The regions are then
(4) the spectral clusters of that affinity, started at the painted superpixels. A painted superpixel
always belongs to the colour that it is painted with. This finds regions that have no stroke. If
every region has one, ``random_walker`` scores the superpixels.

A superpixel belongs to one region as a whole. Where a border crosses an even area, such as a sky,
superpixels would give it steps. There the scores of similar superpixels nearby are blended at every
pixel x of superpixel i:

    (5)  f(x) = sum_j w_j f_j / sum_j w_j
         w_j = exp(-(|c_i - c_j|^2 + (m / s)^2 |x - p_j|^2) / (2 h^2))          h = .6 m

with m and s of SLIC (``slic``), and j over superpixel i and the eight nearest to it. Across an edge
w_j is nearly 0, and the border stays where the superpixels have it.

With n superpixels: O(n^3) once and O(n^2) memory, a moment for a few hundred; O(9 k) for each pixel
of a superpixel near a border in an even area.

[1] Lu & Carreira-Perpinan, Constrained spectral clustering through affinity propagation, CVPR 2008.
"""

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from linkwise.constraints import Constraints
from linkwise.embedding import spectral_basis, unit_rows
from linkwise.graph import GaussianAffinity, normalise
from linkwise.kernel import propagate
from linkwise.partition import kmeans, nearest_centre
from linkwise.partition.k_means import polish
from linkwise.segment.slic import BLOCK, COMPACTNESS, adjacent

SHARPNESS = 0.3  # s^2 over the mean of |c_i - c_j|^2: a mean difference then has the weight .19
LEAST = 1e-4  # weight of adjacent superpixels, so that none is cut off
T = 30.0  # R decays over about t / 2 superpixels of one colour, most of an image of 22 x 22
PLACE = 0.3  # weight of a hundredth of the longer side: all of it counts as 30 units of L*a*b*
WIDTH = "2r"  # wider than for plain spectral clustering, so that constraints reach further
EPS = 0.3  # e, relative to K_ii = 1: strokes count much, and one alone does not decide everything
FEW = 8  # painted superpixels of a colour in Eq. (4): constraints grow with the square of it
STEPS = 30  # of k-means at most; from such a start it needs fewer
NEAR = 9  # superpixels that are blended: one and about those around it
H = 0.6 * COMPACTNESS  # h, so that blending reaches .6 of the width of a superpixel
ALIKE = 1.5 * COMPACTNESS  # two superpixels whose colours differ more have an edge between them


def neighbours(superpixels):
    """Return W of Eq. (1), csr_array (n, n)."""
    ends, same = adjacent(superpixels.label)
    a, b = superpixels.label.ravel()[ends[~same]].T
    n = len(superpixels.size)
    pair = np.unique(np.minimum(a, b) * np.int64(n) + np.maximum(a, b))
    a, b = pair // n, pair % n
    D = ((superpixels.colour[a] - superpixels.colour[b]).astype(np.float64) ** 2).sum(axis=1)
    mean = D.mean() if len(D) and D.mean() > 0 else 1.0
    w = np.maximum(np.exp(-D / (2 * SHARPNESS * mean)), LEAST)
    return sparse.csr_array((np.r_[w, w], (np.r_[a, b], np.r_[b, a])), shape=(n, n))


def covariance(superpixels):
    """Return K of Eq. (3), (n, n)."""
    n = len(superpixels.size)
    if n < 2:
        return np.ones((n, n))
    S = normalise(neighbours(superpixels)).toarray()
    R = linalg.inv((1 + T**2) * np.eye(n) - T**2 * S)  # Eq. (2)
    scale = np.sqrt(np.diagonal(R))
    place = 100 * PLACE / max(superpixels.label.shape) * superpixels.place
    X = np.concatenate([place, superpixels.colour], axis=1).astype(np.float64)
    return (R / np.outer(scale, scale) + GaussianAffinity(X, WIDTH).W) / 2  # Eq. (3)


def _few(y):
    """Return the colours y with at most FEW superpixels of each, evenly spaced; -1 elsewhere."""
    few = np.full_like(y, -1)
    for c in np.unique(y[y >= 0]):
        rows = np.flatnonzero(y == c)
        chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(FEW, len(rows))).astype(int))]
        few[chosen] = c
    return few


def spectral_regions(K, y, k, rng):
    """Return labels (n,) in 0 ... k - 1 if some of these colours are not painted, Eq. (4).

    y : int array (n,), the colour of a superpixel, -1 if it is not painted
    """
    links = Constraints.from_labels(_few(y)).resolve(n=len(y))
    algorithm = "a" if k == 2 else "b"
    A = propagate(K, *links.arrays(), algorithm=algorithm, eps_must=EPS, eps_cannot=EPS).A
    Z = unit_rows(spectral_basis(A, k, rng).vectors)
    first = kmeans(Z, k, rng=rng)
    if not np.any(y >= 0):
        return first.labels
    centres = np.zeros((k, Z.shape[1]))
    centres[: len(first.centres)] = first.centres
    colours = np.unique(y[y >= 0])
    means = np.stack([Z[y == c].mean(axis=0) for c in colours])
    far = ((means[:, None] - centres) ** 2).sum(axis=2)
    row, column = linear_sum_assignment(far)  # each colour replaces a cluster of its own
    rest = np.setdiff1d(np.arange(k), column)
    start = np.empty_like(centres)
    start[colours[row]] = means[row]
    start[np.setdiff1d(np.arange(k), colours)] = centres[rest]
    return nearest_centre(Z, polish(Z, start, STEPS))


def regions(K, y, k, *, rng):
    """Return the region of every superpixel, int array (n,), 0 ... k - 1.

    Parameters
    ----------
    K : array (n, n), Eq. (3)
    y : int array (n,), 0 ... c - 1 for a painted superpixel, c <= k; -1 for the others
    k : int <= n, number of regions
    rng : numpy Generator
    """
    found = np.zeros(len(y), dtype=np.intp) if k == 1 else spectral_regions(K, y, k, rng)
    return np.where(y >= 0, y, found)


def nearest(superpixels):
    """Return the superpixels nearest to each by place, itself included, int (n, 9) or fewer."""
    count = min(NEAR, len(superpixels.size))
    return cKDTree(superpixels.place).query(superpixels.place, np.arange(1, count + 1))[1]


def colour_distances(superpixels, near):
    """Return |c_i - c_j|^2 for the superpixels j near each i, (n, 9)."""
    return ((superpixels.colour[:, None] - superpixels.colour[near]) ** 2).sum(axis=2)


def blended(superpixels, near, f, own, at):
    """Return the region, int (M,), of pixels at (row, column) in superpixels `own`, Eq. (5)."""
    C = colour_distances(superpixels, near)
    weight = np.float32((COMPACTNESS / superpixels.step) ** 2)
    total = np.zeros((len(own), f.shape[1]), dtype=np.float32)
    for c in range(near.shape[1]):
        j = near[own, c]
        D = C[own, c] + weight * ((at - superpixels.place[j]) ** 2).sum(axis=1)
        total += np.exp(-D / (2 * H**2))[:, None] * f[j]
    return total.argmax(axis=1)


def pixel_regions(superpixels, f, label):
    """Return the region of every pixel, int (height, width).

    Parameters
    ----------
    superpixels : Superpixels
    f : array (n, k), the score of each superpixel for each region
    label : int array (height, width), the superpixel of each pixel, at the working size or another
    """
    found = f.argmax(axis=1)
    out = found[label]
    if superpixels.step <= 1:  # every pixel is a superpixel
        return out
    near, f = nearest(superpixels), f.astype(np.float32)
    other = found[near] != found[:, None]
    which = np.any(other & (colour_distances(superpixels, near) < ALIKE**2), axis=1)
    (h, w), (height, width) = superpixels.label.shape, label.shape
    step = max(1, BLOCK // width)
    for start in range(0, height, step):
        part = label[start : start + step]
        row, column = np.nonzero(which[part])
        at = np.stack([(row + start + 0.5) * h / height, (column + 0.5) * w / width], axis=1) - 0.5
        own = part[row, column]
        out[row + start, column] = blended(superpixels, near, f, own, at.astype(np.float32))
    return out
