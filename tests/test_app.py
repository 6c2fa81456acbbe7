"""Laws of the page's server: who is let in, what is written down, what holds."""

import asyncio
import json
import os
import queue
import random
import stat
import subprocess
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import NearestNeighbors

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from app_parts import KEY, ORIGIN, PORT, Client, InThread, Stub, blobs, page
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from linkwise import Constraints
from linkwise.app import security
from linkwise.app.engine import Engine
from linkwise.app.map_layout import filled, flat, islands
from linkwise.app.map_process import MapProcess
from linkwise.app.messages import Job, Map, Outlook, Result
from linkwise.app.requests import fingerprint
from linkwise.app.security import Access, Kept, check_host, keep, recall
from linkwise.app.server import application
from linkwise.app.updates import Watched, event_route
from linkwise.app.worker import Worker, do
from linkwise.cli import main
from linkwise.journal import read_project
from linkwise.labelling.actions import ACTIONS
from linkwise.labelling.cluster_model import Task
from linkwise.labelling.edits import comparable
from linkwise.labelling.project import cluster
from linkwise.query import Progress
from linkwise.query.prepared_data import teaching
from linkwise.query.session import LAST

HOST = ("Host", f"127.0.0.1:{PORT}")
COOKIE = ("Cookie", f"linkwise_{PORT}={KEY}")
FROM_US = ("Origin", ORIGIN)
JSON = ("Content-Type", "application/json")
ANSWER = json.dumps({"a": 0, "b": 1, "same": True, "client": "x" * 8}).encode()


@pytest.fixture
def table(tmp_path):
    blobs(tmp_path / "data.csv")
    return tmp_path / "data.csv"


@pytest.fixture
def stub(table):
    with page(table, worker=Stub) as found:
        yield found


# who is let in

GOOD = [HOST, COOKIE, FROM_US, JSON]


def without(name):
    return [header for header in GOOD if header[0] != name]


def with_other(name, value):
    return [*without(name), (name, value)]


BAD = {
    "no host": without("Host"),
    "a foreign host": with_other("Host", "evil.example"),
    "a host bent to us": with_other("Host", f"evil.example:{PORT}"),
    "another port": with_other("Host", f"127.0.0.1:{PORT + 1}"),
    "two hosts": [*GOOD, ("Host", "evil.example")],
    "a broken host": with_other("Host", "127.0.0.1:80:80"),
    "no origin": without("Origin"),
    "a foreign origin": with_other("Origin", "http://evil.example"),
    "a page on another port": with_other("Origin", f"http://127.0.0.1:{PORT + 1}"),
    "another scheme": with_other("Origin", f"https://127.0.0.1:{PORT}"),
    "a null origin": with_other("Origin", "null"),
    "another name of this machine": with_other("Origin", f"http://localhost:{PORT}"),
    "a cross-site fetch": [*GOOD, ("Sec-Fetch-Site", "cross-site")],
    "a same-site fetch": [*GOOD, ("Sec-Fetch-Site", "same-site")],
    "a post typed by hand": [*GOOD, ("Sec-Fetch-Site", "none")],
    "no cookie": without("Cookie"),
    "a wrong cookie": with_other("Cookie", f"linkwise_{PORT}={'x' * 64}"),
    "the cookie of another port": with_other("Cookie", f"linkwise_{PORT + 1}={KEY}"),
    "a form": with_other("Content-Type", "application/x-www-form-urlencoded"),
    "a text": with_other("Content-Type", "text/plain"),
    "no type": without("Content-Type"),
    "a body that is too long": [*GOOD, ("Content-Length", str(security.BODY + 1))],
    "a length that is none": [*GOOD, ("Content-Length", "-5")],
}


def test_only_what_is_ours_reaches_a_handler(stub):
    for name, headers in BAD.items():
        reply = stub.client.request("POST", "/api/answer", headers, ANSWER)
        assert reply.status in (400, 401, 403, 413, 415, 421), name
        assert reply.header("content-type").startswith("text/plain"), name
        on_get = [h for h in headers if h[0] not in ("Content-Type", "Content-Length")]
        typed = ("Sec-Fetch-Site", "none")  # which a GET may be
        right = {HOST, COOKIE} <= set(on_get) <= {HOST, COOKIE, FROM_US, typed}
        for path in ("/", "/api/state", "/api/labels", "/static/label/page.js"):
            status = stub.client.request("GET", path, on_get).status
            assert (status == 200) == right, (name, path)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "HEAD", "X"):
        assert stub.client.request(method, "/api/answer", GOOD, ANSWER).status == 405
    assert stub.label_page.journal.state.n_events == 0
    assert stub.client.request("POST", "/api/answer", GOOD, ANSWER).status == 200
    assert stub.label_page.journal.state.n_events == 1


def test_the_launch_token_works_once_and_its_cookie_is_out_of_reach():
    access = Access(PORT, key=KEY)
    app = application([Route("/", lambda request: PlainTextResponse("in"))], access)
    path = access.launch_path
    with Client(app) as client:
        assert client.request("GET", "/", [HOST]).status == 401
        assert client.request("GET", "/start?token=wrong", [HOST]).status == 403
        assert client.request("GET", path, [HOST, ("Sec-Fetch-Site", "cross-site")]).status == 403
        reply = client.request("GET", path, [HOST, ("Sec-Fetch-Site", "none")])
        assert (reply.status, reply.header("location")) == (303, "/")
        cookie = reply.header("set-cookie")
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert client.request("GET", path, [HOST]).status == 403  # it was used
        kept = ("Cookie", cookie.split(";")[0])
        assert client.request("GET", "/", [HOST, kept]).body == b"in"
        assert client.request("GET", path, [HOST, kept]).status == 303  # but for who is in


