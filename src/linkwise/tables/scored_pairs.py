"""Scored pairs of records in files: id_a, id_b, score, and the source of each record."""

from typing import NamedTuple

import numpy as np

from linkwise.tables.csv_rows import file_name
from linkwise.tables.file_bytes import suffix_of
from linkwise.tables.formats import TABLES, read_table
from linkwise.tables.typed_files import read_parquet


class ScoredPairs(NamedTuple):
    """Candidate pairs of records."""

    ids: list[str]  # of the records, in order of appearance
    pairs: np.ndarray  # (m, 2) int, positions in ids
    score: np.ndarray  # (m,) in [0, 1]
    source: np.ndarray | None  # (n,) int, -1 where it is empty


def _read(path, wanted):
    """Return the Table of a file whose wanted columns are texts."""
    suffix = suffix_of(path)
    if suffix not in TABLES or suffix == ".h5ad":
        raise ValueError(
            f"{path}: expected a table of pairs, .csv, .tsv, .jsonl, .parquet or .xlsx, or one of "
            "these with .gz"
        )
    if suffix == ".parquet":
        return read_parquet(path, file_name(path), wanted, wanted)
    return read_table(path, asked=wanted, texts=True)


def _texts(table, name):
    column = table.columns[table.find(name)]
    if column.other is not None:
        raise ValueError(f"{table.file}: the column {name!r} has {column.other} values, not texts")
    return table.texts(table.find(name))


def read_scored_pairs(path, source=None):
    """Return the ScoredPairs in a table with a header.

    Parameters
    ----------
    path : str, a .csv, .tsv, .jsonl, .parquet or .xlsx file, or "-" for csv on standard input
    source : str or None, the sources are in the columns ``{source}_a`` and ``{source}_b``
    """
    sides = [] if source is None else [f"{source}_{side}" for side in "ab"]
    table = _read(path, ["id_a", "id_b", "score", *sides])
    a, b, scores, *of = (
        table.texts(table.find(name)) for name in ("id_a", "id_b", "score", *sides)
    )
    number: dict[str, int] = {}
    code: dict[str, int] = {}
    sources: dict[int, int] = {}
    pairs, values = [], []
    for i, (*names, score) in enumerate(zip(a, b, scores, strict=True)):
        if "" in names:
            raise ValueError(f"{table.where(i)}: an id is empty; complete the row, or remove it")
        ends = [number.setdefault(name, len(number)) for name in names]
        if ends[0] == ends[1]:
            raise ValueError(f"{table.where(i)}: {names[0]!r} is paired with itself")
        try:
            value = float(score)
        except ValueError:
            value = float("nan")
        if not 0 <= value <= 1:
            raise ValueError(f"{table.where(i)}: the score {score!r} is not a number from 0 to 1")
        for end, side in zip(ends, of, strict=False):
            found = -1 if side[i] == "" else code.setdefault(side[i], len(code))
            if sources.setdefault(end, found) != found:
                raise ValueError(
                    f"{table.where(i)}: {list(number)[end]!r} has another source than before"
                )
        pairs.append(ends)
        values.append(value)
    if not pairs:
        raise ValueError(f"{table.file} has no pairs: expected rows id_a, id_b, score")
    every = np.array([sources[i] for i in range(len(number))]) if sides else None
    return ScoredPairs(list(number), np.array(pairs), np.array(values), every)
