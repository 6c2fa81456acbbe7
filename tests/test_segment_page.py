"""The server of the page of an image."""

import io
import json
import os
import random
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("PIL")

from app_parts import ORIGIN, PORT
from PIL import Image
from segment_parts import LEFT, RIGHT, photos, served_segment_page, two_halves

from linkwise.journal import read_project
from linkwise.segment import Segmenter, Stroke
from linkwise.segment.project import open_project

THIRD = {"colour": "3", "points": [[60, 70]], "width": 4}


@pytest.fixture
def page(tmp_path):
    with served_segment_page(tmp_path) as found:
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
        Stroke(s["colour"], tuple(map(tuple, s["points"])), s["width"])
        for s in json.loads(strokes)["strokes"]
    ]
    assert_array_equal(full, Segmenter(two_halves(), n_superpixels=80).mask(lines))


def test_a_stroke_sent_again_counts_once(page):
    body = LEFT | {"client": "sent-twice-1"}
    for _ in range(2):
        assert page.post("/api/stroke", body).status == 200
    assert len(page.state()["strokes"]) == 1


def test_a_started_again_server_has_every_stroke(tmp_path):
    with served_segment_page(tmp_path) as page:
        page.command("/api/stroke", LEFT)
        page.command("/api/stroke", RIGHT)
        page.command("/api/undo", {})
        before = mask_of(page)
    with served_segment_page(tmp_path) as page:
        assert len(page.state()["strokes"]) == 1
        assert_array_equal(mask_of(page), before)
        page.sent = 10
        page.command("/api/redo", {})
        assert len(page.state()["strokes"]) == 2


def test_a_folder_of_images_is_one_project(tmp_path):
    photos(tmp_path)
    with served_segment_page(tmp_path, name="photos") as page:
        assert [one["name"] for one in page.state()["images"]] == ["a.png", "more/b.png"]
        assert page.state()["name"] == "a.png"
        page.command("/api/stroke", LEFT | {"image": "a.png"})
        page.command("/api/stroke", RIGHT | {"image": "a.png"})
        page.command("/api/stroke", LEFT | {"image": "more/b.png"})  # drawn while another is shown
        first = mask_of(page)
        state = page.command("/api/open", {"image": "more/b.png"})
        assert (state["place"], len(state["strokes"]), state["undo"]) == (1, 1, True)
        state = page.command("/api/undo", {})
        assert (len(state["strokes"]), state["undo"], state["redo"]) == (0, False, True)
        page.command("/api/undo", {}, status=400)  # nothing on this image is left to undo
        assert page.get("/api/mask?image=0").body == first.tobytes()
        assert page.get("/api/image?image=0").body != page.get("/api/image?image=1").body
        for body in (
            {"image": "c.png"},
            {"image": None},
            {"image": ["a.png"]},
            {"image": "../two"},
        ):
            page.command("/api/open", body, status=400)
        page.command("/api/stroke", LEFT, status=400)  # on which image?
        assert page.get("/api/mask?image=2").status == 400
    with served_segment_page(tmp_path, name="photos") as page:
        state = page.state()
        assert (state["name"], [one["strokes"] for one in state["images"]]) == (
            "more/b.png",
            [2, 0],
        )
        page.sent = 20
        assert len(page.command("/api/redo", {})["strokes"]) == 1


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


def test_one_stroke_is_deleted_by_its_event(page):
    page.command("/api/stroke", LEFT)
    page.command("/api/stroke", RIGHT)
    state = page.command("/api/stroke", THIRD)
    assert state["events"] == [1, 2, 3]
    state = page.command("/api/undo", {"event": 2})
    assert state["events"] == [1, 3]
    assert [s["colour"] for s in state["strokes"]] == ["1", "3"]


def test_names_and_settings_of_a_project_are_kept(tmp_path):
    with served_segment_page(tmp_path) as page:
        page.command("/api/name", {"colour": "1", "name": "sky"})
        page.command("/api/name", {"colour": "2", "name": "sea"})
        page.command("/api/name", {"colour": "2", "name": ""})
        page.command("/api/touching", {"on": True})
        for body in ({"colour": "1", "name": "x" * 81}, {"colour": 1, "name": "sky"}):
            assert page.command("/api/name", body, status=400)["error"]
    _, journal = open_project(tmp_path / "two.png", tmp_path / "two.linkwise", {})
    with journal:
        assert journal.settings["names"] == {"1": "sky"}
        assert journal.settings["only_touching"] is True


def test_nothing_to_undo_is_said(page):
    assert page.command("/api/undo", {}, status=400)["error"] == "there is nothing to undo"


