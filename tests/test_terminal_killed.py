"""A terminal killed again and again under a stream of keys loses no answer and doubles none.

The terminal runs in a fork of this process, so that no start imports anything, and asks about pairs
in turn instead of clustering. Its keys, its screens and its journal are the real ones.
LINKWISE_TERMINAL_KILLS sets the number of kills; docs/reliability.md has the figures of 1,000.
"""

import os
import random
import signal
import sys
import time

import pytest

pytest.importorskip("pty")

from app_parts import blobs, commit_late
from test_terminal_session import Terminal, pair, pty

from linkwise import cli
from linkwise.journal import read_project, replay
from linkwise.query import Progress, Question
from linkwise.terminal import dialogue

KILLS = int(os.environ.get("LINKWISE_TERMINAL_KILLS", "10"))
ROWS = 60
LINE = ["label", "data.csv", "--id", "id", "-k", "3", "--terminal"]


class InTurn:
    """A model that asks about all pairs of rows in turn, and clusters nothing."""

    def __init__(self, X, *, seed, n_clusters):
        n = len(X)
        self.pairs, self.at = [(i, j) for j in range(n) for i in range(j)], 0

    def follow(self, task):
        self.at = task.links.n_pairs + len(task.unsure)

    def questions(self, n):
        return [Question(*self.pairs[self.at % len(self.pairs)], "in turn")]

    def progress(self):
        return Progress(0, 0.0, 0.0, False, True)


class ForkedTerminal(Terminal):
    """A pseudo-terminal with linkwise running in a fork of this process."""

    def __init__(self, line, planted=""):
        self.pid, self.end = pty.fork()
        self.seen = ""
        if self.pid == 0:
            try:
                os.environ |= {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24"}
                sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, (0, 1, 2), "rww")
                dialogue.ClusterModel = InTurn
                if planted:
                    commit_late()
                cli.main(line)
            finally:
                os._exit(1)

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.end)


def answered_under_kills(folder, kills, monkeypatch, planted=""):
    """Answer in terminals that are killed; return the pairs acknowledged by a next screen."""
    monkeypatch.chdir(folder)
    blobs(folder / "data.csv", ROWS)
    rng, seen, path = random.Random(3), [], folder / "data.linkwise"
    for _ in range(kills):
        with ForkedTerminal(LINE, planted) as terminal:
            screen = terminal.screen()
            for _ in range(rng.randint(6, 16)):
                a, b = pair(screen, "r")
                unsure = rng.random() < 0.3
                terminal.type("u" if unsure else "s" if a % 3 == b % 3 else "d")
                screen = terminal.screen()
                seen.append((a, b))  # the next screen acknowledges the answer
            if not planted:  # one more answer may be on its way; a late commit would come with it
                asked = pair(screen, "r")
                terminal.type("u")
                time.sleep(rng.uniform(0, 0.02))
        events = read_project(path).events
        if len(events) > len(seen):  # saved, and killed before the screen
            seen.append(asked)
        if planted and len(events) < len(seen):
            break
    return seen, read_project(path)


def told(project):
    """Return the pairs of rows in a project, in their order."""
    return [(int(event.body["a"][1:]), int(event.body["b"][1:])) for event in project.events]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_answer_is_lost_or_doubled(tmp_path, monkeypatch, capsys):
    seen, found = answered_under_kills(tmp_path, KILLS, monkeypatch)
    with capsys.disabled():
        print(f"\nterminals killed {KILLS}, answers {len(seen)}")
    assert told(found) == seen
    assert len(seen) >= 6 * KILLS
    assert replay(found.events) == found.state


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_commit_after_the_next_screen_is_found_out(tmp_path, monkeypatch):
    seen, found = answered_under_kills(tmp_path, 20, monkeypatch, planted="late")
    assert len(told(found)) < len(seen)
