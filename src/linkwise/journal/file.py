"""The project file: one SQLite database, and everything that can be wrong with it.

    project  key, value                                       the data and the settings
    events   seq, kind, body, who, at, why, client, source    the log; triggers refuse any change

The file is in WAL mode with synchronous=FULL: a commit is on the disk when it returns, and other
programs can read at the same time. Where the file system has no shared memory (some network
folders) it is in DELETE mode with synchronous=EXTRA, which also syncs the folder. After an orderly
close it is one file in DELETE mode, which can be copied, sent, and read from a read-only folder.

Files of format 1 have no column `source`. They are read as they are, and get the column when they
are opened for writing; their events keep an empty source, since events never change.

The writer holds a lock on a file beside the project, NAME-lock. The system releases the lock when
the process ends for any reason; a file left behind does no harm. The lock is not on the database
itself, since closing that would release SQLite's own lock.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from linkwise._files import kind_of_file

FilePath = str | os.PathLike[str]

FORMAT = 3
APPLICATION = 0x4C4E4B57  # "LNKW"
COLUMNS = ("seq", "kind", "body", "who", "at", "why", "client", "source")
WAIT = 5.0  # seconds to wait for a lock; other programs hold it for a moment only
SCHEMA = (
    "CREATE TABLE project (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "who TEXT NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL, client TEXT NOT NULL UNIQUE, "
    "source TEXT NOT NULL DEFAULT '')",
    "CREATE TRIGGER events_stay BEFORE DELETE ON events "
    "BEGIN SELECT RAISE(ABORT, 'events are never removed'); END",
    "CREATE TRIGGER events_are_final BEFORE UPDATE ON events "
    "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
UPGRADES = {  # from each earlier format to the next one
    1: ("ALTER TABLE events ADD COLUMN source TEXT NOT NULL DEFAULT ''",),
    2: (),  # format 3 has the same tables, and events of the kind "mark"
}


class NotSaved(OSError):
    """An event could not be written. It does not count, and the same call may be tried again."""


class InUse(OSError):
    """Another program is writing to the project."""


def primary(error: sqlite3.Error) -> int:
    """Return the kind of an SQLite error, such as sqlite3.SQLITE_FULL."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def sentence(error: sqlite3.Error, path: FilePath) -> str:
    """Return a sentence that says what an SQLite error means and what to do."""
    remedies = {
        sqlite3.SQLITE_FULL: "the disk is full; make room, and try again",
        sqlite3.SQLITE_READONLY: "the file or its folder is read-only; allow writing, or copy it",
        sqlite3.SQLITE_PERM: "not permitted; check who may read and write there",
        sqlite3.SQLITE_BUSY: "another program has locked the file; close it, and try again",
        sqlite3.SQLITE_LOCKED: "another program has locked the file; close it, and try again",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder exists and is writable",
        sqlite3.SQLITE_CORRUPT: "the file is damaged; take a copy of it, or begin a new project",
        sqlite3.SQLITE_NOTADB: "is not a linkwise project; name another file",
        sqlite3.SQLITE_IOERR: "the disk refuses it; check that there is room, and try again",
    }
    other = f"the file cannot be used ({error}); take a copy of it, or begin a new project"
    return f"{path}: {remedies.get(primary(error), other)}"


@contextmanager
def in_words(path: FilePath) -> Iterator[None]:
    """Turn errors of SQLite into ones that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        wrong_file = primary(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        raise (ValueError if wrong_file else OSError)(sentence(error, path)) from error


def check_kind(path: FilePath) -> None:
    """Refuse a file that is not SQLite; an empty one is a project without events."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a pipe or a device; name a file")
    kind = kind_of_file(path)
    if kind == "model":
        raise ValueError(f"{path} is a saved model, not a project of answers; name another file")
    if kind != "project" and os.path.getsize(path):
        raise ValueError(f"{path} is not a linkwise project; name another file")


def default_project(path: FilePath) -> str:
    """Return the name of the project of a file or folder: beside it, with the suffix .linkwise."""
    if os.path.isdir(path):
        return f"{os.path.normpath(path) if Path(path).name else os.path.abspath(path)}.linkwise"
    return str(Path(path).with_suffix(".linkwise"))


def is_project(path: FilePath) -> bool:
    """Tell whether a file is meant to be a project, by its name or by what it holds."""
    if Path(path).suffix.lower() == ".linkwise":
        return True
    try:
        return kind_of_file(path) == "project"
    except OSError:
        return False


def _connect(path: FilePath, mode: str) -> sqlite3.Connection:
    uri = f"{Path(path).absolute().as_uri()}?{mode}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=WAIT
    )


