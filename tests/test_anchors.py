"""Anchor graphs: every method on them equals the method on the dense matrix they stand for."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons

from linkwise import (
    CCSKL,
    Constraints,
    ExhaustivePropagation,
    NormalizedCuts,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    sample_pairs,
)
from linkwise.blocks import executor
from linkwise.embedding.signed import mix_constraints
from linkwise.embedding.spectral import additive_basis, extend, spectral_basis
from linkwise.estimators.ccskl import chosen_view
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph.anchors import AnchorAffinity
from linkwise.kernel.imposition import impose

EXACT = [CCSKL, NormalizedCuts, SignedSpectralClustering, SpectralLearning, SpectralRegularization]
EVERY = [*EXACT, ExhaustivePropagation, PropagatedSpectralClustering]
OPTIONS = {"affinity": "anchors", "affinity_params": {"n_anchors": 60, "n_nearest": 4}}
exact = pytest.mark.parametrize("Estimator", EXACT)
every = pytest.mark.parametrize("Estimator", EVERY)
pytestmark = pytest.mark.filterwarnings("ignore:NormalizedCuts does not use")


@pytest.fixture(scope="module")
def points():
    return make_blobs(400, 5, centers=4, cluster_std=3, random_state=0)


@pytest.fixture(scope="module")
def links(points):
    return sample_pairs(points[1], 60, random_state=0)


@pytest.fixture(scope="module")
def graph(points):
    rng = np.random.default_rng(0)
    return AnchorAffinity(points[0], n_anchors=60, n_nearest=4, sigma="r", rng=rng)


def test_weights_follow_the_definition(points, graph):
    X, U = points[0], graph.anchors
    D = np.linalg.norm(X[:, None] - U, axis=2)
    Z = np.where(
        np.argsort(np.argsort(D, axis=1), axis=1) < 4, np.exp(-0.5 * (D / graph.sigma) ** 2), 0
    )
    Z /= Z.sum(axis=1, keepdims=True)
    assert_allclose(graph.Z[slice(0, 400)].toarray(), Z, atol=1e-9)
    W = Z / Z.sum(axis=0) @ Z.T
    assert_allclose(graph.W.toarray(), W, atol=1e-9)
    assert_allclose(W.sum(axis=1), 1)


def same_spaces(basis, dense, m):
    V = np.asarray(basis.vectors)
    assert_allclose(basis.values, dense.values, atol=1e-8)
    assert_allclose(V.T @ V, np.eye(m), atol=1e-6)
    assert_allclose(np.abs(V.T @ dense.vectors), np.eye(m), atol=1e-5)


@pytest.mark.parametrize("function", [spectral_basis, additive_basis])
def test_eigenvectors_are_those_of_the_dense_matrix(function, graph, links, rng):
    i, j, sign, _ = links.arrays()
    W, Q = graph.W.toarray(), links.matrix(400)
    same_spaces(function(graph.W, 6, rng), function(W, 6, rng), 6)
    same_spaces(
        function(impose(graph.W, i, j, sign), 6, rng), function(impose(W, i, j, sign), 6, rng), 6
    )
    if function is spectral_basis:
        mixed = mix_constraints(graph.W, Q, 0.4), mix_constraints(W, Q, 0.4)
        assert_allclose(mixed[0].toarray(), mixed[1])
        same_spaces(*(spectral_basis(M, 6, rng) for M in mixed), 6)


def test_many_touched_points_take_the_iterative_way(graph, links, rng, monkeypatch):
    Q = links.matrix(400)
    dense = spectral_basis(mix_constraints(graph.W.toarray(), Q, 0.5), 5, rng)
    monkeypatch.setattr("linkwise.embedding.anchored.DENSE", 10)
    monkeypatch.setattr("linkwise.linalg.eigen.DENSE_LIMIT", 10)
    same_spaces(spectral_basis(mix_constraints(graph.W, Q, 0.5), 5, rng), dense, 5)


def test_the_map_of_new_points_is_that_of_given_ones(points, graph, rng):
    basis = spectral_basis(graph.W, 5, rng)
    assert_allclose(extend(basis, *graph.rows(points[0])), np.asarray(basis.vectors), atol=1e-12)


@exact
@pytest.mark.parametrize("constrained", [False, True])
def test_every_method_equals_itself_on_the_dense_matrix(Estimator, constrained, points, links):
    given = links if constrained else None
    model = Estimator(4, random_state=0, **OPTIONS).fit(points[0], constraints=given)
    W = model._graph_.W.toarray()
    dense = Estimator(4, affinity="precomputed", random_state=0).fit(W, constraints=given)
    assert adjusted_rand_index(model.labels_, dense.labels_) > 0.99


@every
def test_predict_is_the_same_map(Estimator, points, links):
    X = points[0]
    model = Estimator(4, random_state=0, **OPTIONS).fit(X, constraints=links)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict(X[37:90]), model.labels_[37:90])
    assert set(model.predict(np.full((2, 5), 1e5))) <= set(range(4))
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X[:20] + 0.01), model.predict(X[:20] + 0.01))


@every
def test_rows_in_a_file_are_rows(Estimator, points, links, tmp_path):
    X = points[0].astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    model = Estimator(4, random_state=0, **OPTIONS)
    from_file = model.fit_predict(
        str(tmp_path / "X.npy"), constraints=links, out=tmp_path / "l.npy"
    )
    assert isinstance(from_file, np.memmap)
    assert_array_equal(np.load(tmp_path / "l.npy"), from_file)
    assert_array_equal(model.predict(tmp_path / "X.npy", out=tmp_path / "p.npy"), from_file)
    in_memory = Estimator(4, random_state=0, **OPTIONS).fit_predict(X, constraints=links)
    assert adjusted_rand_index(from_file, in_memory) > 0.6  # other anchors: rows drawn by number


class Sliced:
    """The least that rows must be: a shape, a dtype, and slicing."""

    def __init__(self, X):
        self._X, self.shape, self.dtype = X, X.shape, X.dtype

    def __getitem__(self, part):
        return self._X[part]


def test_any_object_with_row_slicing_will_do(points, links):
    model = CCSKL(4, random_state=0, **OPTIONS)
    labels = model.fit_predict(Sliced(points[0]), constraints=links)
    assert adjusted_rand_index(labels, points[1]) > 0.6
    assert_array_equal(model.predict(Sliced(points[0])), labels)


@every
def test_refit_gives_what_fit_gives(Estimator, points, links):
    X = points[0]
    fresh = Estimator(4, random_state=0, **OPTIONS).fit(X, constraints=links)
    model = Estimator(4, random_state=0, **OPTIONS).fit(X, constraints=links.select(np.arange(9)))
    assert_array_equal(model.refit(links).labels_, fresh.labels_)
    assert model.violations_ == fresh.violations_


def test_threads_and_order_of_rows_do_not_matter(points, links, rng):
    X = points[0]
    with executor("serial"):
        serial = CCSKL(4, random_state=0, **OPTIONS).fit_predict(X, constraints=links)
    threads = CCSKL(4, random_state=0, **OPTIONS).fit_predict(X, constraints=links)
    assert_array_equal(serial, threads)
    p = rng.permutation(400)
    place = np.argsort(p)
    a, b, sign, weight = links.arrays()
    moved = Constraints.from_table(np.stack([place[a], place[b], sign, weight], axis=1))
    shuffled = CCSKL(4, random_state=0, **OPTIONS).fit_predict(X[p], constraints=moved)
    assert adjusted_rand_index(serial[p], shuffled) > 0.98


def test_float32_stays_float32_and_large_z_goes_to_a_scratch_file(points, links, monkeypatch):
    monkeypatch.setattr("linkwise.graph.anchors.IN_MEMORY", 0)
    monkeypatch.setattr("linkwise.embedding.anchored.IN_MEMORY", 0)
    model = CCSKL(4, random_state=0, **OPTIONS).fit(points[0].astype(np.float32), constraints=links)
    assert isinstance(model._graph_.Z.weights, np.memmap)
    assert not isinstance(model.embedding_, np.ndarray)
    assert np.asarray(model.embedding_).dtype == np.float32
    assert model.embedding_.shape == (400, len(model.embedding_[:1][0]))
    small = CCSKL(4, random_state=0, **OPTIONS)
    monkeypatch.undo()
    assert_array_equal(
        small.fit_predict(points[0].astype(np.float32), constraints=links), model.labels_
    )


@every
@pytest.mark.parametrize("told", [False, True])
def test_vectors_of_float32_points_are_float32(Estimator, points, links, told):
    X = points[0].astype(np.float32)
    model = Estimator(4, random_state=0, **OPTIONS).fit(X, constraints=links if told else None)
    assert np.asarray(model.embedding_).dtype == np.float32


@every
@pytest.mark.filterwarnings("ignore::linkwise.exceptions.ConstraintWarning")
@pytest.mark.filterwarnings("ignore::linkwise.exceptions.ConvergenceWarning")
def test_links_between_equal_points_are_kept(Estimator):
    """Whether equal points are one cluster or two is left to rounding."""
    links = Constraints([(0, 29), (1, 2)])
    model = Estimator(2, random_state=0, affinity="anchors").fit(
        np.ones((30, 3)), constraints=links
    )
    assert model.violations_ == []


def test_moons_are_found_through_anchors():
    X, y = make_moons(3000, noise=0.05, random_state=0)
    links = sample_pairs(y, 100, random_state=0)
    for Estimator in (CCSKL, SpectralRegularization, SpectralLearning, ExhaustivePropagation):
        model = Estimator(2, affinity="anchors", affinity_params={"n_anchors": 200}, random_state=0)
        assert adjusted_rand_index(model.fit(X, constraints=links).labels_, y) > 0.95


@pytest.mark.parametrize("where", [0, 399])
def test_bad_rows_are_named(points, where, tmp_path):
    X = points[0].copy()
    X[where, 2] = np.nan
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=f"NaN or infinity: row {where}, column"):
        CCSKL(4, **OPTIONS).fit(tmp_path / "X.npy", out=tmp_path / "labels.npy")
    assert not (tmp_path / "labels.npy").exists()


def test_bad_input_is_refused(points, tmp_path):
    X = points[0]
    for params, words in (
        ({"n_anchors": 0}, "whole number >= 1; got 0"),
        ({"anchors": 5}, "'n_anchors', 'n_nearest'; got 'anchors'"),
    ):
        with pytest.raises(ValueError, match=words):
            CCSKL(4, affinity="anchors", affinity_params=params).fit(X)
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="must be numbers of shape"):
        CCSKL(4, **OPTIONS).fit(tmp_path / "words.npy")
    model = CCSKL(4, **OPTIONS).fit(X)
    np.save(tmp_path / "narrow.npy", X[:, :3])
    with pytest.raises(ValueError, match="3 features, but CCSKL is expecting 5"):
        model.predict(tmp_path / "narrow.npy")
    with pytest.raises(ValueError, match="n_clusters=4 is more than n_samples=3"):
        CCSKL(4, **OPTIONS).fit(X[:3])
    with pytest.raises(TypeError, match="dense"):
        CCSKL(4, **OPTIONS).fit(sparse.csr_array(X))


def test_fewer_distinct_points_than_anchors_will_do():
    X = np.repeat(np.arange(6.0)[:, None], 50, axis=0) * [1, 2]
    labels = CCSKL(6, affinity="anchors", random_state=0).fit_predict(X)
    assert adjusted_rand_index(labels, np.repeat(np.arange(6), 50)) == 1


@pytest.mark.parametrize("n", [50, 400])
def test_a_lone_must_link_does_not_leave_one_cluster(n):
    X = np.random.default_rng(0).standard_normal((n, 3))  # one cloud: any cut is as good
    links = Constraints(must_link=[(0, 1)])
    model = CCSKL(2, affinity="anchors", affinity_params={"n_anchors": 20}, random_state=0)
    assert len(np.unique(model.fit(X, constraints=links).labels_)) == 2


def test_a_view_with_fewer_clusters_does_not_count():
    evidence = np.array([8.0, 4.0, 0.0])
    assert chosen_view(evidence, np.array([1, 2, 2])) == 1
    assert chosen_view(evidence, np.array([2, 2, 2])) == 0
    assert chosen_view(evidence, np.array([1, 1, 2])) == 2
    assert chosen_view(np.ones(3), np.array([2, 2, 2])) == 2  # of equals the plain one
