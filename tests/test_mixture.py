from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from linkwise import Constraints, ConvergenceWarning, sample_pairs
from linkwise.estimators.gaussian_mixture import ConstrainedGaussianMixture
from linkwise.evaluate import adjusted_rand_index, kept
from linkwise.partition.gaussian_mixture import (
    Gaussians,
    Shape,
    build_field,
    climb,
    decode,
    infer,
    log_density,
    maximise,
    penalty,
)
from linkwise.partition.groups import must_groups

NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


def symmetric(Q):
    return sparse.csr_array(np.triu(Q, 1) + np.triu(Q, 1).T)


@st.composite
def fields(draw):
    """Log-probabilities of a few chunklets, and answers between them."""
    g, k = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    Q = rng.choice([0, 0, -3.0, -0.5, 1.0], size=(g, g))
    return rng.standard_normal((g, k)) * 2, symmetric(Q)


def enumerated(L, Q):
    """Return every labelling and the log of Eq. (1) there, literally."""
    g, k = L.shape
    Q = Q.toarray()
    labellings = list(product(range(k), repeat=g))
    value = [
        sum(L[c, z[c]] for c in range(g))
        + sum(Q[c, d] * (z[c] == z[d]) for c in range(g) for d in range(c))
        for z in labellings
    ]
    return np.array(labellings), np.array(value)


@given(fields())
def test_exact_inference_is_the_sum_over_all_labellings(problem):
    L, Q = problem
    g, k = L.shape
    z, value = enumerated(L, Q)
    p = np.exp(value - logsumexp(value))
    q, total = infer(L, build_field(Q, k, limit=10**6), np.full((g, k), 1 / k))
    assert_allclose(total, logsumexp(value))
    for c, label in product(range(g), range(k)):
        assert_allclose(q[c, label], p[z[:, c] == label].sum(), atol=1e-12)
    best = z[:, None] == decode(L, build_field(Q, k, limit=10**6), q)
    assert_allclose(value[best[:, 0].all(axis=1)], value.max())


@given(fields())
def test_mean_field_is_a_lower_bound_that_more_sweeps_raise(problem):
    L, Q = problem
    k = L.shape[1]
    field = build_field(Q, k, limit=0)
    q, before = np.full(L.shape, 1 / k), -np.inf
    for _ in range(5):
        q, value = infer(L, field, q)
        assert value >= before - 1e-9
        before = value
    assert value <= logsumexp(enumerated(L, Q)[1]) + 1e-9
    assert_allclose(q.sum(axis=1), 1)


@given(fields())
def test_no_single_change_makes_the_labels_more_probable(problem):
    L, Q = problem
    k = L.shape[1]
    field = build_field(Q, k, limit=0)
    labels = decode(L, field, infer(L, field, np.full(L.shape, 1 / k))[0])
    z, value = enumerated(L, Q)
    near = (z != labels).sum(axis=1) <= 1
    assert value[near].max() <= value[(z == labels).all(axis=1)][0] + 1e-9


def test_components_are_inferred_alone(rng):
    """Exactly where they are small, by mean field where they are large, whatever their order."""
    L = rng.standard_normal((7, 2))
    Q = np.zeros((7, 7))
    Q[0, 3] = Q[1, 2] = Q[2, 4] = Q[4, 5] = -2.0
    q, value = infer(L, build_field(symmetric(Q), 2, limit=4), np.full((7, 2), 0.5))
    pair, chain = [0, 3], [1, 2, 4, 5]
    parts = []
    for rows, limit in ((pair, 4), (chain, 0), ([6], 0)):
        field = build_field(symmetric(Q + Q.T)[rows][:, rows], 2, limit)
        parts.append(infer(L[rows], field, np.full((len(rows), 2), 0.5)))
        assert_allclose(q[rows], parts[-1][0], atol=1e-3)
    assert_allclose(value, sum(part[1] for part in parts), atol=1e-3)


