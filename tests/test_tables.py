"""Laws of reading points and writing labels."""

import io
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from linkwise._files import write_whole
from linkwise.journal import Journal, describe
from linkwise.tables import check_output, label_bytes, map_points, read_points, write_labels
from linkwise.tables.table import BATCH

finite = st.floats(-1e150, 1e150)
# No lone surrogates: they are not text.
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@pytest.fixture
def save(tmp_path):
    """Write text, bytes or arrays to a file, and return its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        if isinstance(content, dict):
            np.savez(path, **content)
        elif isinstance(content, np.ndarray):
            np.save(path, content)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@given(X=arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 3)), elements=finite))
def test_numbers_are_read_as_they_were_written(X, tmp_path_factory):
    path = tmp_path_factory.mktemp("points") / "data.tsv"
    path.write_text("\n".join("\t".join(map(repr, row)) for row in X.tolist()))
    assert_array_equal(read_points(str(path)).X, X)


@given(ids=st.lists(names, min_size=1, max_size=4, unique=True))
def test_ids_that_were_written_are_read_again(ids, tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    write_labels(path, np.arange(len(ids)), ids)
    points = read_points(str(path), id_column="id")
    assert points.ids == ids
    assert_array_equal(points.X.ravel(), np.arange(len(ids)))


@pytest.mark.parametrize(
    "text",
    ["1,2\n3,4\n", "x,y\n1,2\n3,4", "\ufeffx,y\r\n1, 2\r\n3,4\r\n\r\n", '"x","y"\n1,2\n3,"4"\n'],
)
def test_one_table_may_be_written_in_many_ways(save, text):
    points = read_points(save(text))
    assert_array_equal(points.X, [[1, 2], [3, 4]])
    assert points.ids is None


def test_columns_go_by_name_or_number(save):
    path = save("id,x,word,y\n007,1,one,2\n7,3,two,4\n")
    for asked in (["x", "y"], ["1", "3"]):
        points = read_points(path, id_column="id", columns=asked)
        assert points.ids == ["007", "7"]
        assert_array_equal(points.X, [[1, 2], [3, 4]])
    assert_array_equal(read_points(path, columns=["y", "x"]).X, [[2, 1], [4, 3]])


def test_a_name_goes_before_a_number(save):
    assert_array_equal(read_points(save("a,0\n1,2\n"), columns=["0"]).X, [[2]])


def test_a_column_asked_for_by_name_makes_the_first_line_a_header(save):
    points = read_points(save("id,2019,2020\na,1,2\n"), id_column="id")
    assert_array_equal(points.X, [[1, 2]])


def test_a_header_with_a_number_in_it_is_told(save):
    with pytest.warns(UserWarning, match=r"line 1 was read as a header, .* number 2019"):
        assert len(read_points(save("x,2019\n1,2\n")).X) == 1


def test_long_files_are_read_to_the_end(save):
    n = 2 * BATCH + 1
    points = read_points(save("".join(f"{i},p{i}\n" for i in range(n))), id_column="1")
    assert_array_equal(points.X.ravel(), np.arange(n))
    assert points.ids[-1] == f"p{n - 1}"


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("x,y\n", "a header but no rows"),
        ("x,y\n1,2\n3,abc\n", "line 3, column 'y': 'abc' is not a number"),
        ("1,2\n3,1_0\n", "line 2, column 1: '1_0' is not a number"),
        ("1,2\n-inf,4\n", "line 2, column 0: -inf is not a finite number"),
        ("1,2\n1e200,4\n", "line 2, column 0: 1e+200 is not within"),
        ("1,2\n3,4,5\n", "line 2: expected 2 fields as in the first line, got 3"),
        ("x,y\n1,2\n3", "line 3: expected 2 fields as in the first line, got 1"),
        ("1\n\n2\n", "line 2: blank"),
        ('1,2\n3,"4', "line 2: unexpected end of data; the file may be cut short"),
        (b"1,2\n3,\xff\n", "line 2: not UTF-8"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(save, text, fragment):
    with pytest.raises(ValueError, match=r"data\.csv") as caught:
        read_points(save(text))
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "fragment"),
    [
        ({"columns": ["z"]}, "no column 'z'; the columns are 'id', 'x', 'x', or by number 0..2"),
        ({"columns": ["3"]}, "no column '3'"),
        ({"columns": ["x"]}, "2 columns are called 'x'"),
        ({"columns": ["1", "1"]}, "name one column twice"),
        ({"columns": []}, "no column is left"),
        ({"id_column": "name"}, "no column 'name'"),
        ({"id_column": "id"}, "line 3: the id 'a' stands on line 2 as well"),
    ],
)
def test_columns_that_cannot_be_are_refused(save, asked, fragment):
    with pytest.raises(ValueError, match=r"data\.csv") as caught:
        read_points(save("id,x,x\na,1,2\na,3,4\n"), **asked)
    assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("text", "mark", "asked"),
    [
        ("id;x;y\na;1;2\n", "';'", {"id_column": "id"}),
        ("1;2\n3;4\n", "';'", {"columns": ["0"]}),
        ("id;x;y\na;1,5;2,5\n", "';'", {"id_column": "id"}),
        ("id\tx\na\t1\n", r"'\\t'", {"id_column": "id"}),
    ],
)
def test_another_separator_is_told(save, text, mark, asked):
    with pytest.raises(ValueError, match=f"fields seem to be separated by {mark}"):
        read_points(save(text), **asked)


@pytest.mark.parametrize("name", ["data.csv", "data.npy"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    for look in (read_points, map_points, lambda path: check_output(path, force=True)):
        with pytest.raises(ValueError, match="is a pipe or a device; name a file"):
            look(str(tmp_path / name))


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("id", "1 2 3"),
        ("ID", "a b c"),
        ("sample_id", "007 7 8"),
        ("Sample Id", "1.0 2.0 3.0"),
        ("PassengerId", "1 2 3"),
        ("index", "0 1 2"),
        ("KEY", "x y 3"),
        ("", "0 1 2"),  # as pandas writes an index
        ("Unnamed: 0", "0 1 2"),  # and what it calls one that it has read
    ],
)
def test_what_is_plainly_an_id_names_the_rows(save, header, cells):
    ids = cells.split()
    path = save(f"{header},x\n" + "".join(f"{name},{i}\n" for i, name in enumerate(ids)))
    points = read_points(path)
    assert (points.ids, points.recognised) == (ids, header)
    assert_array_equal(points.X, [[0], [1], [2]])
    asked = read_points(path, id_column=header)
    assert (asked.ids, asked.recognised) == (ids, None)


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("id", "1 2 2"),  # what a row belongs to
        ("id", "1.5 2.5 3"),
        ("grid", "1 2 3"),
        ("paid", "1 2 3"),
        ("heat_index", "1 2 3"),
        ("x", "1 2 3"),
        ("", "0.5 1.5 2.5"),
    ],
)
def test_what_is_not_plainly_an_id_is_clustered_by(save, header, cells):
    path = save(f"{header},y\n" + "".join(f"{cell},0\n" for cell in cells.split()))
    points = read_points(path)
    assert (points.ids, points.recognised) == (None, None)
    assert_array_equal(points.X[:, 0], [float(cell) for cell in cells.split()])


def test_a_column_called_id_goes_before_other_ids(save):
    path = save("batch_id,id,x\n1,a,0\n2,b,1\n", "points.csv")
    assert read_points(path, columns=["x"]).recognised == "id"
    assert read_points(save("batch_id,ID,x\n1,1,0\n2,1,1\n")).recognised == "batch_id"


def test_ids_are_not_recognised_where_the_user_says_otherwise(save):
    path = save("id,x\n5,1\n6,2\n")
    assert_array_equal(read_points(path, id_column="none").X, [[5, 1], [6, 2]])
    assert_array_equal(read_points(path, columns=["id", "x"]).X, [[5, 1], [6, 2]])
    assert read_points(path, columns=["0"]).ids is None
    assert read_points(path, columns=["x"]).ids == ["5", "6"]
    assert read_points(save("id\n5\n6\n")).ids is None  # what else would be clustered by
    named = save({"X": np.eye(2), "id": ["a", "b"]}, "y.npz")
    assert read_points(named).recognised == "id"
    assert read_points(named, id_column="none").ids is None
    assert read_points(save(np.eye(2), "x.npy"), id_column="none").ids is None


def test_an_empty_id_is_refused(save):
    with pytest.raises(ValueError, match="line 1: the id is empty"):
        read_points(save(",1\nb,2\n"), id_column="0")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "?", "f2"])
def test_float32_stays_and_all_else_becomes_float64(save, dtype):
    X = read_points(save(np.ones((3, 2), dtype=dtype), "x.npy")).X
    assert X.dtype == (np.float32 if dtype == "f4" else np.float64)
    assert_array_equal(X, np.ones((3, 2)))


def test_an_npz_holds_x_and_perhaps_ids(save):
    X = np.eye(2)
    assert_array_equal(read_points(save({"points": X, "other": X[0]}, "x.npz")).X, X)
    named = save({"X": X, "wide": X, "id": ["007", "7"], "code": [3, 4]}, "y.npz")
    assert read_points(named).ids == ["007", "7"]
    assert read_points(named, id_column="code").ids == ["3", "4"]
    assert_array_equal(read_points(named, columns=["1"]).X, X[:, 1:])


@pytest.mark.parametrize(
    ("content", "asked", "fragment"),
    [
        (np.ones(3), {}, "X must be numbers of shape (n, d), got float64 of shape (3,)"),
        (np.ones((0, 2)), {}, "of shape (0, 2)"),
        (np.array([["a"]]), {}, "must be numbers"),
        (np.ones((2, 2), dtype=complex), {}, "must be numbers"),
        (np.array([[1, np.nan]]), {"missing": "refuse"}, "row 0, column 1: the cell is empty"),
        (np.array([[1, np.inf]]), {}, "row 0, column 1: inf is not a number within"),
        (np.array([[1, 1e16]], dtype="f4"), {}, "is not a number within ±1e+15"),
        (np.ones((2, 2)), {"columns": ["x"]}, "no column 'x'; give a number 0..1"),
        (np.ones((2, 2)), {"id_column": "id"}, "no array 'id'"),
        (np.array([[{}]]), {}, "not a readable .npy or .npz file"),
        ({"a": np.eye(2), "b": np.eye(2)}, {}, "2 of its arrays have two dimensions"),
        ({"X": np.eye(2), "id": [1, 1]}, {}, "'1' names the rows 0 and 1"),
        ({"X": np.eye(2), "id": [1.0, 2.0]}, {}, "id must be 2 integers or strings"),
        ({"X": np.eye(2), "id": ["a"]}, {}, "id must be 2 integers or strings"),
        ({"X": np.eye(2), "id": ["a", ""]}, {}, "the id of row 1 is empty"),
        (b"", {}, "not a readable .npy or .npz file"),
        (b"PK\x03\x04 cut short", {}, "not a readable .npy or .npz file"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", {}, "not a readable .npy or .npz file"),
    ],
)
def test_arrays_that_cannot_be_points_are_refused(save, content, asked, fragment):
    path = save(content, "x.npz" if isinstance(content, dict) else "x.npy")
    with pytest.raises(ValueError, match=r"x\.np") as caught:
        read_points(path, **asked)
    assert fragment in str(caught.value)


def test_an_unknown_suffix_is_refused(save):
    with pytest.raises(ValueError, match=r"cannot tell the format; name it \.csv"):
        read_points(save("1,2\n", "data.txt"))


def test_labels_have_a_header_and_one_line_per_point():
    assert label_bytes(".csv", np.array([1, 0])) == b"row,label\n0,1\n1,0\n"
    assert label_bytes(".tsv", np.array([1]), ["007"]) == b'id\tlabel\n"007"\t1\n'


def test_npy_labels_are_the_labels(tmp_path):
    write_labels(tmp_path / "labels.npy", np.array([1, 0, 2]))
    assert_array_equal(np.load(tmp_path / "labels.npy"), [1, 0, 2])


def test_nothing_is_overwritten_unless_asked(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("old")
    with pytest.raises(FileExistsError, match="--force"):
        write_labels(path, np.array([0]))
    assert path.read_text() == "old"
    write_labels(path, np.array([0]), force=True)
    assert path.read_text() == "row,label\n0,0\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "labels.csv"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match=r"labels\.csv was not written: No space left"):
        write_labels(path, np.array([0]), force=True)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_output_that_cannot_be_written_is_refused_beforehand(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="is a folder"):
        check_output(tmp_path, force=True)
    with pytest.raises(ValueError, match="folder does not exist"):
        check_output(tmp_path / "none" / "labels.csv")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ValueError, match="folder is not writable"):
        check_output(tmp_path / "labels.csv")


@pytest.fixture
def project(tmp_path):
    """A project that stands on points.csv, in a folder of its own."""
    (tmp_path / "points.csv").write_text("1,2\n3,4\n")
    path = tmp_path / "answers.linkwise"
    with Journal(path, data=describe(tmp_path / "points.csv", 2)) as journal:
        journal.answer(0, 1, True)
    return path


def test_a_project_is_never_overwritten(project):
    before = project.read_bytes()
    renamed = project.with_suffix(".csv")
    renamed.write_bytes(before)
    for path in (project, renamed):
        with pytest.raises(FileExistsError, match="is a project of answers, and is never"):
            check_output(path, force=True)
        with pytest.raises(FileExistsError, match="is a project of answers, and is never"):
            write_whole(path, b"anything")
        assert path.read_bytes() == before


def test_the_data_of_a_project_are_never_overwritten(project, tmp_path):
    points, fault = tmp_path / "points.csv", r"is the data of the project .*answers\.linkwise"
    with pytest.raises(FileExistsError, match=fault):
        check_output(points, force=True)
    points.rename(tmp_path / "renamed.csv")  # known by its content
    with pytest.raises(FileExistsError, match=fault):
        check_output(tmp_path / "renamed.csv", force=True)
    points.write_text("5,6\n7,8\n")  # known by its name beside the project
    with pytest.raises(FileExistsError, match=fault):
        check_output(points, force=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "renamed.csv").rename(elsewhere / "points.csv")
    with pytest.raises(FileExistsError, match=fault):
        check_output(elsewhere / "points.csv", force=True, projects=[project])
    (elsewhere / "points.csv").write_text("0\n")  # another file of that name
    check_output(elsewhere / "points.csv", force=True, projects=[project])


def test_a_damaged_project_protects_the_file_of_its_name(project, tmp_path):
    damaged = tmp_path / "old.linkwise"
    damaged.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000)
    for name in ("old.csv", "other.csv"):
        (tmp_path / name).write_text("0\n")
    with pytest.raises(FileExistsError, match=r"is the data of the project .*old\.linkwise"):
        check_output(tmp_path / "old.csv", force=True)
    check_output(tmp_path / "other.csv", force=True)


def test_closed_standard_input_is_told(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        read_points("-")


def test_standard_input_is_csv(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x\n1\n2\n")))
    assert_array_equal(read_points("-").X, [[1], [2]])
