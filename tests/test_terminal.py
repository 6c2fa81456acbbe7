"""Laws of labelling in the terminal."""

import contextlib
import io
import json
import os
import re
import sqlite3
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Constraints
from linkwise.cli import main
from linkwise.journal import Journal, NotSaved, describe, read_project
from linkwise.labelling.items import Items, fields_of, read_items, text_points
from linkwise.labelling.texts import clean, differences, words
from linkwise.query import Session
from linkwise.terminal import keys as keys_module
from linkwise.terminal.dialogue import Dialogue
from linkwise.terminal.keys import Lines, open_keys
from linkwise.terminal.layout import cut, padded, width, wrapped
from linkwise.terminal.screen import Look, View, compared, painted, question_lines

HOSTILE = "\x1b[2J\x1b]0;owned\x07 a\rb\x9b31m \u202eevil\u2066 \x00\x7f \ue000 \U000e0041 end"
ANSI = re.compile(r"\x1b\[(1|2|1;33|0)m")
DATA = "id,x,y,kind\n" + "".join(
    f"r{i:02d},{8 * (i % 3 == 1) + i % 5 / 9:.3f},{8 * (i % 3 == 2) + i % 7 / 9:.3f},"
    f"{'ab'[i % 2]}\n"
    for i in range(30)
)  # three groups, i % 3


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder that holds data.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")
    Path("data.csv").write_text(DATA)
    return tmp_path


