"""A server killed again and again under a stream of answers loses none and doubles none."""

import pytest
from app_parts import Stub, blobs, commit_late, settings
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


def answered_under_kills(folder, *, planted=False, **options):
    """Answer on a server that is killed; return (kills, commands, replies, project)."""
    data, project = str(folder / "data.csv"), str(folder / "data.linkwise")
    blobs(data, 60)

    def served(access):
        if planted:
            commit_late()
        items, journal = open_project(data, project, settings())
        page = LabelPage(items, journal, data=data, worker=Stub)
        return application(label_routes(page), access, files=FILES, lifespan=life_of(page))

    with killed_under_load(served, some_answer, seed=1, **options) as (server, commands, replies):
        pass
    return server.kills, commands, replies, read_project(project)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_no_acknowledged_answer_is_lost_and_none_is_doubled(tmp_path, capsys):
    kills, commands, replies, found = answered_under_kills(tmp_path)
    with capsys.disabled():
        print(f"\nservers killed {kills}, answers {len(replies)}")
    assert [event.client for event in found.events] == list(commands)  # each once, in their order
    for event in found.events:
        assert event.seq == replies[event.client]["event"]
        body = commands[event.client][1]
        a, b = (f"r{body[end]:02d}" for end in "ab")
        assert event.body == {"a": a, "b": b, "same": body["same"]}
    assert replay(found.events) == found.state


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_commit_after_the_reply_is_found_out(tmp_path):
    _, commands, _, found = answered_under_kills(tmp_path, planted=True, kills=3)
    assert len(found.events) < len(commands)
