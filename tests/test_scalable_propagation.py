"""Laws of constraint propagation that scales: edges only, and anchors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from linkwise.blocks import executor
from linkwise.graph.affinity import NeighbourAffinity, squared_distances
from linkwise.kernel import exhaustive, propagation_edges
from linkwise.kernel.entries import linked_pairs, linked_pairs_count, listed
from linkwise.kernel.exhaustive import spread, spread_edges, spread_memory
from linkwise.kernel.exhaustive_anchors import anchor_judgement, spread_core
from linkwise.kernel.propagation import propagate, propagate_core
from linkwise.kernel.propagation_edges import (
    GaussianKernel,
    propagate_edges,
    propagation_memory,
)

SOFT = {"eps_must": 0.7, "eps_cannot": 1.3}
SEEDS = st.integers(0, 10_000)


def links(n, count, seed):
    """Random pairs, each once: i, j, sign, weight."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = rng.choice(len(i), size=min(count, len(i)), replace=False)
    sign = rng.choice([-1, 1], size=len(chosen))
    return i[chosen], j[chosen], sign, rng.uniform(0.5, 2, len(chosen))


def points(n, seed, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))


def gaussian(X, sigma):
    return np.exp(-squared_distances(X) / (2 * sigma**2))


def complete(n):
    return sparse.csr_array(np.ones((n, n)) - np.eye(n))


def interpolation(n, p, s, seed):
    """Weights of n points on s of p anchors each; rows sum to 1."""
    rng = np.random.default_rng(seed)
    columns = np.argsort(rng.random((n, p)), axis=1)[:, :s]
    z = rng.uniform(0.1, 1, (n, s))
    z /= z.sum(axis=1, keepdims=True)
    return sparse.csr_array((z.ravel(), columns.ravel(), np.arange(n + 1) * s), shape=(n, p))


# pairs that links connect


@given(SEEDS, st.integers(0, 6))
def test_linked_pairs_are_the_products_of_surroundings(seed, count):
    rng = np.random.default_rng(seed)
    U = np.triu(rng.random((9, 9)) < 0.3, 1)
    W = sparse.csr_array((U | U.T).astype(float))
    i, j, *_ = links(9, count, seed)
    around = [{a, *W[[a]].indices.tolist()} for a in range(9)]
    pairs = {(a, b) for x, y in zip(i, j, strict=True) for a in around[x] for b in around[y]}
    expected = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    rows, columns = linked_pairs(W, i, j)
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected
    assert len(rows) <= linked_pairs_count(W, i, j)


def test_listed_entries_keep_the_weights_of_edges():
    W = sparse.csr_array(np.array([[0.5, 0.2, 0], [0.2, 0, 0], [0, 0, 0]]))
    entries = listed(W, np.array([1, 2, 2]), np.array([0, 0, 2]))
    assert_array_equal(entries.rows, [0, 0])
    assert_array_equal(entries.columns, [1, 2])
    assert_array_equal(entries.weight, [0.2, 0])


# affinity propagation on edges


@given(SEEDS, st.integers(0, 14), st.sampled_from("ab"))
def test_on_all_pairs_edges_are_the_dense_affinity(seed, count, algorithm):
    X, pairs = points(10, seed), links(10, count, seed)
    dense = propagate(gaussian(X, 1.5), *pairs, algorithm=algorithm, **SOFT)
    kernel = GaussianKernel(X, 1.5)
    found = propagate_edges(kernel, complete(10), *pairs, algorithm=algorithm, **SOFT)
    assert_allclose(found.A.toarray(), dense.A, atol=1e-10)
    new = points(4, seed + 1)
    K = np.exp(-squared_distances(new, X) / (2 * 1.5**2))
    everyone = np.tile(np.arange(10), (4, 1))
    assert_allclose(found.rows(new, everyone).toarray(), dense.rows(K), atol=1e-10)


@pytest.mark.parametrize("algorithm", ["a", "b"])
def test_on_a_neighbour_graph_edges_are_entries_of_the_dense_affinity(algorithm, monkeypatch):
    monkeypatch.setattr(propagation_edges, "COLUMNS", 7)  # several blocks of cannot-links
    monkeypatch.setattr(propagation_edges, "ROWS", 16)
    X, pairs = points(90, 1), links(90, 60, 1)
    W = NeighbourAffinity(X, 5, "r").W
    A = propagate(gaussian(X, 2), *pairs, algorithm=algorithm, **SOFT).A
    found = propagate_edges(GaussianKernel(X, 2), W, *pairs, algorithm=algorithm, **SOFT)
    must = pairs[2] > 0
    near = linked_pairs(W, pairs[0][must], pairs[1][must])
    pattern = (W.toarray() > 0) | np.eye(90, dtype=bool)
    pattern[near] = True
    assert_allclose(found.A.toarray(), np.where(pattern | pattern.T, A, 0), atol=1e-10)
    assert abs(found.A - found.A.T).max() == 0
    some = np.array([[3, 5, 8]])
    assert_allclose(found.rows(X[[3]], some).toarray()[0, some], A[[3]][:, some[0]], atol=1e-10)


