"""Ctrl-C ends the program in order, whatever it is at: no traceback, the project whole."""

import http.client
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
if not hasattr(os, "killpg"):
    pytest.skip("no process groups", allow_module_level=True)

from app_parts import blobs

from linkwise.journal import read_project

TIMES = int(os.environ.get("LINKWISE_INTERRUPTS", "3"))
GONE = (OSError, http.client.HTTPException, ValueError, AttributeError)
N = 60


def let_in(address):
    """Return (host, headers) of a page that is let in."""
    host, path = re.fullmatch(r"http://([^/]+)(/.*)", address).groups()
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", path)
    cookie = connection.getresponse().headers["Set-Cookie"].split(";")[0]
    connection.close()
    return host, {
        "Origin": f"http://{host}",
        "Cookie": cookie,
        "Content-Type": "application/json",
    }


def listen(host, headers):
    """Hear the news of the program until it ends."""
    connection = http.client.HTTPConnection(host, timeout=60)
    with suppress(*GONE):
        connection.request("GET", "/api/events", headers=headers)
        reply = connection.getresponse()
        while reply.readline():
            pass
    connection.close()


def answer(host, headers, rng, acknowledged):
    """Send answers until the program ends."""
    connection = http.client.HTTPConnection(host, timeout=60)
    with suppress(*GONE):
        for number in itertools.count():
            a, b = rng.sample(range(N), 2)
            body = {"a": a, "b": b, "same": rng.choice([True, False, None])}
            body |= {"client": f"answer-{number:06d}"}
            connection.request("POST", "/api/answer", json.dumps(body), headers)
            reply = connection.getresponse()
            acknowledged.append(json.loads(reply.read())["event"])
    connection.close()


@pytest.mark.parametrize("seed", range(TIMES))
def test_a_ctrl_c_ends_it_in_order(tmp_path, seed):
    rng = random.Random(seed)
    blobs(tmp_path / "data.csv", N)
    line = [sys.executable, "-m", "linkwise", "label", "data.csv", "--id", "id", "--no-browser"]
    process = subprocess.Popen(
        line, cwd=tmp_path, env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    acknowledged: list = []
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        time.sleep(rng.uniform(0, 0.3) if seed % 4 == 0 else 0)  # before anybody has come
        visits: list = []
        if seed % 4:
            host, headers = let_in(address)
            visits = [
                threading.Thread(target=listen, args=(host, headers)),
                threading.Thread(target=answer, args=(host, headers, rng, acknowledged)),
            ]
        for visit in visits:
            visit.start()
        time.sleep(rng.uniform(0, 1 + seed % 4) if visits else 0)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the worker gets it too
        _, said = process.communicate(timeout=60)
        for visit in visits:
            visit.join()
    finally:
        process.kill()
        process.communicate()
    assert process.returncode in (0, 130)
    assert re.fullmatch(r"data\.csv: 2 columns .*\nSaved in data\.linkwise: .*\.\n", said)
    events = read_project(tmp_path / "data.linkwise").events
    assert {event.seq for event in events} >= set(acknowledged)
    assert len(events) - len(acknowledged) in (0, 1)  # one may have been on its way
