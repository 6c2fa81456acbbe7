"""Columns of a table: the header, and columns by name or by number from 0."""

from difflib import get_close_matches

from linkwise.exceptions import warn
from linkwise.tables.csv_rows import is_number, separator_hint

LISTED = 20  # names of columns in a message


def find_column(wanted, names, width, file):
    """Return the place of a column, by its name or else by its number.

    Parameters
    ----------
    wanted : str, the name or the number
    names : list of str, the header, or [] if there is none
    width : int, the number of columns
    file : str, what to call the file in a message
    """
    if names.count(wanted) > 1:
        raise ValueError(
            f"{file}: {names.count(wanted)} columns are called {wanted!r}; use numbers"
        )
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and int(wanted) < width:
        return int(wanted)
    known = "give a"
    if names:
        more = ", ..." if len(names) > LISTED else ""
        known = f"the columns are {', '.join(map(repr, names[:LISTED]))}{more}, or by"
    raise ValueError(
        f"{file}: no column {wanted!r}; {near_miss(wanted, names)}{known} number 0..{width - 1}"
        f"{separator_hint(names)}"
    )


def near_miss(wanted, names):
    """Return the question whether a similar name was meant, or "".

    >>> near_miss("incom", ["age", "Income"]), near_miss("z", ["age"])
    ("did you mean 'Income'? ", '')
    """
    plain = {name.casefold(): name for name in names}
    close = get_close_matches(wanted.strip().casefold(), plain, n=1, cutoff=0.7)
    return f"did you mean {plain[close[0]]!r}? " if close else ""


def find_features(columns, names, width, file, *, but=None):
    """Return the places of the columns asked for; by default of all columns `but` one."""
    if columns is None:
        places = [j for j in range(width) if j != but]
    else:
        places = [find_column(column, names, width, file) for column in columns]
    if not places:
        raise ValueError(f"{file}: no column is left to cluster by; it needs at least one")
    if len(set(places)) < len(places):
        raise ValueError(f"{file}: the columns {','.join(columns)} name one column twice")
    return places


def header_of(first, file, asked, places):
    """Return the names in the first row, or [] if it is a row of data.

    The first row is a header if a column is asked for by name, or if a cell that would be a
    number in a row of data is neither a number nor empty.

    Parameters
    ----------
    first : list of str, the cells of the first row
    file : str, what to call the file in a message
    asked : list of str, the columns that were asked for, by name or number
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
        warn(f"{file}: line 1 was read as a header, though it has the number {odd}")
    return names
