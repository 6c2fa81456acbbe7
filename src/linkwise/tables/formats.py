"""Files of tables: csv, tsv, jsonl, xlsx, parquet and h5ad, each also gzipped.

csv, tsv   one row per point. The first line is a header if a column is asked for by name, or if
           one of its feature fields is neither a number nor empty.
jsonl      one object per line; a key that a line lacks is an empty cell
xlsx       the first sheet, or a named one (extra ``io``)
parquet    extra ``io``; times and UUIDs become texts
h5ad       an AnnData file (extra ``anndata``): the columns of ``obs``, and the matrix that the rows
           are clustered by

A file is gzipped if its content is, whatever its name; its name may end in .gz.
"""

import errno
import gzip
import io
import json
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.constraints.ids import id_text
from linkwise.constraints.io import plain_file
from linkwise.exceptions import MissingExtra
from linkwise.tables.columns import find_column, find_features, header_of, near_miss
from linkwise.tables.csv_rows import DELIMITER, check_encoding, check_text, file_name, read_rows
from linkwise.tables.id_columns import NO_IDS, is_id_name
from linkwise.tables.table import Column, Table, text_columns

GZIP = b"\x1f\x8b"
JSONL = (".jsonl", ".ndjson")
TABLES = (*DELIMITER, *JSONL, ".parquet", ".xlsx", ".h5ad")
ARRAYS = (".npy", ".npz")
KNOWN = ".csv, .tsv, .jsonl, .parquet, .xlsx, .h5ad, .npy or .npz, or one of these with .gz"
CELLS = "obs_names"  # the names of the rows of an AnnData file
COMPONENTS = 50  # of a wide matrix of an AnnData file, as scanpy


def suffix_of(path):
    """Return the suffix that tells the format of a file; standard input is csv.

    >>> [suffix_of(path) for path in ("a.CSV", "a.csv.gz", "-", "a.gz")]
    ['.csv', '.csv', '.csv', '']
    """
    if path == "-":
        return ".csv"
    path = Path(path)
    inner = Path(path.stem) if path.suffix.lower() == ".gz" else path
    return inner.suffix.lower()


def check_format(path, delimiter=None, also=""):
    """Return the suffix of a table or of arrays; refuse another, or a file that is not there.

    Parameters
    ----------
    delimiter : str or None; a file whose delimiter is named is text, whatever its name
    also : str, what else could have been named
    """
    suffix = suffix_of(path)
    if suffix in (*TABLES, *ARRAYS):
        return suffix
    if not Path(path).exists():
        what = "no such file or folder" if also else "no such file"
        raise FileNotFoundError(errno.ENOENT, what, str(path))
    if delimiter is not None:
        return ".csv"
    raise ValueError(f"{path}: cannot tell the format; name it {KNOWN}{also}")


def check_options(suffix, file, delimiter, encoding, sheet):
    """Refuse options of reading that a format does not have."""
    if sheet is not None and suffix != ".xlsx":
        raise ValueError(f"{file}: --sheet names a sheet of an .xlsx file; leave it out")
    for name, value in (("--delimiter", delimiter), ("--encoding", encoding)):
        if value is not None and suffix not in (*DELIMITER, *JSONL):
            raise ValueError(f"{file}: {name} is for .csv, .tsv and .jsonl files; leave it out")


def read_bytes(path):
    """Return the bytes of a file, or of standard input if the path is "-"; gzip is undone."""
    if path != "-":
        raw = plain_file(path).read_bytes()
    elif sys.stdin is None:
        raise ValueError("standard input is closed; name a file, or send it one")
    else:
        raw = sys.stdin.buffer.read()
    if not raw.startswith(GZIP):
        if Path(path).suffix.lower() == ".gz":
            raise ValueError(f"{path}: not a gzip file, though its name ends in .gz; rename it")
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(
            f"{file_name(path)}: the gzip file is cut short or damaged; copy it again"
        ) from error


def read_table(
    path,
    *,
    delimiter=None,
    encoding=None,
    sheet=None,
    asked=(),
    id_column=None,
    columns=None,
    texts=False,
):
    """Return the Table in a file.

    Parameters
    ----------
    path : str, or "-" for csv on standard input
    delimiter, encoding : str or None, of a .csv, .tsv or .jsonl file
    sheet : str or None, the name of a sheet of an .xlsx file; default the first
    asked : names or numbers of columns that are neither ids nor numbers, such as texts
    id_column : str or None, the column of ids
    columns : list of str or None, the columns that are needed besides; default all
    texts : bool, keep the texts of columns of numbers too
    """
    suffix, file = check_format(path, delimiter), file_name(path)
    check_options(suffix, file, delimiter, encoding, sheet)
    needed = None if columns is None else [*columns, *asked]
    named = [] if id_column in (None, NO_IDS) else [id_column]
    if suffix == ".parquet":
        return _read_parquet(path, file, needed, named)
    if suffix == ".h5ad":
        return _read_cells(path, file, columns)
    note = ""
    if suffix == ".xlsx":
        names, rows, note = _sheet_rows(read_bytes(path), file, sheet)
    elif suffix in JSONL:
        names, rows = _json_rows(read_bytes(path), file, check_encoding(encoding))
    else:
        raw, mark = read_bytes(path), delimiter or DELIMITER.get(suffix, ",")
        names, code = None, check_encoding(encoding)
        rows = lambda: read_rows(raw, file, mark, code)  # noqa: E731
    return _text_table(file, names, rows, asked, named, columns, texts)._replace(note=note)


