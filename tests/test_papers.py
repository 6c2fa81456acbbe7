"""What the papers show, as tests."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_circles, make_moons

from linkwise import (
    CCSKL,
    Constraints,
    ConvergenceWarning,
    OptimalKernelKMeans,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    sample_pairs,
)
from linkwise.embedding import mix_constraints, spectral_basis
from linkwise.evaluate import accuracy, adjusted_rand_index, clustering_error
from linkwise.graph import build_affinity, gaussian, laplacian
from linkwise.kernel import propagate

HARD = {"eps_must": 1e-5, "eps_cannot": 1e-5}


def kernel_of_line(x, width):
    return gaussian(np.abs(x[:, None] - x), width)


def second_vector(A):
    """Return e_2 of the normalised cut of A: D^-1/2 v_2."""
    basis = spectral_basis(A, 2, np.random.default_rng(0))
    return basis.vectors[:, 1] / np.sqrt(basis.degrees)


def piecewise(e, split):
    """Return how far e is from constant on each side of the split, against the jump between."""
    left, right = e[:split], e[split:]
    return max(left.std(), right.std()) / abs(left.mean() - right.mean())


def link(i, j, sign):
    return np.array([i]), np.array([j]), np.array([sign]), np.ones(1)


def test_one_must_link_merges_two_of_three_clusters():
    """Affinity propagation, figure 2: samples 5 and 20 of three groups on a line."""
    rng = np.random.default_rng(0)
    x = np.concatenate([np.sort(rng.normal(c, 0.35, 13)) for c in (0, 4, 8)])
    K = kernel_of_line(x, 1.0)
    A = propagate(K, *link(4, 19, +1), algorithm="a", **HARD).A
    assert K[:13, 13:26].max() < 0.05
    assert A[:13, 13:26].mean() > 0.2  # affinity across the two linked groups
    assert A[:26, 26:].max() < 0.05
    e = second_vector(A)
    assert piecewise(e, 26) < 0.02  # constant on the first two groups together
    labels = PropagatedSpectralClustering(2, sigma=1.0, eps=1e-5, random_state=0).fit_predict(
        x[:, None], constraints=([(4, 19)], [])
    )
    assert len(set(labels[:26])) == 1
    assert labels[0] != labels[26]


def test_one_cannot_link_splits_a_continuum():
    """Affinity propagation, figure 3: samples 5 and 15 of a line without gaps."""
    x = np.linspace(0, 4, 20)
    K = kernel_of_line(x, 2.0)
    A = propagate(K, *link(4, 14, -1), algorithm="a", **HARD).A

    def step(e):
        """Return the share of the rise of e that falls on samples 8 to 13."""
        return abs(e[12] - e[7]) / np.ptp(e)

    assert step(second_vector(K)) < 0.3  # continuous
    assert step(second_vector(A)) > 0.9  # almost piecewise constant
    labels = PropagatedSpectralClustering(2, sigma=2.0, eps=1e-5, random_state=0).fit_predict(
        x[:, None], constraints=([], [(4, 14)])
    )
    assert_allclose(np.flatnonzero(np.diff(labels)), [9])  # one boundary, half-way


def test_algorithm_a_makes_friends_of_an_enemys_enemies_and_b_does_not():
    """Affinity propagation, figure 4: cannot-links 5 - 16 and 16 - 35 on a line of 40."""
    x = np.linspace(0, 8, 40)
    K = kernel_of_line(x, 1.0)
    i, j = np.array([4, 15]), np.array([15, 34])
    links = i, j, np.array([-1, -1]), np.ones(2)
    false = propagate(K, *links, algorithm="a", **HARD).A[4, 34]
    none = propagate(K, *links, algorithm="b", **HARD).A[4, 34]
    assert K[4, 34] < 1e-6
    assert false > 0.1
    assert none < 1e-6


def test_three_mutual_cannot_links_empty_the_affinity_of_a_but_not_of_b():
    K = kernel_of_line(np.array([0.0, 5.0, 10.0, 0.1, 5.1, 10.1]), 1.0)
    i, j = np.array([0, 0, 1]), np.array([1, 2, 2])
    links = i, j, -np.ones(3), np.ones(3)
    assert propagate(K, *links, algorithm="a", **HARD).A[:3, :3].max() < 1e-6
    assert np.diag(propagate(K, *links, algorithm="b", **HARD).A)[:3].min() > 0.4


@pytest.mark.parametrize(
    ("sites", "sign", "i", "j", "expected"),
    [
        ((0.0, 12.0), 1, 0.3, 0.5, lambda k: k(0.3, 0.5) - k(0.3, 0) * k(0.5, 0) / 2),
        ((0.0, 12.0), 1, 0.3, 12.2, lambda k: k(0.3, 0) * k(12.2, 12) / 2),
        ((0.0, 12.0), -1, 0.3, 0.5, lambda k: k(0.3, 0.5) - k(0.3, 0) * k(0.5, 0) / 2),
        ((0.0, 12.0), -1, 0.3, 12.2, lambda k: -k(0.3, 0) * k(12.2, 12) / 2),
        ((0.0, 1e-3), -1, 0.3, 0.5, lambda k: k(0.3, 0.5) - k(0.3, 0) * k(0.5, 0)),
        # The paper's table says k(i, j) here, which a hard link between close points is not:
        # numerator and denominator vanish together, and the slopes of k at the site remain.
        ((0.0, 1e-3), 1, 0.7, 0.4, lambda k: k(0.7, 0.4) - 0.7 * k(0.7, 0) * 0.4 * k(0.4, 0)),
    ],
)  # fmt: skip
def test_equivalent_kernels_of_one_hard_link(sites, sign, i, j, expected):
    """Affinity propagation, table 1, the unclipped posterior."""
    x = np.array([*sites, i, j])
    K = kernel_of_line(x, 1.0)
    u = K[:, 0] - sign * K[:, 1]
    linked = K - np.outer(u, u) / (2 * (1 - sign * K[0, 1]))
    found = propagate(K, *link(0, 1, sign), algorithm="a", **HARD).A[2, 3]
    k = lambda a, b: np.exp(-((a - b) ** 2) / 2)  # noqa: E731
    assert linked[2, 3] == pytest.approx(expected(k), abs=2e-3)
    assert found == pytest.approx(max(linked[2, 3], 0), abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimal_kernel_separates_two_concentric_circles(seed):
    """Kernel optimisation, figure 2: perfect from 100 pairs."""
    X, y = make_circles(400, factor=1 / 3, noise=0.05, random_state=seed)
    links = sample_pairs(y, 100, random_state=seed)
    model = OptimalKernelKMeans(2, random_state=seed).fit(3 * X, constraints=links)
    assert adjusted_rand_index(y, model.labels_) == 1
    assert model.weights_.sum() == pytest.approx(1)
    assert np.all(model.weights_ >= 0)


def test_propagation_learns_moons_where_the_plain_method_fails():
    X, y = make_moons(200, noise=0.08, random_state=0)
    sigma = "4r"
    plain = PropagatedSpectralClustering(2, sigma=sigma, random_state=0).fit_predict(X)
    scores = []
    for seed in range(3):
        links = sample_pairs(y, 60, random_state=seed)
        model = PropagatedSpectralClustering(2, sigma=sigma, eps=0.3, random_state=seed)
        scores.append(accuracy(y, model.fit_predict(X, constraints=links)))
    assert accuracy(y, plain) < 0.9 < np.mean(scores)


def test_the_sign_of_the_second_vector_gets_worse_with_more_constraints(wine):
    """cSC: the paper's rule for two clusters against the one taken here."""
    X, y = wine[0][wine[1] > 0], wine[1][wine[1] > 0]
    links = sample_pairs(y, 600, random_state=0)
    first = SignedSpectralClustering(2, two_way="auto", balance=0.5, random_state=0)
    second = SignedSpectralClustering(2, two_way="second", balance=0.5, random_state=0)
    assert accuracy(y, first.fit_predict(X, constraints=links)) > 0.97
    with pytest.warns(ConvergenceWarning, match="one sign"):  # it has become the constant one
        assert accuracy(y, second.fit_predict(X, constraints=links)) < 0.7
    assert first.eigenvalues_[0] > 1e-3  # no constant vector any more


