"""Laws of the reliability of people, and of their agreement."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from linkwise.cli import main
from linkwise.evaluate.raters import A, B, agreement, answer_weights, rate
from linkwise.journal import Data, Journal

DATA = Data("points.csv", "0" * 64, 40, "row")


def simulated(right, n_items, share, rng):
    """Return answers of people, who are right with some probabilities (same, different)."""
    truth = np.where(rng.random(n_items) < 0.4, 1, -1)
    item, person = np.nonzero(rng.random((n_items, len(right))) < share)
    p = np.where(truth[item] > 0, *np.array(right)[person].T)
    return truth, item, person, truth[item] * np.where(rng.random(len(item)) < p, 1, -1)


@pytest.mark.parametrize("seed", range(3))
def test_reliability_is_found_without_the_truth(seed):
    right = [(0.97, 0.95), (0.9, 0.9), (0.6, 0.95), (0.85, 0.6)]
    rng = np.random.default_rng(seed)
    truth, item, person, sign = simulated(right, 800, 0.8, rng)
    found = rate(item, person, sign)
    assert_allclose(found.right_same, [s for s, _ in right], atol=0.07)
    assert_allclose(found.right_different, [d for _, d in right], atol=0.07)
    votes = np.bincount(item, sign, len(truth))
    seen = np.bincount(item, minlength=len(truth)) > 0
    by_model = np.where(found.same > 0.5, 1, -1)
    assert (by_model == truth)[seen].mean() >= (np.sign(votes) == truth)[seen].mean()
    weight = answer_weights(found, person, sign)
    assert weight[(person == 0)].mean() > weight[person == 1].mean()
    assert weight[(person == 2) & (sign < 0)].mean() < 1  # who overlooks what is the same


def test_a_person_who_shares_nothing_is_taken_to_be_like_anyone():
    item, person = np.array([0, 1, 2, 3, 3, 4, 4]), np.array([0, 0, 0, 1, 2, 1, 2])
    sign = np.array([1, -1, 1, 1, -1, -1, -1])
    found = rate(item, person, sign)
    assert found.shared.tolist() == [0, 2, 2]
    assert found.right_same[0] == found.right_different[0] == A / (A + B)
    assert_allclose(answer_weights(found, person, sign)[:3], 1)
    assert rate(item[:0], person[:0], sign[:0]).same.shape == (0,)


@given(st.permutations(range(30)), st.integers(0, 5))
def test_the_order_of_answers_is_irrelevant(order, seed):
    rng = np.random.default_rng(seed)
    item, person = np.repeat(np.arange(10), 3), np.tile(np.arange(3), 10)
    sign = rng.choice([-1, 1], 30)
    order = np.array(order)
    one, other = rate(item, person, sign), rate(item[order], person[order], sign[order])
    for mine, theirs in zip(one, other, strict=True):
        assert_allclose(mine, theirs, atol=1e-6)


def test_kappa_is_one_for_equals_and_zero_by_chance():
    rng = np.random.default_rng(0)
    a, b = rng.choice([-1, 1], (2, 4000))
    assert agreement(a, a).kappa == 1
    assert abs(agreement(a, b).kappa) < 0.05
    assert agreement(a[:0], b[:0]).shared == 0


@pytest.fixture
def two(tmp_path):
    """A project in which bea contradicts anna on half of the pairs that both answered."""
    path = tmp_path / "points.linkwise"
    with Journal(path, data=DATA, who="anna") as journal:
        for who in ("anna", "carl", "bea"):
            for i in range(0, 24, 2):
                same = i % 4 == 0 if who != "bea" else i % 8 < 4
                journal.append("answer", {"a": i, "b": i + 1, "same": same}, who=who)
        journal.answer(30, 31, True)
        journal.answer(32, 33, None)
        yield journal


def test_answers_of_unreliable_people_weigh_less(two):
    people = {person.who: person for person in two.state.people}
    assert [(p.answers, p.shared) for p in people.values()] == [(13, 12), (12, 12), (12, 12)]
    links = two.state.constraints()
    who = np.array([two.state.event(number).who for number in links.event.tolist()])
    assert links.weight[who == "bea"].max() < 0.8 < 1 < links.weight[who == "anna"].max()
    for number in [e.seq for e in two.state.active if e.who in ("bea", "carl")]:
        two.undo(number)
    assert_array_equal(two.state.constraints().weight, 1)  # one person


def test_the_last_answer_of_a_person_to_a_pair_counts(two):
    for i in range(0, 24, 2):
        two.append("answer", {"a": i + 1, "b": i, "same": i % 4 == 0}, who="bea")
    bea = {person.who: person for person in two.state.people}["bea"]
    assert bea.answers == 12
    assert bea.right_same == pytest.approx(bea.right_different, abs=0.01)
    assert bea.right_same > 0.9


def test_the_agreement_of_people_is_a_table(two, tmp_path, capsys):
    two.close()
    out = tmp_path / "agreement.csv"
    assert main(["export", two.path, "--agreement", "-o", str(out)]) == 0
    assert "3 people answered" in capsys.readouterr().err
    with out.open() as file:
        rows = {(row["who"], row["other"]): row for row in csv.DictReader(file)}
    assert float(rows["anna", "carl"]["kappa"]) == 1
    assert rows["anna", "bea"]["shared"] == "12"
    assert float(rows["anna", "bea"]["agreed"]) == 0.5
    assert float(rows["bea", ""]["right_same"]) < float(rows["anna", ""]["right_same"])
