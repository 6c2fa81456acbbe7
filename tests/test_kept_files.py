"""Files of this and earlier versions, which every later version reads or refuses in words.

``python tests/test_kept_files.py`` writes the files of the present version. Files already there are
never written again.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import linkwise
from linkwise import Constraints
from linkwise.journal import Data, Journal, read_project, replay
from linkwise.journal.file import FORMAT as PROJECT_FORMAT
from linkwise.saving.archive import FORMAT

KEPT = Path(__file__).parent / "kept"
X = load_iris().data[::5]
LINKS = Constraints([(0, 1), (12, 13)], [(0, 15), (2, 29), (14, 25)])
NAMES = list(linkwise.estimators.__all__)  # models of LinkClustering may have to be fitted again
NEW = X[:10] + 0.01


def model(name):
    """Return a fitted model of that class."""
    Estimator = getattr(linkwise, name)
    known = {"n_clusters": 3, "random_state": 0, "effort": "fast", "n_init": 2, "n_steps": 5}
    found = Estimator(**{key: known[key] for key in Estimator._get_param_names() if key in known})
    if name in ("ManifoldLayout", "NormalizedCuts"):
        return found.fit(X)
    return found.fit(X, constraints=LINKS)


def answers(found):
    """Return what a model says, as numbers for JSON."""
    said = {}
    if hasattr(found, "labels_"):
        said["labels_"] = found.labels_.tolist()
    if hasattr(found, "predict"):
        said["predict"] = found.predict(NEW).tolist()
    if hasattr(found, "transform"):
        said["transform"] = np.round(found.transform(NEW), 6).tolist()
    return said


def write_project(path):
    """Write a project with every kind of event a person makes."""
    data = Data("iris.csv", "0" * 64, len(X), "row")
    with Journal(path, data=data, who="expert") as journal:
        journal.append("answer", {"a": 0, "b": 1, "same": True}, client="1", why="first")
        journal.append("answer", {"a": 0, "b": 15, "same": False}, client="2")
        journal.append("answer", {"a": 3, "b": 15, "same": None}, client="3")
        journal.mark([4, 5], "stray", client="4")
        journal.undo()
        journal.redo()


def write():
    """Write the files of this version that are not there yet."""
    KEPT.mkdir(exist_ok=True)
    for name in NAMES:
        place = KEPT / f"{name}.format{FORMAT}.lwmodel"
        if not place.exists():
            found = model(name)
            linkwise.save(found, place)
            place.with_suffix(".json").write_text(json.dumps(answers(found)) + "\n")
    place = KEPT / f"answers.format{PROJECT_FORMAT}.linkwise"
    if not place.exists():
        write_project(place)


@pytest.mark.parametrize("place", sorted(KEPT.glob("*.lwmodel")), ids=lambda place: place.stem)
def test_a_kept_model_answers_as_when_it_was_written(place):
    found = linkwise.load(place)
    said = json.loads(place.with_suffix(".json").read_text())
    assert said
    for ask, values in said.items():
        now = getattr(found, ask)
        now = now(NEW) if callable(now) else now
        if ask == "transform":
            np.testing.assert_allclose(now, values, rtol=1e-4, atol=1e-4)
        else:
            assert_array_equal(now, values)


def test_every_estimator_has_a_kept_model():
    kept = {place.name.split(".")[0] for place in KEPT.glob("*.lwmodel")}
    assert kept == set(NAMES)


@pytest.mark.parametrize("version", range(2, PROJECT_FORMAT + 1))
def test_a_kept_project_says_what_it_said(version):
    found = read_project(KEPT / f"answers.format{version}.linkwise")
    said = ["answer"] * 3 + ["mark"] * (version > 2) + ["undo", "redo"]
    assert [event.kind for event in found.events] == said
    assert found.state == replay(found.events)
    assert found.state.marks == ({4: "stray", 5: "stray"} if version > 2 else {})
    links = found.state.constraints()
    assert (links.n_must, links.n_cannot) == (1, 1)


if __name__ == "__main__":
    write()
