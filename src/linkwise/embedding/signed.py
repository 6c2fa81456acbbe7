"""Constrained spectral clustering by a signed Laplacian, cSC [1].

    (28)  Q_ij = +1 must-link, -1 cannot-link, 0 else; times the weight of the pair
    (41)  W'   = g W + (1 - g) Q
    (43)  d_i  = sum_j |W'_ij|                    signed degree of the mixture
    (44)  z    = the k lowest eigenvectors of I - D^-1/2 W' D^-1/2

For two clusters the paper uses the sign of the second vector, because the first is constant. That
is true only without cannot-links. With them, the first vector is the partition, and the second gets
worse as constraints are added. So the sign that keeps more constraints is used.

Equation numbers are the paper's. Cost: that of the graph plus the pairs.

[1] Wacquet, Poisson Caillault, Hamad & Hebert, Constrained spectral embedding for K-way data
    clustering, Pattern Recognition Letters 2013.
"""

import numpy as np

from linkwise.arrays import door, dtype_name
from linkwise.graph.anchors import AnchoredMatrix


def mean_weight(W):
    """Return the mean positive weight off the diagonal; of an anchor graph, weighted by itself."""
    if isinstance(W, AnchoredMatrix):
        return W.mean_weight()
    return door(W).positive_mean(W)


def mix_constraints(W, Q, balance, *, scale_constraints=False):
    """Return W' of Eq. (41), of the kind that W is.

    Parameters
    ----------
    W : array, csr_array or AnchoredMatrix (n, n), weights >= 0
    Q : csr_array (n, n), Eq. (28)
    balance : float in [0, 1], the g of Eq. (41): 1 = the data alone, 0 = the constraints alone
    scale_constraints : bool
        Multiply Q by the mean positive off-diagonal weight of W, so that the balance does not
        depend on the scale of the weights.
    """
    if scale_constraints:
        Q = Q * mean_weight(W)
    if isinstance(W, AnchoredMatrix):
        return balance * W + (1 - balance) * Q.astype(dtype_name(W))  # Eq. (41)
    return door(W).mixture(W, balance, Q, 1 - balance)


def two_way_labels(Z, kept):
    """Return the labels sign(z_1) or sign(z_2), whichever keeps more, and its column.

    A vector with one sign is no partition and does not count.

    Parameters
    ----------
    Z : array (n, 2), the two lowest eigenvectors of Eq. (44)
    kept : function (labels) -> number, the weight of the constraints that labels keep
    """
    first, second = ((Z[:, column] > 0).astype(np.int64) for column in (0, 1))
    if np.ptp(first) == 0:
        return second, 1
    if np.ptp(second) == 0 or kept(first) > kept(second):
        return first, 0
    return second, 1
