"""Executors: how blocks of rows are processed, one by one or in parallel.

An executor has one method, ``map(function, items)``, which yields function(item) in the order
of the items. Results are combined in that order, so that sums do not depend on the number of
workers. Each block is processed by one thread: BLAS threads inside it would compete for the cores.

`one_thread` limits BLAS and OpenMP to one thread. The libraries are looked up once, which takes
some 30 ms, and again only after an extension module was imported: imports are how further libraries
come into a process. A limit on OpenMP holds for the thread that sets it, a limit on BLAS for all
threads. The latter is set by the first thread to enter `one_thread` and lifted by the last one to
leave, so that threads whose work overlaps do not lift each other's limit, nor restore it for good.
"""

import importlib.machinery
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import threadpoolctl
from threadpoolctl import ThreadpoolController

from linkwise.arrays import door
from linkwise.blocks.progress import Progress

EXTENSIONS = tuple(importlib.machinery.EXTENSION_SUFFIXES)

T = TypeVar("T")
U = TypeVar("U")


class Libraries(NamedTuple):
    """The thread pools of this process, as controllers of threadpoolctl."""

    shared: Any  # a limit holds for all threads
    own: Any  # a limit holds for the thread that sets it


def find_libraries() -> Libraries:
    """Return the Libraries that are loaded now."""
    found = ThreadpoolController()
    shared = [
        library.filepath
        for library in found.lib_controllers
        if library.user_api == "blas" and getattr(library, "threading_layer", "") != "openmp"
    ]
    own = [each.filepath for each in found.lib_controllers if each.filepath not in shared]
    return Libraries(found.select(filepath=shared), found.select(filepath=own))


class LibraryCache:
    """The Libraries, found anew if extension modules were imported since the last call."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.modules: frozenset[str] = frozenset()
        self.libraries: Libraries | None = None

    def __call__(self) -> Libraries:
        with self.lock:
            if self.libraries is None or len(sys.modules) != len(self.modules):
                modules = frozenset(sys.modules)
                if self.libraries is None or any(map(is_extension, modules - self.modules)):
                    self.libraries = find_libraries()
                self.modules = modules
            return self.libraries


def is_extension(name: str) -> bool:
    """Tell whether an imported module is compiled code."""
    path = getattr(sys.modules.get(name), "__file__", None)
    return isinstance(path, str) and path.endswith(EXTENSIONS)


class SharedLimit:
    """One thread for BLAS as long as anyone is inside."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        # those in force: one, or more if libraries were loaded meanwhile
        self.limits: list[tuple[Any, Any]] = []

    def enter(self, controller: Any) -> None:
        """Limit the libraries of a controller, unless they are limited already."""
        with self.lock:
            if all(limited is not controller for limited, _ in self.limits):
                self.limits.append((controller, controller.limit(limits=1)))
            self.inside += 1

    def leave(self) -> None:
        """Lift the limits if nobody is left inside."""
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                release_control()
                while self.limits:
                    self.limits.pop()[1].restore_original_limits()
                release_control()


def release_control() -> None:
    """Let this thread set the number of threads of OpenBLAS.

    From version 3.8 on, threadpoolctl lets only the thread do so that did it last.
    """
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


_libraries, _shared = LibraryCache(), SharedLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and OpenMP use one thread inside a with statement."""
    libraries = _libraries()
    _shared.enter(libraries.shared)
    try:
        with libraries.own.limit(limits=1):
            yield
    finally:
        _shared.leave()


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


@contextmanager
def executor_of(X: Any) -> Iterator[None]:
    """Use the executor for X inside a with statement: the current one, and Serial on a device.

    A device runs one operation after the other, whichever thread starts them.
    """
    if door(X).THREADS:
        yield
        return
    with executor("serial"):
        yield


def run_blocks(
    function: Callable[[T], U],
    items: Iterable[T],
    *,
    like: Any = None,
    label: str | None = None,
    total: int | None = None,
) -> Iterator[U]:
    """Yield function(item) for every item, in order, by the current executor.

    Parameters
    ----------
    items : sequence or iterator
    like : array, whose library and device process the items, or None; a device takes one at a time
    label : str or None, the name of the work on a terminal; None shows no progress
    total : int or None, the number of rows; items are then slices of them
    """
    run = (_current.get() or Threads()).map if door(like).THREADS else map
    if label is None:
        yield from run(function, items)
        return
    with Progress(label, total) as progress:
        parts: list[Any] = list(items)
        for part, result in zip(parts, run(function, parts), strict=True):
            progress.advance(part.stop - part.start)
            yield result
