"""Laws of the log of answers."""

import contextlib
import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.journal import (
    HAND,
    Data,
    Draft,
    Event,
    InUse,
    Journal,
    NotSaved,
    State,
    describe,
    merging,
    moving,
    read_project,
    read_table,
    replay,
    representatives,
    splitting,
    write_links,
    write_log,
)
from linkwise.journal import file as project_file
from linkwise.journal.events import KINDS, checked_body
from linkwise.journal.exports import inert, restored
from linkwise.journal.state import SAID
from linkwise.tables import write_labels

N = 12
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # thousands of commits, quickly
DATA = Data("points.csv", "0" * 64, N, "row")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "points.linkwise"


@pytest.fixture
def journal(path):
    with Journal(path, data=DATA, who="anna") as journal:
        yield journal


def reopened(journal):
    """Return a journal on the same file, opened anew."""
    journal.close()
    return Journal(journal.path, data=DATA, who="anna")


def said(journal):
    """Return the pairs (a, b, sign) that count."""
    return [pair[:3] for pair in journal.state.constraints()]


def test_an_answer_says_who_when_and_why_and_becomes_a_pair(journal, path):
    event = journal.answer(3, 8, True, why="they are near", client="c1")
    assert event[:2] == (1, "answer")
    assert event.body == {"a": 3, "b": 8, "same": True}
    assert (event.who, event.why, event.client) == ("anna", "they are near", "c1")
    assert event.when.endswith("+00:00")
    journal.answer(3, 4, False)
    journal.answer(5, 4, None)
    assert journal.state.constraints() == Constraints([(3, 8)], [(3, 4)])
    assert journal.state.counts == {"same": 1, "different": 1, "unsure": 1}
    links = journal.state.constraints()
    assert list(links) == [(3, 8, 1, 1.0), (3, 4, -1, 1.0)]
    assert (links.source.tolist(), links.event.tolist()) == (["answer", "answer"], [1, 2])
    assert journal.state.unsure == [(5, 4)]
    assert read_project(path).events[0] == event  # while it is open for writing


def test_commits_are_durable(journal):
    def pragma(name):
        return journal._db.execute(f"PRAGMA {name}").fetchone()[0]

    assert (pragma("journal_mode"), pragma("synchronous")) == ("wal", 2)


def test_a_retry_never_doubles(journal):
    first = journal.answer(0, 1, True, client="c1")
    assert journal.answer(0, 1, True, client="c1") == first
    undo = journal.undo(client="c2")
    assert journal.undo(client="c2") == undo
    journal.redo(client="c3")
    journal = reopened(journal)
    assert journal.answer(0, 1, True, client="c1") == first
    assert journal.undo(client="c2") == undo
    assert journal.state.n_events == 3
    with pytest.raises(ValueError, match="'c1' is the id of event 1, which says something else"):
        journal.answer(0, 1, False, client="c1")
    with pytest.raises(ValueError, match="something else"):
        journal.undo(client="c1")
    assert journal.state.n_events == 3
    journal.close()


def test_undo_and_redo_reach_any_depth_and_survive_a_restart(journal):
    for b in range(1, 6):
        journal.answer(0, b, True)
    for left in range(4, -1, -1):
        journal.undo()
        journal = reopened(journal)
        assert journal.state.constraints().n_pairs == left
    with pytest.raises(ValueError, match="nothing to undo"):
        journal.undo()
    for there in range(1, 4):
        assert journal.redo().body == {"event": there}
        journal = reopened(journal)
    journal.answer(8, 9, False)
    with pytest.raises(ValueError, match="nothing to redo"):
        journal.redo()
    assert said(journal) == [(0, 1, 1), (0, 2, 1), (0, 3, 1), (8, 9, -1)]
    journal.close()


def test_any_event_can_be_undone_by_its_number(journal):
    for b in (1, 2, 3):
        journal.answer(0, b, True)
    journal.undo(2)
    assert [b for _, b, _ in said(journal)] == [1, 3]
    with pytest.raises(ValueError, match="undo of event 2: it does not count"):
        journal.undo(2)
    with pytest.raises(ValueError, match="redo of event 1: it counts"):
        journal.redo(1)
    with pytest.raises(ValueError, match="undo of event 9: it is no event"):
        journal.undo(9)
    journal.redo(2)
    assert [b for _, b, _ in said(journal)] == [1, 2, 3]


def test_every_event_has_a_source_and_its_pairs_have_the_weight_of_it(journal, tmp_path):
    table = tmp_path / "links.csv"
    table.write_text("id_a,id_b,kind,weight\n0,1,must,3\n0,2,cannot,0.5\n")
    labels = tmp_path / "labels.csv"
    labels.write_text("row,label\n3,a\n4,b\n")
    journal.answer(5, 6, True, why="imported from memory")  # the words of a reason mean nothing
    journal.split([[7], [8]], why="imported from memory")
    journal.extend(read_table(table, journal))
    journal.extend(read_table(labels, journal))
    with pytest.raises(
        ValueError, match="source must be one of answer, hand, taught, import; got 'x'"
    ):
        journal.extend([Draft("answer", {"a": 0, "b": 1, "same": True}, source="x")])
    journal.close()
    links = read_project(journal.path).state.constraints()
    found = [*zip(links.source.tolist(), links.event.tolist(), links.weight.tolist(), strict=True)]
    assert found == [
        ("answer", 1, 1.0),
        ("hand", 2, HAND),
        ("import", 3, 3.0),
        ("import", 3, 0.5),
        ("import", 4, 1.0),
    ]


