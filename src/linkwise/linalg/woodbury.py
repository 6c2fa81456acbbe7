"""Condition a covariance on linear observations.

For f ~ N(0, K) and observations v_l^T f = 0 with noise variance e_l, the posterior covariance is

    (1)  (K^-1 + V E^-1 V^T)^-1  =  K - K V (E + V^T K V)^-1 V^T K  =  K - B B^T

with V = (v_1 ... v_L) and E = diag(e). The left side cannot be computed in floating point: a
Gaussian kernel matrix has condition numbers of 1e18 and more. The right side only needs the L x L
matrix G = E + V^T K V. Repeated observations make G singular as e -> 0; eigenvalues of G below a
cut-off are rounding errors and are left out.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

CUTOFF = 1e-13  # of the largest eigenvalue: some hundred roundings of float64


class Downdate(NamedTuple):
    B: np.ndarray  # (n, q): the posterior covariance is K - B B^T
    T: np.ndarray  # (L, q): B = K V T, so a new row k gives the new row k V T of B


def downdate(KV, G):
    """Return B and T of Eq. (1).

    Parameters
    ----------
    KV : array (n, L), the product K V
    G : array (L, L), the matrix E + V^T K V

    Raises
    ------
    ValueError if G is not positive semi-definite, that is, if K is not.
    """
    if not len(G):  # no observations; LAPACK takes no empty matrix
        return Downdate(KV, G)
    values, vectors = linalg.eigh(G)
    top = values[-1]
    if values[0] < -1e-7 * abs(top):
        raise ValueError("the affinity matrix is not positive semi-definite")
    keep = values > CUTOFF * top
    T = vectors[:, keep] / np.sqrt(values[keep])
    return Downdate(KV @ T, T)
