"""Executors: how blocks of rows are processed, one by one or in parallel.

An executor has one method, ``map(function, items)``, which yields function(item) in the order
of the items. Results are combined in that order, so that sums do not depend on the number of
workers. Each block is processed by one thread: BLAS threads inside it would compete for the cores.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol, TypeVar

from linkwise.blocks.progress import Progress
from linkwise.blocks.thread_limits import one_thread

T = TypeVar("T")
U = TypeVar("U")


class Executor(Protocol):
    """Anything that processes blocks."""

    def map(self, function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Yield function(item) for every item, in order."""
        ...


class Serial:
    """One block after the other, in the calling thread."""

    def map(self, function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Yield function(item) for every item, in order."""
        with one_thread():
            yield from map(function, items)


class Threads:
    """Blocks on several threads; NumPy, SciPy and BLAS release the lock while they compute.

    Only a few blocks are in progress at a time, so memory does not grow with their number. An
    interrupt, or an error in one block, ends the work as soon as the running blocks are done.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or available_cores()

    def map(self, function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Yield function(item) for every item, in order."""
        with one_thread(), ThreadPoolExecutor(self.workers) as pool:
            pending: deque[Future[U]] = deque()
            try:
                for item in items:
                    pending.append(pool.submit(function, item))
                    if len(pending) > 2 * self.workers:
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                for future in pending:
                    future.cancel()


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


NAMES: dict[str, type[Serial] | type[Threads]] = {"serial": Serial, "threads": Threads}
_current: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def executor(which: Literal["serial", "threads"] | Executor) -> Iterator[Executor]:
    """Use another executor inside a with statement.

    Parameters
    ----------
    which : "serial", "threads", or an object with ``map(function, items)``

    Examples
    --------
    >>> with executor("serial"):
    ...     list(run_blocks(len, ["ab", "c"]))
    [2, 1]
    """
    if isinstance(which, str):
        if which not in NAMES:
            raise ValueError(f"executor must be one of {', '.join(NAMES)}; got {which!r}")
        which = NAMES[which]()
    token = _current.set(which)
    try:
        yield which
    finally:
        _current.reset(token)


def run_blocks(
    function: Callable[[T], U],
    items: Iterable[T],
    *,
    label: str | None = None,
    total: int | None = None,
) -> Iterator[U]:
    """Yield function(item) for every item, in order, by the current executor.

    Parameters
    ----------
    items : sequence or iterator
    label : str or None, the name of the work on a terminal; None shows no progress
    total : int or None, the number of rows; items are then slices of them
    """
    engine = _current.get() or Threads()
    if label is None:
        yield from engine.map(function, items)
        return
    with Progress(label, total) as progress:
        parts: list[Any] = list(items)
        for part, result in zip(parts, engine.map(function, parts), strict=True):
            progress.advance(part.stop - part.start)
            yield result
