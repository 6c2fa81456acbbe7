"""Files of tables: csv, tsv, jsonl, xlsx, parquet and h5ad, each also gzipped.

csv, tsv   one row per point. The first line is a header if a column is asked for by name, or if
           one of its feature fields is neither a number nor empty.
jsonl      one object per line; a key that a line lacks is an empty cell
xlsx       the first sheet, or a named one (extra ``io``)
parquet    extra ``io``; times and UUIDs become texts
h5ad       an AnnData file (extra ``anndata``): the columns of ``obs``, and the matrix that the rows
           are clustered by

"""

import errno
import io
import json
import warnings
from pathlib import Path

from linkwise.constraints.ids import id_text
from linkwise.exceptions import MissingExtra
from linkwise.tables.columns import find_column, find_features, header_of, near_miss
from linkwise.tables.csv_rows import DELIMITER, check_encoding, check_text, file_name, read_rows
from linkwise.tables.file_bytes import damaged, read_bytes, suffix_of
from linkwise.tables.id_columns import NO_IDS, is_id_name
from linkwise.tables.table import Table, text_columns
from linkwise.tables.typed_files import read_cells, read_parquet

JSONL = (".jsonl", ".ndjson")
TABLES = (*DELIMITER, *JSONL, ".parquet", ".xlsx", ".h5ad")
ARRAYS = (".npy", ".npz")
KNOWN = ".csv, .tsv, .jsonl, .parquet, .xlsx, .h5ad, .npy or .npz, or one of these with .gz"


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
    texts : bool, keep the texts of columns of numbers too; or the names of those to keep
    """
    suffix, file = check_format(path, delimiter), file_name(path)
    check_options(suffix, file, delimiter, encoding, sheet)
    needed = None if columns is None else [*columns, *asked]
    named = [] if id_column in (None, NO_IDS) else [id_column]
    if suffix == ".parquet":
        return read_parquet(path, file, needed, named)
    if suffix == ".h5ad":
        return read_cells(path, file, columns)
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

    wanted, as_text = chosen | others | keys, others | keys
    if texts is True:
        wanted = as_text = set(range(width))
    elif texts:
        titles = names or list(map(str, range(width)))
        as_text |= {j for j, name in enumerate(titles) if name in texts}
    found, lines = text_columns(rows, names or [""] * width, wanted, as_text)
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
    with warnings.catch_warnings():  # about parts of a workbook that are not cells
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
            names = [found.title for found in book.worksheets]
        except Exception as error:  # a broken archive may fail anywhere, and with anything
            raise damaged(file, ".xlsx") from error
        chosen = _chosen_sheet(names, sheet, file)
        try:
            cells = [
                (i, [_cell_text(value) for value in row])
                for i, row in enumerate(book[chosen].iter_rows(values_only=True), start=1)
            ]
        except Exception as error:
            raise damaged(file, ".xlsx") from error
    cells = [(i, row) for i, row in cells if any(row)]
    width = max((j + 1 for _, row in cells for j, cell in enumerate(row) if cell), default=0)
    cells = [(i, (row + [""] * width)[:width]) for i, row in cells]
    others = ", ".join(repr(name) for name in names if name != chosen)
    note = f"the sheet {chosen!r} is read, not {others}" if others and sheet is None else ""
    return None, lambda: iter(cells), note


def _chosen_sheet(names, sheet, file):
    if sheet is not None and sheet not in names:
        raise ValueError(
            f"{file}: no sheet {sheet!r}; {near_miss(sheet, names)}its sheets are "
            f"{', '.join(map(repr, names))}"
        )
    if not names:
        raise ValueError(f"{file} has no sheet of cells; save the table in one")
    return sheet or names[0]


def _cell_text(value):
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | float):
        return str(int(value)) if float(value).is_integer() else repr(value)
    return id_text(value) or str(value)
