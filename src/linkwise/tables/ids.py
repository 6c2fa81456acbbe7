"""Ids of the rows of a table: one distinct, non-empty text per row."""


def read_ids(rows, key, file, seen=None):
    """Return {id: line} of the column `key` of (line, cells) rows, in their order.

    Parameters
    ----------
    seen : dict, the result for the rows before these; the ids are added to it
    """
    line_of: dict[str, int] = {} if seen is None else seen
    for line, row in rows:
        if not row[key]:
            raise ValueError(f"{file}, line {line}: the id is empty; complete the row")
        if line_of.setdefault(row[key], line) != line:
            raise ValueError(
                f"{file}, line {line}: the id {row[key]!r} stands on line {line_of[row[key]]} as "
                "well; ids must be unique"
            )
    return line_of


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
