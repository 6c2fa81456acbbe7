"""Laws of the speed benchmark, and of the command line of all benchmarks."""

import json
import re
import sys
import time

import numpy as np
import pytest
from bench_parts import cells_of
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.__main__ import main
from benchmarks.reports import figures
from benchmarks.reports.numbers import number
from benchmarks.runs.output import command_line
from benchmarks.runs.process import in_child
from benchmarks.speed import pictures
from benchmarks.speed import run as speed
from benchmarks.speed.contestants import ANCHOR_STAGES, CONTESTANTS, GRAPH_STAGES, Contestant
from benchmarks.speed.floors import COMPONENTS, Cost, Rates, costs, seconds
from benchmarks.speed.growth import fit_line
from benchmarks.speed.report import comparisons, markdown, ratio_rows
from benchmarks.speed.run import Options, size_of, summary
from benchmarks.speed.sheets import CHUNK, sheet_blocks, sheets, write_sheets
from benchmarks.speed.stages import Clock, clocked
from benchmarks.speed.trial import agreement, recall
from linkwise.constraints import sample_pairs

TROUBLE = """
import os, time

def fails(task):
    raise ValueError("no such luck")

def quits(task):
    os._exit(7)

def is_killed(task):
    os.kill(os.getpid(), 9)

def sleeps(task):
    time.sleep(60)

def eats(job):
    bytearray(job["bytes"])
    from benchmarks.runs.process import resident
    return {"peak": resident()[1]}
"""


