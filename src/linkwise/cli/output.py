"""How commands print: messages in one line, tables."""

import sys
from contextlib import suppress
from typing import Any

WIDTH = 100  # columns of a terminal that tables for reading fit in
REMEDIES: dict[type, str] = {
    FileNotFoundError: "no such file or folder; check the path",
    IsADirectoryError: "is a folder; name a file",
    NotADirectoryError: "a part of the path is a file, not a folder; check the path",
    FileExistsError: "is a file; name a folder",
    PermissionError: "not permitted; check who may read and write there",
}


class UsageError(Exception):
    """The command line itself is wrong."""


def say(kind: str, text: object) -> None:
    """Print one line to stderr."""
    with suppress(OSError):  # stderr may be full; the exit code says the same
        print(f"linkwise: {kind}: {' '.join(str(text).split())}", file=sys.stderr)


def reason(error: BaseException) -> str:
    """Return the message of an error, without Python's decoration."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'stdout'}: {REMEDIES.get(type(error), error.strerror)}"
    return str(error) or type(error).__name__


def table_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return dicts with the same keys as the lines of a table, the header first."""
    table = [list(rows[0]), *(["" if v is None else str(v) for v in r.values()] for r in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print dicts with the same keys as a table."""
    print("\n".join(table_lines(rows)))


def write_bytes(raw: bytes) -> None:
    """Write a table to stdout: UTF-8 as in a file, whatever the locale."""
    if not hasattr(sys.stdout, "buffer"):  # text in memory, say
        sys.stdout.write(raw.decode())
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(raw)
