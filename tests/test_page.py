"""The label page in a real browser."""

import asyncio
import contextlib
import functools
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api")

from app_parts import InThread, blobs, settings
from axe_parts import needs_axe, violations
from browser_parts import needs_chromium, serving, watch
from playwright import sync_api

from linkwise.app import label_routes as routes
from linkwise.app.label_page import LabelPage
from linkwise.app.label_routes import FILES, label_routes
from linkwise.app.messages import Map, Suspects
from linkwise.app.security import Access
from linkwise.app.server import application, life_of, listen
from linkwise.labelling.cluster_model import Suspected
from linkwise.labelling.project import open_project

pytestmark = needs_chromium
expect = sync_api.expect
expect.set_options(timeout=60_000)


class Site:
    """A served table: its label_page, and pages that look at it."""

    def __init__(self, label_page, access, browser):
        self.label_page, self.access, self.faults = label_page, access, []
        self.context = browser.new_context(viewport={"width": 1280, "height": 860})
        self.context.set_default_timeout(60_000)

    def open(self, path="/", *, tour=False):
        page = self.context.new_page()
        watch(page, self.faults, self.access.url("/"))
        url = self.access.url("/")
        known = [cookie["name"] for cookie in self.context.cookies()]
        if not tour and "linkwise_tour" not in known:
            self.context.add_cookies([{"name": "linkwise_tour", "value": "seen", "url": url}])
        if not any(name != "linkwise_tour" for name in known):
            page.goto(self.access.url(self.access.launch_path))
        if path != "/" or "start" in page.url or page.url == "about:blank":
            page.goto(self.access.url(path))
        expect(page.locator("#preparing")).to_be_hidden()
        return page


@contextlib.contextmanager
def served(browser, data, *, worker=InThread, **given):
    """Serve a table in a thread of this process."""
    project = str(data).rsplit(".", 1)[0] + ".linkwise"
    items, journal = open_project(str(data), project, settings(**given), least=1)
    sock = listen("127.0.0.1", None)
    access = Access(sock.getsockname()[1], key="k" * 64)
    with journal:
        label_page = LabelPage(items, journal, data=str(data), k=given.get("k"), worker=worker)
        app = application(
            label_routes(label_page), access, files=FILES, lifespan=life_of(label_page)
        )
        site = Site(label_page, access, browser)
        with serving(app, sock):
            try:
                yield site
            finally:
                site.context.close()
    assert site.faults == []


@pytest.fixture
def site(browser, tmp_path):
    blobs(tmp_path / "data.csv")
    with served(browser, tmp_path / "data.csv") as found:
        yield found


def answered(page, number):
    expect(page.locator("#answers")).to_have_text(re.compile(rf"^{number} answers?$"))


def test_the_first_paint_has_all_and_asks_nobody_else(site):
    page = site.open()
    expect(page.locator("#ask")).to_be_visible()
    expect(page.locator("#same kbd")).to_have_text("S")
    expect(page.locator("#different kbd")).to_have_text("D")
    expect(page.locator("#unsure kbd")).to_have_text("Space")
    expect(page.locator("#undo kbd")).to_have_text("Ctrl Z")
    expect(page.locator("#redo kbd")).to_have_text("Ctrl Shift Z")
    expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
    expect(page.locator(".note")).to_contain_text("not always close in the data")
    expect(page.locator("#clusters > li")).to_have_count(3)
    expect(page.locator("#compare mark").first).to_be_visible()
    assert page.locator("#stage").get_attribute("data-drawn") in ("webgl2", "canvas2d")


def test_the_map_is_drawn_without_webgl_too(site):
    page = site.open("/?draw=canvas")
    expect(page.locator("#stage")).to_have_attribute("data-drawn", "canvas2d")
    expect(page.locator("#stage")).to_have_attribute("data-labels", "1")


def test_each_key_does_what_its_button_says(site):
    page = site.open()
    expect(page.locator("#ask")).to_be_visible()
    for number, key in enumerate(("s", "d", " "), start=1):
        page.keyboard.press("Space" if key == " " else key)
        answered(page, number)
    assert site.label_page.current.state.counts == {"same": 1, "different": 1, "unsure": 1}
    page.keyboard.press("Control+z")
    answered(page, 2)
    expect(page.locator("#before")).to_contain_text("You undid “not sure”")
    page.reload()
    answered(page, 2)
    expect(page.locator("#before")).to_contain_text("You undid “not sure”")
    page.keyboard.press("Control+Shift+Z")
    answered(page, 3)
    page.locator("#undo").click()
    answered(page, 2)
    page.locator("#same").click()
    answered(page, 3)
    assert site.label_page.current.state.counts == {"same": 2, "different": 1, "unsure": 0}


def test_rows_can_be_unclear_or_belong_nowhere(site):
    page, label_page = site.open(), site.label_page
    expect(page.locator("#ask")).to_be_visible()
    rows = []
    for key, mark in (("c", "unclear"), ("x", "stray")):
        rows.append(label_page.asked.a)
        page.keyboard.press(key)
        expect(page.locator("#undo")).to_have_attribute("title", re.compile("^Undo: r"))
        expect(page.locator("#history > li")).to_have_count(len(rows))
        assert label_page.current.task.marks[rows[-1]] == mark
        assert not {label_page.asked.a, label_page.asked.b} & set(rows)
    page.locator("#tab-rows").click()
    page.locator("#find-mark").select_option("stray")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.locator("#rows tbody")).to_contain_text("nowhere")
    page.locator("#find-mark").select_option("")
    names = [label_page.items.name(row) for row in range(24) if row not in rows][:2]
    choose(page, *names)
    page.locator("#do-stray").click()
    expect(page.locator("#selection")).to_be_hidden()
    expect(page.locator("#history")).to_contain_text("2 rows: in no cluster")
    assert (label_page.labels < 0).sum() == 3
    choose(page, names[0])
    expect(page.locator("#selection-does")).to_have_text("1 in no cluster.")
    page.keyboard.press("Control+z")
    expect(page.locator("#history")).not_to_contain_text("2 rows: in no cluster")
    assert (label_page.labels < 0).sum() == 1


