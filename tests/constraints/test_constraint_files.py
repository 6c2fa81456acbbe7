"""Laws of reading and writing pairs."""

import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.constraints import Constraints

numbers = st.integers(-(2**63), 2**63 - 1)
# No lone surrogates: they are not text. A letter in front: "7" would be read as the number 7.
texts = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: "p" + text)
weights = st.floats(0, 1e300)


def rows_of(ids):
    row = st.tuples(ids, ids, st.sampled_from([1, -1]), weights).filter(lambda r: r[0] != r[1])
    return st.lists(row, max_size=6)


@given(rows_of(numbers) | rows_of(texts), st.sampled_from(["csv", "tsv", "jsonl"]))
@settings(deadline=None, max_examples=200)
def test_reading_gives_what_was_written(rows, form):
    links = Constraints.from_table(rows)
    file = io.StringIO(newline="")
    links.write(file, format=form)
    file.seek(0)
    assert list(Constraints.read(file, format=form)) == list(links)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".ndjson", ".CSV"])
def test_paths_are_written_whole_and_leave_nothing_else(tmp_path, suffix):
    links = Constraints([("b", 'a "quoted", id')], [("b", "=1+1")], must_weight=0.1)
    path = tmp_path / f"links{suffix}"
    path.write_text("something older")
    links.write(path)
    assert Constraints.read(str(path)) == links
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        Constraints([("a", "\ud800")]).write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "text",
    [
        "id_a,id_b,kind,weight\n0,5,must,1\n0,9,cannot,2\n",
        "\ufeffweight,note,KIND,id_b, ID_A\r\n1,hello,Same,5,0\r\n\r\n2,,Different,9,0",
        "0,5,1,1\n0,9,-1,2\n",
        "a,b,sign,weight\n0, 5,must,1\n0, 9 ,cannot,2\n",
    ],
)
def test_one_table_may_be_written_in_many_ways(tmp_path, text):
    path = tmp_path / "links.csv"
    path.write_bytes(text.encode())
    assert Constraints.read(path) == Constraints([(0, 5)], [(0, 9)], cannot_weight=2)


def test_weight_may_be_left_out():
    text = '{"a": 0, "b": 5, "kind": "must"}\n\n{"id_a": 0, "id_b": 9, "sign": -1}\n'
    expected = Constraints([(0, 5)], [(0, 9)])
    assert Constraints.read(io.StringIO(text), format="jsonl") == expected
    assert Constraints.read(io.StringIO("0,5,must\n0,9,cannot"), format="csv") == expected
    assert Constraints.read(io.BytesIO(b"0,5,must\n0,9,cannot"), format="csv") == expected


def test_a_header_alone_is_no_pairs():
    assert not Constraints.read(io.StringIO("id_a,id_b,kind\n"), format="csv")


def test_ids_are_integers_only_if_all_are():
    def ids(text):
        return Constraints.read(io.StringIO(text), format="csv").ids.tolist()

    assert ids("1,2,must") == [1, 2]
    assert ids("1,02,must") == ["02", "1"]
    assert ids("1,b,must") == ["1", "b"]
    assert ids("a,b,must") == ["a", "b"]
    assert ids(f"1,{2**63},must") == ["1", str(2**63)]


@pytest.mark.parametrize(
    ("name", "text", "fragment"),
    [
        ("x.csv", "", "x.csv is empty"),
        ("x.csv", "\n\n", "x.csv is empty"),
        ("x.csv", "id_a,id_b,kind\n0,1,must\n0,5", "line 3: expected 3 fields, got 2: .*cut short"),
        ("x.csv", "id_a,id_b,kind\n0,1,must\n0,5,mus", "line 3: kind must be .*got 'mus'"),
        ("x.csv", 'id_a,id_b,kind\n"a\nb",c,must\n\nd,e,?\n', "line 5: kind must be"),
        ("x.csv", 'id_a,id_b,kind\na,"b', "line 2: unexpected end of data"),
        ("x.csv", "id_a,id_b\n0,1\n", "line 1: neither a header nor a pair"),
        ("x.csv", "0,1,mst\n0,2,must\n", "line 1: neither a header nor a pair"),
        ("x.csv", "0,1,must\n3,3,must\n", "line 2: 3 is paired with itself"),
        ("x.csv", "a,b,must\n,b,must\n", "line 2: an id is missing"),
        ("x.csv", "0,1,must,1\n0,2,must,x\n", "line 2: weight must be a number >= 0, got 'x'"),
        ("x.csv", "0,1,must,1\n0,2,must,\n", "line 2: weight must be a number"),
        ("x.csv", "0,1,must,nan\n", "line 1: weight must be finite"),
        ("x.jsonl", '{"a": 0, "b": 1, "kind": "must"}\n{"a": 0,', "line 2: expected an object"),
        ("x.jsonl", "[0, 1]\n", "line 1: expected an object"),
        ("x.jsonl", '{"a": 0, "b": 1}\n', "line 1: kind must be"),
        ("x.jsonl", '{"a": 0, "kind": "must"}\n', "line 1: an id is missing"),
        ("x.txt", "0,1,must", "cannot tell the format"),
        (
            "x.csv",
            "id_a,id_b,kind,Kind\n0,1,must,cannot\n",
            "line 1: two columns are called 'kind'",
        ),
        ("x.csv", "id_a,a,a,id_b,kind\n0,1,2,3,must\n", "line 1: two columns are called 'a'"),
        ("x.csv", "id_a;id_b;kind\n0;1;must\n", "line 1: .*fields seem to be separated by ';'"),
    ],
)
def test_bad_lines_are_named(tmp_path, name, text, fragment):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=fragment) as caught:
        Constraints.read(path)
    assert name in str(caught.value)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="is a pipe or a device; name a file"):
        Constraints.read(tmp_path / "x.csv")


def test_other_encodings_are_refused(tmp_path):
    path = tmp_path / "links.csv"
    path.write_bytes("id_a,id_b,kind\nä,b,must\n".encode("latin-1"))
    with pytest.raises(ValueError, match="line 2: not UTF-8"):
        Constraints.read(path)


def test_formats_are_named():
    with pytest.raises(ValueError, match="format must be 'csv'"):
        Constraints.read(io.StringIO("0,1,must"), format="xml")
    with pytest.raises(ValueError, match="cannot tell the format"):
        Constraints.read(io.StringIO("0,1,must"))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_two_hundred_thousand_pairs_come_back(tmp_path, suffix):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 100_000, 200_000)
    links = Constraints(np.stack([a, a + 100_000], axis=1))
    links.write(tmp_path / f"links{suffix}")
    assert Constraints.read(tmp_path / f"links{suffix}") == links
