"""Scores of superpixels by random walks that end at strokes [1], with the colours of strokes [2].

Every superpixel i has a mean colour c_i, a mean place p_i, and b_ij pairs of adjacent pixels with
its neighbour j. Let d_ij be the mean squared difference of colour over these pairs.

    (1)  w_ij = b_ij exp(-(|c_i - c_j|^2 / mean + d_ij / mean) / 2)
    (2)  q_ir = mean of the three smallest |x_i - x_j|^2 over superpixels j painted with colour r
         x = (c, .1 p)
    (3)  u_ir ~ exp(-q_ir / 2 s^2), with sum 1 over r               what its colour says
         g_i = .005 mean_j D_jj exp(-min_r q_ir / 2 (3 s)^2)        how much that counts
    (4)  f minimises  sum_ij w_ij |f_i - f_j|^2 / 2 + sum_i g_i |f_i - u_i|^2
         with f_ir = 1 where i is painted with r, and 0 for its other colours

A superpixel that looks like no stroke has a small g, so that only the walks decide on it. The
solution of (4) is one sparse linear system:

    (5)  (D + G - W) f = G u                       in the rows that are not painted

A further stroke corrects what it touches. If its colour is r and its length is l, then superpixel i
at the distance e from it is a candidate if r is largest in

    (6)  f_is - [s = r] 2 (.1 + .2 e / (e + l))

A pixel changes to r if it is a candidate and if candidates that were not r before connect it with
the stroke. So a stroke changes pixels to its own colour only, in one piece, and the margin in (6)
keeps a short stroke from taking a large area that is nearly as likely to be something else.

With n superpixels: about O(n^1.5) time and O(n) memory besides the distances to painted ones.

[1] Grady, Random walks for image segmentation, IEEE PAMI 28, 2006.
[2] Grady, Multilabel random-walker image segmentation using prior models, CVPR 2005.
"""

import numpy as np
from scipy import ndimage, sparse
from scipy.sparse.linalg import splu

from linkwise.segment.slic import adjacent

LEAST = 1e-4  # of a weight, relative to b_ij, so that no superpixel is cut off
NEAREST = 3  # painted superpixels whose colours are compared: one may be an exception
PLACE = 0.1  # weight of a hundredth of the longer side: all of it counts as 10 units of L*a*b*
WIDTH = 8.0  # s in units of L*a*b*: colours that differ by more are plainly different
TRUST = 0.005  # of the mean degree: a colour alone decides only where walks are undecided
MARGIN, FAR_MARGIN = 0.1, 0.2  # of Eq. (6); smaller ones let a stroke leak over weak edges


def edge_weights(superpixels, colour):
    """Return W of Eq. (1), csr_array (n, n).

    colour : float array (h, w, 3), L*a*b* of the pixels
    """
    n, flat = len(superpixels.size), superpixels.label.ravel()
    ends, same = adjacent(superpixels.label)
    ends = ends[~same]
    pixel = colour.reshape(-1, 3)
    d = ((pixel[ends[:, 0]] - pixel[ends[:, 1]]) ** 2).sum(axis=1)
    a, b = flat[ends].T
    key = np.minimum(a, b) * np.int64(n) + np.maximum(a, b)
    pair, inverse = np.unique(key, return_inverse=True)
    i, j = pair // n, pair % n
    count = np.bincount(inverse, minlength=len(pair)).astype(np.float64)
    D = ((superpixels.colour[i] - superpixels.colour[j]) ** 2).sum(axis=1)
    across = np.bincount(inverse, d, minlength=len(pair)) / np.maximum(count, 1)
    w = count * (np.exp(-(_relative(D) + _relative(across)) / 2) + LEAST)
    return sparse.csr_array((np.r_[w, w], (np.r_[i, j], np.r_[j, i])), shape=(n, n))


def _relative(values):
    """Return values over their mean; zeros if all are zero."""
    mean = values.mean() if len(values) else 0.0
    return values / mean if mean > 0 else np.zeros_like(values)


def colour_evidence(superpixels, y, k):
    """Return (q, u) of Eqs. (2) and (3), each (n, k).

    y : int array (n,), the colour that a superpixel is painted with, 0 ... k - 1; -1 for none
    """
    place = 100 * PLACE / max(superpixels.label.shape) * superpixels.place
    X = np.concatenate([superpixels.colour, place], axis=1).astype(np.float64)
    square = (X**2).sum(axis=1)
    q = np.empty((len(X), k))
    for r in range(k):
        t = np.flatnonzero(y == r)
        D = np.maximum(square[:, None] + square[t] - 2 * X @ X[t].T, 0)
        few = min(NEAREST, len(t))
        q[:, r] = np.partition(D, few - 1, axis=1)[:, :few].mean(axis=1)
    u = np.exp(-(q - q.min(axis=1, keepdims=True)) / (2 * WIDTH**2))
    return q, u / u.sum(axis=1, keepdims=True)


def walk_scores(superpixels, W, y, k):
    """Return f of Eq. (4), float (n, k); every colour is painted somewhere.

    Parameters
    ----------
    superpixels : Superpixels
    W : csr_array (n, n), `edge_weights`
    y : int array (n,), the colour that a superpixel is painted with, 0 ... k - 1; -1 for none
    k : int, number of colours
    """
    f = np.zeros((len(y), k))
    on = y >= 0
    f[on, y[on]] = 1
    free = np.flatnonzero(~on)
    if len(free) == 0:
        return f
    q, u = colour_evidence(superpixels, y, k)
    D = W.sum(axis=1)
    g = TRUST * D.mean() * np.exp(-q.min(axis=1) / (2 * (3 * WIDTH) ** 2))  # Eq. (3)
    rows = W[free]
    A = sparse.diags_array(D[free] + g[free]) - rows[:, free]
    right = g[free, None] * u[free] + rows @ f
    f[free] = splu(A.tocsc()).solve(right)  # Eq. (5)
    return f


def candidate_scores(superpixels, f, r, stroke):
    """Return the scores of Eq. (6), (n, k), for a stroke of colour r.

    stroke : bool array (h, w), the pixels under it
    """
    row, column = np.nonzero(stroke)
    length = 1 + max(np.ptp(row), np.ptp(column))
    at = np.rint(superpixels.place).astype(int)
    e = ndimage.distance_transform_edt(~stroke)[at[:, 0], at[:, 1]]
    shifted = f.copy()
    shifted[:, r] -= 2 * (MARGIN + FAR_MARGIN * e / (e + length))
    return shifted


def grown(before, candidate, stroke, value):
    """Return regions (h, w) in which one region grew from a stroke.

    Parameters
    ----------
    before : uint8 array (h, w), the regions without the stroke
    candidate : bool array (h, w), the pixels that may join its region
    stroke : bool array (h, w), the pixels under it
    value : int, its region
    """
    part = ndimage.label((candidate | stroke) & (before != value))[0]
    touched = np.zeros(part.max() + 1, dtype=bool)
    touched[part[stroke]] = True
    touched[0] = False
    return np.where(touched[part] | stroke, np.uint8(value), before)
