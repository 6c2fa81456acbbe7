"""The rows of a table in text: cells, and the same cells as numbers."""

import codecs
import csv
import io

import numpy as np

from linkwise.constraints.io import other_separator

DELIMITER = {".csv": ",", ".tsv": "\t"}
LARGEST = 1e150  # squared distances of larger numbers overflow float64; of 1e15, float32
EMPTY = {"", "na", "n/a", "nan", "null"}  # how spreadsheets, R, pandas and databases write it
UTF8 = "utf-8-sig"


def file_name(path):
    """Return what to call a file in a message; "-" is standard input."""
    return "standard input" if path == "-" else str(path)


def check_encoding(name):
    """Return the name of a character encoding that Python knows; the default is UTF-8."""
    if name is None:
        return UTF8
    try:
        if codecs.lookup(name)._is_text_encoding:
            return UTF8 if codecs.lookup(name).name == "utf-8" else name
    except LookupError:
        pass
    raise ValueError(
        f"the encoding {name!r} is not known; name one such as utf-8, cp1252, latin-1 or utf-16"
    )


def check_text(raw, file, encoding):
    """Refuse bytes that are not text in an encoding, with the line of the first one."""
    try:
        raw.decode(encoding)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = raw[:start].decode(encoding, errors="replace").count("\n") + 1
        told = "UTF-8" if encoding == UTF8 else encoding
        wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        other = "utf-16" if wide else "cp1252" if encoding == UTF8 else "utf-8"
        raise ValueError(
            f"{file}, line {line}: not {told} text; save the file as UTF-8, or name its encoding, "
            f"such as --encoding {other}"
        ) from error


def separator_hint(cells):
    """Return a hint if the only cell of a row looks like several, else ""."""
    if not other_separator(cells):
        return ""
    mark = next(mark for mark in ";\t|," if mark in cells[0])
    return f" (fields seem to be separated by {mark!r}; --delimiter names another than ',')"


def read_rows(raw, file, delimiter, encoding=UTF8):
    """Yield (line, cells) for every row of a table.

    Text in another encoding, rows of unequal length and blank lines between rows are refused.

    Parameters
    ----------
    raw : bytes, the content of the file
    file : str, what to call the file in a message
    delimiter : str, the character between two cells
    encoding : str, that of the text
    """
    check_text(raw, file, encoding)
    text = io.TextIOWrapper(io.BytesIO(raw), encoding=encoding, newline="")
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
                hint = separator_hint(first) or " (the file may be cut short)"
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


def is_empty(cell):
    """Tell whether a cell of a column of numbers has no value.

    >>> [is_empty(cell) for cell in ("", " NA ", "null", "0", "none")]
    [True, True, True, False, False]
    """
    return cell.strip().casefold() in EMPTY


def as_numbers(cells):
    """Return cells as floats, NaN where a cell is empty; None if one is something else."""
    try:
        return np.array([number(cell) for cell in cells])
    except ValueError:
        pass
    try:
        return np.array([np.nan if is_empty(cell) else number(cell) for cell in cells])
    except ValueError:
        return None
