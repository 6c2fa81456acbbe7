"""CCSKL with few constraints: the prior of the spectrum, and the choice of the view."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from linkwise import CCSKL, Constraints
from linkwise.estimators.ccskl import ODDS, chosen_view, evidence, independent_share, pair_share
from linkwise.evaluate import adjusted_rand_index
from linkwise.kernel.spectral_kernel import PRIOR, fit_spectrum

DRAWS = 5


def eigenvectors(n, m, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, m)))[0]


def some_pairs(n, must, cannot, seed=0):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(n, size=(2, must + cannot))
    return i, j, np.repeat([1, -1], [must, cannot]), np.ones(must + cannot)


# the prior of the spectrum


def prior_cost(b, F, i, j, sign, weight, k):
    """Return the cost (6) + (A), from dense matrices."""
    n = len(F)
    K = F @ np.diag(b) @ F.T
    P = n / k * F[:, :k] @ F[:, :k].T
    pairs = np.sum(weight**2 * (K[i, j] - (sign > 0)) ** 2)
    diagonal = np.sum(weight**2) / n * np.sum((np.diag(K) - 1) ** 2)
    return pairs + diagonal + (PRIOR + max(0, np.sum(sign * weight**2))) * np.mean((K - P) ** 2)


@given(st.integers(0, 10_000), st.integers(0, 12), st.integers(0, 12))
def test_no_other_spectrum_costs_less_with_the_prior(seed, must, cannot):
    F, links = eigenvectors(15, 6, seed), some_pairs(15, must, cannot, seed)
    b = fit_spectrum(F, *links, n_clusters=3)
    best = prior_cost(b, F, *links, 3)
    rng = np.random.default_rng(seed)
    for scale in (0.01, 1, 10):
        other = np.sort(np.maximum(b + scale * rng.standard_normal(6), 0))[::-1]
        assert prior_cost(other, F, *links, 3) >= best - 1e-9


def test_constraints_of_no_weight_leave_the_plain_spectrum():
    F, (i, j, sign, weight) = eigenvectors(30, 6), some_pairs(30, 5, 5)
    b = fit_spectrum(F, i, j, sign, 1e-6 * weight, n_clusters=3)
    assert_allclose(b, [10, 10, 10, 0, 0, 0], atol=1e-6)


def test_constraints_of_large_weight_leave_nothing_of_the_prior():
    F, (i, j, sign, weight) = eigenvectors(30, 6), some_pairs(30, 20, 20)
    b = fit_spectrum(F, i, j, sign, 1e6 * weight, n_clusters=3)
    assert_allclose(b, fit_spectrum(F, i, j, sign, 1e6 * weight), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 5, 100, 1000])
def test_must_links_alone_do_not_leave_the_constant_vector_only(count):
    y = np.repeat([0, 1, 2], 100)
    noise = 0.05 * np.random.default_rng(0).standard_normal((300, 6))
    F = np.linalg.qr(np.hstack([np.ones((300, 1)), np.eye(3)[y][:, :2], noise]))[0]
    rng = np.random.default_rng(1)
    i = rng.integers(300, size=count)
    j = 100 * (i // 100) + rng.integers(100, size=count)  # the same cluster
    b = fit_spectrum(F, i, j, np.ones(count), np.ones(count), n_clusters=3)
    assert b[2] > 0.5 * b[0]
    assert b[3] < 0.1 * b[0]


# evidence for a partition


def judged(must_kept, must, cannot_kept, cannot, share, weight=1.0):
    together = np.concatenate([np.arange(must) < must_kept, np.arange(cannot) >= cannot_kept])
    sign = np.repeat([1, -1], [must, cannot])
    return evidence(together, sign, np.full(len(sign), weight), share)


@given(st.floats(0.01, 0.99), st.booleans())
def test_the_first_constraint_of_a_kind_is_no_evidence(share, kept):
    assert_allclose(judged(kept, 1, 0, 0, share), 0, atol=1e-9)
    assert_allclose(judged(0, 0, kept, 1, share), 0, atol=1e-9)
    assert judged(0, 0, 0, 0, share) == 0


@given(st.floats(0.05, 0.5), st.integers(2, 40))
def test_kept_constraints_are_evidence_and_broken_ones_count_against(share, count):
    kept = [judged(c, count, 0, 0, share) for c in (count - 1, count)]
    assert kept[1] > max(kept[0], 0)
    assert judged(0, count, 0, 0, share) <= 0
    assert judged(0, 0, 0, count, share) <= 0


def test_must_links_in_one_large_cluster_are_little_evidence():
    even, large = pair_share(np.array([50, 50, 50])), pair_share(np.array([140, 5, 5]))
    assert judged(20, 20, 0, 0, large) < judged(16, 20, 0, 0, even)


def test_a_pair_of_weight_two_is_evidence_like_two_pairs():
    assert_allclose(judged(6, 8, 3, 5, 0.3, weight=2), judged(12, 16, 6, 10, 0.3))


def test_pairs_count_for_no_more_than_the_labels_of_their_points():
    assert independent_share(points=20, pairs=10, k=3) == 1
    assert independent_share(points=20, pairs=190, k=3) < 0.2
    assert independent_share(points=2, pairs=1, k=1) == 0


def test_a_fitted_view_must_beat_the_plain_one_by_the_odds():
    found, enough = np.array([3, 3, 3]), np.log(ODDS)
    assert chosen_view(np.array([1.0, 2.0, 2.1 - enough]), found) == 2
    assert chosen_view(np.array([1.0, 2.0, 1.9 - enough]), found) == 1
    assert chosen_view(np.array([2.0, 2.0, 2.0]), found) == 2


# the estimator


def test_the_paper_has_no_prior():
    X, y = load_iris(return_X_y=True)
    links = Constraints.sample(y, 30, random_state=0)
    for options in ({"normalize_rows": False, "diagonal": "paper"}, {"normalize_rows": True}):
        model = CCSKL(3, random_state=0, **options).fit(X, constraints=links)
        b = fit_spectrum(
            model._basis.vectors, *links.arrays(), diagonal=options.get("diagonal", "balanced")
        )
        assert_allclose(model.spectrum_, b)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "anchors"])
def test_one_constraint_leaves_the_clusters_of_many_points_as_they_are(affinity):
    X, y = make_blobs(4000, n_features=3, centers=4, cluster_std=3.0, random_state=0)
    model = CCSKL(4, affinity=affinity, random_state=0).fit(X)
    plain = model.labels_.copy()
    first, second = np.flatnonzero(y == 0)[:2]
    assert_array_equal(model.refit(Constraints([(first, second)])).labels_, plain)
    assert_array_equal(model.refit(Constraints((), [(first, np.argmax(y))])).labels_, plain)


@pytest.fixture(scope="module")
def fitted():
    """Models without constraints on real data, with the true labels."""
    wine, iris, digits = (load(return_X_y=True) for load in (load_wine, load_iris, load_digits))
    data = {
        "wine": (StandardScaler().fit_transform(wine[0]), wine[1]),
        "iris": iris,
        "scaled iris": (StandardScaler().fit_transform(iris[0]), iris[1]),
        "digits": (digits[0][:400], digits[1][:400]),
    }
    return {
        name: (CCSKL(len(np.unique(y)), random_state=0).fit(X), X, y)
        for name, (X, y) in data.items()
    }


def correct_pairs(y, count, kind, seed):
    """Return correct constraints of one kind (+1, -1) or, with 0, of random pairs."""
    rng = np.random.default_rng([seed, count])
    a, b = rng.integers(len(y), size=(2, 100 * count))
    sign = np.where(y[a] == y[b], 1, -1)
    which = np.flatnonzero((a != b) & ((sign == kind) | (kind == 0)))[:count]
    return Constraints.from_table(np.stack([a, b, sign], axis=1)[which])


def labels_but_one(y, count, seed):
    """Return all constraints among some labelled points of every class but one."""
    rng = np.random.default_rng([seed, count])
    known = np.full(len(y), -1)
    for label in np.delete(np.unique(y), rng.integers(y.max() + 1)):
        known[rng.choice(np.flatnonzero(y == label), count, replace=False)] = label
    return Constraints.from_labels(known)


def agreement(model, y, draws):
    """Return the mean agreement after refits under some draws of constraints."""
    return np.mean([adjusted_rand_index(y, model.refit(links).labels_) for links in draws])


@pytest.mark.parametrize("kind", [0, 1, -1])
def test_few_correct_constraints_do_not_lower_agreement(fitted, kind):
    changes = []
    for model, _, y in fitted.values():
        none = adjusted_rand_index(y, model.refit(None).labels_)
        changes.append(
            [
                agreement(model, y, [correct_pairs(y, s, kind, seed) for seed in range(DRAWS)])
                - none
                for s in (1, 2, 3, 5, 10, 15)
            ]
        )
    assert np.min(changes) >= -0.05
    assert np.mean(changes, axis=0).min() >= -0.005


def test_labels_of_all_classes_but_one_do_not_lower_agreement(fitted):
    for model, _, y in fitted.values():
        none = adjusted_rand_index(y, model.refit(None).labels_)
        for count in (1, 2, 5):
            draws = [labels_but_one(y, count, seed) for seed in range(DRAWS)]
            assert agreement(model, y, draws) >= none - 0.05


def test_more_constraints_do_not_lower_the_mean_agreement(fitted):
    means = [
        np.mean(
            [
                agreement(
                    model,
                    y,
                    [correct_pairs(y, max(1, len(y) // q), 0, seed) for seed in range(DRAWS)],
                )
                for model, _, y in fitted.values()
            ]
        )
        for q in (10_000, 10, 4, 1)
    ]
    assert np.diff(means).min() >= -0.01
    assert means[-1] > means[0] + 0.01


def test_refit_is_fit_whatever_came_before(fitted):
    model, X, y = fitted["wine"]
    many, few = correct_pairs(y, 90, 0, 0), correct_pairs(y, 3, 1, 0)
    for links in (many, few, None, many):
        fresh = CCSKL(3, random_state=0).fit(X, constraints=links)
        assert_array_equal(model.refit(links).labels_, fresh.labels_)
        assert_allclose(model.spectrum_, fresh.spectrum_)
        assert model.view_ == fresh.view_
