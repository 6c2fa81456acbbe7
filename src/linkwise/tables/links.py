"""Links in a file or on standard input."""

import io

from linkwise._typing import FileFormat
from linkwise.constraints import Constraints
from linkwise.tables.csv_rows import file_name, read_bytes


def read_links(path):
    """Return the Constraints in a file, or on standard input if the path is "-".

    Standard input is read as json lines if it begins with "{", else as csv.
    """
    if path != "-":
        return Constraints.read(path)
    file = io.BytesIO(read_bytes(path))
    file.name = file_name(path)
    form: FileFormat = "jsonl" if file.getvalue().lstrip().startswith(b"{") else "csv"
    return Constraints.read(file, format=form)
