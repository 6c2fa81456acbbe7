"""The keys of a person: single keys on a terminal, else one line of input each.

On a terminal keys are read without return and without echo; Ctrl-C still interrupts. The sequence
of an arrow or function key is read as a whole and ignored. The end of the input means "finished".
"""

import os
import select
import sys
from contextlib import suppress

try:
    import termios
    import tty
except ImportError:  # Windows: lines
    termios = None  # type: ignore[assignment]

MEANING = {
    "s": "same", "d": "different", "u": "unsure", " ": "unsure", "c": "unclear", "x": "stray",
    "w": "wider",
    "b": "back", "\x7f": "back", "\x08": "back", "r": "redo", "q": "finished",
    "\x04": "finished", "?": "help", "h": "help",
}  # fmt: skip
WORDS = {
    **{word: word for word in MEANING.values()},
    **{key: word for key, word in MEANING.items() if key.isprintable() and key != " "},
    "undo": "back", "quit": "finished", "skip": "unsure", "yes": "same", "no": "different",
    "y": "same", "n": "different",
}  # fmt: skip


class Lines:
    """Answers as lines of text."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def next(self, redraw):
        """Return the meaning of the next line, or the line itself if it has none."""
        line = self.stream.readline()
        if not line:
            return "finished"
        return WORDS.get(line.strip().lower(), repr(line.strip()))


class Presses:
    """Answers as single keys on a terminal."""

    def __init__(self, fd):
        self.fd, self.waiting = fd, b""
        self.before = termios.tcgetattr(fd)

    def __enter__(self):
        tty.setcbreak(self.fd, termios.TCSADRAIN)
        return self

    def __exit__(self, *_):
        with suppress(termios.error):  # the terminal may be closed
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self.before)

    def next(self, redraw):
        """Return the meaning of the next key, or the key itself if it has none.

        Parameters
        ----------
        redraw : function called every half second while there is no key, with True if the program
            was stopped and continued
        """
        while not self.waiting:
            if select.select([self.fd], [], [], 0.5)[0]:
                try:
                    part = os.read(self.fd, 1024)
                except OSError:  # the terminal is closed
                    part = b""
                if not part:
                    return "finished"
                self.waiting += part
            else:
                stopped = bool(termios.tcgetattr(self.fd)[3] & termios.ICANON)
                if stopped:  # the shell has changed the mode of the terminal
                    tty.setcbreak(self.fd, termios.TCSADRAIN)
                redraw(stopped)
        key = self._take()
        return MEANING.get(key.lower(), repr(key))

    def _take(self):
        """Remove one key from the waiting bytes; it may have sent several."""
        length = 1
        if self.waiting[:1] == b"\x1b":
            while len(self.waiting) < 16 and select.select([self.fd], [], [], 0.02)[0]:
                part = os.read(self.fd, 16)
                if not part:
                    break
                self.waiting += part
            length = _sequence(self.waiting)
        elif self.waiting[0] >= 0xC0:  # UTF-8 of several bytes
            length = 2 + (self.waiting[0] >= 0xE0) + (self.waiting[0] >= 0xF0)
        key, self.waiting = self.waiting[:length], self.waiting[length:]
        return key.decode(errors="replace")


def _sequence(keys):
    """Return how many bytes the escape sequence at the start of some keys has."""
    if keys[1:2] not in (b"[", b"O"):
        return 1
    ends = (i for i in range(2, len(keys)) if 0x40 <= keys[i] <= 0x7E)
    return next(ends, len(keys) - 1) + 1


def open_keys(stream=None):
    """Return the source of answers: keys if the input is a terminal, else lines."""
    stream = sys.stdin if stream is None else stream
    if stream is None:
        raise ValueError("standard input is closed; run it in a terminal, or send it lines")
    if termios is not None and stream.isatty():
        return Presses(stream.fileno())
    return Lines(stream)
