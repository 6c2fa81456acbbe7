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

from linkwise.arrays import door, dtype_name
from linkwise.graph.anchors import AnchoredMatrix


def impose(W, i, j, sign):
    """Return W' of Eq. (1), of the kind that W is.

    Parameters
    ----------
    W : array, csr_array or AnchoredMatrix (n, n), symmetric, >= 0
    i, j : int arrays (s,)
    sign : array (s,), +1 must-link, -1 cannot-link; where a pair has both, the later one counts
    """
    anchored = isinstance(W, AnchoredMatrix)
    most = max(1, W.max() if anchored else door(W).largest_entry(W))
    value = np.where(sign > 0, most, 0).astype(dtype_name(W))
    rows, columns, values = np.r_[i, j], np.r_[j, i], np.r_[value, value]
    keys = np.r_[i * W.shape[0] + j, j * W.shape[0] + i]
    _, last = np.unique(keys[::-1], return_index=True)  # each entry once, the later one
    last = len(keys) - 1 - last
    rows, columns, values = rows[last], columns[last], values[last]
    if not anchored:
        return door(W).with_entries(W, rows, columns, values)
    change = values - W.entries(rows, columns)
    return W + sparse.csr_array((change, (rows, columns)), shape=W.shape)