def _text_table(file, names, open_rows, asked, named, columns, texts):
    """Return a Table of rows of text; names is None if the first row may be a header."""
    _, first = next(open_rows(), (0, []))
    if not first:
        raise ValueError(f"{file} is empty: expected a row per point")
    width, skipped = len(first), 0

    def features():
        but = {find_column(column, [], width, file) for column in (*named, *asked)}
        places = find_features(columns, [], width, file)
        return [j for j in places if j not in but]

    if names is None:
        names = header_of(first, file, [*(columns or ()), *asked, *named], features)
        skipped = 1 if names else 0
    keys = {find_column(column, names, width, file) for column in named}
    keys |= {j for j, name in enumerate(names) if is_id_name(name, j)}
    others = {find_column(column, names, width, file) for column in asked}
    chosen = set(find_features(columns, names, width, file))

    def rows():
        found = open_rows()
        for _ in range(skipped):
            next(found)
        return found

    everything = set(range(width))
    found, lines = text_columns(
        rows,
        names or [""] * width,
        everything if texts else chosen | others | keys,
        everything if texts else others | keys,
    )
    if not len(lines):
        raise ValueError(f"{file} has a header but no rows: expected a row per point")
    return Table(file, names, found, lines)


def _json_rows(raw, file, encoding):
    """Return (names, function () -> rows) of objects, one on each line."""
    check_text(raw, file, encoding)
    objects = []
    for line, text in enumerate(raw.decode(encoding).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ValueError(
                f'{file}, line {line}: expected an object such as {{"age": 31, "plan": "basic"}}, '
                f"got {text[:80]!r}; complete or remove the line (the file may be cut short)"
            )
        objects.append((line, found))
    names = list(dict.fromkeys(str(key) for _, found in objects for key in found))

    def rows():
        for line, found in objects:
            yield line, [_json_text(found.get(name), file, line, name) for name in names]

    return names, rows


def _json_text(value, file, line, name):
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict | list):
        raise ValueError(
            f"{file}, line {line}, column {name!r}: expected a number or a text, got "
            f"{json.dumps(value)[:80]}; write its parts to columns of their own"
        )
    return json.dumps(value)


