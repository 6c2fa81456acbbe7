"""Sample rows in a way that does not depend on their order.

The sample holds every (n / size)-th row along a random direction. Repeated rows are drawn as
often as they occur, and shuffled rows give the same sample up to rounding. Rows in a file, and
more than four million rows in memory, are drawn by row number instead, because sorting them would
cost too much.
"""

from typing import Any

import numpy as np
from scipy import sparse

from linkwise._typing import Integers
from linkwise.blocks.executors import run_blocks
from linkwise.blocks.rows import is_external, read_block, row_blocks

BY_CONTENT = 1 << 22  # rows; sorting four million takes about half a second


def spaced(rows: Integers, size: int) -> Integers:
    """Return ``size`` of the rows at equal distances.

    >>> spaced(np.arange(10), 4)
    array([1, 3, 6, 8])
    """
    return rows[(2 * np.arange(size) + 1) * len(rows) // (2 * size)]


def content_sample(X: Any, size: int, rng: np.random.Generator) -> Integers:
    """Return the numbers of ``size`` rows of X, or of all rows if X has fewer.

    Parameters
    ----------
    X : array, csr_array, or rows computed when asked for
    size : int
    rng : numpy Generator
    """
    n = X.shape[0]
    size = min(n, size)
    if is_external(X) or n > BY_CONTENT:
        return np.sort(rng.choice(n, size, replace=False))
    direction = rng.standard_normal(X.shape[1]).astype(X.dtype)
    width = max(1, X.nnz // n) if sparse.issparse(X) else X.shape[1]
    parts = row_blocks(n, width)
    along = np.concatenate(list(run_blocks(lambda part: read_block(X, part) @ direction, parts)))
    return spaced(np.argsort(along), size)