def is_new(db: sqlite3.Connection) -> bool:
    """Tell whether a database holds nothing yet."""
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def format_of(db: sqlite3.Connection) -> int:
    """Return the number of the format of a project."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return version


def event_rows(
    db: sqlite3.Connection, where: str = "ORDER BY seq", *values: Any
) -> list[tuple[Any, ...]]:
    """Return events as rows of COLUMNS; those of format 1 have an empty source."""
    columns = COLUMNS if format_of(db) > 1 else (*COLUMNS[:-1], "''")
    return db.execute(f"SELECT {', '.join(columns)} FROM events {where}", values).fetchall()


def upgrade(version: int) -> list[str]:
    """Return the statements that bring a project of an earlier format to this one."""
    steps = [statement for step in range(version, FORMAT) for statement in UPGRADES[step]]
    return [*steps, f"PRAGMA user_version = {FORMAT}"]


def check_format(db: sqlite3.Connection, path: FilePath) -> None:
    """Refuse another program's database, and a newer version of ours."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    version = format_of(db)
    if application != APPLICATION:
        raise ValueError(f"{path} is a database of another program, not a linkwise project")
    if version > FORMAT:
        raise ValueError(
            f"{path} was written by a newer linkwise (file format {version}, this one knows "
            f"{FORMAT}); update linkwise to use it"
        )
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise ValueError(f"{path}: the file is damaged ({found}); take a copy of it")


def open_to_write(path: FilePath) -> sqlite3.Connection:
    """Return a connection with durable commits; a new file gets tables, an old one the column."""
    with in_words(path):
        if os.path.exists(path):
            check_kind(path)
        db = _connect(path, "mode=rwc")
        try:
            if not is_new(db):
                check_format(db, path)
            _durable(db)
            if is_new(db) or format_of(db) < FORMAT:
                db.execute("BEGIN IMMEDIATE")
                for statement in SCHEMA if is_new(db) else upgrade(format_of(db)):
                    db.execute(statement)
                db.execute("COMMIT")
        except BaseException:
            db.close()
            raise
    return db


def _durable(db: sqlite3.Connection) -> None:
    """Make commits durable; WAL needs memory that processes share."""
    try:
        (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY):
            raise
        (mode,) = db.execute("PRAGMA journal_mode = DELETE").fetchone()
    db.execute(f"PRAGMA synchronous = {'FULL' if mode == 'wal' else 'EXTRA'}")


def close_to_one_file(db: sqlite3.Connection) -> None:
    """Close a connection so that everything is in the one file, unless somebody is reading it."""
    try:
        db.execute("PRAGMA busy_timeout = 0")
        db.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        pass  # the events are committed; the next program that opens the file tidies it
    finally:
        db.close()


def _mode_to_read(path: FilePath) -> str:
    """Return how a file can be read; rw also recovers what a killed writer left beside it."""
    if os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
        return "mode=rw"
    with open(path, "rb") as file:
        in_wal_mode = file.read(20)[18:] == b"\2\2"
    # WAL mode needs files beside the database; where none can be made, nobody writes either.
    alone = in_wal_mode and not os.path.exists(f"{path}-wal")
    return "mode=ro&immutable=1" if alone else "mode=ro"


def open_to_read(path: FilePath) -> sqlite3.Connection:
    """Return a connection for reading; another program may be writing."""
    check_kind(path)
    with in_words(path):
        db = _connect(path, _mode_to_read(path))
        try:
            db.execute("PRAGMA query_only = ON")
            if is_new(db):
                raise ValueError(f"{path} is empty: a project not begun, or another file")
            check_format(db, path)
        except BaseException:
            db.close()
            raise
    return db


def _lock(fd: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def take_lock(path: FilePath) -> int:
    """Return the lock of the one writer of a project, or raise InUse."""
    beside = f"{os.path.realpath(path)}-lock"
    while True:
        try:
            fd = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OSError(
                f"{path}: its folder cannot be written to ({error.strerror}); choose another"
            ) from error
        try:
            _lock(fd)
        except (BlockingIOError, PermissionError) as error:
            os.close(fd)
            raise InUse(f"{path} is in use by another linkwise; close that one first") from error
        except OSError as error:
            os.close(fd)
            raise OSError(
                f"{path}: its folder takes no locks ({error.strerror}); choose another"
            ) from error
        # The holder before us may have removed the file between our open and our lock.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), os.stat(beside)):
                return fd
        os.close(fd)


def drop_lock(path: FilePath, fd: int) -> None:
    """Release the lock."""
    with suppress(OSError):  # Windows removes no open file; a name left behind does no harm
        os.unlink(f"{os.path.realpath(path)}-lock")
    os.close(fd)
