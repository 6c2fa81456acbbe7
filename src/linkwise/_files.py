"""Files that are written whole or not at all, and files that are never replaced."""

import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

SQLITE = b"SQLite format 3\x00"  # the first bytes of a project
MODEL = b"model.json"  # the name of the first part of a saved model
MODEL_AT = 30  # where a zip archive has the name of its first part


def kind_of_file(path):
    """Return "project", "model" or None: what linkwise keeps in a file, told by its content."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        head = file.read(MODEL_AT + len(MODEL))
    if head.startswith(SQLITE):
        return "project"
    return "model" if head[:2] == b"PK" and head[MODEL_AT:] == MODEL else None


def refuse_project(path):
    """Raise FileExistsError if a file is a project: nothing that is written may replace one."""
    if kind_of_file(path) == "project":
        raise FileExistsError(
            f"{path} is a project of answers, and is never overwritten; name another file"
        )


@contextmanager
def instead_of(path):
    """Yield the name of a new file, with the same suffix, that replaces ``path`` in the end.

    If an error occurs, the new file is removed and ``path`` stays as it was. A project is never
    replaced.
    """
    refuse_project(path)
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{uuid.uuid4().hex}{place.suffix}")
    try:
        yield beside
        os.replace(beside, place)
    finally:
        with suppress(OSError):
            beside.unlink()


def write_whole(path, raw):
    """Write bytes to a file; they are on the disk before they take its place."""
    refuse_project(path)
    try:
        with instead_of(path) as beside, open(beside, "xb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(f"{path} was not written: {error.strerror}") from error