def test_every_answer_has_a_strict_policy(stub):
    for path in ("/", "/api/state", "/static/label/page.js", "/nothing"):
        reply = stub.get(path)
        policy = reply.header("content-security-policy")
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.header("x-content-type-options") == "nosniff"
    refused = stub.client.request("GET", "/", [HOST])
    assert refused.header("content-security-policy") == policy
    page_text = stub.get("/").body.decode()
    assert "style=" not in page_text
    assert "<style" not in page_text
    assert page_text.count("<script") == 1
    assert "http" not in page_text.replace("http-equiv", "")


def test_no_path_of_a_request_is_a_path_on_the_disk(stub):
    for path in (
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/x",
        "/static/label/main.html",
        "/data.csv",
    ):
        assert stub.get(path).status == 404


def test_a_body_that_goes_on_is_cut(stub, monkeypatch):
    monkeypatch.setattr(security, "BODY", 10)
    for headers in (GOOD, [*GOOD, ("Transfer-Encoding", "chunked")]):  # its length is not known
        reply = stub.client.request("POST", "/api/answer", headers, ANSWER)
        assert reply.status == 413
        assert b"longer than 10 bytes" in reply.body


def test_other_machines_need_a_token():
    with pytest.raises(ValueError, match="give a --token"):
        check_host("0.0.0.0", None)
    with pytest.raises(ValueError, match="16 characters"):
        check_host("0.0.0.0", "short")
    check_host("0.0.0.0", "t" * 16)
    check_host("127.0.0.1", None)
    check_host("::1", None)
    access = Access(PORT, host="0.0.0.0", key=KEY, token="t" * 16)
    assert access.is_ours(f"192.168.1.5:{PORT}")
    assert not access.is_ours(f"evil.example:{PORT}")
    assert access.take("t" * 16)
    assert access.take("t" * 16)


def test_the_key_is_kept_for_the_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = recall("a.linkwise")
    assert recall("a.linkwise").key != first.key  # nothing is kept yet
    assert keep("a.linkwise", Kept(first.key, 4000))
    assert recall("a.linkwise") == (first.key, 4000)
    assert recall("b.linkwise").key != first.key
    (file,) = (tmp_path / "linkwise").iterdir()
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text('{"key": "short", "port": 4000}')
    assert recall("a.linkwise").port == 0


# what is written down


def test_an_answer_sent_twice_counts_once(stub):
    replies = [stub.client.request("POST", "/api/answer", GOOD, ANSWER) for _ in range(2)]
    assert [reply.json()["event"] for reply in replies] == [1, 1]
    assert replies[1].json()["counts"] == {"same": 1, "different": 0, "unsure": 0}


def test_undo_asks_again_and_redo_says_it_again(stub):
    first = stub.state()["question"]
    second = stub.answer(True)["question"]
    assert (first["a"], first["b"]) != (second["a"], second["b"])
    stub.answer(None)
    state = stub.command("/api/undo", {})
    assert state["question"]["before"] == "unsure"
    state = stub.command("/api/undo", {})
    assert (state["question"]["a"], state["question"]["b"]) == (first["a"], first["b"])
    assert state["question"]["before"] == "same"
    state = stub.command("/api/redo", {})
    assert state["counts"] == {"same": 1, "different": 0, "unsure": 0}
    assert state["redo"] is not None
    state = stub.command("/api/redo", {})
    assert state["counts"] == {"same": 1, "different": 0, "unsure": 1}
    assert "nothing to redo" in stub.command("/api/redo", {}, status=400)["error"]


def test_all_that_was_undone_is_asked_again_and_a_redo_sent_twice_counts_once(stub):
    pairs = []
    for same in (True, False, None):
        question = stub.state()["question"]
        pairs.append((question["a"], question["b"]))
        stub.answer(same)
    for _ in pairs:
        state = stub.command("/api/undo", {})
    for pair, before in zip(pairs, ("same", "different", "unsure"), strict=True):
        assert (state["question"]["a"], state["question"]["b"]) == pair
        assert state["question"]["before"] == before
        assert before in state["redo"]
        if before == "same":
            state = stub.answer(False)  # otherwise: the journal has nothing left to redo
        else:
            body = {"client": f"redo {before}"}
            state = stub.command("/api/redo", body)
            assert stub.command("/api/redo", body)["event"] == state["event"] == state["version"]
    assert state["counts"] == {"same": 0, "different": 2, "unsure": 1}
    assert state["question"]["before"] is None
    stub.command("/api/undo", {})
    state = stub.correct("link", a=5, b=6, same=True)
    assert state["question"]["before"] is None  # a correction ends it
    assert state["redo"] is None