def test_the_signed_laplacian_of_graph_and_constraints_is_positive_semidefinite(iris):
    W = build_affinity(iris[0], "nearest_neighbors", n_neighbors=20, sigma="r").W
    links = sample_pairs(iris[1], 200, random_state=0)
    values = np.linalg.eigvalsh(laplacian(mix_constraints(W, links.matrix(150), 0.5)).toarray())
    assert values.min() > -1e-12


def test_ccskl_beats_its_plain_method_on_wine(wine):
    X, y = wine
    errors = []
    for seed in range(5):
        links = sample_pairs(y, 90, scheme="balanced", random_state=seed)
        errors.append(
            clustering_error(y, CCSKL(3, random_state=seed).fit_predict(X, constraints=links))
        )
    assert np.mean(errors) <= clustering_error(y, CCSKL(3, random_state=0).fit_predict(X))


def test_constraints_settle_an_ambiguity():
    """Four groups at the corners of a square: two clusters either way, and one pair decides."""
    rng = np.random.default_rng(0)
    corners = np.array([(0, 0), (0, 4), (4, 0), (4, 4)])
    X = np.repeat(corners, 30, axis=0) + rng.normal(0, 0.5, (120, 2))
    rows = {c: np.arange(30) + 30 * c for c in range(4)}
    for partner, other in ((1, 2), (2, 1)):
        pairs = [(rows[0][i], rows[partner][i]) for i in range(6)]
        pairs += [(rows[other][i], rows[3][i]) for i in range(6)]
        apart = [(rows[0][i], rows[other][i]) for i in range(6)]
        links = Constraints(pairs, apart)
        labels = PropagatedSpectralClustering(2, sigma=2.0, eps=0.3, random_state=0).fit_predict(
            X, constraints=links
        )
        y = np.isin(np.arange(120), np.r_[rows[0], rows[partner]])
        assert adjusted_rand_index(y, labels) == 1
