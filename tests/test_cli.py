"""Laws of the command line."""

import argparse
import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from linkwise.cli import main
from linkwise.cli.arguments import parser
from linkwise.cli.methods import METHODS
from linkwise.exceptions import MissingExtra

DOCS = Path(__file__).parent.parent / "docs" / "cli.md"
DATA = "id,x,y\n" + "".join(
    f"{i:03d},{8 * (i % 3 == 1) + i % 5 / 9:.3f},{8 * (i % 3 == 2) + i % 7 / 9:.3f}\n"
    for i in range(30)
)  # three groups, i % 3
LINKS = "id_a,id_b,kind\n000,003,must\n001,004,must\n000,001,cannot\n001,002,cannot\n"
CONTRADICTION = LINKS + "003,004,must\n"
CONFLICT = (
    "000 must be with 003, 003 must be with 004, 004 must be with 001, but 000 cannot be with"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder that holds data.csv and links.csv."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(DATA)
    Path("links.csv").write_text(LINKS)
    return tmp_path


@pytest.fixture
def call(here, capsys, monkeypatch):
    """Run a command line; return its exit code, stdout and stderr."""

    def run(line, stdin=b""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(line.split() if isinstance(line, str) else line)
        return code, *capsys.readouterr()

    return run


def table(text):
    """Return {id: label} from a table of labels, by way of its header's names."""
    header, *rows = text.splitlines()
    assert header in ("id,label", "row,label")
    return {name.strip('"'): int(label) for name, label in (row.split(",") for row in rows)}


def test_labels_of_ids_come_back_under_these_ids(call):
    code, out, err = call("fit data.csv --links links.csv -k 3 --id-column id -o labels.csv")
    assert (code, out) == (0, "")
    found = table(Path("labels.csv").read_text())
    assert list(found) == [f"{i:03d}" for i in range(30)]
    assert [found[name] for name in ("000", "001", "002")] == [0, 1, 2]
    assert all(label == found[f"{int(name) % 3:03d}"] for name, label in found.items())
    assert err.startswith("link-clustering: n = 30, k = 3, sizes 10, 10, 10, ")
    assert "links kept: 4 of 4 (must 2 of 2, cannot 2 of 2)" in err


def test_every_format_gives_the_same_labels(call):
    X = np.loadtxt("data.csv", delimiter=",", skiprows=1)[:, 1:]
    np.save("data.npy", X)
    np.savez("data.npz", X=X)
    Path("data.tsv").write_text(DATA.replace(",", "\t"))
    Path("rows.csv").write_text("0,3,must\n0,1,cannot\n")
    Path("rows.jsonl").write_text(
        '{"a": 0, "b": 3, "kind": "must"}\n{"a": 0, "b": 1, "kind": "cannot"}\n'
    )
    _, expected, _ = call("fit data.csv -k 3 --id none --columns x,y --links rows.csv")
    assert len(table(expected)) == 30
    for line in (
        "fit data.tsv -k 3 --id none --columns 1,2 --links rows.csv",
        "fit data.npy -k 3 --links rows.jsonl",
        "fit data.npz -k 3 --links rows.csv -o -",
    ):
        assert call(line)[:2] == (0, expected)
    assert call("fit - -k 3 --id none --columns x,y --links rows.csv", DATA.encode())[1] == expected
    for name in ("rows.csv", "rows.jsonl"):
        links = Path(name).read_bytes()
        assert call("fit data.npy -k 3 --links -", links)[1] == expected
    assert call("fit data.npy -k 3 --links rows.csv -o labels.npy")[0] == 0
    assert_array_equal(np.load("labels.npy"), list(table(expected).values()))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_and_is_repeatable(call, method):
    line = f"fit data.csv -k 3 --id-column id --links links.csv --standardize --method {method}"
    code, out, _ = call(line)
    assert code == 0
    assert len(table(out)) == 30
    assert call(f"{line} --seed 0")[1] == out


def test_standardize_makes_the_unit_of_a_column_irrelevant(call):
    rows = [line.split(",") for line in DATA.splitlines()[1:]]
    Path("scaled.csv").write_text("".join(f"{a},{float(x) * 1024},{y}\n" for a, x, y in rows))
    expected = call("fit data.csv -k 3 --id none --columns 1,2 --standardize")[1]
    assert call("fit scaled.csv -k 3 --columns 1,2 --standardize")[1] == expected


def test_json_tells_the_outcome_in_one_object(call):
    Path("links.csv").write_text(CONTRADICTION)
    line = "fit data.csv -k 3 --id-column id --links links.csv -o a.csv --json --method ccskl"
    code, out, err = call(line)
    assert code == 0
    report = json.loads(out)
    assert report.pop("seconds") >= 0
    broken = report.pop("violations")
    assert report["links"].pop("kept") + len(broken) == 5
    assert report["links"].pop("kept_must") + report["links"].pop("kept_cannot") == 5 - len(broken)
    assert {frozenset(pair) for pair in broken} <= {frozenset({"a", "b", "kind", "weight"})}
    assert sum(report.pop("sizes")) == 30
    assert report == {
        "method": "ccskl",
        "n": 30,
        "k": 3,
        "strays": 0,
        "links": {"given": 5, "must": 3, "cannot": 2},
        "dropped": 1,
        "suspects": [],
        "runners_up": [],
        "output": "a.csv",
    }
    assert err.count("\n") == 1


def test_no_answer_is_dropped_by_default_and_the_likely_wrong_ones_are_named(call):
    right = "".join(f"{a:03d},{a + 3:03d},must\n" for a in range(0, 24, 2))
    right += "".join(f"{a:03d},{a + 1:03d},cannot\n" for a in range(0, 24, 2))
    Path("links.csv").write_text(LINKS + right + "003,004,must\n")
    line = "fit data.csv --id-column id --links links.csv -o a.csv -k 3 --effort fast"
    code, out, _ = call(f"{line} --json")
    report = json.loads(out)
    assert (code, report["dropped"]) == (0, 0)
    assert [(p["a"], p["b"]) for p in report["suspects"]] == [("003", "004")]
    assert report["violations"] == [
        {key: value for key, value in p.items() if key != "probability"} for p in report["suspects"]
    ]
    assert "likely wrong: 003 must be with 004" in call(f"{line} --force")[2]


def test_the_number_of_clusters_may_be_left_to_the_data(call):
    line = "fit data.csv --id-column id --links links.csv -o a.csv --effort 60 --json --explain"
    _, out, err = call(line)
    assert json.loads(out)["k"] == 3
    assert "3 clusters; the runners-up" in err
    assert "Again: LinkClustering(n_clusters=3" in err


def test_a_contradiction_is_dropped_and_told(call):
    Path("links.csv").write_text(CONTRADICTION)
    line = "fit data.csv -k 3 --id-column id --links links.csv --quiet --method ccskl"
    code, out, err = call(line)
    assert code == 0
    assert len(table(out)) == 30
    assert err.startswith("linkwise: warning: dropped 1 of 5 constraints")
    assert "('000', '001') first" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("links", "k", "fragment"),
    [
        (CONTRADICTION, 3, f"the links cannot all hold in 3 clusters: {CONFLICT}"),
        (LINKS + "000,002,cannot\n", 2, "the links cannot all hold in 2 clusters"),
        ("000,001,cannot\n", 1, "in 1 cluster: 000 cannot be with 001"),
    ],
)
def test_strict_refuses_links_that_cannot_all_hold(call, links, k, fragment):
    Path("links.csv").write_text(links)
    line = f"fit data.csv --id-column id --links links.csv --strict -o labels.csv -k {k}"
    code, out, err = call(line)
    assert (code, out) == (4, "")
    assert err.startswith("linkwise: error: links.csv: ")
    assert fragment in err
    assert not Path("labels.csv").exists()
    assert call(f"check links.csv --strict -k {k}")[0] == 4
    assert call(f"check links.csv -k {k}")[0] == 0


@pytest.mark.parametrize("method", ["cop-kmeans", "agglomerative"])
@pytest.mark.parametrize(
    ("links", "k", "fragment"),
    [
        (CONTRADICTION, 3, f"the links cannot all hold in 3 clusters: {CONFLICT}"),
        (LINKS + "000,002,cannot\n", 2, "the links cannot all hold in 2 clusters: "),
    ],
)
def test_hard_methods_refuse_links_that_cannot_all_hold(call, method, links, k, fragment):
    Path("links.csv").write_text(links)
    line = f"fit data.csv --id id --links links.csv -o labels.csv -k {k} --method {method}"
    code, out, err = call(line)
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith("linkwise: error: links.csv: ")
    assert fragment in err
    assert f"or choose another --method: {method} keeps all links" in err
    assert not Path("labels.csv").exists()
    assert "choose another" not in call(f"{line} --strict")[2]


def test_strict_lets_through_what_can_hold(call):
    assert call("fit data.csv --id-column id --links links.csv --strict -k 3")[0] == 0
    assert call("check links.csv --strict -k 3")[0] == 0


BAD = {
    "fit none.csv -k 2": (3, "none.csv: no such file"),
    "fit folder.csv -k 2": (3, "folder.csv: is a folder"),
    "fit data.txt -k 2": (3, "data.txt: cannot tell the format"),
    "fit none -k 2": (3, "none: no such file or folder"),
    "label none": (3, "none: no such file or folder"),
    "fit data.csv -k 2 --links none.csv": (3, "none.csv: no such file"),
    "fit data.csv -k 2 --links folder.csv --id-column id": (3, "folder.csv: is a folder"),
    "fit data.csv -k 2 --links data.txt --id-column id": (3, "data.txt: cannot tell the format"),
    "fit words.csv -k 2": (3, "words.csv, line 3, column 'x': 'abc' is not a number"),
    "fit gap.csv -k 2 --missing refuse": (3, "gap.csv, line 2, column 1: the cell is empty"),
    "fit nan.csv -k 2 --missing refuse": (3, "nan.csv, line 2, column 0: the cell is empty"),
    "predict data.csv data.csv": (3, "data.csv is not a saved model"),
    "fit cut.csv -k 2": (3, "cut.csv, line 2: expected 2 fields"),
    "fit empty.csv -k 2": (3, "empty.csv is empty"),
    "fit latin.csv -k 2": (3, "latin.csv, line 1: not UTF-8"),
    "fit twice.csv -k 2 --id-column 0": (3, "twice.csv, line 2: the id 'a' stands on line 1"),
    "fit one.csv -k 1": (3, "one.csv has 1 row; clustering needs at least 2"),
    "fit bad.npy -k 2": (3, "bad.npy: not a readable .npy or .npz file"),
    "fit bad.npz -k 2": (3, "bad.npz: not a readable .npy or .npz file"),
    "fit pickle.npy -k 2": (3, "pickle.npy: not a readable .npy or .npz file"),
    "fit data.csv -k 2 --columns z": (3, "data.csv: no column 'z'"),
    "fit data.csv -k 2 --id-column z": (3, "data.csv: no column 'z'"),
    "fit data.csv -k 31 --id-column id": (
        3,
        "data.csv has 30 rows, too few for 31 clusters; -k is at most 30",
    ),
    "fit data.csv -k 2 --id none --columns x --links links.csv": (
        3,
        "'000' is not a row number of data.csv",
    ),
    "fit data.csv -k 2 --id none --columns x --links far.csv": (
        3,
        "link 0, 30: 30 is not a row number",
    ),
    "fit data.csv -k 2 --id none --columns x --links text.jsonl": (3, "'1' is not a row number"),
    "fit data.csv -k 2 --id-column id --links far.csv": (3, "0 is not an id in data.csv"),
    "fit data.csv -k 2 --id-column id --links self.csv": (3, "self.csv, line 1: 0 is paired"),
    "fit data.csv -k 2 --id-column id --links mixed.jsonl": (3, "mixed.jsonl"),
    "fit data.csv -k 2 --id-column id --links deep.jsonl": (3, "deep.jsonl"),
    "fit data.csv -k 2 --id-column id --links latin.csv": (3, "latin.csv, line 1: not UTF-8"),
    "fit data.csv -k 2 --id-column id -o none/a.csv": (3, "its folder does not exist"),
    "fit data.csv -k 2 --id-column id -o folder.csv": (3, "folder.csv is a folder"),
    "fit data.csv -k 2 --id-column id -o links.csv": (2, "links.csv exists; --force overwrites"),
    "fit data.csv -k 2 --id-column id -o data.csv --force": (2, "-o data.csv is an input"),
    "fit data.csv -k 2 --id-column id -o a.txt": (2, "expected a name that ends in .csv"),
    "fit data.csv -k 2 --id-column id --json": (2, "--json prints to stdout"),
    "fit data.csv -k 2 --id-column id --json -o -": (2, "--json prints to stdout"),
    "fit - --links - -k 2": (2, "both -"),
    "fit data.csv -k 0": (2, "argument -k: expected a number of clusters, 1 or more, or a range"),
    "fit data.csv -k two": (2, "from 2 on such as 2-12; got 'two'"),
    "fit data.csv -k 5-2": (2, "from 2 on such as 2-12; got '5-2'"),
    "label data.csv -k 1-3": (2, "from 2 on such as 2-12; got '1-3'"),
    "fit data.csv -k 2 --seed -1": (2, "argument --seed"),
    "fit data.csv -k 2 --method magic": (2, "argument --method: invalid choice: 'magic'"),
    "fit data.csv --method ccskl": (2, "ccskl needs the number of clusters, -k"),
    "fit data.csv --strict --id-column id --links clash.csv": (4, "the links cannot all hold: 000"),
    "fit data.csv --effort lots": (2, "--effort is fast, balanced, thorough or a number of"),
    "fit data.csv --effort 0": (2, "--effort is fast, balanced, thorough or a number of"),
    "fit data.csv -k 2 --method ccskl --effort fast": (2, "--effort is for link-clustering"),
    "fit data.csv -k 2 --method ccskl --explain": (2, "--explain is for link-clustering"),
    "fit data.csv -k 2 --colum x": (2, "unrecognized arguments: --colum"),
    "check": (2, "required: LINKS"),
    "check none.csv": (3, "none.csv: no such file"),
    "check empty.csv": (3, "empty.csv is empty"),
    "check - --data -": (2, "both -"),
    "check links.csv --id-column id": (2, "say how to read --data"),
    "check links.csv --data data.csv --id none --columns x": (3, "is not a row number of data.csv"),
    "check far.csv --data data.csv --id-column id": (3, "is not an id in data.csv"),
    "": (2, "required: COMMAND"),
    "magic": (2, "invalid choice: 'magic'"),
    "bench speed": (2, "benchmarks are run from a checkout: python -m benchmarks"),
}


@pytest.mark.parametrize("line", BAD)
def test_a_mistake_is_one_line_and_writes_nothing(call, here, line):
    Path("folder.csv").mkdir()
    Path("clash.csv").write_text(CONTRADICTION)
    Path("words.csv").write_text("x,y\n1,2\nabc,4\n")
    Path("gap.csv").write_text("1,2\n3,\n")
    Path("nan.csv").write_text("1,2\nnan,4\n")
    Path("cut.csv").write_text("1,2\n3")
    Path("empty.csv").write_text("")
    Path("latin.csv").write_bytes("é,1\n".encode("latin-1"))
    Path("twice.csv").write_text("a,1\na,2\n")
    Path("one.csv").write_text("1,2\n")
    Path("data.txt").write_text(DATA)
    Path("bad.npy").write_bytes(b"\x93NUMPY\x01\x00")
    Path("bad.npz").write_bytes(b"PK\x03\x04\x00")
    np.save("pickle.npy", np.array([[{}]]), allow_pickle=True)
    Path("far.csv").write_text("0,30,must\n")
    Path("self.csv").write_text("0,0,must\n")
    Path("text.jsonl").write_text('{"a": "1", "b": "2", "kind": "must"}\n')
    Path("mixed.jsonl").write_text('{"a": 1, "b": "x", "kind": "must"}\n')
    Path("deep.jsonl").write_text('{"a": ' + "[" * 100_000 + "\n")
    before = {path: path.is_dir() or path.read_bytes() for path in here.iterdir()}
    code, fragment = BAD[line]
    if line.startswith("fit data.csv -k 2") and " -o " not in line and "--json" not in line:
        line += " -o labels.csv"
    found, out, err = call(line)
    assert (found, out) == (code, "")
    assert err.startswith("linkwise: error: ")
    assert fragment in err
    assert err.count("\n") == 1
    assert before == {path: path.is_dir() or path.read_bytes() for path in here.iterdir()}


NOTE = (
    "linkwise: note: data.csv: the column 'id' is used as ids and not clustered by; --id none "
    "turns this off\n"
)


def test_a_column_of_ids_is_found_and_told(call):
    line = "fit data.csv -k 3 --links links.csv --method pck-means"
    code, expected, err = call(f"{line} --id id")
    assert (code, NOTE in err) == (0, False)
    code, out, err = call(line)
    assert (code, out, err.startswith(NOTE)) == (0, expected, True)
    assert call(f"{line} --quiet") == (0, expected, "")
    assert call("check links.csv --data data.csv")[2] == NOTE
    rows = call("fit data.csv -k 3 --id none --columns x,y --method pck-means")[1]
    assert rows.startswith("row,label\n")


@pytest.mark.parametrize(
    ("links", "words"),
    [
        (
            "0,3,must\n",
            "0 is not an id in data.csv; did you mean '000'? Ids are those of the column 'id'; "
            "with --id none links name row numbers (2 unknown ids in all)",
        ),
        ("000, 003,must\n", "' 003' is not an id in data.csv; did you mean '003'?"),
        (
            "000,zzz,must\n",
            "'zzz' is not an id in data.csv; correct the link, or remove it. Ids are those of",
        ),
    ],
)
def test_an_id_that_is_nearly_right_is_pointed_out(call, links, words):
    Path("links.csv").write_text(links)
    for line in ("fit data.csv -k 3 --links links.csv", "check links.csv --data data.csv"):
        code, out, err = call(line)
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert words in err
    _, _, err = call("fit data.csv -k 3 --id id --links links.csv")
    assert "is not an id in data.csv" in err
    assert "Ids are those of" not in err


def test_force_overwrites_the_output(call):
    Path("labels.csv").write_text("old")
    line = "fit data.csv -k 2 --id-column id -o labels.csv"
    assert call(line)[0] == 2
    assert Path("labels.csv").read_text() == "old"
    assert call(f"{line} --force")[0] == 0
    assert len(table(Path("labels.csv").read_text())) == 30


def test_no_command_overwrites_a_project_or_its_data(call, here):
    assert call("label data.csv --id id --terminal", b"s\nd\nq\n")[0] == 0
    Path("labels.csv").write_text("old")
    Path("copy.csv").write_bytes(Path("data.csv").read_bytes())
    before = {path: path.read_bytes() for path in here.iterdir()}
    fit = "fit copy.csv --id id -k 2 --method pck-means --force -o"
    for line, fault in (
        ("export data.linkwise --force -o data.csv", "data.csv is the data of the project data.l"),
        (f"{fit} data.csv", "data.csv is the data of the project"),
        ("export data.linkwise --force --labels copy.csv -o data.csv", "is the data of the proj"),
        ("export data.linkwise --force -o data.linkwise", "-o data.linkwise is an input"),
    ):
        code, out, err = call(line)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert fault in err
    Path("project.csv").write_bytes(Path("data.linkwise").read_bytes())
    assert "project.csv is a project of answers" in call(f"{fit} project.csv")[2]
    Path("project.csv").unlink()
    assert before == {path: path.read_bytes() for path in here.iterdir()}
    assert call(f"{fit} labels.csv")[0] == 0


@pytest.mark.parametrize("what", ["", "--labels data.csv", "--log"])
def test_export_to_stdout_is_the_table_alone(call, what):
    assert call("label data.csv --id id --terminal", b"s\nd\nq\n")[0] == 0
    code, _, told = call(f"export data.linkwise {what} -o table.csv")
    assert code == 0
    expected = Path("table.csv").read_bytes().decode()
    code, out, err = call(f"export data.linkwise {what} -o -")
    assert (code, out) == (0, expected)
    assert err == told.replace("table.csv", "stdout")


def test_models_projects_and_data_are_told_apart(call):
    import linkwise

    linkwise.save(linkwise.COPKMeans(), "m.lwmodel")
    assert call("label data.csv --id id --project p.linkwise --terminal", b"s\nq\n")[0] == 0
    for line, fault in {
        "fit m.lwmodel -k 2": "m.lwmodel is a saved model, not a table of points",
        "fit p.linkwise -k 2": "p.linkwise is a project of answers, not a table of points",
        "fit data.csv -k 2 --links m.lwmodel": "m.lwmodel is a saved model, not links",
        "check m.lwmodel": "m.lwmodel is a saved model, not links",
        "export m.lwmodel -o a.csv": "m.lwmodel is a saved model, not a project of answers",
        "label data.csv --project m.lwmodel": "m.lwmodel is a saved model, not a project of answ",
    }.items():
        code, out, err = call(line)
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert fault in err


def test_the_demonstration_overwrites_no_picture_of_a_project(call):
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.zeros((20, 20, 3), dtype=np.uint8)).save("digits.png")
    from linkwise.segment.project import KEPT, open_project

    open_project("digits.png", "digits.linkwise", dict.fromkeys(KEPT))[1].close()
    code, out, err = call("demo --out .")
    assert (code, out) == (2, "")
    assert "digits.png is the data of the project" in err


