"""Laws of the benchmark of questions."""

import itertools
import json
import re

import numpy as np
import pytest
from bench_parts import in_this_process
from sklearn.datasets import make_blobs

from benchmarks.__main__ import main
from benchmarks.queries import cell as queries_cell
from benchmarks.queries import run as queries
from benchmarks.queries.cell import (
    ANSWERS,
    CHECKED,
    KEY,
    OWN,
    Trial,
    budget_of,
    cell,
    checkpoints,
    curves,
    reached,
)
from benchmarks.queries.report import blocks, changes, needed, ratios, reliability
from benchmarks.queries.run import CELLS, Options
from benchmarks.runs import cells
from linkwise.query import STRATEGIES, PreparedData

FEW = ("default", "random", "cobras")


def points(n, k, seed=0):
    return make_blobs(n, centers=k, cluster_std=2.0, random_state=seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one small set and one that is too large."""
    where = tmp_path_factory.mktemp("data")
    X, y = points(40, 3)
    np.savez(where / "small.npz", X=X, y=y)
    np.savez(where / "large.npz", X=np.zeros((2001, 2)), y=np.arange(2001) % 2)
    return where


@pytest.fixture(scope="module")
def results(folder, tmp_path_factory):
    """A run of a few strategies with few answers, its options and its folder."""
    options, out = (
        Options(data=str(folder), strategies=FEW, draws=1),
        tmp_path_factory.mktemp("out"),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "outcomes", in_this_process)
        patch.setattr(queries_cell, "MOST", 30)
        return queries.run(options, out), options, out


def test_checkpoints_grow_by_a_tenth_and_end_with_the_budget():
    found = checkpoints(1000)
    assert found[:12] == list(range(12))
    assert found[-1] == 1000
    assert max(b - a for a, b in itertools.pairwise(found)) <= 100
    assert budget_of(100) == 200
    assert budget_of(10_000) == 1000


def test_a_goal_counts_when_it_holds_twice():
    curve = [(0, 0.1), (1, 0.9), (2, 0.3), (3, 0.9), (4, 0.95)]
    assert reached(curve, 0.9) == 3
    assert reached(curve, 0.95) == 4  # the end has no next
    assert reached(curve, 0.99) is None


def test_every_strategy_is_asked_of_the_same_oracle_and_never_too_much():
    X, y = points(30, 2)
    data = PreparedData(X, seed=0)
    for name in STRATEGIES:
        trial = Trial(data, y, name, wrong=0.1, seed=0)
        assert trial.answer(9)
        assert trial.known.n_answers == 9
        wrong = sum((sign > 0) != (y[a] == y[b]) for a, b, sign, _ in trial.known.links)
        assert wrong <= 4
        told = [trial.oracle([pair[:2]])[0] for pair in trial.known.links]
        assert told == [pair.sign > 0 for pair in trial.known.links]


def test_the_default_is_checked_after_few_and_many_answers(monkeypatch):
    monkeypatch.setattr("linkwise.query.prepared_data.effort_for", lambda n: "fast")
    X, y = points(30, 2)
    trial = Trial(PreparedData(X, seed=0), y, "default", unsure=0.25, seed=0)
    found = curves(trial, 15, goal=0)[1]  # a goal that is reached at once
    assert [one[0] for one in found] == [0, 1, 5, 10, 15]
    assert all(0 <= wrong <= 1 and 0 <= expected <= 1 for *_, wrong, expected in found)
    results = {"records": [{"set": "s", "draw": 0, "answers": "all right", "checks": found}]}
    (_, table) = changes(results, "all right")
    assert [row[0] for row in table.rows] == [str(count) for count in CHECKED[:4]]
    assert sum(int(row[1]) for row in reliability(results)[2].rows) == 5


@pytest.mark.slow
def test_the_report_has_every_cell_and_says_what_was_left_out(results):
    found, _, out = results
    assert {r["method"] for r in found["records"]} == {*FEW, OWN}
    assert {r["answers"] for r in found["records"]} == set(ANSWERS)
    assert not any("failed" in r for r in found["records"])
    assert "more than 2,000 rows" in found["left_out"]["large"]
    text = (out / "queries.md").read_text()
    assert "large" in text
    assert "queries-curves.svg" in text
    for name in (*FEW, OWN):
        assert f"| {name} |" in text
    page = (out / "queries.html").read_text()
    assert "<svg" in page
    assert not re.search(r'(src|href)="http', page)
    assert json.loads((out / "queries.json").read_text())["records"]


@pytest.mark.slow
def test_random_pairs_reach_their_own_goal(results):
    found = results[0]
    for said in ANSWERS:
        (record,) = [r for r in found["records"] if (r["method"], r["answers"]) == ("random", said)]
        assert record["to 90%"] is not None
        assert record["curve"][-1][1] >= 0.9 * record["reference"]
    table = needed(found, "all right", 0.9)
    assert ratios(table, "random") in ({}, {"small": 1.0})


@pytest.mark.slow
def test_a_second_run_does_what_is_missing_alone(results, monkeypatch):
    found, options, out = results
    lines = (out / CELLS).read_text().splitlines(keepends=True)
    (out / CELLS).write_text("".join(lines[:-1]))  # one cell is lost
    ran = []

    def counted(run, jobs, **rest):
        jobs = list(jobs)
        ran.extend(jobs)
        return in_this_process(run, jobs, **rest)

    monkeypatch.setattr(cells, "outcomes", counted)
    monkeypatch.setattr(queries_cell, "MOST", 30)
    again = queries.run(options, out)
    assert len(ran) == 1
    assert again["records"] == found["records"]


@pytest.mark.slow
def test_processes_give_the_same_figures(results, folder, tmp_path):
    found, _, _ = results
    (random,) = [
        r for r in found["records"] if (r["method"], r["answers"]) == ("random", "all right")
    ]
    options = Options(data=str(folder), strategies=("random",), sets=("small",), draws=1, jobs=2)
    other = queries.run(options, tmp_path / "other")
    (same,) = [r for r in other["records"] if r["answers"] == "all right"]
    assert same["curve"][:5] == random["curve"][:5]  # a process has the whole budget


def test_a_run_that_fails_is_an_outcome(tmp_path):
    job = dict(zip(KEY, ("none", 0, "all right", "random"), strict=True)) | {
        "folder": str(tmp_path)
    }
    (record,) = cell(job)
    assert "FileNotFoundError" in record["failed"]
    results = {"records": [record], "left_out": {}, "sets": [], "command": "c"}
    results["machine"] = {"libraries": {}, "system": "s", "cores": 1, "processor": "p"}
    assert any("FileNotFoundError" in str(block) for block in blocks(results, {}))


def test_the_command_names_what_it_does_not_know(tmp_path, capsys):
    code = main(["queries", "--strategies", "nonsense", "--out", str(tmp_path / "o")])
    assert code == 2
    assert "--strategies nonsense" in capsys.readouterr().err
    code = main(["queries", "--sets", "nonsense", "--out", str(tmp_path / "o")])
    assert code == 3
    assert "--sets nonsense" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["queries", "quality"])
def test_a_wrong_option_leaves_no_folder(tmp_path, capsys, kind):
    assert main([kind, "--sets", "nope", "--out", str(tmp_path / "out")]) == 3
    assert "--sets nope" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
