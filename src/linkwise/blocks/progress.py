"""Progress on a terminal.

One line on standard error: what is done, how much of it, and the time left. Nothing is shown if
standard error is no terminal, for work that ends within a second, or by a worker process, which
shares the terminal with the process that started it.
"""

import sys
import time
from multiprocessing import parent_process
from typing import Self

DELAY = 1.0  # seconds before anything is shown: shorter work needs no progress
PAUSE = 0.2  # seconds between two lines: often enough to look alive, too seldom to cost anything


def duration(seconds: float) -> str:
    """Return seconds in words.

    >>> duration(4.2), duration(190), duration(7300)
    ('4 s', '3 min 10 s', '2 h 1 min')
    """
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Shows how far a loop has come; use in a with statement.

    Parameters
    ----------
    label : str, what the work is called
    total : int or None
        How many units there are. With None, for an iteration of unknown length, the number of
        steps is shown.
    unit : str
        What is counted. Rows are many: their share and rate are shown. Other units are counted
        one by one: "LinkClustering: 5 of 20 candidates, 12 s left".
    """

    def __init__(self, label: str, total: int | None = None, *, unit: str = "rows") -> None:
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        self.started = self.shown = time.monotonic()
        self.width = 0
        seen = sys.stderr is not None and sys.stderr.isatty()
        self.wanted = seen and parent_process() is None

    def __enter__(self) -> Self:
        return self

    def advance(self, units: int = 1) -> None:
        """Count more units as done."""
        self.reach(self.done + units)

    def reach(self, done: int) -> None:
        """Set the number of units done so far."""
        self.done = done
        now = time.monotonic()
        if self.wanted and now - self.started > DELAY and now - self.shown > PAUSE:
            self.shown = now
            self._write(self.line(now - self.started))

    def line(self, elapsed: float) -> str:
        """Return the line to show after some seconds."""
        if self.total is None:
            return f"{self.label}: {self.done:,} steps, {duration(elapsed)}"
        rate = self.done / elapsed
        left = duration((self.total - self.done) / rate)
        if self.unit == "rows":
            share = self.done / self.total
            return f"{self.label}: {share:4.0%}, {rate:,.0f} rows a second, {left} left"
        return f"{self.label}: {self.done:,} of {self.total:,} {self.unit}, {left} left"

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def __exit__(self, *_: object) -> None:
        if self.width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
