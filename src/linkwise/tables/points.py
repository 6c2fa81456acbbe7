"""Points in files.

csv, tsv   one point per row. The first line is a header if a column is asked for by
           name, or if one of its feature fields is neither a number nor empty.
npy        an array (n, d)
npz        the array X, or the only array of two dimensions

Columns are named, or numbered from 0. A column that is plainly one of ids (see
`tables.id_columns`), or an array `id` of a .npz file, names the rows without being asked for. Ids
are text: "007" is not "7". A value that cannot be used is refused with its file, line and column.
Text is UTF-8.
"""

import errno
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.blocks import open_rows
from linkwise.constraints.io import plain_file
from linkwise.tables.columns import find_column, find_features, header_of
from linkwise.tables.csv_rows import (
    DELIMITER,
    LARGEST,
    file_name,
    read_bytes,
    read_numbers,
    read_rows,
)
from linkwise.tables.id_columns import NO_IDS, array_ids, find_ids, read_ids

BATCH = 10_000  # rows turned into numbers at once: lists of texts take much more memory


class Points(NamedTuple):
    """Points in a file.

    Attributes
    ----------
    X : array (n, d), no value beyond LARGEST
    ids : list of n distinct texts, or None: rows are known by their numbers
    recognised : str or None, the column of ids if nobody named it
    """

    X: Any
    ids: list[str] | None
    recognised: str | None = None


def read_points(path, *, id_column=None, columns=None):
    """Return the points in a file.

    Parameters
    ----------
    path : str, a .csv, .tsv, .npy or .npz file, or "-" for csv on standard input
    id_column : str or None
        The column (npz: the array) of ids, by name or number from 0; "none": there is none, rows
        are known by their numbers. Default: the column that is plainly one of ids, if any.
    columns : list of str or None, the columns to cluster by; default all but the ids

    Returns
    -------
    Points
    """
    suffix = ".csv" if path == "-" else Path(path).suffix.lower()
    if suffix in DELIMITER:
        return _read_text(path, DELIMITER[suffix], id_column, columns)
    if suffix in (".npy", ".npz"):
        return _read_arrays(path, id_column, columns)
    if not Path(path).exists():
        raise FileNotFoundError(errno.ENOENT, "no such file", str(path))
    raise ValueError(f"{path}: cannot tell the format; name it .csv, .tsv, .npy or .npz")


def map_points(path):
    """Return the points in a .npy file without reading them into memory."""
    path = plain_file(path)
    try:
        X = open_rows(path)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "no such file", str(path)) from None
    except ValueError:
        raise ValueError(f"{path} is not a whole .npy file of numbers; write it again") from None
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise ValueError(
            f"{path}: expected numbers of shape (n, d), got {X.dtype} of shape {X.shape}"
        )
    return Points(X, None)


def _read_text(path, delimiter, id_column, columns):
    file, raw = file_name(path), read_bytes(path)
    rows = read_rows(raw, file, delimiter)
    line, first = next(rows, (0, []))
    if not first:
        raise ValueError(f"{file} is empty: expected a row per point")
    named = [] if id_column in (None, NO_IDS) else [id_column]

    def features():
        but = find_column(id_column, [], len(first), file) if named else None
        return find_features(columns, [], len(first), file, but=but)

    names = header_of(first, file, [*(columns or ()), *named], features)
    key = find_column(id_column, names, len(first), file) if named else None
    recognised = None
    if id_column is None and (columns or len(first) > 1):
        again = read_rows(raw, file, delimiter)
        key = find_ids(names, islice(again, 1, None), columns or ())
        recognised = None if key is None else names[key]
    places = find_features(columns, names, len(first), file, but=key)

    blocks: list = []
    line_of: dict[str, int] = {}
    batch: list = [] if names else [(line, first)]
    while batch := batch + list(islice(rows, BATCH)):
        blocks.append(read_numbers(batch, places, names, file))
        if key is not None:
            read_ids(batch, key, file, line_of)
        batch = []
    if not blocks:
        raise ValueError(f"{file} has a header but no rows: expected a row per point")
    return Points(np.concatenate(blocks), None if key is None else list(line_of), recognised)


def _read_arrays(path, id_column, columns):
    with open(plain_file(path), "rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            arrays = _chosen(loaded, id_column) if hasattr(loaded, "files") else {"X": loaded}
        except Exception as error:  # a broken archive may fail anywhere, and with anything
            raise ValueError(
                f"{path}: not a readable .npy or .npz file of numbers: it is damaged, cut short, "
                "or holds Python objects; write it anew by numpy.save or numpy.savez"
            ) from error
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    name = "X" if "X" in arrays else tables[0] if len(tables) == 1 else None
    if name is None:
        raise ValueError(f"{path}: {len(tables)} of its arrays have two dimensions; call one X")
    X = arrays[name]
    if X.ndim != 2 or X.dtype.kind not in "biuf" or 0 in X.shape:
        raise ValueError(
            f"{path}: {name} must be numbers of shape (n, d), got {X.dtype} of shape {X.shape}"
        )
    X = X[:, find_features(columns, [], X.shape[1], path)]
    X = X if X.dtype == np.float32 else X.astype(np.float64)
    limit = 1e15 if X.dtype == np.float32 else LARGEST
    bad = ~(abs(X) <= limit)  # NaN too
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"{path}, row {i}, column {j if columns is None else columns[j]}: {X[i, j]} is not a "
            f"number within ±{limit:g}; correct it, or remove the row"
        )
    key = id_column or "id"
    if key in arrays and key not in (name, NO_IDS):
        ids = array_ids(arrays[key], len(X), f"{path}: {key}")
        return Points(X, ids, key if id_column is None else None)
    if id_column not in (None, NO_IDS):
        raise ValueError(f"{path}: no array {key!r} of ids; save one beside X by numpy.savez")
    return Points(X, None)


def _chosen(archive, id_column):
    """Return the arrays that are needed; the others may be large, or not readable."""
    names = {"X", id_column or "id"} if "X" in archive.files else archive.files
    return {name: np.asarray(archive[name]) for name in archive.files if name in names}
