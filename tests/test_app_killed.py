"""A server killed again and again under a stream of answers loses none and doubles none."""

import pytest
from app_parts import Stub, blobs, settings
from kill_parts import killed_under_load

from linkwise.app.label_page import LabelPage
from linkwise.app.label_routes import FILES, label_routes
from linkwise.app.server import application, life_of
from linkwise.journal import read_project, replay
from linkwise.labelling.project import open_project


def some_answer(rng):
    a, b = rng.sample(range(60), 2)
    same = None if rng.random() < 0.3 else a % 3 == b % 3  # no search for a conflict
    return "/api/answer", {"a": a, "b": b, "same": same}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_acknowledged_answer_is_lost_and_none_is_doubled(tmp_path, capsys):
    data, project = str(tmp_path / "data.csv"), str(tmp_path / "data.linkwise")
    blobs(data, 60)

    def served(access):
        items, journal = open_project(data, project, settings())
        page = LabelPage(items, journal, data=data, worker=Stub)
        return application(label_routes(page), access, files=FILES, lifespan=life_of(page))

    with killed_under_load(served, some_answer, seed=1) as (server, commands, replies):
        pass
    with capsys.disabled():
        print(f"\nservers killed {server.kills}, answers {len(replies)}")
    found = read_project(project)
    assert [event.client for event in found.events] == list(commands)  # each once, in their order
    for event in found.events:
        assert event.seq == replies[event.client]["event"]
        body = commands[event.client][1]
        a, b = (f"r{body[end]:02d}" for end in "ab")
        assert event.body == {"a": a, "b": b, "same": body["same"]}
    assert replay(found.events) == found.state
