"""Laws of the nearest neighbours: exact and approximate, near anchors, and the packed partition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_distances

from linkwise.blocks import executor
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.graph.cells import build_cells
from linkwise.graph.distinct import copies_of, nearest_distinct
from linkwise.graph.nearest_anchors import nearest_anchors, plan_anchors
from linkwise.graph.neighbours import nearest_neighbours, neighbour_recall
from linkwise.graph.packed import TILE, least_of_product, smallest


def blobs(rng, n=6000, d=10, k=20, spread=6.0):
    return rng.standard_normal((k, d))[rng.integers(0, k, n)] * spread + rng.standard_normal((n, d))


def sheet(rng, n=6000, d=100):
    """A curved surface in many dimensions, with a little noise."""
    u = rng.random((n, 2)) * 6
    curves = np.hstack((np.sin(u), np.cos(u), u)) @ rng.standard_normal((6, d))
    return (curves + 0.02 * rng.standard_normal((n, d))).astype(np.float32)


def lopsided(rng, n=8000, d=6):
    """Nine rows of ten in one dense blob, the rest thin and far."""
    X = blobs(rng, n, d)
    X[: 9 * n // 10] = 0.01 * rng.standard_normal((9 * n // 10, d))
    return X.astype(np.float32)


def far_away(rng):
    return blobs(rng) + 1e6


def repeats(rng, n=8000):
    """Two rows of three are equal, and the rest lie on a coarse lattice."""
    X = rng.integers(0, 6, (n, 5)).astype(np.float32)
    X[: 2 * n // 3] = 1
    return X


KINDS = [blobs, sheet, lopsided, far_away, repeats]


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("kind", KINDS)
def test_few_neighbours_are_missed_and_the_estimate_says_how_few(kind, rng):
    X = kind(rng)
    found = nearest_neighbours(X, 10, search="approximate")
    recall = neighbour_recall(X, found)
    assert recall >= 0.95
    assert abs(recall - found.recall) < 0.04


@pytest.mark.parametrize("kind", KINDS)
def test_found_neighbours_are_others_at_their_distance_nearest_first(kind, rng):
    X = kind(rng)
    indices, distances = nearest_neighbours(X, 10, search="approximate")[:2]
    assert distances.dtype == X.dtype
    assert not np.any(indices == np.arange(len(X))[:, None])
    assert np.all(np.diff(np.sort(indices, axis=1), axis=1) > 0)
    assert np.all(np.diff(distances, axis=1) >= 0)
    rows = rng.choice(len(X), 200, replace=False)
    difference = X[rows, None].astype(float) - X[indices[rows]]
    assert_allclose(distances[rows], np.linalg.norm(difference, axis=2), rtol=2e-3, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_approximate_equals_exact_when_every_point_is_a_candidate(d, rng):
    X = rng.standard_normal((400, d))
    exact = nearest_neighbours(X, 7, search="exact")
    near = nearest_neighbours(X, 7, search="approximate")
    assert_array_equal(near.indices, exact.indices)
    assert_allclose(near.distances, exact.distances, rtol=1e-6)
    assert near.recall == exact.recall == 1


def test_threads_and_repetition_change_nothing(rng):
    X = sheet(rng)
    with executor("serial"):
        serial = nearest_neighbours(X, 8, search="approximate")
    with executor("threads"):
        threads = nearest_neighbours(X, 8, search="approximate")
    for one, other in zip(serial, threads, strict=True):
        assert_array_equal(one, other)


def test_row_order_is_irrelevant_but_for_the_few_missed(rng):
    X = blobs(rng)
    p = rng.permutation(len(X))
    straight = nearest_neighbours(X, 8, search="approximate").distances
    shuffled = nearest_neighbours(X[p], 8, search="approximate").distances
    assert np.mean(np.isclose(shuffled, straight[p], rtol=1e-6)) > 0.97


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_the_unit_is_irrelevant(scale, rng):
    X = blobs(rng, 3000)
    found = nearest_neighbours(X * scale, 8, search="approximate")
    straight = nearest_neighbours(X, 8, search="approximate").distances
    assert np.mean(np.isclose(found.distances, straight * scale, rtol=1e-6, atol=0)) > 0.97


def test_order_is_a_permutation_that_puts_neighbours_side_by_side(rng):
    X = blobs(rng)
    found = nearest_neighbours(X, 8, search="approximate")
    assert_array_equal(np.sort(found.order), np.arange(len(X)))
    place = np.argsort(found.order)
    apart = np.median(abs(place[:, None] - place[found.indices]))
    assert apart < np.median(abs(np.arange(len(X))[:, None] - found.indices)) / 5
    assert nearest_neighbours(X[:50], 8, search="exact").order is None


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_queries_find_the_points_nearest_to_them(search, rng):
    X = blobs(rng, 9000)
    Q = X[rng.choice(len(X), 700)] + 0.1
    found = nearest_neighbours(X, 5, queries=Q, search=search)
    truth = np.sort(cdist(Q, X), axis=1)[:, :5]
    assert np.mean(found.distances <= truth[:, -1:] * (1 + 1e-6)) > (0.97, 0.999)[search == "exact"]
    itself = nearest_neighbours(X, 1, queries=X[:300], search=search)
    assert np.all(itself.distances == 0)


NASTY = {
    "noise": lambda rng: rng.standard_normal((900, 40)),
    "far": lambda rng: rng.standard_normal((900, 20)) + 1e6,
    "apart": lambda rng: blobs(rng, 900, 20, spread=1e6),
    "scales": lambda rng: rng.standard_normal((900, 20)) * 10 ** rng.uniform(-12, 3, (900, 1)),
    "tiny": lambda rng: rng.standard_normal((900, 20)) * 1e-100,
    "huge": lambda rng: rng.standard_normal((900, 20)) * 1e100,
    "equal": lambda rng: np.repeat(rng.standard_normal((90, 20)), 10, axis=0),
    "lattice": lambda rng: rng.integers(0, 3, (900, 9)).astype(float),
    "outlier": lambda rng: np.vstack((rng.standard_normal((900, 20)), np.full((1, 20), 1e12))),
}


@pytest.mark.parametrize("kind", NASTY)
def test_the_exact_search_is_exact(kind, rng):
    X = NASTY[kind](rng)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    found = nearest_neighbours(X, 12, search="exact")
    truth = np.sort(D, axis=1)[:, :12]
    assert_allclose(found.distances, truth, rtol=1e-7)
    assert_allclose(np.take_along_axis(D, found.indices, axis=1), truth, rtol=1e-7)
    queries = nearest_neighbours(X, 12, queries=X[:100] * 1.5, search="exact")
    assert_allclose(queries.distances, np.sort(cdist(X[:100] * 1.5, X))[:, :12], rtol=1e-7)


def test_the_exact_search_of_single_precision_is_that_of_its_numbers(rng):
    X = blobs(rng, 3000, 50).astype(np.float32)
    D = cdist(X.astype(float), X.astype(float))
    np.fill_diagonal(D, np.inf)
    found = nearest_neighbours(X, 12, search="exact")
    assert found.distances.dtype == np.float32
    assert_allclose(found.distances, np.sort(D, axis=1)[:, :12], rtol=1e-6)


def test_the_least_of_a_product_and_their_limit(rng):
    left, right = rng.random((70, 9), dtype=np.float32), rng.random((9000, 9), dtype=np.float32)
    columns, limit = least_of_product(left, right, 30, work=np.empty(TILE, dtype=np.float32))
    D = left @ right.T
    others = D.copy()
    np.put_along_axis(others, columns, np.inf, axis=1)
    assert np.all(others.min(axis=1) >= limit)
    assert_allclose(limit, np.sort(D, axis=1)[:, 29], rtol=1e-3)
    assert np.all(np.diff(np.sort(columns, axis=1), axis=1) > 0)


@pytest.mark.parametrize("search", ["exact", "approximate"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cosine_is_that_of_scikit_learn(search, form, rng):
    X = blobs(rng, 500, 6) * rng.uniform(1e-3, 1e3, (500, 1))
    X[:3] = 0
    D = cosine_distances(X)
    np.fill_diagonal(D, np.inf)
    found = nearest_neighbours(form(X), 5, metric="cosine", search=search)
    assert_allclose(found.distances, np.sort(D, axis=1)[:, :5], atol=1e-7)
    assert_allclose(np.take_along_axis(D, found.indices, axis=1), found.distances, atol=1e-7)
    assert np.all(found.distances[:3] == 1)


def test_sparse_points_are_searched_like_dense_ones(rng):
    X = np.maximum(sheet(rng, 5000, 80), 0)
    found = nearest_neighbours(sparse.csr_array(X), 10, search="approximate")
    assert neighbour_recall(X, found) >= 0.95
    difference = X[:50, None] - X[found.indices[:50]]
    assert_allclose(found.distances[:50], np.linalg.norm(difference, axis=2), rtol=1e-2, atol=1e-2)
    queries = nearest_neighbours(
        sparse.csr_array(X), 5, queries=sparse.csr_array(X[:99]), search="approximate"
    )
    assert np.mean(queries.indices[:, 0] == np.arange(99)) > 0.95


def test_noise_without_cells_is_searched_exactly(rng):
    X = rng.random((5000, 300), dtype=np.float32) * (rng.random((5000, 300)) < 0.02)
    X = sparse.csr_array(X.astype(np.float32))
    found = nearest_neighbours(X, 10, search="approximate")
    assert found.recall == 1
    assert neighbour_recall(X, found) == 1


def test_all_rows_equal(rng):
    found = nearest_neighbours(np.ones((5000, 4), dtype=np.float32), 6, search="approximate")
    assert np.all(found.distances == 0)
    assert not np.any(found.indices == np.arange(5000)[:, None])


def test_nearly_all_points_as_neighbours(rng):
    X = rng.standard_normal((60, 3))
    for k in (40, 59, 100):
        found = nearest_neighbours(X, k, search="approximate")
        assert_array_equal(found.indices, nearest_neighbours(X, k, search="exact").indices)


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_progress_reaches_the_last_row(search, rng):
    told = []
    nearest_neighbours(blobs(rng, 5000), 3, search=search, progress=told.append)
    assert told[-1] == 5000
    assert told == sorted(told)


def test_an_interrupt_stops_the_search(rng):
    def interrupt(_):
        raise KeyboardInterrupt

    for search in ("exact", "approximate"):
        with pytest.raises(KeyboardInterrupt):
            nearest_neighbours(blobs(rng, 5000), 3, search=search, progress=interrupt)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="metric must be"):
        nearest_neighbours(np.eye(3), 1, metric="manhattan")
    with pytest.raises(ValueError, match="search must be"):
        nearest_neighbours(np.eye(3), 1, search="fast")


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 10**6), st.booleans())
def test_smallest_entries_are_those_of_a_full_sort(c, k, seed, single):
    k = min(k, c)
    D = np.random.default_rng(seed).random((7, c)).astype(np.float32 if single else np.float64)
    columns, values = smallest(D.copy(), k)
    assert_array_equal(values, np.sort(D, axis=1)[:, :k])
    assert_array_equal(np.take_along_axis(D, columns, axis=1), values)


def test_cells_hold_every_row_once_and_none_is_large(rng):
    for X in (repeats(rng), sheet(rng)):
        cells = build_cells(X, 32)
        assert_array_equal(np.sort(cells.order), np.arange(len(X)))
        sizes = np.diff(cells.starts)
        assert sizes.min() >= 1
        assert sizes.max() <= 64
        mean = X[cells.order[cells.starts[5] : cells.starts[6]]].mean(axis=0)
        assert_allclose(cells.centres[5], mean, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [20, 600])
def test_nearest_anchors_are_the_nearest(p, dtype, rng):
    X = (blobs(rng, 5000) + 1e3).astype(dtype)
    anchors = X[rng.choice(len(X), p, replace=False)]
    plan = plan_anchors(anchors, 4, sample=X[:2000])
    indices, squared = nearest_anchors(X, plan)
    D = cdist(X.astype(float), anchors.astype(float)) ** 2
    truth = np.sort(D, axis=1)[:, :4]
    assert indices.dtype == np.int32
    assert squared.dtype == dtype
    assert np.mean(squared <= truth[:, -1:] * (1 + 1e-3) + 1e-6) > 0.99
    assert_allclose(squared, np.take_along_axis(D, indices, axis=1), rtol=2e-3, atol=1e-6)
    assert np.all(nearest_anchors(anchors, plan).squared_distances[:, 0] == 0)
    assert np.all(np.diff(squared, axis=1) >= 0)


def counts(rng, n=600, d=4):
    """Rows of small whole numbers, most of them several times."""
    return rng.poisson(0.7, (n, d)).astype(float)


def test_neighbours_among_distinct_points_are_one_copy_and_the_nearest_others(rng):
    X, k = counts(rng), 10
    found = nearest_distinct(X, k, most=7)
    points, number = np.unique(X, axis=0, return_inverse=True)
    size = np.bincount(number)
    assert size.max() > k
    between = cdist(points, points)
    np.fill_diagonal(between, np.inf)
    for row, (near, distances) in enumerate(zip(found.indices, found.distances, strict=True)):
        assert row not in near
        own = int(size[number[row]] > 1)
        assert (number[near] == number[row]).sum() == own
        assert len(set(number[near])) == k  # k distinct points
        assert_allclose(distances, cdist(X[[row]], X[near])[0], atol=1e-6)
        assert_allclose(distances[own:], np.sort(between[number[row]])[: k - own], atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64, sparse.csr_array])
def test_copies_are_equal_rows_and_no_others(kind, rng):
    X = counts(rng, 3000, 6)
    X[::3] *= -1
    X[0] *= 0  # with signs
    X = kind(X) if kind is sparse.csr_array else X.astype(kind)
    number, first = copies_of(X)
    X = X.toarray() if sparse.issparse(X) else X
    assert_array_equal(X[first[number]], X)
    assert len(first) == len(np.unique(X + 0.0, axis=0))


def test_copies_list_each_other_in_one_ring(rng):
    X = counts(rng)
    found = nearest_distinct(X, 10, most=7)
    number = np.unique(X, axis=0, return_inverse=True)[1]
    several = np.bincount(number)[number] > 1
    following = found.indices[several, 0]
    assert_array_equal(np.sort(following), np.flatnonzero(several))  # each is listed once
    assert_array_equal(number[following], number[several])


@pytest.mark.parametrize("X", [np.zeros((30, 3)), np.repeat(np.eye(40), 3, axis=0)])
def test_without_many_copies_of_several_points_the_nearest_rows_are_neighbours(X):
    found, plain = nearest_distinct(X, 5, most=7), nearest_neighbours(X, 5)
    assert_array_equal(found.indices, plain.indices)
    assert_array_equal(found.distances, plain.distances)


def test_fewer_distinct_points_than_neighbours_are_all_listed():
    X = np.repeat(np.arange(4.0)[:, None], 20, axis=0)
    found = nearest_distinct(X, 10, most=7)
    assert_allclose(found.distances[[0, 30]], [[0, 1, 2], [0, 1, 1]])


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_a_graph_of_distinct_points_does_not_fall_into_copies(search, rng):
    X = counts(rng, 5000, 5)
    plain, distinct = (
        NeighbourAffinity(X, 10, "local", search=search, distinct=distinct).W
        for distinct in (False, True)
    )
    parts = [sparse.csgraph.connected_components(W, directed=False)[0] for W in (plain, distinct)]
    assert parts[1] == 1 < parts[0]
    assert distinct.diagonal().max() == 0
    assert distinct.data.min() > 0
    assert distinct.data.max() <= 1
