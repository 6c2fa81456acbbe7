import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from linkwise.graph import (
    GaussianAffinity,
    NeighbourAffinity,
    balanced_components,
    build_affinity,
    degrees,
    laplacian,
    nearest_neighbours,
    normalise,
    resolve_sigma,
)

coordinates = st.integers(2, 12).flatmap(
    lambda n: arrays(float, (n, 2), elements=st.integers(-3, 3).map(float))
)


@given(coordinates, st.integers(1, 5))
def test_neighbours_are_the_nearest_points(X, k):
    indices, distances = nearest_neighbours(X, k)[:2]
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    nearest = np.sort(D, axis=1)[:, : min(k, len(X) - 1)]
    assert_allclose(distances, nearest, atol=1e-12)
    assert_allclose(np.take_along_axis(D, indices, axis=1), nearest, atol=1e-12)
    assert all(len(set(row)) == len(row) for row in indices.tolist())


@pytest.mark.parametrize("d", [2, 12])
def test_neighbours_do_not_depend_on_the_order_of_the_points(d, rng):
    X = np.unique(rng.integers(0, 3, size=(60, d)).astype(float), axis=0)  # many ties
    p = rng.permutation(len(X))
    straight, shuffled = nearest_neighbours(X, 3), nearest_neighbours(X[p], 3)
    if d == 12:  # in two dimensions more points tie than the margin can hold
        assert_array_equal(p[shuffled.indices], straight.indices[p])
    assert_allclose(shuffled.distances, straight.distances[p])


def test_equal_points_are_neighbours_at_distance_zero_and_nobody_is_his_own(rng):
    X = np.repeat(rng.standard_normal((5, 20)), 3, axis=0)
    indices, distances = nearest_neighbours(X, 2)[:2]
    assert_array_equal(distances, 0)
    assert not np.any(indices == np.arange(15)[:, None])


def test_distances_survive_a_large_offset(rng):
    X = rng.standard_normal((50, 12))
    near, far = nearest_neighbours(X, 4), nearest_neighbours(X + 1e7, 4)
    assert_array_equal(near.indices, far.indices)
    assert_allclose(near.distances, far.distances, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_points_have_the_same_neighbours(dtype, rng):
    X = (rng.standard_normal((40, 15)) * (rng.random((40, 15)) < 0.4)).astype(dtype)
    dense, sparse_ = nearest_neighbours(X, 5), nearest_neighbours(sparse.csr_array(X), 5)
    assert dense.distances.dtype == sparse_.distances.dtype == dtype
    assert_allclose(dense.distances, sparse_.distances, rtol=1e-4, atol=1e-5)


def test_queries_may_coincide_with_given_points(rng):
    X = rng.standard_normal((30, 3))
    indices, distances = nearest_neighbours(X, 2, queries=X[:4])[:2]
    assert_array_equal(indices[:, 0], np.arange(4))
    assert_array_equal(distances[:, 0], 0)


def test_an_edge_wherever_either_end_lists_the_other():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    W = NeighbourAffinity(X, 1, 1.0).W.toarray()
    assert_array_equal(W > 0, np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]))
    assert_allclose(W[0, 1], np.exp(-0.5))
    assert_allclose(W, W.T)


def test_sigma_is_the_mean_distance_to_the_last_neighbour_times_its_factor(rng):
    X = rng.standard_normal((80, 4))
    r = np.sort(cdist(X, X), axis=1)[:, 10].mean()
    assert_allclose(NeighbourAffinity(X, 10, "r").sigma, r)
    assert_allclose(NeighbourAffinity(X, 10, "0.325r").sigma, 0.325 * r)
    assert NeighbourAffinity(X, 10, 0.7).sigma == 0.7


def test_local_scaling_is_its_formula(rng):
    X = rng.standard_normal((30, 3))
    D = cdist(X, X)
    s = np.sort(D, axis=1)[:, 7]
    exact = np.exp(-(D**2) / np.outer(s, s))
    assert_allclose(GaussianAffinity(X, "local").W, exact, atol=1e-12)
    W = NeighbourAffinity(X, 5, "local").W
    assert_allclose(W.data, exact[W.nonzero()])