def test_a_chunklet_has_one_prior_factor(rng):
    X = rng.standard_normal((3, 2))
    groups = must_groups(X, np.array([[0, 1]]))
    shape = Shape("full", 1e-9, 0.0)
    q = np.eye(2)[[0, 1]]
    fit = climb(X, q, groups, build_field(symmetric(np.zeros((2, 2))), 2, 4), shape,
                max_iter=1, tol=0)  # fmt: skip
    alpha, f = fit.model.alpha, np.exp(log_density(X, fit.model, 1e-9))
    together = alpha * f[0] * f[1]  # not alpha^2
    assert_allclose(fit.q[0], together / together.sum(), atol=1e-9)
    assert_allclose(alpha, [0.5, 0.5])  # chunklets are counted, not points


def test_the_density_is_the_normal_one_less_the_ridge(rng):
    X, means = rng.standard_normal((5, 2)), rng.standard_normal((2, 2))
    full = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.3], [-0.3, 3.0]]])
    diagonal = np.array([[1.0, 2.0], [3.0, 4.0]])
    for S, dense in ((full, full), (diagonal, diagonal[:, None] * np.eye(2))):
        found = log_density(X, Gaussians(np.ones(2), means, S, S[0]), ridge=0.1)
        for z in range(2):
            log_f = multivariate_normal(means[z], dense[z]).logpdf(X)
            log_f -= 0.05 * np.trace(np.linalg.inv(dense[z]))  # Eq. (5)
            assert_allclose(found[:, z], log_f)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_the_maximum_is_the_formula(kind, rng):
    X, R = rng.standard_normal((30, 3)), rng.dirichlet(np.ones(2), size=30)
    P = np.diag([1.0, 2.0, 3.0])
    common = np.diag(P) if kind == "diag" else P
    model = maximise(X, R, np.arange(30), Shape(kind, 0.1, 5.0), common)
    for z in range(2):
        N, mean = R[:, z].sum(), np.average(X, axis=0, weights=R[:, z])
        scatter = sum(r * np.outer(x - mean, x - mean) for r, x in zip(R[:, z], X, strict=True))
        S = (scatter + N * 0.1 * np.eye(3) + 5 * P) / (N + 5)  # Eq. (3)
        assert_allclose(model.means[z], mean)
        assert_allclose(model.covariances[z], np.diag(S) if kind == "diag" else S)
    if kind == "full":
        inverses = [np.linalg.inv(S) for S in model.covariances]
        assert_allclose(np.linalg.inv(model.common), sum(inverses) / 2)  # Eq. (4)
    assert penalty(model, Shape(kind, 0.1, 5.0)) > 0
    alike = model._replace(covariances=np.stack([model.common] * 2))
    assert_allclose(penalty(alike, Shape(kind, 0.1, 5.0)), 0, atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
@pytest.mark.parametrize("limit", [0, 10**5])
def test_the_bound_never_falls(kind, limit, wine):
    X, y = wine[0][::3], wine[1][::3]
    links = sample_pairs(y, 12 if limit else 60, random_state=0)
    groups = must_groups(X, links.must_link)
    g = len(groups.size)
    Q = np.zeros((g, g))
    a, b = np.sort(groups.of[links.cannot_link], axis=1).T
    Q[a, b] = -4
    field = build_field(symmetric(Q), 3, limit)
    assert bool(field.colours) == (limit == 0)
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=g)
    shape, common, bounds = Shape(kind, 0.05, 3.0), None, []
    for _ in range(25):
        fit = climb(X, q, groups, field, shape, common=common, max_iter=1, tol=0)
        q, common = fit.q, fit.model.common
        bounds.append(fit.bound)
    assert np.all(np.diff(bounds) >= -1e-8 * abs(bounds[-1]))


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_without_constraints_it_is_scikit_learns_mixture(kind, iris):
    X, _ = iris
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=150)
    shape = Shape(kind, 1e-10, 0.0)
    groups = must_groups(X, NO_PAIRS)
    field = build_field(sparse.csr_array((150, 150)), 3, 0)
    start = maximise(X, q, groups.of, shape)
    S = start.covariances[0] if kind == "tied" else start.covariances
    theirs = GaussianMixture(
        3, covariance_type=kind, reg_covar=1e-10, tol=1e-12, max_iter=500,
        weights_init=start.alpha, means_init=start.means,
        precisions_init=1 / S if kind == "diag" else np.linalg.inv(S),
    ).fit(X)  # fmt: skip
    ours = climb(X, q, groups, field, shape, max_iter=500, tol=1e-12)
    assert_allclose(ours.bound / 150, theirs.lower_bound_, rtol=1e-5)
    assert_allclose(ours.model.means, theirs.means_, atol=1e-3)
    assert_array_equal(ours.labels, theirs.predict(X))


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_constraints_are_kept_and_teach_about_the_rest(kind, wine):
    X, y = wine
    plain = ConstrainedGaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    links = sample_pairs(y, 178, random_state=0)
    model = ConstrainedGaussianMixture(3, covariance_type=kind, random_state=0)
    model.fit(X, constraints=links)
    assert kept(model.labels_, links).must == 1
    assert kept(model.labels_, links).cannot > 0.98
    score = adjusted_rand_index(y, model.labels_)
    assert score >= adjusted_rand_index(y, plain.labels_)
    assert score > 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_quality_on_points_without_constraints(seed, iris):
    X, y = iris
    links = sample_pairs(y, 150, random_state=seed)
    labels = ConstrainedGaussianMixture(3, random_state=seed).fit_predict(X, constraints=links)
    silent = np.setdiff1d(np.arange(150), links.touched)
    assert adjusted_rand_index(y, labels, rows=silent) > 0.6


