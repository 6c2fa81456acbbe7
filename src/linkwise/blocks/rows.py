"""Rows in, samples of them, and labels out.

Rows are anything with ``shape`` (n, d), ``dtype`` and row slicing: an array, a csr_array, a
memory-mapped file, a data set in HDF5 or Zarr, rows computed when asked for. Blocks of them are
read as arrays (sparse ones as sparse arrays). The pages of a memory-mapped file are given back
after each block, so that a file larger than memory can be worked through.

A sample of rows does not depend on their order. It holds every (n / size)-th row along a random
direction. Repeated rows are drawn as often as they occur, and shuffled rows give the same sample up
to rounding. Rows in a file, and more than four million rows in memory, are drawn by row number
instead, because sorting them would cost too much.
"""

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from linkwise._files import instead_of
from linkwise._typing import Array, FilePath, Integers
from linkwise.arrays import door, namespace, on_device
from linkwise.blocks.executors import run_blocks

T = TypeVar("T")
BlockFunction: TypeAlias = Callable[[slice, Any], T]  # of row numbers and the rows themselves

SCATTERED = 2048  # scattered rows of a file to read at a time: each loads the pages around it
BY_CONTENT = 1 << 22  # rows to sample from; sorting four million takes about half a second


def is_external(X: Any) -> bool:
    """Tell whether the rows of X may exceed memory: X is no array, list or table."""
    if isinstance(X, np.memmap):
        return True
    if isinstance(X, np.ndarray | ComputedRows) or sparse.issparse(X) or hasattr(X, "iloc"):
        return False
    if on_device(X):
        return False
    has = hasattr(X, "shape") and hasattr(X, "dtype") and hasattr(X, "__getitem__")
    return has and not hasattr(X, "__dataframe__") and not hasattr(X, "__array_namespace__")


def row_blocks(n: int, width: int, itemsize: int = 4) -> list[slice]:
    """Return slices that cover n rows of ``width`` numbers, a few MB each.

    >>> row_blocks(5, 1 << 20)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return parts_of(None, n, width, itemsize)


def parts_of(like: Any, n: int, width: int, itemsize: int = 4) -> list[slice]:
    """Return slices that cover n rows of ``width`` numbers, where ``like`` is computed.

    On a device, they are as large as its free memory allows.
    """
    size = door(like).rows_a_block(like, n, width * itemsize)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def stack_rows(first: Any, second: Any) -> Any:
    """Return the rows of two arrays, or of two sparse arrays, one after the other."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.csr_array(sparse.vstack([first, second]), dtype=first.dtype)
    return door(first).below([first, door(first).cast(second, first)])


def bounds_of(rows: Any) -> Integers | None:
    """Return where the blocks of rows in parts begin and end, (b + 1,); None for other rows."""
    while hasattr(rows, "recipe"):
        rows = rows.recipe()[0]
    bounds: Integers | None = getattr(rows, "bounds", None)
    return bounds


def on_cluster(rows: Any) -> Any:
    """Return rows on a cluster as `ClusterRows`, those computed from them too; None for others."""
    functions: list[BlockFunction[Any]] = []
    while hasattr(rows, "recipe"):
        rows, function = rows.recipe()
        functions.insert(0, function)
    if not hasattr(rows, "then"):
        return None
    for function in functions:
        rows = rows.then(function)
    return rows