@pytest.mark.parametrize("sigma", [0, -1, np.inf, "", "wide", "-2r", "0r"])
def test_a_width_that_is_none_is_refused(sigma):
    with pytest.raises(ValueError, match="sigma"):
        resolve_sigma(sigma, 2.0)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
@pytest.mark.parametrize("sigma", ["r", "local"])
def test_points_that_all_coincide_have_weight_one(affinity, sigma):
    W = build_affinity(np.ones((9, 2)), affinity, n_neighbors=3, sigma=sigma).W
    assert_array_equal(W.data if sparse.issparse(W) else W, 1)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "rbf"])
@pytest.mark.parametrize("sigma", [0.01, "r", "local"])
def test_rows_of_new_points_sum_to_one_even_far_away(affinity, sigma, rng):
    X = rng.standard_normal((40, 3)).astype(np.float32)
    graph = build_affinity(X, affinity, n_neighbors=10, sigma=sigma)
    P, degree = graph.rows(np.array([[0, 0, 0], [1e3, 0, 0]], dtype=np.float32))
    assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert np.all(np.isfinite(degree))
    assert P.dtype == graph.W.dtype == np.float32


def test_rows_of_a_given_point_are_its_dense_weights(rng):
    X = rng.standard_normal((20, 3))
    graph = GaussianAffinity(X, "r")
    assert_allclose(graph.weights(X), graph.W, atol=1e-12)


signed_graphs = st.integers(2, 7).flatmap(
    lambda n: arrays(float, (n, n), elements=st.sampled_from([0, 0, 0, 1, 0.5, -1])).map(
        lambda U: np.triu(U, 1) + np.triu(U, 1).T
    )
)


@given(signed_graphs)
def test_signed_laplacian_is_positive_semidefinite(W):
    values = np.linalg.eigvalsh(laplacian(W))
    assert values.min() >= -1e-12
    assert values.max() <= 2 + 1e-12
    assert_allclose(laplacian(sparse.csr_array(W)).toarray(), laplacian(W), atol=1e-14)


@given(signed_graphs)
def test_known_vectors_are_all_the_eigenvectors_of_eigenvalue_one(W):
    U = balanced_components(sparse.csr_array(W)).toarray()
    S = normalise(W)
    assert_allclose(S @ U, U, atol=1e-12)
    assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
    assert U.shape[1] == np.sum(np.linalg.eigvalsh(S) > 1 - 1e-10)


def test_components_of_large_volume_come_first():
    W = sparse.csr_array(sparse.block_diag([np.ones((2, 2)), np.ones((4, 4)), np.ones((3, 3))]))
    assert_array_equal((balanced_components(W).toarray() > 0).sum(axis=0), [4, 3, 2])


def test_dense_and_sparse_graphs_know_the_same_vectors(rng):
    A = rng.random((8, 8))
    A += A.T
    dense, sparse_ = balanced_components(A), balanced_components(sparse.csr_array(A))
    assert_allclose(dense.toarray(), sparse_.toarray())


def test_a_point_without_edges_has_degree_and_row_zero():
    W = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert_array_equal(degrees(W), [1, 1, 0])
    assert_array_equal(normalise(W)[2], 0)


def test_groups_extremely_far_apart_keep_their_neighbours(rng):
    X = rng.standard_normal((60, 10))
    far = np.r_[X, X + 1e9]
    indices = nearest_neighbours(far, 5).indices
    assert_array_equal(indices[:60] < 60, True)
    exact = nearest_neighbours(far[60:] - 1e9, 5).distances  # as the offset has rounded them
    assert_allclose(nearest_neighbours(far, 5).distances[60:], exact, rtol=1e-6)
    outlier = np.r_[X, np.full((1, 10), 1e11)]
    assert_array_equal(
        nearest_neighbours(outlier, 5).indices[:60], nearest_neighbours(X, 5).indices
    )


@pytest.mark.parametrize("scale", [1e-100, 1e-40, 1e40, 1e100])
def test_neighbours_do_not_depend_on_the_unit(scale, rng):
    X = rng.standard_normal((40, 12))
    assert_array_equal(nearest_neighbours(scale * X, 4).indices, nearest_neighbours(X, 4).indices)
