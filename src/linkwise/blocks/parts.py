"""Rows in parts: many .npy or .parquet files with the same columns, in the order of their names.

The rows of a part are read in blocks, which never reach over its end. A block of a .npy file is a
range of its rows. A block of a .parquet file is a number of its row groups. Only the headers of the
files are read at first. A block knows how to read itself (`Piece`), in this process or in another
one that has the same folder.
"""

import glob
import os
import uuid
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwise._typing import Array, Integers
from linkwise.exceptions import MissingExtra

# rows in a block: sums of p x p matrices then cost little beside the rows themselves
BLOCK = 1 << 17
WILD = "*?["  # characters that make a name a pattern


class Piece(NamedTuple):
    """The rows of one block, where they lie."""

    path: str
    start: int  # first row in the file
    stop: int
    groups: tuple[int, ...]  # row groups of a .parquet file; () in a .npy file
    columns: tuple[str, ...]  # of a .parquet file; () in a .npy file
    dtype: str

    def read(self) -> Array:
        """Return the rows, (stop - start, d)."""
        return self.take(slice(None))

    def take(self, rows: Any) -> Array:
        """Return a slice of the rows, or listed ones, counted from the first of the block."""
        check_present(self.path)
        if not self.groups:
            mapped = np.load(self.path, mmap_mode="r", allow_pickle=False)
            return np.array(mapped[self.start : self.stop][rows])
        table = self.table(self.columns)
        block = np.empty((self.stop - self.start, len(self.columns)), dtype=self.dtype)
        for j, name in enumerate(self.columns):
            block[:, j] = table.column(name).to_numpy()
        return block[rows]

    def column(self, name: str) -> Array:
        """Return one column, such as that of the ids."""
        check_present(self.path)
        values = np.asarray(self.table((name,)).column(name).to_numpy())
        if len(values) and isinstance(values[0], bytes):  # UUIDs are stored as 16 bytes
            texts = [str(uuid.UUID(bytes=value)) if len(value) == 16 else value for value in values]
            values = np.array(texts, dtype=object)
        return values

    def table(self, columns: tuple[str, ...]) -> Any:
        """Return the table of some columns of a .parquet file."""
        with parquet().ParquetFile(self.path) as file:
            return file.read_row_groups(list(self.groups), columns=list(columns), use_threads=False)


class ColumnPiece(NamedTuple):
    """One column of the rows of a block, where they lie."""

    piece: Piece
    name: str

    def read(self) -> Array:
        """Return the values, (stop - start,)."""
        return self.piece.column(self.name)

    def take(self, rows: Any) -> Array:
        """Return a slice of the values, or listed ones."""
        return self.read()[rows]


class PartColumn:
    """One column of rows in several files, such as that of the ids."""

    ndim, dtype = 1, np.dtype(object)

    def __init__(self, pieces: tuple[Piece, ...], bounds: Integers, name: str) -> None:
        self.pieces = tuple(ColumnPiece(piece, name) for piece in pieces)
        self.bounds, self.shape = bounds, (int(bounds[-1]),)

    def __getitem__(self, part: slice) -> Array:
        found = in_blocks(np.arange(*part.indices(self.shape[0])), self.bounds)
        return np.concatenate([self.pieces[b].take(at) for b, at in found])


class Part(NamedTuple):
    """One file of rows."""

    path: str
    rows: int
    blocks: tuple[Piece, ...]


class PartFiles:
    """Rows in several files, as one table; indexed by slices and by lists of row numbers.

    Attributes
    ----------
    parts : tuple of Part, without those that have no rows
    pieces : tuple of Piece, the blocks
    bounds : int array (b + 1,), the first row of every block, and the number of rows
    columns : tuple of str, of .parquet files; () for .npy files
    id_column : str or None, the column of ids in .parquet files
    """

    ndim = 2

    def __init__(
        self, parts: tuple[Part, ...], shape: tuple[int, int], dtype: Any, id_column: str | None
    ) -> None:
        self.parts, self.shape, self.dtype = parts, shape, np.dtype(dtype)
        self.id_column = id_column
        self.pieces = tuple(piece for part in parts for piece in part.blocks)
        self.columns = self.pieces[0].columns
        sizes = [piece.stop - piece.start for piece in self.pieces]
        self.bounds: Integers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Array:
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(self.shape[0]))
        return np.concatenate(
            [np.empty((0, self.shape[1]), self.dtype)]
            + [self.pieces[b].take(at) for b, at in in_blocks(rows, self.bounds)]
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:].astype(dtype or self.dtype, copy=False)

    @property
    def ids(self) -> PartColumn | None:
        """The column of ids, if there is one."""
        if self.id_column is None:
            return None
        return PartColumn(self.pieces, self.bounds, self.id_column)

    @cached_property
    def first_rows(self) -> Integers:
        """The first row of every part, and the number of rows: (parts + 1,)."""
        return np.cumsum([0, *(part.rows for part in self.parts)])


def in_blocks(rows: ArrayLike, bounds: Integers) -> list[tuple[int, Any]]:
    """Return ascending row numbers as (block, place in it), places as a slice where they adjoin.

    >>> in_blocks([1, 2, 3, 7], np.array([0, 2, 5, 8]))
    [(0, slice(1, 2, None)), (1, slice(0, 2, None)), (2, slice(2, 3, None))]
    """
    rows = np.asarray(rows)
    block = np.searchsorted(bounds, rows, side="right") - 1
    found = []
    for b in np.unique(block).tolist():
        at = rows[block == b] - bounds[b]
        adjoin = len(at) == at[-1] - at[0] + 1
        found.append((b, slice(int(at[0]), int(at[-1]) + 1) if adjoin else at))
    return found


