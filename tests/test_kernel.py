import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from linkwise.blocks import executor
from linkwise.kernel import fit_mixture, fit_spectrum, mixture_kernel, propagate
from linkwise.kernel.optimal_kernel import gradient, objective, pair_weights, project_simplex
from linkwise.kernel.propagation import largest_product

SOFT = {"eps_must": 0.7, "eps_cannot": 1.3}


def pairs(n, count, seed):
    """Return distinct random pairs as (i, j, sign, weight)."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    pick = rng.choice(len(i), count, replace=False)
    return i[pick], j[pick], rng.choice([-1, 1], count), rng.uniform(0.5, 2, count)


def orthonormal(n, m, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, m)))[0]


# CCSKL


def cost(b, F, i, j, sign, weight, c_ii):
    """Return Eq. (12), literally."""
    K = F @ np.diag(b) @ F.T
    target = (sign > 0).astype(float)
    return c_ii**2 * np.sum((np.diag(K) - 1) ** 2) + np.sum(weight**2 * (K[i, j] - target) ** 2)


@given(st.integers(0, 10_000), st.sampled_from(["paper", "balanced"]))
def test_spectrum_is_at_the_kkt_point_of_the_quadratic_program(seed, diagonal):
    F, links = orthonormal(12, 5, seed), pairs(12, 9, seed)
    b = fit_spectrum(F, *links, diagonal=diagonal)
    i, j, sign, weight = links
    c_ii = np.sqrt(np.sum(weight**2) / 12) if diagonal == "balanced" else 1.0
    rows = np.concatenate([c_ii * F * F, weight[:, None] * F[i] * F[j]])
    A, c = 2 * rows.T @ rows, np.concatenate([np.full(12, c_ii), weight * (sign > 0)])
    slope = A @ b - 2 * rows.T @ c  # Eq. (14), (15)
    U = np.triu(np.ones((5, 5)))
    increments = -np.diff(b, append=0)
    assert np.all(increments >= 0)
    assert (U.T @ slope).min() >= -1e-10
    assert abs((U.T @ slope) @ increments) <= 1e-8


@given(st.integers(0, 10_000))
def test_no_other_admissible_spectrum_costs_less(seed):
    F, links = orthonormal(10, 4, seed), pairs(10, 8, seed)
    rng = np.random.default_rng(seed)
    b = fit_spectrum(F, *links, diagonal="paper")
    best = cost(b, F, *links, c_ii=1.0)
    for scale in (0.01, 1, 10):
        other = np.sort(np.maximum(b + scale * rng.standard_normal(4), 0))[::-1]
        assert cost(other, F, *links, c_ii=1.0) >= best - 1e-10


def test_a_pair_listed_twice_is_a_pair_of_weight_root_two():
    F, (i, j, sign, weight) = orthonormal(12, 5, 1), pairs(12, 6, 1)
    twice = fit_spectrum(F, *(np.tile(part, 2) for part in (i, j, sign, weight)))
    assert_allclose(twice, fit_spectrum(F, i, j, sign, np.sqrt(2) * weight))


def test_the_spectrum_does_not_depend_on_the_scale_of_the_data():
    F, links = orthonormal(40, 6, 2), pairs(40, 30, 2)
    thrice = np.vstack([F] * 3) / np.sqrt(3)  # every point three times: the same kernel, n fold
    b, b3 = fit_spectrum(F, *links), fit_spectrum(thrice, *links)
    assert_allclose(b3, 3 * b, rtol=1e-8, atol=1e-8)


# affinity propagation


def gaussian_matrix(n, seed, width=0.8):
    x = np.random.default_rng(seed).standard_normal((n, 2))
    return np.exp(-((x[:, None] - x) ** 2).sum(-1) / (2 * width**2)) + 1e-6 * np.eye(n)


def dense_posterior(K, i, j, sign, noise):
    M = np.zeros_like(K)  # Eq. (3)
    for a, b, s, e in zip(i, j, sign, noise, strict=True):
        M[a, a] += 1 / e
        M[b, b] += 1 / e
        M[a, b] -= s / e
        M[b, a] -= s / e
    return np.linalg.inv(np.linalg.inv(K) + M)  # Eq. (2)


@given(st.integers(0, 10_000), st.integers(0, 25))
def test_algorithm_a_is_its_formula_also_when_links_outnumber_points(seed, count):
    K, (i, j, sign, weight) = gaussian_matrix(8, seed), pairs(8, count, seed)
    noise = np.mean(np.diag(K)) * np.where(sign > 0, 0.7, 1.3) ** 2 / weight
    exact = np.maximum(dense_posterior(K, i, j, sign, noise), 0)
    found = propagate(K, i, j, sign, weight, algorithm="a", **SOFT)
    assert_allclose(found.A, exact, atol=1e-8)
    assert_allclose(found.rows(K), exact, atol=1e-8)  # a given point as a new one


@given(st.integers(0, 10_000), st.integers(0, 12))
def test_algorithm_b_is_its_formula(seed, count):
    K, (i, j, sign, weight) = gaussian_matrix(8, seed), pairs(8, count, seed)
    noise = np.mean(np.diag(K)) * np.where(sign > 0, 0.7, 1.3) ** 2 / weight
    must, cannot = sign > 0, sign < 0
    exact = K_m = dense_posterior(K, i[must], j[must], sign[must], noise[must])
    for c in np.flatnonzero(cannot):
        one = dense_posterior(K_m, i[[c]], j[[c]], sign[[c]], noise[[c]])
        exact = one if c == np.flatnonzero(cannot)[0] else np.minimum(exact, one)
    found = propagate(K, i, j, sign, weight, algorithm="b", **SOFT)
    assert_allclose(found.A, np.maximum(exact, 0), atol=1e-8)
    assert_allclose(found.rows(K), np.maximum(exact, 0), atol=1e-8)


@pytest.mark.parametrize("algorithm", ["a", "b"])
def test_no_links_leave_the_affinity_alone(algorithm):
    K = gaussian_matrix(6, 0)
    none = np.empty(0, dtype=int)
    found = propagate(K, none, none, none, np.empty(0), algorithm=algorithm, **SOFT)
    assert_allclose(found.A, K)


@pytest.mark.parametrize("algorithm", ["a", "b"])
def test_weight_two_is_the_pair_twice_and_weightless_links_do_nothing(algorithm):
    K, (i, j, sign, weight) = gaussian_matrix(9, 3), pairs(9, 6, 3)
    heavy = propagate(K, i, j, sign, 2 * weight, algorithm=algorithm, **SOFT).A
    narrow = {name: eps / np.sqrt(2) for name, eps in SOFT.items()}
    assert_allclose(heavy, propagate(K, i, j, sign, weight, algorithm=algorithm, **narrow).A)
    light = propagate(K, i, j, sign, weight * 1e-12, algorithm=algorithm, **SOFT).A
    assert_allclose(light, K, atol=1e-10)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("eps", [1e-5, 0.3, 1.0])
def test_one_link_has_the_closed_form_with_half_of_eps_squared(sign, eps):
    K = gaussian_matrix(7, 5)
    np.fill_diagonal(K, 1)
    u = K[:, 0] - sign * K[:, 1]
    gap = 1 - sign * K[0, 1]
    linked = K - np.outer(u, u) / (2 * gap)  # the equivalent kernel
    e = eps**2 / 2
    exact = (e * K + gap * linked) / (e + gap)  # Eq. (6), (7) with e for eps^2
    one = np.array([0]), np.array([1]), np.array([sign]), np.ones(1)
    found = propagate(K, *one, algorithm="a", eps_must=eps, eps_cannot=eps).A
    assert_allclose(found, np.maximum(exact, 0), atol=1e-9)


def test_a_hard_must_link_makes_its_ends_alike():
    K = gaussian_matrix(7, 5)
    A = propagate(
        K, np.array([0]), np.array([1]), np.array([1]), np.ones(1),
        algorithm="a", eps_must=1e-5, eps_cannot=1e-5,
    ).A  # fmt: skip
    assert_allclose(A[0], A[1], atol=1e-8)


def test_float32_stays_float32():
    K, links = gaussian_matrix(9, 3).astype(np.float32), pairs(9, 6, 3)
    for algorithm in "ab":
        found = propagate(K, *links, algorithm=algorithm, **SOFT)
        exact = propagate(K.astype(float), *links, algorithm=algorithm, **SOFT)
        assert found.A.dtype == np.float32
        assert_allclose(found.A, exact.A, atol=1e-5)


def test_tiles_of_the_largest_product_go_to_the_executor(rng):
    class Counting:
        tiles = 0

        def map(self, function, items):
            for item in items:
                self.tiles += 1
                yield function(item)

    Y = rng.standard_normal((600, 2))
    with executor(Counting()) as counting:
        found = largest_product(Y)
    assert counting.tiles == 6
    assert_array_equal(found, largest_product(Y))


@pytest.mark.parametrize("shape", [(300, 7), (5, 1)])
def test_largest_product_is_its_definition(shape, rng):
    Y, Z = rng.standard_normal(shape), rng.standard_normal((270, shape[1]))
    assert_array_equal(largest_product(Y, Z), (Y[:, None] * Z).max(axis=2))
    assert_array_equal(largest_product(Y), (Y[:, None] * Y).max(axis=2))


# mixture of Gaussians


def mixture_problem(seed, count=30):
    rng = np.random.default_rng(seed)
    squared = rng.uniform(0.1, 4, count)
    return squared, rng.choice([-1, 1], count), rng.uniform(0.5, 2, count)


def test_objective_is_the_difference_of_feature_space_distances():
    squared, sign, weight = mixture_problem(0)
    a, s = np.array([0.2, 0.5, 0.3]), np.array([0.3, 1.0, 2.0])
    apart = 2 - 2 * mixture_kernel(squared, a, s)  # |phi(x) - phi(y)|^2
    exact = np.sum(weight * apart * (sign < 0)) - np.sum(weight * apart * (sign > 0))  # Eq. (3)
    assert_allclose(objective(squared, pair_weights(sign, weight), a, s), exact)


@given(st.integers(0, 1000))
def test_gradients_are_finite_differences(seed):
    squared, sign, weight = mixture_problem(seed)
    rng = np.random.default_rng(seed)
    a, s, c = rng.dirichlet(np.ones(3)), rng.uniform(0.3, 2, 3), pair_weights(sign, weight)
    by_weight, by_width = gradient(squared, c, a, s)
    h = 1e-6
    for step in h * np.eye(3):
        slope = (objective(squared, c, a + step, s) - objective(squared, c, a - step, s)) / (2 * h)
        assert_allclose(slope, by_weight @ step / h, atol=1e-6)
        slope = (objective(squared, c, a, s + step) - objective(squared, c, a, s - step)) / (2 * h)
        assert_allclose(slope, by_width @ step / h, atol=1e-6)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_projection_lands_on_the_simplex_and_leaves_it_alone(values):
    p = project_simplex(np.array(values))
    assert_allclose(p.sum(), 1)
    assert p.min() >= 0
    assert_allclose(project_simplex(p), p, atol=1e-12)


@pytest.mark.parametrize("balanced", [False, True])
def test_the_optimum_is_near_the_best_single_width(balanced, rng):
    """F is linear in the weights, so a search over one width finds its maximum."""
    squared = np.concatenate([rng.uniform(0, 1, 50), rng.uniform(1, 9, 50)])
    sign, weight = np.repeat([1, -1], 50), np.ones(100)
    fit = fit_mixture(
        squared, sign, weight, n_kernels=3, scale=1.0, widest=30.0, rng=rng, balanced=balanced
    )
    c = pair_weights(sign, weight, balanced=balanced)
    grid = [objective(squared, c, [1.0], [s]) for s in np.geomspace(0.01, 30, 2000)]
    assert_allclose(fit.weights.sum(), 1)
    assert fit.objective >= max(grid) - 1e-3 * abs(max(grid))


def test_the_line_search_moves_where_gradients_have_vanished(rng):
    """At the paper's start, widths far below all distances, kernel values are about 1e-26."""
    squared = np.concatenate([rng.uniform(110, 130, 50), rng.uniform(250, 400, 50)])
    sign = np.repeat([1, -1], 50)
    fit = fit_mixture(
        squared, sign, np.ones(100), n_kernels=3, scale=1.0, widest=200.0, rng=rng, n_starts=1
    )
    assert 5 < fit.widths[np.argmax(fit.weights)] < 50


def test_must_links_alone_end_at_the_cap():
    squared = np.linspace(1, 4, 20)
    fit = fit_mixture(
        squared, np.ones(20), np.ones(20), n_kernels=2, scale=1.0, widest=20.0,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    assert np.all(fit.widths <= 20)
    assert fit.objective > -1
