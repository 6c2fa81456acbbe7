"""The bytes of a file, and the format that its name tells.

A file is gzipped if its content is, whatever its name; its name may end in .gz.
"""

import gzip
import sys
import zlib
from pathlib import Path

from linkwise.constraints.io import plain_file
from linkwise.tables.csv_rows import file_name

GZIP = b"\x1f\x8b"


def suffix_of(path):
    """Return the suffix that tells the format of a file; standard input is csv.

    >>> [suffix_of(path) for path in ("a.CSV", "a.csv.gz", "-", "a.gz")]
    ['.csv', '.csv', '.csv', '']
    """
    if path == "-":
        return ".csv"
    path = Path(path)
    inner = Path(path.stem) if path.suffix.lower() == ".gz" else path
    return inner.suffix.lower()


def read_bytes(path):
    """Return the bytes of a file, or of standard input if the path is "-"; gzip is undone."""
    if path != "-":
        raw = plain_file(path).read_bytes()
    elif sys.stdin is None:
        raise ValueError("standard input is closed; name a file, or send it one")
    else:
        raw = sys.stdin.buffer.read()
    if not raw.startswith(GZIP):
        if Path(path).suffix.lower() == ".gz":
            raise ValueError(f"{path}: not a gzip file, though its name ends in .gz; rename it")
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(
            f"{file_name(path)}: the gzip file is cut short or damaged; copy it again"
        ) from error


def damaged(file, suffix):
    """Return the error that a file is not what its name says."""
    return ValueError(
        f"{file}: not a readable {suffix} file: it is cut short, damaged, or of another format"
    )
