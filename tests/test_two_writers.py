"""Two programs that want to write to one project all the time: one waits, and nothing is lost.

LINKWISE_WRITERS_MINUTES sets the time; docs/reliability.md has the figures of an hour.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from linkwise.journal import read_project, replay

MINUTES = float(os.environ.get("LINKWISE_WRITERS_MINUTES", "0.05"))
WRITER = textwrap.dedent(
    """
    import os, random, sys, time
    from linkwise.journal import Data, InUse, Journal, NotSaved
    from linkwise.journal import journal as module

    path, name, seconds, planted = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    data = Data("points.csv", "0" * 64, 1000, "row")
    if planted:  # a fault: no lock, and an answer that is not saved is acknowledged
        module.take_lock = lambda path: os.open(os.devnull, os.O_RDONLY)
        write = Journal._write

        def careless(self, events):
            try:
                write(self, events)
            except NotSaved:
                pass

        Journal._write = careless
    rng, end, i = random.Random(name), time.monotonic() + seconds, 0
    pause = seconds / 1000  # some thousand answers in any time: every start reads them all
    while time.monotonic() < end:
        try:
            with Journal(path, data=data, who=name) as journal:
                for _ in range(rng.randint(1, 20)):
                    body = {"a": i % 999, "b": 999, "same": None}
                    journal.append("answer", body, client=f"{name}{i}")
                    print(f"{name}{i}", flush=True)
                    i += 1
                    time.sleep(rng.uniform(0, pause))
        except OSError if planted else InUse:
            print("refused", flush=True)
        time.sleep(rng.uniform(0, pause))
    """
)


class Outcome(NamedTuple):
    """What came of two writers."""

    answers: list  # acknowledged by each writer, in order
    refused: int
    clients: list  # in the project, in order


def written(path, minutes, planted=""):
    """Let two programs write for some minutes; return the Outcome."""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    places = [Path(f"{path}.{name}") for name in "ab"]
    writers = []
    for place in places:
        with place.open("w") as out:  # a pipe would fill up, and stop the writer
            options = [path, place.suffix[1:], str(60 * minutes), planted]
            line = [sys.executable, "-c", WRITER, *options]
            writers.append(subprocess.Popen(line, env=environ, stdout=out))
    assert [writer.wait() for writer in writers] == [0, 0]
    lines = [place.read_text().split() for place in places]
    told = [[line for line in each if line != "refused"] for each in lines]
    clients = [event.client for event in read_project(path).events]
    return Outcome(told, sum(each.count("refused") for each in lines), clients)


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_and_one_waits(tmp_path, capsys):
    path = str(tmp_path / "p.linkwise")
    found = written(path, MINUTES)
    with capsys.disabled():
        print(
            f"\ntwo writers {MINUTES:g} minutes, answers {len(found.clients)}, "
            f"refused to begin {found.refused}"
        )
    for name, told in zip("ab", found.answers, strict=True):
        assert told
        assert [client for client in found.clients if client.startswith(name)] == told
    assert len(found.clients) == sum(map(len, found.answers))
    assert found.refused > 0
    project = read_project(path)
    assert replay(project.events) == project.state


@pytest.mark.slow
def test_writers_without_a_lock_are_found_out(tmp_path):
    found = written(str(tmp_path / "p.linkwise"), 0.05, planted="no lock")
    assert set(found.answers[0] + found.answers[1]) - set(found.clients)
