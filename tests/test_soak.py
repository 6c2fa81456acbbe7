"""The page's server under long use: memory, open files and the time to the next question stay flat.

Memory, open files and processor time are those of the server and of its worker process together;
the process that lays out the map ends when it has done so, and is left out of memory and files. On
a busy machine the processor time of an answer says more than the seconds. LINKWISE_SOAK_MINUTES
and LINKWISE_SOAK_ANSWERS set the size; docs/reliability.md has the figures of 30 minutes and 10,000
answers. LINKWISE_SOAK_TELLING is the share of answers that are "same" or "different",
LINKWISE_SOAK_ROWS the number of rows.
"""

import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
if not Path("/proc/self/statm").exists():
    pytest.skip("needs /proc", allow_module_level=True)

from app_parts import KEY, blobs

MINUTES = float(os.environ.get("LINKWISE_SOAK_MINUTES", "0.3"))
ANSWERS = int(os.environ.get("LINKWISE_SOAK_ANSWERS", "150"))
TABS = 20
ROWS = int(os.environ.get("LINKWISE_SOAK_ROWS", "400"))
TELLING = float(os.environ.get("LINKWISE_SOAK_TELLING", "0.03"))  # so few leave pairs to ask
SERVER = """
import sys, socket, uvicorn
from linkwise.app.label_page import LabelPage
from linkwise.app.label_routes import FILES, label_routes
from linkwise.app.security import Access
from linkwise.app.server import application, life_of
from linkwise.labelling.project import KEPT, open_project

data, key, leak = sys.argv[1:]
sock = socket.socket()
sock.bind(("127.0.0.1", 0))
sock.listen(64)
port = sock.getsockname()[1]
settings = dict.fromkeys(KEPT) | {"id_column": "id"}
items, journal = open_project(data, data[:-4] + ".linkwise", settings)
page = LabelPage(items, journal, data=data, k=3)
if leak:  # a fault: every answer leaves memory and an open file behind
    answer, held = page.answer, []

    async def leaking(**body):
        held.append((bytearray(1 << 20), open(data)))
        return await answer(**body)

    page.answer = leaking
app = application(label_routes(page), Access(port, key=key), files=FILES, lifespan=life_of(page))
print(port, flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on")).run(sockets=[sock])
"""


def stat(place):
    """Return what /proc says of a process after its name: its state, its parent, ..."""
    return (place / "stat").read_text().rpartition(")")[2].split()


def family(pid):
    """Return the folders in /proc of a process and of those that it started."""
    found = {str(pid)}
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[place.name] = stat(place)[1]
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return [Path("/proc", one) for one in found]


class Use:
    """A server in a process, with tabs that come and go and an expert who answers."""

    def __init__(self, data, leak=""):
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, data, KEY, leak], stdout=subprocess.PIPE, env=environ
        )
        self.port, self.done = int(self.process.stdout.readline()), threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done.set()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(self, method, path, body=None):
        """Return the JSON of a reply, and its seconds."""
        headers = {"Cookie": f"linkwise_{self.port}={KEY}", "Content-Type": "application/json",
                   "Origin": f"http://127.0.0.1:{self.port}"}  # fmt: skip
        connection, began = self.connection(), time.monotonic()
        try:
            connection.request(method, path, body and json.dumps(body), headers)
            reply = connection.getresponse()
            raw = reply.read()
            assert reply.status == 200, raw
            return json.loads(raw), time.monotonic() - began
        finally:
            connection.close()

    def next_question(self, body):
        """Send an answer; return the seconds until there is a next question."""
        state, seconds = self.request("POST", "/api/answer", body)
        while state["question"] is None:
            time.sleep(0.02)
            state, more = self.request("GET", "/api/state")
            seconds += 0.02 + more
        return seconds

    def tab(self, seed):
        """Open the stream of events of a tab for a while, again and again."""
        rng = random.Random(seed)
        while not self.done.is_set():
            connection = self.connection()
            try:
                connection.request(
                    "GET", "/api/events", headers={"Cookie": f"linkwise_{self.port}={KEY}"}
                )
                connection.getresponse().read(1)
                self.done.wait(rng.uniform(0.1, 3))
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()

    def held(self):
        """Return {process: (resident megabytes, open files)} and the processor seconds so far."""
        each, ticks = {}, 0
        for place in family(self.process.pid):
            with suppress(OSError):  # it has just ended
                state, *rest = stat(place)
                ticks += sum(map(int, rest[10:14]))  # its own, and of children that ended
                if state == "Z":
                    continue
                pages = int((place / "statm").read_text().split()[1])
                megabytes = pages * os.sysconf("SC_PAGESIZE") / 2**20
                each[place.name] = megabytes, len(list((place / "fd").iterdir()))
        return each, ticks / os.sysconf("SC_CLK_TCK")


