"""Limits on the memory and time of a fit.

Memory and time are estimated before long work starts. Work beyond a limit is refused, with the
estimate and an alternative. The default limit on memory is a share of the machine's; time has no
default limit.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from numbers import Real
from typing import NamedTuple

import numpy as np

from linkwise.blocks.progress import duration

MEMORY_SHARE = 0.7  # of the machine's memory for a fit; the points and other programs need the rest
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)


class Limits(NamedTuple):
    memory: float | None = None  # bytes
    seconds: float | None = None


_current: ContextVar[Limits | None] = ContextVar("limits", default=None)


def parse_size(size: float | str) -> float:
    """Return a size in bytes: a number, or text such as "500 MB" or "4G".

    >>> parse_size("1.5 kB"), parse_size(10)
    (1536.0, 10.0)
    """
    if isinstance(size, Real) and not isinstance(size, bool) and float(size) > 0:
        return float(size)
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None or float(match[1]) <= 0:
        raise ValueError(f'a size is a number of bytes, or text such as "4 GB"; got {size!r}')
    return float(match[1]) * UNITS[match[2].lower()]


@contextmanager
def limits(memory: float | str | None = None, seconds: float | None = None) -> Iterator[None]:
    """Set limits on the memory and time of a fit, inside a with statement.

    Parameters
    ----------
    memory : number of bytes, text such as "4 GB", or None for 70 % of the machine's memory
    seconds : number or None for no limit

    Examples
    --------
    >>> from linkwise import CCSKL
    >>> with limits(memory="200 kB"):
    ...     CCSKL(2).fit(np.zeros((5000, 2)))
    Traceback (most recent call last):
    ...
    MemoryError: n_samples=5000 needs about ...
    """
    if seconds is not None and not (isinstance(seconds, Real) and float(seconds) > 0):
        raise ValueError(f"seconds must be a positive number; got {seconds!r}")
    most = None if memory is None else parse_size(memory)
    token = _current.set(Limits(most, None if seconds is None else float(seconds)))
    try:
        yield
    finally:
        _current.reset(token)


def machine_memory() -> int | None:
    """Return the machine's memory in bytes, or None where it is unknown (Windows)."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@cache
def product_rate() -> float:
    """Return the flops per second of a matrix product in single precision, measured once."""
    A = np.ones((512, 512), dtype=np.float32)
    A @ A
    started = time.perf_counter()
    for _ in range(4):
        A @ A
    return 4 * 2 * 512**3 / max(time.perf_counter() - started, 1e-9)


def in_words(bytes_: float) -> str:
    """Return a size in words.

    >>> in_words(3 * 2**30), in_words(2**20)
    ('3.0 GiB', '1.0 MiB')
    """
    for unit in ("KiB", "MiB", "GiB"):
        bytes_ /= 1024
        if bytes_ < 1000 or unit == "GiB":
            break
    return f"{bytes_:,.1f} {unit}"


def check_cost(n: int, *, memory: float, flops: float = 0.0, instead: str) -> None:
    """Refuse work that would cost too much.

    Parameters
    ----------
    n : int, the number of rows
    memory : number of bytes at the peak, without the points themselves
    flops : number of operations of matrix products
    instead : str, what to do instead
    """
    limit = _current.get() or Limits()
    have = machine_memory()
    most = limit.memory if limit.memory is not None else have and MEMORY_SHARE * have
    if most is not None and memory > most:
        bound = "the limit is" if limit.memory is not None else "this machine may use"
        raise MemoryError(
            f"n_samples={n} needs about {in_words(memory)} of memory; {bound} {in_words(most)}: "
            f"{instead}"
        )
    if limit.seconds is not None and (seconds := flops / product_rate()) > limit.seconds:
        raise TimeoutError(
            f"n_samples={n} takes about {duration(seconds)}; the limit is "
            f"{duration(limit.seconds)}: {instead}"
        )
