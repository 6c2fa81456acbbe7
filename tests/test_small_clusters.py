"""Small clusters of a layout: linkage, and communities from it on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from linkwise import Constraints
from linkwise.class_models import make_learners, make_views
from linkwise.class_models.communities import (
    agreement,
    communities,
    halves,
    leave_and_merge,
    resolution,
)
from linkwise.class_models.linkage import (
    EMPTY,
    VOTE,
    Linkage,
    between,
    branches,
    cut,
    linkages_of,
    merges,
    move_branches,
    small_clusters,
    votes,
    with_tree,
)
from linkwise.class_models.partitions import linked
from linkwise.evaluate import adjusted_rand_index


def random_linkage(rng, c):
    """Return a Linkage of c small clusters, of random sizes."""
    C = rng.random((c, c))
    return Linkage(np.arange(c), rng.integers(1, 5, c).astype(float), C + C.T)


def random_links(rng, n):
    """Return eight Constraints between n points."""
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(8)])
    kinds = np.where(rng.random(8) < 0.4, 1, -1)
    return Constraints.from_table({"id_a": ends[:, 0], "id_b": ends[:, 1], "kind": kinds})


def sure(links):
    """Return constraints, each of which outvotes the graph."""
    return links.with_weight(np.full(links.n_pairs, 3.0))


def test_linkage_merges_what_the_graph_joins():
    W = np.zeros((8, 8))
    for a, b, w in (
        (0, 1, 1),
        (2, 3, 1),
        (4, 5, 1),
        (6, 7, 1),
        (1, 2, 0.8),
        (5, 6, 0.8),
        (3, 4, 0.1),
    ):
        W[a, b] = W[b, a] = w
    small = np.repeat([0, 1, 2, 3], 2)
    linkage = Linkage(small, np.full(4, 2.0), between(sparse.csr_array(W), small, 4))
    order = merges(linkage)
    assert_array_equal(cut(order, 2), [0, 0, 1, 1])
    assert_array_equal(cut(order, 4), [0, 1, 2, 3])
    assert len(np.unique(cut(order, 1))) == 1
    apart = Constraints(cannot_link=[(0, 2), (5, 6)], must_link=[(2, 5), (3, 4)])
    order = merges(linkage, sure(apart))  # the middle two small clusters come first now
    assert_array_equal(cut(order, 3), [0, 1, 1, 2])


def test_a_whole_branch_moves_if_constraints_say_so():
    """The graph puts 0 and 1 with 2 and 3; constraints put them with 4."""
    C = np.array(
        [
            [4, 3, 1, 1, 0.1],
            [3, 4, 1, 1, 0.1],
            [1, 1, 4, 3, 0],
            [1, 1, 3, 4, 0],
            [0.1, 0.1, 0, 0, 4],
        ]
    )
    linkage = Linkage(np.arange(5), np.ones(5), C)
    tree = merges(linkage)
    of = cut(tree, 2)
    assert_array_equal(of, [0, 0, 0, 0, 1])
    links = Constraints(cannot_link=[(0, 2), (1, 3)], must_link=[(0, 4)])
    assert_array_equal(move_branches(linkage, sure(links), of, branches(tree)), [1, 1, 0, 0, 1])
    assert_array_equal(move_branches(linkage, Constraints(), of, branches(tree)), of)


def test_constraints_join_islands_without_an_edge_between_them():
    """Two halves of a class share no edge; the graph would rather join other islands."""
    C = np.diag([9.0] * 4)
    C[0, 1] = C[1, 0] = 0.1
    C[1, 2] = C[2, 1] = 0.1
    linkage = Linkage(np.repeat(np.arange(4), 3), np.full(4, 3.0), C)
    links = Constraints(must_link=[(0, 9)], cannot_link=[(1, 3), (3, 6)])
    assert_array_equal(cut(merges(linkage, sure(links)), 3), [0, 1, 2, 0])


def test_one_wrong_constraint_does_not_outvote_the_graph():
    C = np.diag([9.0] * 4)
    C[0, 1] = C[1, 0] = C[2, 3] = C[3, 2] = 3.0
    C[1, 2] = C[2, 1] = 0.5
    linkage = Linkage(np.repeat(np.arange(4), 3), np.full(4, 3.0), C)
    wrong = Constraints(must_link=[(3, 6)])
    assert_array_equal(cut(merges(linkage, wrong), 2), [0, 0, 1, 1])
    assert_array_equal(cut(merges(linkage, sure(wrong)), 3), [0, 1, 1, 2])


def test_branches_are_the_clusters_of_every_cut(rng):
    order = merges(random_linkage(rng, 7))
    found = {tuple(np.flatnonzero(branch)) for branch in branches(order)}
    cuts = [cut(order, k) for k in range(2, 8)]
    assert found == {tuple(np.flatnonzero(of == c)) for of in cuts for c in range(of.max() + 1)}


@pytest.mark.parametrize("seed", range(20))
def test_no_branch_wants_to_move_at_the_end(seed):
    rng = np.random.default_rng(seed)
    linkage, k = random_linkage(rng, 9), 3
    links = random_links(rng, 9)
    tree = merges(linkage)
    of = move_branches(linkage, links, cut(tree, k), branches(tree))
    assert set(of) == set(range(k))
    A, C = VOTE * votes(linkage, links), linkage.between
    empty = EMPTY * C.sum() / linkage.size.sum() ** 2

    def score(t, b):
        mean = C[np.ix_(t, b)].sum() / (linkage.size[t].sum() * linkage.size[b].sum())
        return np.log(mean + empty) + A[np.ix_(t, b)].sum()

    for branch in branches(tree):
        t = np.flatnonzero(branch)
        rest = np.setdiff1d(np.flatnonzero(of == of[t[0]]), t)
        if len(set(of[t])) == 1 and len(rest):
            best = max(score(t, np.flatnonzero(of == c)) for c in range(k) if c != of[t[0]])
            assert best <= score(t, rest) + 1e-9


def gained(S, of):
    """Return what clusters gain by what is together in them."""
    return sum(S[np.ix_(of == c, of == c)].sum() / 2 for c in range(of.max() + 1))


def every_move(of, parts):
    """Yield the clusters after each move: a part leaves its cluster, and two clusters merge."""
    k = of.max() + 1
    for part in parts:
        rows = np.flatnonzero(part)
        if len(set(of[rows])) > 1 or len(rows) == (of == of[rows[0]]).sum():
            continue
        left = of.copy()
        left[rows] = k
        for a in range(k + 1):
            for b in range(a):
                yield np.unique(np.where(left == a, b, left), return_inverse=True)[1]


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_move_of_all_is_made(k, seed):
    rng = np.random.default_rng(seed)
    tree = merges(random_linkage(rng, 8))
    S = rng.standard_normal((8, 8))
    S = S + S.T
    np.fill_diagonal(S, 0)
    of, parts = cut(tree, k), branches(tree)
    best = max(gained(S, moved) for moved in every_move(of, parts))
    moved, gain = leave_and_merge(S, of, parts)
    assert set(moved) == set(range(k))
    assert_allclose(gained(S, moved), best)
    assert_allclose(gain, best - gained(S, of))


@pytest.mark.parametrize("seed", range(8))
def test_communities_are_no_worse_than_what_they_come_from(seed):
    rng = np.random.default_rng(seed)
    linkage, links = random_linkage(rng, 12), random_links(rng, 12)
    linkage = with_tree(linkage)
    tree = linkage.tree
    of = cut(tree, 4)
    found = communities(linkage, links, of, branches(tree))
    assert set(found) == set(range(4))
    S = agreement(linkage, 4, links)
    assert gained(S, found) >= gained(S, of) - 1e-9
    parts = np.concatenate((branches(tree), halves(S, found)))
    best = max(gained(S, moved) for moved in every_move(found, parts))
    assert best <= gained(S, found) + 1e-9


def test_single_precision_gives_moves_that_end(rng):
    X = rng.standard_normal((400, 5)).astype(np.float32)
    learners = make_learners(make_views(X, kinds=("given",)), ("graph", "island"), 0)
    (linkage,) = linkages_of(learners, 20, 0).values()
    assert linkage.between.dtype == np.float64
    assert_array_equal(linkage.between, linkage.between.T)
    for partition in linked(linkage, 3):
        assert set(partition.labels) == {0, 1, 2}


def test_excess_is_the_weight_of_a_merge_by_that_of_chance(rng):
    linkage = with_tree(random_linkage(rng, 8))
    for number, (a, b) in enumerate(linkage.tree):
        of = cut(linkage.tree, 8 - number)
        merged = cut(linkage.tree, 7 - number)
        (pair,) = (set(of[merged == c]) for c in set(merged) if len(set(of[merged == c])) == 2)
        a, b = (of == one for one in pair)
        C, degree = linkage.between, linkage.between.sum(axis=1)
        chance = degree[a].sum() * degree[b].sum() / degree.sum()
        assert_allclose(linkage.excess[number], C[np.ix_(a, b)].sum() / chance)


def test_many_clusters_have_a_finer_resolution(rng, monkeypatch):
    """Forty classes, each of five small clusters; four classes each have much in common."""
    of = np.repeat(np.arange(40), 5)
    C = np.where(of[:, None] == of, 1.0, 0.3 * (of[:, None] // 4 == of // 4))
    C += 0.02 * rng.random((200, 200))
    linkage = with_tree(Linkage(np.arange(200), np.full(200, 10.0), (C + C.T) / 2))
    assert resolution(linkage, 40) > resolution(linkage, 10) > 1
    start, T = cut(linkage.tree, 40), branches(linkage.tree)
    assert adjusted_rand_index(communities(linkage, None, start, T), of) == 1
    monkeypatch.setattr("linkwise.class_models.communities.resolution", lambda linkage, k: 0.85)
    assert adjusted_rand_index(communities(linkage, None, start, T), of) < 0.9


def test_many_clusters_have_more_small_clusters_if_there_are_the_points():
    of = [small_clusters(n, k) for n, k in ((4, 2), (150, 3), (150, 40), (2400, 40))]
    assert of == [2, 15, 15, 200]


def test_halves_cut_where_the_graph_is_thin():
    S = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    np.fill_diagonal(S, 0)
    (half,) = halves(S, np.zeros(6, dtype=int))
    assert set(map(tuple, (half, 1 - half))) == {(0, 0, 0, 1, 1, 1), (1, 1, 1, 0, 0, 0)}
    assert halves(S, np.arange(6)).shape == (0, 6)  # a small cluster has none


def islands(*, bridge=0.2):
    """Return a Linkage of three classes of four small clusters, and a far one of the first class.

    The second and the third class have an edge between them.
    """
    C = np.diag(np.full(13, 50.0))
    for first in (0, 4, 8):
        C[first : first + 4, first : first + 4] += 10
    C[7, 8] = C[8, 7] = bridge
    linkage = Linkage(np.arange(13), np.full(13, 20.0), C)
    return with_tree(linkage)


def test_a_small_island_far_from_all_others_is_no_community():
    linkage, apart = islands(), [4, 8]
    of = cut(linkage.tree, 3)
    assert of[4] == of[8]  # linkage lets two classes merge in its place
    found = communities(linkage, None, of, branches(linkage.tree))
    assert len(set(found[apart])) == 2
    assert [len(set(found[first : first + 4])) for first in (0, 4, 8)] == [1, 1, 1]


@pytest.mark.parametrize("home", [0, 4, 8])
def test_constraints_say_where_a_small_island_belongs(home):
    linkage = islands()
    links = Constraints(must_link=[(12, home)])
    found = communities(linkage, links, cut(linkage.tree, 3), branches(linkage.tree))
    assert found[12] == found[home]
    assert len(set(found[[0, 4, 8]])) == 3
