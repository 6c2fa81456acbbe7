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
import linkwise.journal.journal as journal_module
from linkwise import Constraints
from linkwise.journal import Data, Journal, read_project, replay
from linkwise.journal.file import FORMAT as PROJECT_FORMAT
from linkwise.saving.archive import FORMAT

KEPT = Path(__file__).parent / "kept"
X = load_iris().data[::5]
LINKS = Constraints([(0, 1), (12, 13)], [(0, 15), (2, 29), (14, 25)])
NAMES = [*linkwise.estimators.__all__, "LinkClustering"]
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


def write_answers(path):
    """Write a project with the answers of a person, one undone and redone."""
    data = Data("iris.csv", "0" * 64, len(X), "row")
    with Journal(path, data=data, who="expert") as journal:
        journal.append("answer", {"a": 0, "b": 1, "same": True}, client="1", why="first")
        journal.append("answer", {"a": 0, "b": 15, "same": False}, client="2")
        journal.append("answer", {"a": 3, "b": 15, "same": None}, client="3")
        journal.mark([4, 5], "stray", client="4")
        journal.undo()
        journal.redo()


def write_corrections(path):
    """Write a project by ids, with settings and every other kind of event."""
    ids = [f"r{row:02d}" for row in range(len(X))]
    data = Data("iris.csv", "0" * 64, len(X), "id")
    with Journal(path, data=data, ids=ids, who="expert") as journal:
        journal.configure(k=3, seed=1)
        journal.link([("r00", "r01", 1, 2.0), ("r00", "r29", -1, 1.0)], client="1")
        journal.group(["r02", "r03"], ["r15"], client="2")
        journal.merge(["r10"], ["r12"], client="3")
        journal.split([["r20"], ["r28"]], client="4")
        journal.rename(["r00"], "setosa", client="5")
        body = {"rows": ["r04"], "apart": [], "to": ["r00"]}
        journal.append("group", body, client="6", source="taught")
        journal.append("answer", {"a": "r05", "b": "r06", "same": True}, client="7")
        journal.stroke("1", [[1.5, 2.0], [3.0, 4.0]], 2, client="8")
        journal.undo(3, client="9")


def said_by(project):
    """Return what a project says, for JSON."""
    events = [[e.seq, e.kind, e.body, e.who, e.why, e.client, e.source] for e in project.events]
    pairs = sorted([a, b, int(sign), weight] for a, b, sign, weight in project.state.constraints())
    found = {"data": project.data._asdict(), "settings": project.settings, "events": events}
    return json.loads(json.dumps(found | {"pairs": pairs}))


PROJECTS = {"answers": write_answers, "corrections": write_corrections}


def write():
    """Write the files of this version that are not there yet."""
    KEPT.mkdir(exist_ok=True)
    for name in NAMES:
        place = KEPT / f"{name}.format{FORMAT}.lwmodel"
        if not place.exists():
            found = model(name)
            linkwise.save(found, place)
            place.with_suffix(".json").write_text(json.dumps(answers(found)) + "\n")
    for name, write_project in PROJECTS.items():
        place = KEPT / f"{name}.format{PROJECT_FORMAT}.linkwise"
        if not place.exists():
            write_project(place)
            said = json.dumps(said_by(read_project(place)))
            place.with_suffix(".json").write_text(said + "\n")


def check_model(place):
    """Check that a kept model answers as when it was written."""
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


@pytest.mark.parametrize("place", sorted(KEPT.glob("*.lwmodel")), ids=lambda place: place.stem)
def test_a_kept_model_answers_as_when_it_was_written(place):
    check_model(place)


def test_a_model_that_is_read_otherwise_is_found_out(monkeypatch):
    def otherwise(path, load=linkwise.load):
        found = load(path)
        found.cluster_centers_ = found.cluster_centers_[::-1]
        return found

    monkeypatch.setattr(linkwise, "load", otherwise)
    with pytest.raises(AssertionError):
        check_model(KEPT / "COPKMeans.format3.lwmodel")


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


def check_project(place):
    """Check that a kept project says what it said when it was written."""
    found = read_project(place)
    assert said_by(found) == json.loads(place.with_suffix(".json").read_text())
    assert found.state == replay(found.events)


@pytest.mark.parametrize("place", sorted(KEPT.glob("corrections*.linkwise")))
def test_kept_corrections_say_what_they_said(place):
    check_project(place)


def test_a_project_that_is_read_otherwise_is_found_out(monkeypatch):
    monkeypatch.setattr(journal_module, "checked_source", lambda source, kind: "answer")
    with pytest.raises(AssertionError):
        check_project(KEPT / "corrections.format3.linkwise")


def test_both_kinds_of_project_are_kept():
    kept = {place.name.split(".")[0] for place in KEPT.glob("*.linkwise")}
    assert kept == set(PROJECTS)


if __name__ == "__main__":
    write()