OLD_SCHEMA = (
    "CREATE TABLE project (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "who TEXT NOT NULL, at TEXT NOT NULL, why TEXT NOT NULL, client TEXT NOT NULL UNIQUE)",
    "CREATE TRIGGER events_stay BEFORE DELETE ON events "
    "BEGIN SELECT RAISE(ABORT, 'events are never removed'); END",
    "CREATE TRIGGER events_are_final BEFORE UPDATE ON events "
    "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    f"PRAGMA application_id = {project_file.APPLICATION}",
    "PRAGMA user_version = 1",
)
OLD_EVENTS = [
    (1, "answer", {"a": 0, "b": 1, "same": True}, "asked"),
    (2, "split", {"parts": [[2], [3]]}, "cluster 1 split by hand"),
    (3, "split", {"parts": [[4], [5]]}, "imported from labels.csv"),
    (4, "link", {"pairs": [[6, 7, -1, 3.0]]}, "imported from links.csv"),
]


def old_project(path):
    """Write a project as versions before the column `source` did."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in OLD_SCHEMA:
            db.execute(statement)
        db.execute("INSERT INTO project VALUES ('data', ?)", [json.dumps(DATA._asdict())])
        for seq, kind, body, why in OLD_EVENTS:
            row = (seq, kind, json.dumps(body), "anna", "2026-01-31T12:00+00:00", why, f"c{seq}")
            db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_logs_without_sources_are_read_and_mean_what_they_meant(path, tmp_path):
    old_project(path)
    before = path.read_bytes()
    project = read_project(path)
    links = project.state.constraints()
    assert links.source.tolist() == ["answer", "hand", "import", "import"]
    assert links.weight.tolist() == [1.0, HAND, 1.0, 3.0]
    assert path.read_bytes() == before  # reading changes nothing
    with Journal(path, data=DATA) as journal:
        assert journal.events() == project.events
        assert journal.answer(0, 1, True, client="c1") == project.events[0]
        assert journal.split([[8], [9]], why="imported from x").source == "hand"
    assert read_project(path).events[:4] == project.events
    assert read_project(path).events[4].source == "hand"
    log = tmp_path / "log.jsonl"
    write_log(log, project)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row.pop("source") for row in rows] == ["answer", "hand", "import", "import"]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Journal(tmp_path / "b.linkwise", data=DATA) as journal:
        journal.extend(read_table(log, journal))
        assert journal.events() == project.events


def relation(pairs):
    """Return the closure of pairs (a, b, sign) over N points by its definition, (N, N)."""
    together = np.eye(N, dtype=bool)
    for a, b, sign in pairs:
        together[a, b] |= sign > 0
        together[b, a] |= sign > 0
    for k in range(N):
        together |= together[:, [k]] & together[[k]]
    apart = np.zeros((N, N), dtype=bool)
    for a, b, sign in pairs:
        if sign < 0:
            apart |= together[:, [a]] & together[[b]] | together[:, [b]] & together[[a]]
    return together, apart


def meaning(kind, body):
    """Return every pair (a, b, sign) that an event states, by its definition."""
    if kind == "answer":
        return [] if body["same"] is None else [(body["a"], body["b"], 2 * body["same"] - 1)]
    if kind == "link":
        return [tuple(pair[:3]) for pair in body["pairs"]]
    groups, apart = {
        "group": lambda: (
            [[*body["rows"], *body.get("to", ())]],
            [(body["rows"], body.get("apart", ()))],
        ),
        "merge": lambda: ([[*body["first"], *body["second"]]], []),
        "split": lambda: (body["parts"], list(combinations(body["parts"], 2))),
        "mark": lambda: ([], []),
        "stroke": lambda: ([], []),
        "rename": lambda: ([], []),
        "keep": lambda: ([], []),
    }[kind]()
    return [(a, b, 1) for rows in groups for a, b in combinations(rows, 2)] + [
        (a, b, -1) for p, q in apart for a, b in product(p, q)
    ]


def holding(events):
    """Return the pairs (a, b, sign) of corrections that no later ones contradict."""
    kept = []
    for event in reversed(events):
        for pair in event.constraints():
            together, apart = relation([*kept, pair[:3]])
            if not (together & apart).any():
                kept.append(pair[:3])
    return kept


rows = st.lists(st.integers(0, N - 1), min_size=2, max_size=6, unique=True)


@st.composite
def corrections(draw):
    """An event of any kind that has a meaning of its own: (kind, body)."""
    kind = draw(st.sampled_from([kind for kind in KINDS if kind not in ("undo", "redo")]))
    some = draw(rows)
    cut = draw(st.integers(1, len(some) - 1))
    if kind == "answer":
        body = {"a": some[0], "b": some[1], "same": draw(st.sampled_from([True, False, None]))}
    elif kind == "link":
        body = {"pairs": [(a, b, draw(st.sampled_from([1, -1]))) for a, b in pairwise(some)]}
    elif kind == "group":
        parts = {"rows": some[:cut], "apart": some[cut:]}, {"rows": some[:cut], "to": some[cut:]}
        body = draw(st.sampled_from([{"rows": some}, *parts]))
    elif kind == "merge":
        body = {"first": some[:cut], "second": some[cut:]}
    elif kind == "split":
        body = {"parts": [some[:cut], some[cut:]]}
        body |= draw(st.sampled_from([{}, {"others": "stay"}, {"others": "nearest"}]))
    elif kind == "mark":
        body = {"rows": some, "mark": draw(st.sampled_from(["unclear", "stray"]))}
    elif kind == "stroke":
        body = {"colour": "red", "points": [(a, a / 2) for a in some]}
    elif kind == "keep":
        body = {"clusters": [some[:cut], some[cut:]]}
    else:
        body = {"rows": some, "name": draw(st.text(st.characters(codec="utf-8"), max_size=5))}
    return kind, body


@given(corrections())
def test_few_pairs_say_all_that_a_correction_says(correction):
    kind, body = correction
    body = checked_body(kind, body)
    few = [pair[:3] for pair in Event(1, kind, body, "", "", "", "c", "hand").constraints()]
    for mine, expected in zip(relation(few), relation(meaning(kind, body)), strict=True):
        np.testing.assert_array_equal(mine, expected)
    assert len(few) <= 3 * len({end for pair in few for end in pair[:2]})


PARTS = [[0, 1, 2], [3, 4, 5]]


def test_a_merge_takes_back_what_a_split_said(journal):
    journal.answer(0, 3, False)
    journal.split(PARTS)
    before = journal.state.constraints()
    assert before.n_cannot == 1 + 3
    journal.merge([0, 2], [4, 5])
    links = journal.state.constraints()
    assert list(links.select(links.sign < 0)) == [(0, 3, -1, 1.0)]  # answers are never taken back
    assert not links.violated([0, 0, 0, 0, 0, 0])[links.source == "hand"].any()
    journal.undo()
    assert journal.state.constraints() == before
    journal.redo()
    journal.split(PARTS)
    links = journal.state.constraints()
    assert not links.violated([0, 0, 0, 1, 1, 1])[links.source == "hand"].any()


def test_models_learn_from_a_pair_until_a_correction_that_they_learn_from(journal):
    journal.append("split", {"parts": PARTS}, source="taught")
    journal.merge([0, 1], [3, 4])
    assert journal.state.constraints().n_cannot == 3
    journal.append("merge", {"first": [0, 1], "second": [3, 4]}, source="taught")
    assert journal.state.constraints().n_cannot == 0


@given(st.lists(corrections(), max_size=6))
def test_corrections_by_hand_can_all_hold_and_the_last_one_does(several):
    events = [
        Event(number, kind, checked_body(kind, body), "", "", "", f"c{number}", "hand")
        for number, (kind, body) in enumerate(several, 1)
        if kind not in ("answer", "link")  # pairs of one event may contradict each other
    ]
    links = replay(events).constraints()
    assert links.conflict() is None
    if events:
        assert np.count_nonzero(links.event == events[-1].seq) == events[-1].constraints().n_pairs


def test_a_mark_holds_until_it_is_said_where_the_row_belongs(journal):
    journal.mark([0, 1, 2, 3, 4], "stray")
    journal.mark([1], "unclear")
    assert journal.state.marks == {0: "stray", 1: "unclear", 2: "stray", 3: "stray", 4: "stray"}
    journal.answer(0, 5, True)
    journal.answer(1, 5, None)  # says nothing
    journal.group([2, 6])
    journal.merge([3], [7])  # says where clusters belong, not rows
    assert journal.state.marks == {1: "unclear", 3: "stray", 4: "stray"}
    again = reopened(journal)
    assert again.state.marks == {1: "unclear", 3: "stray", 4: "stray"}
    again.undo(1)
    assert again.state.marks == {1: "unclear"}
    with pytest.raises(ValueError, match="mark must be one of unclear, stray; got 'odd'"):
        again.mark([1], "odd")
    again.close()


class Programs(RuleBasedStateMachine):
    """Any program of corrections, undos and redos, beside a plain model of it in lists."""

    @initialize()
    def begin(self):
        self.folder = tempfile.mkdtemp(dir=MEMORY)
        self.path = os.path.join(self.folder, "p.linkwise")
        self.journal = Journal(self.path, data=DATA, who="anna")
        self.counting, self.undone, self.sent = [], [], []

    def record(self, event):
        assert event.seq == len(self.sent) + 1
        self.sent.append(event)

    @rule(correction=corrections())
    def correct(self, correction):
        event = self.journal.append(*correction, client=f"c{len(self.sent)}")
        self.record(event)
        self.counting.append((event.seq, *correction))
        self.undone = []

    @precondition(lambda self: self.counting)
    @rule()
    def undo(self):
        event = self.journal.undo()
        self.record(event)
        self.undone.append(self.counting.pop())
        assert event.body == {"event": self.undone[-1][0]}

    @precondition(lambda self: self.undone)
    @rule()
    def redo(self):
        self.record(self.journal.redo())
        self.counting.append(self.undone.pop())

    @precondition(lambda self: self.counting)
    @rule(data=st.data())
    def undo_one(self, data):
        chosen = data.draw(st.sampled_from(self.counting))
        self.record(self.journal.undo(chosen[0]))
        self.counting.remove(chosen)
        self.undone.append(chosen)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def retry(self, data):
        event = data.draw(st.sampled_from(self.sent))
        again = self.journal.append(event.kind, event.body, client=event.client)
        assert again == event

    @rule()
    def refuse(self):
        with pytest.raises(ValueError, match="not a row number"):
            self.journal.answer(0, N, True)

    @rule()
    def reopen(self):
        self.journal = reopened(self.journal)

    @invariant()
    def equals_the_replay_of_its_log(self):
        if not hasattr(self, "journal"):
            return
        project = read_project(self.path)
        assert project.events == self.sent
        assert self.journal.state == project.state == replay(self.sent)
        active = self.journal.state.active
        stated = [pair for e in active if not e.by_hand for pair in meaning(e.kind, e.body)]
        stated += holding([event for event in active if event.by_hand])
        found = said(self.journal)
        together, apart = relation(found)
        expected = relation(stated)
        np.testing.assert_array_equal(together, expected[0])
        np.testing.assert_array_equal(apart, expected[1])
        clash = bool((together & apart).any())
        assert bool(self.journal.state.conflict()) == clash
        state = self.journal.state
        answers = [event.body["same"] for event in state.active if event.kind == "answer"]
        assert state.counts == {word: answers.count(same) for same, word in SAID.items()}
        named = [event.body["name"] for event in state.active if event.kind == "rename"]
        assert [one.name for one in state.names] == named

    def teardown(self):
        if hasattr(self, "journal"):
            while self.counting:
                self.undo()
            state = self.journal.state
            assert state.constraints() == State().constraints()
            assert (state.active, state.names, state.strokes) == ([], [], [])
            for _ in list(self.undone):
                self.redo()
            self.equals_the_replay_of_its_log()
            self.journal.close()
            assert os.listdir(self.folder) == ["p.linkwise"]
            shutil.rmtree(self.folder)


def test_any_program_equals_the_replay_of_its_log_and_undoing_all_the_start():
    run_state_machine_as_test(Programs, settings=settings(max_examples=40, stateful_step_count=25))


def test_contradicting_answers_all_stay_and_are_told(journal):
    journal.answer(0, 1, True)
    journal.answer(1, 2, True)
    journal.answer(5, 6, True)
    assert journal.state.conflict() == []
    journal.answer(2, 0, False)
    assert journal.state.constraints().n_pairs == 4
    assert [event.seq for event in journal.state.conflict()] == [1, 2, 4]
    journal.undo(2)
    assert journal.state.conflict() == []


def test_a_name_follows_the_rows_it_was_given_to(journal):
    journal.rename([0, 1, 2], "cats")
    journal.rename([3, 4], "dogs")

    def names(label_of):
        return journal.state.cluster_names(label_of)

    assert names(dict(enumerate([7, 7, 7, 5, 5]))) == {7: "cats", 5: "dogs"}
    assert names(dict(enumerate([0, 0, 1, 1, 1]))) == {0: "cats", 1: "dogs"}
    journal.rename([3], "hounds")
    assert names(dict(enumerate([7, 7, 7, 5, 5])))[5] == "hounds"
    journal.rename([3], "")
    assert names(dict(enumerate([7, 7, 7, 5, 5]))) == {7: "cats"}


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("guess", {}, "kind must be one of answer, link"),
        ("answer", {"a": 0, "b": 1}, "'same' is missing"),
        ("answer", {"a": 0, "b": 1, "same": 1}, "same must be True, False or None"),
        ("answer", {"a": 0, "b": 0, "same": True}, "names 0 twice"),
        ("answer", {"a": 0, "b": 1.0, "same": True}, "must be an id"),
        ("answer", {"a": True, "b": 1, "same": True}, "must be an id"),
        ("answer", {"a": 0, "b": 1, "same": True, "sure": 1}, "'sure' is not known"),
        ("answer", [0, 1, True], "the body must be an object"),
        ("answer", {"a": 0, "b": 12, "same": True}, "12 is not a row number of points.csv, 0..11"),
        ("answer", {"a": "0", "b": 1, "same": True}, "'0' is not a row number"),
        ("link", {"pairs": []}, "pairs must be a list"),
        ("link", {"pairs": [(0, 1, 2)]}, "the sign must be 1"),
        ("link", {"pairs": [(0, 1, 1, float("nan"))]}, "finite number >= 0"),
        ("link", {"pairs": [(0, 1, 1, -1)]}, "finite number >= 0"),
        ("group", {"rows": [0]}, "at least 2"),
        ("group", {"rows": [0, 1], "apart": [1]}, "leave it in one"),
        ("merge", {"first": [0], "second": []}, "at least 1"),
        ("merge", {"first": [0, 1], "second": [1]}, "leave it in one"),
        ("split", {"parts": [[0, 1]]}, "two lists of ids or more"),
        ("split", {"parts": [[0], [0]]}, "leave it in one"),
        ("stroke", {"colour": "", "points": [(0, 0)]}, "colour must be a text, not empty"),
        ("stroke", {"colour": "red", "points": [(0, float("inf"))]}, "finite number"),
        ("stroke", {"colour": "red", "points": [0]}, r"must be \(x, y\)"),
        ("rename", {"rows": [0], "name": "\ud800"}, "half a character"),
        ("undo", {"event": 0}, "number of an event"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(journal, kind, body, words):
    with pytest.raises(ValueError, match=words):
        journal.append(kind, body)
    assert journal.state == State()
    assert journal.events() == []


def test_ids_are_texts_of_the_data(path):
    data = DATA._replace(named_by="id")
    with pytest.raises(ValueError, match="ids go with data named by id"):
        Journal(path, data=data)
    with Journal(path, data=data, ids=["a", "b", "1"]) as journal:
        journal.answer("a", "1", True)
        for bad in ("z", 1):
            with pytest.raises(ValueError, match="is not an id of points"):
                journal.answer("a", bad, True)
        with pytest.raises(ValueError, match="must be an id"):
            journal.answer("a", "", True)
        assert journal.state.constraints() == Constraints([("a", "1")])


def test_several_events_are_written_all_or_none(journal):
    good = Draft("answer", {"a": 0, "b": 1, "same": True}, client="g")
    bad = Draft("undo", {"event": 7}, client="b")
    with pytest.raises(ValueError, match="no event"):
        journal.extend([good, bad])
    assert journal.events() == []
    events = journal.extend([good, bad._replace(body={"event": 1}), good])
    assert [event.seq for event in events] == [1, 2, 1]


def test_answers_are_never_applied_to_other_rows(path, tmp_path):
    points = tmp_path / "points.csv"
    points.write_text("id,x\na,1\nb,2\nc,3\n")
    data = describe(points, 3, ids=True)
    assert data.sha256 == subprocess.check_output(["sha256sum", points], text=True).split()[0]
    with Journal(path, data=data, ids="abc") as journal:
        journal.answer("a", "b", True)
    points.write_text("id,x\na,1\nc,2\nb,3\n")
    with pytest.raises(ValueError, match=r"answers about points.csv as it was \(3 rows, sha256"):
        Journal(path, data=describe(points, 3, ids=True), ids="abc")
    with pytest.raises(ValueError, match="names rows by id, not by row number"):
        Journal(path, data=data._replace(named_by="row"))
    assert len(read_project(path).events) == 1
    Journal(path, data=data, ids="abc").close()


def test_a_second_writer_is_refused(journal, path, tmp_path):
    link = tmp_path / "link.linkwise"
    link.symlink_to(path)
    for name in (path, link):
        with pytest.raises(InUse, match="in use by another linkwise"):
            Journal(name, data=DATA)
    code = (
        "import sys; from linkwise.journal import *\n"
        "try: Journal(sys.argv[1], data=Data('points.csv', '0' * 64, 12, 'row'))\n"
        "except InUse as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "is in use by another linkwise; close that one first" in told.stdout
    journal.answer(0, 1, True)  # the first writer goes on
    journal.close()
    with Journal(path, data=DATA) as second:
        assert second.state.n_events == 1


def test_a_closed_project_is_one_file_and_can_be_read_where_nothing_can_be_written(path, journal):
    journal.answer(0, 1, True)
    assert {p.suffix for p in path.parent.iterdir()} > {".linkwise", ".linkwise-wal"}
    journal.close()
    assert os.listdir(path.parent) == [path.name]
    journal.close()  # again: nothing happens
    with pytest.raises(ValueError, match="not open in this process"):
        journal.answer(0, 1, True)
    copy = shutil.copy(path, path.with_name("copy.linkwise"))
    assert read_project(copy) == read_project(path)


def test_a_reader_at_work_does_not_stop_the_writer_or_its_end(journal, path):
    journal.answer(0, 1, True)
    reader = project_file.open_to_read(path)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
    journal.answer(0, 2, True)
    assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
    journal.close()
    reader.close()
    assert len(read_project(path).events) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty: a project not begun"),
        (b"PK\x03\x04" + bytes(26) + b"model.json", "is a saved model, not a project"),
        (b"id,x\n1,2\n", "is not a linkwise project"),
        (b"SQLite format 3\x00" + b"\xff" * 4000, "not a linkwise project|damaged"),
    ],
)
def test_another_file_is_refused_in_words(path, content, words):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_project(path)
    if content:
        with pytest.raises(ValueError, match=words):
            Journal(path, data=DATA)
        assert path.read_bytes() == content
        assert os.listdir(path.parent) == [path.name]


def edit(path, *statements):
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def both(path):
    """Open a project in both ways."""
    return [lambda: read_project(path), lambda: Journal(path, data=DATA)]


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (
            ["PRAGMA user_version = 4"],
            r"newer linkwise \(file format 4, this one knows 3\); update",
        ),
        (["PRAGMA application_id = 7"], "database of another program"),
        (["DROP TRIGGER events_stay", "DELETE FROM events WHERE seq = 1"], "event 1 is missing"),
        (
            ["DROP TRIGGER events_are_final", "UPDATE events SET body = '{}' WHERE seq = 2"],
            "the log is damaged: answer: expected a, b, same",
        ),
        (["DROP TABLE events"], "no such table"),
    ],
)
def test_a_changed_file_is_refused_in_words(journal, path, statements, words):
    for b in (1, 2, 3):
        journal.answer(0, b, True)
    journal.close()
    edit(path, *statements)
    before = path.read_bytes()
    for opened in both(path):
        with pytest.raises((ValueError, OSError), match=words):
            opened()
    if "PRAGMA" in statements[0]:
        assert path.read_bytes() == before


def test_a_file_cut_short_is_refused_in_words(journal, path):
    for b in range(1, 12):
        journal.answer(0, b, True, why="x" * 3000)
    journal.close()
    whole = path.read_bytes()
    for size in (len(whole) // 2, 5000, 300):
        path.write_bytes(whole[:size])
        for opened in both(path):
            with pytest.raises(ValueError, match=r"damaged|not a linkwise project|database of"):
                opened()


def test_no_event_is_ever_changed_or_removed(journal, path):
    journal.answer(0, 1, True)
    journal.close()
    for statement in ("DELETE FROM events", "UPDATE events SET who = 'eve'"):
        with pytest.raises(sqlite3.IntegrityError, match="events are never"):
            edit(path, statement)


def test_a_file_that_another_program_has_locked_takes_nothing(journal, path, monkeypatch):
    journal.answer(0, 1, True)
    journal._db.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(NotSaved, match=r"not saved: .* another program has locked the file"):
        journal.answer(0, 2, True, client="c")
    assert journal.state.n_events == 1
    other.execute("ROLLBACK")
    assert journal.answer(0, 2, True, client="c").seq == 2
    journal.close()
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(project_file, "WAIT", 0.05)
    for opened in both(path):
        with pytest.raises(OSError, match="another program has locked the file"):
            opened()
    other.close()
    assert len(read_project(path).events) == 2


def test_a_file_that_is_moved_away_takes_nothing(journal, path):
    journal.answer(0, 1, True)
    elsewhere = path.with_name("elsewhere.linkwise")
    path.rename(elsewhere)
    with pytest.raises(NotSaved, match="was moved or removed"):
        journal.answer(0, 2, True)
    elsewhere.rename(path)
    journal.answer(0, 2, True)


def test_another_programs_events_are_noticed(journal, path):
    journal.answer(0, 1, True)
    columns = "'answer', '{\"a\":0,\"b\":2,\"same\":true}', '', '', '', 'x', 'answer'"
    edit(path, f"INSERT INTO events VALUES (2, {columns})")
    with pytest.raises(NotSaved, match="another program wrote to"):
        journal.answer(0, 3, True)
    assert journal.answer(0, 3, True).seq == 3


def test_a_full_database_takes_nothing_and_goes_on_when_there_is_room(journal, path):
    journal.answer(0, 1, True)
    (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
    journal._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(NotSaved, match=r"not saved: .*the disk is full; make room, and try again"):
        journal.answer(0, 2, True, why="x" * 50_000, client="c")
    assert journal.state.n_events == len(read_project(path).events) == 1
    journal._db.execute("PRAGMA max_page_count = 1000")
    assert journal.answer(0, 2, True, why="x" * 50_000, client="c").seq == 2
    assert reopened(journal).close() is None


def run(code, *args, **options):
    """Run Python code with the journal imported; return what it printed."""
    code = "import os, sys\nfrom linkwise.journal import *\n" + textwrap.dedent(code)
    line = [sys.executable, "-c", code, *map(str, args)]
    done = subprocess.run(line, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_write_that_the_disk_refuses_is_not_acknowledged(path):
    """The size of files is limited, so that the write itself fails."""
    told = run(
        """
        import resource
        journal = Journal(sys.argv[1], data=Data("points.csv", "0" * 64, 12, "row"))
        journal.answer(0, 1, True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
        saved = 1
        try:
            for i in range(100):
                journal.answer(0, 2, True, client=f"c{i}", why="x" * 3000)
                saved += 1
        except NotSaved as error:
            print(error)
        assert journal.state.n_events == saved == len(journal.events())
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        journal.answer(0, 2, True, client=f"c{saved - 1}")
        print(saved)
        """,
        path,
    )
    assert "not saved: " in told[0]
    assert "try again" in told[0]
    assert len(read_project(path).events) == int(told[1]) + 1


def can_mount():
    line = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return shutil.which("unshare") and not subprocess.run(line, capture_output=True).returncode


def on_a_full_disk(folder, planted=""):
    """Answer on a disk that becomes full and has room again; return the ended process."""
    code = """
        folder, planted = sys.argv[1:]
        if planted:
            def lying(journal, *args, answer=Journal.answer, **options):
                try: return answer(journal, *args, **options)
                except NotSaved: return None  # a fault: an answer that is not saved counts
            Journal.answer = lying
        path = os.path.join(folder, "p.linkwise")
        data = Data("points.csv", "0" * 64, 12, "row")
        with Journal(path, data=data) as journal:
            journal.answer(0, 1, True)
            with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
                try:
                    while file.write(bytes(4096)): pass
                except OSError: pass
            saved = 1
            try:
                for i in range(300):
                    journal.answer(0, 2, True, client=f"c{i}", why="x" * 500)
                    saved += 1
            except NotSaved as error:
                print(error)
            assert journal.state.n_events == saved == len(read_project(path).events)
        with Journal(path, data=data) as journal:
            assert journal.state.n_events == saved
            os.remove(os.path.join(folder, "filler"))
            journal.answer(0, 2, True)
        print(len(read_project(path).events) - saved)
        open(os.path.join(folder, "filler"), "wb", buffering=0).write(bytes(1 << 20))
        try: Journal(os.path.join(folder, "q.linkwise"), data=data)
        except OSError as error: print(error)
    """
    code = "import os, sys\nfrom linkwise.journal import *\n" + textwrap.dedent(code)
    mount = 'mount -t tmpfs -o size=1M none "$0" && exec "$@"'
    command = [sys.executable, "-c", code, folder, planted]
    line = ["unshare", "-rm", "sh", "-c", mount, folder, *command]
    return subprocess.run(line, capture_output=True, text=True)


@pytest.mark.skipif(not can_mount(), reason="needs user namespaces")
def test_a_full_disk_takes_nothing_and_goes_on_when_there_is_room(tmp_path):
    done = on_a_full_disk(tmp_path)
    assert done.returncode == 0, done.stderr
    first, more, refused = done.stdout.splitlines()
    assert first.startswith("not saved: ")
    assert "the disk is full; make room, and try again" in first
    assert more == "1"
    assert "disk is full" in refused or "No space left" in refused


@pytest.mark.skipif(not can_mount(), reason="needs user namespaces")
def test_an_answer_that_counts_without_being_saved_is_found_out(tmp_path):
    assert "AssertionError" in on_a_full_disk(tmp_path, planted="lying").stderr


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_without_permission_a_project_is_read_or_refused_in_a_sentence():
    """A folder that others may only look into, and a file that they may not read."""
    code = """
        folder = sys.argv[1]
        data = Data("points.csv", "0" * 64, 12, "row")
        for name in ("open", "shut"):
            with Journal(f"{folder}/{name}.linkwise", data=data) as journal:
                journal.answer(0, 1, True)
        read_project(f"{folder}/open.linkwise")  # imports what reading needs
        os.chmod(f"{folder}/open.linkwise", 0o444)
        os.chmod(f"{folder}/shut.linkwise", 0)
        os.chmod(folder, 0o555)
        if os.getuid() == 0:
            os.setuid(65534)
        for ask in (Journal, read_project):
            for name in ("open", "shut", "new")[: 3 if ask is Journal else 2]:
                options = {"data": data} if ask is Journal else {}
                try: print(len(ask(f"{folder}/{name}.linkwise", **options).events))
                except OSError as error: print(error)
    """
    with tempfile.TemporaryDirectory() as folder:
        *refused, events, unread = run(code, folder)
        os.chmod(folder, 0o755)
    assert len(refused) == 3
    assert all("cannot be written to" in line or "cannot be read" in line for line in refused)
    assert events == "1"
    assert "shut.linkwise" in unread


@pytest.mark.skipif(not can_mount(), reason="needs user namespaces")
def test_a_read_only_folder_is_read_and_nothing_is_acknowledged(journal, path, tmp_path):
    journal.answer(0, 1, True)
    journal.close()
    shutil.copy(path, tmp_path / "wal.linkwise")
    edit(tmp_path / "wal.linkwise", "PRAGMA journal_mode = WAL")
    code = """
        data = Data("points.csv", "0" * 64, 12, "row")
        for name in ("points", "wal", "new"):
            try: Journal(f"{sys.argv[1]}/{name}.linkwise", data=data)
            except OSError as error: print(error)
        for name in ("points", "wal"):
            print(len(read_project(f"{sys.argv[1]}/{name}.linkwise").events))
    """
    code = "import os, sys\nfrom linkwise.journal import *\n" + textwrap.dedent(code)
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    line = ["unshare", "-rm", "sh", "-c", mount, tmp_path, sys.executable, "-c", code, tmp_path]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *refused, first, second = done.stdout.splitlines()
    assert len(refused) == 3
    assert all("its folder cannot be written to" in line for line in refused)
    assert (first, second) == ("1", "1")


def test_without_shared_memory_the_file_is_in_delete_mode(path, monkeypatch):
    connect = project_file._connect

    class Refusing:
        """A connection whose file system has no shared memory."""

        def __init__(self, db):
            self.db = db

        def __getattr__(self, name):
            return getattr(self.db, name)

        def execute(self, statement, *args):
            if statement == "PRAGMA journal_mode = WAL":
                raise sqlite3.OperationalError("locking protocol")
            return self.db.execute(statement, *args)

    monkeypatch.setattr(project_file, "_connect", lambda *args: Refusing(connect(*args)))
    with Journal(path, data=DATA) as journal:
        journal.answer(0, 1, True)
        mode = [journal._db.execute(f"PRAGMA {name}").fetchone()[0] for name in
                ("journal_mode", "synchronous")]  # fmt: skip
        assert mode == ["delete", 3]
        assert len(read_project(path).events) == 1
        with pytest.raises(InUse):
            Journal(path, data=DATA)
    assert len(read_project(path).events) == 1


def test_threads_share_a_journal(journal):
    def answers(t):
        for i in range(20):
            journal.answer(t, 11, True, client=f"{t}-{i}")

    threads = [threading.Thread(target=answers, args=(t,)) for t in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert journal.state == replay(journal.events())
    assert journal.state.n_events == 100


def test_opening_a_journal_imports_nothing_heavy():
    loaded = run("print(*sys.modules)")[0].split()
    assert not {"numpy", "scipy", "sklearn"} & set(loaded)


def test_settings_are_kept(journal):
    journal.configure(columns=["x", "y"], k=3)
    journal = reopened(journal)
    assert journal.settings == {"columns": ["x", "y"], "k": 3}
    journal.configure(k=None)
    journal.close()


HOSTILE = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", " =1", "'=1", "''", "'x",
           "＝1", "-5", "+49", "1e5", "a,b", 'q"q', "two\nlines", "\r=1", "Zoë", "007"]  # fmt: skip


def test_spreadsheet_formulas_are_neutralised_and_come_back():
    cells = [inert(cell) for cell in HOSTILE]
    for cell, shown in zip(HOSTILE, cells, strict=True):
        risky = cell.lstrip()[:1] in "=@+-＝" and cell not in ("-5", "+49")
        assert shown.startswith("'") or not risky
        assert restored(shown) == cell
    assert len(set(cells)) == len(HOSTILE)
    assert inert("-5") == "-5"
    assert restored("'=1", {"'=1"}) == "'=1"  # an id that was so from the start
    assert inert(-5) == -5


@given(st.text(st.characters(codec="utf-8")))
def test_every_text_comes_back_from_its_inert_form(text):
    assert restored(inert(text)) == text


def parquet_or(suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    return suffix


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_links_labels_and_logs_come_back_as_they_were(suffix, tmp_path):
    parquet_or(suffix)
    ids, data = HOSTILE, DATA._replace(named_by="id", n_rows=len(HOSTILE))
    with Journal(tmp_path / "a.linkwise", data=data, ids=ids, who="=eve()") as journal:
        for a, b in combinations(ids, 2):
            journal.answer(a, b, (len(a) + len(b)) % 3 == 0, why="=why()")
        journal.answer(ids[0], ids[2], None)
        journal.link([(ids[0], ids[1], -1, 0.25)])
        journal.undo(3)
        state = journal.state
    project = read_project(tmp_path / "a.linkwise")
    links, labels, log = (tmp_path / f"{name}{suffix}" for name in ("links", "labels", "log"))
    write_links(links, state)
    write_log(log, project)
    write_labels(labels, np.arange(len(ids)) % 3, ids, {1: "=name()"})
    if suffix in (".csv", ".tsv"):
        for table in (links, labels, log):
            with open(table, newline="") as file:
                rows = list(csv.reader(file, delimiter=",\t"[suffix == ".tsv"]))
            assert not [cell for row in rows for cell in row if cell.lstrip()[:1] in tuple("=@＝")]
        assert Constraints.read(links).n_pairs == state.constraints().n_pairs

    def imported(file, name):
        with Journal(tmp_path / name, data=data, ids=ids) as journal:
            journal.extend(read_table(file, journal, ids=ids))
            n = journal.state.n_events
            journal.extend(read_table(file, journal, ids=ids))
            assert journal.state.n_events == n  # imported twice counts once
            return journal

    assert imported(links, "b.linkwise").state.constraints() == state.constraints()
    again = imported(log, "c.linkwise").state
    assert [e._replace(seq=0) for e in again.active] == [e._replace(seq=0) for e in state.active]
    (event,) = imported(labels, "d.linkwise").state.active
    expected = [set(ids[i::3]) for i in range(3)]
    assert (event.kind, [set(part) for part in event.body["parts"]]) == ("split", expected)


def test_a_log_is_merged_into_another(tmp_path):
    data = DATA
    with Journal(tmp_path / "a.linkwise", data=data) as journal:
        for b in (1, 2, 3):
            journal.answer(0, b, True)
        journal.undo()
    write_log(tmp_path / "log.jsonl", read_project(tmp_path / "a.linkwise"))
    with Journal(tmp_path / "b.linkwise", data=data) as journal:
        journal.answer(7, 8, False)
        journal.extend(read_table(tmp_path / "log.jsonl", journal))
        assert said(journal) == [(7, 8, -1), (0, 1, 1), (0, 2, 1)]
        journal.redo(4)
        assert read_table(tmp_path / "log.jsonl", journal) == []
    with (
        Journal(tmp_path / "c.linkwise", data=data._replace(sha256="1" * 64)) as journal,
        pytest.raises(ValueError, match="about the rows of another file"),
    ):
        read_table(tmp_path / "log.jsonl", journal)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", "x,y\n1,2\n", "expected the columns id_a,id_b,kind"),
        ("t.csv", "", "expected the columns"),
        ("t.csv", "id_a,id_b,kind\n0,1\n", "line 2: expected 3 fields, got 2"),
        ("t.csv", "id_a,id_b,kind\n0,1,perhaps\n", "kind"),
        ("t.csv", "id_a,id_b,kind\n0,a,must\n", "'a' is not a row number"),
        ("t.csv", "id_a,id_b,kind\n0,99,must\n", "99 is not a row number of points.csv"),
        ("t.jsonl", "{", "line 1: expected an object"),
        (
            "t.jsonl",
            '{"seq": 1, "kind": "x", "body": {}, "client": "c"}',
            "about the rows of anoth",
        ),
        ("t.xlsx", "", "expected a name that ends in"),
        ("t.csv", "id_a;id_b;kind\n0;1;must\n", "separated by ';'"),
        ("t.csv", "id_a,id_b,kind,kind\n0,1,must,cannot\n", "two columns are called 'kind'"),
        ("t.csv", "row,label,label\n0,1,2\n1,1,3\n", "two columns are called 'label'"),
        ("t.csv", "row,label\n0,1\n1,-1\n", "fewer than two of its rows have a label"),
        ("t.jsonl", '{"row": 1.5, "label": 1}\n{"row": 2, "label": 1}', "1.5 is not a row number"),
        ("t.jsonl", '{"row": 1e999, "label": 1}\n{"row": 2, "label": 1}', "inf is not a row"),
    ],
)
def test_a_bad_table_is_refused_in_words(journal, tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=words):
        journal.extend(read_table(tmp_path / name, journal))
    assert journal.events() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "id_a,id_b,kind\n0,1,must\n2,3,cannot\n"),
        ("t.csv", "0,1,must\n2,3,cannot\n"),
        ("t.csv", "0,1,must,1\n2,3,cannot,1\n"),
        ("t.tsv", "B\tsign\tA\n1\tsame\t0\n3\tdifferent\t2\n"),
        ("t.jsonl", '{"a": 0, "b": 1, "kind": "must"}\n{"a":2,"b":3,"kind":"cannot","weight":1}\n'),
    ],
)
def test_what_fit_reads_as_links_can_be_imported(journal, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    journal.extend(read_table(tmp_path / name, journal))
    assert journal.state.constraints() == Constraints.read(tmp_path / name)


def test_labels_written_as_floats_are_the_same_labels(journal, tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text("row,label\n0,1.0\n1,1\n2,2.0\n3,-1.0\n4,-1.0\n5,nan\n6,NaN\n7,\n")
    ((_, body, *_),) = read_table(table, journal)
    assert body == {"parts": [[0, 1], [2]]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[1:], "event 1 is missing"),
        (lambda rows: [rows[0], rows[2]], "event 2 is missing"),
        (lambda rows: [row | {"client": None} for row in rows], "client must be a text"),
        (lambda rows: [row | {"when": 3} for row in rows], "when must be a text"),
        (lambda rows: [row | {"when": "yesterday"} for row in rows], "when must be a time"),
    ],
)
def test_a_log_that_is_not_whole_is_refused(journal, tmp_path, change, words):
    with Journal(tmp_path / "a.linkwise", data=DATA) as other:
        for b in (1, 2, 3):
            other.answer(0, b, True)
    log = tmp_path / "log.jsonl"
    write_log(log, read_project(tmp_path / "a.linkwise"))
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))
    with pytest.raises(ValueError, match=words):
        journal.extend(read_table(log, journal))
    assert journal.events() == []


def test_a_pipe_is_no_project(path):
    os.mkfifo(path)
    for look in (read_project, lambda path: Journal(path, data=DATA)):
        with pytest.raises(ValueError, match="is a pipe or a device; name a file"):
            look(path)
    os.mkfifo(path.with_suffix(".csv"))
    assert not project_file.is_project(path.with_suffix(".csv"))  # and does not wait


def test_a_missing_pyarrow_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'linkwise\[io\]'"):
        write_labels(tmp_path / "labels.parquet", [0, 1])
    assert os.listdir(tmp_path) == []


def test_representatives_stand_for_all_parts_of_a_cluster(rng):
    X = rng.normal(size=(300, 2)) + 20 * np.repeat(np.arange(5), 60)[:, None]
    X[7] = 500, 500  # far outside
    chosen = representatives(X, range(300))
    assert 9 <= len(chosen) <= 12
    assert {row // 60 for row in chosen} == set(range(5))
    assert representatives(X, [5, 3]) == [3, 5]
    assert chosen == representatives(X, range(300))


@pytest.fixture
def five(rng):
    """Five blobs of 30 rows, shown to the clustering as they are."""
    X = rng.normal(size=(150, 2)) + 9 * np.array([(0, 0), (1, 0), (0, 1), (1, 1), (2, 2)]).repeat(
        30, axis=0
    )
    return X, np.repeat(np.arange(5), 30)


def test_corrections_survive_the_next_fit(journal, five, path):
    X, y = five
    data = DATA._replace(n_rows=150)
    journal.close()
    path.unlink()
    with Journal(path, data=data) as journal:
        journal.append("merge", merging(X, y, 0, 1))
        far, near = (
            np.flatnonzero((y == 4) & side).tolist() for side in (X[:, 0] > 18, X[:, 0] <= 18)
        )
        journal.append("split", splitting(X, y, far))
        journal.append("group", moving(X, y, [60, 61, 62], 3))
        links = journal.state.constraints()
    assert links.n_pairs <= 3 * len(links.ids)
    assert links.conflict() is None
    model = ConstrainedAgglomerative(5).fit(X, constraints=links.with_weight(1))
    labels = model.labels_
    assert not model.violations_
    assert len(set(labels[:60].tolist())) == 1  # all of both, not the representatives alone
    assert set(labels[60:63].tolist()) == {np.bincount(labels[90:120]).argmax()}
    assert len(set(labels[far].tolist()) & set(labels[near].tolist())) == 0


def test_corrections_of_what_is_not_there_are_refused(five):
    X, y = five
    for wrong, words in (
        (lambda: merging(X, y, 0, 0), "another cluster"),
        (lambda: merging(X, y, 0, 9), "no cluster 9"),
        (lambda: splitting(X, y, [0, 30]), "they are of 2"),
        (lambda: splitting(X, y, range(30)), "whole cluster"),
        (lambda: moving(X, y, [0], 9), "cluster 9 has no other rows"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
