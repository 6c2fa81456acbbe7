"""New rows in the data of a project: `linkwise fit more.csv --into PROJECT`.

The data of a project are the file of that name beside it. New rows go to its end, or are there
already. Everything is read and clustered before anything is written. Then the file is replaced as a
whole, and the clusters of the rows before are written to the log. If the program ends between the
two, the next one that opens the project completes it.
"""

import csv
import io
import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._check import CheckedConstraints
from linkwise._files import instead_of
from linkwise.choice.extension import Move, moves_of
from linkwise.constraints import Constraints
from linkwise.journal import Draft, Event, Journal, State, describe, project_data, read_project
from linkwise.journal.events import checked_body, checked_source
from linkwise.journal.journal import GROWN
from linkwise.labelling.cluster_model import with_outliers
from linkwise.labelling.items import Items
from linkwise.labelling.project import (
    KEPT,
    clusters_of,
    keep_body,
    kept_event,
    note_growth,
    open_project,
    outliers_of,
    read_by,
    settings_of,
    task_of,
)
from linkwise.tables.csv_rows import DELIMITER
from linkwise.tables.formats import read_table
from linkwise.tables.id_columns import read_ids


class Growth(NamedTuple):
    """A project after it got more rows."""

    items: Items  # of all rows, old ones first
    labels: np.ndarray  # (n,) int
    names: dict[int, str]  # of the clusters
    n_old: int
    moves: list[Move]  # of old rows


def data_of(path: str) -> Path:
    """Return the data file of a project, which is beside it."""
    project = read_project(path)
    if project.data.named_by != "id":
        raise ValueError(
            f"{path} names rows by number; new rows need a project that names rows by id"
        )
    data = Path(os.path.realpath(path)).with_name(project.data.name)
    if not data.is_file():
        raise FileNotFoundError(
            f"{path} is about {project.data.name}, which is not in the same folder; put it there"
        )
    return data