@pytest.mark.slow
def test_questions_about_several_rows_are_asked_if_the_person_wants_them(browser, tmp_path):
    y = blobs(tmp_path / "data.csv", n=60)
    kinds = set()
    with served(browser, tmp_path / "data.csv") as site:
        page, label_page = site.open(), site.label_page
        expect(page.locator("#ask")).to_be_visible()
        expect(page.locator("#wide")).to_be_hidden()
        for number in range(1, 4):
            asked = label_page.asked
            page.keyboard.press("s" if y[asked.a] == y[asked.b] else "d")
            answered(page, number)
        page.keyboard.press("w")
        expect(page.locator("#widen")).to_have_attribute("aria-pressed", "true")
        page.reload()  # the browser keeps it
        expect(page.locator("#idle")).to_be_hidden()
        for number in range(4, 12):
            wide = page.evaluate("() => fetch('/api/state').then((reply) => reply.json())")["wider"]
            if wide is None:
                break
            expect(page.locator("#wide")).to_be_visible()
            expect(page.locator("#ask")).to_be_hidden()
            kinds.add(wide["kind"])
            if wide["kind"] == "label":
                row = wide["row"]["row"]
                like = [i for i, one in enumerate(wide["anchors"], 1) if y[one["row"]] == y[row]]
                page.keyboard.press(str(like[0] if like else 0))
            else:
                classes = [y[one["row"]] for one in wide["rows"]]
                for i, one in enumerate(classes, 1):
                    if one != classes[0]:
                        page.keyboard.press(str(i))
                page.keyboard.press("Enter")
            answered(page, number)
            expect(page.locator("#idle")).to_be_hidden()
        links = label_page.current.links
        assert all((y[a] == y[b]) == (sign > 0) for a, b, sign, _ in links)
        assert {event.source for event in label_page.current.state.active} == {"answer"}
        assert kinds
        before, shown = label_page.current.state.n_events, len(label_page.current.state.active)
        expect(page.locator("#history > li")).to_have_count(shown)
        page.keyboard.press("Control+z")
        expect(page.locator("#history > li")).to_have_count(shown - 1)
        expect(page.locator("#idle")).to_be_hidden()
        page.keyboard.press("Space")  # a pair instead: nothing is written
        expect(page.locator("#ask")).to_be_visible()
        assert label_page.current.state.n_events == before + 1
        page.keyboard.press("w")
        expect(page.locator("#widen")).to_have_attribute("aria-pressed", "false")


def test_not_sure_throughout_never_comes_back_to_a_row(browser, tmp_path):
    blobs(tmp_path / "data.csv")
    with served(browser, tmp_path / "data.csv", k=3) as site:
        page, asked = site.open(), []
        expect(page.locator("#ask")).to_be_visible()
        while site.label_page.asked is not None:
            asked.append({site.label_page.asked.a, site.label_page.asked.b})
            page.keyboard.press("Space")
            answered(page, len(asked))
        expect(page.locator("#idle-head")).to_have_text("Nothing left to ask")
        rows = [row for pair in asked for row in pair]
        assert max(map(rows.count, rows)) <= 2
        assert len(set(rows)) > 12


def around(page, corners):
    """Draw a line on the map, through shares of its width and height."""
    box = page.locator("#over").bounding_box()
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=4)
    page.mouse.up()


@pytest.mark.slow
def test_a_line_around_points_makes_a_group_and_recolours_it(site):
    page = site.open()
    expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
    page.locator("#lasso").click()
    corners = [(0.02, 0.12), (0.98, 0.12), (0.98, 0.5), (0.02, 0.5), (0.02, 0.12)]
    around(page, corners)
    expect(page.locator("#selection")).to_be_visible()
    chosen = int(page.locator("#selection-count").text_content().split()[0])
    assert 2 <= chosen < 24
    page.keyboard.press("Escape")
    page.locator("#within").select_option(str(site.label_page.labels[0]))  # of one cluster only
    around(page, [(0.01, 0.12), (0.99, 0.12), (0.99, 0.99), (0.01, 0.99), (0.01, 0.12)])
    expect(page.locator("#selection-count")).to_have_text("8 rows selected")
    expect(page.locator("#selection-does")).to_contain_text("8 in cluster")
    page.keyboard.press("Escape")
    page.locator("#within").select_option("")
    around(page, corners)
    page.locator("#do-together").click()
    apply(page)
    expect(page.locator("#selection")).to_be_hidden()
    expect(page.locator("#stage")).not_to_have_attribute("data-labels", "1")
    (event,) = site.label_page.current.state.active
    assert len(event.body["rows"]) == chosen
    assert (
        len(
            {
                int(site.label_page.labels[site.label_page.project.row_of[i]])
                for i in event.body["rows"]
            }
        )
        == 1
    )


def apply(page):
    """Make the correction that the page has shown."""
    expect(page.locator("#plan-says")).not_to_have_text("One moment…")
    page.locator("#plan-apply").click()


def choose(page, *names):
    for name in names:
        page.get_by_label(f"Select {name}", exact=True).check()


