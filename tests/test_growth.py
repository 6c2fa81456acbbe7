"""Laws of projects whose data get more rows: old rows stay, and every front end says the same."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from linkwise.cli import main
from linkwise.constraints import Constraints
from linkwise.journal import Journal, describe, read_project
from linkwise.labelling.edits import edited, numbered
from linkwise.labelling.kept_clusters import (
    FEW,
    UNKNOWN,
    Kept,
    are_many,
    joined,
    last_free,
    staying_rows,
)
from linkwise.labelling.labelling_session import LabellingSession

N, OLD = 90, 60
Y = np.arange(N) % 3
POINTS = 12 * np.array([(0, 0), (1, 0), (0, 1)])[Y] + np.random.default_rng(0).normal(size=(N, 2))


def table(path, rows, points=POINTS):
    """Write some rows as a table, and return its name."""
    lines = (f"p{i},{points[i, 0]:.4f},{points[i, 1]:.4f}\n" for i in rows)
    path.write_text("id,x,y\n" + "".join(lines))
    return str(path)


@pytest.fixture
def project(tmp_path):
    """A project of 60 rows with answers, a move by hand, a mark and a name; and 30 rows more."""
    data = tmp_path / "data.csv"
    table(data, range(OLD))
    with LabellingSession.open(str(data)) as session:
        for a, b in [(0, 3), (1, 4), (0, 1), (2, 5), (2, 0), (1, 2)]:
            session.answer(a, b, bool(Y[a] == Y[b]))
        session.append("group", {"rows": ["p6"], "to": ["p1", "p4"]})
        session.mark([9], "stray")
        session.append("rename", {"rows": ["p2", "p5", "p8"], "name": "threes"})
    table(tmp_path / "more.csv", range(OLD, N))
    return tmp_path


def exported(folder, output="labels.csv"):
    """Return the labels {id: (label, name)} that `linkwise export` writes."""
    data, project = str(folder / "data.csv"), str(folder / "data.linkwise")
    line = ["export", project, "--labels", data, "-o", str(folder / output)]
    assert main([*line, "--force"]) == 0
    return rows_of(folder / output)


def rows_of(path):
    lines = [line.replace('"', "").split(",") for line in path.read_text().splitlines()[1:]]
    return {line[0]: tuple(line[1:]) for line in lines}


def into(folder, *options, more="more.csv"):
    """Run `linkwise fit more.csv --into PROJECT`."""
    line = ["fit", str(folder / more), "--into", str(folder / "data.linkwise")]
    return main([*line, "-o", str(folder / "grown.csv"), "--force", *options])


def test_old_rows_keep_clusters_and_names_and_new_rows_join(project, capsys):
    before = exported(project)
    capsys.readouterr()
    assert into(project, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["n"], report["new"], report["moves"]) == (N, N - OLD, [])
    after = rows_of(project / "grown.csv")
    assert {row: after[row] for row in before} == before
    assert [after[f"p{i}"] for i in range(OLD, N)] == [before[f"p{i}"] for i in (12, 13, 14)] * 10
    assert (project / "data.csv").read_text() == table_text(range(N))


def table_text(rows):
    return "id,x,y\n" + "".join(f"p{i},{POINTS[i, 0]:.4f},{POINTS[i, 1]:.4f}\n" for i in rows)


def test_export_fit_and_session_agree_after_rows_were_added(project):
    assert into(project, "--quiet") == 0
    after = rows_of(project / "grown.csv")
    assert exported(project) == after
    data, path = str(project / "data.csv"), str(project / "data.linkwise")
    line = ["fit", data, "--links", path, "-o", str(project / "fit.csv"), "--quiet"]
    assert main(line) == 0
    assert {row: one[0] for row, one in rows_of(project / "fit.csv").items()} == {
        row: one[0] for row, one in after.items()
    }


@pytest.mark.parametrize("written", [False, True], ids=["added", "in the data already"])
def test_a_project_without_answers_keeps_its_clusters_too(tmp_path, written):
    data = table(tmp_path / "data.csv", range(OLD))
    LabellingSession.open(data).close()
    before = exported(tmp_path)
    table(tmp_path / "more.csv", range(OLD, N), POINTS + 300)
    if written:
        table(tmp_path / "data.csv", range(N), np.r_[POINTS[:OLD], POINTS[OLD:] + 300])
    assert into(tmp_path, "--quiet", more="data.csv" if written else "more.csv") == 0
    after = rows_of(tmp_path / "grown.csv")
    assert {row: after[row] for row in before} == before
    assert exported(tmp_path) == after


def test_the_page_shows_the_same_clusters_after_rows_were_added(project):
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    from app_parts import page

    from linkwise.app.worker import Worker

    assert into(project, "--quiet") == 0
    with page(project / "data.csv", worker=Worker) as found:
        while not (state := found.state())["clusters"] or state["running"] or state["refining"]:
            time.sleep(0.05)
        labels = np.frombuffer(found.get("/api/labels").body, "<i4")
    after = rows_of(project / "grown.csv")
    assert [int(after[f"p{i}"][0]) for i in range(N)] == labels.tolist()


def test_a_project_that_is_opened_with_more_rows_says_the_same(project):
    before = exported(project)
    table(project / "data.csv", range(N))
    with (
        pytest.warns(UserWarning, match="30 rows more"),
        LabellingSession.open(str(project / "data.csv")) as session,
    ):
        assert session.current.task.kept is not None
    after = exported(project)
    assert {row: after[row] for row in before} == before
    with LabellingSession.open(str(project / "data.csv")):  # the second time there is no news
        kinds = [event.kind for event in read_project(project / "data.linkwise").events]
    assert kinds.count("keep") == 1


def test_rows_written_to_the_data_and_named_again_are_added(project):
    before = exported(project)
    table(project / "data.csv", range(N))
    assert into(project, "--quiet", more="data.csv") == 0
    after = rows_of(project / "grown.csv")
    assert {row: after[row] for row in before} == before
    assert after == exported(project)


def test_a_link_moves_what_it_names_and_is_the_reason(project, capsys):
    (project / "links.csv").write_text("id_a,id_b,kind\np10,p60,must\np10,p63,must\n")
    before = exported(project)
    capsys.readouterr()
    assert into(project, "--json", "--links", str(project / "links.csv")) == 0
    report = json.loads(capsys.readouterr().out)
    after = rows_of(project / "grown.csv")
    moved = {row for row in before if before[row][0] != after[row][0]}
    assert moved <= {"p10"}
    assert [move["id"] for move in report["moves"]] == sorted(moved)
    assert all("p10 must be with p60" in move["why"] for move in report["moves"])
    assert after["p10"][0] == after["p60"][0]
    assert exported(project) == after


def test_new_rows_far_from_all_others_found_a_cluster(project):
    far = POINTS.copy()
    far[OLD:] = 200 + np.random.default_rng(1).normal(size=(N - OLD, 2))
    before = exported(project)
    table(project / "more.csv", range(OLD, N), far)
    assert into(project, "--quiet") == 0
    after = rows_of(project / "grown.csv")
    assert {row: after[row] for row in before} == before
    old = {label for label, _ in before.values()}
    assert {after[f"p{i}"][0] for i in range(OLD, N)}.isdisjoint(old)


def test_corrections_by_hand_hold_when_later_answers_free_all_rows(project):
    assert into(project, "--quiet") == 0
    pairs = [(i, i + 3) for i in range(10, 85, 3)]
    assert len(pairs) >= FEW
    with LabellingSession.open(str(project / "data.csv")) as session:
        for a, b in pairs:
            session.answer(a, b, True)
        task = session.current.task
        assert not staying_rows(task.kept, task.links).any()
    after = exported(project)
    assert after["p6"][0] == after["p1"][0]  # moved by hand, before the rows came
    assert after["p9"][0] == "-1"


def test_small_steps_add_up_until_all_rows_are_free(tmp_path):
    """Rows that begin in one wrong cluster leave it, however small the steps are."""
    data, project = table(tmp_path / "data.csv", range(9)), str(tmp_path / "data.linkwise")
    with LabellingSession.open(data, n_clusters=3) as session:
        session.append("merge", {"first": ["p0"], "second": ["p1"]})
    free = []
    for start in range(9, 81, 9):
        table(tmp_path / "more.csv", range(start, start + 9))
        pairs = [(i, i - 3, "must") for i in range(start, start + 3)]
        pairs += [(i, i - 2, "cannot") for i in range(start, start + 3)]
        lines = "".join(f"p{a},p{b},{kind}\n" for a, b, kind in pairs)
        (tmp_path / "links.csv").write_text("id_a,id_b,kind\n" + lines)
        assert into(tmp_path, "--quiet", "--links", str(tmp_path / "links.csv")) == 0
        with LabellingSession.open(data) as session:
            task = session.current.task
            free.append(not staying_rows(task.kept, task.links).any())
        assert read_project(project).state.newest.kind == "link"
    # six answers a step: 20 and more have come at the fourth step, and again at the eighth
    assert free == [False, False, False, True] * 2


@given(st.lists(st.integers(1, 60), max_size=40), st.sets(st.integers(1, 60), min_size=1))
def test_all_rows_are_free_when_answers_have_grown_since_they_last_were(events, keeps):
    events, keeps = np.array(sorted(events), dtype=int), sorted(keeps)
    since = last_free(keeps, events)
    assert since in keeps
    for event in keeps[keeps.index(since) + 1 :]:  # not free at any later one
        assert not are_many(events[events < event], since)


def test_undo_of_the_event_frees_all_rows(project):
    assert into(project, "--quiet") == 0
    with LabellingSession.open(str(project / "data.csv")) as session:
        session.journal.undo()
        assert session.follow().task.kept is None


def contents(folder):
    """Return what all files of a folder say."""
    log = read_project(folder / "data.linkwise")
    others = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv"}
    return log.data, log.settings, log.events, others, sorted(folder.iterdir())


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("old", "'p3' is the id of an old row"),
        ("columns", "must have the columns of data.csv"),
        ("format", "if both are .csv or .tsv"),
        ("link", "is not in sample_id"),
        ("text", "data.csv with the rows of"),
    ],
)
def test_wrong_rows_are_refused_and_nothing_is_written(project, capsys, fault, said):
    options, more = [], "more.csv"
    if fault == "old":
        table(project / more, range(3, 9))
    elif fault == "columns":
        (project / more).write_text("id,y,x\nq,1,2\n")
    elif fault == "format":
        (project / "more.jsonl").write_text('{"id": "q", "x": 1, "y": 2}\n')
        more = "more.jsonl"
    elif fault == "link":
        (project / "links.csv").write_text("id_a,id_b,kind\np10,nobody,must\n")
        options = ["--links", str(project / "links.csv")]
    else:
        (project / more).write_text("id,x,y\nq,1,two\n")
    whole = contents(project)
    assert into(project, *options, more=more) == 3
    assert said in capsys.readouterr().err
    assert contents(project) == whole


def test_options_of_a_model_and_projects_by_row_number_are_refused(tmp_path, capsys):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(8)))
    with LabellingSession.open(str(data)) as session:
        session.answer(0, 1, True)
    (tmp_path / "more.csv").write_text("x,y\n9,1\n")
    assert into(tmp_path) == 3
    assert "names rows by number" in capsys.readouterr().err
    assert into(tmp_path, "--save", "m.lwmodel") == 2
    assert into(tmp_path, "-k", "3") == 2


LABELS = arrays(np.int64, 12, elements=st.integers(0, 2))
PAIRS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda p: p[0] != p[1]), max_size=4
)
SPACE = np.random.default_rng(0).normal(size=(12, 2))


@settings(deadline=None)
@given(LABELS, LABELS, PAIRS, PAIRS, st.integers(1, 12))
def test_rows_that_no_later_answer_reaches_stay(labels, before, earlier, later, n_old):
    kept = Kept(np.where(np.arange(12) < n_old, before, UNKNOWN), event=5)
    earlier = [(a, b) for a, b in earlier if max(a, b) < n_old]
    links = Constraints(earlier).with_source("answer", 1) + Constraints(later).with_source(
        "answer", 9
    )
    stays = staying_rows(kept, links)
    p = np.eye(3)[labels]
    if stays.any():
        new, likely = joined(labels, p, SPACE, kept, links)
        assert_array_equal(new[stays], kept.labels[stays])
        assert (new >= 0).all()
        assert likely.shape[1] > new.max()
    named = {row for pair in [*later] for row in pair}
    assert not stays[sorted(named)].any()
    assert not stays[n_old:].any()


def test_without_clusters_that_are_kept_labels_are_as_ever():
    labels = np.array([0, 0, 1, 1, 2, 2])
    p, X = np.eye(3)[labels], SPACE[:6]
    assert_array_equal(edited(labels, p, [], X, labels), labels)
    unknown = np.array([1, 1, 0, 0, UNKNOWN, UNKNOWN])
    assert_array_equal(numbered(labels, unknown), [1, 1, 0, 0, 2, 2])


def test_a_growth_that_was_interrupted_is_completed(project):
    before = exported(project)
    data = table(project / "data.csv", range(N))
    ids = [f"p{i}" for i in range(N)]
    with pytest.warns(UserWarning, match="30 rows more"):  # the log knows of the rows; then: killed
        Journal(project / "data.linkwise", data=describe(data, N, ids=True), ids=ids).close()
    assert read_project(project / "data.linkwise").state.newest.kind != "keep"
    LabellingSession.open(data).close()
    assert read_project(project / "data.linkwise").state.newest.kind == "keep"
    after = exported(project)
    assert {row: after[row] for row in before} == before


def test_sets_and_groups_are_imported_as_events(project):
    (project / "sets.jsonl").write_text(
        '{"a": "p3", "b": "p6", "kind": "must"}\n'
        '{"members": ["p0", "p3", "p12", "p1"], "strangers": ["p1"]}\n'
        '{"apart": ["p30", "p31", "p32"]}\n'
    )
    line = ["label", str(project / "data.csv"), "--import", str(project / "sets.jsonl")]
    for _ in range(2):  # the second time nothing is new
        assert main(line) == 0
    events = read_project(project / "data.linkwise").events[-3:]
    assert [event.kind for event in events] == ["link", "group", "split"]
    assert {event.source for event in events} == {"import"}
    meant = sum((event.constraints() for event in events), Constraints())
    closure = meant.closure()
    assert closure.relation(["p0", "p0", "p30", "p3"], ["p12", "p1", "p32", "p6"]).tolist() == [
        1, -1, -1, 1,
    ]  # fmt: skip