@pytest.fixture
def trouble(tmp_path, monkeypatch):
    """A module of functions that come to grief, which child processes find too."""
    (tmp_path / "trouble.py").write_text(TROUBLE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    import trouble

    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # no threads that wait for busy cores
    yield trouble
    del sys.modules["trouble"]


def rng():
    return np.random.default_rng(3)


def test_blocks_are_the_whole(tmp_path):
    n = CHUNK + 100
    X, y = sheets(n, 5, 4, rng())
    assert X.shape == (n, 5)
    assert X.dtype == np.float32
    blocks = list(sheet_blocks(n, 5, 4, rng()))
    assert [len(block.X) for block in blocks] == [CHUNK, 100]
    write_sheets(tmp_path, n, 5, 4, rng())
    assert_array_equal(np.load(tmp_path / "X.npy"), X)
    assert_array_equal(np.load(tmp_path / "y.npy", mmap_mode="r"), y)


def test_the_first_rows_are_the_same_for_every_number_of_rows():
    X, y = sheets(CHUNK + 7, 4, 3, rng())
    for n in (50, CHUNK):
        assert_array_equal(sheets(n, 4, 3, rng()).X, X[:n])
        assert_array_equal(sheets(n, 4, 3, rng()).y, y[:n])


def test_another_seed_gives_other_rows():
    assert not np.array_equal(
        sheets(50, 4, 3, rng()).X, sheets(50, 4, 3, np.random.default_rng(4)).X
    )


@pytest.mark.parametrize("d", [2, 3, 12, 40])
def test_every_width_can_be_made(d):
    X, y = sheets(300, d, 5, rng())
    assert np.isfinite(X).all()
    assert set(np.unique(y)) == set(range(5))


@pytest.mark.parametrize("slope", [0.0, 1.0, 1.5, 2.0])
def test_the_slope_of_a_power_law_is_its_exponent(slope):
    n = np.array([1e4, 31623, 1e5, 1e6])
    line = fit_line(n, 3e-5 * n**slope)
    assert_allclose(line.slope, slope, atol=1e-9)
    assert_allclose(line.at(n), 3e-5 * n**slope)


def test_a_floor_is_the_longer_of_arithmetic_and_traffic():
    rates = Rates(flops=100, bytes=10)
    assert seconds(Cost(1000, 10), rates) == 10
    assert seconds(Cost(10, 1000), rates) == 100
    cost = costs(1000, 32, 10, pairs=100, neighbours=20, anchors=50, nearest=5)
    assert cost["nearest neighbours"].flops == 2 * 1000**2 * 32
    assert cost["assignment"].flops == 2 * 1000 * 50 * 32
    stages = {stage for stage, _ in (*GRAPH_STAGES, *ANCHOR_STAGES)}
    assert stages <= set(cost)  # every stage has a floor


def test_the_components_of_the_floor_are_those_of_the_method():
    from linkwise import CCSKL

    assert CCSKL().n_components == COMPONENTS


def test_a_clock_stands_still_while_another_runs():
    clock = Clock()
    inner = clock.around("inner", lambda: time.sleep(0.05))
    clock.around("outer", lambda: (time.sleep(0.02), inner(), inner()))()
    assert clock.seconds["inner"] >= 0.1
    assert 0.02 <= clock.seconds["outer"] < clock.seconds["inner"]


def test_stages_are_clocked_wherever_they_are_called_and_let_go_afterwards(blobs):
    from linkwise import CCSKL
    from linkwise.estimators import spectral_base

    before = spectral_base.kmeans
    for places, affinity in ((GRAPH_STAGES, "nearest_neighbors"), (ANCHOR_STAGES, "anchors")):
        model = CCSKL(3, affinity=affinity, random_state=0)
        links = sample_pairs(blobs[1], 20, random_state=0)
        started = time.perf_counter()
        with clocked(places) as found:
            model.fit(blobs[0], constraints=links)
        assert all(value > 0 for value in found.values())
        assert sum(found.values()) <= time.perf_counter() - started
    assert spectral_base.kmeans is before


def test_recall_counts_true_neighbours():
    X = rng().standard_normal((60, 3)).astype(np.float32)
    order = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
    assert recall(X, order[:, 1:21]) == 1
    assert recall(X, order[:, :21]) == 1  # with itself among them, as some libraries give them
    half = np.hstack([order[:, 1:11], order[:, -10:]])
    assert_allclose(recall(X, half), 0.5)
    assert_allclose(recall(X, np.repeat(order[:, 1:2], 20, axis=1)), 1 / 20)  # told twice is once


def test_equal_points_are_each_others_neighbours_in_any_choice():
    X = np.zeros((40, 2), dtype=np.float32)
    others = [[j for j in range(40) if j != i] for i in range(40)]
    assert recall(X, np.array(others)[:, -20:]) == 1


def test_agreement_is_one_for_the_truth():
    y = np.arange(50) % 3
    links = sample_pairs(y, 10, random_state=0)
    found = agreement(y, 2 - y, links)
    assert found == {"adjusted_rand": 1, "kept": 1, "adjusted_rand_untouched": 1}


def test_a_child_tells_what_it_used(trouble):
    small, big = (in_child(trouble.eats, {"bytes": n}, limit=60).value for n in (1, 200_000_000))
    assert 1.9e8 < big["peak"] - small["peak"] < 2.4e8


def test_the_memory_of_the_parent_is_not_the_childs(trouble):
    held = np.ones(40_000_000)  # 320 MB
    assert in_child(trouble.eats, {"bytes": 1}, limit=60).value["peak"] < held.nbytes / 2


@pytest.mark.parametrize(
    ("name", "limit", "fragment"),
    [
        ("fails", 60, "ValueError: no such luck"),
        ("quits", 60, "exit code 7"),
        ("is_killed", 60, "want of memory"),
        ("sleeps", 1, "limit of 1 s"),
    ],
)
def test_a_child_that_comes_to_grief_is_an_outcome(trouble, name, limit, fragment):
    value, failed = in_child(getattr(trouble, name), {}, limit=limit)
    assert value is None
    assert fragment in failed


@pytest.mark.slow
def test_a_benchmark_from_end_to_end(trouble, tmp_path, capsys):
    chosen = {
        "graph_linked": CONTESTANTS["graph_linked"],
        "kmeans": CONTESTANTS["kmeans"],
        "graph_stages": CONTESTANTS["graph_stages"],
        "broken": Contestant("broken", trouble.fails, "labels"),
        "absent": Contestant("absent", trouble.fails, "labels", needs="no_such_module"),
        "small": Contestant("small", trouble.fails, "labels", rows=100),
    }
    out = tmp_path / "report"
    out.mkdir()
    (out / "speed.md").write_text("old")
    options = Options(sizes=((300, 8), (600, 8)), repeats=1, quick=True)
    results = speed.run(options, out, chosen)

    assert json.loads((out / "speed.json").read_text()) == results
    text = (out / "speed.md").read_text()
    assert text == markdown(results)
    assert sorted(path.name for path in out.iterdir()) == [
        "speed-cost.png", "speed-stages.png", "speed.json", "speed.md",
    ]  # fmt: skip
    rows = {(row["set"], row["contestant"]): row for row in results["rows"]}
    assert len(rows) == 12
    assert "no such luck" in rows["300 x 8", "broken"]["trouble"]
    assert rows["300 x 8", "absent"]["trouble"] == "no_such_module is not installed"
    assert "left out above 100 rows" in rows["300 x 8", "small"]["trouble"]
    for words in ("failed: ValueError: no such luck", "is not installed", "left out above 100"):
        assert words in text

    ours, peer = (rows["600 x 8", key]["summary"] for key in ("graph_linked", "kmeans"))
    cells = cells_of(text, "600 x 8", "CCSKL, constraints", "KMeans")
    assert cells[3] == number(ours["seconds"] / peer["seconds"])
    cells = cells_of(text.split("### 600 x 8")[1], "KMeans")
    assert cells[1] == number(peer["seconds"])
    assert cells[4] == f"{peer['adjusted_rand']:.3f}"
    stages = rows["600 x 8", "graph_stages"]["summary"]["stages"]
    cells = cells_of(text.split("### 600 x 8")[1], "eigenvectors")
    floor = results["sets"][1]["floors"]["eigenvectors"]
    assert cells[1] == number(stages["eigenvectors"])
    assert cells[4] == number(stages["eigenvectors"] / floor)
    line = fit_line(
        [300, 600], [rows[f"{n} x 8", "kmeans"]["summary"]["seconds"] for n in (300, 600)]
    )
    assert cells_of(text, "KMeans", "300", "600")[3] == f"{line.slope:.3f}"

    err = capsys.readouterr().err
    assert len(re.findall(r"1 of 1", err)) == 8
    assert "written to" in err


def test_an_interrupt_loses_nothing_and_leaves_the_old_report(tmp_path, monkeypatch, capsys):
    answers = iter([({"flops": 1e11, "bytes": 1e10}, None), (RUN, None)])

    def in_child(*_, **__):
        try:
            return next(answers)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(speed, "in_child", in_child)
    (tmp_path / "speed.md").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        speed.run(Options(sizes=((300, 8),), repeats=1), tmp_path)
    assert (tmp_path / "speed.md").read_text() == "old"
    partial = json.loads((tmp_path / "speed-partial.json").read_text())
    assert partial["rows"][0]["runs"] == [RUN]
    assert "speed-partial.md" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "speed-partial.json", "speed-partial.md", "speed.md",
    ]  # fmt: skip