SEND = """(body) => fetch("/api/answer", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
})"""


def test_a_conflict_is_shown_and_resolved(site):
    page = site.open()
    for a, b, same in ((0, 1, True), (1, 2, True), (0, 2, False)):
        page.evaluate(SEND, {"a": a, "b": b, "same": same, "client": f"answer-{a}-{b}"})
    expect(page.locator("#conflict")).to_be_visible()
    expect(page.locator("#conflict-list > li")).to_have_count(3)
    expect(page.locator("#conflict-list > li").first).to_contain_text("note 0")  # what they contain
    page.get_by_role("button", name=re.compile("Undo: r01 .* and r02 .*: same")).click()
    expect(page.locator("#conflict")).to_be_hidden()


def test_a_correction_shows_what_it_changes_and_takes_similar_rows_along(browser, tmp_path):
    rows = [f"r{i:02d},{i % 3 / 10 + 9 * (i >= 15)}" for i in range(30)]
    (tmp_path / "line.csv").write_text("\n".join(["id,x", *rows]))
    with served(browser, tmp_path / "line.csv", k=2) as site:
        page, label_page = site.open(), site.label_page
        expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
        before = label_page.labels.copy()
        other = str(before[29])
        page.locator("#tab-rows").click()
        choose(page, "r02")
        page.locator("#target").select_option(other)
        page.locator("#do-move").click()
        expect(page.locator("#plan-title")).to_have_text(f"Move 1 row to cluster {other}")
        expect(page.locator("#plan-says")).to_have_text("Moves 1 row.")
        expect(page.locator("#plan-asks")).to_contain_text("similar rows would follow")
        assert label_page.current.state.active == []
        page.locator("#plan-along").check()
        expect(page.locator("#plan-says")).not_to_have_text("Moves 1 row.")
        moved = int(page.locator("#plan-says").text_content().split()[1])
        page.locator("#plan-apply").click()
        expect(page.locator("#undo")).to_be_enabled()
        assert (label_page.labels != before).sum() == moved > 1
        page.keyboard.press("Control+z")
        expect(page.locator("#undo")).to_be_disabled()
        choose(page, "r00", "r15")
        page.locator("#do-same").click()
        expect(page.locator("#plan-title")).to_have_text("Link the two rows: same")
        apply(page)
        expect(page.locator("#undo")).to_be_enabled()
        (event,) = label_page.current.state.active
        assert event.source == "hand"
        choose(page, "r01", "r16")
        page.locator("#do-different").click()
        expect(page.locator("#plan-says")).not_to_have_text("One moment…")
        page.locator("#plan-teach").click()
        expect(page.locator("#history > li")).to_have_count(2)
        assert label_page.current.state.active[-1].source == "taught"


def test_the_last_correction_holds_and_is_no_conflict(site):
    page = site.open()
    page.locator("#tab-rows").click()
    for names, button in ((("r00", "r01"), "#do-same"), (("r00", "r01"), "#do-different")):
        choose(page, *names)
        page.locator(button).click()
        apply(page)
        expect(page.locator("#selection")).to_be_hidden()
    expect(page.locator("#conflict")).to_be_hidden()
    labels = site.label_page.labels
    assert labels[0] != labels[1]


def test_all_of_it_can_be_done_with_the_keyboard(site):
    page = site.open()
    expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("r0")
    expect(page.locator("#page")).to_have_text("1–10 of 10")
    page.keyboard.press("Tab")  # the clusters
    page.keyboard.press("Tab")  # the marks
    page.keyboard.press("Tab")
    if page.evaluate("document.activeElement.type") != "checkbox":
        page.keyboard.press("Tab")  # a table that scrolls takes the focus itself
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#selection-count")).to_have_text("2 rows selected")
    page.locator("#do-together").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#plan-apply")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#plan")).to_be_hidden()
    expect(page.locator("#do-together")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#plan-apply")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#selection")).to_be_hidden()
    page.locator("#tab-rows").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel-clusters")).to_be_visible()
    page.locator("#tick-0").focus()
    page.keyboard.press("Space")
    page.locator("#tick-1").focus()
    page.keyboard.press("Space")
    page.locator("#merge").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("#clusters > li")).to_have_count(2)
    assert [event.kind for event in site.label_page.current.state.active] == ["group", "merge"]


def test_clusters_are_split_named_and_counted(site):
    page = site.open()
    page.locator("#split-0").click()
    expect(page.locator("#plan-parts h3")).to_have_text(
        [re.compile(r"Stays: \d rows"), re.compile(r"New cluster: \d rows")]
    )
    expect(page.locator("#plan-parts li").first).to_contain_text("note ")
    apply(page)
    expect(page.locator("#clusters > li")).to_have_count(4)
    page.locator("#name-0").click()
    page.locator("#name").fill("<b>first</b>")
    page.keyboard.press("Enter")
    expect(page.locator("#clusters > li").first).to_contain_text("<b>first</b>")
    page.locator("#fixed").check()
    page.locator("#k").fill("5")
    page.keyboard.press("Tab")
    expect(page.locator("#clusters > li")).to_have_count(5)
    page.locator("#fixed").uncheck()
    expect(page.locator("#free-note")).to_have_text(re.compile("^4 clusters, chosen automatically"))
    expect(page.locator("#clusters > li").first).to_contain_text("<b>first</b>")


