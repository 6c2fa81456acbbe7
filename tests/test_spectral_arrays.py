"""The spectral methods on tensors, and the operations on sparse graphs behind them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from linkwise import (
    ExhaustivePropagation,
    FlexibleSpectralClustering,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    load,
    sample_pairs,
    save,
)
from linkwise.arrays import host, to_host
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph.laplacians import component_vectors, degrees

torch = pytest.importorskip("torch", reason="needs torch")
tensors = pytest.importorskip("linkwise.arrays.tensors")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=6, return_X_y=True)
    return X[::2].astype(np.float32), y[::2]


def tensor_of(W):
    return tensors.like_graph(W, torch.zeros(1))


def signed_graph(n, edges, seed, share=0.3):
    """Return a symmetric csr_array, a share of whose entries are negative."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, edges))
    weight = rng.random(edges) * np.where(rng.random(edges) < share, -1, 1)
    W = sparse.csr_array((weight, (i, j)), shape=(n, n))
    return sparse.csr_array(W + W.T)


@pytest.mark.parametrize("share", [0, 0.02, 1])
@pytest.mark.parametrize("edges", [0, 60, 150])
def test_balanced_components_of_tensors_are_those_of_scipy(edges, share):
    W = signed_graph(100, edges, seed=edges, share=share)
    truth, count = component_vectors(W, degrees(W), 100)
    T = tensor_of(W)
    ours, also = component_vectors(T, degrees(T), 100)
    assert also == count == truth.shape[1]
    P, Q = truth.toarray(), ours.numpy()
    assert_allclose(Q @ Q.T, P @ P.T, atol=1e-12)  # components of one volume have any order


def test_fewer_component_vectors_are_those_of_the_largest():
    W = tensor_of(signed_graph(100, 80, seed=3, share=0))
    few, count = component_vectors(W, degrees(W), 2)
    assert few.shape == (100, 2)
    assert count > 2
    assert torch.equal(few, component_vectors(W, degrees(W), 100)[0][:, :2])


def test_changes_of_sparse_tensors_are_those_of_scipy():
    W, Q = signed_graph(40, 120, seed=0), signed_graph(40, 15, seed=1)
    T = tensor_of(W)
    assert_allclose(
        to_host(tensors.mixture(T, 0.3, Q, 0.7)).toarray(),
        host.mixture(W, 0.3, Q, 0.7).toarray(), atol=1e-15,
    )  # fmt: skip
    rows, columns = np.array([0, 3, 7, 39]), np.array([1, 3, 39, 7])
    values = np.array([2.0, 0.0, 5.0, 5.0])
    ours = to_host(tensors.with_entries(T, rows, columns, values))
    assert_array_equal(ours.toarray(), host.with_entries(W, rows, columns, values).toarray())
    assert np.all(ours.data)  # zeros are not stored
    slack = np.random.default_rng(2).random(40)
    assert_allclose(
        to_host(tensors.shifted(T, torch.from_numpy(slack), 1.7)).toarray(),
        host.shifted(W, slack, 1.7).toarray(), atol=1e-15,
    )  # fmt: skip
    assert_allclose(tensors.positive_mean(T), host.positive_mean(W))
    assert tensors.largest_entry(T) == host.largest_entry(W)
    assert_array_equal(to_host(tensors.like_graph(W, T)).toarray(), W.toarray())
    assert_array_equal(tensors.dense(tensors.times(T, 2.0)).numpy(), 2 * W.toarray())


def test_changes_of_dense_tensors_are_those_of_numpy():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 9))
    W, diagonal = A + A.T, rng.random(9)
    T, Q = torch.from_numpy(W), sparse.random_array((9, 9), density=0.3, rng=rng, format="csr")
    kept, places = T.clone(), (np.array([1, 4]), np.array([2, 0]), np.array([0.5, 0.0]))
    assert_allclose(tensors.mixture(T, 0.5, Q, 2.0).numpy(), host.mixture(W, 0.5, Q, 2.0))
    assert_array_equal(tensors.with_entries(T, *places).numpy(), host.with_entries(W, *places))
    assert_allclose(
        tensors.shifted(T, torch.from_numpy(diagonal), 3.0).numpy(), host.shifted(W, diagonal, 3.0)
    )
    assert_allclose(tensors.positive_mean(T), host.positive_mean(W))
    assert_allclose(tensors.squared_distances(T).numpy(), host.squared_distances(W), atol=1e-12)
    assert torch.equal(T, kept)


METHODS = [
    SignedSpectralClustering(6, random_state=0),
    SpectralLearning(6, random_state=0),
    SpectralLearning(6, normalization="additive", random_state=0),
    SpectralRegularization(6, random_state=0),
    ExhaustivePropagation(6, random_state=0),
    ExhaustivePropagation(6, reach="edges", random_state=0),
    PropagatedSpectralClustering(6, random_state=0),
]


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "anchors", "rbf"])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_method_on_tensors_is_that_of_numpy(on_device, digits, method, affinity, tmp_path):
    X, y = digits
    params = {"n_anchors": 100} if affinity == "anchors" else None
    model = clone(method).set_params(affinity=affinity, affinity_params=params)
    T, links = torch.from_numpy(X), sample_pairs(y, 100, random_state=0)
    if affinity not in model._on_device:
        with pytest.raises(TypeError, match=f"affinity='{affinity}' is computed on the CPU"):
            model.fit(T, constraints=links)
        return
    truth = clone(model).fit(X, constraints=links)
    model.fit(T, constraints=links)
    assert all(isinstance(A, torch.Tensor) for A in (model.labels_, model.embedding_))
    least = 0.95 if affinity == "rbf" else 0.99  # dense: several optima of nearly equal inertia
    assert adjusted_rand_index(truth.labels_, model.labels_.numpy()) >= least
    new = model.predict(T + 0.1)
    assert adjusted_rand_index(truth.predict(X + np.float32(0.1)), new.numpy()) >= least
    assert torch.equal(model.predict(T), model.labels_)
    save(model, tmp_path / "model.lwmodel")
    again = load(tmp_path / "model.lwmodel")
    assert isinstance(again.labels_, np.ndarray)
    assert adjusted_rand_index(again.predict(X + np.float32(0.1)), new.numpy()) >= 0.99
    labels = model.labels_
    assert torch.equal(model.refit(links).labels_, labels)


@pytest.mark.parametrize("two_way", ["auto", "first", "kmeans"])
def test_two_clusters_by_sign_on_tensors_are_those_of_numpy(on_device, digits, two_way):
    X, y = digits
    T, links = torch.from_numpy(X), sample_pairs(y > 2, 60, random_state=0)
    options = {"two_way": two_way, "scale_constraints": True, "random_state": 0}
    truth = SignedSpectralClustering(2, **options).fit(X, constraints=links)
    model = SignedSpectralClustering(2, **options).fit(T, constraints=links)
    assert adjusted_rand_index(truth.labels_, model.labels_.numpy()) >= 0.99
    new = model.predict(T + 0.1).numpy()
    assert adjusted_rand_index(truth.predict(X + np.float32(0.1)), new) >= 0.99


def test_dense_methods_refuse_a_device(on_device, digits):
    with pytest.raises(TypeError, match="FlexibleSpectralClustering computes on the CPU"):
        FlexibleSpectralClustering(3).fit(torch.from_numpy(digits[0]))
