"""Write constraints into the affinity itself, spectral learning [1].

    (1)  W'_ij = 1 for a must-link, 0 for a cannot-link, W_ij elsewhere
    (2)  N = (W' + d_max I - D) / d_max         Kamvar's additive normalisation
    (3)  S = D^-1/2 W' D^-1/2                   the usual one, as later papers describe it

1 is the affinity of equal points; where a given affinity has larger entries, its largest. Nothing
is learnt about pairs that were not mentioned. Cost: that of the graph.

[1] Kamvar, Klein & Manning, Spectral learning, IJCAI 2003.
"""

import numpy as np
from scipy import sparse

from linkwise.graph.anchors import AnchoredMatrix


def impose(W, i, j, sign):
    """Return W' of Eq. (1), of the kind that W is.

    Parameters
    ----------
    W : array, csr_array or AnchoredMatrix (n, n), symmetric, >= 0
    i, j : int arrays (s,)
    sign : array (s,), +1 must-link, -1 cannot-link; where a pair has both, the later one counts
    """
    most = max(1, W.max())
    value = np.where(sign > 0, most, 0).astype(W.dtype)
    rows, columns, values = np.r_[i, j], np.r_[j, i], np.r_[value, value]
    keys = np.r_[i * W.shape[0] + j, j * W.shape[0] + i]
    _, last = np.unique(keys[::-1], return_index=True)  # each entry once, the later one
    last = len(keys) - 1 - last
    if isinstance(W, AnchoredMatrix):
        rows, columns = rows[last], columns[last]
        change = values[last] - W.entries(rows, columns)
        return W + sparse.csr_array((change, (rows, columns)), shape=W.shape)
    if not sparse.issparse(W):
        W = W.copy()
        W[rows, columns] = values
        return W
    entries = (np.ones(len(last), dtype=W.dtype), (rows[last], columns[last]))
    named = sparse.csr_array(entries, shape=W.shape)
    imposed = sparse.csr_array((values[last], (rows[last], columns[last])), shape=W.shape)
    W = (W - W.multiply(named) + imposed).tocsr()
    W.eliminate_zeros()
    return W
