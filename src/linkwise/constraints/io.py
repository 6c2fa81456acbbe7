"""Pairs in files: csv, tsv and json lines.

csv    a header with id_a, id_b, kind and optionally weight, in any order; other
       columns are ignored. A file without header has three or four columns in
       that order. Ids become integers if all of them are written like integers
       (7, not 007), else strings.
jsonl  one object per line, {"a": 3, "b": 8, "kind": "must", "weight": 1}; ids
       keep their type. An empty file is no pairs. A line may also be an answer
       about a set, {"members": [3, 8, 9], "strangers": [8]}, or a group of which
       no two are together, {"apart": [3, 8, 9]}.

An error names the line that is wrong. Files are UTF-8. They are written to a
temporary file and then renamed, so that a reader never sees an incomplete file.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from linkwise._files import instead_of
from linkwise._typing import Array, FilePath
from linkwise.constraints.groups import members
from linkwise.constraints.ids import as_array
from linkwise.constraints.pair_tables import (
    COLUMNS,
    PairColumns,
    columns_of,
    find_columns,
    is_header,
    kind_of,
)

if TYPE_CHECKING:
    from linkwise.constraints.pairs import Constraints

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
DELIMITER = {"csv": ",", "tsv": "\t"}
INTEGER = re.compile(r"\s*(0|-?[1-9][0-9]{0,18})\s*")
BATCH = 10_000  # lines of json to parse in one call, which is several times faster than one by one
EXPECTED = "id_a, id_b, kind and optionally weight"


def file_format(path: Any, format: str | None = None) -> str:
    """Return "csv", "tsv" or "jsonl": the given format, or the one of the file's suffix."""
    if format is None:
        name = (
            getattr(path, "name", "") if hasattr(path, "read") or hasattr(path, "write") else path
        )
        format = FORMATS.get(Path(str(name)).suffix.lower())
        if format is None:
            raise ValueError(
                f"{_name(path)}: cannot tell the format; name it .csv, .tsv, .jsonl or .ndjson, "
                'or pass format="csv"'
            )
    if format not in ("csv", "tsv", "jsonl"):
        raise ValueError(f"format must be 'csv', 'tsv' or 'jsonl', got {format!r}")
    return format


def _name(path: Any) -> str:
    return str(getattr(path, "name", "the text" if hasattr(path, "read") else path))


