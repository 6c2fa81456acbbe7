"""One project says the same on the page, in the terminal and in `linkwise fit --links`."""

import json
import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from app_parts import blobs, page, settings

from linkwise.app.worker import Worker
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
        session.mark([18], "stray")
        session.mark([20], "unclear")
        session.append("split", {"parts": [[f"r{row:02d}" for row in part] for part in PARTS]})
    (folder / "table.csv").write_text(TABLE)
    assert main(["label", str(data), "--import", str(folder / "table.csv")]) == 0
    return data


def in_terminal(data):
    """Return the labels of the model of the terminal."""
    path = str(data.with_suffix(".linkwise"))
    items, journal = open_project(str(data), path, settings(**OPTIONS))
    with journal:
        return Dialogue(items, journal, n_clusters=K).model.labels()


def on_page(data):
    """Return the labels that the page shows in the end, and the table that it exports."""
    with page(data, worker=Worker, **OPTIONS) as found:
        while not (state := found.state())["clusters"] or state["running"] or state["refining"]:
            time.sleep(0.05)
        labels = np.frombuffer(found.get("/api/labels").body, "<i4")
        table = found.get("/api/export/labels.csv").body.decode()
    return labels, table


def by_fit(data, *options):
    """Return the table of labels that `linkwise fit --links` writes."""
    output = data.with_name("labels.csv")
    line = ["fit", str(data), "--links", str(data.with_suffix(".linkwise")), *options]
    assert main([*line, "--force", "--quiet", "-o", str(output)]) == 0
    return output.read_text()


def by_export(data):
    """Return the table of labels that `linkwise export --labels` writes."""
    output = data.with_name("exported.csv")
    project = str(data.with_suffix(".linkwise"))
    assert main(["export", project, "--labels", str(data), "-o", str(output), "--force"]) == 0
    return output.read_text()


def labels_in(table):
    return np.loadtxt(table.splitlines(), delimiter=",", skiprows=1, usecols=1, dtype=int)


def test_one_project_has_one_set_of_labels(project):
    shown, table = on_page(project)
    found = {
        "page, table": labels_in(table),
        "terminal": in_terminal(project),
        "export": labels_in(by_export(project)),
        "fit": labels_in(by_fit(project)),
        "fit, columns named": labels_in(by_fit(project, "--id", "id", "--columns", "x,y")),
    }
    for name, labels in found.items():
        np.testing.assert_array_equal(labels, shown, name)
    assert np.flatnonzero(shown < 0).tolist() == [18]
    others = np.setdiff1d(np.arange(N), [*PARTS[0], 18])
    assert adjusted_rand_score(Y[others], shown[others]) == 1
    assert set(shown[PARTS[0]]) == {K}  # five answers say "same", but the split has the last word
    assert sorted(set(shown.tolist())) == list(range(-1, K + 1))


def test_weights_and_sources_come_from_the_log(project):
    links = read_project(project.with_suffix(".linkwise")).state.constraints()
    found = {(w, source) for w, source in zip(links.weight, links.source.tolist(), strict=True)}
    assert {pair for pair in found if pair[1] != "import"} == {(1.0, "answer"), (HAND, "hand")}
    assert {w for w, source in found if source == "import"} == {3.0, 0.5, 0.0}


def test_a_split_that_was_merged_again_leaves_no_link_that_is_not_kept(tmp_path, capsys):
    data = tmp_path / "data.csv"
    y = blobs(data, 300)  # so many that a merge names other rows than the split did
    with page(data, k=3) as found:
        before = found.state()["kept"]
        found.correct("split", cluster=0)
        found.correct("split", cluster=1)
        state = found.correct("merge", first=0, second=3)
        assert state["kept"][0] == state["kept"][1] > before[1]
    project = str(data.with_suffix(".linkwise"))
    assert (
        main(["fit", str(data), "--links", project, "--json", "-o", str(tmp_path / "l.csv")]) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert report["violations"] == []
    assert (report["k"], len(report["sizes"]), len(y)) == (4, 4, sum(report["sizes"]))
