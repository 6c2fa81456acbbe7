"""Ids of the rows of a table: one distinct, non-empty text per row.

A column is plainly one of ids if

    its name says so: id, index, key, ..., or a name that ends in _id or Id; or it is the first
    column and has no name, as pandas writes an index; and
    its values are all different, none is empty and none is a number with a fraction.

A column ``id`` with repeated values is not: it says what a row belongs to.
"""

import re

from linkwise.tables.csv_rows import is_number, number

NO_IDS = "none"  # in place of a column of ids: rows are known by their numbers
# "heat_index" and "paid" are features: index and key count alone, id after a separator or a
# change of case. "Unnamed: 0" is what pandas calls an index that it has read back.
ID_NAME = re.compile(
    r"(?i:id|index|key|uuid|guid|identifier|rownames|obs_names|unnamed: 0)"
    r"|.*[_\-. ](?i:id|uuid|guid)|.*[a-z](?:Id|ID)"
)


def is_id_name(name, place):
    """Tell whether a column may be one of ids, by its name and its place.

    >>> [is_id_name(name, 1) for name in ("ID", "sample_id", "PassengerId", "grid", "heat_index")]
    [True, True, True, False, False]
    """
    return bool(ID_NAME.fullmatch(name)) or (name == "" and place == 0)


def are_ids(cells):
    """Tell whether cells could be ids: all different, none empty, none a number with a fraction."""
    if len(set(cells)) < len(cells) or not all(map(str.strip, cells)):
        return False
    return not any(is_number(cell) and not number(cell).is_integer() for cell in cells)


def find_ids(table, but=()):
    """Return the place of the column that is plainly one of ids, or None.

    A column called id goes before the others.

    Parameters
    ----------
    table : Table; the cells of a column are looked at only if its name says "id"
    but : names or numbers of columns that are something else
    """
    names = table.names
    places = [
        j
        for j, name in enumerate(names)
        if is_id_name(name, j) and names.count(name) == 1 and not {name, str(j)} & set(but)
    ]
    places.sort(key=lambda j: names[j].casefold() != "id")
    return next(
        (j for j in places if table.columns[j].other is None and are_ids(table.texts(j))), None
    )


def titled(column):
    """Return what to call a column of ids in a message; pandas leaves an index without a name."""
    return f"column {column!r}" if column else "first column"


def recognised_note(file, column):
    """Return the note that a column was recognised as ids, though nobody named it."""
    which = titled(column)
    return f"{file}: the {which} is used as ids and not clustered by; --id {NO_IDS} turns this off"


def read_ids(table, key):
    """Return the ids in the column `key` of a Table, one distinct text per row."""
    if table.columns[key].other is not None:
        raise ValueError(
            f"{table.file}: the column {table.title(key)} has {table.columns[key].other} values; "
            "ids are texts or whole numbers"
        )
    row_of: dict[str, int] = {}
    for i, name in enumerate(table.texts(key)):
        if not name:
            raise ValueError(f"{table.where(i)}: the id is empty; complete the row")
        if (first := row_of.setdefault(name, i)) != i:
            raise ValueError(
                f"{table.where(i)}: the id {name!r} stands on {table.unit} {table.rows[first]} as "
                "well; ids must be unique"
            )
    return list(row_of)


def array_ids(values, n, what):
    """Return the n ids in an array of a .npz file, as texts.

    Parameters
    ----------
    what : str, what to call the array in a message
    """
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
