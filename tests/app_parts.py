"""Parts of the tests of the page: data, workers without a process, a client in this process."""

import asyncio
import json
import threading
import time
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from linkwise.app.engine import Engine
from linkwise.app.label_page import LabelPage
from linkwise.app.label_routes import FILES, label_routes
from linkwise.app.messages import Map, Result
from linkwise.app.security import Access
from linkwise.app.server import application, life_of
from linkwise.journal import Journal
from linkwise.labelling.project import KEPT, open_project
from linkwise.query import Question

KEY = "k" * 64
PORT = 8000
ORIGIN = f"http://127.0.0.1:{PORT}"


def blobs(path, n=24, *, k=3, hostile=False):
    """Write a table of n points in k clusters that are easy to tell; return their classes."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    centres = 10 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    X = centres[y] + rng.normal(size=(n, 2))
    evil = "<img src=x onerror=alert(1)>\u202e" if hostile else "note"
    with open(path, "w") as file:
        file.write(f"id,x,y,{'<b>word</b>' if hostile else 'word'}\n")
        for i, (a, b) in enumerate(X.tolist()):
            file.write(f"r{i:02d},{a:.3f},{b:.3f},{evil} {i}\n")
    return y


def commit_late():
    """Let the journals of this process commit an answer when the next one begins: a fault."""
    begin = Journal._begin

    def commit_and_begin(journal):
        if journal._db.in_transaction:
            journal._db.execute("COMMIT")
        begin(journal)

    Journal._begin, Journal._commit = commit_and_begin, lambda journal: None


def settings(**given):
    return dict.fromkeys(KEPT) | {"id_column": "id"} | given


class Stub:
    """A worker that asks about row numbers in their order, and clusters nothing."""

    def __init__(self, X, *, seed=0, k=None, hear):
        self.n, self.hear = len(X), hear
        hear(Map(np.zeros((self.n, 2), dtype=np.float32)))

    def send(self, job):
        links, unsure = job.task.links, job.task.unsure
        at = links.n_pairs + len(unsure)
        pairs = ((i, j) for j in range(self.n) for i in range(j))
        said = {(min(a, b), max(a, b)) for a, b in [*links.ends.tolist(), *unsure]}
        asked = [Question(i, j, "in order") for i, j in pairs if (i, j) not in said][:3]
        self.hear(Result(job.number, np.zeros(self.n, dtype=np.int32) + (at < 0), asked))

    def stop(self):
        pass

    def close(self):
        pass


class InThread:
    """A worker that does its jobs at once, in the thread of the one who sends them."""

    def __init__(self, X, *, seed=0, k=None, hear):
        self.engine, self.hear = Engine(X, seed=seed, k=k), hear
        self.lock = threading.Lock()
        hear(self.engine.map(k))

    def send(self, job):
        with self.lock:
            result = self.engine.result(job)
            self.hear(result)
            if not result.exact:
                self.hear(self.engine.refined(job))
            self.hear(self.engine.outlook(job))

    def stop(self):
        pass

    def close(self):
        pass


class Reply(NamedTuple):
    status: int
    headers: list
    body: bytes

    def json(self):
        return json.loads(self.body)

    def header(self, name):
        return next((v.decode() for k, v in self.headers if k.decode().lower() == name), None)


class Client:
    """An ASGI application with its event loop in a thread, asked without a network."""

    def __init__(self, app):
        self.app, self.loop = app, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.gates = [threading.Event(), asyncio.Event(), threading.Event()]
        asyncio.run_coroutine_threadsafe(self._live(), self.loop)
        assert self.gates[0].wait(120)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.gates[1].set)
        assert self.gates[2].wait(60)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def _live(self):
        begun = False

        async def receive():
            nonlocal begun
            if not begun:
                begun = True
                return {"type": "lifespan.startup"}
            await self.gates[1].wait()
            return {"type": "lifespan.shutdown"}

        async def send(message):
            if message["type"].endswith("complete"):
                self.gates[0 if "startup" in message["type"] else 2].set()

        await self.app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)

    def request(self, method, path, headers=(), body=b"", *, timeout=60):
        """Return the Reply to a request; headers are (name, value) texts."""
        future = asyncio.run_coroutine_threadsafe(
            self._request(method, path, headers, body), self.loop
        )
        return future.result(timeout)

    async def _request(self, method, path, headers, body):
        path, _, query = path.partition("?")
        raw = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": path, "raw_path": path.encode("latin-1", "replace"),
            "query_string": query.encode("latin-1", "replace"), "headers": raw, "root_path": "",
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        parts = [body]
        got: dict = {"body": b""}

        async def receive():
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": False}
            await asyncio.sleep(3600)

        async def send(message):
            if message["type"] == "http.response.start":
                assert "status" not in got  # a request has one response
                got["status"], got["headers"] = message["status"], message["headers"]
            else:
                got["body"] += message.get("body", b"")

        try:
            await self.app(scope, receive, send)
        except Exception:  # Starlette answers 500, and raises for the log of the server
            assert got.get("status") == 500
        return Reply(got["status"], got["headers"], got["body"])


class Page:
    """A page that is let in, in a Client."""

    def __init__(self, client):
        self.client, self.sent = client, 0
        self.own = [("Host", f"127.0.0.1:{PORT}"), ("Cookie", f"linkwise_{PORT}={KEY}")]

    def get(self, path):
        return self.client.request("GET", path, self.own)

    def post(self, path, body, *, kind="application/json"):
        headers = [*self.own, ("Origin", ORIGIN), ("Content-Type", kind)]
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.request("POST", path, headers, raw)

    def command(self, path, body, *, status=200):
        self.sent += 1
        reply = self.post(path, {"client": f"test-{self.sent:08d}"} | body)
        assert reply.status == status, reply.body
        return reply.json()

    def state(self):
        return self.get("/api/state").json()


class ServedLabelPage(Page):
    """The label page, with its first clusters."""

    def __init__(self, client, label_page):
        super().__init__(client)
        self.label_page = label_page
        while label_page.labels is None:
            time.sleep(0.01)

    def answer(self, same, *, question=None):
        """Answer the question on the page; return the state."""
        question = question or self.state()["question"]
        return self.command("/api/answer", {"a": question["a"], "b": question["b"], "same": same})

    def _correction(self, action, options):
        return {"action": action, "options": options, "seen": self.label_page.seen}

    def correct(self, action, status=200, *, teach=False, **options):
        body = self._correction(action, options) | {"teach": teach}
        return self.command("/api/correct", body, status=status)

    def preview(self, action, **options):
        return self.post("/api/preview", self._correction(action, options)).json()


@contextmanager
def page(data, *, worker=InThread, k=None, **given):
    """Serve a table without a network; yield the ServedLabelPage."""
    path = str(data).rsplit(".", 1)[0] + ".linkwise"
    items, journal = open_project(str(data), path, settings(k=k, **given), least=1)
    with journal:
        label_page = LabelPage(items, journal, data=str(data), k=k, worker=worker)
        access = Access(PORT, key=KEY)
        app = application(
            label_routes(label_page), access, files=FILES, lifespan=life_of(label_page)
        )
        with Client(app) as client:
            yield ServedLabelPage(client, label_page)
