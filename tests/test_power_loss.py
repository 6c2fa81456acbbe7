"""The power fails at any moment: what was acknowledged is there afterwards.

A preloaded library (power_loss.c) records what was synced. After a kill the folder is made again
from this record, so that all writes without a sync are lost.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from linkwise.journal import read_project

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if sys.platform != "linux" or COMPILER is None:
    pytest.skip("needs Linux and a C compiler", allow_module_level=True)

FAILURES = int(os.environ.get("LINKWISE_POWER_FAILURES", "5"))
WRITER = textwrap.dedent(
    """
    import sys
    from linkwise.journal import Data, Journal

    path, first, planted = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    data = Data("points.csv", "0" * 64, 1000, "row")
    i = first
    while True:
        with Journal(path, data=data, who="w") as journal:
            if planted:
                journal._db.execute("PRAGMA synchronous = OFF")  # a fault: nothing is synced
            for _ in range(25):  # then an orderly end, which removes the log of SQLite
                journal.append("answer", {"a": i % 999, "b": 999, "same": True}, client=f"c{i}")
                print(i, flush=True)
                i += 1
    """
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The preloaded library, compiled."""
    place = tmp_path_factory.mktemp("library") / "power_loss.so"
    source = Path(__file__).with_name("power_loss.c")
    line = [COMPILER, "-shared", "-fPIC", "-O1", "-o", place, source, "-ldl"]
    subprocess.run(line, check=True, capture_output=True)
    return place


class Disk:
    """A folder, and what a power failure leaves of it."""

    def __init__(self, tmp_path, library):
        self.folder, self.kept = tmp_path / "folder", tmp_path / "kept"
        self.folder.mkdir()
        self.kept.mkdir()
        self.environ = os.environ | {
            "LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(sys.path),
            "LINKWISE_POWER_FOLDER": str(self.folder), "LINKWISE_POWER_KEPT": str(self.kept),
        }  # fmt: skip

    def start(self, code, *values):
        """Start Python code in a process whose syncs are recorded."""
        line = [sys.executable, "-c", code, *map(str, values)]
        return subprocess.Popen(line, env=self.environ, stdout=subprocess.PIPE, text=True)

    def run(self, code, *values):
        """Run Python code to its end."""
        with self.start(code, *values) as process:
            assert process.wait() == 0

    def events(self, name):
        """Return the events of a project, read in a copy of the folder: reading may tidy it up."""
        look = self.folder.with_name("look")
        shutil.rmtree(look, ignore_errors=True)
        shutil.copytree(self.folder, look)
        place = look / name
        return read_project(place).events if place.exists() and place.stat().st_size else []

    def fail(self):
        """Lose everything that was not synced."""
        names = self.kept / "names"
        lines = names.read_text().splitlines() if names.exists() else []
        found = dict(line.split() for line in lines)
        contents = {name: self.kept / f"{inode}.data" for name, inode in found.items()}
        raw = {name: at.read_bytes() if at.exists() else b"" for name, at in contents.items()}
        for place in (self.folder, self.kept):
            shutil.rmtree(place)
            place.mkdir()
        for name, content in raw.items():
            at = self.folder / name
            at.write_bytes(content)
            inode = at.stat().st_ino
            (self.kept / f"{inode}.data").write_bytes(content)
            with open(names, "a") as file:
                file.write(f"{name} {inode}\n")


@pytest.fixture
def disk(tmp_path, library):
    return Disk(tmp_path, library)


def answers_and_failures(disk, failures, planted=""):
    """Write answers through some failures; return how many were acknowledged, lost and doubled."""
    path, rng = disk.folder / "p.linkwise", random.Random(0)
    acknowledged = lost = doubled = 0
    for _ in range(failures):
        writer = disk.start(WRITER, path, acknowledged, planted)
        for _ in range(rng.randint(1, 60)):
            assert int(writer.stdout.readline()) == acknowledged
            acknowledged += 1
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0].split()
        acknowledged += len(rest)
        disk.fail()
        events = disk.events(path.name)
        clients = [event.client for event in events]
        lost += len({f"c{i}" for i in range(acknowledged)} - set(clients))
        doubled += len(clients) - len(set(clients))
        if planted and lost:
            break
    return acknowledged, lost, doubled


@pytest.mark.slow
def test_no_acknowledged_answer_is_lost_when_the_power_fails(disk, capsys):
    acknowledged, lost, doubled = answers_and_failures(disk, FAILURES)
    with capsys.disabled():
        print(f"\npower failures {FAILURES}, answers {acknowledged}, lost {lost}")
    assert acknowledged > 5 * FAILURES
    assert (lost, doubled) == (0, 0)


@pytest.mark.slow
def test_answers_without_a_sync_are_lost(disk):
    assert answers_and_failures(disk, 3, planted="no sync")[1] > 0


def test_a_write_without_a_sync_is_dropped_and_one_with_a_sync_is_kept(disk):
    code = """
import os, sys
for name in ("synced", "not"):
    with open(os.path.join(sys.argv[1], name), "w") as file:
        file.write("first")
        file.flush()
        if name == "synced":
            os.fsync(file.fileno())
            file.write(" second")
"""
    disk.run(code, disk.folder)
    assert {file.name for file in disk.folder.iterdir()} == {"synced", "not"}
    disk.fail()
    assert [file.name for file in disk.folder.iterdir()] == ["synced"]
    assert (disk.folder / "synced").read_text() == "first"


@pytest.mark.slow
def test_a_saved_model_is_the_old_one_or_the_new_one(disk):
    code = """
import sys
import numpy as np, linkwise
X = np.random.default_rng(0).standard_normal((20, 2))
for k in (2, 3):
    linkwise.save(linkwise.COPKMeans(k, random_state=0).fit(X), sys.argv[1] + "/m.lwmodel")
"""
    import linkwise

    disk.run(code, disk.folder)
    disk.fail()
    assert linkwise.load(disk.folder / "m.lwmodel").n_clusters == 3
