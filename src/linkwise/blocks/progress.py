"""What is going on, for who watches a terminal.

One line on standard error: what, how much of it, rows a second, time left. Nothing is shown
where standard error is no terminal, or for work that ends within a second.
"""

import sys
import time

DELAY = 1.0  # seconds before anything is shown
PAUSE = 0.2  # between two lines


def duration(seconds):
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
    """Shows how far a loop over ``total`` rows has come; use in a with statement.

    Without a total, of an iteration that ends when it ends, it shows the number of steps.
    """

    def __init__(self, label, total=None):
        self.label, self.total, self.done = label, total, 0
        self.started = self.shown = time.monotonic()
        self.width = 0
        self.wanted = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self):
        return self

    def advance(self, rows=1):
        """Count more rows as done."""
        self.reach(self.done + rows)

    def reach(self, done):
        """Count so many rows in all as done."""
        self.done = done
        now = time.monotonic()
        if self.wanted and now - self.started > DELAY and now - self.shown > PAUSE:
            self.shown = now
            self._write(self.line(now - self.started))

    def line(self, elapsed):
        """Return what is shown after some seconds."""
        if self.total is None:
            return f"{self.label}: {self.done:,} steps, {duration(elapsed)}"
        rate = self.done / elapsed
        left = duration((self.total - self.done) / rate)
        share = self.done / self.total
        return f"{self.label}: {share:4.0%}, {rate:,.0f} rows a second, {left} left"

    def _write(self, text):
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def __exit__(self, *_):
        if self.width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
