"""Laws of corrections by hand: each changes what it names, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from linkwise.constraints import Constraints
from linkwise.journal import Event, replay
from linkwise.labelling.actions import act
from linkwise.labelling.edits import (
    Edit,
    applied,
    cluster_of,
    edited,
    edits_of,
    numbered,
    without_gaps,
)
from linkwise.labelling.items import Items
from linkwise.labelling.previews import preview, similar_rows

N, K = 18, 4
LABELS = arrays(np.int64, N, elements=st.integers(0, K - 1))
ROWS = st.lists(st.integers(0, N - 1), min_size=1, max_size=6, unique=True)
X = np.random.default_rng(0).normal(size=(N, 2))
EVEN = np.full((N, K), 1 / K)


def changed(labels, edit, likely=EVEN):
    """Return the new labels, and which rows changed."""
    new = applied(labels, edit, X, likely)
    return new, np.flatnonzero(new != labels)


@given(LABELS, ROWS, st.integers(0, N - 1))
def test_a_move_moves_its_rows_and_no_others(labels, rows, to):
    new, moved = changed(labels, Edit("move", (tuple(rows), (to,))))
    assert (new[rows] == labels[to]).all()
    assert set(moved) <= set(rows)


@given(LABELS, ROWS)
def test_a_group_is_in_one_cluster_and_nothing_else_moves(labels, rows):
    new, moved = changed(labels, Edit("group", (tuple(rows), ())))
    assert len(set(new[rows])) == 1
    assert set(moved) <= set(rows)


@given(LABELS, ROWS, st.integers(0, N - 1))
def test_rows_kept_apart_leave_the_cluster_alone(labels, rows, other):
    new, moved = changed(labels, Edit("apart", (tuple(rows), (other,))))
    assert (new[[row for row in rows if row != other]] != new[other]).all() or other in rows
    assert set(moved) <= set(rows)


@given(LABELS, st.integers(0, N - 1), st.integers(0, N - 1))
def test_a_merge_merges_exactly_two(labels, a, b):
    new, moved = changed(labels, Edit("merge", ((a,), (b,))))
    assert new[a] == new[b]
    assert set(moved) <= set(np.flatnonzero(np.isin(labels, labels[[a, b]])))
    others = ~np.isin(labels, labels[[a, b]])
    assert_array_equal(new[others], labels[others])


@given(LABELS, st.data(), st.sampled_from(["stay", "nearest"]))
def test_a_split_divides_its_cluster_and_no_other(labels, data, others):
    members = np.flatnonzero(labels == labels[0]).tolist()
    parts = [[members[0]], members[1:2]]
    if not parts[1]:
        return
    new, moved = changed(labels, Edit("split", tuple(map(tuple, parts)), others))
    assert new[parts[0][0]] != new[parts[1][0]]
    assert set(moved) <= set(members)
    if others == "stay":
        assert_array_equal(moved, parts[0])


@given(LABELS, st.integers(0, N - 1), st.integers(0, N - 1))
def test_where_two_corrections_disagree_the_later_holds(labels, a, b):
    if a == b:
        return
    together, apart = Edit("merge", ((a,), (b,))), Edit("split", ((a,), (b,)), "stay")
    edits = [Edit("group", ((a, b), ())), apart, together]
    found = edited(labels, EVEN, edits, X, labels)
    assert found[a] == found[b]
    found = edited(labels, EVEN, [together, apart], X, labels)
    assert found[a] != found[b]


@given(LABELS, LABELS)
def test_numbers_have_no_gaps_and_are_those_of_the_reference(labels, reference):
    labels, reference = without_gaps(labels), without_gaps(reference)
    found = edited(labels, np.eye(K)[labels], [], X, reference)
    assert set(found) == set(range(len(set(labels))))
    assert_array_equal(edited(found, np.eye(K)[found], [], X, found), found)  # numbers stay
    same = labels[:, None] == labels
    assert_array_equal(found[:, None] == found, same)  # clusters stay
    assert set(numbered(labels, labels)) == set(labels)


@given(LABELS, st.integers(0, N - 1), st.integers(0, N - 1))
def test_a_correction_keeps_the_numbers_of_other_clusters(labels, a, b):
    labels = without_gaps(labels)
    found = edited(labels, EVEN, [Edit("split", ((a,), (b,)), "stay")], X, labels)
    others = labels != labels[a]
    assert_array_equal(found[others], labels[others])


def test_the_cluster_of_rows_is_that_of_most():
    labels = np.array([2, 2, 0, 1, 1])
    assert cluster_of(labels, [0, 1, 3]) == 2
    assert cluster_of(labels, [2, 3]) == 0  # of equals the first
    assert cluster_of(labels, [0, 1, 3], but=2) == 1
    assert cluster_of(labels, [0], but=2) == -1


def event(kind, body):
    return Event(1, kind, body, "", "", "", "", "hand")


def items(points=X):
    return Items(points, None, [], [[]] * len(points), [], None, "")


def rows_by_number(n=N):
    return {row: row for row in range(n)}


def test_every_action_is_an_edit_of_what_was_selected():
    labels = np.arange(N) % 3
    for action, options, moves in (
        ("move", {"rows": [0, 3], "cluster": 1}, {0, 3}),
        ("split", {"cluster": 0, "rows": [0, 3]}, {0, 3}),
        ("together", {"rows": [0, 3, 1]}, {1}),
        ("merge", {"first": 0, "second": 2}, set(np.flatnonzero(labels == 2).tolist())),
        ("link", {"a": 0, "b": 1, "same": True}, {0}),
        ("link", {"a": 0, "b": 3, "same": False}, {0}),
        ("apart", {"rows": [0, 3], "cluster": 0}, {0, 3}),
    ):
        kind, body, _ = act(items(), labels, action, options)
        new = labels
        for edit in edits_of(event(kind, {"apart": [], **body}), rows_by_number()):
            new = applied(new, edit, X, EVEN)
        assert set(np.flatnonzero(new != labels).tolist()) == moves, action


@pytest.mark.parametrize("same", [True, False])
def test_halves_respect_earlier_answers(same):
    points = np.concatenate([np.linspace(0, 1, 20), np.linspace(9, 10, 20)])[:, None]
    labels = np.zeros(40, dtype=int)
    links = Constraints([(0, 39)]) if same else Constraints([], [(0, 1)])
    kind, body, _ = act(items(points), labels, "split", {"cluster": 0}, links)
    (edit,) = edits_of(event(kind, body), rows_by_number(40))
    new = applied(labels, edit, points, np.ones((40, 1)))
    assert len(set(new)) == 2
    assert (new[0] == new[39]) if same else (new[0] != new[1])
    chain = Constraints([(row, row + 1) for row in range(39)])
    with pytest.raises(ValueError, match="the answers keep cluster 0 together"):
        act(items(points), labels, "split", {"cluster": 0}, chain)


class Now:
    """A snapshot with some links, and with earlier corrections."""

    def __init__(self, links, *corrections):
        self.links = links
        self.state = replay(
            Event(i, kind, body, "", "", "", str(i), "hand")
            for i, (kind, body) in enumerate(corrections, start=1)
        )


def test_a_preview_lists_what_moves_what_may_follow_and_what_it_goes_against():
    points = np.concatenate([np.linspace(0, 1, 30), np.linspace(9, 10, 30)])[:, None]
    labels = np.zeros(60, dtype=int)
    labels[45:] = 1
    links = Constraints([(30, 0)]).with_source("answer", [7])
    kind, body, _ = act(items(points), labels, "move", {"rows": [30, 37], "cluster": 1}, links)
    found = preview(items(points), labels, kind, body, Now(links), rows_by_number(60))
    assert found.moves == [30, 37]
    assert found.n_moves == 2
    assert set(found.similar) <= set(range(31, 45)) - {37}
    assert found.against == [7]
    assert "Moves 2 rows." in found.says
    assert "would follow" in found.asks
    kind, body, _ = act(items(points), labels, "split", {"cluster": 0}, Constraints())
    found = preview(items(points), labels, kind, body, Now(Constraints()), rows_by_number(60))
    assert sorted(found.sizes) == [15, 30]
    assert [len(part) for part in found.parts] == found.sizes


def test_a_split_goes_against_a_merge_of_its_parts_and_not_against_a_move_to_the_cluster():
    points = np.concatenate([np.linspace(0, 1, 30), np.linspace(9, 10, 30)])[:, None]
    labels = np.zeros(60, dtype=int)
    body = {"parts": [list(range(30)), list(range(30, 60))], "others": "stay"}
    move = "group", {"rows": [3], "to": [5, 6, 20, 50, 55], "apart": []}
    merge = "merge", {"first": [5, 10, 15], "second": [35, 40, 45]}
    now = Now(Constraints(), move, merge)
    found = preview(items(points), labels, "split", body, now, rows_by_number(60))
    assert found.against == [2]


@settings(deadline=None)
@given(LABELS, ROWS)
def test_rows_that_may_follow_are_of_the_same_clusters(labels, rows):
    rows = np.array(rows)
    found = similar_rows(X, labels, rows)
    assert not set(found) & set(rows.tolist())
    assert set(labels[found]) <= set(labels[rows])


STRAYS = arrays(np.int64, N, elements=st.integers(-1, K - 1))


@given(STRAYS, ROWS)
def test_strays_are_in_no_cluster_and_nothing_else_moves(labels, rows):
    new, moved = changed(labels, Edit("stray", (tuple(rows),)))
    assert (new[rows] == -1).all()
    assert set(moved) <= set(rows)


@given(STRAYS, st.sampled_from(["move", "group", "apart", "merge", "split"]), ROWS, ROWS)
def test_no_edit_but_of_strays_makes_a_stray_or_moves_one_it_does_not_name(labels, kind, a, b):
    b = [row for row in b if row not in a] or [(a[0] + 1) % N]
    new, _ = changed(labels, Edit(kind, (tuple(a), tuple(b)), "nearest"))
    strays = labels == -1
    others = np.setdiff1d(np.flatnonzero(strays), [*a, *b])
    assert (new[others] == -1).all()
    assert (new[~strays] >= 0).all()
    if kind in ("move", "group"):
        assert (new[a] >= 0).all()


def test_a_stray_that_is_moved_is_one_no_more_and_numbers_have_no_gaps():
    labels = np.array([0, 0, 1, 1, 2, 2])
    edits = [Edit("stray", ((2, 3),)), Edit("stray", ((0,),)), Edit("move", ((0,), (4,)))]
    found = edited(labels, np.eye(3)[labels], edits, X[:6], labels)
    assert_array_equal(found, [1, 0, -1, -1, 1, 1])
