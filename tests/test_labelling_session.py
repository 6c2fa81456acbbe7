"""A labelling session follows its journal one event at a time."""

import numpy as np
import pytest
from app_parts import blobs, settings
from numpy.testing import assert_array_equal

from linkwise.labelling import LabellingSession, open_project

N = 24


def same_links(one, other):
    assert_array_equal(one.ends, other.ends)
    for name in ("sign", "weight", "source", "event"):
        assert_array_equal(getattr(one, name), getattr(other, name))


def known_facts(known):
    sets = {root: sorted(members) for root, members in known._sets.members.items()}
    apart = {
        frozenset((tuple(sets[a]), tuple(sets[b])))
        for a, others in known._sets.apart.items()
        for b in others
    }
    return (
        sorted(sets.values()), apart, known.unsure, known.marks, known.contradicted, known._weight
    )  # fmt: skip


def assert_same(one, other):
    """Compare two snapshots."""
    same_links(one.links, other.links)
    same_links(one.task.links, other.task.links)
    assert known_facts(one.known) == known_facts(other.known)
    assert one.task._replace(links=None) == other.task._replace(links=None)
    assert (one.conflict is None) == (other.conflict is None)
    assert one.conflict_events == other.conflict_events
    assert (one.again, one.redo, one.people) == (other.again, other.redo, other.people)
    assert one.state == other.state
    assert one.state.active == other.state.active == sorted(one.state.active)


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("seed", range(2))
def test_a_snapshot_made_of_the_one_before_is_that_of_the_log(tmp_path, seed, k):
    y = blobs(tmp_path / "data.csv", n=N)
    path = tmp_path / "data.linkwise"
    items, journal = open_project(str(tmp_path / "data.csv"), str(path), settings(k=k))
    rng, derived = np.random.default_rng(seed), 0
    with journal:
        session = LabellingSession(items, journal, n_clusters=k)
        for _ in range(60):
            before = session.current
            a, b = rng.choice(N, 2, replace=False).tolist()
            what = rng.random()
            if what < 0.8:
                wrong = rng.random() < 0.02
                same = None if what < 0.1 else bool((y[a] == y[b]) != wrong)
                session.answer(a, b, same, who="another" if what > 0.79 else None)
            elif what < 0.85 and session.current.state.active:
                session.undo()
            elif what < 0.9 and session.current.redo is not None:
                session.redo()
            elif what < 0.94:
                session.mark([a], "unclear")
            elif what < 0.97:
                body = {"pairs": [[items.name(a), items.name(b), rng.choice([-1, 1]).item(), 1.0]]}
                session.append("link", body, teach=bool(what < 0.955))
            else:
                session.judge_set([a, b, (a + b + 1) % N], [b] if b != (a + b + 1) % N else [])
            found = session.current
            assert_same(found, session._snapshot())
            derived += found is not before and session._grown(before) is not None
        assert derived >= 3  # a second person, a conflict or a correction that is not kept end it


def test_events_are_followed_without_reading_the_log(tmp_path, monkeypatch):
    blobs(tmp_path / "data.csv", n=N)
    path = str(tmp_path / "data.linkwise")
    items, journal = open_project(str(tmp_path / "data.csv"), path, settings())
    with journal:
        session = LabellingSession(items, journal)
        read = session._snapshot
        monkeypatch.setattr(session, "_snapshot", None)
        for act in (
            lambda: session.answer(0, 3, True),
            lambda: session.answer(1, 3, False, who="another"),
            lambda: session.mark([5], "stray"),
            lambda: session.mark([7], "unclear"),
            lambda: session.append("group", {"rows": ["r02"], "to": ["r00"]}),
            lambda: session.append("split", {"parts": [["r00"], ["r03"]]}),
            lambda: session.append("rename", {"rows": ["r00"], "name": "first"}),
            lambda: session.judge_set([8, 11, 9], [9]),
            session.undo, session.undo, session.redo, session.undo, session.undo,
        ):  # fmt: skip
            act()
            assert_same(session.current, read())


def test_an_answer_does_not_change_the_snapshot_before(tmp_path):
    blobs(tmp_path / "data.csv", n=N)
    path = str(tmp_path / "data.linkwise")
    items, journal = open_project(str(tmp_path / "data.csv"), path, settings())
    with journal:
        session = LabellingSession(items, journal)
        session.answer(0, 3, True)
        before = session.current
        facts, active = known_facts(before.known), list(before.state.active)
        session.answer(3, 6, True)
        session.answer(6, 7, False)
        assert known_facts(before.known) == facts
        assert before.state.active == active
        assert before.links.n_pairs == 1
