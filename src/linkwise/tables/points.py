"""Points in files, and labels beside them.

csv, tsv   one point per row. The first line is a header if a column is asked for by
           name, or if one of its feature fields is neither a number nor empty.
npy        an array (n, d)
npz        the array X, or the only array of two dimensions; an array `id` names the rows

Columns are named, or numbered from 0. Ids are text: "007" is not "7". What cannot be read is
refused with its file, line and column. Text is UTF-8. Files are written beside their place
and then moved there, so that nobody sees half of one.
"""

import csv
import errno
import io
import os
import sys
import warnings
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._files import write_whole
from linkwise.blocks import open_rows
from linkwise.constraints import Constraints
from linkwise.constraints.io import other_separator, plain_file

DELIMITER = {".csv": ",", ".tsv": "\t"}
BATCH = 10_000  # rows turned into numbers at once
LARGEST = 1e150  # in float32 1e15: squared distances must stay finite


class Points(NamedTuple):
    """Points X (n, d), none beyond LARGEST, and their n distinct ids, or None."""

    X: Any
    ids: list[str] | None


def number(cell):
    """Return a cell as a float; Python would also take 1_000."""
    return float(cell.replace("_", "?"))


def is_number(cell):
    """Tell whether a cell is written as a number."""
    try:
        number(cell)
    except ValueError:
        return False
    return True


def find_column(wanted, names, width, file):
    """Return the place of a column, by its name or else by its number."""
    if names.count(wanted) > 1:
        raise ValueError(
            f"{file}: {names.count(wanted)} columns are called {wanted!r}; use numbers"
        )
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and int(wanted) < width:
        return int(wanted)
    known = f"the columns are {', '.join(map(repr, names))}, or by" if names else "give a"
    raise ValueError(
        f"{file}: no column {wanted!r}; {known} number 0..{width - 1}{other_separator(names)}"
    )


def find_features(columns, names, width, file, *, but=None):
    """Return the places of the columns asked for; of all `but` one, if none is."""
    if columns is None:
        places = [j for j in range(width) if j != but]
    else:
        places = [find_column(column, names, width, file) for column in columns]
    if not places:
        raise ValueError(f"{file}: no column is left to cluster by; it needs at least one")
    if len(set(places)) < len(places):
        raise ValueError(f"{file}: the columns {','.join(columns)} name one column twice")
    return places


def read_points(path, *, id_column=None, columns=None):
    """Return the points in a file.

    Parameters
    ----------
    path : str, a .csv, .tsv, .npy or .npz file, or "-" for csv on standard input
    id_column : str or None, the column (npz: the array) of ids; names or numbers from 0
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
    raise ValueError(f"{path}: cannot tell the format; name it .csv, .tsv, .npy or .npz")


def map_points(path):
    """Return the points in a .npy file without reading them."""
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


def _bytes(path):
    if path != "-":
        return plain_file(path).read_bytes()
    if sys.stdin is None:
        raise ValueError("standard input is closed; name a file, or send it one")
    return sys.stdin.buffer.read()


def _name(path):
    return "standard input" if path == "-" else str(path)


def _rows(raw, file, delimiter):
    """Yield (line, cells) for every row; refuse broken text, unequal rows and gaps."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{file}, line {line}: not UTF-8 text; save the file as UTF-8") from error
    text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    blank = 0
    first: list = []
    try:
        for row in reader:
            if not row:
                blank = blank or reader.line_num
                continue
            if blank:
                raise ValueError(f"{file}, line {blank}: blank, with rows after it; remove it")
            first = first or row
            if len(row) != len(first):
                hint = other_separator(first) or " (the file may be cut short)"
                raise ValueError(
                    f"{file}, line {reader.line_num}: expected {len(first)} fields as in the first "
                    f"line, got {len(row)}; complete or remove the line{hint}"
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"{file}, line {reader.line_num}: {error}; the file may be cut short"
        ) from error


def header_of(first, file, asked, places):
    """Return the names in the first row, or [] if it is a row of data.

    Parameters
    ----------
    asked : list of str, the columns that were asked for; one by its name means a header
    places : function () -> places of the cells that are numbers in a row of data
    """
    names = [cell.strip() for cell in first]
    if not all(column.isdecimal() for column in asked):
        return names
    cells = [names[j] for j in places()]
    if all(is_number(cell) or not cell for cell in cells):
        return []
    odd = next(filter(is_number, cells), None)
    if odd is not None:
        warnings.warn(f"{file}: line 1 was read as a header, though it has the number {odd}")
    return names