@pytest.fixture
def call(here, capsys, monkeypatch):
    """Run a command line with lines of input; return its exit code, stdout and stderr."""

    def run(line, typed=""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        code = main(line.split() if isinstance(line, str) else line)
        return code, *capsys.readouterr()

    return run


LABEL = "label data.csv --id id --columns x,y -k 3 --terminal"


def asked(out):
    """Return the pairs of ids on the screens of an output."""
    return re.findall(r"^id +(r\d\d) +\| (r\d\d)$", out, flags=re.MULTILINE)


def answers(path="data.linkwise"):
    """Return the answers and pairs (a, b, same) that count, in the order of the log."""
    found = []
    for event in read_project(path).state.active:
        if event.kind == "answer":
            found.append(tuple(event.body[name] for name in ("a", "b", "same")))
        else:
            found += [(pair.a, pair.b, pair.sign > 0) for pair in event.constraints()]
    return found


@given(st.text())
def test_no_text_is_a_command_to_the_terminal(text):
    for shown in (clean(text), painted([(text, "mark")], Look(colour=False))):
        assert shown.isprintable() or set(shown) - {"\u200c", "\u200d"} <= set(
            filter(str.isprintable, shown)
        )
    coloured = ANSI.sub("", painted([(text, "mark")], Look(colour=True)))
    assert "\x1b" not in coloured
    assert not any(unicodedata.category(char) == "Cc" for char in coloured)


def test_hostile_text_is_shown_by_numbers():
    shown = clean(HOSTILE)
    assert shown.startswith("\\x1b[2J\\x1b]0;owned\\x07 a b\\x9b31m \\u202eevil\\u2066 ")
    assert clean("naïve 漢字 👩\u200d💻") == "naïve 漢字 👩\u200d💻"
    assert clean("two\nlines\tand a tab") == "two lines and a tab"


def test_widths_are_those_of_a_terminal():
    assert [width(text) for text in ("abc", "漢字", "e\u0301", "")] == [3, 4, 1, 0]
    assert cut("abcdef", 4) == "abc~"
    assert cut("漢字漢", 4) == "漢~"
    assert padded("漢", 4) == "漢  "


printable = st.text(st.characters(codec="utf-8"), max_size=60)


@given(st.lists(printable.filter(str.strip), max_size=8), st.integers(2, 30))
def test_wrapping_keeps_every_word_within_the_width(texts, n):
    spans = [(word, "") for text in texts for word in words(text)]
    lines = wrapped(spans, n)
    assert all(sum(width(text) for text, _ in line) <= n for line in lines)
    joined = "".join(text for line in lines for text, _ in line).replace(" ", "")
    assert joined == "".join(word for word, _ in spans)


def test_words_that_differ_are_marked():
    first, second = words("the red cat sat"), words("the black cat sat down")
    marks = differences(first, second)
    assert marks == ([False, True, False, False], [False, True, False, False, True])


def items_of(cells, *, text=None, spread=None, ids=None):
    names = [f"column {j}" for j in range(len(cells[0]))]
    spread = [None] * len(names) if spread is None else spread
    return Items(np.zeros((len(cells), 1)), ids, names, cells, spread, text, "")


@given(
    st.lists(st.lists(printable, min_size=3, max_size=3), min_size=2, max_size=2),
    st.integers(20, 130),
    st.booleans(),
)
def test_a_question_fits_the_terminal(cells, columns, colour):
    items = items_of(cells, text=0, ids=["\x1b[31mid", "b" * 200])
    look = Look(columns=columns, lines=24, colour=colour)
    view = View("p.linkwise", {"same": 1}, "\x1b[2J because", "so far", HOSTILE, "note")
    lines = [ANSI.sub("", painted(line, look)) for line in question_lines(items, 0, 1, view, look)]
    assert all(width(line) <= columns for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert any("because" in line for line in lines)
    assert len(lines) < 24 or columns < 50  # the last line is for the prompt


def test_differences_are_marked_with_and_without_colour():
    cells = [["one two three", "5.0", "same"], ["one 2 three", "5.1", "same"]]
    items = items_of(cells, text=0, spread=[None, 0.05, None])
    plain = "\n".join(painted(line, Look()) for line in compared(items, 0, 1, Look(), 20))
    assert "one [two] three" in plain
    assert re.search(r"column 1 +5\.0 +\| 5\.1 +\*\*$", plain, flags=re.MULTILINE)
    assert re.search(r"column 2 +same +\| same$", plain, flags=re.MULTILINE)
    look = Look(colour=True)
    coloured = "\n".join(painted(line, look) for line in compared(items, 0, 1, look, 20))
    assert "\x1b[1;33mtwo\x1b[0m" in coloured
    assert "[two]" not in coloured
    assert "\x1b[1;33m5.1\x1b[0m" in coloured
    narrow = [painted(line, Look(30)) for line in compared(items, 0, 1, Look(30), 20)]
    assert narrow[:2] == ["A 0", "B 1"]
    assert "column 1 **" in narrow
    assert "  B 5.1" in narrow


def test_of_many_columns_those_that_differ_most_are_shown():
    cells = np.zeros((2, 64))
    cells[1, [3, 40]] = 9, 5
    cells[1, 50] = 0.1
    items = items_of(cells, spread=[1.0] * 64)
    lines = [painted(line, Look()) for line in compared(items, 0, 1, Look(), 8)]
    assert len(lines) == 8
    assert [line.split()[1] for line in lines if " 9 " in line or " 5 " in line] == ["3", "40"]
    assert "58 more columns, less different or the same" in lines[-1]
    assert [field.sign for field in fields_of(items, 0, 1)][50] == "*"


def test_the_look_follows_the_terminal_and_the_environment():
    class Out(io.StringIO):
        encoding = "ascii"

        def isatty(self):
            return True

        def fileno(self):
            raise OSError

    def look(**environ):
        return Look.of(Out(), environ)

    assert look(TERM="xterm", COLUMNS="50", LINES="30")[:4] == (50, 30, True, True)
    assert look(TERM="xterm", NO_COLOR="1")[2:4] == (False, True)
    assert look(TERM="dumb")[2:4] == (False, False)
    assert look(COLUMNS="3") [:2] == (20, 24)  # fmt: skip
    assert Look.of(io.StringIO(), {"TERM": "xterm"})[2:4] == (False, False)
    assert painted([("Zoë 漢", "")], look()) == "Zo\\xeb \\u6f22"


def test_tables_are_shown_whole_and_clustered_by_their_numbers(here):
    items = read_items("data.csv", id_column="id")
    assert items.names == ["x", "y", "kind"]
    assert items.cells[1] == ["8.111", "0.111", "b"]
    assert items.X.shape == (30, 4)  # kind is a or b
    assert items.ids[:2] == ["r00", "r01"]
    assert items.used == "x, y, kind"
    numbers = {"id_column": "id", "categories": ["none"]}
    assert read_items("data.csv", columns=["y", "kind"], **numbers).X.shape == (30, 1)
    assert read_items("data.csv", id_column="0").cells == items.cells
    scaled = read_items("data.csv", standardize=True, **numbers).X
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    Path("plain.csv").write_text("1,2\n3,4\n")
    assert read_items("plain.csv")[1:4] == (
        None,
        ["column 0", "column 1"],
        [["1", "2"], ["3", "4"]],
    )
    np.save("data.npy", np.eye(3, dtype=np.float32))
    items = read_items("data.npy")
    assert items.X.dtype == np.float32
    assert items.name(2) == 2


def test_texts_are_clustered_by_their_words(here):
    texts = ["cats and dogs", "dogs and cats", "prices of shares", "shares and prices"] * 3
    rows = "".join(f'{i},"{text}",{i % 5}\n' for i, text in enumerate(texts))
    Path("texts.csv").write_text("id,text,n\n" + rows)
    items = read_items("texts.csv", id_column="id", text="text")
    assert (items.names, items.text, items.used) == (["text", "n"], 0, "text")
    S = items.X @ items.X.T
    np.testing.assert_allclose(np.diag(S), 1)
    assert S[0, 1] > 0.99
    assert S[0, 2] < 0.5
    both = read_items("texts.csv", id_column="id", text="text", columns=["n"])
    assert both.X.shape[1] == items.X.shape[1] + 1
    assert both.used == "text, n"
    assert text_points(["a word", "a word"]).shape == (2, 1)


@pytest.mark.parametrize(
    ("content", "options", "fragment"),
    [
        ("", "", "is empty"),
        ("id,x\n", "", "no rows"),
        ("id,x\na,1\n", "--id id", "nothing to compare"),
        ("id,x\na,1\na,2\n", "--id id", "line 3: the id 'a' stands on line 2 as well"),
        ("id,x\n,1\nb,2\n", "--id id", "line 2: the id is empty"),
        ("id,x\na,1\nb\n", "--id id", "line 3: expected 2 fields"),
        ("id,x\na,1\nb,two\nc,3\n", "--id id", "line 3, column 'x': 'two' is not a number"),
        (
            "id,x\na,1\nb,\nc,3\n",
            "--id id --missing refuse",
            "line 3, column 'x': the cell is empty",
        ),
        ("id,x\na,u\nb,v\n", "--id id", "or the column of texts to cluster by, --text C"),
        ("id,x\na,.\nb,.\n", "--id id --text x", "the texts have no words"),
        ("id,x\na,1\nb,2\n", "--id name", "no column 'name'"),
        ("id,x\na,1\nb,2\n", "--id id --text id", "name one column"),
        ("id,x\na,1\nb,2\n", "--id id -k 3", "too few for 3 clusters"),
        ("id,x\na,1\nb,1e200\n", "--id id", "is not within"),
        ("id,x\na,1\nb,2\n", "--id id --project nowhere/p.linkwise", "cannot be written to"),
        ("id,x\na,1\nb,2\n", "--id id --project data.csv", "is not a linkwise project"),
    ],
)
def test_bad_data_are_refused_in_one_sentence(call, content, options, fragment):
    Path("data.csv").write_text(content)
    code, _, err = call(f"label data.csv {options} --terminal", "q\n")
    assert code == 3
    assert fragment in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == ["data.csv"]


def test_wrong_command_lines_are_refused(call):
    assert call("label - --terminal")[0] == 2
    code, _, err = call("label none.csv --terminal")
    assert (code, "no such file" in err) == (3, True)
    Path("data.txt").write_text("1\n")
    code, _, err = call("label data.txt --terminal")
    assert (code, "cannot tell the format" in err) == (3, True)
    np.savez("data.npz", X=np.eye(3))
    assert "column of a table, such as a .csv" in call("label data.npz --text x --terminal")[2]


def check_names(call, column):
    """Check that the labels of the project, exported or fitted, have this first column."""
    for line in (
        "export data.linkwise --labels data.csv",
        "fit data.csv --columns x,y --links data.linkwise",
    ):
        assert call(f"{line} -o labels.csv --force")[0] == 0
        assert Path("labels.csv").read_text().startswith(f"{column},label")


def test_what_is_plainly_an_id_names_the_rows_and_is_kept(call):
    line = "label data.csv -k 3 --terminal"
    assert "the column 'id' is used as ids" in "".join(call(line, "s\nq\n")[1].split("\n"))
    (answer,) = answers()
    assert {answer[0][0], answer[1][0]} == {"r"}
    assert read_project("data.linkwise").settings["id_column"] == "id"
    assert "is used as ids" not in call(line, "q\n")[1]  # once
    check_names(call, "id")
    code, _, err = call("label data.csv --id none --terminal", "q\n")
    assert (code, "names rows by the column 'id'; leave --id out" in err) == (3, True)


def test_a_project_by_row_number_stays_so_though_the_data_have_ids(call):
    assert call("label data.csv --id none --columns x,y -k 3 --terminal", "s\nq\n")[0] == 0
    with contextlib.closing(sqlite3.connect("data.linkwise")) as db, db:
        db.execute("DELETE FROM project WHERE key = 'id_column'")  # as earlier versions wrote it
    for line in ("label data.csv --terminal", "label data.csv --id none --terminal"):
        assert call(line, "d\nq\n")[0] == 0
    assert len(answers()) == 3
    assert all(isinstance(a, int) for a, *_ in answers())
    check_names(call, "row")
    code, _, err = call("label data.csv --id id --terminal", "q\n")
    assert (code, "names rows by row number; leave --id out" in err) == (3, True)


def test_a_project_without_answers_takes_other_options_and_other_rows(call):
    assert call("label data.csv --id none --columns x,y --terminal", "q\n")[0] == 0
    Path("links.csv").write_text("id_a,id_b,kind\nr00,r01,cannot\n")
    code, _, err = call("label data.csv --import links.csv")
    assert (code, "links.csv: 'r00' is not a row number" in err) == (3, True)
    Path("data.csv").write_text(DATA + "r30,1,1,a\n")
    assert call("label data.csv --id id --import links.csv")[0] == 0
    assert answers() == [("r00", "r01", False)]
    code, _, err = call("label data.csv --id x --terminal")
    assert (code, "names rows by the column 'id'" in err) == (3, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE project SET value = '-5' WHERE key = 'k'", "the setting k is damaged, -5"),
        ("UPDATE project SET value = '\"xy\"' WHERE key = 'columns'", "the setting columns is"),
        ("UPDATE project SET value = '{}' WHERE key = 'id_column'", "the setting id_column is"),
        ("REPLACE INTO project VALUES ('seed', '\"a\"')", "the setting seed is damaged"),
        (
            """INSERT INTO events VALUES
            (2, 'answer', '{"a":"zz","b":"r01","same":true}', '', '', '', 'c', 'answer')""",
            "the log is damaged: event 2: 'zz' is not an id of data.csv",
        ),
    ],
)
def test_a_project_that_was_tampered_with_is_refused_in_one_sentence(call, change, words):
    call(LABEL, "s\nq\n")
    with contextlib.closing(sqlite3.connect("data.linkwise")) as db, db:
        db.execute(change)
    code, _, err = call("label data.csv --terminal", "q\n")
    assert (code, err.count("\n")) == (3, 1)
    assert words in err


def test_answers_are_kept_and_the_work_goes_on_where_it_stopped(call):
    code, out, err = call(LABEL, "s\nd\nu\nq\n")
    assert (code, err) == (0, "")
    pairs = asked(out)
    assert len(pairs) == 4
    first = [(a, b, same) for (a, b), same in zip(pairs, (True, False, None), strict=False)]
    assert answers() == first
    assert "3 answers (1 same, 1 different, 1 unsure)" in out
    assert "To go on: linkwise label data.csv --terminal\n" in out
    project = read_project("data.linkwise")
    assert project.settings["columns"] == ["x", "y"]
    assert all(event.why and event.who and event.when for event in project.events)
    code, out, _ = call("label data.csv --terminal", "d\n")  # the end of the input ends it too
    assert code == 0
    assert asked(out)[0] == pairs[3]  # the question that was left open
    assert answers() == [*first, (*pairs[3], False)]
    assert sorted(os.listdir()) == ["data.csv", "data.linkwise"]


@pytest.mark.slow
def test_an_expert_finds_the_groups(call):
    typed = ""
    for _ in range(12):
        out = call(LABEL, "q\n")[1]
        (a, b), *_ = asked(out)
        typed = "s\n" if int(a[1:]) % 3 == int(b[1:]) % 3 else "d\n"
        call(LABEL, typed)
    assert call("export data.linkwise --labels data.csv -o labels.csv")[0] == 0
    rows = [line.split(",") for line in Path("labels.csv").read_text().splitlines()[1:]]
    label = {name.strip('"'): value for name, value, _ in rows}
    assert all(label[name] == label[f"r{int(name[1:]) % 3:02d}"] for name in label)


def test_back_goes_to_any_depth_also_after_a_restart(call):
    out = call(LABEL, "s\nd\ns\nq\n")[1]
    pairs = asked(out)
    out = call(LABEL, "b\nb\nb\nb\nq\n")[1]
    assert asked(out) == [pairs[3], pairs[2], pairs[1], pairs[0], pairs[0]]
    assert answers() == []
    assert "You said: different; r says it again." in " ".join(out.split())  # on several lines
    assert "there is nothing to undo." in out
    out = call(LABEL, "r\nd\nr\nq\n")[1]  # as before, otherwise, as before
    assert asked(out)[:3] == pairs[:3]
    said = [(*pair, same) for pair, same in zip(pairs, (True, False, True), strict=False)]
    assert answers() == said
    assert "there is nothing to redo" in call(LABEL, "r\nq\n")[1]


def test_back_takes_back_what_was_imported_too(call):
    Path("links.csv").write_text("id_a,id_b,kind\nr00,r03,must\nr00,r01,cannot\n")
    code, _, err = call("label data.csv --id id --columns x,y -k 3 --import links.csv")
    assert (code, err) == (0, "links.csv: 1 event added; the project has 2 links now\n")
    assert "nothing new" in call("label data.csv --import links.csv")[2]
    out = call("label data.csv --terminal", "s\nb\nb\nq\n")[1]
    assert "Taken back: imported from links.csv." in out
    assert answers() == []


def test_rows_can_be_marked_and_the_mark_taken_back(call):
    assert call(LABEL, "x\nc\nc\nb\nq\n")[0] == 0
    state = read_project("data.linkwise").state
    assert sorted(state.marks.values()) == ["stray", "unclear"]
    assert [event.kind for event in state.active] == ["mark", "mark"]


def test_a_question_about_several_rows_is_one_event_and_can_be_left(call):
    code, out = call(LABEL, "s\nw\nq\nw\n2\n\nb\nq\n")[:2]
    assert code == 0
    if "Which of these" in out:
        assert "Left; nothing was written." in " ".join(out.split())
        kinds = [event.kind for event in read_project("data.linkwise").events]
        assert kinds == ["answer", "group", "undo"]
    else:
        assert "The pair tells more" in out


def test_what_is_typed_and_means_nothing_is_told(call):
    out = call(LABEL, "z\nSAME\n  d \n?\n\nq\n")[1]
    assert "'z' is no key" in out
    assert [same for *_, same in answers()] == [True, False]
    assert "Press any key to return" in out


def test_contradictions_are_shown_and_nothing_is_dropped(call):
    Path("links.csv").write_text("id_a,id_b,kind\nr00,r03,must\nr03,r06,must\nr00,r06,cannot\n")
    call("label data.csv --id id --columns x,y -k 3 --import links.csv")
    out = call("label data.csv --terminal", "s\nq\n")[1]
    assert "conflict: These answers cannot all hold: r00 (" in " ".join(out.split())
    assert len(answers()) == 4


def test_the_end_of_all_questions_is_told(call):
    Path("two.csv").write_text("x\n1\n2\n")
    code, out, _ = call("label two.csv -k 2 --terminal", "d\n")
    assert code == 0
    assert "Nothing is left to ask." in out
    assert answers("two.linkwise")[0][2] is False


def test_nothing_counts_that_was_not_saved(here, monkeypatch):
    items = read_items("data.csv", id_column="id")
    path = here / "p.linkwise"
    with Journal(path, data=describe("data.csv", 30, ids=True), ids=items.ids) as journal:
        dialogue = Dialogue(items, journal)
        question = dialogue.question()
        commit = journal._commit

        def full():
            raise __import__("sqlite3").OperationalError("database or disk is full")

        monkeypatch.setattr(journal, "_commit", full)
        with pytest.raises(NotSaved, match="not saved"):
            dialogue.answer(question, True)
        dialogue.follow()
        assert dialogue.question() == question
        assert dialogue.model.progress().answers == 0
        monkeypatch.setattr(journal, "_commit", commit)
        dialogue.answer(question, True)
    assert len(read_project(path).events) == 1


def test_the_session_follows_the_log_however_it_came_about(here):
    items = read_items("data.csv", id_column="id")
    with Journal("p.linkwise", data=describe("data.csv", 30, ids=True), ids=items.ids) as journal:
        dialogue = Dialogue(items, journal, n_clusters=3)
        for same in (True, False, None, False):
            dialogue.answer(dialogue.question(), same)
        dialogue.back()
        dialogue.redo()
        dialogue.back()
        fresh = Session(items.X, n_clusters=3)
        row = {name: i for i, name in enumerate(items.ids)}
        unsure = [(row[a], row[b]) for a, b in journal.state.unsure]
        fresh.follow(journal.state.constraints().resolve(items.ids), unsure)
        session = dialogue.model.session
        assert (session.links, session.unsure) == (fresh.links, fresh.unsure)
        assert session.ask() == fresh.ask()
        np.testing.assert_array_equal(session.labels, fresh.labels)


def test_other_data_are_refused(call):
    call(LABEL, "s\nq\n")
    Path("data.csv").write_text(DATA.replace("r00", "q00"))
    code, _, err = call("label data.csv --terminal", "q\n")
    assert code == 3
    assert "answers about data.csv as it was (30 rows" in err
    Path("data.csv").write_text(DATA)
    assert "names rows by the column 'id'" in call("label data.csv --id kind --terminal", "q\n")[2]
    assert call("label data.csv --terminal", "q\n")[0] == 0


def test_a_second_terminal_is_refused(call):
    call(LABEL, "q\n")
    data = describe("data.csv", 30, ids=True)
    with Journal("data.linkwise", data=data, ids=read_items("data.csv", id_column="id").ids):
        code, _, err = call("label data.csv --terminal", "q\n")
    assert code == 3
    assert "data.linkwise is in use by another linkwise; close that one first" in err


def test_fit_reads_a_project(call):
    call(LABEL, "s\nd\nu\nd\nq\n")
    line = "fit data.csv --id-column id --columns x,y -k 3 -o labels.csv --json --force --links"
    code, out, err = call(f"{line} data.linkwise")
    assert (code, err) == (0, "")
    assert json.loads(out)["links"]["given"] == 3
    call("export data.linkwise -o links.csv")
    exported = json.loads(call(f"{line} links.csv")[1])
    assert exported["links"] == json.loads(out)["links"]
    assert "must 1, cannot 2" in call("check data.linkwise")[1]
    reordered = sorted(DATA.splitlines()[1:], reverse=True)
    Path("data.csv").write_text("\n".join(["id,x,y,kind", *reordered]) + "\n")
    code, out, err = call(f"{line} data.linkwise")
    assert (code, json.loads(out)["links"]["given"]) == (0, 3)
    assert "is not that file or has changed; they are taken over by id" in err


def test_fit_never_applies_row_numbers_to_other_rows(call):
    np.save("X.npy", np.random.default_rng(0).normal(size=(30, 2)))
    call("label X.npy -k 2 --terminal", "s\nd\nq\n")
    line = "fit X.npy -k 2 --links X.linkwise -o labels.csv --force"
    assert call(line)[0] == 0
    np.save("X.npy", np.load("X.npy")[::-1])
    code, _, err = call(line)
    assert code == 3
    assert "has answers about X.npy as it was (30 rows" in err
    np.savez("X.npz", X=np.load("X.npy"), id=np.arange(30))
    code, _, err = call("fit X.npz -k 2 --links X.linkwise -o labels.csv --force")
    assert (code, "has answers about X.npy" in err) == (3, True)
    code, _, err = call("fit X.npz -k 2 --id id --links X.linkwise -o labels.csv --force")
    assert (code, "names rows by row number" in err) == (3, True)
    code, _, err = call("fit - -k 2 --links X.linkwise -o labels.csv --force", "1,2\n3,4\n")
    assert (code, "names rows by number, of X.npy; name that file" in err) == (3, True)


def test_a_saved_model_is_not_a_project(call):
    Path("data.linkwise").write_bytes(b"PK\x03\x04" + bytes(26) + b"model.json")
    for line in (LABEL, "export data.linkwise -o links.csv", "check data.linkwise"):
        code, _, err = call(line, "q\n")
        assert code == 3
        assert "data.linkwise is a saved model, not a project" in err


def test_exports_come_back(call):
    call(LABEL, "s\nd\nu\nd\nb\nq\n")
    assert call("export data.linkwise -o links.csv") == (
        0, "", "links.csv: 2 links; 1 answer \"unsure\": only in the log, --log\n"
    )  # fmt: skip
    assert call("export data.linkwise --log -o log.jsonl")[2] == "log.jsonl: 5 events\n"
    code, _, err = call("export data.linkwise -o links.csv")
    assert (code, "--force overwrites it" in err) == (2, True)
    assert call("export data.linkwise -o data.linkwise --force")[0] == 2
    assert call("export data.linkwise -o links.txt")[0] == 3
    line = "label data.csv --id id --project {}.linkwise --import {}"
    assert call(line.format("a", "links.csv"))[0] == 0
    assert call(line.format("b", "log.jsonl"))[0] == 0
    state = read_project("data.linkwise").state
    assert read_project("a.linkwise").state.constraints() == state.constraints()
    assert answers("b.linkwise") == answers()
    assert Constraints.read("links.csv") == state.constraints()
    code, _, err = call(line.format("a", "data.csv"))
    assert (code, "expected the columns" in err) == (3, True)


def test_ids_that_look_like_formulas_go_to_a_spreadsheet_and_back(call):
    Path("data.csv").write_text(DATA.replace("r0", "=r0"))
    call("label data.csv --id id --columns x,y -k 3 --terminal", "s\nd\ns\nd\nq\n")
    call("export data.linkwise -o links.csv")
    text = Path("links.csv").read_text()
    assert '"=r' not in text
    assert "\"'=r" in text
    line = "fit data.csv --id-column id --columns x,y -k 3 -o labels.csv --json --links links.csv"
    code, out, _ = call(line)
    assert (code, json.loads(out)["links"]["given"]) == (0, 4)


def test_labels_are_exported_with_names_and_texts_are_clustered(call):
    texts = ["cats and dogs", "dogs and some cats", "prices of shares", "all shares prices"] * 5
    rows = "".join(f'd{i},"{text} {i}"\n' for i, text in enumerate(texts))
    Path("texts.csv").write_text("id,text\n" + rows)
    call("label texts.csv --id id --text text -k 2 --terminal", "q\n")
    items = read_items("texts.csv", id_column="id", text="text")
    with Journal(
        "texts.linkwise", data=describe("texts.csv", 20, ids=True), ids=items.ids
    ) as journal:
        journal.answer("d0", "d1", True)
        journal.answer("d0", "d2", False)
        journal.rename(["d0", "d1"], "=animals")
    assert call("export texts.linkwise --labels texts.csv -o labels.csv")[0] == 0
    lines = Path("labels.csv").read_text().splitlines()
    assert lines[0] == "id,label,name"
    assert lines[1].endswith(',"\'=animals"')
    assert len({line.split(",")[1] for line in lines[1:]}) == 2
    Path("texts.csv").write_text("id,text\n" + rows + "d20,more\n")
    assert call("export texts.linkwise --labels texts.csv -o l.csv")[0] == 3


def test_lines_and_keys_mean_the_same():
    lines = Lines(io.StringIO("s\nDifferent\n u \n\nb\n"))
    assert [lines.next(None) for _ in range(6)] == [
        "same", "different", "unsure", "''", "back", "finished"
    ]  # fmt: skip
    assert isinstance(open_keys(io.StringIO("")), Lines)


@pytest.mark.skipif(keys_module.termios is None, reason="needs a terminal of POSIX")
def test_keys_are_read_one_by_one_and_sequences_as_a_whole():
    import pty

    main_end, end = pty.openpty()
    with os.fdopen(end, "rb", buffering=0) as stream:
        before = keys_module.termios.tcgetattr(end)
        with open_keys(stream) as keys:
            os.write(main_end, b"sD \x1b[A\x1b[1;5Cu\xc3\xa9\x1bOPb\x7f?q\x04")
            found = [keys.next(lambda stopped: None) for _ in range(13)]
            os.write(main_end, b"\x1b")
            alone = keys.next(lambda stopped: None)
        assert keys_module.termios.tcgetattr(end) == before
    os.close(main_end)
    assert found == [
        "same", "different", "unsure", repr("\x1b[A"), repr("\x1b[1;5C"), "unsure", "'é'",
        repr("\x1bOP"), "back", "back", "help", "finished", "finished",
    ]  # fmt: skip
    assert alone == repr("\x1b")
