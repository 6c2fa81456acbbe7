"""A program that answers: `linkwise label --oracle`."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from linkwise.cli import main
from linkwise.journal import read_project
from linkwise.labelling.items import read_items
from linkwise.labelling.oracle_command import Cache, OracleCommand, Reply

EXAMPLE = Path(__file__).parents[1] / "examples" / "oracle_openai.py"
PROGRAM = """
import json, sys
log = open("asked.jsonl", "a")
waiting = []
for line in sys.stdin:
    print(line, end="", file=log, flush=True)
    q = json.loads(line)
    same = q["a"]["kind"] == q["b"]["kind"]
    waiting.append({"question": q["question"], "same": same, "cost": 0.5})
    if len(waiting) == int(sys.argv[1]):  # backwards: any order will do
        print("\\n".join(map(json.dumps, reversed(waiting))), flush=True)
        waiting = []
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["id,x,y,kind"]
    for i in range(30):
        x, y = rng.normal(size=2) + 4 * (i % 2)
        lines.append(f"r{i},{x:.4f},{y:.4f},{'ab'[i % 2]}")
    (tmp_path / "data.csv").write_text("\n".join(lines))
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def label(*words):
    return main(["label", "data.csv", "-k", "2", *words])


def oracle(*words):
    return " ".join([sys.executable, *map(str, words)])


def asked(folder):
    return [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]


def test_a_program_answers_in_batches_within_its_budget(folder, capsys):
    command = oracle("program.py", 5)
    assert label("--oracle", command, "--budget", "10", "--batch", "5") == 0
    told = capsys.readouterr().err
    assert "10 questions asked, cost 5" in told
    events = read_project("data.linkwise").events
    assert len(events) == 10
    kind = dict(line.split(",")[::3] for line in Path("data.csv").read_text().splitlines()[1:])
    for event in events:
        assert event.body["same"] == (kind[event.body["a"]] == kind[event.body["b"]])
        assert event.who == f"oracle {command}"
    first = asked(folder)[0]
    assert set(first["a"]) == {"id", "x", "y", "kind"}


def test_a_restart_asks_nothing_twice(folder, capsys):
    words = ["--oracle", oracle("program.py", 1), "--batch", "1", "--budget"]
    assert label(*words, "4") == 0
    assert label(*words, "4") == 0
    pairs = [(q["a"]["id"], q["b"]["id"]) for q in asked(folder)]
    assert len(pairs) == len(set(map(frozenset, pairs))) == 8
    Path("data.linkwise").unlink()  # the answers are still in the cache
    capsys.readouterr()
    assert label(*words, "1") == 0
    assert "answered from the cache" in capsys.readouterr().err
    assert len(asked(folder)) == 9


def test_answers_before_a_crash_are_kept(folder, capsys):
    (folder / "crash.py").write_text(
        'import sys, json\nq = json.loads(input())\nprint(json.dumps({"question": q["question"], '
        '"same": None}), flush=True)\nsys.exit(7)\n'
    )
    words = ["--oracle", oracle("crash.py"), "--batch", "3"]
    assert label(*words) == 3
    assert "ended with code 7" in capsys.readouterr().err
    cache = Path("data.linkwise.oracle.jsonl")
    assert len(cache.read_text().splitlines()) == 1
    cache.write_text(cache.read_text() + '{"key": "cut')  # as after a power cut
    assert len(Cache(str(cache)).known) == 1
    assert cache.read_text().endswith("}\n")


def test_no_question_is_asked_beyond_the_cost(folder, capsys):
    command = oracle("program.py", 1)
    assert label("--oracle", command, "--batch", "1", "--max-cost", "1.5") == 0
    assert "3 questions asked, cost 1.5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("no json", "expected a line such as"),
        ('{"question": 1}', "expected a line such as"),
        ('{"question": 1, "same": "yes"}', "same must be true, false or null"),
        ('{"question": 1, "same": true, "cost": -1}', "cost a number from 0 on"),
        ('{"question": 99, "same": true}', "question 99, which was not asked"),
        ("[" * 5000, "expected a line such as"),
    ],
)
def test_answers_that_make_no_sense_are_refused_in_words(folder, capsys, line, fault):
    (folder / "bad.py").write_text(f"input()\nprint({line!r}, flush=True)\ninput()\n")
    assert label("--oracle", oracle("bad.py"), "--batch", "1") == 3
    said = capsys.readouterr().err
    assert fault in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "code", "fault"),
    [
        (["--oracle", "no-such-program-here"], 3, "cannot start 'no-such-program-here'"),
        (["--oracle", "'"], 3, "cannot start"),
        (["--oracle", "x", "--terminal"], 2, "leave --terminal"),
        (["--budget", "5"], 2, "are for --oracle"),
        (["--oracle", "x", "--max-cost", "nan"], 2, "number above 0"),
    ],
)
def test_commands_that_cannot_be_are_refused(folder, capsys, words, code, fault):
    assert label(*words) == code
    assert fault in capsys.readouterr().err


def test_rows_with_the_same_content_are_asked_once(folder):
    (folder / "same.csv").write_text("id,x,kind\na,1,u\nb,2,v\nc,1,u\n")
    items = read_items("same.csv", id_column="id")
    with OracleCommand(oracle("program.py", 1), items, Cache("cache.jsonl")) as program:
        replies = program.ask([(0, 1), (1, 2)])
    assert replies == [Reply(False, 0.5), Reply(False, 0.0, cached=True)]
    assert len(asked(folder)) == 1


class Server(BaseHTTPRequestHandler):
    """A server with the interface of OpenAI; it compares the last words of both rows."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, body, self.headers["Authorization"]))
        first, second = body["messages"][0]["content"].split("Second:")
        same = first.split()[-1] == second.split()[-1]
        reply = {
            "choices": [{"message": {"content": "Same." if same else "different"}}],
            "usage": {"total_tokens": 40},
        }
        raw = json.dumps(reply).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


def test_the_example_asks_a_server_with_the_interface_of_openai(folder, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    server = HTTPServer(("127.0.0.1", 0), Server)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        command = oracle(EXAMPLE, "--model", "tiny", "--url", url, "--price", "1000")
        assert label("--oracle", command, "--budget", "6", "--batch", "3") == 0
    finally:
        server.shutdown()
        server.server_close()
    assert "6 questions asked, cost 0.24" in capsys.readouterr().err
    assert len(server.seen) == 6
    path, body, key = server.seen[0]
    assert (path, body["model"], key) == ("/v1/chat/completions", "tiny", "Bearer secret")
    said = [event.body["same"] for event in read_project("data.linkwise").events]
    assert set(said) == {True, False}
