"""One project says the same on the page, in the terminal and in `linkwise fit --links`."""

import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from app_parts import page, settings

from linkwise.app.engine import Engine
from linkwise.app.messages import Job
from linkwise.app.worker import Worker
from linkwise.choice import LinkClustering
from linkwise.cli import main
from linkwise.journal import HAND, read_project
from linkwise.labelling.labelling_session import LabellingSession
from linkwise.labelling.project import open_project
from linkwise.terminal.dialogue import Dialogue

N, K = 60, 4
Y = np.arange(N) % K  # the cluster of each row
CENTRES = 12 * np.array([(0, 0), (1, 0), (0, 1), (1, 1)])
RIGHT = [(2, 6), (3, 7), (2, 3), (0, 2), (1, 3), (5, 6), (8, 11), (4, 8), (9, 13), (10, 14)]
WRONG = [(0, 1), (0, 5), (4, 1), (4, 9), (8, 9)]  # "same", of clusters 0 and 1
PARTS = [0, 4, 8], [1, 5, 9]  # kept apart by hand
TABLE = "id_a,id_b,kind,weight\nr10,r14,must,3\nr11,r12,cannot,0.5\nr15,r19,must,0\n"
OPTIONS = {"id_column": "id", "columns": ["x", "y"], "k": K}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A data file, and its project: answers, five of them wrong, a split, an imported table."""
    folder = tmp_path_factory.mktemp("project")
    data = folder / "data.csv"
    X = CENTRES[Y] + np.random.default_rng(0).normal(size=(N, 2))
    rows = "".join(f"r{i:02d},{x:.4f},{y:.4f}\n" for i, (x, y) in enumerate(X))
    data.write_text("id,x,y\n" + rows)
    items, journal = open_project(
        str(data), str(data.with_suffix(".linkwise")), settings(**OPTIONS)
    )
    with journal:
        session = LabellingSession(items, journal, n_clusters=K)
        for a, b in RIGHT:
            session.answer(a, b, bool(Y[a] == Y[b]))
        session.answer(12, 16, None)
        for a, b in WRONG:
            session.answer(a, b, True)
        session.append("split", {"parts": [[f"r{row:02d}" for row in part] for part in PARTS]})
    (folder / "table.csv").write_text(TABLE)
    assert main(["label", str(data), "--import", str(folder / "table.csv")]) == 0
    return data


def weights(links, ids=None):
    """Return {(ends, sign, event): (weight, source)} of pairs that say something, by id."""
    links = links.active()
    ends = links.ends if ids is None else np.array(ids)[links.ends]
    keys = [(frozenset(pair), sign) for pair, sign in zip(ends.tolist(), links.sign, strict=True)]
    columns = keys, links.event.tolist(), links.weight.tolist(), links.source.tolist()
    return {(*key, event): (w, source) for key, event, w, source in zip(*columns, strict=True)}


def in_terminal(data):
    """Return the weights that the model of the terminal follows, and its labels."""
    path = str(data.with_suffix(".linkwise"))
    items, journal = open_project(str(data), path, settings(**OPTIONS))
    with journal:
        model = Dialogue(items, journal, n_clusters=K).model
        return weights(model.session.links, items.ids), model.labels()


def on_page(data):
    """Return the weights that the worker of the page follows, and the labels the page shows."""
    with page(data, worker=Worker, **OPTIONS) as found:
        while found.state()["running"]:
            time.sleep(0.05)
        labels = np.frombuffer(found.get("/api/labels").body, "<i4")
        items, task = found.label_page.items, found.label_page.current.task
    engine = Engine(items.X)
    np.testing.assert_array_equal(engine.result(Job(1, task)).labels, labels)
    return weights(engine.model.session.links, items.ids), labels


def by_fit(data, monkeypatch):
    """Return the weights that `linkwise fit --links` uses, and its labels."""
    given, fit_predict = [], LinkClustering.fit_predict

    def spy(model, X, y=None, *, constraints=None, **options):
        given.append(constraints)
        return fit_predict(model, X, y, constraints=constraints, **options)

    monkeypatch.setattr(LinkClustering, "fit_predict", spy)
    links, output = str(data.with_suffix(".linkwise")), str(data.with_name("labels.csv"))
    line = ["fit", str(data), "--links", links, "--id", "id", "--columns", "x,y", "-k", str(K)]
    assert main([*line, "--force", "--quiet", "-o", output]) == 0
    return weights(given[0]), np.loadtxt(output, delimiter=",", skiprows=1, usecols=1, dtype=int)


def test_one_project_has_one_set_of_weights_and_one_set_of_labels(project, monkeypatch):
    expected = weights(read_project(project.with_suffix(".linkwise")).state.constraints())
    assert {value for value in expected.values() if value[1] != "import"} == {
        (1.0, "answer"),
        (HAND, "hand"),
    }
    assert expected[frozenset(("r10", "r14")), 1, 18] == (3.0, "import")
    assert expected[frozenset(("r11", "r12")), -1, 18] == (0.5, "import")
    found = {
        "page": on_page(project),
        "terminal": in_terminal(project),
        "fit": by_fit(project, monkeypatch),
    }
    for name, (used, labels) in found.items():
        assert used == expected, name
        assert labels[0] != labels[1], name
        assert adjusted_rand_score(Y, labels) == 1, name
