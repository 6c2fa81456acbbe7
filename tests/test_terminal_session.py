"""Real sessions, typed by a program into a pseudo-terminal."""

import contextlib
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from linkwise import Constraints
from linkwise.cli import main
from linkwise.journal import read_project

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")
fcntl = pytest.importorskip("fcntl")

CLEAR = "\x1b[H\x1b[2J"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A pseudo-terminal with a command running in it, as its user sees and uses it."""

    def __init__(self, *command, columns=80, lines=24, **environ):
        self.end, end = pty.openpty()
        self.resize(columns, lines)
        self.modes = termios.tcgetattr(end)
        environ = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", **environ}
        line = [sys.executable, "-m", "linkwise", *map(str, command)]

        def own_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # maybe ignored here

        self.process = subprocess.Popen(
            line, stdin=end, stdout=end, stderr=end, env=environ, start_new_session=True,
            preexec_fn=own_terminal,
        )  # fmt: skip
        os.close(end)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self.end)

    def resize(self, columns, lines):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, until, seconds=300):
        """Return what comes, up to where a regular expression is found at its end."""
        limit, got = time.monotonic() + seconds, ""
        while not re.search(until, got):
            assert time.monotonic() < limit, f"no {until!r} in {got!r}"
            if select.select([self.end], [], [], 0.2)[0]:
                try:
                    got += os.read(self.end, 65536).decode()
                except OSError:
                    break
        self.seen += got
        return got.replace("\r\n", "\n")

    def screen(self):
        """Return the next screen, without colours."""
        return COLOUR.sub("", self.read(r"\x1b\[2J[\s\S]*\n> $").split(CLEAR)[-1])

    def type(self, keys):
        os.write(self.end, keys.encode())

    def finish(self):
        """Return (exit code, the rest of the output)."""
        rest = ""
        while True:
            try:
                part = os.read(self.end, 65536)
            except OSError:
                break
            if not part:
                break
            rest += part.decode()
        return self.process.wait(timeout=300), rest.replace("\r\n", "\n")


def pair(screen, prefix):
    """Return the two row numbers in the ids on a screen."""
    found = re.search(rf"^id +{prefix}(\d+) +\| {prefix}(\d+)$", screen, flags=re.MULTILINE)
    assert found, screen
    return int(found[1]), int(found[2])


@pytest.mark.slow
def test_an_expert_labels_digits_is_killed_twice_and_finishes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    rows = (f"digit{i}," + ",".join(map(str, row)) for i, row in enumerate(X.astype(int).tolist()))
    header = "name," + ",".join(f"p{j}" for j in range(64))
    (tmp_path / "digits.csv").write_text("\n".join([header, *rows]) + "\n")

    seen = []  # pairs answered, in order, and acknowledged by the screen that followed
    line = ["label", "digits.csv", "--id", "name", "-k", 10, "--terminal"]
    for until in (70, 140, 200):
        with Terminal(*line) as terminal:
            screen = terminal.screen()
            assert f"{len(seen)} answered" in screen
            while len(seen) < until:
                a, b = pair(screen, "digit")
                seen.append((a, b, bool(y[a] == y[b])))
                terminal.type("s" if y[a] == y[b] else "d")
                screen = terminal.screen()
            assert "why:" in screen
            assert "so far: The last 10 answers changed" in screen
            if until < 200:
                terminal.type("s")
                time.sleep(0.01)
                terminal.process.send_signal(signal.SIGKILL)
                terminal.process.wait()
                saved = read_project("digits.linkwise").state.active[len(seen) :]
                assert len(saved) <= 1  # it was killed before that answer was seen to be saved
                if saved:
                    with Terminal(*line) as terminal:  # the expert takes the guess back
                        terminal.screen()
                        terminal.type("b")
                        assert "Taken back" in terminal.screen()
                        terminal.type("q")
                        assert terminal.finish()[0] == 0
            else:
                terminal.type("q")
                code, rest = terminal.finish()
                assert code == 0
                assert "Saved in digits.linkwise: 200 answers" in rest
                assert termios.tcgetattr(terminal.end) == terminal.modes
        line = [*line[:2], "--terminal"]  # the project knows the rest

    links = read_project("digits.linkwise").state.constraints()
    answers = [(a, b, sign > 0) for a, b, sign, _ in links]
    assert answers == [(f"digit{a}", f"digit{b}", same) for a, b, same in seen]
    assert sorted(os.listdir()) == ["digits.csv", "digits.linkwise"]

    assert main(["export", "digits.linkwise", "-o", "links.csv"]) == 0
    assert Constraints.read("links.csv") == read_project("digits.linkwise").state.constraints()
    capsys.readouterr()
    options = "--id-column name -k 10 --effort fast --json -o labels.csv"
    assert main(f"fit digits.csv --links digits.linkwise {options}".split()) == 0
    assert json.loads(capsys.readouterr().out)["links"]["given"] == 200
    labels = np.loadtxt("labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    assert adjusted_rand_score(y, labels) > 0.8


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = (f"r{i},{9 * (i % 2) + i % 5 / 7},{i % 3 / 7},\x1b[31mred\x07" for i in range(30))
    (tmp_path / "data.csv").write_text("\n".join(["id,x,y,note", *rows]) + "\n")
    return tmp_path


def test_ctrl_c_leaves_everything_saved_and_the_terminal_as_it_was(small):
    with Terminal("label", "data.csv", "--id", "id", "--terminal") as terminal:
        terminal.screen()
        terminal.type("d")
        terminal.screen()
        assert termios.tcgetattr(terminal.end) != terminal.modes
        terminal.type("\x03")
        code, rest = terminal.finish()
        assert code == 130
        assert "Saved in data.linkwise: 1 answer" in rest
        assert "Traceback" not in rest
        assert termios.tcgetattr(terminal.end) == terminal.modes
    assert sorted(os.listdir()) == ["data.csv", "data.linkwise"]


@pytest.mark.parametrize(("ending", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_request_to_end_puts_the_terminal_in_order(small, ending, code):
    with Terminal("label", "data.csv", "--id", "id", "--terminal") as terminal:
        terminal.screen()
        terminal.type("s")
        terminal.screen()
        terminal.process.send_signal(getattr(signal, ending))
        assert terminal.finish()[0] == code
        assert termios.tcgetattr(terminal.end) == terminal.modes
    assert sorted(os.listdir()) == ["data.csv", "data.linkwise"]


def test_a_terminal_that_goes_away_loses_nothing(small):
    with Terminal("label", "data.csv", "--id", "id", "--terminal") as terminal:
        terminal.screen()
        terminal.type("s")
        terminal.screen()
        os.close(terminal.end)
        assert terminal.process.wait(timeout=300) == 128 + signal.SIGHUP
        terminal.end = os.open(os.devnull, os.O_RDONLY)
    assert sorted(os.listdir()) == ["data.csv", "data.linkwise"]
    assert len(read_project("data.linkwise").state.active) == 1


def test_keys_typed_ahead_resizing_and_stopping(small):
    with Terminal("label", "data.csv", "--id", "id", "--terminal", NO_COLOR="") as terminal:
        first = terminal.screen()
        assert "\x1b[1m" in terminal.seen  # colours
        assert "\\x1b[31mred\\x07" in first
        terminal.type("sdu")
        while "3 answered" not in (screen := terminal.screen()):
            pass
        terminal.resize(40, 30)
        screen = terminal.screen()
        assert "\nA r" in screen  # one above the other
        assert all(len(text) <= 40 for text in screen.split("\n"))
        terminal.process.send_signal(signal.SIGSTOP)
        cooked = termios.tcgetattr(terminal.end)
        cooked[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(terminal.end, termios.TCSANOW, cooked)  # as a shell would
        terminal.process.send_signal(signal.SIGCONT)
        terminal.screen()
        terminal.type("b")
        assert "Taken back" in terminal.screen()
        terminal.type("\x04")
        assert terminal.finish()[0] == 0
        assert "\x1b[31m" not in terminal.seen
        assert "\x07" not in terminal.seen
    assert len(read_project("data.linkwise").state.active) == 2
