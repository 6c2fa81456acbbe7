import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints
from linkwise.evaluate import (
    accuracy,
    adjusted_rand_index,
    clustering_error,
    kept,
    mutual_information,
    rand_index,
    scores,
    untouched,
)

labellings = st.integers(2, 7).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 2), min_size=n, max_size=n)] * 2)
)


@given(labellings)
def test_error_is_the_least_over_all_matchings(pair):
    y, labels = map(np.array, pair)
    best = max(np.mean(np.array(names)[labels] == y) for names in permutations(range(3)))
    assert_allclose(accuracy(y, labels), best)
    assert_allclose(clustering_error(y, labels), 1 - best)


@given(labellings)
def test_rand_index_is_the_share_of_pairs_judged_alike(pair):
    y, labels = pair
    both = list(combinations(range(len(y)), 2))
    alike = [(y[i] == y[j]) == (labels[i] == labels[j]) for i, j in both]
    assert_allclose(rand_index(y, labels), np.mean(alike))


def test_surplus_clusters_count_as_errors():
    assert clustering_error([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5


def test_measures_look_at_the_named_rows_alone():
    y, labels, rows = [0, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 1, 2, 3]
    for measure in (accuracy, rand_index, adjusted_rand_index, mutual_information):
        assert measure(y, labels, rows=rows) == pytest.approx(1)
        assert measure(y, labels) < 1


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match="equal length"):
        accuracy([0, 1], [0, 1, 1])


def test_kept_counts_by_sign_and_by_weight():
    links = Constraints([(0, 1), (1, 2)], [(0, 2)], must_weight=[1, 3])
    share = kept([0, 0, 1], links)
    assert share == pytest.approx((2 / 3, 0.5, 1.0, 2 / 5))
    assert all(math.isnan(value) for value in kept([0, 1], None))


def test_untouched_points_occur_in_no_pair():
    assert_array_equal(untouched(([(0, 3)], [(3, 4)]), 6), [False, True, True, False, False, True])
    ids = ["a", "b", "c"]
    assert_array_equal(untouched(([("a", "c")], []), sample_id=ids), [False, True, False])


def test_scores_hold_both_views():
    y, labels = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0]
    found = scores(y, labels, ([(2, 4)], []))
    assert found["n_untouched"] == 4
    assert found["adjusted_rand_untouched"] == 1 > found["adjusted_rand"]
    assert (found["kept"], found["kept_must"]) == (0, 0)
    assert math.isnan(found["kept_cannot"])
    everything = scores(y, labels, ([(0, 1), (2, 3), (4, 5)], []))
    assert math.isnan(everything["rand_untouched"])