def plain_file(path: FilePath) -> Path:
    """Return the Path of a file; refuse a pipe or a device, which may have no end."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError(f"{path} is a pipe or a device; name a file")
    return path


def read_text(path: Any) -> str:
    """Return the text of a path or an open file, without byte order mark."""
    raw = path.read() if hasattr(path, "read") else plain_file(path).read_bytes()
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{_name(path)}, line {line}: not UTF-8 text; save the file as UTF-8"
        ) from error
    return text.removeprefix("\ufeff")


class Links(NamedTuple):
    """What a file says: pairs, answers about sets (members, strangers), and sets that are apart."""

    columns: PairColumns
    sets: list[tuple[list[Any], list[Any]]]
    apart: list[list[Any]]
    where_sets: Callable[[int], str] = str  # where in the file a set is
    where_apart: Callable[[int], str] = str


def read_links(path: Any, format: str | None = None) -> Links:
    """Return the Links in a path or an open file."""
    format = file_format(path, format)
    text = read_text(path)
    if format == "jsonl":
        return _read_jsonl(text, _name(path))
    if not text.strip():
        raise ValueError(f"{_name(path)} is empty: expected at least a header, {EXPECTED}")
    return Links(_read_csv(text, _name(path), DELIMITER[format]), [], [])


def other_separator(cells: list[str]) -> str:
    """Return a hint if the only cell of a row looks like several, else ""."""
    mark = next((mark for mark in ";\t|," if len(cells) == 1 and mark in cells[0]), None)
    if mark is None:
        return ""
    return f" (fields seem to be separated by {mark!r}; in .csv it is ',', in .tsv a tab)"


def _csv_reader(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _csv_cells(text: str, name: str, delimiter: str) -> tuple[list[str], list[int]]:
    """Return (cells, widths): all cells in one list, and the length of each row not blank."""
    reader = _csv_reader(text, delimiter)
    cells, widths = [], []
    try:
        for row in reader:
            if row:
                cells += row
                widths.append(len(row))
    except csv.Error as error:
        raise ValueError(
            f"{name}, line {reader.line_num}: {error}; the file may be cut short"
        ) from error
    return cells, widths


def _read_csv(text: str, name: str, delimiter: str) -> PairColumns:
    cells, widths = _csv_cells(text, name, delimiter)
    width = widths[0]
    first = cells[:width]

    def line(
        i: int,
    ) -> tuple[
        str, list[str]
    ]:  # counted anew, for the one line an error names: rows may span lines
        reader = _csv_reader(text, delimiter)
        number, row = next(islice(((reader.line_num, row) for row in reader if row), i, None))
        return f"{name}, line {number}", row

    try:
        has_header = is_header(first)
    except ValueError as error:
        raise ValueError(f"{line(0)[0]}: {error}") from error
    if has_header:
        place = find_columns(first)
    elif width in (3, 4) and kind_of(first[2]):
        place = {"a": 0, "b": 1, "kind": 2, "weight": 3 if width == 4 else None}
    else:
        raise ValueError(
            f"{line(0)[0]}: neither a header nor a pair: {first}; expected {EXPECTED}"
            f"{other_separator(first)}"
        )
    if set(widths) != {width}:
        where, row = line(next(i for i, w in enumerate(widths) if w != width))
        raise ValueError(
            f"{where}: expected {width} fields, got {len(row)}: {row}; "
            "complete or remove the line (the file may be cut short)"
        )
    begin = width if has_header else 0
    first_ids, second_ids, kind, weight = (
        None if place[part] is None else cells[begin + place[part] :: width] for part in COLUMNS
    )
    a, b = _as_integers(first_ids, second_ids) or (
        as_array(first_ids, "id_a"),
        as_array(second_ids, "id_b"),
    )
    return columns_of(a, b, as_array(kind, "kind"), weight, lambda i: line(i + has_header)[0])


def _as_integers(*columns: Any) -> list[Array] | None:
    """Return columns of text as int64, or None if some entry is not written as an integer."""
    if not all(all(map(INTEGER.fullmatch, column)) for column in columns):
        return None
    try:
        return [np.fromiter(map(int, column), np.int64, len(column)) for column in columns]
    except OverflowError:
        return None


def _read_jsonl(text: str, name: str) -> Links:
    lines = text.split("\n")
    numbers = [i for i, line in enumerate(lines, start=1) if line and not line.isspace()]
    columns: dict[str, list[Any]] = {part: [] for part in COLUMNS}
    of_pairs: list[int] = []
    sets: list[tuple[int, tuple[list[Any], list[Any]]]] = []
    apart: list[tuple[int, list[Any]]] = []
    for begin in range(0, len(numbers), BATCH):
        batch = numbers[begin : begin + BATCH]
        rows = _decoded([lines[i - 1] for i in batch], batch, name)
        plain = []
        for number, row in zip(batch, rows, strict=True):
            if "members" in row:
                found = _ids_in(row, ("members", "strangers"), f"{name}, line {number}")
                sets.append((number, (found[0], found[1])))
            elif "apart" in row:
                apart.append((number, _ids_in(row, ("apart",), f"{name}, line {number}")[0]))
            else:
                plain.append(row)
                of_pairs.append(number)
        for part, column in columns.items():
            column += [row[part] if part in row else _other_name(row, part) for row in plain]
    for part, column in columns.items():
        odd = next((i for i, value in enumerate(column) if isinstance(value, list | dict)), None)
        if odd is not None:
            raise ValueError(
                f"{name}, line {of_pairs[odd]}: {part} must be a number or a text, got "
                f"{json.dumps(column[odd])[:80]}"
            )
    a, b, kind, weight = (as_array(column, part) for part, column in columns.items())
    return Links(
        columns_of(a, b, kind, weight, lambda i: f"{name}, line {of_pairs[i]}"),
        [one for _, one in sets],
        [one for _, one in apart],
        lambda i: f"{name}, line {sets[i][0]}",
        lambda i: f"{name}, line {apart[i][0]}",
    )


def _ids_in(row: dict[str, Any], names: tuple[str, ...], where: str) -> list[list[Any]]:
    """Return the lists of ids in a row under some names, the last of which may be left out."""
    unknown = [name for name in row if name not in names]
    if unknown:
        raise ValueError(f"{where}: {unknown[0]!r} is not known beside {names[0]}; leave it out")
    lists = [row.get(name, []) for name in names]
    for name, found in zip(names, lists, strict=True):
        if not isinstance(found, list) or any(isinstance(one, list | dict) for one in found):
            raise ValueError(f"{where}: {name} must be a list of ids; got {json.dumps(found)[:80]}")
    return lists


def _decoded(lines: list[str], numbers: list[int], name: str) -> list[dict[str, Any]]:
    """Return the objects on some lines; read as one list first, which is several times faster."""
    try:
        rows = json.loads(f"[{','.join(lines)}]")
        if len(rows) == len(lines) and set(map(type, rows)) == {dict}:
            return rows
    except (ValueError, RecursionError):
        pass
    rows = []
    for number, line in zip(numbers, lines, strict=True):
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            rows.append(None)
        if not isinstance(rows[-1], dict):
            raise ValueError(
                f"{name}, line {number}: expected an object such as "
                f'{{"a": 3, "b": 8, "kind": "must", "weight": 1}}, got {line[:80]!r}; '
                "complete or remove the line (the file may be cut short)"
            )
    return rows


def _other_name(row: dict[str, Any], part: str) -> Any:
    default = 1.0 if part == "weight" else None
    return next((row[name] for name in COLUMNS[part] if name in row), default)


def write_links(path: Any, links: "Constraints", format: str | None = None) -> None:
    """Write Constraints to a path or an open text file.

    json lines have the groups as they are; other files list the pairs that they imply.
    """
    format = file_format(path, format)
    if hasattr(path, "write"):
        return _write_rows(path, links, format)
    with instead_of(path) as beside, open(beside, "x", encoding="utf-8", newline="") as file:
        _write_rows(file, links, format)


def _json(id_: int | str) -> str:
    return json.dumps(id_) if isinstance(id_, str) else str(id_)


def _write_rows(file: TextIO, links: "Constraints", format: str) -> None:
    pairs = links.without_groups() if format == "jsonl" else links
    rows = ((a, b, "must" if sign > 0 else "cannot", weight) for a, b, sign, weight in pairs)
    if format == "jsonl":
        file.writelines(
            f'{{"a": {_json(a)}, "b": {_json(b)}, "kind": "{kind}", "weight": {weight}}}\n'
            for a, b, kind, weight in rows
        )
        file.writelines(
            json.dumps({"apart": links.ids[group].tolist()}) + "\n"
            for group in members(links.groups)
        )
        return
    # Quoted strings: an id may hold a line break of any kind.
    writer = csv.writer(
        file, delimiter=DELIMITER[format], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )
    file.write(DELIMITER[format].join(("id_a", "id_b", "kind", "weight")) + "\n")
    writer.writerows(rows)
