"""Freed memory in the workers of a Dask cluster.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_ set: their C library returns large arrays to the
system as soon as they are freed. Every temporary array of a block is then new memory, and the
system clears it page by page. This took a third of the processor time of a pass.

A task therefore lets the C library keep what it frees, and returns it at the end of the task. Other
C libraries than that of GNU, and processes without that variable, are left as they are.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

VARIABLE = "MALLOC_TRIM_THRESHOLD_"
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt
LARGEST = 1 << 25  # bytes, the largest value that GNU allows for MMAP_THRESHOLD
USUAL = 1 << 17  # its value in a process with the variable


@cache
def c_library() -> Any:
    """Return the C library, None if it is not that of GNU."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows
        return None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def threshold_of_process() -> int | None:
    """Return the bytes above which this process returns freed memory, None if it may keep them."""
    text = os.environ.get(VARIABLE, "")
    return int(text) if text.isdecimal() and c_library() is not None else None


class Tasks:
    """The number of tasks that run in this process; the last to end returns the memory."""

    def __init__(self) -> None:
        self.lock, self.running = threading.Lock(), 0


TASKS = Tasks()


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep freed memory for later arrays inside a with statement."""
    threshold = threshold_of_process()
    if threshold is None:
        yield
        return
    library = c_library()
    with TASKS.lock:
        TASKS.running += 1
        if TASKS.running == 1:
            library.mallopt(MMAP_THRESHOLD, LARGEST)
            library.mallopt(TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        with TASKS.lock:
            TASKS.running -= 1
            if TASKS.running == 0:
                library.mallopt(TRIM_THRESHOLD, threshold)
                library.mallopt(MMAP_THRESHOLD, USUAL)
                library.malloc_trim(0)
