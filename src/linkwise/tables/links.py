"""Links in a file or on standard input."""

import io

from linkwise._typing import FileFormat
from linkwise.constraints import Constraints
from linkwise.tables.csv_rows import file_name
from linkwise.tables.file_bytes import damaged, read_bytes, suffix_of
from linkwise.tables.typed_files import open_parquet, typed_text


def read_links(path):
    """Return the Constraints in a file, or on standard input if the path is "-".

    A .parquet file has the columns of a .csv file (extra ``io``). Standard input is read as json
    lines if it begins with "{", else as csv. A file may be gzipped.
    """
    suffix = suffix_of(path)
    if suffix == ".parquet":
        return _read_parquet(path)
    if path != "-" and not str(path).lower().endswith(".gz"):
        return Constraints.read(path)
    file = io.BytesIO(read_bytes(path))
    file.name = file_name(path)
    form: FileFormat = "tsv" if suffix == ".tsv" else "csv"
    if suffix in (".jsonl", ".ndjson") or file.getvalue().lstrip().startswith(b"{"):
        form = "jsonl"
    return Constraints.read(file, format=form)


def _read_parquet(path):
    opened, _ = open_parquet(path, path)
    try:
        table = opened.read()
    except Exception as error:  # a broken file may fail anywhere, and with anything
        raise damaged(path, ".parquet") from error
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    for name, values in columns.items():
        columns[name] = [typed_text(v) if isinstance(v, bytes) else v for v in values]
    return Constraints.from_table(columns)
