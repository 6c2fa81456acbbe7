"""Points in files: tables of any format (`tables.formats`), and arrays.

npy        an array (n, d)
npz        the array X, or the only array of two dimensions

Columns are named, or numbered from 0. A column that is plainly one of ids (see
`tables.id_columns`), or an array `id` of a .npz file, names the rows without being asked for. Ids
are text: "007" is not "7". Columns of numbers and of categories become points as
`tables.preparation` says. A value that cannot be used is refused with its file, line and column.
"""

import errno
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.blocks import open_rows
from linkwise.constraints.io import plain_file
from linkwise.tables.columns import find_features
from linkwise.tables.csv_rows import LARGEST, file_name
from linkwise.tables.file_bytes import read_bytes
from linkwise.tables.formats import ARRAYS, check_format, check_options, read_table
from linkwise.tables.id_columns import NO_IDS, array_ids, find_ids, read_ids
from linkwise.tables.preparation import Numbers, Preparation, learn
from linkwise.tables.table import Column, Table


class Points(NamedTuple):
    """Points in a file.

    Attributes
    ----------
    X : array (n, d), no value beyond LARGEST
    ids : list of n distinct texts, or None: rows are known by their numbers
    recognised : str or None, the column of ids if nobody named it
    preparation : Preparation, how columns became points; None for the array of a file as it is
    note : str, what was done to the columns, or ""
    computed : bool, whether the points depend on the other rows, so that new rows cannot join them
    """

    X: Any
    ids: list[str] | None
    recognised: str | None = None
    preparation: Preparation | None = None
    note: str = ""
    computed: bool = False


def read_points(
    path,
    *,
    id_column=None,
    columns=None,
    categories=None,
    ordered=None,
    missing=None,
    standardize=False,
    delimiter=None,
    encoding=None,
    sheet=None,
):
    """Return the points in a file.

    Parameters
    ----------
    path : str, a file of a table or of arrays, or "-" for csv on standard input
    id_column : str or None
        The column (npz: the array) of ids, by name or number from 0; "none": there is none, rows
        are known by their numbers. Default: the column that is plainly one of ids, if any.
    columns : list of str or None, the columns to cluster by; default all but the ids
    categories : list of str or None, the columns of categories, or ["none"]; default those of
        texts that repeat
    ordered : dict {column: its values from the lowest to the highest} or None
    missing : str or None, what is done about empty cells: "median" (default), "mean",
        "most-frequent" or "refuse"
    standardize : bool, give every column of numbers mean 0 and variance 1; done anyway beside
        categories
    delimiter, encoding, sheet : str or None, see `tables.formats.read_table`

    Returns
    -------
    Points
    """
    options = {"missing": missing, "standardize": standardize}
    suffix = check_format(path, delimiter)
    if suffix in ARRAYS:
        check_options(suffix, file_name(path), delimiter, encoding, sheet)
        for name, given in (("--categories", categories), ("--ordinal", ordered)):
            if given and given != ["none"]:
                raise ValueError(
                    f"{path}: {name} is for tables; the columns of an array are numbers"
                )
        return _read_arrays(path, id_column, columns, options)
    table = read_table(
        path,
        delimiter=delimiter,
        encoding=encoding,
        sheet=sheet,
        asked=[*(name for name in categories or () if name != "none"), *(ordered or ())],
        id_column=id_column,
        columns=columns,
    )
    key, recognised = key_of(table, id_column, columns)
    ids = None if key is None else read_ids(table, key)
    if table.points is not None:
        return Points(table.points, ids, recognised, None, table.note, table.computed)
    places = find_features(columns, table.names, table.width, table.file, but=key)
    made = learn(
        table,
        places,
        categories=categories,
        ordered=ordered,
        asked=columns is not None,
        id_column=None if key is None else table.key(key),
        **options,
    )
    note = "; ".join(filter(None, (table.note, made.note())))
    return Points(made.apply(table), ids, recognised, made, note)


def read_prepared(path, preparation, *, id_column=None, unseen="refuse", **reading):
    """Return the Points of new rows, prepared as the rows of a model were.

    Parameters
    ----------
    path : str
    preparation : Preparation
    id_column : str or None, the column of ids; default that of the model, if it is there
    unseen : str, "ignore": a category that the model has not seen is none of them
    reading : delimiter, encoding, sheet, see `tables.formats.read_table`
    """
    if check_format(path, reading.get("delimiter")) in ARRAYS:
        X, ids, recognised = load_arrays(path, id_column, None)
        table, note = array_table(str(path), X), ""
    else:
        own = preparation.id_column
        texts = {column.name for column in preparation.columns if not isinstance(column, Numbers)}
        table = read_table(path, id_column=id_column, texts=texts | {own}, **reading)
        wanted = own if id_column is None and own in table.names else id_column
        key, recognised = key_of(table, wanted, None)
        ids, note = None if key is None else read_ids(table, key), table.note
    return Points(preparation.apply(table, unseen=unseen), ids, recognised, preparation, note)


def key_of(table, id_column, columns, others=()):
    """Return (place of the column of ids or None, its name if nobody named it)."""
    if id_column == NO_IDS:
        return None, None
    if id_column is not None:
        return table.find(id_column), None
    if not columns and not others and table.width < 2:
        return None, None
    key = find_ids(table, [*(columns or ()), *others])
    return key, None if key is None else table.names[key]


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


def array_table(file, X):
    """Return an array (n, d) as a Table without a header."""
    columns = [Column("", np.asarray(column, dtype=float)) for column in X.T]
    return Table(file, [], columns, np.arange(len(X)), "row")


def _read_arrays(path, id_column, columns, options):
    X, ids, recognised = load_arrays(path, id_column, columns)
    if not (options["standardize"] or np.isnan(X).any()):
        return Points(X, ids, recognised)
    table = array_table(str(path), X)
    made = learn(table, list(range(X.shape[1])), **options)
    if columns is not None:  # a model names the columns of the file, not those that were chosen
        at = [columns[int(column.name)] for column in made.columns]
        made = made._replace(
            columns=[c._replace(name=name) for c, name in zip(made.columns, at, strict=True)]
        )
        table = table._replace(names=list(columns))
    return Points(made.apply(table).astype(X.dtype), ids, recognised, made, made.note())


def load_arrays(path, id_column, columns):
    """Return (X, ids, the array of ids if nobody named it) of a .npy or .npz file."""
    packed = Path(path).suffix.lower() == ".gz"
    with io.BytesIO(read_bytes(path)) if packed else open(plain_file(path), "rb") as file:
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
    bad = ~((abs(X) <= limit) | np.isnan(X))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"{path}, row {i}, column {j if columns is None else columns[j]}: {X[i, j]} is not a "
            f"number within ±{limit:g}; correct it, or remove the row"
        )
    key = id_column or "id"
    if key in arrays and key not in (name, NO_IDS):
        ids = array_ids(arrays[key], len(X), f"{path}: {key}")
        return X, ids, key if id_column is None else None
    if id_column not in (None, NO_IDS):
        raise ValueError(f"{path}: no array {key!r} of ids; save one beside X by numpy.savez")
    return X, None, None


def _chosen(archive, id_column):
    """Return the arrays that are needed; the others may be large, or not readable."""
    names = {"X", id_column or "id"} if "X" in archive.files else archive.files
    return {name: np.asarray(archive[name]) for name in archive.files if name in names}