def test_the_summary_names_the_first_links_not_kept(call):
    pairs = [f"{3 * i:03d},{3 * i + 3:03d},cannot\n" for i in range(8)]
    Path("links.csv").write_text("".join(pairs))
    _, _, err = call("fit data.csv -k 1 --id-column id --links links.csv")
    assert "links kept: 0 of 8" in err
    assert "  not kept: 000 cannot be with 003\n" in err
    assert err.count("not kept") == 5
    assert "and 3 more" in err
    assert call("fit data.csv -k 1 --id-column id --links links.csv --quiet")[2] == ""


def test_warnings_are_one_line_each(call):
    Path("links.csv").write_text("".join(f"0,{i},cannot\n" for i in range(1, 9)))
    line = "fit data.csv -k 11 --id none --columns x,y --links links.csv --method signed --quiet"
    code, _, err = call(line)
    assert code == 0
    assert err.startswith("linkwise: warning: 11 clusters and mostly cannot-links (8 of 8)")
    assert err.count("\n") == 1
    assert call(line)[2] == err  # told every time


def test_check_counts_and_closes_the_links(call):
    code, out, err = call("check links.csv --data data.csv --id-column id")
    assert (code, err) == (0, "")
    assert out == (
        "links: 4 (must 2, cannot 2, repeated 0), points: 5\n"
        "groups joined by must-links: 3, largest: 2, pairs of groups apart: 2\n"
        "all can hold\n"
    )
    assert (
        "no contradiction found in 3 clusters (a search, not a proof)"
        in call("check links.csv -k 3")[1]
    )


