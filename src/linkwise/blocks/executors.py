"""Who works on the blocks.

An executor has one method, ``map(function, items)``, which yields function(item) in the order
of the items. Results are combined in that order, so that sums do not depend on the number of
workers. Each block is the work of one thread: BLAS threads inside it would fight for the cores.
"""

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar

from threadpoolctl import ThreadpoolController

from linkwise.blocks.progress import Progress


def one_thread():
    """Return a context in which BLAS and OpenMP use one thread: for small work, where more wait."""
    return ThreadpoolController().limit(limits=1)


class Serial:
    """One block after the other, in the calling thread."""

    def map(self, function, items):
        """Yield function(item) for every item, in order."""
        with one_thread():
            yield from map(function, items)


class Threads:
    """Blocks on several threads; NumPy, SciPy and BLAS hold no lock while they compute.

    A few blocks are under way at a time, so that memory does not grow with their number. An
    interrupt, or an error in one block, ends the work as soon as the running blocks are done.
    """

    def __init__(self, workers=None):
        self.workers = workers or available_cores()

    def map(self, function, items):
        """Yield function(item) for every item, in order."""
        with one_thread(), ThreadPoolExecutor(self.workers) as pool:
            pending: deque = deque()
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


def available_cores():
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


NAMES = {"serial": Serial, "threads": Threads}
_current: ContextVar = ContextVar("executor", default=None)


@contextmanager
def executor(which):
    """Run blocks by another executor inside a with statement.

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


def run_blocks(function, items, *, label=None, total=None):
    """Yield function(item) for every item, in order, by the executor in force.

    Parameters
    ----------
    items : sequence or iterator
    label : str or None, what to call the work on a terminal
    total : int or None, how many rows there are; items are then slices of them
    """
    engine = _current.get() or Threads()
    if label is None:
        yield from engine.map(function, items)
        return
    with Progress(label, total) as progress:
        items = list(items)
        for item, result in zip(items, engine.map(function, items), strict=True):
            progress.advance(item.stop - item.start)
            yield result
