"""Laws of the data sets by name."""

import json
import types

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import fetch_openml as FETCH_OPENML
from sklearn.utils._param_validation import validate_parameter_constraints

from linkwise import datasets
from linkwise.cli import main


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """No folder is set, and nothing is fetched."""
    monkeypatch.delenv("LINKWISE_DATA", raising=False)

    def offline(**_):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    monkeypatch.setattr("sklearn.datasets.fetch_olivetti_faces", offline)


def answer(monkeypatch, X, y):
    """Let OpenML answer every question with these points; return what it was asked."""
    asked = []

    def fetch_openml(**question):
        asked.append(question)
        return types.SimpleNamespace(data=X, target=y)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return asked


def test_a_set_comes_from_the_folder_named_first(tmp_path, monkeypatch):
    for number, name in enumerate(("given", "environment")):
        (tmp_path / name).mkdir()
        np.savez(tmp_path / name / "iris.npz", X=np.full((2, 1), number), y=[0, 1])
    monkeypatch.setenv("LINKWISE_DATA", str(tmp_path / "environment"))
    assert datasets.load("iris", data=tmp_path / "given").X[0, 0] == 0
    assert datasets.load("iris").X[0, 0] == 1
    monkeypatch.delenv("LINKWISE_DATA")
    assert datasets.load("iris").X.shape == (150, 4)  # scikit-learn's


def test_a_set_that_is_nowhere_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"'sonar' not found.* has no sonar\.npz.*network"):
        datasets.load("sonar", data=tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder was given, and no program fetches"):
        datasets.load("protein")
    with pytest.raises(FileNotFoundError, match="'nonsense' not found: no folder was given;"):
        datasets.load("nonsense")


def test_offline_means_no_question(monkeypatch):
    asked = answer(monkeypatch, np.ones((2, 1)), np.array(["a", "b"]))
    with pytest.raises(FileNotFoundError):
        datasets.load_arrays("sonar", online=False)
    assert not asked


def test_openml_answers_by_number_with_classes_numbered(monkeypatch):
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [3.0, 4.0], [5.0, 6.0]])
    asked = answer(monkeypatch, X, np.array(["10", "9", "9", "10"]))
    found = datasets.load("hepatitis")
    assert asked[0]["data_id"] == 55
    allowed = FETCH_OPENML._skl_parameter_constraints
    validate_parameter_constraints(allowed, asked[0], "fetch_openml")
    assert_array_equal(found.X, X[[0, 2, 3]])  # complete rows
    assert_array_equal(found.y, [1, 0, 1])  # by value, not by spelling


def test_missing_ages_of_dermatology_become_the_median(monkeypatch):
    X = np.array([[1.0, 20.0], [2.0, np.nan], [3.0, 40.0]])
    answer(monkeypatch, X, np.array(["a", "b", "a"]))
    found = datasets.load_arrays("dermatology")
    assert_allclose(found["X"][:, 1], [20, 30, 40])
    assert_array_equal(found["age_imputed"], [False, True, False])


def test_vowel_has_ten_features_and_tells_its_test_part(monkeypatch):
    X = np.hstack([[[0, 1, 0], [1, 2, 1]], np.arange(20.0).reshape(2, 10)])
    answer(monkeypatch, X, np.array(["hid", "hId"]))
    found = datasets.load_arrays("vowel")
    assert_array_equal(found["X"], X[:, 3:])
    assert_array_equal(found["is_test"], [0, 1])


def test_faces_are_halved(monkeypatch):
    faces = np.zeros((2, 64, 64))
    faces[1, :, ::2] = 1.0  # half of each square of four
    answered = types.SimpleNamespace(images=faces, target=np.array([3, 5]))
    monkeypatch.setattr("sklearn.datasets.fetch_olivetti_faces", lambda: answered)
    X, y = datasets.load("orl_32x32")
    assert X.shape == (2, 1024)
    assert_array_equal(np.unique(X[1]), [128])
    assert_array_equal(y, [0, 1])


def test_counts_of_words_come_as_a_sparse_matrix(tmp_path):
    counts = sparse.csr_matrix(np.array([[0, 2], [3, 0]]))
    np.savez(
        tmp_path / "text.npz", data=counts.data, indices=counts.indices.astype(np.uint16),
        indptr=counts.indptr, shape=counts.shape, y=[0, 1], classes=["a", "b"],
    )  # fmt: skip
    found = datasets.load_arrays("text", data=tmp_path)
    assert sparse.issparse(found["X"])
    assert_array_equal(found["X"].toarray(), counts.toarray())
    assert list(found["classes"]) == ["a", "b"]


@pytest.mark.parametrize("content", [b"", b"PK", b"x" * 100])
def test_a_file_that_is_no_archive_is_refused_in_words(tmp_path, content):
    (tmp_path / "mine.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"mine\.npz: not a readable \.npz file of numbers"):
        datasets.load("mine", data=tmp_path)


def test_a_file_without_points_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", Z=np.ones(3))
    with pytest.raises(ValueError, match=r"no arrays X and y; it has Z"):
        datasets.load("other", data=tmp_path)


def test_the_command_lists_what_is_there_and_how_to_get_the_rest(tmp_path, capsys):
    np.savez(tmp_path / "own.npz", X=np.ones((2, 1)), y=[0, 1])
    assert main(["datasets", "--data", str(tmp_path), "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["own"]["where"] == "folder"
    assert rows["iris"]["where"] == "scikit-learn"
    assert rows["sonar"]["where"] == "OpenML"
    assert "40" in rows["sonar"]["how"]
    assert rows["protein"]["where"] == "missing"
    assert "protein.npz" in rows["protein"]["how"]
    assert main(["datasets"]) == 0
    assert "scikit-learn" in capsys.readouterr().out
    assert main(["datasets", "--data", str(tmp_path / "no")]) == 3
    assert "is not a folder" in capsys.readouterr().err
