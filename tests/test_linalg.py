import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import sparse

from linkwise.graph import balanced_components, normalise
from linkwise.linalg import downdate, fix_signs, largest_eigenpairs, monotone_least_squares


def ring_of_cliques(cliques, size, joint=0.0):
    """Return the graph of equal cliques, neighbours on the ring joined by one weak edge."""
    blocks = sparse.block_diag([np.ones((size, size)) - np.eye(size)] * cliques, format="lil")
    if joint:
        for c in range(cliques):
            i, j = c * size, ((c + 1) % cliques) * size + 1
            blocks[i, j] = blocks[j, i] = joint
    return sparse.csr_array(blocks)


def random_symmetric(n, seed):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return (A + A.T) / 2


@given(st.integers(2, 12), st.integers(0, 1000))
def test_equals_the_full_decomposition(n, seed):
    A = random_symmetric(n, seed)
    m = 1 + seed % n
    values, vectors = largest_eigenpairs(A, m, rng=np.random.default_rng(0))
    assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:m], atol=1e-10)
    assert_allclose(A @ vectors, vectors * values, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_lanczos_agrees_with_lapack(kind, rng):
    A = random_symmetric(900, 3) / 30
    A[abs(A) < 0.03] = 0
    values, vectors = largest_eigenpairs(sparse.csr_array(A) if kind == "sparse" else A, 6, rng=rng)
    assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:6], atol=1e-7)
    assert_allclose(A @ vectors, vectors * values, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_component_of_a_disconnected_graph_is_found(dtype, rng):
    W = ring_of_cliques(60, 20).astype(dtype)
    S, top = normalise(W), balanced_components(W)
    values, vectors = largest_eigenpairs(S, 60, top=top, rng=rng)
    assert vectors.dtype == dtype
    assert_allclose(values, 1)
    indicator = np.kron(np.eye(60), np.ones((20, 1)))
    within = vectors @ (vectors.T @ indicator)  # the same subspace
    assert_allclose(within, indicator, atol=1e-4)


def test_repeated_eigenvalues_that_nobody_announced_are_found(rng):
    S = normalise(ring_of_cliques(15, 70))
    values, vectors = largest_eigenpairs(S, 15, rng=rng)
    assert_allclose(values, 1, atol=1e-8)
    assert np.linalg.matrix_rank(vectors) == 15


@pytest.mark.parametrize("joint", [1e-4, 1e-8, 1e-12])
def test_nearly_disconnected_parts_are_found(joint, rng):
    W = ring_of_cliques(25, 40, joint)
    values, vectors = largest_eigenpairs(normalise(W), 25, top=balanced_components(W), rng=rng)
    assert values.min() > 1 - 1e-4
    assert np.linalg.matrix_rank(vectors) == 25


def test_the_largest_entry_of_every_vector_is_positive():
    V = fix_signs(np.array([[0.1, -0.2], [-0.9, 0.1]]))
    assert_allclose(V, [[-0.1, 0.2], [0.9, -0.1]])


problems = st.integers(1, 6).flatmap(
    lambda m: st.tuples(
        arrays(float, (8, m), elements=st.floats(-2, 2, width=16)),
        arrays(float, 8, elements=st.floats(-2, 2, width=16)),
    )
)


@given(problems)
def test_monotone_solution_is_at_its_kkt_point(problem):
    A, t = problem
    b = monotone_least_squares(A, t)
    assert np.all(np.diff(b) <= 1e-12)
    assert b[-1] >= 0
    U = np.triu(np.ones((A.shape[1],) * 2))
    slope = U.T @ A.T @ (A @ b - t)  # gradient in the increments
    increments = -np.diff(b, append=0)
    assert slope.min() >= -1e-8
    assert abs(slope @ increments) <= 1e-8


def test_monotone_fit_of_a_monotone_target_is_exact():
    assert_allclose(monotone_least_squares(np.eye(3), np.array([3.0, 2.0, 0.0])), [3, 2, 0])


def test_downdate_is_the_posterior_covariance(rng):
    root = rng.standard_normal((6, 6))
    K, V, noise = root @ root.T + np.eye(6), rng.standard_normal((6, 3)), np.array([0.1, 1, 2])
    B, T = downdate(K @ V, np.diag(noise) + V.T @ K @ V)
    assert_allclose(B, K @ V @ T)
    exact = np.linalg.inv(np.linalg.inv(K) + V @ np.diag(1 / noise) @ V.T)
    assert_allclose(K - B @ B.T, exact, atol=1e-12)


def test_a_repeated_hard_observation_changes_nothing(rng):
    root = rng.standard_normal((5, 5))
    K, v = root @ root.T, rng.standard_normal((5, 1))
    once = downdate(K @ v, v.T @ K @ v + 1e-10).B
    V = np.hstack([v, v, v])
    thrice = downdate(K @ V, V.T @ K @ V + 1e-10 * np.eye(3)).B
    assert_allclose(thrice @ thrice.T, once @ once.T, atol=1e-8)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(ValueError, match="positive semi-definite"):
        downdate(np.eye(2), np.diag([1.0, -1.0]))


@pytest.mark.parametrize("n", [1000, 2000])
@pytest.mark.parametrize("m", [4, 5, 7])
def test_pairs_of_equal_eigenvalues_are_both_found(n, m):
    """Every eigenvalue of a ring but the first comes twice, and all are close to 1."""
    ring = sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]).tolil()
    ring[0, n - 1] = ring[n - 1, 0] = 1
    S = normalise(sparse.csr_array(ring))
    values, vectors = largest_eigenpairs(S, m, rng=np.random.default_rng(1))
    exact = np.cos(2 * np.pi * ((np.arange(m) + 1) // 2) / n)
    assert_allclose(values, exact, atol=1e-8)
    assert_allclose(vectors.T @ vectors, np.eye(m), atol=1e-6)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_eigenvalue_minus_one_does_not_mix_with_the_known_vectors(n):
    W = np.kron(np.eye(n // 2), np.array([[0.0, 1.0], [1.0, 0.0]]))  # eigenvalues 1 and -1 only
    values, vectors = largest_eigenpairs(
        normalise(W), n, top=balanced_components(sparse.csr_array(W)), rng=np.random.default_rng(0)
    )
    assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)
    assert_allclose(values, np.repeat([1, -1], n // 2), atol=1e-12)


def test_crowded_eigenvalues_go_to_lapack(rng, monkeypatch):
    n = 900
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate((1 - 1e-7 * np.arange(20), np.linspace(0.99, -1, n - 20)))
    S = (Q * values) @ Q.T
    monkeypatch.setattr("linkwise.linalg.eigen.RESTARTS", 2)
    found = largest_eigenpairs((S + S.T) / 2, 5, rng=rng)
    assert_allclose(found.values, values[:5], atol=1e-9)
