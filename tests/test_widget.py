"""Labelling in a notebook: the widget and its messages, in anywidget and in a browser."""

import json
from uuid import uuid4

import numpy as np
import pytest

from linkwise.journal import read_project
from linkwise.labelling import LabellingSession

pytest.importorskip("anywidget")
from linkwise.labelling.widget import LabelWidget

HARNESS = """
<!doctype html><meta charset="utf-8"><style>%s</style><body style="margin:12px"><div id="out"></div>
<script type="module">
const state = await window.kernelState();
const heard = {};
const model = {
  get: (name) => state[name],
  on: (name, call) => { (heard[name] ??= []).push(call); },
  off: () => {},
  send: async (message) => {
    Object.assign(state, await window.kernelTakes(message));
    for (const call of heard["change:view"] ?? []) call();
  },
};
const source = await window.kernelModule();
const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
const widget = (await import(url)).default;
widget.render({ model, el: document.getElementById("out") });
document.body.dataset.ready = "yes";
</script>
"""


@pytest.fixture
def session(tmp_path):
    """A project of 40 people in two groups, in a file with ids."""
    rng = np.random.default_rng(0)
    lines = ["id,age,note"]
    for i in range(40):
        lines.append(f"p{i},{rng.normal(20 + 40 * (i % 2)):.1f},<b>note {i % 2}</b>")
    data = tmp_path / "people.csv"
    data.write_text("\n".join(lines))
    with LabellingSession.open(str(data), n_clusters=2) as opened:
        yield opened


@pytest.fixture
def widget(session):
    return session.widget()


def send(widget, **message):
    """Send a message as the browser does."""
    widget._handle_custom_msg({"client": str(uuid4()), **message}, [])


def asked(widget):
    a, b = widget.view["question"]["rows"]
    return {"a": a, "b": b}


def test_an_answer_is_in_the_journal_and_the_next_question_follows(widget, session):
    first = asked(widget)
    send(widget, do="answer", same=first["a"] % 2 == first["b"] % 2, **first)
    assert asked(widget) != first
    (event,) = read_project(session.journal.path).events
    assert event.body["a"] == f"p{first['a']}"
    assert event.why  # why it was asked
    assert sum(widget.view["counts"].values()) == 1


def test_a_message_sent_twice_is_written_once(widget, session):
    message = {"do": "answer", "same": True, "client": "one", **asked(widget)}
    send(widget, **message)
    send(widget, **message)
    assert session.journal.state.n_events == 1


def test_undo_asks_again_and_redo_answers_again(widget, session):
    first = asked(widget)
    send(widget, do="answer", same=False, **first)
    send(widget, do="undo")
    assert asked(widget) == first
    assert widget.view["question"]["before"] == "different"
    assert widget.view["note"].startswith("Undone: ")
    send(widget, do="redo")
    assert session.current.links.n_cannot == 1


def test_a_marked_row_is_not_asked_about_again(widget):
    row = asked(widget)["a"]
    send(widget, do="mark", row=row, mark="stray")
    assert widget.labels[row] == -1
    assert row not in asked(widget).values()


def test_answers_lead_to_the_groups(widget):
    for _ in range(6):
        pair = asked(widget)
        send(widget, do="answer", same=pair["a"] % 2 == pair["b"] % 2, **pair)
    groups = [set(widget.labels[start::2].tolist()) for start in (0, 1)]
    assert len(groups[0]) == len(groups[1]) == 1
    assert groups[0] != groups[1]
    assert widget.map["labels"] == widget.labels.tolist()


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({"do": "format"}, "do must be answer"),
        ({"do": "answer", "a": 0, "b": 99, "same": True}, "rows[1] must be a whole number"),
        ({"do": "answer", "a": 0, "b": 0, "same": True}, "choose at least 2 rows"),
        ({"do": "answer", "a": 0, "b": 1, "same": "yes"}, "same must be true"),
        ({"do": "mark", "row": 0, "mark": "odd"}, "mark must be one of"),
        ({"do": "undo"}, "undo"),
        ({"do": "undo", "client": 7}, "client must be a text"),
    ],
)
def test_what_cannot_be_done_is_said_and_not_written(widget, session, message, error):
    send(widget, **message)
    assert error in widget.view["note"]
    assert session.journal.state.n_events == 0


def test_the_widget_is_complete_for_the_browser(widget):
    state = widget.get_state()
    assert "export default" in state["_esm"]
    assert ".linkwise-label" in state["_css"]
    json.dumps({name: state[name] for name in ("view", "map")})


def test_a_session_opens_with_the_settings_of_its_project(session, tmp_path):
    session.journal.configure(k=2, seed=5)
    session.close()
    with LabellingSession.open(str(tmp_path / "people.csv")) as again:
        assert again.n_clusters == 2
    with pytest.raises(TypeError, match="'colour' is no setting of a project"):
        LabellingSession.open(str(tmp_path / "people.csv"), colour="red")


def test_a_person_labels_in_the_browser(widget, session, tmp_path):
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    from benchmarks.page.browser import chromium

    if chromium() is None:
        pytest.skip("no Chromium")
    state = widget.get_state()

    def shown():
        return {"view": widget.view, "map": widget.map}

    def takes(message):
        widget._handle_custom_msg(message, [])
        return shown()

    page_file = tmp_path / "harness.html"
    page_file.write_text(HARNESS % state["_css"])
    faults: list = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: m.type == "error" and faults.append(m.text))
        page.expose_function("kernelState", shown)
        page.expose_function("kernelTakes", takes)
        page.expose_function("kernelModule", lambda: state["_esm"])
        page.goto(page_file.as_uri())
        page.wait_for_selector("body[data-ready]")
        page.get_by_role("button", name="Same").click()
        page.wait_for_selector("text=1 same")
        page.keyboard.press("d")  # the widget has kept the focus
        page.wait_for_selector("text=1 different")
        page.get_by_role("button", name="Undo").click()
        page.wait_for_selector("text=Undone:")
        assert "<b>note" in page.inner_text(".linkwise-label table")  # text, never HTML
        page.screenshot(path=tmp_path / "widget.png")
        browser.close()
    assert not faults
    assert session.current.links.n_must == 1
    assert session.journal.state.n_events == 3
    assert isinstance(widget, LabelWidget)
