"""Laws of groups: their cannot-links are implied, and everything is as if they were listed."""

import io
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import Constraints, COPKMeans, InfeasibleConstraints
from linkwise._check import check_constraints
from linkwise.choice import WithConstraints
from linkwise.evaluate import kept, untouched
from linkwise.saving import load, save

N = 8
COLUMN = st.lists(st.integers(-1, 3), min_size=N, max_size=N)
PAIR = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
PAIRS = st.lists(PAIR, max_size=3)
LABELS = st.lists(st.integers(-1, 2), min_size=N, max_size=N)


@st.composite
def grouped(draw):
    """Constraints with pairs and one or two columns of groups."""
    links = Constraints(draw(PAIRS), draw(PAIRS)).with_weight(draw(st.sampled_from([0.5, 1.0])))
    for column in draw(st.lists(COLUMN, min_size=1, max_size=2)):
        links = links + Constraints.from_groups(column)
    return links


def as_list(links):
    """Return the pairs in a canonical order."""
    return sorted((*sorted((p.a, p.b)), p.sign, p.weight) for p in links)


def same(a, b):
    return a == b and b == a and as_list(a) == as_list(b) and np.array_equal(a.ids, b.ids)


@settings(deadline=None)
@given(grouped())
def test_counts_names_and_equality_are_those_of_the_list(links):
    listed = links.listed()
    assert len(listed.groups) == 0
    assert same(links, listed)
    assert repr(links) == repr(listed)
    assert bool(links) == bool(listed)
    assert (links.n_pairs, links.n_must, links.n_cannot) == (
        len(list(listed)), len(listed.must_link), len(listed.cannot_link),
    )  # fmt: skip
    assert links != links + Constraints([(0, 1)])
    assert set(links.touched) == {end for pair in listed for end in pair[:2]}


@settings(deadline=None)
@given(grouped(), st.lists(st.integers(0, N - 1), unique=True), grouped())
def test_parts_and_sums_are_those_of_the_list(links, rows, others):
    listed = links.listed()
    assert same(links.restrict(rows), listed.restrict(rows))
    assert same(links.active(), listed.active())
    assert same(links + others, listed + others.listed())
    assert same(links.with_weight(2), listed.with_weight(2))
    assert same(links.merged(), listed.merged())
    half = np.arange(links.n_pairs) % 2 == 0
    assert same(links.select(half), listed.select(half))
    names = np.array([f"r{i}" for i in links.ids], dtype=object)
    by_id = Constraints.from_columns(names, *links._listed, links.groups)
    rows = [f"r{(3 * i) % N}" for i in range(N)]
    assert same(by_id.resolve(rows, n=N), by_id.listed().resolve(rows, n=N))


@settings(deadline=None)
@given(grouped(), LABELS, st.sampled_from([None, -1]))
def test_broken_pairs_are_those_of_the_list(links, labels, stray):
    listed = links.listed()
    assert same(
        links.violations(labels, stray=stray), listed.select(listed.violated(labels, stray=stray))
    )
    np.testing.assert_allclose(kept(labels, links, stray=stray), kept(labels, listed, stray=stray))
    assert (untouched(links, N) == untouched(listed, N)).all()


@settings(deadline=None)
@given(grouped(), st.sampled_from([None, 1, 2, 3, 4]))
def test_conflicts_are_those_of_the_list(links, n_clusters):
    listed = links.listed()
    mine, theirs = links.conflict(n_clusters), listed.conflict(n_clusters)
    assert (mine is None) == (theirs is None)
    if mine is not None:
        assert mine.listed().conflict(n_clusters) is not None
        assert set(as_list(mine)) <= set(as_list(listed))
        if n_clusters in (None, 1, 2):
            assert mine.n_pairs == theirs.n_pairs
    assert [as_list(one) for one in links.drop_conflicts()] == [
        as_list(one) for one in listed.drop_conflicts()
    ]


