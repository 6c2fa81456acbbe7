"""BLAS and OpenMP on one thread, for work that is too small for more.

The libraries are looked up once, which takes some 30 ms, and again only after an extension module
was imported: imports are how further libraries come into a process.

A limit on OpenMP holds for the thread that sets it, a limit on BLAS for all threads. The latter is
set by the first thread to enter `one_thread` and lifted by the last one to leave, so that threads
whose work overlaps do not lift each other's limit, nor restore it for good.
"""

import importlib.machinery
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import threadpoolctl
from threadpoolctl import ThreadpoolController

EXTENSIONS = tuple(importlib.machinery.EXTENSION_SUFFIXES)


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
        self.limits: list[
            tuple[Any, Any]
        ] = []  # in force: one, or more if libraries were loaded meanwhile

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
