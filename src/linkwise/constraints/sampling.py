"""Draw pairs from known labels, with simulated answers.

uniform    distinct pairs {i, j}, each set of n_pairs of them equally likely
balanced   the k + k (k - 1) / 2 cells "two of class c" and "one of class c, one
           of class d" get the same number of pairs, up to one; the points of a
           pair are drawn with replacement between pairs, so pairs may repeat

The pairs {i < j} are numbered t = j (j - 1) / 2 + i, so a set of pairs is drawn
as a set of numbers: O(n_pairs) time and memory, whatever n is.
"""

import numpy as np
from numpy.typing import ArrayLike

from linkwise._typing import Array, Scheme, Seed
from linkwise._wording import counted
from linkwise.constraints.ids import as_array, as_sample_id
from linkwise.constraints.pairs import Constraints
from linkwise.constraints.partial_labels import by_class, class_codes


def generator(random_state: Seed) -> np.random.Generator:
    """Return a numpy Generator from None, an int, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def draw_distinct(total: int, size: int, rng: np.random.Generator) -> Array:
    """Return `size` distinct integers of range(total), in random order."""
    if 2 * size >= total:
        return rng.permutation(total)[:size]
    drawn = np.zeros(0, dtype=np.int64)
    while len(drawn) < size:  # at least half of every batch is new
        drawn = np.r_[drawn, rng.integers(total, size=size)]
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return drawn[:size]


def pair_of(t: Array) -> tuple[Array, Array]:
    """Return (i, j), i < j, with t = j (j - 1) / 2 + i; integer arrays."""
    j = ((1 + np.sqrt(1 + 8 * t.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > t  # correct the rounding of the square root
    j += j * (j + 1) // 2 <= t
    return t - j * (j - 1) // 2, j


def uniform_pairs(n: int, n_pairs: int, rng: np.random.Generator) -> Array:
    """Return n_pairs distinct pairs of range(n), (n_pairs, 2)."""
    total = n * (n - 1) // 2
    if n_pairs > total:
        raise ValueError(f"n_pairs={n_pairs} distinct pairs were asked for, {n} rows have {total}")
    return np.stack(pair_of(draw_distinct(total, n_pairs, rng)), axis=1)


def balanced_pairs(code: Array, n_pairs: int, rng: np.random.Generator) -> Array:
    """Return n_pairs pairs of positions in code, spread evenly over the cells, (n_pairs, 2)."""
    rows, size = by_class(code)
    start = np.cumsum(size) - size
    several = np.flatnonzero(size > 1)  # a class of one has no must-link
    k = len(size)
    n_cells = len(several) + k * (k - 1) // 2
    if n_pairs and not n_cells:
        where = counted(len(code), "row")
        raise ValueError(f"n_pairs={n_pairs} pairs were asked for, but there are none in {where}")
    each, rest = divmod(n_pairs, max(n_cells, 1))
    cells = np.arange(n_cells) if each else np.zeros(0, dtype=np.int64)
    cell = np.r_[np.repeat(cells, each), draw_distinct(n_cells, rest, rng)]

    c, d = pair_of(np.maximum(cell - len(several), 0))
    same = cell < len(several)
    c[same] = d[same] = several[cell[same]]
    i = rng.integers(size[c])
    j = rng.integers(size[d] - same)
    j += same & (j >= i)  # skip i itself
    return np.stack([rows[start[c] + i], rows[start[d] + j]], axis=1)


def as_rows(rows: ArrayLike, n: int) -> Array:
    """Return row numbers from a boolean mask or an array of distinct row numbers."""
    rows = np.asarray(rows)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise ValueError(f"rows is a mask of shape {rows.shape}, y has {n} rows")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.zeros(0, dtype=np.int64)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise TypeError(f"rows must be a mask or row numbers, got {rows.dtype} {rows.shape}")
    if rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) < len(rows):
        raise ValueError(f"rows must be distinct row numbers in 0..{n - 1}")
    return rows.astype(np.int64)


def sample_pairs(
    y: ArrayLike,
    n_pairs: int,
    *,
    scheme: Scheme = "uniform",
    rows: ArrayLike | None = None,
    error_rate: float = 0.0,
    random_state: Seed = None,
    sample_id: ArrayLike | None = None,
) -> Constraints:
    """Draw pairs of rows and answer them by their labels.

    Parameters
    ----------
    y : array (n,), the label of every row; -1 is a class like any other
    n_pairs : int >= 0
    scheme : "uniform" for distinct pairs, or "balanced" for equally many from
        each class and each two classes (pairs may repeat)
    rows : mask (n,) or row numbers, draw among these only; default all
    error_rate : float in [0, 1], the share of answers that are wrong
    random_state : None, int, Generator or RandomState
    sample_id : ids (n,) for the rows; default their numbers

    Returns
    -------
    Constraints with n_pairs pairs of weight 1

    Examples
    --------
    >>> sample_pairs([0, 0, 1, 1], 6, random_state=0)
    Constraints(2 must-links, 4 cannot-links)
    """
    y = as_array(y, "y")
    if y.ndim != 1:
        raise ValueError(f"y must be one label per row, got shape {y.shape}")
    if scheme not in ("uniform", "balanced"):
        raise ValueError(f"scheme must be 'uniform' or 'balanced', got {scheme!r}")
    if not (np.isfinite(n_pairs) and n_pairs == int(n_pairs) and n_pairs >= 0):
        raise ValueError(f"n_pairs must be an integer >= 0, got {n_pairs!r}")
    if not 0 <= error_rate <= 1:
        raise ValueError(f"error_rate must be in [0, 1], got {error_rate!r}")
    n_pairs = int(n_pairs)
    rng = generator(random_state)
    rows = np.arange(len(y)) if rows is None else as_rows(rows, len(y))

    if scheme == "uniform":
        ends = rows[uniform_pairs(len(rows), n_pairs, rng)]
    else:
        ends = rows[balanced_pairs(_known_classes(y[rows], rows), n_pairs, rng)]
    code = _known_classes(y[ends.ravel()], ends.ravel()).reshape(-1, 2)
    sign = np.where(code[:, 0] == code[:, 1], 1, -1)
    sign[rng.permutation(n_pairs)[: round(error_rate * n_pairs)]] *= -1
    ids = ends if sample_id is None else as_sample_id(sample_id, len(y))[ends]
    return Constraints.from_table({"id_a": ids[:, 0], "id_b": ids[:, 1], "kind": sign})


def _known_classes(y: Array, rows: Array) -> Array:
    code = class_codes(y, None, "y")
    if (code < 0).any():
        i = rows[np.argmin(code)]
        raise ValueError(f"y[{i}] is missing; draw among labelled rows only, by the argument rows")
    return code
