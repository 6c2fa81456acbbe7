"""Parts of the tests that kill a server: the server in a process, and commands sent to it.

What a server imports is imported here, so that a start after a kill takes milliseconds.
LINKWISE_KILLS sets the number of kills; docs/reliability.md has the figures of 1,000.
"""

import http.client
import json
import os
import random
import signal
import socket
import threading
import time
from contextlib import contextmanager

import pytest

if not hasattr(os, "fork"):
    pytest.skip("no fork", allow_module_level=True)

import uvicorn
import uvicorn.lifespan.on
import uvicorn.loops.auto
import uvicorn.protocols.http.auto
import uvicorn.protocols.websockets.auto
from app_parts import KEY

from linkwise.app.security import Access

KILLS = int(os.environ.get("LINKWISE_KILLS", "20"))
LEAST = 10  # commands between two kills, on the average


class KilledServer:
    """An application in a process of its own, started again after every kill.

    Parameters
    ----------
    application_of : function (Access) -> ASGI application, called in the process
    """

    def __init__(self, application_of):
        self.application_of, self.kills = application_of, 0
        self.sock = socket.socket()
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen(64)
        self.port = self.sock.getsockname()[1]
        self._start()

    def _start(self):
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._serve()
            finally:
                os._exit(1)

    def _serve(self):
        app = self.application_of(Access(self.port, key=KEY))
        config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on")
        uvicorn.Server(config).run(sockets=[self.sock])

    def request(self, method, path, body=None):
        """Return (status, bytes) of a reply, (None, b"") if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {
            "Origin": f"http://127.0.0.1:{self.port}",
            "Cookie": f"linkwise_{self.port}={KEY}",
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

    def send(self, path, body, kill_after=None):
        """Send a command until it is acknowledged, and return the reply; kill after some seconds.

        The kill comes before the reply or after it.
        """
        killer = kill_after and threading.Timer(kill_after, os.kill, (self.pid, signal.SIGKILL))
        if killer:
            killer.start()
        status = None
        while status is None:
            status, raw = self.request("POST", path, body)
            if killer:
                killer.join()
                os.waitpid(self.pid, 0)
                self.kills, killer = self.kills + 1, None
                self._start()
        assert status == 200, raw
        return json.loads(raw)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.sock.close()


@contextmanager
def killed_under_load(application_of, command, *, seed, kills=KILLS):
    """Send commands to a server that is killed again and again; yield (server, commands, replies).

    Parameters
    ----------
    application_of : function (Access) -> ASGI application
    command : function (random.Random) -> (path, body)
    seed : int
    kills : int

    Yields
    ------
    server : KilledServer, alive
    commands : dict, {client: (path, body)} in the order in which they were sent
    replies : dict, {client: reply}
    """
    server, rng = KilledServer(application_of), random.Random(seed)
    commands: dict = {}
    replies: dict = {}
    since, deadline = 0, time.monotonic() + max(600, 60 * kills)
    try:
        while server.kills < kills or len(replies) < LEAST * kills:
            assert time.monotonic() < deadline, (server.kills, len(replies))
            client = f"command-{len(commands):06d}"
            path, body = commands[client] = command(rng)
            kill = since >= LEAST * rng.uniform(0.5, 1.5)
            since = 0 if kill else since + 1
            kill_after = rng.uniform(0.0001, 0.02) if kill else None
            replies[client] = server.send(path, body | {"client": client}, kill_after)
        yield server, commands, replies
    finally:
        server.close()