@pytest.fixture(scope="module")
def links(wine):
    return sample_pairs(wine[1], 60, random_state=1)


def test_the_order_of_points_and_pairs_is_irrelevant(wine, links, rng):
    X, _ = wine
    p = rng.permutation(len(X))
    a, b, sign, weight = links.arrays()
    table = np.stack([np.argsort(p)[b], np.argsort(p)[a], sign, weight], axis=1)
    moved = Constraints.from_table(table[rng.permutation(len(table))])
    straight = ConstrainedGaussianMixture(3, random_state=0).fit(X, constraints=links)
    shuffled = ConstrainedGaussianMixture(3, random_state=0).fit(X[p], constraints=moved)
    assert adjusted_rand_index(straight.labels_[p], shuffled.labels_) == 1
    assert_allclose(straight.lower_bound_, shuffled.lower_bound_, rtol=1e-9)
    assert_allclose(np.sort(straight.weights_), np.sort(shuffled.weights_), rtol=1e-6)


def test_units_are_irrelevant(wine, links):
    X, _ = wine
    a, b = (
        ConstrainedGaussianMixture(3, random_state=0).fit(scale * X, constraints=links)
        for scale in (1.0, 1000.0)
    )
    assert_array_equal(a.labels_, b.labels_)
    assert_allclose(a.responsibilities_, b.responsibilities_, atol=1e-6)


@pytest.mark.parametrize("cannot", ["auto", "mean_field"])
def test_a_pair_listed_twice_is_a_pair_of_weight_two(cannot, iris):
    must, apart = [(0, 60), (60, 61)], [(70, 130), (130, 71)]
    once = Constraints(must, apart, must_weight=[0.8, 0.4], cannot_weight=[2, 1])
    twice = Constraints(
        [*must, must[1]], [*apart, apart[0]], must_weight=[0.8, 0.2, 0.2], cannot_weight=1
    )
    a, b = (
        ConstrainedGaussianMixture(3, strength=1, cannot=cannot, random_state=0).fit(
            iris[0], constraints=links
        )
        for links in (once, twice)
    )
    assert_allclose(a.responsibilities_, b.responsibilities_)
    assert_allclose(a.lower_bound_, b.lower_bound_)