def test_a_range_of_clusters_is_typed_and_nonsense_is_refused_in_words(site):
    page = site.open()
    expect(page.locator("#clusters > li")).to_have_count(3)
    page.locator("#fixed").check()
    expect(page.locator("#k")).to_have_value("3")
    page.locator("#k").fill(" 2 – 6 ")
    page.keyboard.press("Enter")
    for _ in range(600):  # the note may still be the one of before
        if site.label_page.k == (2, 6):
            break
        page.wait_for_timeout(50)
    expect(page.locator("#free-note")).to_have_text(
        re.compile(r"^3 clusters, chosen automatically; next best: \d, \d, \d$")
    )
    assert site.label_page.k == (2, 6)
    page.keyboard.press("Tab")
    for text, why in [
        ("six", "“six” is not a number of clusters: write a number such as 5, or a range"),
        ("6-2", "“6-2” is not a number of clusters"),
        ("1-4", "“1-4” is not a number of clusters"),
        ("2-99", "“2-99” is too many for 24 rows: write at most 24."),
    ]:
        page.locator("#k").fill(text)
        page.keyboard.press("Tab")
        expect(page.locator("#said")).to_contain_text(why)
        expect(page.locator("#k")).to_have_value("2-6")
    assert site.label_page.k == (2, 6)
    page.reload()
    expect(page.locator("#k")).to_have_value("2-6")
    page.locator("#k").fill("4")
    page.keyboard.press("Tab")
    expect(page.locator("#clusters > li")).to_have_count(4)
    expect(page.locator("#free-note")).to_have_text("")


def test_tables_go_out_and_come_back(site, tmp_path):
    page = site.open()
    expect(page.locator("#ask")).to_be_visible()
    page.keyboard.press("d")
    answered(page, 1)
    page.locator("#file-menu summary").click()
    for name in ("labels.csv", "links.csv", "log.jsonl"):
        with page.expect_download() as download:
            page.get_by_text(name).click()
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 25
    assert len((tmp_path / "links.csv").read_text().splitlines()) == 2
    page.keyboard.press("Control+z")
    answered(page, 0)
    rows = "r00,r03,must\nr00,r01,cannot\n"
    (tmp_path / "more.csv").write_text(f"id_a,id_b,kind\n{rows}")
    page.locator("#import").set_input_files(tmp_path / "more.csv")
    expect(page.locator("#said")).to_contain_text(
        "more.csv: 1 event added; the project has 2 links now"
    )
    expect(page.locator("#kept")).to_have_text("100% of 2 links kept")
    (tmp_path / "bad.csv").write_text("id_a,id_b,kind\nr00,nobody,must\n")
    page.locator("#file-menu summary").click()
    page.locator("#import").set_input_files(tmp_path / "bad.csv")
    expect(page.locator("#said")).to_contain_text("nobody")
    expect(page.locator("#kept")).to_have_text("100% of 2 links kept")
    site.faults = [fault for fault in site.faults if "400 (Bad Request)" not in fault]


def on_map(page, label_page, row):
    """Return where a row is on the screen."""
    box = page.locator("#over").bounding_box()
    x, y = (float(value) for value in label_page.xy[row])
    width, height = box["width"] / 2, box["height"] / 2
    return box["x"] + width + x * (width - 34), box["y"] + height - y * (height - 52)


def test_points_clicked_are_linked_and_rows_taken_out_of_a_cluster(site):
    page = site.open()
    expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
    label_page = site.label_page
    for row in (0, 1):
        page.mouse.click(*on_map(page, label_page, row))
    expect(page.locator("#selection-count")).to_have_text("2 rows selected")
    page.locator("#do-same").click()
    apply(page)
    expect(page.locator("#selection")).to_be_hidden()
    expect(page.locator("#history")).to_contain_text("linked by hand")
    assert label_page.labels[0] == label_page.labels[1]
    page.keyboard.press("Control+z")
    expect(page.locator("#history > li")).to_have_text("Nothing yet.")
    page.locator("#tab-rows").click()
    choose(page, "r00", "r03")
    expect(page.locator("#target")).to_have_value(str(label_page.labels[0]))
    page.locator("#do-apart").hover()
    expect(page.locator("#selection-does")).to_contain_text("Remove 2 rows from cluster")
    page.locator("#do-apart").click()
    apply(page)
    expect(page.locator("#selection")).to_be_hidden()
    assert label_page.labels[0] != label_page.labels[6]
    assert label_page.labels[3] != label_page.labels[6]


def test_answers_likely_wrong_are_offered_for_review(site):
    page = site.open()
    page.locator("#tab-rows").click()
    for names in (("r00", "r01"), ("r03", "r04")):
        choose(page, *names)
        page.locator("#do-same").click()
        apply(page)
        expect(page.locator("#selection")).to_be_hidden()
    links = site.label_page.current.links
    pairs = [links.ends.tolist().index(pair) for pair in ([0, 1], [3, 4])]
    found = Suspects(9, Suspected(links.select(pairs), np.array([0.97, 0.9])))
    asyncio.run_coroutine_threadsafe(site.label_page._hear(found), site.label_page.loop).result(60)
    expect(page.locator("#review-count")).to_have_text("2")
    page.locator("#tab-review").click()
    expect(page.locator("#suspects > li").first).to_contain_text("97% likely wrong")
    page.get_by_role("button", name=re.compile("Show: r00 .* with r01 ")).click()
    expect(page.locator("#selection-count")).to_have_text("2 rows selected")
    expect(page.locator("#rows tbody tr")).to_have_count(2)
    page.keyboard.press("Escape")
    page.locator("#tab-review").click()
    page.get_by_role("button", name=re.compile("Keep: r03 .* with r04 ")).click()
    expect(page.locator("#review-count")).to_have_text("1")
    page.get_by_role("button", name=re.compile("Undo: r00 .* with r01 ")).click()
    expect(page.locator("#review-note")).to_contain_text("No answer looks wrong")
    assert [e.body["pairs"][0][:2] for e in site.label_page.current.state.active] == [
        ["r03", "r04"]
    ]


