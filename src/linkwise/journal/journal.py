"""The log of answers: written for good before it is acknowledged, and read back."""

import json
import os
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from linkwise.exceptions import warn
from linkwise.journal.events import Event, checked_body, checked_text, rows_of
from linkwise.journal.file import (
    NotSaved,
    close_to_one_file,
    drop_lock,
    in_words,
    open_to_read,
    open_to_write,
    sentence,
    take_lock,
)
from linkwise.journal.state import State

COLUMNS = "seq, kind, body, who, at, why, client"


class Data(NamedTuple):
    """The data that answers speak of.

    Attributes
    ----------
    name : str, the name of the file, without its folder
    sha256 : str, the checksum of the file
    n_rows : int
    named_by : str, "row" if answers name row numbers, else "id"
    """

    name: str
    sha256: str
    n_rows: int
    named_by: str


class Project(NamedTuple):
    """What a project file holds: data it belongs to, settings, all events, what they say."""

    data: Any  # Data, or None in a file that was only begun
    settings: dict[str, Any]
    events: list[Event]
    state: State


def describe(path, n_rows, *, ids=False):
    """Return the Data in a file of n_rows rows, which have ids or are known by their number."""
    from hashlib import file_digest

    with open(path, "rb") as file:
        checksum = file_digest(file, "sha256").hexdigest()
    return Data(os.path.basename(path), checksum, int(n_rows), "id" if ids else "row")


def _load(db, path):
    """Return the Project in an open file."""
    with in_words(path):
        db.execute("BEGIN")  # one moment of the file, while another may be writing
        try:
            rows = db.execute(f"SELECT {COLUMNS} FROM events ORDER BY seq").fetchall()
            values = dict(db.execute("SELECT key, value FROM project"))
        finally:
            db.execute("ROLLBACK")
    try:
        settings = {key: json.loads(value) for key, value in values.items()}
        data = Data(**settings.pop("data")) if settings else None
        events = [Event(seq, kind, json.loads(body), *rest) for seq, kind, body, *rest in rows]
        state = State()
        for number, event in enumerate(events, start=1):
            if event.seq != number:
                raise ValueError(f"event {number} is missing")
            checked_body(event.kind, event.body)
            state.apply(event)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: the log is damaged: {error}; take a copy of it") from error
    return Project(data, settings, events, state)


def read_project(path):
    """Return the Project in a file; somebody may be writing to it meanwhile."""
    db = open_to_read(path)
    try:
        project = _load(db, path)
    finally:
        db.close()
    if project.data is None:
        raise ValueError(f"{path} is empty: a project not begun, or another file")
    return project


def project_data(path):
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


def check_data(path, theirs, data):
    """Refuse data that are not those the answers of a project speak of."""
    if theirs.named_by != data.named_by:
        ways = {"row": "row number", "id": "id"}
        raise ValueError(
            f"{path} names rows by {ways[theirs.named_by]}, not by {ways[data.named_by]}; "
            "name the column of ids as it was when the project began"
        )
    if (theirs.sha256, theirs.n_rows) != (data.sha256, data.n_rows):
        then, now = (f"({d.n_rows} rows, sha256 {d.sha256[:12]})" for d in (theirs, data))
        if theirs.name == data.name:
            fault = f"as it was {then}, and it has changed {now}; bring the old file back"
        else:
            fault = f"{then}, not about {data.name} {now}; name that file"
        raise ValueError(
            f"{path} has answers about {theirs.name} {fault}, or begin another project and import "
            "the answers there"
        )


def check_rows(path, theirs, data, n_rows, *, ids):
    """Refuse to apply the answers of a project to rows that may be others.

    Answers that name row numbers need the very file. Answers that name ids are the user's word
    that an id is the same thing everywhere; then another file is told of, and used.
    """
    named_by = "id" if ids else "row"
    if theirs.named_by == "row" and data == "-":
        raise ValueError(f"{path} names rows by number, of {theirs.name}; name that file")
    if data != "-":
        mine = describe(data, n_rows, ids=ids)
        if theirs.named_by != named_by or named_by == "row":
            check_data(path, theirs, mine)
        elif mine.sha256 != theirs.sha256:
            warn(
                f"{path} has answers about {theirs.name}, and {data} is not that file or has "
                "changed; they are taken over by id",
            )


