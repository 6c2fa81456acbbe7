"""The page of an image in a real browser."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("playwright.sync_api")

from app_parts import KEY
from axe_parts import needs_axe, violations
from browser_parts import needs_chromium, serving, watch
from PIL import Image
from playwright import sync_api
from segment_parts import photos, segment_application, segment_page, two_halves

from linkwise.app.security import Access
from linkwise.app.server import listen
from linkwise.journal import read_project

pytestmark = needs_chromium
expect = sync_api.expect
WAIT = 60_000
HOSTILE = '<img src=x onerror=alert(1)> "\u202e;.png'


class Tab:
    """A page in a browser, drawn on as by hand; what goes wrong on it is kept."""

    def __init__(self, context, address):
        self.page, self.faults = context.new_page(), []
        watch(self.page, self.faults, "http://127.0.0.1:")
        self.page.goto(address, timeout=WAIT)

    def __getitem__(self, name):
        return self.page.locator(f"#{name}")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def shown(self, events, k=0, touching=0, place=0):
        """Wait for the regions after so many events; return what the list says of them."""
        body, wanted = self.page.locator("body"), f"{events},{k},{touching},{place}"
        expect(body).to_have_attribute("data-shown", wanted, timeout=WAIT)
        return self["list"].inner_text().replace("cut out", "").replace("%", " %").split()

    def draw(self, key, *points):
        box = self["photo"].bounding_box()
        scale = box["width"] / 120
        self.press(key)
        spots = [(box["x"] + x * scale, box["y"] + y * scale) for x, y in points]
        self.page.mouse.move(*spots[0])
        self.page.mouse.down()
        for spot in spots[1:]:
            self.page.mouse.move(*spot, steps=4)
        self.page.mouse.up()

    def draw_halves(self):
        self.draw("1", (20, 20), (20, 60))
        self.draw("2", (100, 30), (100, 60))


@contextlib.contextmanager
def in_context(browser):
    context = browser.new_context(viewport={"width": 900, "height": 600})
    context.set_default_timeout(WAIT)
    try:
        yield context
    finally:
        context.close()


@contextlib.contextmanager
def served(browser, folder, name="two.png"):
    """Serve an image from a thread; yield a function that opens a Tab on it."""
    sock = listen("127.0.0.1", None)
    access = Access(sock.getsockname()[1], key=KEY)
    with segment_page(folder, name=name) as found, in_context(browser) as context:
        app = segment_application(found, access)
        tabs: list = []

        def open_tab():
            tabs.append(Tab(context, access.url("/" if tabs else access.launch_path)))
            return tabs[-1]

        with serving(app, sock):
            try:
                yield open_tab
            finally:
                for tab in tabs:
                    tab.page.close()
    assert [fault for tab in tabs for fault in tab.faults] == []


@pytest.fixture
def open_tab(browser, tmp_path):
    with served(browser, tmp_path) as found:
        yield found


def test_strokes_regions_undo_export(open_tab):
    tab = open_tab()
    tab.shown(0)
    expect(tab["hint"]).to_be_visible()
    tab.draw_halves()
    two = tab.shown(2)
    expect(tab["hint"]).to_be_hidden()
    assert (two[0], two[3]) == ("1", "2")
    assert abs(float(two[1]) - 50) < 2
    tab.draw("3", (60, 70), (62, 70))
    assert "3" in tab.shown(3)
    tab.press("Control+z")
    assert tab.shown(4) == two
    tab.press("Control+Shift+Z")
    tab.shown(5)
    tab.page.reload()
    tab.shown(5)
    tab["undo"].click()
    assert tab.shown(6) == two
    with tab.page.expect_download() as download:
        tab["npy"].click()
    mask = np.load(download.value.path())
    assert np.mean(mask[:, :60] == 1) > 0.98
    assert np.mean(mask[:, 60:] == 2) > 0.98


@pytest.mark.slow
def test_brushes_have_names_and_one_stroke_can_be_deleted(open_tab):
    tab, other = open_tab(), open_tab()
    tab.shown(0)
    tab.draw_halves()
    two = tab.shown(2)
    tab.draw("1", (70, 70), (80, 70))
    tab.shown(3)
    tab.press("1")
    tab["brush-name"].fill("left <b>")
    tab["brush-name"].press("Enter")
    expect(tab["list"]).to_contain_text("left <b>")
    expect(other.page.get_by_label("Brush 1, left <b>")).to_be_visible()
    tab.page.get_by_label("Delete stroke 3, left <b>").click()
    named = tab.shown(4)
    assert [word for word in named if word not in ("left", "<b>")] == two
    with tab.page.expect_download() as download:
        tab.page.get_by_label("Cut out region 1").click()
    with Image.open(download.value.path()) as image:
        pixels = np.asarray(image)
    assert pixels.shape == (80, 120, 4)
    assert pixels[:, :55, 3].mean() > 250
    assert pixels[:, 65:, 3].mean() < 5


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(open_tab, scheme):
    tab = open_tab()
    tab.page.emulate_media(color_scheme=scheme)
    tab.shown(0)
    tab.draw_halves()
    tab.shown(2)
    assert violations(tab.page) == []


def test_only_parts_that_touch_a_stroke_is_a_setting(open_tab):
    tab = open_tab()
    tab.shown(0)
    tab.draw_halves()
    tab.shown(2)
    tab["touching"].check()
    tab.shown(2, touching=1)
    tab["touching"].uncheck()
    tab.shown(2)


def test_all_of_it_can_be_done_with_the_keyboard(open_tab):
    tab = open_tab()
    tab.shown(0)

    def tab_to(name):
        for _ in range(40):
            tab.press("Tab")
            if tab.page.evaluate("document.activeElement.id") == name:
                return
        pytest.fail(f"{name} is not reached by Tab")

    tab_to("strokes")
    tab.press("2", *["ArrowRight"] * 10, "Enter", *["ArrowDown"] * 5, "Enter")
    tab.shown(1)
    tab.press("1", *["ArrowLeft"] * 20, "Enter", *["ArrowUp"] * 9, "Enter")
    two = tab.shown(2)
    assert abs(float(two[1]) - 50) < 2
    tab.press("3", "Enter", "ArrowLeft", "Escape")  # given up
    tab.press("Control+z")
    assert tab.shown(3) != two
    tab.press("Control+y")
    assert tab.shown(4) == two

    tab.page.locator("[role=radio][aria-checked=true]").focus()
    tab.press("ArrowRight")
    expect(tab.page.get_by_label("Brush 4")).to_have_attribute("aria-checked", "true")
    tab_to("count")
    tab.press("4", "Enter")
    assert tab.shown(4, 4).count("%") == 4
    tab.press("Control+a", "Delete", "Enter")
    assert tab.shown(4) == two

    width = tab["width-note"].inner_text()
    tab["strokes"].focus()
    tab.press("]", "]")
    expect(tab["width-note"]).not_to_have_text(width)
    tab.press("h")
    expect(tab["show"]).to_have_attribute("aria-pressed", "false")
    tab_to("undo")
    tab.press("Enter")
    tab.shown(5)
    tab_to("redo")
    tab.press("Enter")
    assert tab.shown(6) == two
    tab_to("png")
    with tab.page.expect_download() as download:
        tab.press("Enter")
    with Image.open(download.value.path()) as image:
        assert image.size == (120, 80)


@pytest.mark.slow
def test_the_images_of_a_folder_are_segmented_one_after_the_other(browser, tmp_path):
    photos(tmp_path)
    with served(browser, tmp_path, "photos") as open_tab:
        tab, other = open_tab(), open_tab()
        tab.shown(0)
        expect(tab["image-note"]).to_have_text("1 of 2")
        tab.draw_halves()
        first = tab.shown(2)
        tab.press("PageDown")
        tab.shown(2, place=1)
        expect(tab["title"]).to_have_text("more/b.png")
        expect(other["title"]).to_have_text("more/b.png")
        expect(tab["hint"]).to_be_visible()
        expect(tab["undo"]).to_be_disabled()  # the strokes are on the other image
        tab.draw("3", (20, 20), (20, 60))
        tab.shown(3, place=1)
        expect(tab["image-list"]).to_contain_text("a.png (2 strokes)")
        tab["image-before"].click()
        assert tab.shown(3) == first
        expect(tab["brushes"].locator("button")).to_have_count(9)
        tab.press("Control+z")
        tab.shown(4)
        tab["image-list"].select_option("1")
        tab.shown(4, place=1)
        expect(tab["stroke-list"].locator("li")).to_have_count(1)
        with tab.page.expect_download() as download:
            tab["png"].click()
        assert download.value.suggested_filename == "b-mask.png"


def test_two_tabs_are_one(open_tab):
    one, other = open_tab(), open_tab()
    one.shown(0)
    other.shown(0)
    one.draw("1", (20, 20), (20, 60))
    other.draw("2", (100, 30), (100, 60))
    assert one.shown(2) == other.shown(2)
    other.press("Control+z", "Control+z")
    one.shown(4)
    expect(one["subtitle"]).to_contain_text("0 strokes")
    expect(one["hint"]).to_be_visible()
    expect(one["redo"]).to_be_enabled()
    one.press("Control+Shift+Z")
    assert other.shown(5) == one.shown(5)


def away(route):
    route.abort()


@pytest.mark.slow
def test_strokes_kept_by_the_browser_are_each_sent_once(open_tab):
    one, other = open_tab(), open_tab()
    one.shown(0)
    other.shown(0)
    context = one.page.context
    context.route("**/api/stroke", away)
    for x in (20, 30, 40):
        one.draw("1", (x, 20), (x, 60))
    expect(one["banner"]).to_be_visible(timeout=WAIT)
    other.draw("2", (100, 30), (100, 60))
    for tab in (one, other):
        expect(tab["waiting-count"]).to_have_text("4 changes not sent yet", timeout=WAIT)

    sent = []

    def go_on(route):
        sent.append(route.request.post_data_json["client"])
        route.continue_()

    context.route("**/api/stroke", go_on)  # instead of `away`: the last one counts
    one.shown(4)
    assert len(sent) == len(set(sent)) == 4
    other.shown(4)
    for tab in (one, other):
        expect(tab["subtitle"]).to_contain_text("4 strokes,", timeout=WAIT)
        expect(tab["waiting"]).to_be_hidden()
        tab.faults = [fault for fault in tab.faults if "ERR_FAILED" not in fault]


@pytest.mark.slow
def test_a_stroke_kept_by_the_browser_and_refused_is_reported(open_tab):
    one, other = open_tab(), open_tab()
    one.shown(0)
    other.shown(0)
    context = one.page.context
    context.route("**/api/stroke", away)
    one.draw("1", (20, 20), (20, 60))
    expect(one["banner"]).to_be_visible(timeout=WAIT)
    context.route(
        "**/api/stroke", lambda route: route.fulfill(status=400, json={"error": "too many colours"})
    )
    for tab in (one, other):
        expect(tab["waiting-list"]).to_contain_text("too many colours", timeout=WAIT)
    one.page.get_by_role("button", name="Dismiss: A stroke of brush 1").click()
    for tab in (one, other):
        expect(tab["waiting"]).to_be_hidden()
        tab.faults = [f for f in tab.faults if "ERR_FAILED" not in f and "400 (Bad" not in f]


def test_hostile_names_are_inert(browser, tmp_path):
    with served(browser, tmp_path, HOSTILE) as open_tab:
        tab = open_tab()
        tab.shown(0)
        expect(tab["title"]).to_contain_text("<img src=x onerror=alert(1)>")
        assert tab["title"].locator("*").count() == 0
        tab.draw_halves()
        tab.shown(2)
        body = {"colour": "<img src=x onerror=alert(2)>", "points": [[60, 70]], "width": 3}
        script = """async (body) => (await fetch("/api/stroke", {method: "POST",
            headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)})).status"""
        assert tab.page.evaluate(script, body | {"client": "by-the-test"}) == 200
        assert "onerror=alert(2)>" in tab.shown(3)
        assert tab["list"].locator("img").count() == 0
        with tab.page.expect_download() as download:
            tab["png"].click()
        assert download.value.suggested_filename == "mask.png"


@contextlib.contextmanager
def running(folder):
    """Run `linkwise segment`; yield (the process, the address it prints)."""
    command = [sys.executable, "-m", "linkwise", "segment", "two.png", "--no-browser"]
    env = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process, re.search(r"http\S+", process.stdout.readline())[0]
        finally:
            process.kill()


@pytest.mark.slow
def test_a_killed_server_comes_back_with_all_strokes(browser, tmp_path):
    Image.fromarray(two_halves()).save(tmp_path / "two.png")
    with in_context(browser) as context:
        with running(tmp_path) as (process, address):
            tab = Tab(context, address)
            tab.shown(0)
            tab.draw("1", (20, 20), (20, 60))
            tab.shown(1)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            expect(tab["banner"]).to_be_visible(timeout=WAIT)
            tab.draw("2", (100, 30), (100, 60))  # kept by the browser
            expect(tab["waiting-count"]).to_have_text("1 change not sent yet", timeout=WAIT)
            expect(tab["subtitle"]).to_contain_text("1 stroke,")
        with running(tmp_path):
            two = tab.shown(2)
            expect(tab["banner"]).to_be_hidden(timeout=WAIT)
            expect(tab["waiting"]).to_be_hidden()
            expect(tab["subtitle"]).to_contain_text("2 strokes,")
            assert abs(float(two[1]) - 50) < 2
            tab.press("Control+z")
            tab.shown(3)
            tab.press("Control+Shift+z")
            assert tab.shown(4) == two
    kept = read_project(tmp_path / "two.linkwise")
    assert [event.kind for event in kept.events] == ["stroke", "stroke", "undo", "redo"]
    assert all("ERR_" in fault for fault in tab.faults), tab.faults  # the program was not there
