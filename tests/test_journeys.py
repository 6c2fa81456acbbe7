"""The four journeys of docs/architecture.md are those that the code takes.

A journey is the list of modules whose functions one action calls: room by room, and in the order of
their first calls. When a module is added, merged or renamed, the message says what to change.
"""

import re
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from app_parts import blobs, page
from segment_parts import LEFT, RIGHT, served_segment_page
from sklearn.datasets import load_digits, load_iris

import linkwise
from linkwise import CCSKL, LinkClustering, sample_pairs
from linkwise.blocks import executor

SOURCE = Path(linkwise.__file__).parent
PAGE = SOURCE.parent.parent / "docs" / "architecture.md"


class Trace:
    """The modules of linkwise whose functions are called, in the order of their first calls."""

    def __init__(self):
        self.paths: dict[str, None] = {}

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_name
        if event == "call" and not name.startswith("<"):  # no module, lambda or comprehension
            self.paths[frame.f_code.co_filename] = None

    def modules(self):
        """Return the modules as "room/module.py", those of a room together."""
        rooms: dict[str, list[str]] = {}
        for path in map(Path, list(self.paths)):  # other threads may still add to it
            if path.is_relative_to(SOURCE):
                module = path.relative_to(SOURCE)
                rooms.setdefault(module.parts[0], []).append(module.as_posix())
        return [module for room in rooms.values() for module in room]


@contextmanager
def traced():
    """Trace this thread and all threads that start meanwhile; yield the Trace."""
    trace = Trace()
    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        yield trace
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def link_clustering(folder):
    X, y = (values[::3] for values in load_iris(return_X_y=True))  # few, to be quick
    links = sample_pairs(y, 40, random_state=0)
    with executor("serial"), traced() as trace:
        LinkClustering(3, random_state=0).fit(X, constraints=links)
    return trace.modules()


def ccskl_on_a_file(folder):
    X, y = load_digits(return_X_y=True)
    np.save(folder / "points.npy", X.astype(np.float32))
    links = sample_pairs(y, 100, random_state=0)
    model = CCSKL(10, affinity="anchors", random_state=0)
    with executor("serial"), traced() as trace:
        model.fit(folder / "points.npy", constraints=links, out=folder / "labels.npy")
    return trace.modules()


def an_answer(folder):
    blobs(folder / "points.csv")
    with traced() as trace, page(folder / "points.csv") as label_page:
        question = label_page.state()["question"]
        trace.paths.clear()
        label_page.answer(True, question=question)
        label_page.state()  # by now the server has done all that follows from the answer
        return trace.modules()


def a_stroke(folder):
    with traced() as trace, served_segment_page(folder) as segment_page:
        segment_page.command("/api/stroke", LEFT)
        trace.paths.clear()
        segment_page.command("/api/stroke", RIGHT)
        segment_page.get("/api/mask")
        return trace.modules()


JOURNEYS = {
    "A fit of `LinkClustering`": link_clustering,
    "`CCSKL` on a file": ccskl_on_a_file,
    "An answer on the page": an_answer,
    "A stroke": a_stroke,
}


def documented():
    """Return {title: modules} of the journeys on the page."""
    text = PAGE.read_text().split("<!-- journeys -->")[1]
    sections = re.split(r"^### (.+)$", text, flags=re.MULTILINE)[1:]
    return {
        title: re.findall(r"`((?:\w+/)?\w+\.py)`", section)
        for title, section in zip(sections[::2], sections[1::2], strict=True)
    }


def test_the_page_has_these_journeys():
    assert list(documented()) == list(JOURNEYS)


@pytest.mark.parametrize("title", JOURNEYS)
def test_a_journey_is_the_one_on_the_page(title, tmp_path):
    found, listed = JOURNEYS[title](tmp_path), documented()[title]
    faults = [f"add {module}" for module in found if module not in listed]
    faults += [f"remove {module}" for module in listed if module not in found]
    if not faults and listed != found:
        faults = ["change the order"]
    assert not faults, (
        f"docs/architecture.md, {title}: {', '.join(faults)}. "
        f"The journey has {len(found)} modules now: {', '.join(found)}"
    )
