"""A range for the number of clusters: one project says the same wherever it is clustered."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import Constraints, LinkClustering
from linkwise.cli import main
from linkwise.constraints.cluster_numbers import (
    is_n_clusters,
    least_clusters,
    most_clusters,
    read_n_clusters,
)
from linkwise.journal import read_project
from linkwise.labelling import LabellingSession
from linkwise.labelling.cluster_model import ClusterModel
from linkwise.labelling.project import KEPT, settings_of
from linkwise.query import Session

N = 30
CENTRES = 12 * np.array([(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)])


def table(path, seed, classes=4, rows=range(N)):
    """Write a table of rows in a few clusters that are easy to tell; return its name."""
    X = CENTRES[np.arange(N) % classes] + np.random.default_rng(seed).normal(size=(N, 2))
    path.write_text("id,x,y\n" + "".join(f"r{i},{X[i, 0]:.4f},{X[i, 1]:.4f}\n" for i in rows))
    return str(path)


def project_of(data):
    return data.removesuffix(".csv") + ".linkwise"


def labels_in(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=1, dtype=int)


def exported(data, output):
    line = ["export", project_of(data), "--labels", data, "-o", output, "--force"]
    assert main(line) == 0
    return labels_in(output)


def fitted(data, output, *options):
    line = ["fit", data, "--links", project_of(data), "-o", output, "--force", "--quiet"]
    assert main([*line, *options]) == 0
    return labels_in(output)


def on_page(data, **given):
    """Return the labels that the page shows in the end, and what it says of their number."""
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    from app_parts import page

    with page(data, **given) as found:
        while not (state := found.state())["clusters"] or state["running"] or state["refining"]:
            time.sleep(0.01)
        return np.frombuffer(found.get("/api/labels").body, "<i4"), state["k"]


@pytest.mark.parametrize(
    "text", ["", "-", "-3", "0", "1-5", "6-2", "2-", "2-3-4", "two", "2.5", "2 - 5", "²", "2,5"]
)
def test_nonsense_is_refused_in_one_sentence(text, tmp_path, capsys):
    with pytest.raises(ValueError, match=r"expected a number .* a range .* such as 2-12; got"):
        read_n_clusters(text)
    data = table(tmp_path / "data.csv", 0)
    assert main(["label", data, f"-k={text}", "--terminal"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "such as 2-12" in told or not text


@given(st.integers(2, 99), st.integers(0, 99))
def test_a_range_is_read_as_it_is_written(least, more):
    found = read_n_clusters(f"{least}-{least + more}")
    assert (least_clusters(found), most_clusters(found)) == found == (least, least + more)
    assert is_n_clusters(found, least + more)
    assert not is_n_clusters(found, least + more - 1)


def test_a_project_keeps_its_range_and_is_reopened_with_it(tmp_path):
    data = table(tmp_path / "data.csv", 0)
    (tmp_path / "links.csv").write_text("id_a,id_b,kind\nr0,r4,must\n")
    assert main(["label", data, "-k", "2-6", "--import", str(tmp_path / "links.csv")]) == 0
    assert read_project(project_of(data)).settings["k"] == [2, 6]
    assert settings_of(project_of(data), dict.fromkeys(KEPT))["k"] == (2, 6)
    with LabellingSession.open(data) as session:
        assert session.n_clusters == session.current.task.n_clusters == (2, 6)
        session.set_n_clusters([3, 5])
    with LabellingSession.open(data) as session:
        assert session.n_clusters == (3, 5)
        for wrong in [(2, N + 1), (1, 3), (5, 3), "2-6", [2], [2, 3, 4], [2.0, 3], True, N + 1]:
            with pytest.raises(
                ValueError, match=r"k=.*expected a whole number in 1\.\.30, a range"
            ):
                session.set_n_clusters(wrong)
        session.set_n_clusters(None)
    with LabellingSession.open(data) as session:
        assert session.n_clusters is None


def test_a_range_beyond_the_rows_is_refused(tmp_path, capsys):
    data = table(tmp_path / "data.csv", 0)
    assert main(["label", data, "-k", "2-31", "--terminal"]) == 3
    assert "30 rows, too few for 31 clusters; ask for at most 30 by -k" in capsys.readouterr().err
    with pytest.raises(ValueError, match="n_clusters='2-5': expected a whole number"):
        LabellingSession.open(data, n_clusters="2-5")


PAIR = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])


@settings(deadline=None, max_examples=8)
@given(
    seed=st.integers(0, 99),
    classes=st.integers(1, 5),
    limits=st.tuples(st.integers(2, 6), st.integers(0, 6)),
    answers=st.lists(st.tuples(PAIR, st.booleans()), max_size=25, unique_by=lambda x: min(x[0])),
    moved=st.booleans(),
)
def test_page_terminal_export_and_fit_agree(
    tmp_path_factory, seed, classes, limits, answers, moved
):
    folder = tmp_path_factory.mktemp("range")
    data, limits = table(folder / "data.csv", seed, classes), (limits[0], sum(limits))
    with LabellingSession.open(data, n_clusters=limits) as session:
        for (a, b), same in answers:
            session.answer(a, b, same)
        if moved:
            session.append("group", {"rows": ["r0"], "to": ["r1"]})
        model = ClusterModel(session.items.X, n_clusters=session.n_clusters)
        model.follow(session.current.task)
        found = {"terminal": model.labels(), "at once": model.quick_labels()[0]}
    found["page"], shown = on_page(data, k=limits)
    assert shown == list(limits)
    found["export"] = exported(data, str(folder / "export.csv"))
    found["fit"] = fitted(data, str(folder / "fit.csv"))
    for name, labels in found.items():
        np.testing.assert_array_equal(labels, found["terminal"], name)
    if not moved:
        assert found["export"].max() < limits[1]


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 99),
    classes=st.integers(1, 5),
    limits=st.tuples(st.integers(2, 7), st.integers(0, 5)),
    apart=st.integers(1, 6),
)
def test_the_number_chosen_is_in_the_range_and_as_large_as_constraints_force(
    seed, classes, limits, apart
):
    limits = (limits[0], sum(limits))
    X = CENTRES[np.arange(N) % classes] + np.random.default_rng(seed).normal(size=(N, 2))
    links = Constraints.from_groups(np.r_[np.zeros(apart), np.full(N - apart, -1)])
    model = LinkClustering(limits, effort="fast", random_state=0).fit(X, constraints=links)
    numbers = [k for k, _ in model.runners_up_]
    scores = [score for _, score in model.runners_up_]
    assert limits[0] <= model.n_clusters_ <= limits[1]
    assert model.n_clusters_ >= min(apart, limits[1])
    assert model.n_clusters_ not in numbers
    assert all(limits[0] <= k <= limits[1] for k in numbers)
    assert scores == sorted(scores, reverse=True)


def test_there_are_at_least_as_many_clusters_as_answers_force(tmp_path):
    data = table(tmp_path / "data.csv", 0, classes=2)
    apart = [0, 1, 2, 3, 5]
    with LabellingSession.open(data, n_clusters=(2, 8)) as session:
        for i, a in enumerate(apart):
            for b in apart[i + 1 :]:
                session.answer(a, b, False)
        assert session.current.conflict is None
        session.set_n_clusters((2, 4))
        assert session.current.conflict is not None
        session.set_n_clusters((2, 8))
    labels = exported(data, str(tmp_path / "labels.csv"))
    assert len(set(labels[apart].tolist())) == 5
    assert 5 <= labels.max() + 1 <= 8


def test_new_rows_stay_within_the_range(tmp_path, capsys):
    data = table(tmp_path / "data.csv", 0, 3, range(20))
    LabellingSession.open(data, n_clusters=(2, 3)).close()
    before = exported(data, str(tmp_path / "before.csv"))
    far = "".join(f"q{i},{500 + i},{-500 + i % 2}\n" for i in range(10))
    (tmp_path / "more.csv").write_text("id,x,y\n" + far)
    output = str(tmp_path / "grown.csv")
    assert main(["fit", str(tmp_path / "more.csv"), "--into", project_of(data), "-o", output]) == 0
    after = labels_in(output)
    np.testing.assert_array_equal(after[:20], before)
    assert after.max() < 3
    np.testing.assert_array_equal(exported(data, str(tmp_path / "export.csv")), after)
    np.testing.assert_array_equal(fitted(data, str(tmp_path / "fit.csv")), after)
    np.testing.assert_array_equal(on_page(data, k=(2, 3))[0], after)


def test_export_and_fit_name_the_runners_up(tmp_path, capsys):
    data = table(tmp_path / "data.csv", 0)
    LabellingSession.open(data, n_clusters=(3, 5)).close()
    exported(data, str(tmp_path / "labels.csv"))
    told = capsys.readouterr().err
    assert "30 rows in 4 clusters; next best numbers of clusters, with scores: " in told
    fitted(data, str(tmp_path / "fit.csv"), "--json")
    report = json.loads(capsys.readouterr().out)
    assert report["k"] == 4
    assert {one["k"] for one in report["runners_up"]} == {3, 5}


def test_the_page_takes_a_range_and_refuses_nonsense(tmp_path):
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    from app_parts import page

    data = table(tmp_path / "data.csv", 0)
    with page(data) as found:
        state = found.post("/api/count", {"k": [2, 6]}).json()
        assert state["k"] == [2, 6]
        assert len(state["clusters"]) == 4
        assert {k for k, _ in state["runners_up"]} <= {2, 3, 5, 6}
        assert len(state["runners_up"]) == 3
        for wrong in ("2-6", [2], [6, 2], [1, 3], [2, 31], [2.5, 4], [True, 4], {"least": 2}):
            reply = found.post("/api/count", {"k": wrong})
            assert reply.status == 400
            assert "1..30, a range (least, most) in 2..30" in reply.json()["error"]
        assert found.post("/api/count", {"k": 3}).json()["runners_up"] == []
    assert read_project(project_of(data)).settings["k"] == 3


def test_a_session_with_a_range_asks_and_ends_within_it():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    X = CENTRES[y] + rng.normal(size=(60, 2))
    session = Session(X, n_clusters=[2, 6])
    for _ in range(25):
        questions = session.ask()
        if not questions:
            break
        a, b, _ = questions[0]
        session.tell(a, b, bool(y[a] == y[b]))
    assert session.n_clusters == (2, 6)
    assert session.labels.max() + 1 == 4
    again = LinkClustering((2, 6), random_state=0).fit(X, constraints=session.links)
    np.testing.assert_array_equal(again.labels_, session.labels)


def test_a_damaged_range_in_a_project_is_named(tmp_path, capsys):
    data = table(tmp_path / "data.csv", 0)
    with LabellingSession.open(data) as session:
        session.journal.configure(k=[6, 2])
    output = str(tmp_path / "labels.csv")
    for line in (
        ["export", project_of(data), "--labels", data, "-o", output],
        ["fit", data, "--links", project_of(data), "-o", output],
        ["label", data, "--terminal"],
    ):
        assert main(line) == 3
        assert "setting k" in (told := capsys.readouterr().err)
        assert "damaged" in told