def test_check_explains_a_contradiction(call):
    Path("links.csv").write_text(CONTRADICTION + "004,003,must\n")
    _, out, _ = call("check links.csv")
    assert f"cannot all hold: {CONFLICT} 001\n" in out
    report = json.loads(call("check links.csv --json")[1])
    pairs = report.pop("conflict_pairs")
    assert [pair["kind"] for pair in pairs] == ["must", "must", "must", "cannot"]
    assert report == {
        "pairs": 6,
        "must": 4,
        "cannot": 2,
        "points": 5,
        "repeated": 1,
        "groups": 2,
        "largest_group": 4,
        "groups_apart": 1,
        "contradicted": 1,
        "conflict": f"{CONFLICT} 001",
    }


def test_check_reads_standard_input(call):
    assert call("check -", b"0,1,must\n")[1].startswith("links: 1 (must 1,")
    assert call("check - --json", b'{"a": 0, "b": 1, "kind": "must"}')[0] == 0
    assert "standard input" in call("check -", b"0,0,must\n")[2]


def test_methods_lists_every_estimator(call):
    import linkwise.estimators

    rows = json.loads(call("methods --json")[1])
    assert {row["class"] for row in rows} == {*linkwise.estimators.__all__, "LinkClustering"}
    assert {row["links"] for row in rows} <= {"hard", "soft", "none"}
    out = call("methods")[1]
    assert all(str(value) in out for row in rows for value in row.values())
    assert max(map(len, out.splitlines())) <= 100


