"""The metric of ITML against the conditions of its optimum and the paper's own iteration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

from linkwise import ITML, Constraints, ConstraintWarning, ConvergenceWarning, sample_pairs
from linkwise.evaluate import adjusted_rand_index
from linkwise.kernel.metric import distance_bounds, fit_metric

GAMMAS = st.sampled_from([0.1, 1.0, 10.0])


@st.composite
def problems(draw):
    """Differences of a few pairs, their signs and weights, and two bounds."""
    s, d = draw(st.integers(0, 8)), draw(st.integers(1, 4))
    V = draw(arrays(float, (s, d), elements=st.sampled_from([-2, -1, -0.5, 0.25, 1, 3])))
    sign = draw(arrays(int, s, elements=st.sampled_from([-1, 1])))
    weight = draw(arrays(float, s, elements=st.sampled_from([0.5, 1, 3])))
    return V, sign, weight, draw(st.sampled_from([(0.5, 4.0), (2.0, 2.0), (0.1, 30.0)]))


def bregman(V, sign, weight, bounds, gamma, rounds=3000):
    """Return A by the paper's projections, one pair after the other.

    Its Algorithm 1 projects with 1/2 (1/p - gamma/xi), which lands on the bound for gamma = 1
    only; gamma / (gamma + 1) (1/p - 1/xi) does for all.
    """
    A, dual = np.eye(V.shape[1]), np.zeros(len(V))
    xi = np.where(sign > 0, *bounds).astype(float)
    for _ in range(rounds):
        for c, v in enumerate(V):
            g, p = gamma * weight[c], v @ A @ v
            a = min(dual[c], sign[c] * g / (g + 1) * (1 / p - 1 / xi[c]))
            dual[c] -= a
            xi[c] = g * xi[c] / (g + sign[c] * a * xi[c])
            A += sign[c] * a / (1 - sign[c] * a * p) * np.outer(A @ v, v @ A)
    return A, dual


@given(problems(), GAMMAS)
def test_the_optimum_satisfies_its_conditions(problem, gamma):
    V, sign, weight, bounds = problem
    A, dual, _ = fit_metric(V, sign, weight, bounds, gamma=gamma)
    inverse = np.eye(V.shape[1]) + (V.T * (sign * dual)) @ V
    assert_allclose(A @ inverse, np.eye(len(A)), atol=1e-5)  # stationary in A
    bound, p = np.where(sign > 0, *bounds), np.sum(V @ A * V, axis=1)
    xi = 1 / (1 / bound - sign * dual / (gamma * weight))  # stationary in xi
    assert np.all(dual >= 0)
    assert np.all(sign * (p - xi) <= 1e-6 * xi)  # feasible
    assert_allclose(dual * (p - xi), 0, atol=1e-6)  # complementary


@pytest.mark.parametrize("gamma", [0.3, 1.0, 5.0])
def test_equals_the_papers_projections(gamma, rng):
    V, sign = rng.standard_normal((12, 3)), rng.choice([-1, 1], 12)
    weight, bounds = rng.choice([1.0, 2.0], 12), (0.8, 5.0)
    A, dual, _ = fit_metric(V, sign, weight, bounds, gamma=gamma)
    slow, slow_dual = bregman(V, sign, weight, bounds, gamma)
    assert_allclose(A, slow, rtol=1e-6, atol=1e-6 * abs(A).max())
    assert_allclose(dual, slow_dual, atol=1e-6 * dual.max())


def test_one_pair_on_the_line_by_hand():
    """D(a, 1) + gamma D(9 a, 1): 1 - 1/a + gamma (9 - 1/a) = 0."""
    A, dual, _ = fit_metric(np.array([[3.0]]), np.array([1]), np.ones(1), (1.0, 2.0), gamma=0.5)
    assert_allclose(A, [[1.5 / 5.5]])
    assert_allclose(1 / A[0, 0], 1 + 9 * dual[0])


@given(problems())
def test_a_pair_twice_is_weight_two_and_order_is_irrelevant(problem):
    V, sign, weight, bounds = problem
    double = fit_metric(V, sign, 2 * weight, bounds).A
    back = slice(None, None, -1)
    both = np.vstack([V, -V[back]]), np.r_[sign, sign[back]], np.r_[weight, weight[back]]
    twice = fit_metric(*both, bounds)
    assert_allclose(twice.A, double, rtol=1e-6, atol=1e-6)


@given(problems())
def test_bounds_that_hold_cost_nothing(problem):
    V, sign, weight, _ = problem
    A, dual, n_iter = fit_metric(V, sign, weight, (1e3, 1e-3))
    assert_array_equal(A, np.eye(V.shape[1]))
    assert_array_equal(dual, 0)
    assert n_iter == 1


def test_a_free_bound_is_ignored_and_a_dear_one_is_met(rng):
    V, sign, bounds = rng.standard_normal((4, 3)), np.array([1, 1, -1, -1]), (0.5, 6.0)
    cheap = fit_metric(V, sign, np.ones(4), bounds, gamma=1e-9).A
    assert_allclose(cheap, np.eye(3), atol=1e-7)
    dear = fit_metric(V, sign, np.ones(4), bounds, gamma=1e4).A
    p = np.sum(V @ dear * V, axis=1)
    assert np.all(p[:2] < 0.501)
    assert np.all(p[2:] > 5.99)


def test_too_few_steps_are_announced(rng):
    V, sign = 5 * rng.standard_normal((30, 4)), rng.choice([-1, 1], 30)
    with pytest.warns(ConvergenceWarning, match=r"2 steps of max_iter=2 .* tol=1e-06"):
        fit_metric(V, sign, np.ones(30), (0.1, 50.0), max_iter=2)


def test_bounds_are_percentiles_of_all_squared_distances(iris, rng):
    squared = pdist(iris[0]) ** 2
    assert_allclose(distance_bounds(iris[0]), np.percentile(squared[squared > 0], [5, 95]))
    X = rng.standard_normal((1500, 3))
    exact = np.percentile(pdist(X) ** 2, [5, 95])
    assert_allclose(distance_bounds(X), exact, rtol=0.03)
    assert distance_bounds(X[rng.permutation(1500)]) == distance_bounds(X)
    assert distance_bounds(np.ones((5, 2))) == (1, 1)


def test_itml_without_constraints_is_the_prior(wine):
    X, _ = wine
    assert_array_equal(ITML().fit_transform(X), X)
    whitened = ITML(prior="covariance").fit_transform(X)
    assert_allclose(np.cov(whitened.T), np.eye(13), atol=1e-10)


def test_the_map_gives_the_distances_of_the_metric(wine):
    X, y = wine
    model = ITML().fit(X, constraints=sample_pairs(y, 60, random_state=0))
    v = X[3] - X[77]
    mapped = model.transform(X)
    assert_allclose(np.sum((mapped[3] - mapped[77]) ** 2), v @ model.metric_ @ v)
    assert_allclose(model.components_, model.components_.T, atol=1e-12)


def test_units_are_irrelevant_with_the_covariance_as_prior(iris, rng):
    X, y = iris
    links = sample_pairs(y, 60, random_state=0)
    T = rng.standard_normal((4, 4))
    straight = ITML(prior="covariance").fit_transform(X, constraints=links)
    mixed = ITML(prior="covariance").fit_transform(X @ T, constraints=links)
    assert_allclose(pdist(mixed), pdist(straight), rtol=1e-5)


@pytest.mark.parametrize("scale", [2.0**490, 2.0**-490])
def test_the_unit_of_length_is_irrelevant_however_large_or_small(iris, scale):
    X, y = iris
    links = sample_pairs(y, 60, random_state=0)
    plain, scaled = (ITML().fit(Z, constraints=links) for Z in (X, scale * X))
    assert_array_equal(scaled.metric_, plain.metric_)
    assert_allclose(scaled.dual_ * scale**2, plain.dual_)


def test_a_singular_covariance_is_a_prior_on_the_span(iris):
    X, y = iris
    links = sample_pairs(y, 60, random_state=0)
    wide = np.c_[X, X[:, :2] - X[:, 2:]]
    straight = ITML(prior="covariance").fit_transform(X, constraints=links)
    model = ITML(prior="covariance").fit(wide, constraints=links)
    assert_allclose(pdist(model.transform(wide)), pdist(straight), rtol=1e-5)
    assert np.linalg.matrix_rank(model.metric_, tol=1e-6) == 4


def test_equal_rows_cannot_be_parted(iris):
    X = np.vstack([iris[0][:20], iris[0][:1]])
    links = Constraints([(0, 3)], [(0, 20), (2, 7)])
    with pytest.warns(ConstraintWarning, match=r"1 of 3 .* equal rows.*\(0, 20\) first"):
        model = ITML().fit(X, constraints=links)
    plain = ITML().fit(X, constraints=links.select([0, 2]))
    assert_allclose(model.metric_, plain.metric_)
    assert_array_equal(model.dual_, np.r_[plain.dual_[0], 0, plain.dual_[1]])
    ITML().fit(X, constraints=([(0, 20)], []))  # as a must-link it is kept already


@pytest.mark.parametrize("bounds", [(1, 0.5), (0, 1), (1,), ("a", "b")])
def test_bounds_that_are_none_are_refused(bounds, iris):
    with pytest.raises(ValueError, match=r"bounds must be \(u, l\)"):
        ITML(bounds=bounds).fit(iris[0], constraints=([(0, 1)], []))


@pytest.mark.parametrize(("data", "plain", "learnt"), [("iris", 0.65, 0.88), ("wine", 0.92, 0.93)])
def test_kmeans_gains_by_the_metric(data, plain, learnt, request):
    X, y = request.getfixturevalue(data)

    def agreement(Z):
        return adjusted_rand_index(y, KMeans(3, n_init=10, random_state=0).fit_predict(Z))

    draws = [sample_pairs(y, 200, random_state=draw) for draw in range(4)]
    assert agreement(X) < plain
    assert np.mean([agreement(ITML().fit_transform(X, constraints=a)) for a in draws]) > learnt
