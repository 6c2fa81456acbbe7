"""The rows of a .csv or .tsv file: cells as text, and the same cells as numbers."""

import csv
import io
import sys

import numpy as np

from linkwise.constraints.io import other_separator, plain_file

DELIMITER = {".csv": ",", ".tsv": "\t"}
LARGEST = 1e150  # squared distances of larger numbers overflow float64; of 1e15, float32


def file_name(path):
    """Return what to call a file in a message; "-" is standard input."""
    return "standard input" if path == "-" else str(path)


def read_bytes(path):
    """Return the bytes of a file, or of standard input if the path is "-"."""
    if path != "-":
        return plain_file(path).read_bytes()
    if sys.stdin is None:
        raise ValueError("standard input is closed; name a file, or send it one")
    return sys.stdin.buffer.read()


def read_rows(raw, file, delimiter):
    """Yield (line, cells) for every row of a table.

    Text that is not UTF-8, rows of unequal length and blank lines between rows are refused.

    Parameters
    ----------
    raw : bytes, the content of the file
    file : str, what to call the file in a message
    delimiter : str, the character between two cells
    """
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


def read_numbers(rows, places, names, file):
    """Return some columns of (line, cells) rows as numbers, (n_rows, n_places).

    Parameters
    ----------
    places : list of int, the columns
    names : list of str, the header, or [] if there is none
    file : str, what to call the file in a message
    """
    try:
        X = np.array([[number(row[j]) for j in places] for _, row in rows])
        bad = ~(abs(X) <= LARGEST)  # NaN too
    except ValueError:
        bad = np.array([[not is_number(row[j]) for j in places] for _, row in rows])
    if not bad.any():
        return X
    i, place = np.argwhere(bad)[0]
    (line, row), j = rows[i], places[place]
    if not row[j].strip():
        fault = "the cell is empty"
    elif not is_number(row[j]):
        fault = f"{row[j]!r} is not a number{other_separator(row)}"
    elif not np.isfinite(number(row[j])):
        fault = f"{row[j]!r} is not a finite number"
    else:
        fault = f"{row[j]!r} is not within ±{LARGEST:g}"
    raise ValueError(
        f"{file}, line {line}, column {repr(names[j]) if names else j}: {fault}; correct it, "
        "remove the row, or leave the column out by --columns or --id-column"
    )
