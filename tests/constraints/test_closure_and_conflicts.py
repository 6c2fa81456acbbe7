"""Laws of the closure and of conflicts, against brute force on a few points."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.constraints import Constraints
from linkwise.constraints.conflicts import explain, find_conflict, is_contradictory
from linkwise.constraints.consistency import seem_right
from linkwise.exceptions import InfeasibleConstraints

N = 6
point_pair = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda p: p[0] != p[1])
pair_lists = st.builds(
    Constraints, st.lists(point_pair, max_size=7), st.lists(point_pair, max_size=7)
)
laws = settings(deadline=None, max_examples=200)


def feasible(links, k=N):
    """Try every labelling."""
    ids = {v: i for i, v in enumerate(links.ids.tolist())}
    pairs = [(ids[p.a], ids[p.b], p.sign) for p in links]
    return any(
        all((labels[a] == labels[b]) == (sign > 0) for a, b, sign in pairs)
        for labels in product(range(k), repeat=len(ids))
    )


def reachable(links):
    """Warshall's algorithm on the must-links."""
    R = np.eye(N, dtype=bool)
    for a, b in links.must_link.tolist():
        R[a, b] = R[b, a] = True
    for v in range(N):
        R |= np.outer(R[:, v], R[v])
    return R


@given(pair_lists)
@laws
def test_closure_is_reachability(links):
    links = links.drop_conflicts()[0]
    R = reachable(links)
    A = np.zeros((N, N), dtype=bool)
    for a, b in links.cannot_link.tolist():
        A |= np.outer(R[a], R[b]) | np.outer(R[b], R[a])
    known = np.isin(np.arange(N), links.ids)
    expected = np.where(R, 1, np.where(A, -1, 0)) * np.outer(known, known)
    closure = links.closure()
    assert closure.relation(np.arange(N)[:, None], np.arange(N)).tolist() == expected.tolist()
    implied = closure.constraints()
    assert implied.matrix(N).toarray().tolist() == (expected - np.diag(known)).tolist()
    assert implied.closure().constraints() == implied


@given(pair_lists)
@laws
def test_groups_are_the_components(links):
    closure = links.drop_conflicts()[0].closure()
    groups = closure.groups()
    assert sorted(np.concatenate([*groups, []]).tolist()) == closure.ids.tolist()
    for c, group in enumerate(groups):
        assert set(group.tolist()) == set(closure.ids[closure.component == c].tolist())


@given(pair_lists, st.randoms())
@laws
def test_order_of_pairs_is_irrelevant_to_the_closure(links, random):
    links = links.drop_conflicts()[0]
    order = random.sample(range(links.n_pairs), links.n_pairs)
    first, second = links.closure(), links.select(np.array(order, dtype=int)).closure()
    assert first.constraints() == second.constraints()


@given(pair_lists)
@laws
def test_no_conflict_means_feasible_and_a_conflict_is_infeasible(links):
    conflict = links.conflict()
    if conflict is None:
        assert feasible(links)
    else:
        assert not feasible(conflict)
        assert set(conflict) <= set(links)


@given(pair_lists)
@laws
def test_the_conflict_is_the_smallest(links):
    conflict = links.conflict()
    if conflict is not None:
        assert conflict.n_cannot == 1
        for size in range(conflict.n_pairs):
            for some in combinations(range(links.n_pairs), size):
                assert links.select(np.array(some, dtype=int)).drop_conflicts()[1].n_pairs == 0


@given(pair_lists)
@laws
def test_for_two_clusters_conflicts_are_exact_and_smallest(links):
    conflict = links.conflict(n_clusters=2)
    assert (conflict is None) == feasible(links, 2)
    if conflict is not None:
        assert not feasible(conflict, 2)
        for i in range(conflict.n_pairs):
            assert feasible(conflict.select(np.arange(conflict.n_pairs) != i), 2)
        plain = links.conflict()
        assert plain is None or conflict.n_pairs <= plain.n_pairs


@given(pair_lists, st.sampled_from([None, 2]))
@laws
def test_without_budget_a_conflict_is_found_all_the_same(links, k):
    found = find_conflict(len(links.ids), links.pairs, links.sign, k, budget=0)
    assert (found is None) == (links.conflict(k) is None)
    assert found is None or not feasible(links.select(found), k or N)