def suited(call, line):
    """Return the names of the methods that suit, in order, and the reasons against others."""
    found = json.loads(call(f"methods --json {line}")[1])
    return [row["name"] for row in found["methods"]], found["others"]


def test_methods_for_data_advises_by_rows_columns_zeros_and_time(call, here):
    rng = np.random.default_rng(0)
    np.save(here / "small.npy", rng.normal(size=(300, 4)))
    np.save(here / "wide.npy", rng.normal(size=(300, 200)) * (rng.random((300, 200)) < 0.05))
    np.save(here / "long.npy", np.zeros((300_000, 1), dtype=np.float32) + 1)
    names, others = suited(call, "--for small.npy")
    assert names[0] == "link-clustering"
    assert not others
    assert set(names) == set(METHODS)
    assert set(suited(call, "--for small.npy --hard")[0]) == {
        "link-clustering", "cop-kmeans", "agglomerative",
    }  # fmt: skip
    names, others = suited(call, "--for wide.npy")
    assert "takes no sparse matrix" in others["mpck-means"]
    assert "gaussian-mixture" not in names
    names, others = suited(call, "--for long.npy")
    assert "ccskl" in names
    assert "up to 10,000 rows" in others["agglomerative"]
    assert "link-clustering" not in suited(call, "--for long.npy --max-time 60")[0]
    code, out, _ = call("methods --for long.npy --max-time 10")
    assert code == 0
    assert out.startswith("long.npy: 300,000 rows, 1 columns, 0% zeros")
    assert "  practical up to 10,000 rows: optimal-kernel, kernel-kmeans, agglomerative\n" in out
    assert max(map(len, out.splitlines())) <= 100
    assert call("methods --hard")[::2] == (
        2,
        "linkwise: error: --hard and --max-time need --for DATA\n",
    )
    assert call("methods --for missing.csv")[0] == 3