RUN = {"seconds": 2.0, "cpu": 3.0, "peak": 10**9, "warnings": [], "adjusted_rand": 0.5, "kept": 1.0}


@pytest.mark.slow
def test_large_data_stay_in_their_file(trouble, tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "IN_FILE", 250)
    results = speed.run(Options(sizes=((300, 8),), repeats=3, quick=True), tmp_path)
    assert [row["contestant"] for row in results["rows"]] == ["anchors_linked", "anchors"]
    for row in results["rows"]:
        assert row["trouble"] is None
        assert len(row["runs"]) == 1
        assert row["summary"]["adjusted_rand"] > 0.05


def finished_row(key, **figures):
    return {"set": "s", "contestant": key, "name": key, "kind": "neighbours", "runs": [RUN],
            "summary": {"adjusted_rand": None, "recall": None, **figures}}  # fmt: skip


def test_the_rival_is_the_fastest_that_finds_enough_neighbours():
    rows = [
        finished_row("search", seconds=1.0, recall=0.99),
        finished_row("hnsw_small", seconds=2.0, recall=0.9),
        finished_row("hnsw_middle", seconds=4.0, recall=0.985),
        finished_row("hnsw_large", seconds=9.0, recall=0.999),
    ]
    results = {"sets": [{"name": "s"}], "rows": rows}
    ((_, own, peer),) = comparisons(results)
    assert (own["name"], peer["name"]) == ("search", "hnsw_middle")
    ((*_, ratio, words, gain),) = ratio_rows(results)
    assert (ratio, words, gain) == ("0.250", "4.00 times faster", "+0.005 (0.990)")
    results["rows"] = rows[:2]
    assert [peer["name"] for *_, peer in comparisons(results)] == ["hnsw_small"]


