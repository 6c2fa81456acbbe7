"""Scored pairs of records in files: id_a, id_b, score, and the source of each record."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from linkwise.tables.csv_rows import DELIMITER, file_name, read_rows
from linkwise.tables.file_bytes import read_bytes


class ScoredPairs(NamedTuple):
    """Candidate pairs of records."""

    ids: list[str]  # of the records, in order of appearance
    pairs: np.ndarray  # (m, 2) int, positions in ids
    score: np.ndarray  # (m,) in [0, 1]
    source: np.ndarray | None  # (n,) int, -1 where it is empty


def _column(name, names, file):
    if name not in names:
        raise ValueError(f"{file} has no column {name!r}; its columns are {', '.join(names)}")
    return names.index(name)


def read_scored_pairs(path, source=None):
    """Return the ScoredPairs in a .csv or .tsv file with a header.

    Parameters
    ----------
    path : str, or "-" for csv on standard input
    source : str or None, the sources are in the columns ``{source}_a`` and ``{source}_b``
    """
    suffix = ".csv" if path == "-" else Path(path).suffix.lower()
    if suffix not in DELIMITER:
        raise ValueError(f"{path}: expected a table of pairs, .csv or .tsv")
    file = file_name(path)
    rows = read_rows(read_bytes(path), file, DELIMITER[suffix])
    _, names = next(rows, (0, []))
    at = [_column(name, names, file) for name in ("id_a", "id_b", "score")]
    sides = None if source is None else [_column(f"{source}_{s}", names, file) for s in "ab"]
    number: dict[str, int] = {}
    code: dict[str, int] = {}
    sources: dict[int, int] = {}
    pairs, scores = [], []
    for line, row in rows:
        ends = [number.setdefault(row[place], len(number)) for place in at[:2]]
        if ends[0] == ends[1]:
            raise ValueError(f"{file}, line {line}: {row[at[0]]!r} is paired with itself")
        try:
            value = float(row[at[2]])
        except ValueError:
            value = float("nan")
        if not 0 <= value <= 1:
            raise ValueError(
                f"{file}, line {line}: the score {row[at[2]]!r} is not a number from 0 to 1"
            )
        for end, place in zip(ends, sides or (), strict=False):
            text = row[place]
            found = -1 if text == "" else code.setdefault(text, len(code))
            if sources.setdefault(end, found) != found:
                raise ValueError(
                    f"{file}, line {line}: {list(number)[end]!r} has another source than before"
                )
        pairs.append(ends)
        scores.append(value)
    if not pairs:
        raise ValueError(f"{file} has no pairs: expected rows id_a, id_b, score")
    of = None if sides is None else np.array([sources[i] for i in range(len(number))])
    return ScoredPairs(list(number), np.array(pairs), np.array(scores), of)
