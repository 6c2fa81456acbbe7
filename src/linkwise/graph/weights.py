"""Weights from distances.

    (1)  w_ij = exp(-d_ij^2 / (2 sigma^2))          one width for all
    (2)  w_ij = exp(-d_ij^2 / (s_i s_j))            local scaling [1]: s_i = distance from i to
                                                    its 7th neighbour

The unit of sigma is r, which is taken from the data. On a neighbour graph it is the mean distance
to the k-th neighbour, as in CCSKL. For a dense Gaussian it is the median distance to the 7th
neighbour, which a few outliers do not change.

[1] Zelnik-Manor & Perona, Self-tuning spectral clustering, NIPS 2004.
"""

import re
from numbers import Real

from linkwise.arrays import door, namespace
from linkwise.graph.neighbours import nearest_neighbours

LOCAL_NEIGHBOUR = 7  # as in [1]
SOME = 500  # points whose distances are averaged where every point has several copies
_FACTOR = re.compile(r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)?(?:(?<=[0-9.])e[+-]?[0-9]+)?)\s*\*?\s*r\s*")


def resolve_sigma(sigma, r):
    """Return the width that ``sigma`` names: a number, or "r", "0.5r", "2r" times ``r``.

    >>> resolve_sigma("2r", 0.25), resolve_sigma("r", 0.25), resolve_sigma(3, 0.25)
    (0.5, 0.25, 3.0)
    """
    if isinstance(sigma, str):
        match = _FACTOR.fullmatch(sigma)
        if match is None:
            raise ValueError(
                f'sigma must be a positive number, "r", a multiple such as "0.5r", or "local"; '
                f"got {sigma!r}"
            )
        sigma = float(match[1] or 1) * r
        if sigma == 0 and r == 0:  # all points coincide: every width gives the same weights
            return 1.0
    if isinstance(sigma, bool) or not (isinstance(sigma, Real) and 1e-150 < float(sigma) < 1e150):
        raise ValueError(
            f"sigma must be positive and finite; got {float(sigma):g} (scale X to ordinary numbers "
            "if you did not set it)"
        )
    return float(sigma)


def gaussian(distances, sigma):
    """Return the weights of Eq. (1), in the dtype of the distances."""
    scaled = distances / sigma
    return namespace(distances).exp(-0.5 * scaled * scaled)


def local_scales(distances):
    """Return s of Eq. (2) from the sorted neighbour distances (n, k >= 1).

    If a point coincides with its 7th neighbour, s would be 0 and would cut it off from all others.
    It gets the smallest positive scale of the data instead; if there is none, the smallest positive
    distance.
    """
    s = distances[:, min(LOCAL_NEIGHBOUR, distances.shape[1]) - 1]
    xp = namespace(s)
    positive = s[s > 0]
    if not len(positive):
        positive = distances[distances > 0]
    floor = xp.min(positive) if len(positive) else xp.ones_like(s)
    return xp.where(s < floor, floor, s)


def local_scaling(distances, s_row, s_column):
    """Return the weights of Eq. (2); the two scales broadcast against the distances."""
    return namespace(distances).exp(-(distances / s_row) * (distances / s_column))


def median_scale(X):
    """Return r of a dense Gaussian: the median distance to the 7th neighbour.

    If most of these are 0 it is their mean, and if all are, the mean distance of points. It is
    positive unless all points coincide.
    """
    if X.shape[0] < 2:
        return 1.0
    distances = nearest_neighbours(X, LOCAL_NEIGHBOUR).distances[:, -1]
    r = float(door(distances).median(distances)) or _mean(distances)
    some = X[:: -(-X.shape[0] // SOME)]
    return r or _mean(nearest_neighbours(some, max(some.shape[0] - 1, 1)).distances)


def _mean(distances):
    return float(door(distances).cast(distances, "float64").mean())


def symmetrise(indices, weights):
    """Return the sparse matrix with an edge wherever one end lists the other.

    Distance 0 gives weight 1, an edge like any other; only weights that underflow are lost.
    """
    return door(weights).symmetric_maximum(indices, weights)
