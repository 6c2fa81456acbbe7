"""Files written whole or not at all, files that are never replaced, and folders of images."""

import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

from linkwise._wording import counted

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


def sync(path, flags):
    """Wait until a file, or the list of names in a folder, is on the disk."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def instead_of(path):
    """Yield the name of a new file, with the same suffix, that replaces ``path`` in the end.

    The new file is on the disk before it takes its place: after a power failure there is the old
    file or the new one. If an error occurs, the new file is removed and ``path`` stays as it was.
    A project is never replaced.
    """
    refuse_project(path)
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{uuid.uuid4().hex}{place.suffix}")
    try:
        yield beside
        sync(beside, os.O_RDWR)
        os.replace(beside, place)
        with suppress(OSError):  # Windows does not open folders
            sync(place.parent, os.O_RDONLY)
    finally:
        with suppress(OSError):
            beside.unlink()


def write_whole(path, raw):
    """Write bytes to a file, whole or not at all."""
    refuse_project(path)
    try:
        with instead_of(path) as beside:
            beside.write_bytes(raw)
    except OSError as error:
        raise OSError(f"{path} was not written: {error.strerror}") from error


def images_below(folder, suffixes):
    """Return (names of the images below a folder, sorted, how many other files there are).

    Hidden files are left out, and a folder without images is refused.
    """
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    names = [path.relative_to(folder).as_posix() for path in files]
    names = [name for name in names if not any(part[0] == "." for part in name.split("/"))]
    found = sorted(name for name in names if name.lower().endswith(suffixes))
    if not found:
        raise ValueError(
            f"{folder} has no images, {counted(len(names), 'other file')}; "
            f"linkwise reads {', '.join(suffixes)}"
        )
    return found, len(names) - len(found)
