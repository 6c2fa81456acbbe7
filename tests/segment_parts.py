"""Parts of the tests of the segment page: an image, strokes, a client in this process."""

from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("PIL")

from app_parts import KEY, PORT, Client, Page
from PIL import Image

from linkwise.app.security import Access
from linkwise.app.segment_page import SegmentPage, segment_routes
from linkwise.app.server import application, life_of
from linkwise.segment.project import open_project

LEFT = {"colour": "1", "points": [[20, 20], [20, 60]], "width": 4}
RIGHT = {"colour": "2", "points": [[100, 40], [110, 50]], "width": 4}


def two_halves():
    """Return an image of two colours, 80 x 120 pixels."""
    rng = np.random.default_rng(0)
    rgb = np.zeros((80, 120, 3))
    rgb[:, :60], rgb[:, 60:] = [190, 80, 60], [60, 90, 180]
    return np.clip(rgb + rng.normal(0, 8, rgb.shape), 0, 255).astype(np.uint8)


class ServedSegmentPage(Page):
    """The segment page, in a Client."""

    def __init__(self, client, segment_page):
        super().__init__(client)
        self.segment_page = segment_page


def photos(folder):
    """Write a folder of two images and a text, photos/a.png and photos/more/b.png."""
    (folder / "photos/more").mkdir(parents=True)
    Image.fromarray(two_halves()).save(folder / "photos/a.png")
    Image.fromarray(two_halves()[:, ::-1]).save(folder / "photos/more/b.png")
    (folder / "photos/notes.txt").write_text("no image")


@contextmanager
def segment_page(folder, *, name="two.png"):
    """Open an image and its project two.linkwise, written if new; yield the SegmentPage."""
    if not (folder / name).exists():
        Image.fromarray(two_halves()).save(folder / name)
    settings = {"regions": None, "superpixels": 80, "only_touching": None}
    album, journal = open_project(folder / name, folder / "two.linkwise", settings)
    with journal:
        yield SegmentPage(album, journal, settings=settings)


def segment_application(page, access):
    """Return the application of a SegmentPage."""
    return application(segment_routes(page), access, lifespan=life_of(page))


@contextmanager
def served_segment_page(folder, *, name="two.png"):
    """Serve an image or a folder without a network; yield the ServedSegmentPage."""
    access = Access(PORT, key=KEY)
    with (
        segment_page(folder, name=name) as found,
        Client(segment_application(found, access)) as client,
    ):
        yield ServedSegmentPage(client, found)
