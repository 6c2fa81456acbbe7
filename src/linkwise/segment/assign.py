"""Pieces of a picture to regions, told by painted pieces.

Pieces have a mean colour c and place p. The covariance of affinity propagation [1] is half along
the picture, half by what pieces look like wherever they are:

    (1)  W_ij = exp(-|c_i - c_j|^2 / (2 s^2)) between pieces side by side; s^2 is .3 of the mean
    (2)  R = (I + t^2 (I - D^-1/2 W D^-1/2))^-1, scaled to R_ii = 1           t = 30
    (3)  K = (R + G) / 2,  G a Gaussian of (.3 p, c), sigma = 2 r

Painted pieces t of one colour must be together, of two colours not. If all of these links act
together on f ~ N(0, K) ("this colour, or another one"), the f of painted pieces are left one
degree of freedom, its sign; and the propagated affinity of a piece i with them has the sign of

    (4)  f_c = K_it (K_tt + E)^-1 y_c          y_c = 1 - 1/k where t has colour c, else -1/k

A piece goes with the colour of largest f_c. E is diagonal, e^2 where a stroke runs through a piece
and more where it only touches it, so that a touch on a border moves little. That holds when every
region is painted. Where there are more regions than colours, (5) links between some painted pieces
of each colour are propagated (Algorithm A for two regions, B for more), and the regions are
spectral clusters of that affinity, started at the painted pieces. Painted pieces are what they are
painted, always.

With n pieces: O(n^3) once, O(n^2) memory; a few hundred pieces take a moment.

[1] Lu & Carreira-Perpinan, Constrained spectral clustering through affinity propagation, CVPR 2008.
"""

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import linear_sum_assignment

from linkwise.constraints import Constraints
from linkwise.embedding import spectral_basis, unit_rows
from linkwise.graph import GaussianAffinity, normalise
from linkwise.kernel import propagate
from linkwise.partition import kmeans, nearest_centre
from linkwise.partition.k_means import polish
from linkwise.segment.slic import beside

SHARPNESS = 0.3  # of the mean squared difference of colour between neighbours
T = 30.0
PLACE = 0.3  # weight of the place, in units of L*a*b* for a hundredth of the picture
WIDTH = "2r"
EPS = 0.3
FEW = 8  # painted pieces of a colour that are linked, Eq. (5)
STEPS = 30  # of k-means


def neighbours(pieces):
    """Return W of Eq. (1), csr_array (n, n)."""
    ends, same = beside(pieces.label)
    a, b = pieces.label.ravel()[ends[~same]].T
    n = len(pieces.size)
    pair = np.unique(np.minimum(a, b) * np.int64(n) + np.maximum(a, b))
    a, b = pair // n, pair % n
    D = ((pieces.colour[a] - pieces.colour[b]).astype(np.float64) ** 2).sum(axis=1)
    mean = D.mean() if len(D) and D.mean() > 0 else 1.0
    w = np.maximum(np.exp(-D / (2 * SHARPNESS * mean)), 1e-4)  # no piece is cut off
    return sparse.csr_array((np.r_[w, w], (np.r_[a, b], np.r_[b, a])), shape=(n, n))


def covariance(pieces):
    """Return K of Eq. (3), (n, n)."""
    n = len(pieces.size)
    if n < 2:
        return np.ones((n, n))
    S = normalise(neighbours(pieces)).toarray()
    R = linalg.inv((1 + T**2) * np.eye(n) - T**2 * S)  # Eq. (2)
    scale = np.sqrt(np.diagonal(R))
    place = 100 * PLACE / max(pieces.label.shape) * pieces.place
    X = np.concatenate([place, pieces.colour], axis=1).astype(np.float64)
    return (R / np.outer(scale, scale) + GaussianAffinity(X, WIDTH).W) / 2  # Eq. (3)


def votes(K, t, y, k, *, eps=EPS):
    """Return f of Eq. (4), (n, k), for painted pieces t of colours y in 0 ... k - 1.

    eps : float, or array (t,), e of each
    """
    Y = np.eye(k)[y] - 1 / k
    E = np.diag(np.broadcast_to(np.square(eps), len(t)))
    return K[:, t] @ linalg.solve(K[np.ix_(t, t)] + E, Y, assume_a="pos")


def _few(y):
    """Return colours with all but FEW pieces of each, evenly spread, made -1."""
    few = np.full_like(y, -1)
    for c in np.unique(y[y >= 0]):
        rows = np.flatnonzero(y == c)
        chosen = rows[np.unique(np.linspace(0, len(rows) - 1, min(FEW, len(rows))).astype(int))]
        few[chosen] = c
    return few


def spectral_regions(K, y, k, rng):
    """Return labels (n,) in 0 ... k - 1 where some of these colours are not painted, Eq. (5).

    y : int array (n,), the colour of a piece, -1 unpainted
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
    row, column = linear_sum_assignment(far)  # each colour takes a cluster of its own
    rest = np.setdiff1d(np.arange(k), column)
    start = np.empty_like(centres)
    start[colours[row]] = means[row]
    start[np.setdiff1d(np.arange(k), colours)] = centres[rest]
    return nearest_centre(Z, polish(Z, start, STEPS))


def opinions(K, y, k, *, rng, eps=EPS):
    """Return what every piece says of every region.

    Parameters
    ----------
    K : array (n, n), Eq. (3)
    y : int array (n,), 0 ... c - 1 for a painted piece, c <= k; -1 for the others
    k : int <= n, number of regions
    rng : numpy Generator
    eps : float, or array (n,), e of Eq. (4)

    Returns
    -------
    array (n, k), largest at the region of the piece; that of a painted piece is its own colour
    """
    t = np.flatnonzero(y >= 0)
    if len(np.unique(y[t])) == k:
        f = votes(K, t, y[t], k, eps=np.broadcast_to(eps, len(y))[t])
    elif k == 1:
        f = np.zeros((len(y), 1))
    else:
        f = np.eye(k)[spectral_regions(K, y, k, rng)] - 1 / k
    f[t] = np.eye(k)[y[t]] - 1 / k
    return f


def regions(K, y, k, *, rng):
    """Return the region of every piece, int array (n,), 0 ... k - 1; see `opinions`."""
    return opinions(K, y, k, rng=rng).argmax(axis=1)