def test_demo_runs_the_demonstration(call, monkeypatch):
    stand_in = types.ModuleType("linkwise.cli.demo")
    stand_in.run = lambda out: print(f"shown in {out}")
    monkeypatch.setitem(sys.modules, "linkwise.cli.demo", stand_in)
    assert call("demo")[:2] == (0, "shown in demo\n")
    assert call("demo --out there")[:2] == (0, "shown in there\n")


@pytest.mark.parametrize(
    ("error", "code", "fragment"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError("n_samples=9 needs 9 GiB"), 3, "needs 9 GiB"),
        (MemoryError(), 3, "MemoryError"),
        (MissingExtra("matplotlib", "plot"), 3, "pip install"),
        (PermissionError(13, "Permission denied", "x.csv"), 3, "x.csv: not permitted"),
    ],
)
def test_what_goes_wrong_underway_is_one_line(call, monkeypatch, error, code, fragment):
    def fail(_):
        raise error

    monkeypatch.setattr("linkwise.cli.fit.method_class", fail)
    found, out, err = call("fit data.csv -k 2 --id-column id -o labels.csv")
    assert (found, out) == (code, "")
    assert fragment in err
    assert err.count("\n") == 1
    assert not Path("labels.csv").exists()


def test_a_bug_is_not_hidden(call, monkeypatch):
    monkeypatch.setattr("linkwise.cli.fit.method_class", lambda _: None)
    with pytest.raises(AttributeError):
        call("fit data.csv -k 2 --id-column id")


