"""A sample of the rows that does not depend on their order.

Every (n / size)-th row along a random direction: rows that are repeated often come up as often as
they should, and shuffled rows give the same sample up to rounding. Rows in a file, and of more
than four million the rest, are drawn by their number instead: to sort them would cost too much.
"""

import numpy as np

from linkwise.blocks.executors import run_blocks
from linkwise.blocks.rows import is_external, read_block, row_blocks

BY_CONTENT = 1 << 22  # rows


def spaced(rows, size):
    """Return ``size`` of the rows at equal distances.

    >>> spaced(np.arange(10), 4)
    array([1, 3, 6, 8])
    """
    return rows[(2 * np.arange(size) + 1) * len(rows) // (2 * size)]


def content_sample(X, size, rng):
    """Return the numbers of ``size`` rows of X, of all rows if there are no more, in that order.

    Parameters
    ----------
    X : array, or rows computed when asked for
    size : int
    rng : numpy Generator
    """
    n = X.shape[0]
    size = min(n, size)
    if is_external(X) or n > BY_CONTENT:
        return np.sort(rng.choice(n, size, replace=False))
    direction = rng.standard_normal(X.shape[1]).astype(X.dtype)
    parts = row_blocks(n, X.shape[1])
    along = np.concatenate(list(run_blocks(lambda part: read_block(X, part) @ direction, parts)))
    return spaced(np.argsort(along), size)