def test_a_server_started_again_goes_on_where_it_was(table):
    with page(table, worker=Stub) as one:
        one.answer(True)
        one.answer(False)
        before = one.command("/api/undo", {})
    with page(table, worker=Stub) as two:
        after = two.state()
    for name in ("question", "counts", "undo", "redo", "version", "history"):
        assert after[name] == before[name]


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("answer", {"a": 0, "b": 0, "same": True}, "choose at least 2 rows"),
        ("answer", {"a": 0, "b": 99, "same": True}, "0..23"),
        ("answer", {"a": True, "b": 1, "same": True}, "whole number"),
        ("answer", {"a": 0, "b": 1, "same": 1}, "true, false or null"),
        ("answer", {"a": 0, "b": 1}, "expected a, b, same"),
        ("answer", {"a": 0, "b": 1, "same": True, "x": 1}, "expected a, b, same"),
        ("undo", {}, "nothing to undo"),
        ("undo", {"event": 7}, "is no event"),
        ("undo", {"event": "1"}, "number of an event"),
        ("undo", {"event": []}, "number of an event"),
        ("correct", {"action": "explode", "options": {}}, "one of link"),
        ("correct", {"action": "together", "options": {"rows": [1]}}, "choose at least 2 rows"),
        ("correct", {"action": "together", "options": {"rows": "1,2"}}, "list of row numbers"),
        ("correct", {"action": "link", "options": {"a": 1, "b": 2}}, "link takes"),
        ("correct", {"action": "split", "options": {"cluster": 0}}, "clusters have changed since"),
        ("correct", {"action": ["split"], "options": {}}, "action must be"),
        ("count", {"k": 0}, "1..24"),
        ("count", {"k": True}, "1..24"),
        ("mode", {"mode": "fast"}, "live, pause"),
    ],
)
def test_a_wrong_command_is_refused_in_a_sentence(stub, path, body, sentence):
    more = {} if path in ("count", "mode") else {"client": "c" * 8}
    if path == "correct" and "since" not in sentence:
        more["seen"] = stub.label_page.seen
    reply = stub.post(f"/api/{path}", body | more)
    assert reply.status == 400
    assert sentence in reply.json()["error"]
    assert stub.label_page.journal.state.n_events == 0


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_refused(stub, raw):
    assert stub.post("/api/answer", raw).status == 400


def test_conflicts_are_named_and_one_can_be_dropped(stub):
    for a, b, same in ((0, 1, True), (1, 2, True), (0, 2, False)):
        state = stub.answer(same, question={"a": a, "b": b})
    assert [event["seq"] for event in state["conflict"]] == [1, 2, 3]
    assert "r00 (0.126, -0.132, note 0) must be with r01 (" in state["conflict_words"]
    state = stub.command("/api/undo", {"event": 2})
    assert state["conflict"] == []
    assert state["counts"]["same"] == 1


def test_tables_go_out_and_come_back(stub, tmp_path):
    stub.answer(True)
    stub.answer(False)
    log = stub.get("/api/export/log.jsonl").body
    links = stub.get("/api/export/links.csv").body
    assert links.startswith(b"id_a,id_b,kind")
    assert stub.get("/api/export/labels.csv").body.count(b"\n") == 25
    assert stub.get("/api/export/labels.exe").status == 400
    assert stub.get("/api/export/project.csv").status == 404
    assert (
        "nothing new"
        in stub.post("/api/import?name=log.jsonl", log, kind="application/octet-stream").json()[
            "said"
        ]
    )
    reply = stub.post("/api/import?name=../../l.csv", links, kind="application/octet-stream")
    assert "1 event added" in reply.json()["said"]
    assert reply.json()["links"] == 4
    bad = stub.post("/api/import?name=bad.csv", b"a,b\n1", kind="application/octet-stream")
    assert bad.status == 400
    assert "/tmp" not in bad.json()["error"]


def test_rows_are_found_by_text_and_cluster(stub):
    assert [row["name"] for row in stub.get("/api/rows?q=r07").json()["rows"]] == ["r07"]
    assert stub.get("/api/rows?q=note&count=5").json()["total"] == 24
    assert [row["row"] for row in stub.get("/api/rows?rows=3,5").json()["rows"]] == [3, 5]
    for query in ("rows=24", "rows=-1", "rows=x", "rows=1,,2", "count=9999", "cluster=x", "from=½"):
        assert stub.get(f"/api/rows?{query}").status == 400


def test_marked_rows_are_listed_and_not_asked_about(table):
    with page(table, worker=InThread, k=3) as found:
        asked = found.state()["question"]
        body = {"rows": [asked["a"]], "mark": "stray", "client": "marks-m1"}
        state = found.post("/api/mark", body).json()
        assert state["marks"] == {"unclear": 0, "stray": 1}
        assert found.post("/api/mark", body).json()["event"] == state["event"]  # sent again
        assert asked["a"] not in (state["question"]["a"], state["question"]["b"])
        labels = np.frombuffer(found.get("/api/labels").body, "<i4")
        assert np.flatnonzero(labels < 0).tolist() == [asked["a"]]
        listed = found.get("/api/rows?mark=stray").json()
        assert [(row["row"], row["mark"], row["label"]) for row in listed["rows"]] == [
            (asked["a"], "stray", -1)
        ]
        assert sum(c["size"] for c in state["clusters"]) == state["n"] - 1
        assert found.get("/api/found?mark=unclear").json() == {"rows": []}
        name = found.label_page.items.name(asked["a"])
        assert f"{name},-1" in found.get("/api/export/labels.csv").body.decode().replace('"', "")
        assert found.post("/api/mark", body | {"mark": "odd", "client": "marks-m2"}).status == 400
        assert found.get("/api/rows?mark=odd").status == 400
        state = found.post("/api/undo", {"event": None, "client": "marks-u1"}).json()
        assert state["marks"] == {"unclear": 0, "stray": 0}
        assert state["question"] == asked


