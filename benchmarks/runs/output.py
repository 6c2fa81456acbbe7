"""Lines of progress, files, and the command line that a report names."""

import os
import sys
from pathlib import Path

FOLDERS = ("data", "scratch")  # options that name a folder


def say(*words):
    """Print a line of progress."""
    print(*words, file=sys.stderr, flush=True)


def write(path, content):
    """Write text or bytes to a file; it is replaced whole, or not at all."""
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _word(value):
    """Return one value of an option as it is typed."""
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value}"


def command_line(name, options):
    """Return the command line of a run, with DIR for folders.

    Options at their defaults are left out, and so is the number of processes, on which figures do
    not depend.

    Parameters
    ----------
    name : str, the benchmark
    options : NamedTuple with a default for every field
    """
    words = [f"python -m benchmarks {name}"]
    for field, default in type(options)()._asdict().items():
        value = getattr(options, field)
        if field == "jobs" or value == default or value is None:
            continue
        words.append(f"--{field}")
        if field in FOLDERS:
            words.append("DIR")
        elif isinstance(value, list | tuple):
            words += map(_word, value)
        elif value is not True:
            words.append(_word(value))
    return " ".join([*words, "--out DIR"])