def test_hard_links_are_kept_to_in_float64():
    X, pairs = points(40, 2), links(40, 12, 2)
    hard = {"eps_must": 1e-5, "eps_cannot": 1e-5}
    A = propagate(gaussian(X, 2), *pairs, algorithm="b", **hard).A
    found = propagate_edges(GaussianKernel(X, 2), complete(40), *pairs, algorithm="b", **hard)
    assert_allclose(found.A.toarray(), A, atol=1e-6)


def test_sparse_points_and_points_far_from_the_origin():
    X, pairs = points(30, 3), links(30, 9, 3)
    X[np.abs(X) < 0.5] = 0
    W = complete(30)
    found = [
        propagate_edges(GaussianKernel(P, 1.5), W, *pairs, algorithm="b", **SOFT).A.toarray()
        for P in (X, sparse.csr_array(X), X + 1e6)
    ]
    assert_allclose(found[1], found[0], atol=1e-10)
    assert_allclose(found[2], found[0], atol=1e-6)


@pytest.mark.parametrize("algorithm", ["a", "b"])
def test_float32_stays_float32_on_edges(algorithm):
    X, pairs = points(60, 4), links(60, 30, 4)
    W = NeighbourAffinity(X, 6, "r").W
    exact = propagate_edges(GaussianKernel(X, 2), W, *pairs, algorithm=algorithm, **SOFT).A
    X32, W32 = X.astype(np.float32), W.astype(np.float32)
    found = propagate_edges(GaussianKernel(X32, 2), W32, *pairs, algorithm=algorithm, **SOFT)
    assert found.A.dtype == np.float32
    assert found.rows(X32[:2], np.array([[3, 4], [5, 6]])).dtype == np.float32
    assert abs(found.A - exact).max() < 1e-5


def test_point_order_is_irrelevant_on_edges(rng):
    X, (i, j, sign, weight) = points(50, 5), links(50, 20, 5)
    order = rng.permutation(50)
    place = np.argsort(order)
    W = NeighbourAffinity(X, 5, "r").W

    def affinity(X, W, i, j):
        kernel = GaussianKernel(X, 2)
        return propagate_edges(kernel, W, i, j, sign, weight, algorithm="b", **SOFT).A.toarray()

    shuffled = affinity(X[order], W[order][:, order], place[i], place[j])
    assert_allclose(shuffled, affinity(X, W, i, j)[order][:, order], atol=1e-10)


def test_memory_is_estimated_before_the_fact():
    W = NeighbourAffinity(points(200, 6), 10, "r").W
    few, many = links(200, 10, 6), links(200, 100, 6)
    for algorithm in "ab":
        need = [propagation_memory(W, *pairs[:3], algorithm=algorithm) for pairs in (few, many)]
        assert 0 < need[0] < need[1]
    assert 0 < spread_memory(W, *few[:3]) < spread_memory(W, *many[:3])


# affinity propagation between anchors


@given(SEEDS, st.integers(0, 25), st.sampled_from("ab"))
def test_points_that_are_anchors_have_the_dense_affinity(seed, count, algorithm):
    K, (i, j, sign, weight) = gaussian(points(8, seed), 1.5), links(8, count, seed)
    rows = sparse.csr_array(np.eye(8))
    found = propagate_core(K, rows[i], rows[j], sign, weight, algorithm=algorithm, **SOFT)
    exact = propagate(K, i, j, sign, weight, algorithm=algorithm, **SOFT).A
    assert_allclose(found, exact, atol=1e-12)


@given(SEEDS, st.integers(1, 25))
def test_the_core_is_the_posterior_of_the_anchors(seed, count):
    """Algorithm A, by Eq. (2) with the links written in terms of anchors."""
    K, Z = gaussian(points(7, seed), 1) + 1e-6 * np.eye(7), interpolation(12, 7, 3, seed)
    i, j, sign, weight = links(12, count, seed)
    noise = np.mean(np.diag(K)) * np.where(sign > 0, 0.7, 1.3) ** 2 / weight
    V = Z.toarray()[i] - sign[:, None] * Z.toarray()[j]
    exact = np.linalg.inv(np.linalg.inv(K) + (V.T / noise) @ V)
    found = propagate_core(K, Z[i], Z[j], sign, weight, algorithm="a", **SOFT)
    assert_allclose(found, np.maximum(exact, 0), atol=1e-7)


def test_the_core_keeps_float32():
    K, Z = gaussian(points(30, 1), 1.5), interpolation(50, 30, 4, 1)
    i, j, sign, weight = links(50, 20, 1)
    exact = propagate_core(K, Z[i], Z[j], sign, weight, algorithm="b", **SOFT)
    found = propagate_core(
        K.astype(np.float32), Z[i].astype(np.float32), Z[j].astype(np.float32), sign, weight,
        algorithm="b", **SOFT,
    )  # fmt: skip
    assert found.dtype == np.float32
    assert_allclose(found, exact, atol=1e-5)


