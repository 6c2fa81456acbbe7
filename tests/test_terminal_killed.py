"""A terminal killed again and again under a stream of keys loses no answer and doubles none."""

import os
import random
import signal
import time

import pytest

pytest.importorskip("pty")

from app_parts import blobs
from test_terminal_session import Terminal, pair

from linkwise.journal import read_project, replay

KILLS = int(os.environ.get("LINKWISE_TERMINAL_KILLS", "4"))


def answered_under_kills(folder, kills, monkeypatch):
    """Answer in terminals that are killed; return the pairs acknowledged by a next screen."""
    monkeypatch.chdir(folder)
    blobs(folder / "data.csv", 60)
    rng, seen, path = random.Random(3), [], folder / "data.linkwise"
    for _ in range(kills):
        with Terminal("label", "data.csv", "--id", "id", "-k", 3, "--terminal") as terminal:
            screen = terminal.screen()
            for _ in range(rng.randint(5, 15)):
                asked = pair(screen, "r")
                terminal.type(rng.choice("sdu"))
                screen = terminal.screen()
                seen.append(asked)  # the next screen acknowledges the answer
            asked = pair(screen, "r")
            terminal.type("s")
            time.sleep(rng.uniform(0, 0.05))
            terminal.process.send_signal(signal.SIGKILL)
            terminal.process.wait()
        events = read_project(path).events
        if len(events) == len(seen) + 1:  # saved, and killed before the screen
            seen.append(asked)
    return seen, read_project(path)


@pytest.mark.slow
def test_no_answer_is_lost_or_doubled(tmp_path, monkeypatch):
    seen, found = answered_under_kills(tmp_path, KILLS, monkeypatch)
    told = [(int(event.body["a"][1:]), int(event.body["b"][1:])) for event in found.events]
    assert told == seen
    assert len(told) >= 5 * KILLS
    assert replay(found.events) == found.state