def test_weights_and_strength_are_log_odds(blobs):
    """Two points of one blob are told to be apart: believed only if the odds are long enough."""
    X, y = blobs
    a, b = np.flatnonzero(y == 0)[:2].tolist()

    def fit(weight, strength):
        links = Constraints([], [(a, b)], cannot_weight=weight)
        return ConstrainedGaussianMixture(3, strength=strength, random_state=0).fit(
            X, constraints=links
        )

    assert fit(1, 1.0).violations_
    assert not fit(1, 100.0).violations_
    assert_allclose(fit(1, 30.0).responsibilities_, fit(30, 1.0).responsibilities_)


@pytest.mark.parametrize(("weight", "together"), [(1, True), (0.02, False)])
def test_a_light_must_link_may_be_broken(weight, together, blobs):
    X, y = blobs
    a, b = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]
    links = Constraints([(a, b)], must_weight=weight)
    labels = ConstrainedGaussianMixture(3, random_state=0).fit_predict(X, constraints=links)
    assert (labels[a] == labels[b]) == together


def test_probabilities_are_those_of_the_definition(iris, links):
    model = ConstrainedGaussianMixture(3, reg=1e-9, random_state=0).fit(iris[0])
    new = iris[0][:20] + 0.01
    f = np.stack([
        multivariate_normal(m, S).pdf(new)
        for m, S in zip(model.means_, model.covariances_, strict=True)
    ], axis=1) * model.weights_  # fmt: skip
    assert_allclose(model.predict_proba(new), f / f.sum(axis=1, keepdims=True), atol=1e-6)
    assert_array_equal(model.predict(new), model.predict_proba(new).argmax(axis=1))


def test_fitted_points_keep_their_responsibilities(wine, links):
    X, _ = wine
    model = ConstrainedGaussianMixture(3, random_state=0).fit(X, constraints=links)
    assert_array_equal(model.predict_proba(X), model.responsibilities_)
    assert_array_equal(model.predict_proba(X[5:50]), model.responsibilities_[5:50])
    assert_allclose(model.responsibilities_.sum(axis=1), 1)
    together = links.must_link
    assert_array_equal(*(model.responsibilities_[together[:, side]] for side in (0, 1)))


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_float32_stays_float32(kind, iris):
    X = iris[0].astype(np.float32)
    model = ConstrainedGaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    for name in ("means_", "covariances_", "weights_", "responsibilities_"):
        assert getattr(model, name).dtype == np.float32
    assert model.predict_proba(X[:3] + 1).dtype == np.float32
    shapes = {"full": (3, 4, 4), "tied": (4, 4), "diag": (3, 4)}
    assert model.covariances_.shape == shapes[kind]


def test_exact_inference_is_refused_where_it_cannot_end(iris):
    chain = [(i, i + 1) for i in range(30)]
    with pytest.raises(ValueError, match=r"3\^31 labellings.*mean_field"):
        ConstrainedGaussianMixture(3, cannot="exact").fit(iris[0], constraints=([], chain))
    short = ([], chain[:5])
    exact, auto = (
        ConstrainedGaussianMixture(3, cannot=way, random_state=0).fit(iris[0], constraints=short)
        for way in ("exact", "auto")
    )
    assert exact.lower_bound_ >= auto.lower_bound_ - 1e-3


def test_what_is_missing_is_announced(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 passes"):
        model = ConstrainedGaussianMixture(3, max_iter=2, random_state=0).fit(iris[0])
    assert (model.converged_, model.n_iter_) == (False, 2)
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 of 3 clusters"):
        ConstrainedGaussianMixture(3, random_state=0).fit(X)


def test_one_cluster_is_one_gaussian(iris):
    chain = ([], [(i, i + 1) for i in range(100)])
    model = ConstrainedGaussianMixture(1, reg=1e-9, random_state=0).fit(iris[0], constraints=chain)
    assert_allclose(model.covariances_[0], np.cov(iris[0].T, bias=True), atol=1e-3)
    assert len(model.violations_) == 100