def test_each_command_says_who_gives_it(stub):
    for who in ("anna", "bea"):
        for i in range(2):
            stub.command("/api/answer", {"a": i, "b": i + 1, "same": True, "who": who})
    stub.command("/api/mark", {"rows": [7], "mark": "unclear", "who": "bea"})
    stub.command("/api/undo", {"who": "anna"})
    state = stub.state()
    assert [(p["who"], p["answers"], p["shared"]) for p in state["people"]] == [
        ("anna", 2, 2),
        ("bea", 2, 2),
    ]
    assert [e.who for e in stub.label_page.journal.events()][-2:] == ["bea", "anna"]
    assert state["who"] == stub.label_page.journal.who
    stub.command("/api/answer", {"a": 5, "b": 6, "same": True})
    assert stub.label_page.journal.events()[-1].who == stub.label_page.journal.who
    for odd in ("", " ", 3, "x" * 81):
        stub.command("/api/undo", {"who": odd}, status=400)


def test_clusters_are_described_by_content(table):
    with page(table, worker=InThread, k=3, text="word") as found:
        shown = found.get("/api/clusters").json()
        assert shown["labels"] == found.state()["labels"]
        for cluster in shown["clusters"]:
            assert cluster["keywords"]
            assert {row["label"] for row in cluster["typical"]} == {cluster["label"]}
            assert cluster["typical"][0]["cells"]
        state = found.answer(True)
        event = state["history"][0]
        assert event["text"] == "{} and {}: same".format(*(r["called"] for r in event["rows"]))
        assert "note" in event["text"]


def test_labels_and_sets_are_answers_that_teach(table):
    with page(table, worker=InThread, k=3) as found:
        body = {"row": 0, "anchors": [1, 3], "chosen": 3}
        found.command("/api/label", body)
        found.command("/api/label", {"row": 2, "anchors": [1, 3], "chosen": None, "who": "bea"})
        state = found.command("/api/set", {"rows": [4, 7, 10, 5], "out": [5]})
        known = found.label_page.current.known
        assert known.relation(0, 3) is True
        assert [known.relation(2, a) for a in (1, 3)] == [False, False]
        assert [known.relation(4, b) for b in (7, 10, 5)] == [True, True, False]
        links = found.label_page.current.links
        assert set(links.source.tolist()) == {"answer"}
        assert teaching(links) == links
        wider = state["wider"]
        if wider is not None and wider["kind"] == "set":
            rows = [row["row"] for row in wider["rows"]]
            state = found.command("/api/set", {"rows": rows, "out": []})
            assert state["history"][0]["kind"] == "group"
        found.command("/api/undo", {})
        for odd in ({"row": 0, "anchors": [0, 1], "chosen": 1}, body | {"chosen": 7}):
            found.command("/api/label", odd, status=400)
        for odd in ({"rows": [1, 2], "out": [1, 2]}, {"rows": [1, 2], "out": [3]}):
            found.command("/api/set", odd, status=400)
        found.command("/api/label", body | {"anchors": 3}, status=400)


def test_numbers_are_plain_bytes(stub):
    assert len(stub.get("/api/map").body) == 24 * 8
    assert np.frombuffer(stub.get("/api/labels").body, "<i4").tolist() == [0] * 24
    stub.answer(False)
    assert np.frombuffer(stub.get("/api/links").body, "<i4").tolist() == [0, 1, -1]


def test_hostile_texts_stay_texts(tmp_path):
    blobs(tmp_path / "evil.csv", hostile=True)
    with page(tmp_path / "evil.csv", worker=Stub) as found:
        question = found.state()["question"]
        (field,) = (f for f in question["fields"] if "word" in f["name"])
        assert field["name"] == "<b>word</b>"
        shown = " ".join(word for word, _ in field["a"])
        assert "<img src=x onerror=alert(1)>" in shown
        assert "\u202e" not in shown


def test_clusters_can_wait(stub):
    stub.post("/api/mode", {"mode": "pause"})
    before = stub.state()["labels"]
    state = stub.answer(True)
    assert state["labels"] == before
    assert state["stale"]
    state = stub.post("/api/mode", {"mode": "once"}).json()
    assert state["labels"] == before + 1
    assert not state["stale"]


PATHS = [
    "answer", "mark", "label", "set", "undo", "redo", "correct", "preview", "count", "mode",
    "import", "state", "rows", "labels", "map", "links", "export/links.csv", "export/log.jsonl",
    "export/labels.tsv", "image/0", "nothing",
]  # fmt: skip
ODD = [
    None, True, -1, 0, 1, 3, 23, 24, 2**70, 0.5, "", "x", "r01", "é\u202e\x00", [], [1, 2], {},
    [[1]],
]  # fmt: skip


SEEN = fingerprint(np.zeros(24, dtype="<i4").tobytes())  # of the clusters of the Stub