def check_present(path: str) -> None:
    """Refuse a part that is not there."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"the part {path} is not there; restore it, and run again")


def parquet() -> Any:
    """Return pyarrow.parquet."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "dask") from None
    return pyarrow.parquet


def is_pattern(name: Any) -> bool:
    """Tell whether a name stands for several files: it has one of * ? [.

    >>> is_pattern("parts/part-*.npy"), is_pattern("points.npy")
    (True, False)
    """
    return isinstance(name, str | os.PathLike) and any(c in os.fspath(name) for c in WILD)


def open_parts(
    pattern: Any, *, id_column: str | None = None, columns: list[str] | None = None
) -> PartFiles:
    """Return the rows in the files that a pattern names, after a look at their headers.

    Parameters
    ----------
    pattern : str, such as "parts/part-*.parquet"; all files are .npy, or all .parquet
    id_column : str or None, the column of ids in .parquet files
    columns : list of str or None, the columns of .parquet files to use; default all but the ids
    """
    paths = sorted(map(os.path.abspath, glob.glob(os.fspath(pattern))))
    if not paths:
        raise FileNotFoundError(f"X={str(pattern)!r}: no file has such a name; check the pattern")
    kinds = {Path(path).suffix.lower() for path in paths}
    if len(kinds) > 1 or not kinds <= {".npy", ".parquet"}:
        raise ValueError(
            f"X={str(pattern)!r} names files that end in {', '.join(sorted(kinds))}; parts are all "
            ".npy or all .parquet files"
        )
    if kinds == {".npy"}:
        if id_column is not None or columns:
            raise ValueError(
                f"X={str(pattern)!r}: .npy files have no names of columns; ids and columns are for "
                ".parquet files"
            )
        found = [_npy_part(path) for path in paths]
    else:
        found = [_parquet_part(path, id_column, columns) for path in paths]
    path, first = paths[0], found[0][1]
    for other, (_, header) in zip(paths, found, strict=True):
        if header != first:
            raise ValueError(
                f"the part {other} has {header}, and {path} has {first}; all parts need the same "
                "columns in the same order"
            )
    parts = tuple(part for part, _ in found if part.rows)
    if not parts:
        raise ValueError(f"X={str(pattern)!r}: the parts have no rows")
    shape = (sum(part.rows for part in parts), first.width)
    return PartFiles(parts, shape, first.dtype, id_column)


def parquet_columns(pattern: Any) -> list[str]:
    """Return the columns of the first .parquet file that a pattern names; [] without one."""
    paths = sorted(glob.glob(os.fspath(pattern)))
    if not paths or Path(paths[0]).suffix.lower() != ".parquet":
        return []
    try:
        names: list[str] = parquet().read_schema(paths[0]).names
    except (ValueError, OSError):  # `open_parts` says what is wrong
        return []
    return names


class Header(NamedTuple):
    """What all parts must have in common."""

    width: int
    dtype: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        named = f" ({', '.join(self.names[:8])}{', ...' * (len(self.names) > 8)})"
        return f"{self.width} columns of {np.dtype(self.dtype).name}{named * bool(self.names)}"


def _npy_part(path: str) -> tuple[Part, Header]:
    try:
        X = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(
            f"the part {path} is not a whole .npy file of numbers; write it again"
        ) from error
    if X.ndim != 2 or X.dtype.kind not in "biuf" or X.shape[1] == 0:
        raise ValueError(
            f"the part {path}: expected numbers of shape (n, d), got {X.dtype} of shape {X.shape}"
        )
    starts = range(0, len(X), BLOCK)
    blocks = [Piece(path, a, min(a + BLOCK, len(X)), (), (), X.dtype.str) for a in starts]
    return Part(path, len(X), tuple(blocks)), Header(X.shape[1], X.dtype.str, ())


def _parquet_part(
    path: str, id_column: str | None, columns: list[str] | None
) -> tuple[Part, Header]:
    try:
        with parquet().ParquetFile(path) as file:
            meta, schema = file.metadata, file.schema_arrow
            sizes = [meta.row_group(g).num_rows for g in range(meta.num_row_groups)]
    except (ValueError, OSError) as error:
        raise ValueError(f"the part {path} is not a whole .parquet file; write it again") from error
    kinds = {field.name: str(field.type) for field in schema}
    wanted = list(columns) if columns else [n for n in kinds if n != id_column and not _is_index(n)]
    for name in [*wanted, *([] if id_column is None else [id_column])]:
        if name not in kinds:
            raise ValueError(
                f"the part {path} has no column {name!r}; its columns are {', '.join(kinds)}"
            )
    texts = [
        n for n in wanted if not kinds[n].startswith(("int", "uint", "float", "double", "hal"))
    ]
    if texts:
        raise ValueError(
            f"the part {path}: column {texts[0]!r} has {kinds[texts[0]]} values, not numbers; name "
            "it as the column of ids, or name the columns to use"
        )
    single = all(kinds[name] in ("float", "halffloat") for name in wanted)
    dtype = np.dtype(np.float32 if single else np.float64).str
    blocks, row = [], 0
    for groups in _joined(sizes):
        rows = sum(sizes[g] for g in groups)
        blocks.append(Piece(path, row, row + rows, tuple(groups), tuple(wanted), dtype))
        row += rows
    return Part(path, row, tuple(blocks)), Header(len(wanted), dtype, tuple(wanted))


def _is_index(name: str) -> bool:
    return name.startswith("__index_level_")  # how pandas writes an index without a name


def _joined(sizes: list[int]) -> list[list[int]]:
    """Return row groups with rows, joined to blocks of about BLOCK rows."""
    ends = np.cumsum(sizes)
    some = [g for g, size in enumerate(sizes) if size]
    return [list(groups) for _, groups in groupby(some, lambda g: (ends[g] - 1) // BLOCK)]
