"""Laws of `python -m benchmarks` itself, and of the benchmarks that print a table."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from bench_parts import cells_of

from benchmarks import ROOT
from benchmarks.__main__ import COMMANDS, main
from benchmarks.runs.output import write
from benchmarks.runs.process import environment, in_child
from benchmarks.segment.scenes import scene
from benchmarks.segment.user import stroke_through, user

NAMES = (
    "speed",
    "quality",
    "papers",
    "queries",
    "wider",
    "corrections",
    "agreement",
    "hard",
    "size",
    "gpu",
    "dask",
    "page",
    "segment",
    "extend",
    "sizes",
    "entities",
    "strays",
    "levels",
    "fuzz",
)


@pytest.mark.parametrize("line", [[], ["--help"]])
def test_the_benchmarks_are_listed(capsys, line):
    assert main(line) == 0
    text = capsys.readouterr().out
    for name in NAMES:
        assert f"\n    {name}" in text


def test_every_benchmark_explains_its_options(capsys):
    assert tuple(run.__name__ for run in COMMANDS) == NAMES
    for run in COMMANDS:
        assert main([run.__name__, "--help"]) == 0
        assert run.__doc__ in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", NAMES)
def test_the_manual_has_every_option_of_a_benchmark(capsys, name):
    assert main([name, "--help"]) == 0
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    manual = (ROOT / "docs" / "benchmarks.md").read_text()
    section = manual.split(f"## python -m benchmarks {name}\n")[1].split("\n## ")[0]
    assert options == set(re.findall(r"(?m)[|,] `(--[a-z-]+)", section))


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        ("agreement --methods Nobody", "--methods Nobody: expected some of CCSKL"),
        ("size --methods Nobody", "--methods Nobody: expected some of CCSKL"),
        ("size --rows none", "whole number >= 1"),
        ("hard --draws 0", "whole number >= 1"),
        ("segment --seeds 0", "whole number >= 1"),
        ("page --rows 9999", "whole number in 1..1797"),
        ("nonsense", "invalid choice: 'nonsense'"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(capsys, line, fragment):
    assert main(line.split()) == 2
    err = capsys.readouterr().err
    assert fragment in err
    assert err.count("\n") == 1


def test_it_runs_from_a_clone_with_nothing_but_the_source_on_the_path():
    line = [sys.executable, "-m", "benchmarks", "size", "--rows", "60", "--pairs", "9",
            "--clusters", "2", "--methods", "PCKMeans"]  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        line, cwd=ROOT, env=kept | {"PYTHONPATH": "src"}, capture_output=True, text=True, check=True
    )
    assert cells_of(run.stdout, "PCKMeans")


def found(argument):
    """Return the folders that two packages were found in."""
    import benchmarks
    import linkwise

    return [os.path.dirname(module.__file__) for module in (benchmarks, linkwise)]


def test_a_process_finds_the_packages_of_the_one_that_starts_it(tmp_path, monkeypatch):
    expected = found(None)
    monkeypatch.chdir(tmp_path)  # where there is neither
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert in_child(found, None, limit=60).value == expected
    places = environment(MORE="1")["PYTHONPATH"].split(os.pathsep)
    assert all(map(os.path.isabs, places))
    assert environment(MORE="1")["MORE"] == "1"


def test_a_file_is_replaced_whole_or_left_as_it_was(tmp_path, monkeypatch):
    write(tmp_path / "a", "old")

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="no space"):
            write(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]
    write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_text() == "new"


def test_agreement_is_printed_and_written(tmp_path, capsys):
    out = tmp_path / "table.md"
    line = "agreement --draws 2 --sets iris --methods PCKMeans COPKMeans ConstrainedPCA --out"
    assert main([*line.split(), str(out)]) == 0
    text = capsys.readouterr().out
    assert out.read_text() == text
    for name in ("PCKMeans", "ConstrainedPCA"):
        for pairs in ("37", "150"):
            cells = cells_of(text, name, "iris", pairs)
            assert float(cells[3]) > 0.4
            assert cells[5:7] == ["", ""]  # no reference
    assert cells_of(text, "COPKMeans", "iris", "150")[5] == "0.62"


def test_hard_constraints_are_counted(capsys):
    assert main(["hard", "--sets", "iris", "--draws", "2", "--factor", "0.2"]) == 0
    assert capsys.readouterr().out == "iris: all constraints kept on 2 of 2 draws\n"


def test_a_stroke_goes_through_the_largest_mistake():
    region = np.zeros((40, 60), dtype=int)
    region[10:30, 20:50] = 1
    wrong = np.zeros_like(region, dtype=bool)
    wrong[12:28, 25:45], wrong[2:4, 2:5] = True, True
    stroke = stroke_through(wrong, region)
    assert stroke.colour == "2"
    for x, y in stroke.points:
        assert wrong[int(y), int(x)]


def test_a_user_of_a_perfect_method_draws_one_stroke_in_every_region():
    _, region = scene("alike", 0)
    errors, strokes, mask = user(lambda strokes: region + 1, region)
    assert errors == [0.0]
    assert sorted(stroke.colour for stroke in strokes) == ["1", "2"]
    assert (mask == region + 1).all()
