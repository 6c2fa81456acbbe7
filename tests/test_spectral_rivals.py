"""The methods that spectral constrained clustering is compared with, against their definitions."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse

from linkwise import (
    CCSKL,
    Constraints,
    ConstraintWarning,
    ExhaustivePropagation,
    FlexibleSpectralClustering,
    InfeasibleConstraints,
    KernelKMeans,
    NormalizedCuts,
    PropagatedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    sample_pairs,
)
from linkwise.embedding import additive_basis, flexible_embedding, flexible_problem
from linkwise.evaluate import adjusted_rand_index, kept
from linkwise.graph import build_affinity, laplacian, normalise
from linkwise.kernel import (
    diffuse,
    fit_matrix,
    graph_kernel,
    graph_kernel_operator,
    impose,
    matrix_root,
    spread,
    spread_edges,
)
from linkwise.kernel.spectral_regularization import pack
from linkwise.partition import discretise, pivoted_qr


def random_graph(n, seed, density=0.6):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < density)
    return np.triu(A, 1) + np.triu(A, 1).T


def pairs(n, count, seed):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    pick = rng.choice(len(i), count, replace=False)
    return i[pick], j[pick], rng.choice([-1, 1], count), rng.uniform(0.5, 2, count)


def dense(W):
    return W.toarray() if sparse.issparse(W) else W


# normalised cuts


def rotated_indicators(k, size, seed):
    labels = np.repeat(np.arange(k), size)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((k, k)))[0]
    return labels, np.eye(k)[labels] @ turn


@pytest.mark.parametrize("seed", range(5))
def test_a_rotated_partition_is_found_exactly(seed, rng):
    labels, X = rotated_indicators(5, 8, seed)
    noisy = X + 0.05 * np.random.default_rng(seed).standard_normal(X.shape)
    assert adjusted_rand_index(labels, discretise(X, rng=rng).labels) == 1
    noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
    assert adjusted_rand_index(labels, discretise(noisy, rng=rng).labels) == 1
    assert adjusted_rand_index(labels, pivoted_qr(X / np.sqrt(8)).labels) == 1


@pytest.mark.parametrize("assign", ["discretize", "kmeans", "qr"])
def test_normalised_cuts_find_separate_groups(assign, blobs):
    X, y = blobs
    model = NormalizedCuts(3, assign=assign, random_state=0).fit(X)
    assert adjusted_rand_index(y, model.labels_) == 1
    assert_array_equal(model.predict(X + 1e-3), model.labels_)


def test_normalised_cuts_say_that_they_ignore_constraints(blobs):
    X, y = blobs
    wrong = Constraints(
        must_link=[(int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 1)[0]))]
    )
    with pytest.warns(ConstraintWarning, match="does not use the 1 constraint"):
        model = NormalizedCuts(3, random_state=0).fit(X, constraints=wrong)
    assert len(model.violations_) == 1


# spectral learning


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_constraints_are_written_into_the_affinity(kind):
    W = random_graph(6, 0)
    i, j, sign = np.array([0, 2]), np.array([1, 3]), np.array([1, -1])
    found = dense(impose(kind(W), i, j, sign))
    expected = W.copy()
    expected[0, 1] = expected[1, 0] = 1
    expected[2, 3] = expected[3, 2] = 0
    assert_allclose(found, expected)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_additive_normalisation_is_its_formula(kind, rng):
    W = random_graph(15, 1)
    d = W.sum(axis=1)
    N = (W + d.max() * np.eye(15) - np.diag(d)) / d.max()
    basis = additive_basis(kind(W), 4, rng)
    assert_allclose(basis.values, np.linalg.eigvalsh(N)[::-1][:4], atol=1e-12)
    assert_allclose(N @ basis.vectors, basis.vectors * basis.values, atol=1e-10)


def test_additive_normalisation_knows_the_components(rng):
    W = sparse.csr_array(sparse.block_diag([random_graph(n, n, 1.0) for n in (4, 6, 5)]))
    basis = additive_basis(W, 3, rng)
    assert_allclose(basis.values, 1)


@pytest.mark.parametrize("normalization", ["symmetric", "additive"])
def test_spectral_learning_follows_its_pairs(normalization, wine):
    X, y = wine
    links = sample_pairs(y, 400, random_state=0)
    plain = SpectralLearning(3, normalization=normalization, random_state=0).fit(X)
    model = SpectralLearning(3, normalization=normalization, random_state=0)
    model.fit(X, constraints=links)
    assert kept(model.labels_, links).all >= kept(plain.labels_, links).all
    with pytest.raises(ValueError, match="does not use weights"):
        model.fit(X, constraints=links.with_weight(2))


# CCSR


def semidefinite_optimum(Y, i, j, target, weight):
    """Return the optimal value of Eq. (2) of CCSR by a general cone solver."""
    n, m = Y.shape
    rows = [pack(np.outer(y, y)) for y in Y]
    rows += [
        c * pack((np.outer(Y[a], Y[b]) + np.outer(Y[b], Y[a])) / 2)
        for a, b, c in zip(i, j, weight, strict=True)
    ]
    A, t = np.array(rows), np.r_[np.ones(n), weight * target]
    # the solver's triangle runs down columns of the upper half, which for pack() is a reordering
    a, b = np.triu_indices(m)
    order = np.lexsort((a, b))
    A = A[:, order]
    size = A.shape[1]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(2 * A.T @ A)), -2 * A.T @ t, sparse.csc_matrix(-np.eye(size)),
        np.zeros(size), [clarabel.PSDTriangleConeT(m)], settings,
    )  # fmt: skip
    return solver.solve().obj_val + float(t @ t)


def ccsr_cost(M, Y, i, j, target, weight):
    K = Y @ M @ Y.T
    return np.sum((np.diag(K) - 1) ** 2) + np.sum(weight**2 * (K[i, j] - target) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_ccsr_reaches_the_optimum_of_a_semidefinite_solver(seed):
    F = np.linalg.qr(np.random.default_rng(seed).standard_normal((20, 5)))[0]
    i, j, sign, weight = pairs(20, 25, seed)
    M, _ = fit_matrix(
        F, i, j, sign, weight, n_clusters=3, shrinkage=0, rng=np.random.default_rng(0)
    )
    Y, target = F * np.sqrt(20), (sign > 0).astype(float)
    ours = ccsr_cost(M, Y, i, j, target, weight)
    assert np.linalg.eigvalsh(M).min() > -1e-12
    assert_allclose(ours, semidefinite_optimum(Y, i, j, target, weight), rtol=1e-6)


def test_strong_shrinkage_is_plain_spectral_clustering(wine):
    X, y = wine
    links = sample_pairs(y, 40, random_state=0)
    held = SpectralRegularization(3, shrinkage=1e6, random_state=0).fit(X, constraints=links)
    assert_allclose(held.matrix_, np.diag(np.arange(15) < 3) / 3, atol=1e-3)
    assert_allclose(matrix_root(held.matrix_) @ matrix_root(held.matrix_), held.matrix_, atol=1e-12)


def test_shrinkage_saves_ccsr_from_few_constraints(iris, wine):
    """With far fewer pairs than unknowns the paper's fit is much worse than none at all."""
    gain = []
    for X, y in (iris, wine):
        for seed in range(3):
            links = sample_pairs(y, 12, random_state=seed)
            paper = SpectralRegularization(3, shrinkage=0, random_state=seed)
            shrunk = SpectralRegularization(3, random_state=seed)
            plain = CCSKL(3, random_state=seed).fit(X).labels_
            bad, good = (
                adjusted_rand_index(y, model.fit(X, constraints=links).labels_)
                for model in (paper, shrunk)
            )
            gain.append((good - bad, good - adjusted_rand_index(y, plain)))
    gain = np.mean(gain, axis=0)
    assert gain[0] > 0.05
    assert gain[1] > -0.05