def _sheet_rows(raw, file, sheet):
    """Return (None, function () -> rows, note) of a sheet; the first row may be a header."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("openpyxl", "io") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        names = [found.title for found in book.worksheets]
    except Exception as error:  # a broken archive may fail anywhere, and with anything
        raise ValueError(
            f"{file}: not a readable .xlsx file: it is cut short, damaged, or of another format"
        ) from error
    if sheet is not None and sheet not in names:
        raise ValueError(
            f"{file}: no sheet {sheet!r}; {near_miss(sheet, names)}its sheets are "
            f"{', '.join(map(repr, names))}"
        )
    if not names:
        raise ValueError(f"{file} has no sheet of cells; save the table in one")
    chosen = sheet or names[0]
    try:
        cells = [
            (i, [_cell_text(value) for value in row])
            for i, row in enumerate(book[chosen].iter_rows(values_only=True), start=1)
        ]
    except Exception as error:
        raise ValueError(f"{file}: the sheet {chosen!r} cannot be read: {error}") from error
    cells = [(i, row) for i, row in cells if any(row)]
    width = max((j + 1 for _, row in cells for j, cell in enumerate(row) if cell), default=0)
    cells = [(i, (row + [""] * width)[:width]) for i, row in cells]
    others = ", ".join(repr(name) for name in names if name != chosen)
    note = f"the sheet {chosen!r} is read, not {others}" if others and sheet is None else ""
    return None, lambda: iter(cells), note


def _cell_text(value):
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        return str(int(value)) if float(value).is_integer() else repr(value)
    return id_text(value) or str(value)


def _read_parquet(path, file, columns, named):
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "io") from None
    raw = read_bytes(path)
    try:
        opened = parquet.ParquetFile(io.BytesIO(raw))
        stored = opened.schema_arrow.names
        index = [name for name in stored if name.startswith("__index_level_")]  # of pandas
        order = index + [name for name in stored if name not in index]
        names = ["" if name in index else name for name in order]
        keep = list(range(len(order)))
        if columns is not None:
            asked = {find_column(column, names, len(names), file) for column in (*columns, *named)}
            keep = [j for j in keep if j in asked or is_id_name(names[j], j)]
        data = opened.read(columns=[order[j] for j in keep])
    except ValueError as error:
        if str(error).startswith(file):
            raise
        raise ValueError(
            f"{file}: not a readable .parquet file: it is cut short or damaged"
        ) from error
    except OSError as error:
        raise ValueError(
            f"{file}: not a readable .parquet file: it is cut short or damaged"
        ) from error
    if not data.num_rows:
        raise ValueError(f"{file} has no rows: expected a row per point")
    found = [Column(name) for name in names]
    for j in keep:
        found[j] = _parquet_column(names[j], data.column(order[j]))
    return Table(file, names, found, np.arange(data.num_rows), "row")


def _parquet_column(name, values):
    """Return the Column of a column of pyarrow."""
    import pyarrow
    from pyarrow import types

    kind = values.type
    if types.is_dictionary(kind):
        values = pyarrow.chunked_array(
            [chunk.dictionary_decode() for chunk in values.chunks], kind.value_type
        )
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return _number_column(name, values, kind)
    if types.is_decimal(kind):
        return Column(
            name, np.array([np.nan if v is None else float(v) for v in values.to_pylist()])
        )
    if types.is_nested(kind):
        return Column(name, other=str(kind))
    cells = [typed_text(value) for value in values.to_pylist()]
    if None in cells:
        return Column(name, other=str(kind))
    return Column(name, texts=cells)


def _number_column(name, values, kind):
    from pyarrow import compute, types

    if types.is_integer(kind):
        ends = compute.min_max(values).as_py()
        if any(end is not None and abs(end) > 2**53 for end in ends.values()):  # ids, say
            texts = ["" if value is None else str(value) for value in values.to_pylist()]
            return Column(name, np.array([float(text or "nan") for text in texts]), texts)
    floats = compute.cast(values, "float64").to_numpy()
    return Column(name, np.asarray(floats, dtype=float))


def typed_text(value):
    """Return a value of a parquet file as a text, or None if it is not one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes) and len(value) == 16:
        import uuid

        return str(uuid.UUID(bytes=value))
    return id_text(value)


def _read_cells(path, file, columns):
    """Return the Table of an AnnData file: its obs, and the matrix to cluster by."""
    try:
        import anndata
    except ImportError:
        raise MissingExtra("anndata", "anndata") from None
    raw = read_bytes(path)
    with tempfile.NamedTemporaryFile(suffix=".h5ad") as copy:
        copy.write(raw)
        copy.flush()
        try:
            data = anndata.read_h5ad(copy.name)
        except Exception as error:  # HDF5 may fail anywhere, and with anything
            raise ValueError(
                f"{file}: not a readable .h5ad file: it is cut short, damaged, or not of AnnData"
            ) from error
    if not data.n_obs:
        raise ValueError(f"{file} has no rows: expected a row per point")
    obs = data.obs
    found = [Column(CELLS, texts=list(map(str, data.obs_names)))]
    found += [_frame_column(str(name), obs[name]) for name in obs.columns]
    table = Table(file, [column.name for column in found], found, np.arange(data.n_obs), "row")
    if columns is None:
        points, note = _cell_points(data, None)
    elif len(columns) == 1 and (columns[0] == "X" or columns[0] in data.obsm):
        points, note = _cell_points(data, columns[0])
    else:
        return table
    return table._replace(points=points, note=note)


def _cell_points(data, name):
    """Return (points, what they are): a matrix of obsm, or X, of which components if it is wide."""
    from scipy import sparse

    if name is None and data.n_vars > COMPONENTS and "X_pca" in data.obsm:
        name = "X_pca"
    if name not in (None, "X"):
        X = np.asarray(data.obsm[name], dtype=float)
        return X, f"clustered by {name}, {X.shape[1]} columns"
    X = data.X
    if name == "X" or data.n_vars <= COMPONENTS:
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return X.astype(float), f"clustered by X, {X.shape[1]} columns"
    from sklearn.decomposition import PCA, TruncatedSVD

    d = min(COMPONENTS, min(X.shape) - 1)
    reduce: Any = TruncatedSVD if sparse.issparse(X) else PCA
    X = reduce(d, random_state=0).fit_transform(X)
    return np.asarray(X, dtype=float), f"clustered by {d} components of X, {data.n_vars} columns"


def _frame_column(name, values):
    """Return the Column of a column of a data frame."""
    if values.dtype.kind in "biuf":
        return Column(name, np.asarray(values, dtype=float))
    missing = values.isna().to_numpy()
    texts = [
        "" if gone else value if isinstance(value, str) else id_text(value) or str(value)
        for value, gone in zip(values.tolist(), missing, strict=True)
    ]
    return Column(name, texts=texts)