@settings(deadline=None)
@given(grouped())
def test_copies_and_files_have_the_same_pairs(links):
    assert same(pickle.loads(pickle.dumps(links)), links)
    for form in ("csv", "jsonl"):
        file = io.StringIO()
        links.write(file, format=form)
        file.seek(0)
        assert same(Constraints.read(file, format=form), links)


@settings(deadline=None)
@given(grouped())
def test_estimators_get_every_pair(links):
    checked = check_constraints(links, N, on_conflict="keep")
    assert same(checked.by_row, links.active())
    assert len(checked.by_row.groups) == 0


def test_an_estimator_clusters_as_with_the_list(rng):
    X = rng.normal(size=(30, 2))
    links = Constraints.from_groups(np.arange(30) // 3) + Constraints([(0, 3)])
    first, second = (
        COPKMeans(4, random_state=0).fit(X, constraints=one) for one in (links, links.listed())
    )
    assert (first.labels_ == second.labels_).all()
    assert not links.violations(first.labels_)


def test_a_saved_model_keeps_groups(tmp_path, rng):
    links = Constraints.from_groups(np.arange(30) // 3)
    model = WithConstraints(COPKMeans(4, random_state=0), links).fit(rng.normal(size=(30, 2)))
    save(model, tmp_path / "model.lwmodel")
    again = load(tmp_path / "model.lwmodel").constraints
    assert again == links
    assert (again.groups == links.groups).all()


def test_memory_is_in_proportion_to_the_rows():
    tracemalloc.start()
    n = 20_000
    links = Constraints.from_groups(np.arange(n) % 2)
    rows = links.resolve(np.arange(n)[::-1], n=n).restrict(np.arange(n // 2))
    assert (links.n_cannot, rows.n_cannot) == (99_990_000, 24_995_000)
    links.check()
    assert links.conflict(n // 2) is None
    assert not links.violations(np.arange(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * n


def test_too_many_pairs_are_refused_where_a_method_lists_them():
    links = Constraints.from_groups(np.zeros(10_000))
    with pytest.raises(
        ValueError,
        match=r"constraints: groups imply 49,995,000 .*at most 5,000,000 .*resolve_entities",
    ):
        COPKMeans(3).fit(np.zeros((10_000, 1)), constraints=links)
    with pytest.raises(InfeasibleConstraints, match="no two of 9001 can be together"):
        links.check(9000)


def test_ids_of_a_group_that_are_no_rows_are_named():
    links = Constraints.from_groups(["x", "x", "x"], sample_id=["a", "b", "C"])
    with pytest.raises(ValueError, match=r"a group: 'C' is not in sample_id, did you mean 'c'"):
        links.resolve(["a", "b", "c"])


def test_json_lines_have_sets_and_groups():
    text = '{"a": "p", "b": "q", "kind": "must"}\n'
    text += '{"members": ["a", "b", "c", "d"], "strangers": ["c"]}\n{"apart": ["p", "a", "z"]}\n'
    links = Constraints.read(io.StringIO(text), format="jsonl")
    assert links == (
        Constraints([("p", "q")])
        + Constraints.from_sets([(["a", "b", "c", "d"], ["c"])])
        + Constraints.from_groups([0, 0, 0], sample_id=["p", "a", "z"])
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"members": ["a", "b"], "strangers": ["c"]}', "line 2: 'c' is not among the members"),
        ('{"members": "abc"}', "line 2: members must be a list of ids"),
        ('{"apart": [["a"]]}', "line 2: apart must be a list of ids"),
        ('{"apart": ["a", "b"], "kind": "must"}', "line 2: 'kind' is not known beside apart"),
        ('{"apart": ["a", 3]}', "integer and string ids are mixed"),
        ('{"apart": ["a", "b", "a"]}', "line 2: a member is listed twice"),
    ],
)
def test_wrong_lines_are_named(line, said):
    text = '{"a": "p", "b": "q", "kind": "must"}\n' + line + "\n"
    with pytest.raises((TypeError, ValueError), match=said):
        Constraints.read(io.StringIO(text), format="jsonl")
