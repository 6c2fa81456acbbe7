"""A server killed again and again under a stream of strokes loses none and doubles none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("PIL")

from kill_parts import killed_under_load
from PIL import Image

from linkwise.app.segment_page import SegmentPage, segment_routes
from linkwise.app.server import application, life_of
from linkwise.journal import read_project, replay
from linkwise.segment.album import segmenter_of
from linkwise.segment.project import open_project, strokes_of

SETTINGS = {"regions": None, "superpixels": 40, "only_touching": None}


class Hand:
    """Draws a stroke as a rule; undoes the last one now and then, if there is one."""

    drawn = 0

    def __call__(self, rng):
        if self.drawn and rng.random() < 0.15:
            self.drawn -= 1
            return "/api/undo", {}
        self.drawn += 1
        count = rng.randrange(1, 9)
        points = [[rng.randrange(600) / 10, rng.randrange(400) / 10] for _ in range(count)]
        return "/api/stroke", {"colour": str(rng.randrange(1, 4)), "points": points, "width": 2}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_acknowledged_stroke_is_lost_and_none_is_doubled(tmp_path):
    image, project = str(tmp_path / "a.png"), str(tmp_path / "a.linkwise")
    rgb = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(rgb).save(image)

    def served(access):
        album, journal = open_project(image, project, SETTINGS)
        page = SegmentPage(album, journal, settings=SETTINGS)
        return application(segment_routes(page), access, lifespan=life_of(page))

    with killed_under_load(served, Hand(), seed=2) as (server, commands, _):
        raw = server.request("GET", "/api/mask")[1]
    shown = np.frombuffer(raw, dtype=np.uint8).reshape(40, 60)
    found = read_project(project)
    assert [event.client for event in found.events] == list(commands)  # each once, in their order
    for event in found.events:
        path, body = commands[event.client]
        assert path == f"/api/{event.kind}"
        if event.kind == "stroke":
            assert event.body == body
    assert replay(found.events) == found.state
    strokes = strokes_of(found.state, rgb.shape, project)
    assert_array_equal(segmenter_of(rgb, SETTINGS).regions(strokes).mask, shown)
