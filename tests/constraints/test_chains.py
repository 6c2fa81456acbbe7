"""Pairs that short chains of constraints imply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Constraints
from linkwise.constraints.chains import CERTAIN, LONGEST, with_chains, with_chains_of

ERROR = 0.05


def pairs_of(links):
    return {(*sorted(pair[:2]), pair.sign): pair.weight for pair in links}


def test_a_chain_joins_its_ends():
    found = pairs_of(with_chains(Constraints([(0, 1), (1, 2)], [(2, 3)]), ERROR))
    assert set(found) == {(0, 1, 1), (1, 2, 1), (0, 2, 1), (2, 3, -1), (1, 3, -1), (0, 3, -1)}


def test_two_cannot_links_join_only_when_there_are_two_clusters():
    links = Constraints(cannot_link=[(0, 1), (1, 2)])
    assert set(pairs_of(with_chains(links, ERROR))) == {(0, 1, -1), (1, 2, -1)}
    assert (0, 2, 1) in pairs_of(with_chains(links, ERROR, two=True))


def test_longer_chains_weigh_less_and_end_somewhere():
    path = Constraints([(i, i + 1) for i in range(LONGEST + 3)])
    found = pairs_of(with_chains(path, ERROR))
    weights = [found[0, d, 1] for d in range(1, LONGEST + 1)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0
    assert (0, LONGEST + 1, 1) not in found


def test_what_follows_weighs_no_more_than_what_was_said():
    star = Constraints([(0, i) for i in range(1, 8)])
    found = with_chains(star, ERROR)
    assert found.weight[: star.n_pairs].tolist() == [1.0] * star.n_pairs
    assert found.weight[star.n_pairs :].sum() == pytest.approx(star.n_pairs)


def test_contradicted_pairs_are_left_out():
    links = Constraints([(0, 1), (1, 2), (0, 3)], [(3, 2)])
    assert not {(0, 2, 1), (0, 2, -1)} & set(pairs_of(with_chains(links, ERROR)))


def test_uncertain_constraints_make_no_chains():
    weight = [1.0, CERTAIN / 2]
    links = Constraints([(0, 1), (1, 2)], must_weight=weight)
    assert with_chains(links, ERROR).n_pairs == 2


@given(st.integers(2, 4), st.integers(1, 40), st.integers(0, 10**6))
def test_right_constraints_imply_right_pairs_each_once(k, m, seed):
    y = np.random.default_rng(seed).integers(0, k, 20)
    links = Constraints.sample(y, n_pairs=m, random_state=seed)
    found = with_chains(links, ERROR, two=k == 2)
    a, b = found.ends.T
    np.testing.assert_array_equal(y[a] == y[b], found.sign > 0)
    np.testing.assert_array_equal(found.ends[:m], links.ends)
    assert len({tuple(sorted(pair)) for pair in found.ends.tolist()}) == found.n_pairs
    if k > 2:  # the closure has all that must- and cannot-links imply
        assert (links.closure().relation(a, b) == found.sign).all()


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_several_at_once_are_each_as_alone(seed, two):
    rng = np.random.default_rng(seed)
    several = [Constraints()]
    for n, m in ((8, 6), (30, 40), (10, 40), (200, 60)):  # the third has too many chains
        ends = rng.integers(n, size=(m, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        sign = rng.choice([1, -1], len(ends))
        weight = rng.choice([0.3, 1.0], len(ends))
        several.append(Constraints.from_table(list(zip(*ends.T, sign, weight, strict=True))))
    several.append(Constraints())
    for found, links in zip(with_chains_of(several, ERROR, two=two), several, strict=True):
        alone = with_chains(links, ERROR, two=two)
        for name in ("ids", "pairs", "sign", "weight"):
            np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