# FCSC


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_flexible_vectors_solve_the_generalised_problem(seed):
    W = random_graph(14, seed, 0.8)
    y = np.random.default_rng(seed).integers(0, 3, 14)
    links = sample_pairs(y, 30, random_state=seed)
    try:
        U, costs, b = flexible_embedding(flexible_problem(W, links.matrix(14)), 3, bound="kway")
    except InfeasibleConstraints:
        return
    d = W.sum(axis=1)
    V = U * np.sqrt(d)[:, None]
    V /= np.linalg.norm(V, axis=0)
    L, Q = laplacian(W), links.matrix(14).toarray() / np.sqrt(np.outer(d, d))
    for v, cost in zip(V.T, costs, strict=True):
        assert_allclose(v @ L @ v, cost, atol=1e-8)
        assert v @ Q @ v >= b - 1e-8  # feasible
        lam = cost / (v @ Q @ v - b)
        assert_allclose(L @ v, lam * (Q @ v - b * v), atol=1e-3)  # Eq. (2); L is singular


def test_the_bound_is_the_same_by_lapack_and_by_lanczos(monkeypatch, wine):
    X, y = wine
    W = build_affinity(X, "nearest_neighbors", n_neighbors=20, sigma="r").W
    problem = flexible_problem(W, sample_pairs(y, 300, random_state=0).matrix(178))
    by_lapack = flexible_embedding(problem, 3, bound="kway").b
    monkeypatch.setattr("linkwise.embedding.flexible.DENSE_LIMIT", 10)
    assert_allclose(flexible_embedding(problem, 3, bound="kway").b, by_lapack)