def wild(rng):
    """Return a command that is nearly right."""
    rows = rng.choice(
        [ODD[rng.randrange(len(ODD))], [rng.randrange(26) for _ in range(rng.randrange(5))]]
    )
    some = {
        "a": rng.choice([rng.randrange(24), rng.choice(ODD)]),
        "b": rng.choice([rng.randrange(24), rng.choice(ODD)]),
        "same": rng.choice([True, False, None, rng.choice(ODD)]),
        "rows": rows,
        "mark": rng.choice(["unclear", "stray", rng.choice(ODD)]),
        "row": rng.choice([rng.randrange(24), rng.choice(ODD)]),
        "anchors": rows,
        "chosen": rng.choice([None, rng.randrange(24), rng.choice(ODD)]),
        "out": rng.choice([[], rows]),
        "client": rng.choice([f"{rng.randrange(10**12):012d}"] * 8 + ODD),
        "event": rng.choice([None, rng.randrange(40), rng.choice(ODD)]),
        "k": rng.choice([None, 1, 3, rng.choice(ODD)]),
        "mode": rng.choice(["live", "pause", "stop", rng.choice(ODD)]),
        "seen": rng.choice([SEEN, SEEN, rng.choice(ODD)]),
        "action": rng.choice([*ACTIONS, rng.choice(ODD)]),
        "options": rng.choice(
            [
                {"rows": rows}, {"rows": rows, "cluster": rng.choice(ODD)},
                {"first": 0, "second": 1}, {"cluster": 0, "name": rng.choice(ODD)}, rng.choice(ODD),
                {"a": 1, "b": rng.randrange(24), "same": False},
            ]
        ),
    }  # fmt: skip
    takes = {
        "answer": ["a", "b", "same", "client"], "mark": ["rows", "mark", "client"],
        "label": ["row", "anchors", "chosen", "client"], "set": ["rows", "out", "client"],
        "undo": ["client", "event"], "redo": ["client", "event"],
        "correct": ["action", "options", "client", "seen"], "count": ["k"], "mode": ["mode"],
        "preview": ["action", "options", "seen"],
    }  # fmt: skip
    path = rng.choice(PATHS)
    names = takes.get(path, [])
    if rng.random() < 0.1:
        names = rng.sample(list(some), rng.randrange(5))
    return path, {name: some[name] for name in names}


def ask_wildly(stub, n):
    """Send n requests, none of which may make the server fail; return how many reach a handler."""
    rng, reached = random.Random(0), 0
    for _ in range(n):
        path, body = wild(rng)
        headers = list(GOOD)
        if rng.random() < 0.15:
            headers = list(rng.choice(list(BAD.values())))
        raw = json.dumps(body).encode()
        if rng.random() < 0.05:
            raw = raw[: rng.randrange(len(raw) + 1)] + bytes(rng.randrange(256) for _ in range(3))
        if path in ("state", "rows", "labels", "map", "links") or "/" in path:
            query = rng.choice(
                ["", "?q=x", "?rows=1,2", f"?cluster={rng.choice(ODD)!r}", "?from=99999999999"]
            )
            reply = stub.client.request("GET", f"/api/{path}{query}", headers)
        else:
            if path == "import":
                headers = [
                    *(h for h in headers if h != JSON),
                    ("Content-Type", "application/octet-stream"),
                ]
                raw = rng.choice(
                    [
                        raw,
                        b"id_a,id_b,kind\nr01,r02,must\n",
                        b"id,label\nr01,1\nr02,\n",
                        b"PK\x03\x04",
                    ]
                )
            name = rng.choice(
                ["?name=a.csv", "?name=a.jsonl", "?name=%00", "", "?name=../../x.parquet"]
            )
            reply = stub.client.request("POST", f"/api/{path}{name}", headers, raw)
        assert reply.status < 500, (path, body, reply.body)
        reached += reply.status == 200 or (reply.status == 400 and reply.body.startswith(b"{"))
    return reached


def test_a_handler_that_fails_is_found_out(stub, monkeypatch):
    async def failing(**body):
        raise RuntimeError("planted")

    monkeypatch.setattr(stub.label_page, "mark", failing)
    with pytest.raises(AssertionError, match="'mark'"):
        ask_wildly(stub, 500)


def test_whatever_is_asked_nothing_breaks(stub):
    n = int(os.environ.get("LINKWISE_FUZZ", "5000"))
    assert ask_wildly(stub, n) > n / 2
    assert stub.state()["version"] == stub.label_page.journal.state.n_events
    assert read_project(stub.label_page.journal.path).state == stub.label_page.journal.state


# what holds


def holds(label_page):
    """Tell whether all that counts holds in the clusters shown, and there is something."""
    links = label_page.current.links
    return bool(links) and not links.violated(label_page.labels).any()


