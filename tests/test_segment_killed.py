"""A server killed again and again under a stream of strokes loses none and doubles none."""

import http.client
import json
import os
import random
import signal
import socket
import threading
import time

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
if not hasattr(os, "fork"):
    pytest.skip("no fork", allow_module_level=True)

from app_parts import KEY
from numpy.testing import assert_array_equal
from PIL import Image

from linkwise.app.security import Access
from linkwise.app.segment_page import SegmentPage, segment_routes
from linkwise.app.server import application, life_of
from linkwise.journal import read_project, replay
from linkwise.segment.project import open_project, segmenter_of, strokes_of

KILLS = int(os.environ.get("LINKWISE_KILLS", "20"))
LEAST = 10  # strokes between two kills, on the average
SETTINGS = {"regions": None, "superpixels": 40}


def serve(sock, image, project):
    """Serve in this process, a copy of the test, until it is killed."""
    import uvicorn

    rgb, journal = open_project(image, project, SETTINGS)
    segment_page = SegmentPage(rgb, journal, name="a.png", settings=SETTINGS)
    access = Access(sock.getsockname()[1], key=KEY)
    app = application(segment_routes(segment_page), access, lifespan=life_of(segment_page))
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on")
    uvicorn.Server(config).run(sockets=[sock])


def start(*given):
    pid = os.fork()
    if pid == 0:
        try:
            serve(*given)
        finally:
            os._exit(1)
    return pid


def ask(port, method, path, body=None):
    """Return (status, bytes) of a reply, (None, b"") if there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {
        "Origin": f"http://127.0.0.1:{port}",
        "Cookie": f"linkwise_{port}={KEY}",
        "Content-Type": "application/json",
    }
    try:
        connection.request(method, path, body and json.dumps(body), headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return None, b""
    finally:
        connection.close()


def some_command(rng, drawn):
    """Return a path and body: a stroke as a rule, or one step back where something is drawn."""
    if drawn and rng.random() < 0.15:
        return "/api/undo", {}
    points = [
        [rng.randrange(600) / 10, rng.randrange(400) / 10] for _ in range(rng.randrange(1, 9))
    ]
    return "/api/stroke", {"colour": str(rng.randrange(1, 4)), "points": points, "width": 2}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_acknowledged_stroke_is_lost_and_none_is_doubled(tmp_path):
    image, project = str(tmp_path / "a.png"), str(tmp_path / "a.linkwise")
    rgb = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(rgb).save(image)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen(64)
    port, rng = sock.getsockname()[1], random.Random(2)
    pid = start(sock, image, project)
    said: dict = {}
    kills, acknowledged, since, drawn = 0, 0, 0, 0
    deadline = time.monotonic() + max(120, 6 * KILLS)
    while kills < KILLS or acknowledged < LEAST * KILLS:
        assert time.monotonic() < deadline, (kills, acknowledged)
        client = f"command-{len(said):06d}"
        path, body = said[client] = some_command(rng, drawn)
        drawn += 1 if path == "/api/stroke" else -1
        killer = None
        if since >= LEAST * rng.uniform(0.5, 1.5):
            killer = threading.Timer(rng.uniform(0, 0.02), os.kill, (pid, signal.SIGKILL))
            killer.start()
            since = 0
        status = None
        while status is None:
            status, raw = ask(port, "POST", path, body | {"client": client})
            if killer is not None:  # it comes before the reply or after it
                killer.join()
                os.waitpid(pid, 0)
                kills, killer, pid = kills + 1, None, start(sock, image, project)
        assert status == 200, raw
        acknowledged, since = acknowledged + 1, since + 1
    shown = np.frombuffer(ask(port, "GET", "/api/mask")[1], dtype=np.uint8).reshape(40, 60)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    sock.close()

    found = read_project(project)
    assert [event.client for event in found.events] == list(said)  # each once, in their order
    for event in found.events:
        path, body = said[event.client]
        assert path == f"/api/{event.kind}"
        if event.kind == "stroke":
            assert event.body == body
    assert replay(found.events) == found.state
    strokes = strokes_of(found.state, rgb.shape, project)
    assert_array_equal(segmenter_of(rgb, SETTINGS).regions(strokes).mask, shown)