def text_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends, whichever these are."""
    return list(io.StringIO(text, newline=""))


def appended(data: Path, more: str, settings: dict[str, Any]) -> bytes:
    """Return the bytes of a table followed by the rows of another with the same columns.

    Rows whose ids are in the first table are refused.
    """
    if not {data.suffix.lower(), Path(more).suffix.lower()} <= set(DELIMITER):
        raise ValueError(
            f"{more}: rows are added to {data.name} if both are .csv or .tsv; write them to its "
            f"end, then name {data} instead"
        )
    how = {name: settings[name] for name in ("delimiter", "encoding", "columns", "id_column")}
    first, second = (read_table(str(file), texts=True, **how) for file in (data, more))
    if first.names != second.names or first.width != second.width:
        columns = ", ".join(first.names or [f"{first.width}, without a header"])
        raise ValueError(f"{more} must have the columns of {data.name} in their order: {columns}")
    old, new = (read_ids(table, table.find(how["id_column"])) for table in (first, second))
    twice = sorted(set(old).intersection(new))
    if twice:
        raise ValueError(
            f"{more}: {twice[0]!r} is the id of an old row ({len(twice)} of {len(new)} ids are); "
            "leave the old rows out"
        )
    coding = settings["encoding"] or "utf-8"
    text, rest = (Path(file).read_bytes().decode(coding) for file in (data, more))
    lines = text_lines(rest.removeprefix("\ufeff"))
    if first.names is not None:
        mark = settings["delimiter"] or DELIMITER[Path(more).suffix.lower()]
        reader = csv.reader(lines, delimiter=mark)
        next(reader)
        lines = lines[reader.line_num :]
    end = "" if text.endswith(("\n", "\r")) else "\n"
    return "".join((text, end, *lines)).encode(coding)


def links_draft(links: Constraints | None, ids: list[str], why: str) -> list[Draft]:
    """Return links as events to be written; one that names no row is refused."""
    if not links:
        return []
    named = links.resolve(ids, n=len(ids))
    pairs = [[ids[a], ids[b], sign, weight] for a, b, sign, weight in named]
    return [Draft("link", {"pairs": pairs}, why, source="import")]


def foreseen(state: State, drafts: list[Draft]) -> State:
    """Return what a log will say when drafts are written to it."""
    state = state.copy()
    for draft in drafts:
        number, source = state.n_events + 1, checked_source(draft.source, draft.kind)
        body = checked_body(draft.kind, draft.body)
        state.apply(Event(number, draft.kind, body, "", "", draft.why, str(number), source))
    return state


def moves_since(before: np.ndarray, labels: np.ndarray, ids: list[str], state: State) -> list[Move]:
    """Return the Moves of the rows that a project had before, by the answers after its `keep`."""
    kept = kept_event(state)
    by_id = state.constraints().active()
    further = by_id.event > (0 if kept is None else kept.seq)
    by_id = by_id.select(~further) + by_id.select(further)
    checked = CheckedConstraints(by_id, by_id.resolve(ids, n=len(ids)), 0)
    names = np.array(ids, dtype=object)
    return moves_of(before, labels, checked, int(further.sum()), names)


def add_rows(more: str, path: str, links: Constraints | None = None) -> Growth:
    """Add the rows of a table to a project, and return all rows with their clusters.

    Parameters
    ----------
    more : str, a table of new rows; or the data of the project, to whose end they were written
    path : str, the project
    links : Constraints or None, about old and new rows by id, imported into the project
    """
    data, settings = data_of(path), settings_of(path, dict.fromkeys(KEPT))
    why = f"imported with {os.path.basename(more)}"
    if os.path.realpath(more) == str(data):
        return _written_already(data, path, settings, links, why)
    before, journal = open_project(str(data), path, settings)
    with journal, instead_of(data) as beside:
        state, outliers = journal.state, outliers_of(journal.settings)
        beside.write_bytes(appended(data, more, settings))
        try:
            items = read_by(str(beside), settings, path)
        except ValueError as error:
            told = str(error).replace(str(beside), f"{data.name} with the rows of {more}")
            raise ValueError(told) from error
        imported = links_draft(links, items.ids, why)
        task = task_of(state, before.ids, len(before.X), settings["k"])
        kept = clusters_of(before.X, task, settings).labels
        shown = with_outliers(kept, before.X, task._replace(outliers=outliers))
        state = foreseen(state, [Draft("keep", keep_body(kept, before.ids)), *imported])
        labels = _labels(items, state, settings, outliers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there are more rows is no news here
        journal = Journal(path, data=describe(data, len(items.X), ids=True), ids=items.ids)
    with journal:
        _keep(items, journal, settings, len(before.X), kept)
        journal.extend(imported)
    return _growth(items, labels, state, shown)


def _keep(
    items: Items,
    journal: Journal,
    settings: dict[str, Any],
    n_old: int,
    labels: np.ndarray | None = None,
) -> None:
    """Write the clusters of the rows before to the log, also if there is no answer in it yet."""
    if not journal.state.n_events:
        journal.configure(**{GROWN: n_old})
    note_growth(items, journal, settings, labels)


def _written_already(
    data: Path, path: str, settings: dict[str, Any], links: Constraints | None, why: str
) -> Growth:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        n_old = project_data(path).n_rows
        items, journal = open_project(str(data), path, settings)
    with journal:
        if len(items.X) > n_old:
            _keep(items, journal, settings, n_old)
        kept = task_of(journal.state, items.ids, len(items.X), None).kept
        if len(items.X) <= n_old or kept is None:
            raise ValueError(f"{data} has no rows that {path} does not have; name the new rows")
        journal.extend(links_draft(links, items.ids, why))
        state, outliers = journal.state, outliers_of(journal.settings)
    labels = _labels(items, state, settings, outliers)
    return _growth(items, labels, state, kept.labels[:n_old])


def _labels(
    items: Items, state: State, settings: dict[str, Any], outliers: float | str | None
) -> np.ndarray:
    task = task_of(state, items.ids, len(items.X), settings["k"], outliers)
    return clusters_of(items.X, task, settings).labels


def _growth(items: Items, labels: np.ndarray, state: State, before: np.ndarray) -> Growth:
    ids = items.ids
    assert ids is not None  # a project that names rows by id
    names = state.cluster_names(dict(zip(ids, labels.tolist(), strict=True)))
    return Growth(items, labels, names, len(before), moves_since(before, labels, ids, state))