class Journal:
    """A project open for writing, by this program alone.

    Parameters
    ----------
    path : str or path, made if it does not exist
    data : Data, what the answers speak of; see `describe`. Other data are refused
    ids : the id of each row, or None: rows are known by their numbers
    who : str, whose answers these are

    Notes
    -----
    Every method that writes returns the Event once it is on the disk, and not before. If it
    cannot be written `NotSaved` is raised, nothing of it counts, and the call may be repeated. A
    call repeated with the same `client` id, after a crash say, returns the event there is.
    It may be used from several threads, but not on both sides of a fork.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
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

    def __init__(self, path, *, data, ids: Iterable | None = None, who=None):
        if (ids is None) != (data.named_by == "row"):
            raise ValueError(f"ids go with data named by id; these are by {data.named_by}")
        self.path = os.path.realpath(path)
        self.who = _user() if who is None else checked_text(who, "who")
        self._known = None if ids is None else frozenset(ids)
        self.data, self._pid = data, os.getpid()
        self._mutex = threading.RLock()
        self._held = take_lock(self.path)
        self._db: Any = None
        try:
            self._db = open_to_write(self.path)
            self._file = os.stat(self.path)
            project = _load(self._db, self.path)
            if project.events:
                check_data(path, project.data, data)
                self._check_events(project.events)
            elif project.data != data:  # nothing is said yet, so of no rows
                self._save_settings({"data": data._asdict()})
        except BaseException:
            self._release()
            raise
        self.settings, self._state = project.settings, project.state

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the file; it is complete at any time, closed or not."""
        with self._mutex:
            if self._held is not None and os.getpid() == self._pid:
                self._release()

    def _release(self):
        if self._db is not None:
            close_to_one_file(self._db)
        drop_lock(self.path, self._held)
        self._db = self._held = None

    @property
    def state(self):
        """What the log says now, a State of its own that later events do not change."""
        return self._state

    def events(self):
        """Return all events."""
        with self._mutex:
            self._check_open()
            return _load(self._db, self.path).events

    def answer(self, a, b, same, *, why="", client=None):
        """Write down that a and b are the same (True), different (False), or that nobody knows."""
        return self.append("answer", {"a": a, "b": b, "same": same}, why=why, client=client)

    def link(self, pairs, *, why="", client=None):
        """Write down pairs (a, b, sign, weight), all as one event."""
        return self.append("link", {"pairs": pairs}, why=why, client=client)

    def group(self, rows, apart=(), *, why="", client=None):
        """Write down that rows belong together, and not with those in apart."""
        return self.append("group", {"rows": rows, "apart": apart}, why=why, client=client)

    def merge(self, first, second, *, why="", client=None):
        """Write down that two clusters are one, by rows of each."""
        return self.append("merge", {"first": first, "second": second}, why=why, client=client)

    def split(self, parts, *, why="", client=None):
        """Write down that a cluster is several, by rows of each part."""
        return self.append("split", {"parts": parts}, why=why, client=client)

    def stroke(self, colour, points, width=1, *, why="", client=None):
        """Write down a line drawn on an image."""
        body = {"colour": colour, "points": points, "width": width}
        return self.append("stroke", body, why=why, client=client)

    def rename(self, rows, name, *, why="", client=None):
        """Write down the name of a cluster, by rows of it."""
        return self.append("rename", {"rows": rows, "name": name}, why=why, client=client)

    def undo(self, event=None, *, why="", client=None):
        """Make an event not count, by default the one that began to count last."""
        return self._step("undo", event, why, client)

    def redo(self, event=None, *, why="", client=None):
        """Make an undone event count again, by default the one undone last."""
        return self._step("redo", event, why, client)

    def _step(self, kind, event, why, client):
        with self._mutex:
            self._check_open()
            before = None if client is None else self._sent(client)
            if before is not None and before.kind == kind:
                return before
            body = {"event": self._state.target(kind, event)}
            return self.append(kind, body, why=why, client=client)

    def append(self, kind, body, *, why="", client=None):
        """Write down one event; return it when it is on the disk."""
        (event,) = self.extend([(kind, body, why, client)])
        return event

    def extend(self, drafts):
        """Write down several events, all or none.

        Parameters
        ----------
        drafts : list of (kind, body, why, client) or (kind, body, why, client, who, when)

        Returns
        -------
        list of Event, for a client id that is in the log already the event there
        """
        with self._mutex:
            self._check_open()
            found, state = [], self._state.copy()
            new: dict[str, Event] = {}
            for draft in drafts:
                event = self._draft(state.n_events + 1, *draft)
                before = new.get(event.client) or self._sent(event.client)
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

    def _draft(self, seq, kind, body, why="", client=None, who=None, when=None):
        body = checked_body(kind, body)
        for row in rows_of(kind, body):
            self._check_row(row)
        who = self.who if who is None else checked_text(who, "who")
        when = datetime.now(UTC).isoformat(timespec="milliseconds") if when is None else _time(when)
        client = os.urandom(16).hex() if client is None else client
        client = checked_text(client, "client", empty=False)
        return Event(seq, kind, body, who, when, checked_text(why, "why"), client)

    def _check_events(self, events):
        """Refuse a log that names rows the data do not have."""
        try:
            for event in events:
                for row in rows_of(event.kind, event.body):
                    self._check_row(row)
        except ValueError as error:
            raise ValueError(
                f"{self.path}: the log is damaged: event {event.seq}: {error}"
            ) from error

    def _check_row(self, row):
        if self._known is not None and row not in self._known:
            raise ValueError(f"{row!r} is not an id of {self.data.name}; correct it, or remove it")
        if self._known is None and (isinstance(row, str) or row >= self.data.n_rows):
            last = self.data.n_rows - 1
            raise ValueError(f"{row!r} is not a row number of {self.data.name}, 0..{last}")

    def _sent(self, client):
        """Return the event with a client id, or None."""
        with in_words(self.path):
            row = self._db.execute(
                f"SELECT {COLUMNS} FROM events WHERE client = ?", (client,)
            ).fetchone()
        return row and Event(row[0], row[1], json.loads(row[2]), *row[3:])

    def _check_open(self):
        if self._db is None or os.getpid() != self._pid:
            raise ValueError(f"{self.path} is not open in this process; open it again")

    def _write(self, events):
        """Commit events, or raise NotSaved and leave the file as it was."""
        if not events:
            return
        rows = [
            (
                e.seq,
                e.kind,
                json.dumps(e.body, separators=(",", ":")),
                e.who,
                e.when,
                e.why,
                e.client,
            )
            for e in events
        ]
        try:
            self._begin()
            self._db.executemany(
                f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
            )
            self._commit()
        except BaseException as error:
            self._recover()
            if isinstance(error, sqlite3.Error):
                raise NotSaved(f"not saved: {sentence(error, self.path)}") from error
            raise

    def _begin(self):
        """Begin to write, if the file is still the one that was opened, and as it was left."""
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

    def _commit(self):
        self._db.execute("COMMIT")

    def _recover(self):
        """After a failure, know what the file says: an interrupt may come right after a commit."""
        with suppress(sqlite3.Error, OSError):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._state = _load(self._db, self.path).state

    def configure(self, **settings):
        """Keep settings of the project: plain values by name, None to forget one."""
        with self._mutex:
            self._check_open()
            changed = {k: v for k, v in settings.items() if self.settings.get(k) != v}
            if changed:
                self._save_settings(changed)
                self.settings = {
                    k: v for k, v in (self.settings | changed).items() if v is not None
                }

    def _save_settings(self, values):
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for key, value in values.items():
                self._db.execute("REPLACE INTO project VALUES (?, ?)", (key, json.dumps(value)))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise NotSaved(f"not saved: {sentence(error, self.path)}") from error


def _time(when):
    """Return a time as it is written in the log."""
    try:
        datetime.fromisoformat(when)
    except (TypeError, ValueError):
        raise ValueError(
            f"when must be a time, such as 2026-01-31T12:00+00:00; got {when!r}"
        ) from None
    return when


def _user():
    """Return the name of the user, or "" if the system knows none."""
    import getpass

    try:
        return getpass.getuser().encode(errors="replace").decode()
    except (OSError, KeyError, ImportError):
        return ""