def test_the_image_is_made_anew_for_the_page(page):
    reply = page.get("/api/image")
    assert reply.header("content-type") == "image/jpeg"
    with Image.open(io.BytesIO(reply.body)) as image:
        assert image.size == (120, 80)
        assert not image.getexif()


def test_only_named_files_are_given(page):
    for path in (
        "/",
        "/static/segment/page.js",
        "/static/segment/page.css",
        "/static/shared/requests.js",
    ):
        reply = page.get(path)
        assert reply.status == 200
        assert "script-src 'self'" in reply.header("content-security-policy")
    for path in (
        "/api/export/mask.exe",
        "/api/export/../two.png",
        "/static/label/page.js",
        "/two.png",
    ):
        assert page.get(path).status == 404
    assert page.client.request("GET", "/api/mask", [("Host", f"127.0.0.1:{PORT}")]).status == 401


ODD = [
    None, True, -1, 0, 1, 2.5, 2**70, 1e300, "", "1", "x", "é\u202e\x00", "\ud800", [], [[1]],
    [[1, 2]], {}, {"a": 1},
]  # fmt: skip
GETS = ["state", "image", "mask", "export/strokes.json", "export/mask.png", "export/mask.npy",
        "export/cutout.png?region=1", "export/cutout.png?region=x",
        "export/..%2ftwo.png", "nothing"]  # fmt: skip
POSTS = {
    "stroke": ["colour", "points", "width", "client"], "undo": ["client"], "redo": ["client"],
    "count": ["k"], "touching": ["on"], "name": ["colour", "name"],
}  # fmt: skip


def wild(rng):
    """Return a command that is nearly right."""

    def nearly(*good):
        return rng.choice(ODD) if rng.random() < 0.08 else rng.choice(good)

    def point():
        return [nearly(rng.uniform(0, 120), rng.randrange(121)), nearly(rng.uniform(0, 80), 80)]

    some = {
        "colour": nearly("1", "2", "3", "9", "sky", "<b>x</b>"),
        "points": nearly([point() for _ in range(rng.choice([0, 1, 1, 2, 5, 40]))]),
        "width": nearly(0, 1, 7.5, 60),
        "client": nearly(f"{rng.randrange(10**12):012d}"),
        "k": nearly(None, 1, 2, 5),
        "on": nearly(True, False),
        "name": nearly("", "sky", "sea"),
    }
    path = rng.choice([*POSTS, "stroke", "nothing"])
    names = POSTS.get(path, [])
    if rng.random() < 0.1:
        names = rng.sample(list(some), rng.randrange(4))
    return path, {name: some[name] for name in names}


FOREIGN = [
    ("Host", "evil.example"), ("Origin", "http://evil.example"), ("Cookie", "linkwise_8000=no"),
    ("Content-Type", "text/plain"), ("Sec-Fetch-Site", "cross-site"),
]  # fmt: skip


def test_whatever_is_asked_nothing_breaks(page):
    rng, reached, n = random.Random(0), 0, int(os.environ.get("LINKWISE_FUZZ", "2000"))
    good = [*page.own, ("Origin", ORIGIN), ("Content-Type", "application/json")]
    for _ in range(n):
        headers = list(good)
        foreign = rng.random() < 0.15
        if foreign:
            name, value = rng.choice(FOREIGN)
            headers = [*(h for h in headers if h[0] != name), (name, value)]
        if rng.random() < 0.1:
            path, body = rng.choice(GETS), {}
            foreign = foreign and name != "Content-Type"
            reply = page.client.request("GET", f"/api/{path}", headers)
        else:
            path, body = wild(rng)
            raw = json.dumps(body).encode()
            if rng.random() < 0.05:
                raw = raw[: rng.randrange(len(raw) + 1)] + bytes([rng.randrange(256)])
            reply = page.client.request("POST", f"/api/{path}", headers, raw)
        assert reply.status < 500, (path, body, reply.body)
        assert not foreign or reply.status >= 400, (path, headers)
        reached += reply.status in (200, 400) and not foreign
    assert reached > n / 2
    kept = read_project(page.segment_page.journal.path).state
    assert kept == page.segment_page.journal.state
    assert (
        page.state()["strokes"] == json.loads(page.get("/api/export/strokes.json").body)["strokes"]
    )
    assert mask_of(page).min() > 0


def test_the_page_has_nothing_inline(page):
    text = page.get("/").body.decode()
    assert not re.search(r"<style|style=|<script>|\son\w+=|https?://", text)