def test_help_and_version_import_no_numpy():
    script = (
        "import sys; from linkwise.cli import main; "
        "codes = [main(['--help']), main(['fit', '--help']), main(['--version'])]; "
        "sys.exit(any(codes) or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fit" in done.stdout


def test_python_m_linkwise_is_the_command(here):
    line = [sys.executable, "-m", "linkwise", "fit", "-", "-k", "3", "--id-column", "id"]
    done = subprocess.run(line, input=DATA, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(table(done.stdout)) == 30
    line[3:] = ["fit", "none.csv", "-k", "3"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "linkwise: error: none.csv: no such file or folder; check the path\n"


def test_a_reader_that_leaves_is_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "linkwise", "methods"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("command", ["methods", "fit data.csv -k 3 --id id", "check links.csv"])
def test_closed_output_is_told(here, command):
    done = subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -m linkwise {command} >&-"], capture_output=True
    )
    assert done.returncode == 3
    assert done.stderr.startswith(b"linkwise: error: standard output is closed")
    assert done.stderr.count(b"\n") == 1


def test_labels_on_stdout_are_utf8_and_alone_whatever_the_locale(here):
    Path("data.csv").write_text(DATA.replace("005", "\U0001f600"), encoding="utf-8")
    line = "fit data.csv -k 3 --id id --method pck-means"
    env = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        ["bash", "-c", f"exec {sys.executable} -m linkwise {line} 2>&-"],
        capture_output=True,
        env=env,
    )
    assert done.returncode == 0
    assert "\U0001f600" in table(done.stdout.decode())


def test_the_demonstration_needs_its_folder_before_it_works(call):
    code, out, err = call("demo --out data.csv")
    assert (code, out) == (2, "")
    assert err == "linkwise: error: data.csv: is a file; name a folder\n"


def mutated(raw):
    """Draw bytes like raw, with a slice of it replaced by others."""
    place = st.integers(0, len(raw))
    return st.builds(
        lambda a, b, new: raw[: min(a, b)] + new + raw[max(a, b) :],
        place,
        place,
        st.binary(max_size=8) | st.sampled_from([b",", b"\n", b'"', b"1e300", b"0"]),
    )


def saved(save, *args, **kwargs):
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


SMALL = np.arange(8.0).reshape(4, 2)
SAMPLES = {
    ".csv": b"x,y\n1,2\n3,4\n5,6\n",
    ".tsv": b"1\t2\n3\t4\n5\t6\n",
    ".npy": saved(np.save, SMALL),
    ".npz": saved(np.savez, X=SMALL, id=np.arange(4)),
}
PAIRS = {
    ".csv": b"id_a,id_b,kind,weight\n0,1,must,1\n1,2,cannot,2\n",
    ".tsv": b"0\t1\tmust\n1\t2\tcannot\n",
    ".jsonl": b'{"a": 0, "b": 1, "kind": "must"}\n{"a": 1, "b": 2, "kind": "cannot"}\n',
}


def of(samples):
    return st.sampled_from(sorted(samples)).flatmap(
        lambda suffix: st.tuples(st.just(suffix), st.binary() | mutated(samples[suffix]))
    )


@pytest.mark.slow
@given(data=of(SAMPLES), links=of(PAIRS), k=st.integers(1, 3), strict=st.booleans())
@settings(max_examples=150)
def test_no_bytes_give_a_traceback(data, links, k, strict, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    good, bad = folder / "good.csv", folder / f"data{data[0]}"
    pairs, output = folder / f"links{links[0]}", folder / "labels.csv"
    good.write_bytes(SAMPLES[".csv"])
    bad.write_bytes(data[1])
    pairs.write_bytes(links[1])
    options = ["--strict"] if strict else []
    for line in (
        ["fit", bad, "-k", k, "-o", output, "--force"],
        ["fit", good, "-k", k, "--links", pairs, *options],
        ["check", pairs, "--data", bad, "-k", k, *options],
    ):
        err = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            code = main([str(word) for word in line])
        assert code in {0, 2, 3, 4}
        assert "Traceback" not in err.getvalue()
        if line[1] == bad:
            assert output.exists() == (code == 0)


def walk(parser):
    """Yield the names of all commands and flags of a parser."""
    for action in parser._actions:
        yield from (flag for flag in action.option_strings if flag not in ("-h", "--help"))
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield sub.prog
                yield from walk(sub)


@pytest.mark.parametrize("name", sorted({*walk(parser()), *METHODS}))
def test_the_manual_names_every_command_flag_and_method(name):
    assert re.search(rf"`(linkwise )?{name}[` ]", DOCS.read_text())


def test_points_in_a_file_are_clustered_through_anchors(call, here):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 4), dtype=np.float32) + 9 * np.repeat(np.eye(3, 4), 300, axis=0)
    np.save("X.npy", X.astype(np.float32))
    (here / "l.csv").write_text("id_a,id_b,kind\n0,299,must\n0,300,cannot\n")
    line = "fit X.npy --links l.csv -k 3 --anchors 60 -o labels.npy"
    assert call(line)[0] == 0
    labels = np.load("labels.npy")
    assert labels.dtype == np.int32  # written block by block
    assert len(np.unique(labels.reshape(3, 300), axis=1).T) == 1
    code, _, err = call(line)
    assert (code, "--force overwrites it" in err) == (2, True)
    assert call(f"{line} --force --quiet") == (0, "", "")
    assert call("fit X.npy -k 3 --affinity anchors -o labels.csv --columns 0,1")[0] == 0
    assert sorted(p.name for p in here.iterdir() if p.name[0] == ".") == []


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ("--affinity anchors --max-memory 1kB", 3, "needs about"),
        ("--affinity rbf --max-time 1", 3, "takes about"),
        ("--affinity sideways", 3, "affinity"),
        ("--affinity rbf --anchors 5", 2, "--anchors goes with --affinity anchors"),
        ("--method cop-kmeans --anchors 5", 2, "--affinity is for spectral methods"),
        ("--max-memory lots", 3, "a size is a number of bytes"),
    ],
)
def test_what_a_fit_may_cost_is_said_beforehand(call, options, code, words, monkeypatch):
    monkeypatch.setattr("linkwise.blocks.cost.product_rate", lambda: 1e6)
    np.save("X.npy", np.random.default_rng(0).standard_normal((200, 2)))
    found, _, err = call(f"fit X.npy -k 2 -o labels.csv {options}")
    assert found == code
    assert words in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_long_fit_is_interrupted_without_a_trace(here):
    X = np.lib.format.open_memmap("X.npy", "w+", np.float32, (3_000_000, 16))
    X[:] = np.random.default_rng(0).standard_normal((1000, 16)).repeat(3000, axis=0)
    X.flush()
    line = [sys.executable, "-m", "linkwise", "fit", "X.npy", "-k3", "--anchors=900", "-ol.npy"]
    process = subprocess.Popen(
        line, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # maybe ignored here
    )  # fmt: skip
    while not list(here.glob(".*.npy")):  # the labels have a file: the fit has begun
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().endswith("interrupted")
    assert sorted(p.name for p in here.iterdir()) == ["X.npy", "data.csv", "links.csv"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "X.npy: no such file or folder; check the path"),
        (b"\x93NUMPY", "X.npy is not a whole .npy"),
    ],
)
def test_a_file_that_is_not_read_whole_is_refused_in_the_same_words(call, here, content, words):
    if content:
        (here / "X.npy").write_bytes(content)
    code, _, err = call("fit X.npy -k 2 --affinity anchors -o labels.npy")
    assert code == 3
    assert words in err
