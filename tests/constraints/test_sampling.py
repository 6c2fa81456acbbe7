"""Laws of pairs drawn from labels."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.constraints import Constraints, sample_pairs
from linkwise.constraints.sampling import pair_of

y = np.repeat([0, 1, 2], [5, 7, 8])


def truthful(links, y):
    return not links.violated(y).any()


@given(st.integers(0, 190), st.integers(0, 99))
@settings(deadline=None)
def test_uniform_pairs_are_distinct_and_true(n_pairs, seed):
    links = sample_pairs(y, n_pairs, random_state=seed)
    assert len({frozenset((p.a, p.b)) for p in links}) == links.n_pairs == n_pairs
    assert truthful(links, y)


def test_all_pairs_are_the_labels():
    assert sample_pairs(y, 190, random_state=0) == Constraints.from_labels(y)


def test_every_pair_is_equally_likely():
    draws = Counter()
    for seed in range(3000):
        draws.update(frozenset((p.a, p.b)) for p in sample_pairs(np.zeros(5), 2, random_state=seed))
    assert len(draws) == 10
    assert all(abs(count - 600) < 110 for count in draws.values())  # five standard deviations


@given(st.integers(0, 10**13))
@settings(deadline=None)
def test_pairs_are_numbered_row_by_row(t):
    (i,), (j,) = pair_of(np.array([t]))
    assert 0 <= i < j
    assert j * (j - 1) // 2 + i == t


@pytest.mark.parametrize("each", [1, 4])
def test_balanced_cells_are_equally_full(each):
    links = sample_pairs(y, each * 6, scheme="balanced", random_state=0)
    cells = Counter(tuple(sorted((y[p.a], y[p.b]))) for p in links)
    assert set(cells.values()) == {each}
    assert len(cells) == 6
    assert truthful(links, y)


@given(st.integers(0, 40), st.integers(0, 99))
@settings(deadline=None)
def test_balanced_cells_differ_by_one_at_most(n_pairs, seed):
    labels = ["a", "b", "b", "c", "c"]  # a class of one has no must-link
    links = sample_pairs(labels, n_pairs, scheme="balanced", random_state=seed)
    cells = Counter(tuple(sorted((labels[p.a], labels[p.b]))) for p in links)
    assert links.n_pairs == n_pairs
    assert ("a", "a") not in cells
    counts = [*cells.values(), *[0] * (5 - len(cells))]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("scheme", ["uniform", "balanced"])
def test_the_error_rate_is_the_share_of_wrong_answers(scheme):
    links = sample_pairs(y, 40, scheme=scheme, error_rate=0.25, random_state=3)
    assert links.violated(y).sum() == 10


@pytest.mark.parametrize("scheme", ["uniform", "balanced"])
def test_rows_bound_the_draw(scheme):
    part = np.arange(20) % 2 == 0
    by_mask = sample_pairs(y, 9, scheme=scheme, rows=part, random_state=0)
    by_number = sample_pairs(y, 9, scheme=scheme, rows=np.flatnonzero(part), random_state=0)
    assert set(by_mask.ids % 2) == {0}
    assert by_mask == by_number
    assert truthful(by_mask, y)


@pytest.mark.parametrize("seed", [7, np.random.default_rng, np.random.RandomState])
def test_the_same_seed_draws_the_same_pairs(seed):
    first, second = (
        sample_pairs(y, 9, random_state=seed if isinstance(seed, int) else seed(7)) for _ in "ab"
    )
    assert list(first) == list(second)
    assert list(first) != list(sample_pairs(y, 9, random_state=8))


def test_sample_id_names_the_rows():
    ids = [f"p{i}" for i in range(20)]
    named = Constraints.sample(y, 9, random_state=0, sample_id=ids)
    assert list(named.resolve(ids)) == list(Constraints.sample(y, 9, random_state=0))


def test_ten_million_points_cost_no_more_than_the_pairs():
    labels = np.zeros(10_000_000, dtype=np.int8)
    links = sample_pairs(labels, 1000, random_state=0)
    assert links.n_must == 1000
    assert links.ids.max() > 9_000_000


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"n_pairs": 191}, "n_pairs=191 distinct pairs were asked for, 20 rows have 190"),
        ({"n_pairs": -1}, "n_pairs must be"),
        ({"n_pairs": 1.5}, "n_pairs must be"),
        ({"n_pairs": 1, "scheme": "odd"}, "scheme must be"),
        ({"n_pairs": 1, "error_rate": 1.5}, "error_rate must be"),
        ({"n_pairs": 1, "rows": [0, 20]}, "rows must be distinct"),
        ({"n_pairs": 1, "rows": [0, 0]}, "rows must be distinct"),
        ({"n_pairs": 1, "rows": [True]}, "rows is a mask"),
        ({"n_pairs": 1, "rows": [3], "scheme": "balanced"}, "there are none in 1 row"),
        ({"n_pairs": 1, "sample_id": [1, 2]}, "sample_id has 2 ids"),
    ],
)
def test_impossible_draws_are_refused(arguments, fragment):
    with pytest.raises(ValueError, match=fragment):
        sample_pairs(y, **arguments)


@pytest.mark.parametrize("scheme", ["uniform", "balanced"])
def test_missing_labels_are_refused(scheme):
    with pytest.raises(ValueError, match=r"y\[1\] is missing"):
        sample_pairs([0.0, np.nan, 1.0], 3, scheme=scheme, random_state=0)
