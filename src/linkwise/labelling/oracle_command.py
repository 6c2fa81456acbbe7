"""A program that answers questions: JSON lines out and in, with a cache of its answers.

The program is started once. For each question it gets one line on its standard input,

    {"question": 7, "a": {"id": "r1", "text": "..."}, "b": {"id": "r2", "text": "..."}}

and it writes one line for each question, in any order,

    {"question": 7, "same": true, "cost": 0.0003}

`same` is true, false, or null for "don't know". `cost` is optional, in any unit. Several questions
are written at once; the program may answer them one by one or together. Its standard input is
closed in the end, and then it should end.

Every answer is added to the cache, a file of JSON lines, as soon as it arrives. A pair of rows with
the same content is never asked twice, also after a restart.
"""

import hashlib
import json
import os
import queue
import shlex
import subprocess
import threading
from contextlib import suppress
from typing import Any, NamedTuple

from linkwise._wording import counted
from linkwise.labelling.items import Items

WAIT = 600.0  # seconds without an answer after which the program counts as stuck
LAST = 10.0  # seconds for the program to end once nothing more is asked
LINE = 1 << 20  # bytes of an answer at most; a longer line is no answer


class Reply(NamedTuple):
    """An answer: True, False or None, what it cost, and whether it comes from the cache."""

    same: bool | None
    cost: float
    cached: bool = False


def row_of(items: Items, row: int) -> dict[str, Any]:
    """Return a row as the program sees it: its id and its columns."""
    cells = [cell if isinstance(cell, str) else float(cell) for cell in items.cells[row]]
    return {"id": items.name(row), **dict(zip(items.names, cells, strict=True))}


def key_of(command: str, a: dict[str, Any], b: dict[str, Any]) -> str:
    """Return the key of a pair in the cache: of the program and of both contents, in any order."""
    sides = sorted(json.dumps({k: v for k, v in side.items() if k != "id"}) for side in (a, b))
    return hashlib.sha256("\0".join([command, *sides]).encode()).hexdigest()


def _reply(text: str, command: str) -> tuple[Any, Reply]:
    """Return (the number of the question, the Reply) of a line that the program wrote."""
    try:
        body = json.loads(text)
        number, same, cost = body["question"], body["same"], body.get("cost", 0)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(
            f"--oracle: {command} wrote {text.strip()[:80]!r}; expected a line such as "
            '{"question": 1, "same": true}'
        ) from None
    good = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e300
    if not (same is None or isinstance(same, bool)) or not good:
        raise ValueError(
            f"--oracle: {command} answered {text.strip()[:80]!r}; same must be true, false or "
            "null, and cost a number from 0 on"
        )
    return number, Reply(same, float(cost))


class Cache:
    """Answers in a file of JSON lines. A line that a crash cut off is removed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.known: dict[str, Reply] = {}
        if not os.path.exists(path):
            return
        with open(path, "r+b") as file:
            raw = file.read()
            whole = raw.rfind(b"\n") + 1
            file.truncate(whole)
        for line in raw[:whole].decode(errors="replace").splitlines():
            try:
                body = json.loads(line)
                self.known[body["key"]] = Reply(body["same"], 0.0, cached=True)
            except (ValueError, TypeError, KeyError):
                raise ValueError(
                    f"{path} is no cache of answers: {line[:60]!r}; move it away"
                ) from None

    def add(self, key: str, reply: Reply) -> None:
        """Keep an answer, on the disk first."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "same": reply.same, "cost": reply.cost}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.known[key] = reply._replace(cost=0.0, cached=True)


class OracleCommand:
    """A program that answers questions about the rows of Items.

    Parameters
    ----------
    command : str, the program and its arguments, as in a shell but without one
    items : Items
    cache : Cache
    """

    def __init__(self, command: str, items: Items, cache: Cache) -> None:
        self.command, self.items, self.cache = command, items, cache
        self.number = 0
        self._waiting = False  # for an answer: if this fails, the program is not left to finish
        self._lines: queue.Queue[str] = queue.Queue()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "OracleCommand":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        if self._waiting:
            self._process.kill()
        assert self._process.stdin is not None
        with suppress(OSError):  # it may have ended
            self._process.stdin.close()
        try:
            self._process.wait(LAST)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _start(self) -> "subprocess.Popen[str]":
        try:
            words = shlex.split(self.command)
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, ValueError, IndexError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"--oracle: cannot start {self.command!r}: {reason}") from None

        def read() -> None:
            assert process.stdout is not None
            while line := process.stdout.readline(LINE):
                self._lines.put(line)
            self._lines.put("")  # the program has ended

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        return process

    def _fault(self, what: str) -> ValueError:
        return ValueError(
            f"--oracle: {self.command} {what}; answers so far are saved, and the same command goes "
            "on from there"
        )

    def _write(self, lines: list[dict[str, Any]]) -> None:
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            self._process.stdin.flush()
        except OSError:
            raise self._fault("does not read questions any more") from None

    def _next(self) -> str:
        try:
            line = self._lines.get(timeout=WAIT)
        except queue.Empty:
            raise self._fault(f"did not answer for {WAIT:g} seconds") from None
        if line == "":
            assert self._process is not None
            raise self._fault(f"ended with code {self._process.wait()} before it had answered")
        return line

    def ask(self, pairs: list[tuple[int, int]]) -> list[Reply]:
        """Return the answers about pairs of rows, in their order."""
        rows = [(row_of(self.items, a), row_of(self.items, b)) for a, b in pairs]
        keys = [key_of(self.command, a, b) for a, b in rows]
        open_keys = [k for k in dict.fromkeys(keys) if k not in self.cache.known]
        numbers = {self.number + i + 1: key for i, key in enumerate(open_keys)}
        self.number += len(open_keys)
        fresh: dict[str, Reply] = {}
        if numbers:
            asked = [(number, *rows[keys.index(key)]) for number, key in numbers.items()]
            self._write([{"question": number, "a": a, "b": b} for number, a, b in asked])
            self._waiting = True
            while numbers:
                number, reply = _reply(self._next(), self.command)
                if number not in numbers:
                    raise self._fault(f"answered question {number!r}, which was not asked now")
                key = numbers.pop(number)
                self.cache.add(key, reply)
                fresh[key] = reply
            self._waiting = False
        return [fresh.pop(key) if key in fresh else self.cache.known[key] for key in keys]


def summary(asked: int, cached: int, cost: float) -> str:
    """Return in words what was asked and what it cost."""
    parts = [f"{counted(asked, 'question')} asked"]
    parts += [f"{cached} answered from the cache"] if cached else []
    parts += [f"cost {cost:.6g}"] if cost else []
    return ", ".join(parts)