def test_the_yardstick_of_anchors_is_the_faster_product():
    rows = [
        finished_row("anchors_linked", seconds=3.0) | {"kind": "labels"},
        finished_row("product_512", seconds=2.0),
        finished_row("product_4096", seconds=1.5),
    ]
    ((_, _, peer),) = comparisons({"sets": [{"name": "s"}], "rows": rows})
    assert peer["name"] == "product_4096"


def test_several_runs_are_summed_up_by_their_median_and_largest_peak():
    runs = [RUN | {"seconds": s, "peak": p} for s, p in ((1.0, 5), (9.0, 7), (2.0, 6))]
    found = summary(runs)
    assert (found["seconds"], found["fastest"], found["slowest"], found["peak"]) == (2, 1, 9, 7)
    assert summary([]) == {}


def test_pictures_are_left_out_without_matplotlib(monkeypatch):
    from linkwise import MissingExtra

    def missing():
        raise MissingExtra("matplotlib", "plot")

    monkeypatch.setattr(figures, "pyplot", missing)
    results = {"rows": [], "sets": []}
    assert list(pictures.pictures(results)) == []
    assert results["no_pictures"]


def test_sizes_are_rows_or_rows_and_columns():
    assert size_of("10000") == (10_000, 32)
    assert size_of("1e6") == (1_000_000, 32)
    assert size_of("1e8") == (100_000_000, 16)
    assert size_of("20000x784") == (20_000, 784)


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        ("--sizes many --out x", "got 'many'"),
        ("--sizes 1000.5 --out x", "got '1000.5'"),
        ("--sizes 1000x1 --out x", "got '1000x1'"),
        ("--sizes 100 --out x", "at least 200"),
        ("--sizes inf --out x", "got 'inf'"),
        ("--repeats 0 --out x", "whole number >= 1"),
        ("--limit soon --out x", "whole number >= 1"),
        ("--quick", "--out"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(capsys, line, fragment):
    assert main(["speed", *line.split()]) == 2
    err = capsys.readouterr().err
    assert fragment in err
    assert err.count("\n") == 1


def test_data_that_is_not_there_is_told_before_anything_runs(tmp_path, capsys):
    line = ["speed", "--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(line) == 3
    assert "lacks mnist_test.npz, mnist_train.npz, usps.npz" in capsys.readouterr().err


def test_rows_that_do_not_fit_on_the_disk_are_told_before_anything_runs(tmp_path, capsys):
    assert main(["speed", "--sizes", "1e15", "--out", str(tmp_path)]) == 3
    assert "name another folder by --scratch" in capsys.readouterr().err


def test_the_command_hands_its_options_on(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(speed, "run", lambda options, out: given.append((options, out)))
    line = "--sizes 1e4 500x9 --huge --repeats 2 --limit 30 --seed 5 --out there"
    assert main(["speed", *line.split()]) == 0
    ((options, out),) = given
    assert options == Options(
        sizes=[(10_000, 32), (500, 9)], huge=True, repeats=2, limit=30, seed=5
    )
    assert out == "there"
    told = command_line("speed", options)
    assert told == (
        "python -m benchmarks speed --sizes 10000x32 500x9 --huge --repeats 2 --limit 30 --seed 5 "
        "--out DIR"
    )


@pytest.mark.slow
def test_some_contestants_can_be_asked_for_alone(tmp_path, capsys):
    only = "speed --quick --sizes 300x8 --repeats 1 --only product_512 minibatch --out"
    assert main([*only.split(), str(tmp_path / "out")]) == 0
    results = json.loads((tmp_path / "out" / "speed.json").read_text())
    assert [row["contestant"] for row in results["rows"]] == ["minibatch", "product_512"]
    assert "--only product_512 minibatch" in results["command"]
    capsys.readouterr()
    assert main(["speed", "--only", "nobody", "--out", str(tmp_path)]) == 2
    assert "--only nobody: expected some of graph_linked" in capsys.readouterr().err