def soaked(data, minutes, answers, leak=""):
    """Use a server for some minutes; return samples.

    They are (share of the run, MB, files, processor seconds so far, seconds to a question), MB and
    files of the processes that are there to the end.
    """
    rows = []
    with Use(data, leak) as use:
        tabs = [threading.Thread(target=use.tab, args=(seed,), daemon=True) for seed in range(TABS)]
        for tab in tabs:
            tab.start()
        rng, began = random.Random(0), time.monotonic()
        for number in range(answers):
            a, b = rng.sample(range(ROWS), 2)
            same = a % 3 == b % 3 if rng.random() < TELLING else None
            body = {"a": a, "b": b, "same": same, "client": f"soak-{number:08d}"}
            seconds = use.next_question(body)
            if number % max(1, answers // 100) == 0:
                rows.append((number / answers, *use.held(), seconds))
            late = began + 60 * minutes * (number + 1) / answers - time.monotonic()
            if late > 0:
                time.sleep(late)
        use.done.set()
        for tab in tabs:
            tab.join()
    last = rows[-1][1]
    return np.array(
        [
            (share, *np.sum([each.get(process, (0, 0)) for process in last], axis=0), *times)
            for share, each, *times in rows
        ]
    )


def slopes(rows):
    """Return the growth of memory (MB), files and seconds over the second half of the run."""
    late = rows[rows[:, 0] >= 0.5]
    return [float(np.polyfit(late[:, 0], late[:, at], 1)[0]) / 2 for at in (1, 2, 4)]


def processor_times(rows, answers):
    """Return the processor seconds of an answer in the third and in the last quarter of a run."""
    share, spent = rows[:, 0], rows[:, 3]
    quarters = [(share >= a) & (share <= a + 0.25) for a in (0.5, 0.75)]
    return [float(np.ptp(spent[q]) / (np.ptp(share[q]) * answers)) for q in quarters]


@pytest.mark.slow
def test_memory_and_files_stay_flat(tmp_path, capsys):
    blobs(tmp_path / "data.csv", ROWS)
    rows = soaked(str(tmp_path / "data.csv"), MINUTES, ANSWERS)
    memory, files, seconds = slopes(rows)
    before, after = processor_times(rows, ANSWERS)
    with capsys.disabled():
        print(
            f"\n{MINUTES:g} minutes, {ANSWERS} answers, {TABS} tabs; over the second half: "
            f"{memory:+.1f} MB of {rows[-1, 1]:.0f}, {files:+.1f} open files of "
            f"{rows[-1, 2]:.0f}, next question {1000 * seconds:+.0f} ms of "
            f"{1000 * np.median(rows[:, 4]):.0f}; processor time of an answer in the third and "
            f"the last quarter {1000 * before:.1f} and {1000 * after:.1f} ms"
        )
    assert memory < 30
    assert files < TABS


@pytest.mark.slow
def test_a_leak_is_found(tmp_path):
    blobs(tmp_path / "data.csv", ROWS)
    memory, files, _ = slopes(soaked(str(tmp_path / "data.csv"), 0.1, 100, leak="leak"))
    assert memory > 30
    assert files > TABS