# E2CP


def test_blocks_of_columns_change_nothing(monkeypatch):
    X, pairs = points(80, 7), links(80, 90, 7)  # one large component of linked points
    W = NeighbourAffinity(X, 6, "r").W
    whole, dense = spread_edges(W, *pairs), spread(W, *pairs)
    monkeypatch.setattr(exhaustive, "COLUMNS", 9)
    assert abs(spread_edges(W, *pairs) - whole).max() < 1e-7
    assert_allclose(spread(W, *pairs), dense, atol=1e-7)


def test_surroundings_are_entries_of_the_same_judgement():
    X, pairs = points(60, 8), links(60, 12, 8)
    W = NeighbourAffinity(X, 5, "r").W
    bare, wide = spread_edges(W, *pairs), spread_edges(W, *pairs, surroundings=True)
    assert_allclose(wide.toarray()[bare.toarray() > 0], bare.toarray()[bare.toarray() > 0])
    assert wide.nnz > bare.nnz


def test_an_order_of_the_points_changes_nothing(rng):
    X, pairs = points(60, 9), links(60, 12, 9)
    W = NeighbourAffinity(X, 5, "r").W
    ordered = spread_edges(W, *pairs, surroundings=True, order=rng.permutation(60))
    assert abs(ordered - spread_edges(W, *pairs, surroundings=True)).max() < 1e-7


def test_threads_change_nothing():
    X, pairs = points(300, 10), links(300, 80, 10)
    W = NeighbourAffinity(X, 8, "r").W

    def both():
        kernel = GaussianKernel(X, 2)
        edges = propagate_edges(kernel, W, *pairs, algorithm="b", **SOFT).A
        return edges.data, spread_edges(W, *pairs, surroundings=True).data

    with executor("serial"):
        alone = both()
    assert_array_equal(alone[0], both()[0])
    assert_array_equal(alone[1], both()[1])


def bipartite(Z):
    return sparse.block_array([[None, Z], [Z.T, None]], format="csr").toarray()


def dense_judgement(Z, i, j, sign, weight, alpha):
    """F of E2CP on the graph of points and anchors, literally."""
    W = bipartite(Z)
    d = W.sum(axis=1)
    S = W / np.sqrt(np.outer(d, d))
    G = (1 - alpha) * np.linalg.inv(np.eye(len(W)) - alpha * S)
    pairs = np.zeros_like(W)
    np.add.at(pairs, (np.r_[i, j], np.r_[j, i]), np.r_[sign * weight, sign * weight])
    return G @ pairs @ G


def judged(Z, i, j, sign, weight, alpha):
    """The arguments as a caller has them: the Gram matrix and rows of touched points."""
    mass = Z.toarray().sum(axis=0)
    S = sparse.csr_array(Z / np.sqrt(Z.sum(axis=1))[:, None] / np.sqrt(mass))
    touched = np.unique(np.r_[i, j])
    a, b = np.searchsorted(touched, i), np.searchsorted(touched, j)
    gram = (S.T @ S).toarray()
    found = anchor_judgement(gram, S[touched], a, b, sign, weight, alpha=alpha)
    return found, mass


@given(SEEDS, st.sampled_from([0.1, 0.5, 0.8, 0.95]))
def test_judgement_of_anchors_is_that_of_the_whole_graph(seed, alpha):
    n, p = 14, 6
    Z, pairs = interpolation(n, p, 3, seed), links(n, 6, seed)
    if np.any(Z.toarray().sum(axis=0) == 0):
        return
    F = dense_judgement(Z, *pairs, alpha)
    assert_allclose(judged(Z, *pairs, alpha)[0], F[n:, n:], atol=1e-10)


def test_linked_anchors_are_pulled_and_pushed():
    Z, mass = sparse.csr_array(np.eye(4).repeat(3, axis=0)), np.full(4, 3.0)  # 3 points at each
    one = np.array([0, 0]), np.array([3, 6]), np.array([1, -1]), np.ones(2)
    gram = np.full((4, 4), 0.5) + 0.5 * np.eye(4)
    core = 3 * spread_core(judged(Z, *one, 0.8)[0], gram, mass)
    assert core[0, 1] > 0.5 > core[0, 2]
    assert_allclose(core[0, 3], 0.5)


def test_a_core_without_judgement_is_two_steps_on_the_anchor_graph():
    Z = interpolation(30, 6, 3, 2)
    _, mass = judged(Z, *links(30, 3, 2), 0.8)
    S = Z.toarray() / np.sqrt(mass)
    core = spread_core(np.zeros((6, 6)), S.T @ S, mass)
    step = (Z.toarray() / mass) @ Z.toarray().T
    assert_allclose(Z @ core @ Z.T.toarray(), step @ step / (S.T @ S).max())