@given(pair_lists, st.integers(1, 4))
@laws
def test_a_conflict_for_k_clusters_is_infeasible_by_itself(links, k):
    conflict = links.conflict(n_clusters=k)
    if conflict is not None:
        assert not feasible(conflict, k)
    elif k == 1:
        assert feasible(links, 1)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_clique_of_components_needs_as_many_clusters(k):
    """k + 1 chains of three, each two kept apart at some of their members."""
    chains = np.arange(3 * (k + 1)).reshape(-1, 3)
    must = np.concatenate([chains[:, :2], chains[:, 1:]])
    cannot = [(chains[i, i % 3], chains[j, (i + j) % 3]) for i, j in combinations(range(k + 1), 2)]
    links = Constraints(must, cannot)
    conflict = links.conflict(k)
    assert conflict.n_cannot == k * (k + 1) // 2
    assert not feasible(conflict, k) if k < 5 else conflict.conflict(k) is not None
    assert links.conflict(k + 1) is None
    with pytest.raises(InfeasibleConstraints, match=f"more than {k} cluster"):
        links.check(k)


def test_a_pair_listed_both_ways_is_found_among_many():
    must = np.stack([np.arange(999), np.arange(1, 1000)], axis=1)
    links = Constraints(must, [(0, 900), (5, 100), (501, 500), (0, 2)])
    assert list(links.conflict()) == [(500, 501, 1, 1.0), (501, 500, -1, 1.0)]


def test_check_says_which_pairs_cannot_hold():
    links = Constraints([("c", "b"), ("x", "y"), ("c", "d")], [("b", "d"), ("x", "b")])
    text = "b must be with c, c must be with d, but b cannot be with d"
    with pytest.raises(InfeasibleConstraints, match=text) as caught:
        links.check()
    assert caught.value.conflict == links.select([0, 2, 3])
    with pytest.raises(InfeasibleConstraints, match="contradict"):
        links.closure()
    links.drop_conflicts()[0].check()


def test_long_explanations_are_elided():
    chain = Constraints(np.stack([np.arange(99), np.arange(1, 100)], axis=1), [(0, 99)])
    text = explain(chain.conflict())
    assert text.startswith("0 must be with 1, 1 must be with 2")
    assert "(89 more must-links)" in text
    assert text.endswith("98 must be with 99, but 0 cannot be with 99")


@given(pair_lists)
@laws
def test_dropping_conflicts_leaves_none(links):
    kept, dropped = links.drop_conflicts()
    assert kept.conflict() is None
    assert dropped.n_must == 0
    assert kept + dropped == links
    R = reachable(links)
    assert all(R[p.a, p.b] for p in dropped)


def test_chain_of_a_hundred_thousand():
    n = 100_000
    links = Constraints(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), [(0, n)])
    assert links.closure().relation([0, 5], [n - 1, n]).tolist() == [1, -1]
    assert links.conflict(2) is None
    broken = links + Constraints(cannot_link=[(0, n - 1)])
    assert broken.conflict().n_pairs == broken.conflict(3).n_pairs == n


def test_two_hundred_thousand_contradictory_pairs_are_answered():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 50_000, (2, 200_000))
    sign = rng.choice([1, -1], 200_000)
    table = {"id_a": a[a != b], "id_b": b[a != b], "kind": sign[a != b]}
    links = Constraints.from_table(table)
    for k in (None, 2, 3):
        assert links.conflict(k).conflict(k) is not None
    dense = Constraints(cannot_link=np.stack([a, b], axis=1)[a != b] % 997 + [0, 997])
    assert dense.conflict(2) is None
    dense.conflict(3)


def test_explicit_closure_is_refused_when_too_large():
    closure = Constraints.from_chunks(np.zeros(100), pairs="spanning").closure()
    with pytest.raises(ValueError, match=r"4,950 pairs.*relation"):
        closure.constraints(max_pairs=4949)
    assert closure.constraints(max_pairs=4950).n_must == 4950


def test_relation_of_scalars_and_unknown_ids():
    closure = Constraints([("a", "b")], [("b", "c")]).closure()
    assert closure.relation("a", "b") == 1
    assert closure.relation("c", "a") == -1
    assert closure.relation("a", "z") == closure.relation("z", "z") == 0
    assert Constraints().closure().relation([1], [2]).tolist() == [0]


def test_number_of_clusters_is_at_least_one():
    with pytest.raises(ValueError, match="n_clusters must be at least 1, got 0"):
        Constraints().conflict(0)


@given(pair_lists, st.booleans())
@laws
def test_pairs_are_contradictory_where_a_conflict_is_found(links, two):
    found = find_conflict(len(links.ids), links.pairs, links.sign, 2 if two else None)
    assert is_contradictory(len(links.ids), links.pairs, links.sign, two=two) == (found is not None)


@pytest.mark.parametrize("k", [2, 5])
def test_many_right_answers_seem_right_and_wrong_or_few_ones_do_not(k):
    y = np.arange(200) % k
    right = Constraints.sample(y, 600, random_state=0)
    assert seem_right(right, 0.05, two=k == 2)
    assert not seem_right(Constraints.sample(y, 60, random_state=0), 0.05, two=k == 2)
    wrong = Constraints.sample(y, 600, error_rate=0.05, random_state=0)
    assert not seem_right(wrong, 0.05, two=k == 2)
