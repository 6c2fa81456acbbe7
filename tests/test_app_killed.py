"""A server killed again and again under a stream of answers loses none and doubles none."""

import http.client
import json
import os
import random
import signal
import socket
import threading
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
if not hasattr(os, "fork"):
    pytest.skip("no fork", allow_module_level=True)

from app_parts import KEY, Stub, blobs, settings

from linkwise.app.label_page import LabelPage
from linkwise.app.label_routes import FILES, label_routes
from linkwise.app.security import Access
from linkwise.app.server import application, life_of
from linkwise.journal import read_project, replay
from linkwise.labelling.project import open_project

KILLS = int(os.environ.get("LINKWISE_KILLS", "20"))
LEAST = 10  # answers between two kills, on the average


def serve(sock, data, project):
    """Serve in this process, a copy of the test, until it is killed."""
    import uvicorn

    items, journal = open_project(data, project, settings())
    label_page = LabelPage(items, journal, data=data, worker=Stub)
    access = Access(sock.getsockname()[1], key=KEY)
    app = application(label_routes(label_page), access, files=FILES, lifespan=life_of(label_page))
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on")
    uvicorn.Server(config).run(sockets=[sock])


def start(sock, data, project):
    pid = os.fork()
    if pid == 0:
        try:
            serve(sock, data, project)
        finally:
            os._exit(1)
    return pid


def send(port, client, a, b, same):
    """Send one answer; return the number of its event when it is acknowledged, else None."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = json.dumps({"a": a, "b": b, "same": same, "client": client})
    headers = {
        "Origin": f"http://127.0.0.1:{port}",
        "Cookie": f"linkwise_{port}={KEY}",
        "Content-Type": "application/json",
    }
    try:
        connection.request("POST", "/api/answer", body, headers)
        reply = connection.getresponse()
        raw = reply.read()
        return json.loads(raw)["event"] if reply.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_acknowledged_answer_is_lost_and_none_is_doubled(tmp_path):
    data, project = str(tmp_path / "data.csv"), str(tmp_path / "data.linkwise")
    blobs(data, 60)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen(64)
    port, rng = sock.getsockname()[1], random.Random(1)
    acknowledged: dict = {}
    said: dict = {}
    kills, pid = 0, start(sock, data, project)
    number, since = 0, 0
    deadline = time.monotonic() + max(120, 6 * KILLS)
    while kills < KILLS or len(acknowledged) < LEAST * KILLS:
        assert time.monotonic() < deadline, (kills, len(acknowledged))
        number += 1
        client = f"answer-{number:06d}"
        a, b = rng.sample(range(60), 2)
        said[client] = (a, b, rng.choice([True, False, None]))
        killer = None
        if since >= LEAST * rng.uniform(0.5, 1.5):
            killer = threading.Timer(rng.uniform(0, 0.02), os.kill, (pid, signal.SIGKILL))
            killer.start()
            since = 0
        while True:
            event = send(port, client, *said[client])
            if event is not None:
                assert acknowledged.setdefault(client, event) == event
                since += 1
                break
            if killer is not None:
                killer.join()
                os.waitpid(pid, 0)
                kills, killer, pid = kills + 1, None, start(sock, data, project)
        if killer is not None:  # it came after the reply
            killer.join()
            os.waitpid(pid, 0)
            kills, pid = kills + 1, start(sock, data, project)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    sock.close()
    found = read_project(project)
    answers = {e.client: e for e in found.events}
    assert len(answers) == len(found.events) == len(said)
    for client, event in acknowledged.items():
        assert answers[client].seq == event
        a, b, same = said[client]
        assert answers[client].body == {"a": f"r{a:02d}", "b": f"r{b:02d}", "same": same}
    assert replay(found.events) == found.state
