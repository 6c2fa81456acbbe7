"""A table in memory: columns of numbers or of texts, and where each row stands in its file.

Rows of text are read in batches. A column that is all numbers is kept as numbers; its texts only
where they are asked for, because they take much more memory.
"""

from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from linkwise.tables.columns import find_column
from linkwise.tables.csv_rows import as_numbers

BATCH = 10_000  # rows turned into numbers at once


class Column(NamedTuple):
    """A column of n cells.

    Attributes
    ----------
    name : str, or "" without a header
    numbers : float array (n,), NaN where a cell is empty; None if a cell is something else
    texts : list of n texts, "" where a cell is empty; None where only the numbers are kept
    other : str or None, the type of cells that are neither, such as "list"
    """

    name: str
    numbers: Any = None
    texts: list[str] | None = None
    other: str | None = None


class Table(NamedTuple):
    """Columns of one length.

    Attributes
    ----------
    file : str, what to call the file in a message
    names : list of str, the header, or [] if there is none
    columns : list of Column; those that were not wanted are empty
    rows : int array (n,), the number of each row in the file
    unit : str, what these numbers count: "line" or "row"
    note : str, what the reader has to tell about the file, or ""
    points : array (n, d) or None, a matrix beside the columns that the rows are clustered by
    computed : bool, whether the points were computed from these rows: those of others differ
    """

    file: str
    names: list[str]
    columns: list[Column]
    rows: Any
    unit: str = "line"
    note: str = ""
    points: Any = None
    computed: bool = False

    @property
    def width(self):
        """The number of columns."""
        return len(self.columns)

    def find(self, wanted):
        """Return the place of a column, by its name or else by its number."""
        return find_column(wanted, self.names, self.width, self.file)

    def key(self, j):
        """Return what `find` finds a column by: its name, or its number if there is no such."""
        return self.names[j] if self.names and self.names.count(self.names[j]) == 1 else str(j)

    def title(self, j):
        """Return what to call a column in a message."""
        return repr(self.names[j]) if self.names else str(j)

    def where(self, i, j=None):
        """Return what to call a row, or a cell, in a message."""
        column = "" if j is None else f", column {self.title(j)}"
        return f"{self.file}, {self.unit} {self.rows[i]}{column}"

    def texts(self, j):
        """Return the cells of a column as texts."""
        column = self.columns[j]
        if column.texts is not None:
            return column.texts
        return [number_text(value) for value in column.numbers.tolist()]


def number_text(value):
    """Return a number as a table has it: whole numbers without a point, NaN as an empty cell.

    >>> [number_text(value) for value in (3.0, 0.1, float("nan"), -1e22)]
    ['3', '0.1', '', '-1e+22']
    """
    if value != value:
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def text_columns(open_rows, names, wanted, as_text):
    """Return (columns, numbers of the rows) of a table in text.

    Parameters
    ----------
    open_rows : function () -> (line, cells) rows, without the header
    names : list of str, of all columns
    wanted : set of int, the columns to keep
    as_text : set of int, those of them whose texts are kept even if they are numbers
    """
    as_text = set(as_text)
    while True:  # again if a column of numbers turns out to be one of texts, after many rows
        found = _filled(open_rows(), len(names), wanted, as_text)
        if not isinstance(found, int):
            break
        as_text.add(found)
    columns, lines = found
    return [column._replace(name=name) for column, name in zip(columns, names, strict=True)], lines


def _filled(rows, width, wanted, as_text):
    """Return (columns, lines), or the first column whose texts would have been needed."""
    numbers: dict = {j: [] for j in wanted}
    texts: dict = {j: [] for j in wanted & as_text}
    lines: list = []
    while batch := list(islice(rows, BATCH)):
        lines += [line for line, _ in batch]
        for j in wanted:
            cells = [row[j] for _, row in batch]
            if numbers[j] is not None:
                found = as_numbers(cells)
                if found is None and j not in texts:
                    if len(lines) > len(batch):
                        return j
                    texts[j] = []
                numbers[j] = None if found is None else [*numbers[j], found]
            if j in texts:
                texts[j] += cells
    columns = []
    for j in range(width):
        parts = numbers.get(j)
        values = np.concatenate(parts) if parts else None
        columns.append(Column("", values, texts.get(j)))
    return columns, np.array(lines, dtype=np.int64)
