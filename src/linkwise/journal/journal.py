"""The log of answers: every event is on the disk before it is acknowledged."""

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from linkwise._wording import counted
from linkwise.exceptions import warn
from linkwise.journal.data_identity import Data, check_data, is_grown
from linkwise.journal.events import (
    Body,
    Draft,
    Event,
    Id,
    checked_body,
    checked_source,
    checked_text,
    rows_of,
    source_in_old_log,
)
from linkwise.journal.file import (
    COLUMNS,
    FilePath,
    NotSaved,
    close_to_one_file,
    drop_lock,
    event_rows,
    in_words,
    open_to_read,
    open_to_write,
    sentence,
    take_lock,
)
from linkwise.journal.state import State

GROWN = "grown_from"  # setting: the number of rows before, until a keep event says their clusters
INSERT = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


class Project(NamedTuple):
    """What a project file holds: its data, its settings, all events, and what they say."""

    data: Any  # Data, or None in a file that was only begun
    settings: dict[str, Any]
    events: list[Event]
    state: State


def _event(row: tuple[Any, ...]) -> Event:
    """Return the event in a row of the file."""
    seq, kind, body, who, when, why, client, source = row
    source = checked_source(source or source_in_old_log(kind, why), kind)
    return Event(seq, kind, json.loads(body), who, when, why, client, source)


def _load(db: sqlite3.Connection, path: FilePath) -> Project:
    """Return the Project in an open file."""
    with in_words(path):
        db.execute("BEGIN")  # one moment of the file, while another program may be writing
        try:
            rows = event_rows(db)
            values = dict(db.execute("SELECT key, value FROM project"))
        finally:
            db.execute("ROLLBACK")
    try:
        settings = {key: json.loads(value) for key, value in values.items()}
        data = Data(**settings.pop("data")) if settings else None
        events = [_event(row) for row in rows]
        state = State()
        for number, event in enumerate(events, start=1):
            if event.seq != number:
                raise ValueError(f"event {number} is missing")
            checked_body(event.kind, event.body)
            state.apply(event)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: the log is damaged: {error}; take a copy of it") from error
    return Project(data, settings, events, state)


def read_project(path: FilePath) -> Project:
    """Return the Project in a file; another program may be writing to it."""
    db = open_to_read(path)
    try:
        project = _load(db, path)
    finally:
        db.close()
    if project.data is None:
        raise ValueError(f"{path} is empty: a project not begun, or another file")
    return project


def project_data(path: FilePath) -> Data:
    """Return the Data of a project without reading its log."""
    db = open_to_read(path)
    try:
        with in_words(path):
            row = db.execute("SELECT value FROM project WHERE key = 'data'").fetchone()
    finally:
        db.close()
    try:
        return Data(**json.loads(row[0]))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: the project does not say what its data are") from error