def test_corrections_are_followed_and_undone_without_a_trace(table):
    with page(table, columns=["x", "y"]) as found:
        label_page = found.label_page
        truth = label_page.labels.copy()
        assert [c["size"] for c in found.state()["clusters"]] == [8, 8, 8]

        state = found.correct("split", cluster=0)
        assert len(state["clusters"]) == 4
        assert holds(label_page)
        found.command("/api/undo", {})
        np.testing.assert_array_equal(label_page.labels, truth)

        state = found.correct("merge", first=0, second=1)
        assert sorted(c["size"] for c in state["clusters"]) == [8, 16]
        assert holds(label_page)
        found.command("/api/undo", {})
        assert len(set(label_page.labels)) == 3

        first, second = (np.flatnonzero(label_page.labels == c).tolist() for c in (0, 1))
        found.correct("together", rows=[first[0], second[0], second[1]])
        assert holds(label_page)
        found.command("/api/undo", {})

        found.correct("apart", rows=first[:2], cluster=0)
        assert holds(label_page)
        found.command("/api/undo", {})

        found.correct("move", rows=first[:3], cluster=1)
        assert holds(label_page)
        assert label_page.labels[first[0]] == label_page.labels[second[0]]
        found.command("/api/undo", {})

        found.correct("link", a=first[0], b=second[0], same=True)
        assert holds(label_page)
        found.command("/api/undo", {})
        found.correct("link", a=first[0], b=first[1], same=False)
        assert holds(label_page)
        found.command("/api/undo", {})
        np.testing.assert_array_equal(label_page.labels, truth)

        state = found.correct("rename", cluster=2, name=" <b>mine</b> ")
        assert state["clusters"][2]["name"] == "<b>mine</b>"
        state = found.command("/api/undo", {})
        assert state["clusters"][2]["name"] == ""

        state = found.post("/api/count", {"k": 2}).json()
        assert len(state["clusters"]) == 2
        assert found.post("/api/count", {"k": None}).json()["k"] is None


def test_the_share_of_strays_is_set_on_the_page_and_kept_in_the_project(tmp_path):
    blobs(tmp_path / "data.csv", 60, k=3)
    with page(tmp_path / "data.csv", columns=["x", "y"], k=3) as found:
        state = found.post("/api/outliers", {"outliers": 0.1}).json()
        assert (state["outliers"], state["strays"]) == (0.1, 6)
        stray = int(np.flatnonzero(found.label_page.labels < 0)[0])
        target = int(np.flatnonzero(found.label_page.labels == 1)[0])
        found.correct("move", rows=[stray], cluster=1)
        labels = found.label_page.labels
        assert labels[stray] == labels[target] >= 0  # a person has the last word
        for wrong in (1, -0.1, "all", True):
            assert (
                "outliers must be"
                in found.post("/api/outliers", {"outliers": wrong}).json()["error"]
            )
        project = found.label_page.journal.path
    _, found = cluster(str(tmp_path / "data.csv"), read_project(project), project)
    np.testing.assert_array_equal(found.labels, labels)  # export and fit give what the page shows
    with page(tmp_path / "data.csv", columns=["x", "y"], k=3) as found:
        assert found.post("/api/outliers", {"outliers": None}).json()["strays"] == 0


def outside(labels, other, clusters):
    """Return which rows outside some clusters have another label."""
    return np.flatnonzero((labels != other) & ~np.isin(labels, clusters))


def test_a_correction_changes_what_it_names_and_has_the_last_word(tmp_path):
    y = blobs(tmp_path / "data.csv", 60, k=4)
    with page(tmp_path / "data.csv", columns=["x", "y"], k=4) as found:
        label_page = found.label_page
        for _ in range(12):
            question = found.state()["question"]
            found.answer(bool(y[question["a"]] == y[question["b"]]))
        before = label_page.labels.copy()
        row = int(np.flatnonzero(before == 0)[0])
        told = found.preview("move", rows=[row], cluster=1)
        assert (told["moves"], told["n_moves"]) == ([row], 1)
        np.testing.assert_array_equal(label_page.labels, before)  # nothing was written
        found.correct("move", rows=[row], cluster=1)
        assert np.flatnonzero(label_page.labels != before).tolist() == [row]

        state = found.correct("split", cluster=2)
        split = label_page.labels.copy()
        assert not len(outside(before, split, [0, 1, 2]))
        assert len(state["clusters"]) == 5
        assert not state["conflict"]
        state = found.correct("merge", first=2, second=4)  # against the split
        assert not len(outside(split, label_page.labels, [2, 4]))
        assert [c["label"] for c in state["clusters"]] == [0, 1, 2, 3]
        assert not state["conflict"]
        found.command("/api/undo", {})
        np.testing.assert_array_equal(label_page.labels, split)
    with page(tmp_path / "data.csv", columns=["x", "y"], k=4) as found:  # after a restart
        np.testing.assert_array_equal(found.label_page.labels, split)


def test_a_correction_made_before_a_restart_is_applied_or_refused(tmp_path):
    blobs(tmp_path / "data.csv", 24)
    with page(tmp_path / "data.csv", columns=["x", "y"]) as found:
        seen, key = found.state()["seen"], found.state()["key"]
    with page(tmp_path / "data.csv", columns=["x", "y"]) as found:
        assert found.state()["key"] == key
        body = {"action": "merge", "options": {"first": 0, "second": 1}}
        error = found.command("/api/correct", body | {"seen": "0" * 32}, status=400)
        assert "clusters have changed since" in error["error"]
        state = found.command("/api/correct", body | {"seen": seen})
        assert len(state["clusters"]) == 2


def test_a_correction_teaches_only_if_it_is_asked_to(tmp_path):
    blobs(tmp_path / "data.csv", 24)
    with page(tmp_path / "data.csv", columns=["x", "y"], worker=Stub) as found:
        found.correct("together", rows=[0, 3, 6])
        found.correct("together", rows=[1, 4, 7], teach=True)
        links = found.label_page.current.links
    assert set(teaching(links).event.tolist()) == {2}
    assert set(links.source.tolist()) == {"hand", "taught"}


