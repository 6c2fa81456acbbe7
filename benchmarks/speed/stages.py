"""The time of each stage of a fit.

The clock of a stage runs while its function runs, and stops while the function of another stage
runs inside it. The stages of a fit add up to no more than the fit.
"""

import functools
import sys
import time
from contextlib import ExitStack, contextmanager
from importlib import import_module
from unittest import mock


class Clock:
    """Adds up the seconds of each stage."""

    def __init__(self):
        self.seconds = {}
        self.running = []  # names, the innermost last
        self.since = 0.0

    def _turn(self):
        now = time.perf_counter()
        if self.running:
            self.seconds[self.running[-1]] += now - self.since
        self.since = now

    def around(self, name, function):
        """Return the function with the clock of a stage around it."""
        self.seconds.setdefault(name, 0.0)

        @functools.wraps(function)
        def clocked_function(*args, **kwargs):
            self._turn()
            self.running.append(name)
            try:
                return function(*args, **kwargs)
            finally:
                self._turn()
                self.running.pop()

        return clocked_function


def _modules():
    return [m for name, m in list(sys.modules.items()) if name.split(".")[0] == "linkwise" and m]


@contextmanager
def clocked(places):
    """Put clocks around functions and classes; yield {stage: seconds so far}.

    Parameters
    ----------
    places : list of (stage, "module:name"); a stage may have several
        The constructor of a class is clocked. A function is clocked in every module of linkwise
        that has it.
    """
    clock = Clock()
    with ExitStack() as stack:
        for stage, place in places:
            module, name = place.split(":")
            found = getattr(import_module(module), name)
            if isinstance(found, type):
                timed = clock.around(stage, vars(found)["__init__"])
                stack.enter_context(mock.patch.object(found, "__init__", timed))
                continue
            timed = clock.around(stage, found)
            for user in _modules():
                for own, value in list(vars(user).items()):
                    if value is found:
                        stack.enter_context(mock.patch.object(user, own, timed))
        yield clock.seconds