@pytest.mark.slow
def test_the_page_says_when_more_answers_change_little(browser, tmp_path):
    y = blobs(tmp_path / "data.csv")
    with served(browser, tmp_path / "data.csv", columns=["x", "y"]) as site:
        page = site.open()
        for number in range(1, 40):
            expect(page.locator("#ask")).to_be_visible()
            asked = site.label_page.asked
            page.keyboard.press("s" if y[asked.a] == y[asked.b] else "d")
            answered(page, number)
            if site.label_page.outlook.progress.enough:
                break
        expect(page.locator("#hint")).to_have_text("More answers would change little")
        expect(page.locator("#outlook")).to_contain_text("are still in doubt.")


def test_clusters_wait_while_paused(site):
    page = site.open()
    expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
    page.locator("#pause").click()
    expect(page.locator("#pause")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("d")
    answered(page, 1)
    expect(page.locator("#stale-text")).to_contain_text("Update once")
    page.locator("#once").click()
    expect(page.locator("#stale")).to_be_hidden()
    expect(page.locator("#stage")).to_have_attribute("data-labels", "2")
    page.keyboard.press("d")
    answered(page, 2)
    page.locator("#live").click()
    expect(page.locator("#stale")).to_be_hidden()
    expect(page.locator("#live")).to_have_attribute("aria-pressed", "true")


class Slow(InThread):
    """A worker that is never done with a second job, until it is stopped."""

    def send(self, job):
        if job.number == 1 or self.hurry:
            super().send(job)
        self.number = job.number

    hurry = False

    def stop(self):
        self.hurry = True
        self.hear(("stopped", self.number))


def test_work_can_be_stopped_and_begun_again(browser, tmp_path):
    blobs(tmp_path / "data.csv")
    with served(browser, tmp_path / "data.csv", worker=Slow) as site:
        page = site.open()
        expect(page.locator("#ask")).to_be_visible()
        page.keyboard.press("d")
        answered(page, 1)
        expect(page.locator("#stale-text")).to_contain_text("Updating the clusters")
        expect(page.locator("body")).to_have_class(re.compile("stale"))
        page.locator("#stop").click()
        expect(page.locator("#stop")).to_be_hidden()
        expect(page.locator("#stale-text")).to_contain_text("do not include your latest answers")
        page.locator("#once").click()
        expect(page.locator("#stale")).to_be_hidden()


def test_names_survive_a_restart(browser, tmp_path):
    blobs(tmp_path / "data.csv")
    with served(browser, tmp_path / "data.csv") as site:
        page = site.open()
        page.locator("#name-1").click()
        page.locator("#name").fill("the right ones")
        page.keyboard.press("Enter")
        expect(page.locator("#clusters > li").nth(1)).to_contain_text("the right ones")
    with served(browser, tmp_path / "data.csv") as site:
        page = site.open()
        expect(page.locator("#clusters > li").nth(1)).to_contain_text("the right ones")


def test_texts_are_compared_word_by_word(browser, tmp_path):
    (tmp_path / "data.csv").write_text(
        "id,note\na,the red engine stalls\nb,the blue engine stalls\n"
        "c,invoice of may\nd,invoice of june\n"
    )
    with served(browser, tmp_path / "data.csv", text="note") as site:
        page = site.open()
        expect(page.locator("#ask")).to_be_visible()
        texts = {"a": "red", "b": "blue", "c": "may", "d": "june"}
        one, two = (site.label_page.items.name(row) for row in site.label_page.asked[:2])
        near = {one, two} in ({"a", "b"}, {"c", "d"})
        marks = page.locator("#compare mark").all_text_contents()
        assert {texts[one], texts[two]} <= set(marks)
        if near:
            assert len(marks) == 2


def test_images_are_shown_in_the_question(browser, tmp_path):
    image = pytest.importorskip("PIL.Image")
    lines = ["id,file"]
    for i in range(6):
        ink = np.full((12, 12, 3), 40 if i % 2 else 220, dtype=np.uint8)
        ink[i : i + 2] = 128
        image.fromarray(ink).save(tmp_path / f"{i}.png")
        lines.append(f"r{i},{i}.png")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    with served(browser, tmp_path / "data.csv", image="file") as site:
        page = site.open()
        expect(page.locator("#compare img")).to_have_count(2)
        for place in (0, 1):
            picture = page.locator("#compare img").nth(place)
            expect(picture).to_have_js_property("naturalWidth", 12)
        page.mouse.move(*on_map(page, site.label_page, 0))
        expect(page.locator("#tip img")).to_have_js_property("naturalWidth", 12)


def test_two_tabs_are_one(site):
    one, two = site.open(), site.open()
    expect(two.locator("#ask")).to_be_visible()
    one.keyboard.press("s")
    answered(one, 1)
    answered(two, 1)
    two.keyboard.press("d")
    answered(one, 2)
    answered(two, 2)


def test_all_rows_found_are_selected_and_listed(site):
    page = site.open()
    page.locator("#tab-rows").click()
    page.locator("#find").fill("r1")
    found = [row for row, text in enumerate(site.label_page.texts) if "r1" in text]
    expect(page.locator("#rows tbody tr")).to_have_count(len(found))  # those found, and no others
    page.locator("#choose-found").click()
    expect(page.locator("#selection-count")).to_have_text(f"{len(found)} rows selected")
    page.locator("#rows input").first.uncheck()
    expect(page.locator("#selection-count")).to_have_text(f"{len(found) - 1} rows selected")
    page.locator("#list-chosen").click()
    expect(page.locator("#rows tbody tr")).to_have_count(len(found) - 1)
    expect(page.locator("#rows tbody input:checked")).to_have_count(len(found) - 1)


@pytest.mark.slow
def test_nine_tabs_share_one_stream_and_all_work(site):
    tabs = [site.open() for _ in range(9)]  # a browser has six connections to a server
    for number, tab in enumerate(tabs, 1):
        tab.bring_to_front()
        expect(tab.locator("#ask")).to_be_visible()
        tab.keyboard.press("s" if number % 2 else "d")
        answered(tab, number)
    for tab in tabs:
        answered(tab, 9)
    tabs[0].close()  # it had the stream: another tab takes over
    tabs[1].keyboard.press("Control+z")
    for tab in tabs[1:]:
        answered(tab, 8)


def restarted(label_page):
    """Let a page forget what it has shown, as a restart with other answers does."""
    label_page.earlier.clear()


@pytest.mark.slow
def test_what_is_done_offline_waits_in_the_browser_and_is_sent_or_refused(site):
    page = site.open()
    other = site.open()
    expect(page.locator("#clusters > li")).to_have_count(3)
    site.context.set_offline(True)
    for first, second in ((0, 1), (1, 2)):
        page.locator(f"#tick-{first}").check()
        page.locator(f"#tick-{second}").check()
        page.locator("#merge").click()
        expect(page.locator("#plan-says")).to_contain_text("cannot show what would change")
        page.locator("#plan-apply").click()
        for number in (first, second):
            page.locator(f"#tick-{number}").uncheck()
    for tab in (page, other):
        expect(tab.locator("#waiting-count")).to_have_text("2 changes not sent yet")
    page.get_by_role("button", name="Take back: Merge clusters 1 and 2").click()
    expect(other.locator("#waiting-count")).to_have_text("1 change not sent yet")
    page.close()  # the other tab sends what this one has stored
    site.context.set_offline(False)
    expect(other.locator("#waiting")).to_be_hidden()
    expect(other.locator("#clusters > li")).to_have_count(2)
    assert len(site.label_page.current.state.active) == 1
    site.context.set_offline(True)
    other.locator("#split-0").click()
    other.locator("#plan-apply").click()
    expect(other.locator("#waiting-count")).to_have_text("1 change not sent yet")
    restarted(site.label_page)
    site.context.set_offline(False)
    expect(other.locator("#waiting-count")).to_have_text("1 change refused")
    expect(other.locator("#waiting-list")).to_contain_text("the clusters have changed since")
    other.get_by_role("button", name="Dismiss: Split cluster 0 in two").click()
    expect(other.locator("#waiting")).to_be_hidden()
    assert len(site.label_page.current.state.active) == 1
    site.faults = [fault for fault in site.faults if "ERR_" not in fault and "400" not in fault]


def test_people_who_answer_are_named_and_compared(site):
    page = site.open()
    label_page = site.label_page
    expect(page.locator("#ask")).to_be_visible()
    for name in ("anna", "ben"):
        page.locator("#person").click()
        page.locator("#person-name").fill(name)
        page.keyboard.press("Enter")
        expect(page.locator("#person")).to_have_text(name)
        for a, b in ((0, 3), (0, 1)):
            body = {"a": a, "b": b, "same": b == 3, "client": f"test-{name}-{a}-{b}", "who": name}
            page.evaluate(SEND, body)
        page.keyboard.press("d")
        expect(page.locator("#history > li").first).to_contain_text(name)
    assert {event.who for event in label_page.current.state.active} == {"anna", "ben"}
    page.locator("#tab-review").click()
    expect(page.locator("#people-list > li")).to_have_count(2)
    expect(page.locator("#people-list")).to_contain_text("shared pairs")
    page.reload()
    expect(page.locator("#person")).to_have_text("ben")


def test_clusters_are_shown_by_what_they_contain(browser, tmp_path):
    texts = ["red engine", "blue engine", "an engine stalls", "engine on fire"]
    texts += ["invoice of may", "invoice of june", "an invoice is late", "invoice unpaid"]
    rows = [f"r{i},{text}" for i, text in enumerate(texts)]
    (tmp_path / "texts.csv").write_text("\n".join(["id,text", *rows]))
    with served(browser, tmp_path / "texts.csv", text="text", k=2) as site:
        page = site.open()
        words = [re.compile("engine"), re.compile("invoice")]
        expect(page.locator("#clusters .unnamed")).to_have_text(words)
        about = page.locator("#about-0")
        expect(about.locator("summary .brief")).to_contain_text(re.compile("engine|invoice"))
        about.locator("summary").click()
        expect(about.locator("h3").first).to_have_text("Typical")
        expect(about.locator(".examples .brief").first).to_be_visible()
        page.keyboard.press("d")
        answered(page, 1)
        expect(about.locator(".examples .brief").first).to_be_visible()  # it stays open
        page.locator("#name-0").click()
        page.locator("#name").fill("motors")
        page.keyboard.press("Enter")
        expect(page.locator("#clusters > li").first).to_contain_text("motors")


def test_a_tour_opens_once_and_can_be_taken_with_the_keyboard(site):
    page = site.open(tour=True)
    expect(page.locator("#tour")).to_be_visible()
    expect(page.locator("#tour-next")).to_be_focused()
    titles = []
    while page.locator("#tour").is_visible():
        titles.append(page.locator("#tour-title").text_content())
        box = page.locator("#tour").bounding_box()
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= 1280
        assert box["y"] + box["height"] <= 860
        page.keyboard.press("Enter")
    assert len(set(titles)) == len(titles) == 5
    page.reload()
    expect(page.locator("#ask")).to_be_visible()
    expect(page.locator("#tour")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator("#tour-step")).to_have_text("1 of 5")
    page.keyboard.press("Escape")
    expect(page.locator("#tour")).to_be_hidden()
    page.keyboard.press("s")
    answered(page, 1)


def test_the_page_says_that_a_clearer_map_is_coming(site):
    page, label_page = site.open(), site.label_page
    expect(page.locator("#map-coming")).to_have_text("")

    def hear(message):
        task = asyncio.run_coroutine_threadsafe(label_page._hear(message), label_page.loop)
        task.result(60)

    hear(Map(label_page.xy, follows=True))
    expect(page.locator("#map-coming")).to_contain_text("A clearer map is being computed")
    expect(page.locator("#stage")).to_have_attribute("data-maps", "2")
    hear(Map(label_page.xy[:, ::-1].copy()))
    expect(page.locator("#map-coming")).to_have_text("")
    expect(page.locator("#stage")).to_have_attribute("data-maps", "3")  # the points have moved
    page.mouse.click(*on_map(page, label_page, 0))
    expect(page.locator("#selection-count")).to_have_text("1 row selected")
    hear(("unmapped", "MemoryError: too much"))
    expect(page.locator("#map-coming")).to_contain_text("could not be computed (MemoryError")


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_axe_finds_no_violation(site, scheme):
    page = site.open()
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("#ask")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("?")
    assert violations(page) == [], "tour"
    page.keyboard.press("Escape")
    page.locator("#split-0").click()
    expect(page.locator("#plan-parts h3")).to_have_count(2)
    assert violations(page) == [], "plan"
    page.keyboard.press("Escape")
    for tab in ("rows", "review", "history"):
        page.locator(f"#tab-{tab}").click()
        if tab == "rows":
            page.locator("#rows input").first.check()  # the toolbar of selected rows appears
        assert violations(page) == [], tab


SMALL = pytest.mark.parametrize(
    ("width", "height"), [(390, 844), (640, 430)], ids=["phone", "200 %"]
)


@needs_axe
@SMALL
def test_axe_finds_no_violation_in_a_question_about_several_rows(site, width, height):
    page, label_page = site.open(), site.label_page
    page.set_viewport_size({"width": width, "height": height})
    expect(page.locator("#ask")).to_be_visible()
    for number in range(1, 4):
        page.keyboard.press("s" if label_page.asked.a % 3 == label_page.asked.b % 3 else "d")
        answered(page, number)
    page.keyboard.press("w")
    expect(page.locator("#wide")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@SMALL
def test_the_question_comes_before_the_map_on_a_small_screen(site, width, height):
    page = site.open()
    page.set_viewport_size({"width": width, "height": height})
    expect(page.locator("#ask")).to_be_visible()
    top = {name: page.locator(name).bounding_box()["y"] for name in ("#question", ".map", ".tabs")}
    assert top["#question"] < top[".map"] < top[".tabs"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_answer_buttons_stay_in_place(browser, tmp_path):
    texts = ["short", "another " * 80, "a", "of middle length " * 8, "b", "words " * 200]
    rows = [f"r{i},{text}" for i, text in enumerate(texts)]
    (tmp_path / "texts.csv").write_text("\n".join(["id,text", *rows]))
    with served(browser, tmp_path / "texts.csv", text="text") as site:
        page = site.open()
        places = []
        for number in range(1, 4):
            expect(page.locator("#ask")).to_be_visible()
            places.append(page.locator("#same").bounding_box())
            page.keyboard.press("d")
            answered(page, number)
        assert places[1:] == places[:-1]


def test_hostile_texts_and_names_are_inert(browser, tmp_path):
    data = tmp_path / "<img src=x onerror=alert(1)>.csv"
    blobs(data, hostile=True)
    with served(browser, data) as site:
        page = site.open()
        expect(page.locator("#subtitle")).to_contain_text("<img src=x onerror=alert(1)>.csv")
        expect(page.locator("#compare")).to_contain_text("<img src=x onerror=alert(1)>")
        page.locator("#tab-rows").click()
        expect(page.locator("#rows")).to_contain_text("<b>word</b>")
        assert page.locator("#compare img, #rows img, #rows b").count() == 0


def test_a_single_row_is_shown_and_nothing_is_asked(browser, tmp_path):
    (tmp_path / "one.csv").write_text("id,x\na,1\n")
    with served(browser, tmp_path / "one.csv") as site:
        page = site.open()
        expect(page.locator("#idle-head")).to_have_text("Nothing to ask")
        expect(page.locator("#idle-text")).to_contain_text("a single row")
        expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
        expect(page.locator("#clusters > li")).to_have_count(1)
        page.mouse.click(*on_map(page, site.label_page, 0))
        expect(page.locator("#selection-count")).to_have_text("1 row selected")
        expect(page.locator("#do-together")).to_be_disabled()


def test_equal_rows_are_not_asked_about(browser, tmp_path):
    (tmp_path / "two.csv").write_text("id,x\na,1\nb,1\n")
    with served(browser, tmp_path / "two.csv") as site:
        page = site.open()
        expect(page.locator("#idle-head")).to_have_text("Nothing left to ask")
        expect(page.locator("#ask")).to_be_hidden()
        expect(page.locator("#clusters > li")).to_have_count(1)


def test_when_all_is_known_nothing_is_asked(browser, tmp_path):
    (tmp_path / "two.csv").write_text("id,x\na,1\nb,2\n")
    with served(browser, tmp_path / "two.csv") as site:
        page = site.open()
        expect(page.locator("#ask")).to_be_visible()
        page.keyboard.press("d")
        expect(page.locator("#idle-head")).to_have_text("Nothing left to ask")
        expect(page.locator("#clusters > li")).to_have_count(2)


class Foreign(http.server.BaseHTTPRequestHandler):
    """A page of somebody else, on another port of this machine."""

    target = ""

    def do_GET(self):
        body = (
            "<title>wait</title><script>"
            "const body = JSON.stringify({a: 0, b: 1, same: true, client: 'evil-evil'});"
            f"const at = '{self.target}';"
            "const tries = ["
            "fetch(at + 'api/answer',"
            " {method: 'POST', mode: 'no-cors', credentials: 'include', body}),"
            "fetch(at + 'api/answer', {method: 'POST', credentials: 'include',"
            " headers: {'Content-Type': 'application/json'}, body}),"
            "fetch(at + 'api/state', {credentials: 'include'}).then((r) => r.text()),"
            "fetch(at + 'api/state', {mode: 'no-cors', credentials: 'include'})];"
            "const form = document.createElement('form'); form.method = 'post';"
            "Promise.allSettled(tries).then((all) => {"
            " const read = all[2].status === 'fulfilled' || all[1].status === 'fulfilled';"
            " document.title = read ? 'read' : 'kept out'; });</script>"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def counted(times, function, *args, **options):
    times.append(1)
    return function(*args, **options)


def test_a_page_on_another_port_reaches_no_handler(site, monkeypatch):
    page = site.open()
    expect(page.locator("#ask")).to_be_visible()
    reached: list = []
    monkeypatch.setattr(routes, "view", functools.partial(counted, reached, routes.view))
    monkeypatch.setattr(
        site.label_page, "answer", functools.partial(counted, reached, site.label_page.answer)
    )
    page.close()
    time.sleep(0.3)
    reached.clear()
    handler = type("Page", (Foreign,), {"target": site.access.url("/")})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        foreign = site.context.new_page()
        foreign.goto(f"http://127.0.0.1:{other.server_address[1]}/")
        expect(foreign).to_have_title("kept out")
        foreign.close()
        other.shutdown()
    assert reached == []
    assert site.label_page.current.state.n_events == 0


@pytest.mark.slow
def test_a_killed_server_comes_back_with_all_answers(browser, tmp_path):
    blobs(tmp_path / "data.csv", 12)
    environ = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "OMP_NUM_THREADS": "1"}
    line = [sys.executable, "-m", "linkwise", "label", "data.csv", "--id", "id", "--no-browser"]

    def start():
        process = subprocess.Popen(
            line, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True
        )
        return process, re.search(r"http://\S+", process.stdout.readline())[0]

    context = browser.new_context()
    context.set_default_timeout(120_000)
    process, address = start()
    context.add_cookies([{"name": "linkwise_tour", "value": "seen", "url": address}])
    try:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#ask")).to_be_visible(timeout=240_000)
        page.keyboard.press("s")
        answered(page, 1)
        page.keyboard.press("d")
        answered(page, 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        expect(page.locator("#banner")).to_contain_text("All your answers are saved")
        page.locator("#tick-0").check()
        page.locator("#tick-1").check()
        page.locator("#merge").click()
        expect(page.locator("#plan-says")).to_contain_text("linkwise does not respond")
        page.locator("#plan-apply").click()
        expect(page.locator("#waiting-count")).to_have_text("1 change not sent yet")
        process, again = start()
        assert again.split("/start")[0] == address.split("/start")[0]
        expect(page.locator("#banner")).to_be_hidden(timeout=240_000)
        expect(page.locator("#waiting")).to_be_hidden()
        expect(page.locator("#history")).to_contain_text("merged by hand")
        page.keyboard.press("Control+z")
        expect(page.locator("#history")).not_to_contain_text("merged by hand")
        answered(page, 2)
        page.keyboard.press("Control+z")
        answered(page, 1)
        expect(page.locator("#before")).to_contain_text("You undid “different”")
    finally:
        context.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        process.stdout.close()


@pytest.mark.slow
def test_two_hundred_thousand_points_are_drawn(browser, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr("linkwise.app.label_view.portraits", lambda items, labels: [])
    blobs(tmp_path / "data.csv")
    with served(browser, tmp_path / "data.csv") as site:
        page = site.open()
        expect(page.locator("#stage")).to_have_attribute("data-labels", "1")
        site.label_page.xy = rng.normal(size=(200_000, 2)).clip(-3, 3).astype(np.float32) / 3
        site.label_page.labels = rng.integers(5, size=200_000).astype(np.int32)
        site.label_page.labels_version += 1
        page.reload()
        expect(page.locator("#stage")).to_have_attribute("data-labels", "2")
        page.locator("#zoom-in").click()
        page.locator("#reset").click()
        expect(page.locator("#ask")).to_be_visible()


def test_strays_are_left_out_by_keyboard_and_by_mouse(site):
    page = site.open()
    expect(page.locator("#strays-note")).to_have_text("none")
    page.locator("#strays-share").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    expect(page.locator("#strays-note")).to_have_text(
        re.compile(r"^10 %, \d+ rows? in no cluster$")
    )
    assert site.label_page.project.outliers == 0.1
    page.locator("#strays-auto").check()
    expect(page.locator("#strays-share")).to_be_disabled()
    assert site.label_page.project.outliers == "auto"
    page.locator("#strays-auto").uncheck()
    expect(page.locator("#strays-note")).to_have_text("none")