def test_a_method_without_weights_takes_a_project_and_says_so(tmp_path, capsys):
    blobs(tmp_path / "data.csv", 12)
    data, project = str(tmp_path / "data.csv"), str(tmp_path / "data.linkwise")
    with page(data, columns=["x", "y"], k=3, worker=Stub) as found:
        found.correct("together", rows=[0, 3, 6])
    line = ["fit", data, "--links", project, "--id-column", "id", "--columns", "x,y", "-k", "3"]
    output = ["-o", str(tmp_path / "labels.csv"), "--method", "agglomerative"]
    assert main([*line, *output]) == 0
    assert "corrections by hand count like answers here" in capsys.readouterr().err


def test_an_answer_that_is_likely_wrong_is_found():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 10 * np.array([[0, 0], [1, 0], [0, 1]])[y] + rng.normal(size=(60, 2))
    pairs = [rng.choice(60, 2, replace=False).tolist() for _ in range(25)]
    answers = [(a, b, 1 if y[a] == y[b] else -1) for a, b in pairs] + [(0, 3, -1)]
    links = Constraints.from_table(answers).with_source("answer", np.arange(1, 27))
    engine, job = Engine(X), Job(1, Task(links, [], [], 3))
    engine.result(job)
    found = engine.suspects(job).found
    assert [pair[:3] for pair in found.links] == [(0, 3, -1)]
    assert found.links.event.tolist() == [26]
    assert (found.wrong > 0.7).all()


@pytest.mark.parametrize("laid_out", [20_000, 500])
def test_digits_form_islands_on_the_map(laid_out, monkeypatch):
    monkeypatch.setattr("linkwise.app.map_layout.LAID_OUT", laid_out)
    X, y = load_digits(return_X_y=True)
    quick = flat(X)
    xy = islands(X, quick)
    assert xy.shape == (len(X), 2)
    assert xy.dtype == np.float32
    assert abs(xy).max() == 1
    near = NearestNeighbors(n_neighbors=5).fit(xy).kneighbors(return_distance=False)
    assert (y[near] == y[:, None]).mean() > 0.9  # of a map by two principal coordinates: .5
    assert_array_equal(islands(X, quick), xy)


def test_units_of_measurements_are_irrelevant_on_the_map():
    X, y = load_wine(return_X_y=True)
    xy = islands(X, flat(X))
    assert_allclose(islands(1e-3 * X, flat(X)), xy, atol=1e-3)
    near = NearestNeighbors(n_neighbors=5).fit(xy).kneighbors(return_distance=False)
    assert (y[near] == y[:, None]).mean() > 0.9  # .66 without scaling
    assert_array_equal(comparable(np.ones((3, 2))), np.ones((3, 2)))


def test_a_better_map_lies_like_the_quick_one():
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [9, 0], [0, 9]], 40, axis=0) + rng.normal(size=(120, 2))
    for turn in (np.eye(2), np.array([[0, 1], [1, 0]]), np.diag([-1, 1])):
        quick = flat(X) @ turn
        moved, other = (m - m.mean(axis=0) for m in (islands(X, quick), quick))
        assert np.trace(moved.T @ other) > 0.8 * np.linalg.norm(moved) * np.linalg.norm(other)


def test_an_engine_has_a_quick_map():
    X = np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0) + np.eye(60)[:, :2]
    found = Engine(X).map(3)
    assert found.xy.shape == (60, 2)
    assert found.xy.dtype == np.float32
    assert abs(found.xy).max() <= 1


@given(st.integers(0, 10**6), st.sampled_from([0.5, 3, 100]))
def test_the_map_shows_every_point_apart_and_leaves_room_for_most(seed, far):
    rng = np.random.default_rng(seed)
    xy = rng.uniform(-1, 1, size=(2000, 2))
    xy[0], xy[1] = far, 2 * far  # far from all others
    found = filled(xy)
    assert abs(found).max() <= 1
    for axis in (0, 1):
        order = np.argsort(xy[:, axis])
        assert (np.diff(found[order, axis]) >= 0).all()
    assert far < 1 or (found[1] > found[0]).all()
    assert np.ptp(found[2:], axis=0).min() > 1.4  # of 2: the others have most of the room


def test_a_single_row_has_a_page_and_no_question(tmp_path):
    (tmp_path / "one.csv").write_text("id,x\na,1\n")
    with page(tmp_path / "one.csv") as found:
        state = found.state()
        assert state["ready"]
        assert (state["n"], state["question"], state["thinking"]) == (1, None, False)
        assert [c["size"] for c in state["clusters"]] == [1]
        assert found.get("/api/map").body == bytes(8)
        assert "one row" in found.correct("split", cluster=0, status=400)["error"]
        assert "1..1" in found.post("/api/count", {"k": 2}).json()["error"]
    with pytest.raises(ValueError, match="has 1 row, too few for 2 clusters; ask for at most 1"):
        page(tmp_path / "one.csv", k=2).__enter__()


def test_equal_rows_can_be_told_apart(tmp_path):
    (tmp_path / "two.csv").write_text("id,x\na,1\nb,1\n")
    with page(tmp_path / "two.csv") as found:
        refused = found.correct("split", cluster=0, status=400)
        assert "all rows of cluster 0 are equal" in refused["error"]
        state = found.correct("link", a=0, b=1, same=False)
        assert [c["size"] for c in state["clusters"]] == [1, 1]
        state = found.command("/api/undo", {})
        assert [c["size"] for c in state["clusters"]] == [2]
        assert state["question"] is None  # equal rows are not compared