def slices_of(bounds: Integers) -> list[slice]:
    """Return the blocks between bounds.

    >>> slices_of(np.array([0, 3, 5]))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    ends = bounds.tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def over_rows(
    function: Callable[[slice], T],
    like: Any,
    n: int,
    width: int,
    *,
    bounds: Integers | None = None,
    **shown: Any,
) -> Iterator[tuple[slice, T]]:
    """Yield (part, function(part)) for blocks of n rows of ``width`` numbers, in order.

    Blocks of rows in memory are processed by the current executor. On a device, the blocks are as
    large as its free memory allows.

    Parameters
    ----------
    like : array, whose library and device process the rows
    bounds : the blocks of rows in parts, `bounds_of`, or None
    shown : label and total of `run_blocks`
    """
    parts = parts_of(like, n, width) if bounds is None else slices_of(bounds)
    yield from zip(parts, run_blocks(function, parts, like=like, **shown), strict=True)


def _give_back(X: Any, rows: Array | None = None) -> None:
    """Release the pages of some rows of a memory-mapped file, a slice of X, or of all rows.

    They are read again when needed. A private map is left alone: it would lose its changes.
    """
    base = getattr(X, "_mmap", None)
    if base is None or getattr(X, "mode", "c") == "c" or not hasattr(mmap, "MADV_DONTNEED"):
        return
    if rows is None or not rows.flags.c_contiguous:
        base.madvise(mmap.MADV_DONTNEED)
        return
    first = rows.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
    start = first - first % mmap.PAGESIZE
    if rows.nbytes:
        base.madvise(mmap.MADV_DONTNEED, start, first + rows.nbytes - start)


def read_block(X: Any, part: slice, dtype: DTypeLike | None = None) -> Any:
    """Return the rows of a slice as a new array; sparse rows stay sparse."""
    rows = X[part]
    if sparse.issparse(rows):
        return rows if dtype is None else rows.astype(dtype)
    if isinstance(X, np.memmap):
        block = np.array(rows, dtype=dtype)
        _give_back(X, rows)
        return block
    return door(rows).asarray(rows, rows, dtype)


def write_block(out: Array, part: slice, values: Array) -> None:
    """Write rows of an array or memory-mapped file."""
    out[part] = values
    if isinstance(out, np.memmap):
        _give_back(out, out[part])


def take_rows(X: Any, rows: ArrayLike, dtype: DTypeLike | None = None) -> Any:
    """Return listed rows, an array, or a csr_array where X is sparse.

    A file is read in its own order, each row once.
    """
    tools = door(X)
    rows = tools.asarray(rows, X)
    if tools.in_memory(X):
        return tools.asarray(X[rows], X, dtype)
    if sparse.issparse(X):
        found = sparse.csr_array(X)[rows]
        return found if dtype is None else found.astype(dtype)
    unique, place = np.unique(rows, return_inverse=True)
    parts = []
    size = SCATTERED if bounds_of(X) is None else max(len(unique), 1)  # parts are read one by one
    for start in range(0, max(len(unique), 1), size):
        parts.append(np.array(X[unique[start : start + size]], dtype=dtype))
        _give_back(X)
    return np.concatenate(parts)[place]


class ComputedRows:
    """Rows that are computed when they are read; ``np.asarray`` computes them all.

    Subclasses set ``shape`` and ``dtype`` and implement ``__getitem__`` for slices and for lists of
    rows.
    """

    ndim = 2
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return computed(self).astype(dtype or self.dtype, copy=False)

    def __getitem__(self, part: Any) -> Array:
        raise NotImplementedError

    def recipe(self) -> tuple[Any, BlockFunction[Any]]:
        """Return the rows that these are computed from, and a function (part, block) that does it.

        The function holds nothing of size n: it is sent to the workers of a cluster.
        """
        raise NotImplementedError


def computed(rows: Any) -> Array:
    """Return computed rows as an array, block by block."""
    one = rows[slice(0, 1)]
    out = door(one).empty(rows.shape, one)

    def fill(part: slice) -> None:
        out[part] = rows[part]

    for _ in over_rows(fill, one, *rows.shape):
        pass
    return out


class LazyRows(ComputedRows):
    """A function of other rows: function(rows[part])."""

    def __init__(self, rows: Any, function: Callable[[Any], Array]) -> None:
        self.rows, self.function = rows, function
        self.shape = (rows.shape[0], self[slice(0, 1)].shape[1])
        self.dtype = rows.dtype

    def __getitem__(self, part: Any) -> Array:
        return self.function(self.rows[part])

    def recipe(self) -> tuple[Any, BlockFunction[Any]]:
        """Return the other rows, and the function of a block of them."""
        function = self.function
        return self.rows, lambda part, block: function(block)


def spaced(rows: Integers, size: int) -> Integers:
    """Return ``size`` of the rows at equal distances.

    >>> spaced(np.arange(10), 4)
    array([1, 3, 6, 8])
    """
    return rows[door(rows).asarray((2 * np.arange(size) + 1) * len(rows) // (2 * size), rows)]


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
    if is_external(X) or bounds_of(X) is not None or n > BY_CONTENT:
        return np.sort(rng.choice(n, size, replace=False))
    direction = door(X).asarray(rng.standard_normal(X.shape[1]), X, X.dtype)
    width = max(1, X.nnz // n) if sparse.issparse(X) else X.shape[1]
    found = over_rows(lambda part: read_block(X, part) @ direction, X, n, width)
    along = door(direction).below([value for _, value in found])
    return spaced(namespace(along).argsort(along), size)


@contextmanager
def new_labels(path: FilePath | None, n: int) -> Iterator[Integers | None]:
    """Yield an int array (n,) that becomes the .npy file ``path`` if no error occurs.

    Until then it is a temporary file in the same folder, which an error removes. If ``path`` is
    None, None is yielded.
    """
    if path is None:
        yield None
        return
    place = Path(path)
    if place.suffix != ".npy":
        raise ValueError(f"out={str(path)!r}: expected a name that ends in .npy")
    if place.exists():
        raise FileExistsError(f"out={str(path)!r} exists; name a new file, or remove it first")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"out={str(path)!r}: its folder does not exist; make it first")
    dtype = np.int32 if n < 2**31 else np.int64
    with instead_of(place) as beside:
        labels = np.lib.format.open_memmap(beside, mode="w+", dtype=dtype, shape=(n,))
        yield labels
        labels.flush()
