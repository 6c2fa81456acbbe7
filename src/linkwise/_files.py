"""Files that are written whole, or not at all."""

import os
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def instead_of(path):
    """Yield the name of a new file, of the same suffix, that replaces ``path`` in the end.

    An error removes it, and leaves what was there.
    """
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
    try:
        with instead_of(path) as beside, open(beside, "xb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(f"{path} was not written: {error.strerror}") from error
