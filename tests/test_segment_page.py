"""The page of a picture: its server, and the page in a browser where there is one."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("PIL")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from app_parts import KEY, ORIGIN, PORT, Client
from PIL import Image

from linkwise.app.security import Door
from linkwise.app.segment_routes import Easel, life_of, segment_routes
from linkwise.app.server import application
from linkwise.journal import read_project
from linkwise.segment import Segmenter, Stroke
from linkwise.segment.project import open_project

LEFT = {"colour": "1", "points": [[20, 20], [20, 60]], "width": 4}
RIGHT = {"colour": "2", "points": [[100, 40], [110, 50]], "width": 4}
THIRD = {"colour": "3", "points": [[60, 70]], "width": 4}


def picture():
    rng = np.random.default_rng(0)
    rgb = np.zeros((80, 120, 3))
    rgb[:, :60], rgb[:, 60:] = [190, 80, 60], [60, 90, 180]
    return np.clip(rgb + rng.normal(0, 8, rgb.shape), 0, 255).astype(np.uint8)


class Page:
    """A page that is let in."""

    def __init__(self, client):
        self.client, self.sent = client, 0
        self.own = [("Host", f"127.0.0.1:{PORT}"), ("Cookie", f"linkwise_{PORT}={KEY}")]

    def get(self, path):
        return self.client.request("GET", path, self.own)

    def state(self):
        return self.get("/api/state").json()

    def post(self, path, body):
        headers = [*self.own, ("Origin", ORIGIN), ("Content-Type", "application/json")]
        return self.client.request("POST", path, headers, json.dumps(body).encode())

    def command(self, path, body, *, status=200):
        self.sent += 1
        reply = self.post(path, {"client": f"test-{self.sent:08d}"} | body)
        assert reply.status == status, reply.body
        return reply.json()


@contextmanager
def easel_page(folder, *, regions=None):
    """Serve a picture without a network; yield the Page."""
    image, path = folder / "two.png", folder / "two.linkwise"
    if not image.exists():
        Image.fromarray(picture()).save(image)
    settings = {"regions": regions, "superpixels": 80}
    rgb, journal = open_project(image, path, settings)
    with journal:
        easel = Easel(rgb, journal, name="two.png", settings=settings)
        app = application(segment_routes(easel), Door(PORT, key=KEY), lifespan=life_of(easel))
        with Client(app) as client:
            yield Page(client)


@pytest.fixture
def page(tmp_path):
    with easel_page(tmp_path) as found:
        yield found


def mask_of(page):
    state = page.state()
    return np.frombuffer(page.get("/api/mask").body, dtype=np.uint8).reshape(state["working"])


def test_strokes_regions_undo_redo_export(page):
    assert page.state()["undo"] is False
    page.command("/api/stroke", LEFT)
    state = page.command("/api/stroke", RIGHT)
    assert [s["colour"] for s in state["strokes"]] == ["1", "2"]
    two = mask_of(page)
    assert np.mean(two[:, :60] == 1) > 0.98
    assert np.mean(two[:, 60:] == 2) > 0.98

    page.command("/api/stroke", THIRD)
    three = mask_of(page)
    assert set(np.unique(three)) == {1, 2, 3}
    state = page.command("/api/undo", {})
    assert (state["undo"], state["redo"]) == (True, True)
    assert_array_equal(mask_of(page), two)
    page.command("/api/redo", {})
    assert_array_equal(mask_of(page), three)

    png, npy, strokes = (
        page.get(f"/api/export/{name}").body for name in ("mask.png", "mask.npy", "strokes.json")
    )
    full = np.load(io.BytesIO(npy))
    with Image.open(io.BytesIO(png)) as image:
        assert_array_equal(np.asarray(image), full)
    lines = [
        Stroke(s["colour"], tuple(map(tuple, s["points"])), s["width"]) for s in json.loads(strokes)
    ]
    assert_array_equal(full, Segmenter(picture(), n_superpixels=80).mask(lines))


def test_a_stroke_sent_again_counts_once(page):
    body = LEFT | {"client": "sent-twice-1"}
    for _ in range(2):
        assert page.post("/api/stroke", body).status == 200
    assert len(page.state()["strokes"]) == 1


def test_a_started_again_server_has_every_stroke(tmp_path):
    with easel_page(tmp_path) as page:
        page.command("/api/stroke", LEFT)
        page.command("/api/stroke", RIGHT)
        page.command("/api/undo", {})
        before = mask_of(page)
    with easel_page(tmp_path) as page:
        assert len(page.state()["strokes"]) == 1
        assert_array_equal(mask_of(page), before)
        page.sent = 10
        page.command("/api/redo", {})
        assert len(page.state()["strokes"]) == 2


def test_the_number_of_regions_can_be_asked_for(page):
    page.command("/api/count", {"k": 4})
    assert set(np.unique(mask_of(page))) == {1, 2, 3, 4}
    page.command("/api/stroke", LEFT)
    assert len(np.unique(mask_of(page))) == 4
    page.command("/api/count", {"k": 1})
    page.command("/api/stroke", RIGHT)  # more colours than regions asked for: one for each
    assert set(np.unique(mask_of(page))) == {1, 2}
    assert page.command("/api/count", {"k": None})["k"] is None
    for wrong in (0, 256, 2.5, "3", True, [2]):
        assert "whole number" in page.command("/api/count", {"k": wrong}, status=400)["error"]


@pytest.mark.parametrize(
    "body",
    [
        LEFT | {"points": [[1000, 5]]},
        LEFT | {"points": [["a", 5]]},
        LEFT | {"points": 5},
        LEFT | {"points": [[1, 2, 3]]},
        LEFT | {"points": []},
        LEFT | {"colour": ""},
        LEFT | {"colour": 7},
        LEFT | {"colour": "\ud800"},
        LEFT | {"width": -1},
        LEFT | {"width": 1e9},
        LEFT | {"more": 1},
        {"colour": "1"},
    ],
)
def test_bad_strokes_are_refused_and_leave_nothing(page, body):
    assert page.command("/api/stroke", body, status=400)["error"]
    assert page.state()["strokes"] == []


def test_nothing_to_undo_is_said(page):
    assert page.command("/api/undo", {}, status=400)["error"] == "there is nothing to undo"


def test_the_picture_is_made_anew_for_the_page(page):
    reply = page.get("/api/picture")
    assert reply.header("content-type") == "image/jpeg"
    with Image.open(io.BytesIO(reply.body)) as image:
        assert image.size == (120, 80)
        assert not image.getexif()


def test_only_named_files_are_given(page):
    for path in ("/", "/static/segment.js", "/static/segment.css", "/static/api.js"):
        reply = page.get(path)
        assert reply.status == 200
        assert "script-src 'self'" in reply.header("content-security-policy")
    for path in ("/api/export/mask.exe", "/api/export/../two.png", "/static/label.js", "/two.png"):
        assert page.get(path).status == 404
    assert page.client.request("GET", "/api/mask", [("Host", f"127.0.0.1:{PORT}")]).status == 401


def test_the_page_has_nothing_inline(page):
    text = page.get("/").body.decode()
    assert not re.search(r"<style|style=|<script>|\son\w+=|https?://", text)


# in a browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def served(folder):
    """Serve a picture for real; yield the address."""
    Image.fromarray(picture()).save(folder / "two.png")
    command = [sys.executable, "-m", "linkwise", "segment", "two.png", "--no-browser"]
    env = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield re.search(r"http\S+", process.stdout.readline())[0]
        finally:
            process.kill()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_strokes_regions_undo_export_in_a_browser(tmp_path):
    api = pytest.importorskip("playwright.sync_api")
    wait = 120_000
    with served(tmp_path) as address, api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"], timeout=wait
        )
        context = browser.new_context(viewport={"width": 900, "height": 600})
        context.set_default_timeout(wait)
        page = context.new_page()
        faults, foreign = [], []
        page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: None if "127.0.0.1" in r.url or r.url.startswith("blob:")
                else foreign.append(r.url))  # fmt: skip
        body = page.locator("body")

        def shown(events):
            api.expect(body).to_have_attribute("data-shown", f"{events},0", timeout=wait)
            return page.locator("#list").inner_text().split()

        def draw(key, *points):
            box = page.locator("#photo").bounding_box()
            scale = box["width"] / 120
            page.keyboard.press(key)
            spots = [(box["x"] + x * scale, box["y"] + y * scale) for x, y in points]
            page.mouse.move(*spots[0])
            page.mouse.down()
            for spot in spots[1:]:
                page.mouse.move(*spot, steps=4)
            page.mouse.up()

        page.goto(address, timeout=wait)
        shown(0)
        draw("1", (20, 20), (20, 60))
        draw("2", (100, 30), (100, 60))
        two = shown(2)
        assert two[0] == "1"
        assert two[3] == "2"
        assert abs(float(two[1]) - 50) < 2

        # without a mouse: the brush is walked, the stroke ends with Enter
        page.locator("#strokes").focus()
        page.keyboard.press("3")
        for key in ("Enter", "ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        assert "3" in shown(3)
        page.keyboard.press("Control+z")
        assert shown(4) == two
        page.keyboard.press("Control+Shift+Z")
        shown(5)
        page.reload()
        shown(5)
        page.locator("#undo").click()
        assert shown(6) == two
        with page.expect_download() as download:
            page.locator("#npy").click()
        mask = np.load(download.value.path())
        browser.close()
    assert np.mean(mask[:, :60] == 1) > 0.98
    assert np.mean(mask[:, 60:] == 2) > 0.98
    assert len(read_project(tmp_path / "two.linkwise").state.strokes) == 2
    assert faults == []
    assert foreign == []
