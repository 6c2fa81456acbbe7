"""The label page without a browser: start `linkwise label`, and ask as the page does."""

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np

from benchmarks.runs.process import environment


class Visitor:
    """A person with the printed address."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.host = parts.netloc
        reply = self.ask("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path)
        self.cookie = reply[1]["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None):
        """Return the bytes and the headers of a reply."""
        connection = http.client.HTTPConnection(self.host, timeout=600)
        headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        headers |= {"Cookie": self.cookie} if hasattr(self, "cookie") else {}
        connection.request(method, path, body and json.dumps(body), headers)
        reply = connection.getresponse()
        raw = reply.read()
        connection.close()
        return raw, reply.headers

    def state(self):
        """Return the state of the page."""
        return json.loads(self.ask("GET", "/api/state")[0])

    def question(self, state):
        """Return the question of a state, waiting for one if there is none yet."""
        while state["question"] is None and (state["thinking"] or not state["ready"]):
            time.sleep(0.01)
            state = self.state()
        return state["question"]

    def wait_for_rest(self, seconds=120):
        """Wait until clusters and map no longer change, or so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if not (state["map_follows"] or state["stale"] or state["refining"]):
                return
            time.sleep(0.5)

    def labels(self):
        """Return the clusters shown."""
        return np.frombuffer(self.ask("GET", "/api/labels")[0], "<i4")


@contextmanager
def running(folder, *options):
    """Run `linkwise label` in a folder; yield the address it prints."""
    line = [sys.executable, "-m", "linkwise", "label", *options, "--no-browser"]
    environ = environment(XDG_STATE_HOME=str(folder / "state"))
    process = subprocess.Popen(line, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # it is a pipe
        printed = process.stdout.readline()
        address = re.search(r"http://\S+", printed)
        if address is None:
            raise ValueError(f"linkwise label printed no address but {printed!r}")
        yield address[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
