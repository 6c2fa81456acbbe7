"""Answers and labels in tables for other programs, and back.

    links   id_a, id_b, kind, weight, event, who, when, why          one row per pair that counts
    labels  id, label, name                                          one row per point
    log     seq, kind, body, who, when, why, client, source, data    all events, undone or not
    agreement  who, other, answers, shared, agreed, kappa, right_same, right_different
                                                  one row per person, and per two of them

.csv and .tsv files have a header. A text that a spreadsheet would run as a formula is written with
an apostrophe before it, which is removed when it is read back; numbers stay as they are. A .jsonl
file has one object per line. .parquet needs pyarrow. A file is written beside its place and then
moved there. A log without the column `source`, from an earlier version, is read as well.
"""

import csv
import io
import json
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise._files import write_whole
from linkwise.exceptions import MissingExtra
from linkwise.journal.events import (
    IMPORTED,
    Draft,
    Event,
    Id,
    checked_body,
    checked_source,
    checked_text,
    source_in_old_log,
)
from linkwise.journal.file import FilePath
from linkwise.journal.journal import Journal, Project
from linkwise.journal.people import agreement_table
from linkwise.journal.state import State, replay

if TYPE_CHECKING:
    from linkwise.constraints import Constraints

DELIMITER = {".csv": ",", ".tsv": "\t"}
FORMATS = (*DELIMITER, ".jsonl", ".parquet")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
FORMULA = "=+-@＝＋－＠"
LINKS = ("id_a", "id_b", "kind", "weight", "event", "who", "when", "why")
LABELS = ("id", "row", "label", "name")
LOG = ("seq", "kind", "body", "who", "when", "why", "client", "source", "data")
Columns = dict[str, list[Any]]  # a table


def is_formula(text: str) -> bool:
    """Tell whether a spreadsheet might run a text, or take our apostrophe for its own."""
    risky = text.lstrip()[:1] in FORMULA or text[:1] in "\t\r\n'"
    return bool(text) and risky and not NUMBER.fullmatch(text)


def inert(cell: Any) -> Any:
    """Return a cell that a spreadsheet shows and does not run."""
    return f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell


def restored(cell: Any, known: Collection[str] = ()) -> Any:
    """Return a cell as it was before `inert`; a text among those known is left as it is."""
    marked = isinstance(cell, str) and cell.startswith("'") and cell not in known
    return cell[1:] if marked and is_formula(cell[1:]) else cell


def restored_links(links: "Constraints", known: Collection[str]) -> "Constraints":
    """Return Constraints as they were before their ids were made inert."""
    from linkwise.constraints import Constraints

    known = frozenset(known)
    if not any(isinstance(a, str) and restored(a, known) != a for a in links.ids.tolist()):
        return links
    table = [(restored(a, known), restored(b, known), s, w) for a, b, s, w in links]
    return Constraints.from_table(table)