class Journal:
    """A project open for writing, by this program alone.

    Parameters
    ----------
    path : str or path, created if it does not exist
    data : Data, what the answers are about; see `describe`. Other data are refused
    ids : the id of each row, or None: rows are known by their numbers
    who : str, the author of the answers; by default the name of the user

    Notes
    -----
    Every method that writes returns the Event after it is on the disk. If it cannot be written,
    `NotSaved` is raised, the event does not count, and the call may be repeated. A call repeated
    with the same `client` id, for example after a crash, returns the event that is in the log.
    Several threads may use a journal, but not both sides of a fork.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from linkwise.journal import Journal, describe, read_project
    >>> folder = tempfile.TemporaryDirectory()
    >>> points = Path(folder.name, "points.csv")
    >>> _ = points.write_text("id,x\\na,1\\nb,2\\nc,9\\n")
    >>> with Journal(
    ...     points.with_suffix(".linkwise"), data=describe(points, 3, ids=True), ids=["a", "b", "c"]
    ... ) as journal:
    ...     _ = journal.answer("a", "b", True, why="neighbours")
    ...     _ = journal.answer("a", "c", True)
    ...     _ = journal.undo()
    ...     journal.state.constraints()
    Constraints(1 must-link, 0 cannot-links)
    >>> read_project(points.with_suffix(".linkwise")).state
    State(1 of 3 events count)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: FilePath,
        *,
        data: Data,
        ids: Iterable[str] | None = None,
        who: str | None = None,
    ) -> None:
        if (ids is None) != (data.named_by == "row"):
            raise ValueError(f"ids go with data named by id; these are by {data.named_by}")
        self.path = os.path.realpath(path)
        self.who = _user() if who is None else checked_text(who, "who")
        self._known = None if ids is None else frozenset(ids)
        self.data, self._pid = data, os.getpid()
        self._mutex = threading.RLock()
        self._held: int | None = take_lock(self.path)
        self._db: Any = None
        try:
            self._db = open_to_write(self.path)
            self._file = os.stat(self.path)
            project = _load(self._db, self.path)
            if project.events and is_grown(project.data, data) and self._knows(project.events):
                more = counted(data.n_rows - project.data.n_rows, "row")
                warn(f"{data.name} has {more} more than when {path} was last open; ids name them")
                first = project.settings.get(GROWN) or project.data.n_rows
                self._save_settings({"data": data._asdict(), GROWN: first})
                project.settings[GROWN] = first
            elif project.events:
                check_data(path, project.data, data)
                self._check_events(project.events)
            elif project.data != data:  # no event yet, so no row is named
                self._save_settings({"data": data._asdict()})
        except BaseException:
            self._release()
            raise
        self.settings, self._state = project.settings, project.state

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it is complete at any time, closed or not."""
        with self._mutex:
            if self._held is not None and os.getpid() == self._pid:
                self._release()

    def _release(self) -> None:
        if self._db is not None:
            close_to_one_file(self._db)
        if self._held is not None:
            drop_lock(self.path, self._held)
        self._db = self._held = None

    @property
    def state(self) -> State:
        """What the log says now, a State that later events do not change."""
        return self._state

    def events(self) -> list[Event]:
        """Return all events."""
        with self._mutex:
            self._check_open()
            return _load(self._db, self.path).events

    def answer(
        self, a: Id, b: Id, same: bool | None, *, why: str = "", client: str | None = None
    ) -> Event:
        """Write an answer: a and b are the same (True), different (False), or not known (None)."""
        return self.append("answer", {"a": a, "b": b, "same": same}, why=why, client=client)

    def link(
        self, pairs: Sequence[Sequence[Any]], *, why: str = "", client: str | None = None
    ) -> Event:
        """Write pairs (a, b, sign, weight) as one event."""
        return self.append("link", {"pairs": pairs}, why=why, client=client)

    def group(
        self,
        rows: Sequence[Id],
        apart: Sequence[Id] = (),
        *,
        why: str = "",
        client: str | None = None,
    ) -> Event:
        """Write that rows belong together, and not with those in apart."""
        return self.append("group", {"rows": rows, "apart": apart}, why=why, client=client)

    def merge(
        self, first: Sequence[Id], second: Sequence[Id], *, why: str = "", client: str | None = None
    ) -> Event:
        """Write that two clusters are one, by rows of each."""
        return self.append("merge", {"first": first, "second": second}, why=why, client=client)

    def split(
        self, parts: Sequence[Sequence[Id]], *, why: str = "", client: str | None = None
    ) -> Event:
        """Write that a cluster is several, by rows of each part."""
        return self.append("split", {"parts": parts}, why=why, client=client)

    def stroke(
        self,
        colour: str,
        points: Sequence[Sequence[float]],
        width: float = 1,
        *,
        image: str | None = None,
        why: str = "",
        client: str | None = None,
    ) -> Event:
        """Write a line drawn on an image, which has a name if the project has several."""
        body = {"colour": colour, "points": points, "width": width, "image": image}
        return self.append("stroke", body, why=why, client=client)

    def rename(
        self, rows: Sequence[Id], name: str, *, why: str = "", client: str | None = None
    ) -> Event:
        """Write the name of a cluster, by rows of it."""
        return self.append("rename", {"rows": rows, "name": name}, why=why, client=client)

    def mark(
        self, rows: Sequence[Id], mark: str, *, why: str = "", client: str | None = None
    ) -> Event:
        """Write that rows are "unclear", or belong to no cluster: "stray"."""
        return self.append("mark", {"rows": rows, "mark": mark}, why=why, client=client)

    def undo(
        self,
        event: int | None = None,
        *,
        why: str = "",
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Make an event stop counting, by default the one that began to count last."""
        return self._step("undo", event, why, client, who)

    def redo(
        self,
        event: int | None = None,
        *,
        why: str = "",
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Make an undone event count again, by default the one undone last."""
        return self._step("redo", event, why, client, who)

    def _step(
        self, kind: str, event: int | None, why: str, client: str | None, who: str | None
    ) -> Event:
        with self._mutex:
            self._check_open()
            before = None if client is None else self.sent(client)
            if before is not None and before.kind == kind:
                return before
            body = {"event": self._state.target(kind, event)}
            return self.append(kind, body, why=why, client=client, who=who)

    def append(
        self,
        kind: str,
        body: Body,
        *,
        why: str = "",
        client: str | None = None,
        source: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Write one event, by default of the journal's author; return it when it is on the disk."""
        (event,) = self.extend([Draft(kind, body, why, client, source, who)])
        return event

    def extend(self, drafts: Iterable[Draft]) -> list[Event]:
        """Write several events, all or none.

        Returns
        -------
        list of Event; where a client id is in the log already, the event it belongs to
        """
        with self._mutex:
            self._check_open()
            found, state = [], self._state.copy()
            new: dict[str, Event] = {}
            for draft in drafts:
                event = self._event(state.n_events + 1, draft)
                before = new.get(event.client) or self.sent(event.client)
                if before is None:
                    state.apply(event)
                    new[event.client] = event
                elif (before.kind, before.body) != (event.kind, event.body):
                    raise ValueError(
                        f"client {event.client!r} is the id of event {before.seq}, which says "
                        "something else; give every event its own id"
                    )
                found.append(before or event)
            self._write(list(new.values()))
            self._state = state
        return found

    def _event(self, seq: int, draft: Draft) -> Event:
        kind, body, why, client, source, who, when = draft
        body = checked_body(kind, body)
        for row in rows_of(kind, body):
            self._check_row(row)
        who = self.who if who is None else checked_text(who, "who")
        when = datetime.now(UTC).isoformat(timespec="milliseconds") if when is None else _time(when)
        client = os.urandom(16).hex() if client is None else client
        client = checked_text(client, "client", empty=False)
        source = checked_source(source, kind)
        return Event(seq, kind, body, who, when, checked_text(why, "why"), client, source)

    def _check_events(self, events: Iterable[Event]) -> None:
        """Refuse a log that names rows the data do not have."""
        try:
            for event in events:
                for row in rows_of(event.kind, event.body):
                    self._check_row(row)
        except ValueError as error:
            raise ValueError(
                f"{self.path}: the log is damaged: event {event.seq}: {error}"
            ) from error

    def _knows(self, events: Iterable[Event]) -> bool:
        """Tell whether the data have all rows that a log names."""
        named = (row for event in events for row in rows_of(event.kind, event.body))
        return self._known is None or self._known.issuperset(named)

    def _check_row(self, row: Id) -> None:
        if self._known is not None and row not in self._known:
            from linkwise.constraints.ids import similar_id

            meant = similar_id(row, self._known)
            remedy = "correct it, or remove it" if meant is None else f"did you mean {meant!r}?"
            raise ValueError(f"{row!r} is not an id of {self.data.name}; {remedy}")
        if self._known is None and (isinstance(row, str) or row >= self.data.n_rows):
            last = self.data.n_rows - 1
            raise ValueError(f"{row!r} is not a row number of {self.data.name}, 0..{last}")

    def sent(self, client: str) -> Event | None:
        """Return the event with a client id, or None."""
        self._check_open()
        with in_words(self.path):
            rows = event_rows(self._db, "WHERE client = ?", client)
        return _event(rows[0]) if rows else None

    def _check_open(self) -> None:
        if self._db is None or os.getpid() != self._pid:
            raise ValueError(f"{self.path} is not open in this process; open it again")

    def _write(self, events: list[Event]) -> None:
        """Commit events, or raise NotSaved and leave the file as it was."""
        if not events:
            return
        bodies = [json.dumps(e.body, separators=(",", ":")) for e in events]
        rows = [(*e[:2], body, *e[3:]) for e, body in zip(events, bodies, strict=True)]
        try:
            self._begin()
            self._db.executemany(INSERT, rows)
            self._commit()
        except BaseException as error:
            self._recover()
            if isinstance(error, sqlite3.Error):
                raise NotSaved(f"not saved: {sentence(error, self.path)}") from error
            raise

    def _begin(self) -> None:
        """Begin a transaction, if the file is still the one that was opened and was not changed."""
        try:
            in_place = os.path.samestat(self._file, os.stat(self.path))
        except OSError:
            in_place = False
        if not in_place:
            raise NotSaved(f"not saved: {self.path} was moved or removed; open it where it is now")
        self._db.execute("BEGIN IMMEDIATE")
        (last,) = self._db.execute("SELECT max(seq) FROM events").fetchone()
        if (last or 0) != self._state.n_events:
            raise NotSaved(f"not saved: another program wrote to {self.path}; open it again")

    def _commit(self) -> None:
        self._db.execute("COMMIT")

    def _recover(self) -> None:
        """After a failure, read the file again: an interrupt may come right after a commit."""
        with suppress(sqlite3.Error, OSError):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._state = _load(self._db, self.path).state

    def configure(self, **settings: Any) -> None:
        """Save settings of the project: plain values by name, None to remove one."""
        with self._mutex:
            self._check_open()
            changed = {k: v for k, v in settings.items() if self.settings.get(k) != v}
            if changed:
                self._save_settings(changed)
                self.settings = {
                    k: v for k, v in (self.settings | changed).items() if v is not None
                }

    def _save_settings(self, values: dict[str, Any]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for key, value in values.items():
                self._db.execute("REPLACE INTO project VALUES (?, ?)", (key, json.dumps(value)))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise NotSaved(f"not saved: {sentence(error, self.path)}") from error


def _time(when: str) -> str:
    """Return a time as it is written in the log."""
    try:
        datetime.fromisoformat(when)
    except (TypeError, ValueError):
        raise ValueError(
            f"when must be a time, such as 2026-01-31T12:00+00:00; got {when!r}"
        ) from None
    return when


def _user() -> str:
    """Return the name of the user, or "" if the system knows none."""
    import getpass

    try:
        return getpass.getuser().encode(errors="replace").decode()
    except (OSError, KeyError, ImportError):
        return ""
