import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from linkwise.embedding import (
    extend,
    mix_constraints,
    spectral_basis,
    spectral_embedding,
    two_way_labels,
    unit_rows,
)
from linkwise.graph import GaussianAffinity, laplacian


def random_graph(n, seed):
    A = np.random.default_rng(seed).random((n, n))
    return np.triu(A, 1) + np.triu(A, 1).T


def test_basis_holds_the_smoothest_eigenvectors_of_the_laplacian(rng):
    W = random_graph(30, 0)
    basis = spectral_basis(W, 5, rng)
    assert_allclose(1 - basis.values, np.linalg.eigvalsh(laplacian(W))[:5], atol=1e-12)
    assert_allclose(basis.vectors.T @ basis.vectors, np.eye(5), atol=1e-12)


def test_embedding_does_not_depend_on_the_order_of_the_points(rng):
    W = random_graph(30, 1)
    p = rng.permutation(30)
    Z, _ = spectral_embedding(W, 4, np.random.default_rng(0))
    shuffled, _ = spectral_embedding(W[p][:, p], 4, np.random.default_rng(0))
    assert_allclose(shuffled, Z[p], atol=1e-10)


def test_extension_of_a_given_point_is_the_point_itself(rng):
    X = rng.standard_normal((40, 2))
    graph = GaussianAffinity(X, "r")
    basis = spectral_basis(graph.W, 3, rng)
    assert_allclose(extend(basis, *graph.rows(X)), basis.vectors, atol=1e-8)


def test_unit_rows_leave_a_zero_row():
    assert_array_equal(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_mixture_of_graph_and_constraints_is_its_formula(kind):
    W = random_graph(6, 2)
    Q = np.zeros((6, 6))
    Q[0, 1] = Q[1, 0] = 2
    Q[2, 3] = Q[3, 2] = -1
    mixed = mix_constraints(kind(W), sparse.csr_array(Q), 0.3)
    mixed = mixed.toarray() if sparse.issparse(mixed) else mixed
    assert_allclose(mixed, 0.3 * W + 0.7 * Q)
    scaled = mix_constraints(kind(W), sparse.csr_array(Q), 0.3, scale_constraints=True)
    scaled = scaled.toarray() if sparse.issparse(scaled) else scaled
    assert_allclose(scaled, 0.3 * W + 0.7 * W[W > 0].mean() * Q)


def test_the_sign_that_keeps_more_is_taken():
    Z = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    labels, column = two_way_labels(Z, lambda labels: labels[0] == labels[1])
    assert column == 0
    assert_array_equal(labels, [1, 1, 0, 0])
    assert two_way_labels(Z, lambda labels: labels[0] != labels[1])[1] == 1


def test_a_vector_of_one_sign_is_no_partition():
    Z = np.array([[1.0, 1.0], [1.0, -1.0]])
    labels, column = two_way_labels(Z, lambda labels: labels[0] == labels[1])
    assert (labels.tolist(), column) == ([1, 0], 1)