def check_format(path: FilePath) -> str:
    """Return the suffix of a table, or refuse it."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path}: expected a name that ends in {', '.join(FORMATS)}")
    if suffix == ".parquet":
        _pyarrow()
    return suffix


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "io") from None
    return pyarrow


def table_bytes(suffix: str, columns: Columns, *, spreadsheet: bool = True) -> bytes:
    """Return a table, a dict of columns, as the bytes of a file with that suffix.

    With ``spreadsheet``, texts in .csv and .tsv that a spreadsheet would run as a formula are made
    inert.
    """
    if suffix == ".parquet":
        pyarrow, file = _pyarrow(), io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), file)
        return file.getvalue()
    rows = zip(*columns.values(), strict=True)
    if suffix == ".jsonl":
        lines = (json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        return "".join(lines).encode()
    text = io.StringIO(newline="")
    text.write(DELIMITER[suffix].join(columns) + "\n")
    # Quoted: an id may hold a line break of any kind.
    writer = csv.writer(
        text, delimiter=DELIMITER[suffix], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )
    writer.writerows([inert(cell) for cell in row] if spreadsheet else row for row in rows)
    return text.getvalue().encode()


def write(path: FilePath, columns: Columns) -> None:
    """Write a table, a dict of columns, whole or not at all."""
    write_whole(path, table_bytes(check_format(path), columns))


def write_links(path: FilePath, state: State) -> None:
    """Write the pairs that count, each with its event."""
    links = state.constraints()
    events = map(state.event, links.event.tolist())
    rows = [
        (a, b, "must" if sign > 0 else "cannot", weight, e.seq, e.who, e.when, e.why)
        for (a, b, sign, weight), e in zip(links, events, strict=True)
    ]
    write(path, {name: [row[j] for row in rows] for j, name in enumerate(LINKS)})


def write_agreement(path: FilePath, state: State) -> None:
    """Write how reliable people are, and how far they agree, to a table."""
    write(path, agreement_table(state.active))


def write_log(path: FilePath, project: Project) -> None:
    """Write every event of a Project."""
    rows = [(*e, project.data.sha256) for e in project.events]
    columns = {name: [row[j] for row in rows] for j, name in enumerate(LOG)}
    if check_format(path) != ".jsonl":
        columns["body"] = [json.dumps(body) for body in columns["body"]]
    write(path, columns)


def read(path: FilePath) -> Columns:
    """Return a table as a dict of columns; cells are texts unless the format has types."""
    suffix = check_format(path)
    if suffix == ".parquet":
        pyarrow = _pyarrow()
        try:
            return pyarrow.parquet.read_table(path).to_pydict()
        except pyarrow.ArrowException as error:
            raise ValueError(f"{path}: not a readable parquet file ({error})") from error
    from linkwise.constraints.io import read_text

    text = read_text(path)
    return _read_jsonl(text, path) if suffix == ".jsonl" else _read_csv(text, path, suffix)


def _read_csv(text: str, path: FilePath, suffix: str) -> Columns:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITER[suffix], strict=True)
    names: list[str] = []
    rows = []
    try:
        for row in filter(None, reader):
            names = names or [name.strip() for name in row]
            if len(row) != len(names):
                raise ValueError(
                    f"{path}, line {reader.line_num}: expected {len(names)} fields, got "
                    f"{len(row)}; complete or remove the line (the file may be cut short)"
                )
            rows.append(row)
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {reader.line_num}: {error}; the file may be cut short"
        ) from error
    twice = [name for name in (*LINKS, *LOG, *LABELS) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{path}: two columns are called {twice[0]!r}; rename or remove one")
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(names)}


def _read_jsonl(text: str, path: FilePath) -> Columns:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            same = isinstance(row, dict) and (not rows or not _other_names(row, rows[0]))
            if not same:
                raise ValueError(
                    f"{path}, line {number}: expected an object with the names of the first line, "
                    f"got {line[:80]!r}; the file may be cut short"
                )
            rows.append(row)
    return {name: [row.get(name) for row in rows] for name in (rows[0] if rows else ())}


def _other_names(row: dict[str, Any], first: dict[str, Any]) -> set[str]:
    """Return the names that one of two rows lacks; a weight may be left out."""
    return (row.keys() ^ first.keys()) - {"weight"}


def read_table(
    path: FilePath, journal: Journal, *, ids: Sequence[str] | None = None
) -> list[Draft]:
    """Return what a table would add to a journal, Drafts for `Journal.extend`.

    Parameters
    ----------
    path : str, a table of links, of labels, or a log; its columns tell which. json lines may also
        be answers about sets and groups, as `Constraints.read` takes them
    journal : Journal, where it would be added
    ids : the ids of the rows, or None: tables name row numbers

    Notes
    -----
    The client id of the event is made from the contents, so a table imported twice counts once.
    The events of a log keep their client ids; those already in the journal are left out.
    """
    from hashlib import sha256

    from linkwise.constraints.io import other_separator

    client = f"import {sha256(Path(path).read_bytes()).hexdigest()[:32]}"
    why = f"{IMPORTED} {os.path.basename(path)}"
    known = frozenset(ids or ())
    if _has_sets(path):
        return _set_drafts(path, known, why, client)
    columns = read(path)
    if {"seq", "kind", "body", "client"} <= columns.keys():
        return _log_drafts(columns, journal, path)
    if _is_links(columns):
        pairs = _pairs(columns, known, path)
        return [Draft("link", {"pairs": pairs}, why, client, "import")] if pairs else []
    if "label" in columns and columns.keys() & {"id", "row"}:
        name = "id" if "id" in columns else "row"
        parts = _parts(_ids(columns[name], known, path), columns["label"])
        if sum(map(len, parts)) < 2:
            raise ValueError(f"{path}: it says nothing, as fewer than two of its rows have a label")
        if len(parts) > 1:
            return [Draft("split", {"parts": parts}, why, client, "import")]
        return [Draft("group", {"rows": parts[0]}, why, client, "import")]
    raise ValueError(
        f"{path}: expected the columns id_a,id_b,kind (links), id,label (labels), or those of a "
        f"log; got {', '.join(map(repr, columns)) or 'none'}{other_separator(list(columns))}"
    )


def _has_sets(path: FilePath) -> bool:
    """Tell whether a file has json lines about sets or groups, and not events of a log."""
    if Path(path).suffix.lower() != ".jsonl":
        return False
    from linkwise.constraints.io import read_text

    for line in read_text(path).split("\n"):
        if '"members"' in line or '"apart"' in line:
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict) and row.keys() & {"members", "apart"}:
                    return True
    return False


def _set_drafts(path: FilePath, known: Collection[str], why: str, client: str) -> list[Draft]:
    """Return json lines as Drafts: one for all pairs, and one for every set and group."""
    from linkwise.constraints import Constraints
    from linkwise.constraints.io import read_links

    Constraints.read(path)  # refuses what is wrong, with its line
    found = read_links(path)
    (a, b), sign, weight = found.columns[0].T, *found.columns[1:]
    ends = zip(_ids(a.tolist(), known, path), _ids(b.tolist(), known, path), strict=True)
    pairs = [[*both, int(s), float(w)] for both, s, w in zip(ends, sign, weight, strict=True)]
    bodies: list[tuple[str, dict[str, Any]]] = [("link", {"pairs": pairs})] if pairs else []
    for members, strangers in found.sets:
        inside = _ids([one for one in members if one not in strangers], known, path)
        if len(inside) > 1:
            bodies.append(("group", {"rows": inside, "apart": _ids(strangers, known, path)}))
    for group in found.apart:
        parts = [[one] for one in _ids(group, known, path)]
        if len(parts) > 1:
            bodies.append(("split", {"parts": parts}))
    return [
        Draft(kind, body, why, f"{client} {number}", "import")
        for number, (kind, body) in enumerate(bodies)
    ]


def _is_links(columns: Columns) -> bool:
    """Tell whether `Constraints.read` would take a table for links, with or without a header."""
    from linkwise.constraints.pair_tables import is_header, kind_of

    names = list(columns)
    return is_header(names) or (len(names) in (3, 4) and kind_of(names[2]) != 0)


def _ids(cells: Sequence[Any], known: Collection[str], path: FilePath) -> list[Id]:
    """Return cells as ids: texts among those known, or row numbers."""
    if known:
        return [restored(cell if isinstance(cell, str) else str(cell), known) for cell in cells]
    rows = [str(int(cell) if _is_whole(cell) else cell).strip() for cell in cells]
    odd = next((i for i, row in enumerate(rows) if not row.isdecimal()), None)
    if odd is not None:
        raise ValueError(f"{path}: {cells[odd]!r} is not a row number; tell the column of ids")
    return list(map(int, rows))


def _is_whole(cell: Any) -> bool:
    """Tell whether a cell is a float with a whole value."""
    return isinstance(cell, float) and cell.is_integer()


def _pairs(columns: Columns, known: Collection[str], path: FilePath) -> list[list[Any]]:
    from linkwise.constraints import Constraints

    if check_format(path) != ".parquet":
        links = Constraints.read(path)
    else:
        try:
            links = Constraints.from_table(columns)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error
    pairs = list(links)
    a, b = (_ids([pair[end] for pair in pairs], known, path) for end in (0, 1))
    return [[a[i], b[i], pair.sign, pair.weight] for i, pair in enumerate(pairs)]


def _parts(rows: list[Id], labels: list[Any]) -> list[list[Id]]:
    """Return the rows of each label; an empty label, nan, None and -1 say nothing."""
    parts: dict[str, list[Id]] = {}
    for row, label in zip(rows, labels, strict=True):
        # A column of whole numbers with gaps is written as 1.0, 2.0, ... by some programs.
        name = re.sub(r"^([+-]?\d+)\.0*$", r"\1", str(label).strip())
        if name.lower() not in ("", "-1", "none", "nan"):
            parts.setdefault(name, []).append(row)
    return list(parts.values())


def _log_drafts(columns: Columns, journal: Journal, path: FilePath) -> list[Draft]:
    """Return the events of a log that a journal does not have, as Drafts."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    data = journal.data
    if data.named_by == "row" and any(row.get("data") != data.sha256 for row in rows):
        raise ValueError(
            f"{path} is a log about the rows of another file than {data.name}; only a log that "
            "names ids can be used there"
        )
    own = journal.events()
    seq_of_client = {event.client: event.seq for event in own}
    state = replay(own)
    seq_of: dict[int, int] = {}
    drafts: list[Draft] = []
    try:
        for number, event in enumerate(map(_event, rows), start=1):
            if event.seq != number:
                raise ValueError(f"event {number} is missing")
            if event.client in seq_of_client:
                seq_of[event.seq] = seq_of_client[event.client]
                continue
            if event.kind in ("undo", "redo"):
                target = seq_of[event.body["event"]]
                if state.counts_now(target) != (event.kind == "undo"):
                    continue  # it is so already
                event = event._replace(body={"event": target})
            seq_of[event.seq] = state.n_events + 1
            state.apply(event._replace(seq=state.n_events + 1))
            _, kind, body, who, when, why, client, source = event
            drafts.append(Draft(kind, body, why, client, source, who, when))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a whole log ({error}); export it again") from error
    return drafts


def _event(row: dict[str, Any]) -> Event:
    kind, body = row["kind"], row["body"]
    body = checked_body(kind, body if isinstance(body, dict) else json.loads(restored(body)))
    names = ("who", "when", "why", "client")
    who, when, why, client = (checked_text(restored(row[name]), name) for name in names)
    source = checked_source(row.get("source") or source_in_old_log(kind, why), kind)
    return Event(int(row["seq"]), kind, body, who, when, why, client, source)