def test_flexible_clusters_follow_many_constraints(blobs):
    X, y = blobs[0][blobs[1] < 2], blobs[1][blobs[1] < 2]
    links = Constraints.from_labels(y)
    model = FlexibleSpectralClustering(2, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_index(y, model.labels_) == 1
    assert_array_equal(model.predict(X + 1e-3), model.labels_)


def test_infeasibility_is_explained(iris):
    cannot = Constraints(cannot_link=[(0, 60), (60, 120), (0, 120)])
    with pytest.raises(InfeasibleConstraints, match=r"vectors|must-links"):
        FlexibleSpectralClustering(3, bound=0.9).fit(iris[0], constraints=cannot)


# E2CP


def e2cp(W, i, j, sign, weight, alpha):
    """Return W' of E2CP, literally, with zero diagonal."""
    Z = np.zeros_like(W)
    np.add.at(Z, (np.r_[i, j], np.r_[j, i]), np.r_[sign * weight, sign * weight])
    G = (1 - alpha) * np.linalg.inv(np.eye(len(W)) - alpha * normalise(W))
    F = G @ Z @ G
    np.fill_diagonal(F, 0)
    return F, lambda F: np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.5, 0.8, 0.95]))
def test_dense_propagation_is_its_formula(seed, alpha):
    W, links = random_graph(9, seed), pairs(9, 6, seed)
    F, reweight = e2cp(W, *links, alpha)
    exact = reweight(F / np.abs(F).max())
    np.fill_diagonal(exact, 0)
    assert_allclose(spread(W, *links, alpha=alpha), exact, atol=1e-6)
    assert_allclose(spread(sparse.csr_array(W), *links, alpha=alpha), exact, atol=1e-6)


@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.8]))
def test_sparse_propagation_is_the_formula_on_edges_and_pairs(seed, alpha):
    W, links = random_graph(9, seed, 0.4), pairs(9, 5, seed)
    F, reweight = e2cp(W, *links, alpha)
    pattern = W > 0
    pattern[np.r_[links[0], links[1]], np.r_[links[1], links[0]]] = True
    if not np.any(F[pattern]):
        return
    exact = np.where(pattern, reweight(F / np.abs(F[pattern]).max()), 0)
    found = spread_edges(sparse.csr_array(W), *links, alpha=alpha)
    assert_allclose(found.toarray(), exact, atol=1e-6)