def test_two_rows_are_enough(tmp_path):
    (tmp_path / "two.csv").write_text("id,x\na,1\nb,2\n")
    with page(tmp_path / "two.csv") as found:
        state = found.answer(False)
        assert state["question"] is None
        assert not state["thinking"]
        assert state["kept"] == [1, 1]


# the worker


def test_answers_never_interrupt_the_better_map():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 9]
    heard: queue.Queue = queue.Queue()
    worker, maps, number = Worker(X, hear=heard.put), [], 0
    try:
        while len(maps) < 2:
            number += 1
            worker.send(Job(number, Task(Constraints([(0, 1)]), [], [], 2)))
            with suppress(queue.Empty):
                message = heard.get(timeout=0.1)
                maps += [message] if isinstance(message, Map) else []
    finally:
        worker.close()
    assert [m.follows for m in maps] == [True, False]
    assert_array_equal(maps[1].xy, islands(X, maps[0].xy))


def test_a_map_that_cannot_be_computed_is_reported():
    heard: queue.Queue = queue.Queue()
    process = MapProcess(np.full((20, 2), np.nan), np.zeros((20, 2)), seed=0, hear=heard.put)
    try:
        word, why = heard.get(timeout=240)
    finally:
        process.close()
    assert word == "unmapped"
    assert "nan" in why.lower()


ENDLESS = """
import multiprocessing, os, time
from linkwise.app.worker import STOP, JobRunner
ours, theirs = multiprocessing.Pipe()
runner = JobRunner(theirs)
def endless(job):
    ours.send(STOP)
    while True:
        time.sleep(0.01)
def hidden(job):
    try:
        endless(job)
    except KeyboardInterrupt:
        raise TypeError("as NumPy may report an interrupt")
def faulty(job):
    raise TypeError("a fault")
first = runner.try_to(endless, None, "short"), runner.try_to(hidden, None, "short")
print(*first, runner.try_to(lambda job: 7, None, "short"), ours.recv())
try:
    runner.try_to(faulty, None, "short")
except TypeError as error:
    print(error)
os.kill(os.getpid(), 2)
time.sleep(0.05)
print("still here")
"""


SAID_BY_RUNNER = ["False False True 7", "a fault", "still here"]


def test_an_outlook_of_long_ago_is_not_shown(table):
    class OneOutlook(Stub):
        def send(self, job):
            super().send(job)
            if job.number == 1:
                self.hear(Outlook(1, Progress(0, 0.0, 0.1, False, True)))

    with page(table, worker=OneOutlook) as found:
        while found.label_page.outlook is None:
            time.sleep(0.01)
        pairs = [{"a": 0, "b": b} for b in range(1, LAST + 1)]
        *recent, last = [found.answer(None, question=pair)["outlook"] for pair in pairs]
        assert [outlook["expected"] for outlook in recent] == [0.1] * (LAST - 1)
        assert last is None


def test_an_outlook_comes_before_the_exact_clusters(table):
    order = []

    class Runner:
        pipe = None

        def try_to(self, function, job, kind):
            order.append(function)
            return True

        def newest(self, timeout=None):
            return None

    engine = SimpleNamespace(result="result", outlook="outlook", refined="refined", suspects="last")
    assert do(Runner(), engine, Job(1, None)) is None
    assert order == ["result", "outlook", "refined", "last"]


def test_work_not_wanted_any_more_is_stopped_and_a_ctrl_c_is_not_for_the_worker():
    run = subprocess.run(
        [sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=120
    )
    assert run.stdout.splitlines() == SAID_BY_RUNNER, run.stderr


def test_the_worker_works_can_be_stopped_and_ends():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 9]
    heard: queue.Queue = queue.Queue()
    worker = Worker(X, hear=heard.put)
    try:
        quick = heard.get(timeout=240)
        assert isinstance(quick, Map)
        assert quick.follows
        worker.stop()  # nothing is at work, and nothing happens
        worker.send(Job(1, Task(Constraints([(0, 1)], [(0, 30)]), [], [], 2)))
        result = next(m for m in iter(lambda: heard.get(timeout=240), None) if type(m) is Result)
        assert result.labels[0] == result.labels[1] != result.labels[30]
        worker.send(Job(2, Task(Constraints([(0, 1)]), [], [], 2)))
        numbers = set()
        while 2 not in numbers:
            numbers.add(getattr(heard.get(timeout=240), "number", None))
    finally:
        worker.close()
    assert not worker.process.is_alive()
    assert heard.empty() or all(m[0] != "ended" for m in list(heard.queue))


def test_the_state_is_made_once_for_all_open_browsers():
    class Page(Watched):
        views = 0

        def view(self):
            self.views += 1
            return {"tick": self.tick}

    async def heard(page, tabs, changes):
        await page.open()
        events = event_route(page, page.view)
        streams = [(await events(None)).body_iterator for _ in range(tabs)]
        for stream in streams:
            assert await anext(stream) == "retry: 1000\n\n"
            assert await anext(stream) == 'data: {"tick": 0}\n\n'
        for tick in range(1, changes + 1):
            waiting = [asyncio.ensure_future(anext(stream)) for stream in streams]
            await asyncio.sleep(0.01)
            await page.changed()
            assert await asyncio.gather(*waiting) == [f'data: {{"tick": {tick}}}\n\n'] * tabs
        return page.views

    assert asyncio.run(heard(Page(), tabs=5, changes=3)) == 5 + 3
