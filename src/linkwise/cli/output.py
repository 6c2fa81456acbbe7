"""What the commands say, and how: errors in one line, tables."""

import sys
from contextlib import suppress

REMEDIES = {
    FileNotFoundError: "no such file; check the path",
    IsADirectoryError: "is a folder; name a file",
    NotADirectoryError: "a part of the path is a file, not a folder; check the path",
    FileExistsError: "is a file; name a folder",
    PermissionError: "not permitted; check who may read and write there",
}


class UsageError(Exception):
    """The command line itself is wrong."""


def say(kind, text):
    """Print one line to stderr."""
    with suppress(OSError):  # stderr may be full; the exit code tells too
        print(f"linkwise: {kind}: {' '.join(str(text).split())}", file=sys.stderr)


def reason(error):
    """Return what an error says, without Python's decoration."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'stdout'}: {REMEDIES.get(type(error), error.strerror)}"
    return str(error) or type(error).__name__


def print_table(rows):
    """Print dicts with the same keys as a table."""
    table = [list(rows[0]), *(["" if v is None else str(v) for v in r.values()] for r in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def write_bytes(raw):
    """Write a table to stdout: UTF-8 as in a file, whatever the locale."""
    if not hasattr(sys.stdout, "buffer"):  # text in memory, say
        sys.stdout.write(raw.decode())
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(raw)