def test_diffusion_ends_where_its_equation_holds(rng):
    S, B = normalise(random_graph(20, 3)), rng.standard_normal((20, 3))
    X = diffuse(S, B, alpha=0.9)
    assert_allclose(X - 0.9 * (S @ X), 0.1 * B, atol=1e-8)


def test_a_pair_listed_twice_is_a_pair_of_weight_two(iris):
    links = [(0, 60), (70, 130)]
    twice, heavy = Constraints(links * 2, [(0, 130)]), Constraints(links, [(0, 130)], must_weight=2)
    a, b = (
        ExhaustivePropagation(3, random_state=0).fit(iris[0], constraints=c).affinity_matrix_
        for c in (twice, heavy)
    )
    assert abs(a - b).max() < 1e-10


# spectral kernels


KERNELS = {
    "heat": ({"t": 5.0}, lambda L: linalg.expm(-5 * L)),
    "regularized_laplacian": ({"t": 2.0}, lambda L: np.linalg.inv(np.eye(len(L)) + 4 * L)),
    "random_walk": (
        {"a": 2.5, "p": 4},
        lambda L: np.linalg.matrix_power(2.5 * np.eye(len(L)) - L, 4) / 2.5**4,
    ),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_graph_kernels_are_their_formulas(kind, rng):
    W = sparse.csr_array(random_graph(25, 4, 0.3))
    params, formula = KERNELS[kind]
    exact = formula(laplacian(W).toarray())
    assert_allclose(graph_kernel(W, kind, **params), exact, atol=1e-7)
    B = rng.standard_normal((25, 2))
    assert_allclose(graph_kernel_operator(W, kind, **params) @ B, exact @ B, atol=1e-6)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("Estimator", [PropagatedSpectralClustering, CCSKL])
def test_graph_kernels_serve_as_affinities(kind, Estimator, blobs):
    X, y = blobs
    links = sample_pairs(y, 30, random_state=0)
    model = Estimator(3, affinity=kind, n_neighbors=10, sigma="r", random_state=0)
    model.fit(X, constraints=links)
    assert adjusted_rand_index(y, model.labels_) == 1
    assert_array_equal(model.predict(X + 1e-3), model.labels_)
    kernel = KernelKMeans(3, kernel=kind, n_neighbors=10, sigma="r", random_state=0)
    assert adjusted_rand_index(y, kernel.fit(X, constraints=links).labels_) == 1
    assert_array_equal(kernel.predict(X + 1e-3), kernel.labels_)


def test_unknown_kernel_parameters_are_named(blobs):
    with pytest.raises(ValueError, match="'heat': 't'; got 'q'"):
        CCSKL(3, affinity="heat", affinity_params={"q": 1}).fit(blobs[0])
    with pytest.raises(ValueError, match="a must be at least 2"):
        CCSKL(3, affinity="random_walk", affinity_params={"a": 1}).fit(blobs[0])
    with pytest.raises(ValueError, match="'nearest_neighbors': 'search', 'metric'; got 't'"):
        CCSKL(3, affinity_params={"t": 1}).fit(blobs[0])


# SSKK as a normalised cut


def test_the_cut_version_starts_at_least_as_good_as_the_spectral_partition(wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    options = {"kernel": "nearest_neighbors", "version": "ncut", "sigma": "r", "random_state": 0}
    model = KernelKMeans(3, **options).fit(X, constraints=links)
    assert adjusted_rand_index(y, model.labels_) > 0.8
    assert_array_equal(model.predict(X), model.labels_)
    W = build_affinity(X, "nearest_neighbors", n_neighbors=20, sigma="r").W
    by_matrix = KernelKMeans(3, kernel="precomputed", version="ncut", random_state=0)
    assert adjusted_rand_index(by_matrix.fit(W, constraints=links).labels_, model.labels_) == 1
    plain = KernelKMeans(3, **options).fit(X)
    assert adjusted_rand_index(y, plain.labels_) > 0.7


def test_a_cut_needs_weights(blobs):
    with pytest.raises(ValueError, match="kernel >= 0"):
        KernelKMeans(3, kernel="linear", version="ncut").fit(blobs[0] - 3)
