"""Whether a neighbour graph follows columns of 0 and 1, such as one-hot categories, alone.

Rows that differ in a category are at least sqrt(2) apart. If other columns differ by less, the
nearest neighbours of a row all have its categories, and the graph falls into the combinations of
categories. With A the columns of 0 and 1,

    (1)  share = part of the edges (i, j) with A_i = A_j

Cost: O(m d) for m sampled edges.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

FEWEST = 50  # rows; the graph of fewer may be complete
EDGES = 1000  # sampled
ENTRIES = 4_000_000  # of the rows at their ends, at most


class Agreement(NamedTuple):
    """How often rows agree in the columns of 0 and 1."""

    edges: float  # share of the edges, Eq. (1)
    chance: float  # the same share of arbitrary pairs
    columns: int  # number of these columns


def one_hot_agreement(X, W):
    """Return the Agreement of the ends of edges, or None if no column has only 0 and 1.

    Parameters
    ----------
    X : array or csr matrix (n, d)
    W : csr_array (n, n), the graph
    """
    n, d = X.shape
    if n < FEWEST or not W.nnz:
        return None
    m = int(max(1, min(EDGES, W.nnz, ENTRIES // (2 * d))))
    entry = np.linspace(0, W.nnz - 1, m).astype(np.int64)
    i = np.searchsorted(W.indptr, entry, side="right") - 1
    A, B = (_rows(X, ends) for ends in (i, W.indices[entry]))
    both = np.vstack([A, B])
    flags = ((both == 0) | (both == 1)).all(axis=0) & (both.min(axis=0) != both.max(axis=0))
    if not flags.any():
        return None
    A, B = A[:, flags], B[:, flags]
    agree = float((A == B).all(axis=1).mean())  # Eq. (1)
    chance = float((np.roll(B, m // 2, axis=0) == A).all(axis=1).mean())
    return Agreement(agree, chance, int(flags.sum()))


def _rows(X, rows):
    return X[rows].toarray() if sparse.issparse(X) else np.asarray(X[rows])