def _read_text(path, delimiter, id_column, columns):
    file = _name(path)
    rows = _rows(_bytes(path), file, delimiter)
    line, first = next(rows, (0, []))
    if not first:
        raise ValueError(f"{file} is empty: expected a row per point")
    named = [] if id_column is None else [id_column]

    def features():
        but = find_column(id_column, [], len(first), file) if named else None
        return find_features(columns, [], len(first), file, but=but)

    names = header_of(first, file, [*(columns or ()), *named], features)
    key = None if id_column is None else find_column(id_column, names, len(first), file)
    places = find_features(columns, names, len(first), file, but=key)

    blocks: list = []
    line_of: dict[str, int] = {}
    batch: list = [] if names else [(line, first)]
    while batch := batch + list(islice(rows, BATCH)):
        blocks.append(_numbers(batch, places, names, file))
        if key is not None:
            for line, row in batch:
                if line_of.setdefault(row[key], line) != line:
                    raise ValueError(
                        f"{file}, line {line}: the id {row[key]!r} stands on line "
                        f"{line_of[row[key]]} as well; ids must be unique"
                    )
        batch = []
    if not blocks:
        raise ValueError(f"{file} has a header but no rows: expected a row per point")
    if "" in line_of:
        raise ValueError(f"{file}, line {line_of['']}: the id is empty; complete the row")
    return Points(np.concatenate(blocks), None if key is None else list(line_of))


def _numbers(batch, places, names, file):
    """Return the features of some rows, (rows, d)."""
    try:
        X = np.array([[number(row[j]) for j in places] for _, row in batch])
        bad = ~(abs(X) <= LARGEST)  # NaN too
    except ValueError:
        bad = np.array([[not is_number(row[j]) for j in places] for _, row in batch])
    if not bad.any():
        return X
    i, place = np.argwhere(bad)[0]
    (line, row), j = batch[i], places[place]
    if not row[j].strip():
        fault = "the cell is empty"
    elif not is_number(row[j]):
        fault = f"{row[j]!r} is not a number{other_separator(row)}"
    else:
        fault = f"{row[j]!r} is not within ±{LARGEST:g}"
    raise ValueError(
        f"{file}, line {line}, column {repr(names[j]) if names else j}: {fault}; correct it, "
        "remove the row, or leave the column out by --columns or --id-column"
    )


def _read_arrays(path, id_column, columns):
    with open(plain_file(path), "rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            arrays = _chosen(loaded, id_column) if hasattr(loaded, "files") else {"X": loaded}
        except Exception as error:  # a broken archive may fail anywhere, and with anything
            raise ValueError(
                f"{path}: not a readable .npy or .npz file of numbers ({error}); write it anew by "
                "numpy.save or numpy.savez"
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
    if key in arrays and key != name:
        return Points(X, _array_ids(arrays[key], len(X), f"{path}: {key}"))
    if id_column is not None:
        raise ValueError(f"{path}: no array {key!r} of ids; save one beside X by numpy.savez")
    return Points(X, None)


def _chosen(archive, id_column):
    """Return the arrays that matter; the others may be large, or not readable."""
    names = {"X", id_column or "id"} if "X" in archive.files else archive.files
    return {name: np.asarray(archive[name]) for name in archive.files if name in names}


def _array_ids(values, n, what):
    if values.shape != (n,) or values.dtype.kind not in "iuU":
        raise ValueError(
            f"{what} must be {n} integers or strings, one per row, got {values.dtype} of shape "
            f"{values.shape}"
        )
    row_of: dict[str, int] = {}
    for i, name in enumerate(map(str, values.tolist())):
        if row_of.setdefault(name, i) != i:
            raise ValueError(
                f"{what}: {name!r} names the rows {row_of[name]} and {i}; ids must be unique"
            )
    if "" in row_of:
        raise ValueError(f"{what}: the id of row {row_of['']} is empty; complete it")
    return list(row_of)


def read_links(path):
    """Return the Constraints in a file, or on standard input: csv, or json lines by their "{"."""
    if path != "-":
        return Constraints.read(path)
    file = io.BytesIO(_bytes(path))
    file.name = _name(path)
    form = "jsonl" if file.getvalue().lstrip().startswith(b"{") else "csv"
    return Constraints.read(file, format=form)


def label_text(labels, ids=None, delimiter=","):
    """Return a table of labels with a header, id,label or row,label."""
    names = range(len(labels)) if ids is None else ids
    file = io.StringIO(newline="")
    file.write(f"{'row' if ids is None else 'id'}{delimiter}label\n")
    # Ids are quoted: one may hold a line break of any kind.
    writer = csv.writer(
        file, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )
    writer.writerows(zip(names, labels.tolist(), strict=True))
    return file.getvalue()


def check_output(path, *, force=False):
    """Refuse a path that cannot, or should not, be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} is a pipe or a device; name a file")
    if os.path.exists(path) and not force:
        raise FileExistsError(f"{path} exists; --force overwrites it")
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: its folder does not exist; make it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: its folder is not writable; choose another")


def write_labels(path, labels, ids=None, *, force=False):
    """Write labels to a .csv or .tsv table, or alone to a .npy file: whole, or not at all."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        array = io.BytesIO()
        np.save(array, labels)
        raw = array.getvalue()
    else:
        raw = label_text(labels, ids, DELIMITER[suffix]).encode()
    check_output(path, force=force)
    write_whole(path, raw)
