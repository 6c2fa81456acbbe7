"""Laws of from_labels, from_chunks and from_groups."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.constraints import Constraints

partial_labels = st.lists(st.integers(-1, 3), max_size=9)


def as_set(links):
    return {(frozenset((p.a, p.b)), p.sign) for p in links}


@given(partial_labels)
@settings(deadline=None)
def test_all_pairs_of_labelled_points_are_answered(y):
    known = [i for i, label in enumerate(y) if label != -1]
    expected = {(frozenset((i, j)), 1 if y[i] == y[j] else -1) for i, j in combinations(known, 2)}
    links = Constraints.from_labels(y)
    assert as_set(links) == expected
    assert links.n_pairs == len(expected)


@given(partial_labels)
@settings(deadline=None)
def test_spanning_pairs_have_the_same_closure(y):
    few, many = (Constraints.from_labels(y, pairs=pairs) for pairs in ("spanning", "all"))
    assert few.closure().constraints() == many.closure().constraints() == many
    assert few.n_pairs <= many.n_pairs


@given(partial_labels)
@settings(deadline=None)
def test_chunks_link_within_and_say_nothing_between(chunk):
    links = Constraints.from_chunks(chunk)
    assert as_set(links) == {pair for pair in as_set(Constraints.from_labels(chunk)) if pair[1] > 0}
    spanning = Constraints.from_chunks(chunk, pairs="spanning")
    assert spanning.closure().constraints() == links


@given(partial_labels)
@settings(deadline=None)
def test_groups_keep_their_members_apart(group):
    together = as_set(Constraints.from_chunks(group))
    assert as_set(Constraints.from_groups(group)) == {(pair, -1) for pair, _ in together}


@pytest.mark.parametrize(
    "y",
    [
        ["a", "a", None, "b"],
        ["a", "a", -1, "b"],
        np.array([0.0, 0.0, np.nan, 1.0]),
        pd.Series([0, 0, None, 1], dtype="Int64"),
        pd.Series(["a", "a", None, "b"], dtype="category"),
        np.array([5, 5, -1, 7], dtype=np.int8),
    ],
    ids=repr,
)
def test_unknown_may_be_written_in_many_ways(y):
    assert Constraints.from_labels(y) == Constraints([(0, 1)], [(0, 3), (1, 3)])


def test_minus_one_may_be_a_class():
    assert Constraints.from_labels([-1, -1], unknown=None).n_must == 1


def test_sample_id_names_the_rows():
    links = Constraints.from_chunks([0, -1, 0], sample_id=["x", "y", "z"])
    assert links == Constraints([("x", "z")])


@pytest.mark.parametrize(
    "make",
    [
        Constraints.from_labels,
        Constraints.from_chunks,
        lambda group: list(Constraints.from_groups(group)),
    ],
)
def test_too_many_pairs_are_refused_with_their_count(make):
    with pytest.raises(ValueError, match="49,995,000 "):
        make(np.zeros(10_000, dtype=int))


def test_spanning_scales_to_many_points():
    assert Constraints.from_labels(np.arange(200_000) % 4, pairs="spanning").n_pairs == 200_002


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="'all' or 'spanning', got 'some'"):
        Constraints.from_labels([0, 1], pairs="some")
    with pytest.raises(ValueError, match="chunk must be one value per row"):
        Constraints.from_chunks([[0, 1]])


def test_a_merge_links_rows_of_the_merged_clusters_only(rng):
    before = rng.integers(6, size=300)
    links = Constraints.from_merge(before, merged=[[0, 1], [2, 5]], random_state=0)
    assert links.n_must == 2 * (2 * 5 - 1)
    assert links.n_cannot == 0
    joined = {frozenset(pair) for pair in before[links.must_link].tolist()}
    assert {frozenset((0, 1)), frozenset((2, 5))} <= joined
    assert set().union(*joined) == {0, 1, 2, 5}


def test_a_merge_that_says_nothing_makes_no_must_links():
    assert not Constraints.from_merge([0, 0, 1, 1], [5, 5, 3, 3])
    apart = Constraints.from_merge([0, 0, 1, 1], [5, 5, 3, 3], apart=True)
    assert (apart.n_must, apart.n_cannot) == (2, 1)


def test_rows_without_a_cluster_say_nothing_about_a_merge():
    before, after = [-1, 0, 0, 1, 1, -1], [0, 0, 0, 0, 0, -1]
    links = Constraints.from_merge(before, after, per_cluster=None)
    assert sorted(links.ids.tolist()) == [1, 2, 3, 4]
    assert links.n_must == 3


def test_a_merge_names_rows_by_id():
    links = Constraints.from_merge(
        ["x", "y"], merged=["x", "y"], sample_id=["a", "b"], random_state=0
    )
    assert links == Constraints(must_link=[("a", "b")])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"after": [0, 1, 2, 2]}, "the cluster 0 of before is in several clusters"),
        ({"after": [0, 0]}, "before has 4 rows and after has 2"),
        ({"merged": [0, 7]}, "no row of before is in the cluster 7"),
        ({"merged": [0, -1]}, "no row of before is in the cluster -1"),
        ({"merged": [[0, 1], [1, 0]]}, "the cluster 1 is named twice"),
        ({"merged": [0, [1]]}, "a list of clusters or a list of lists"),
        ({"merged": [0, 1], "per_cluster": 0}, "per_cluster=0"),
    ],
)
def test_what_is_no_merge_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Constraints.from_merge([0, 0, 1, 1], **arguments)
    with pytest.raises(TypeError, match="after= the merge, or the lists merged="):
        Constraints.from_merge([0, 1])
