"""The better map in a process of its own: it is computed once, and answers never interrupt it."""

import multiprocessing
import os
import threading
import traceback
from contextlib import suppress
from typing import Any

from linkwise.app.messages import Map

LEAST = 10  # points from which on a better map is computed
NICE = 10  # the process gives way to the one that chooses questions


def draw(pipe, X, quick, seed):
    """Send the better Map of points X (n, d) through a pipe, or ("unmapped", why)."""
    from linkwise.app.map_layout import islands

    if hasattr(os, "nice"):
        os.nice(NICE)
    try:
        found: Any = Map(islands(X, quick, seed=seed))
    except Exception as error:
        traceback.print_exc()
        found = "unmapped", f"{type(error).__name__}: {error}"
    with suppress(OSError):  # the server has ended
        pipe.send(found)


class MapProcess:
    """The side of the server.

    Parameters
    ----------
    X : array (n, d)
    quick : array (n, 2), the quick map; the better one is turned to lie like it
    seed : int
    hear : function, called in a thread of its own with the better Map, or with ("unmapped", why)
    """

    def __init__(self, X, quick, *, seed, hear):
        self.hear, self._closed = hear, False
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=draw, args=(theirs, X, quick, seed), daemon=True)
        self.process.start()
        theirs.close()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            found = self._pipe.recv()
        except (EOFError, OSError):
            found = "unmapped", "its process ended"
        if not self._closed:
            self.hear(found)

    def close(self):
        """End the process."""
        self._closed = True
        self.process.kill()
        self.process.join(2)
        self._pipe.close()
