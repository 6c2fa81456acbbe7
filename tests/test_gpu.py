"""What a GPU computes is what the CPU computes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits

import linkwise
from linkwise import (
    CCSKL,
    ExhaustivePropagation,
    LinkClustering,
    ManifoldLayout,
    NormalizedCuts,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    load,
    sample_pairs,
    save,
)
from linkwise.embedding import spectral_basis
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph import build_affinity, nearest_neighbours

torch = pytest.importorskip("torch", reason="needs torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]


def cloud(n, d, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


@pytest.mark.parametrize("three", [True, False])
@pytest.mark.parametrize(("n", "d"), [(1000, 5), (3001, 60), (700, 300)])
def test_kernels_equal_plain_torch(n, d, three, monkeypatch):
    from linkwise.arrays import products

    if products.kernels is None:
        pytest.skip("needs triton")
    X = torch.from_numpy(cloud(n, d)).cuda()
    X /= torch.linalg.vector_norm(X, dim=1).max()
    factor = products.factor_points(X, three=three)
    left = products.factor_queries(X, factor)
    columns = torch.randint(0, len(factor.columns), (n, 70), device="cuda")
    minima = products.least_of_groups(left, factor)
    distances = products.distances_to(X, X, columns, torch.float64)
    single = products.distances_to(X, X, columns, torch.float32)
    monkeypatch.setattr(products, "kernels", None)
    assert_allclose(minima.cpu(), products.least_of_groups(left, factor).cpu(), atol=2e-6)
    truth = products.distances_to(X, X, columns, torch.float64).cpu()
    assert_allclose(distances.cpu(), truth, rtol=1e-12)
    assert_allclose(single.cpu(), truth, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(5000, 3), (20_000, 40), (4000, 500), (60, 4)])
def test_exact_neighbours_are_those_of_float64_on_the_cpu(n, d, dtype):
    X = cloud(n, d, dtype)
    ours = nearest_neighbours(torch.from_numpy(X).cuda(), 15, search="exact")
    truth = nearest_neighbours(X.astype(np.float64), 15, search="exact")
    assert_array_equal(ours.indices.cpu(), truth.indices)
    assert_allclose(ours.distances.cpu(), truth.distances, rtol=1e-6)


def test_groups_far_from_each_other_have_their_neighbours():
    X = np.concatenate([1e-5 * cloud(900, 6), 1 + 1e-5 * cloud(900, 6, seed=1)]).astype(np.float64)
    ours = nearest_neighbours(torch.from_numpy(X).cuda(), 8, search="exact")
    assert_array_equal(ours.indices.cpu(), nearest_neighbours(X, 8, search="exact").indices)


def test_eigenpairs_are_those_of_the_cpu(digits):
    X, _ = digits
    options = {"n_neighbors": 10, "sigma": "r"}
    graph = build_affinity(X, "nearest_neighbors", **options)
    basis = spectral_basis(graph.W, 12, np.random.default_rng(0))
    graph = build_affinity(torch.from_numpy(X).cuda(), "nearest_neighbors", **options)
    ours = spectral_basis(graph.W, 12, np.random.default_rng(0))
    assert_allclose(ours.values.cpu(), basis.values, atol=1e-4)
    cosines = np.linalg.svd(basis.vectors[:, :11].T @ ours.vectors.cpu().numpy())[1]
    assert cosines.min() > 0.999


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "anchors", "rbf"])
def test_a_fit_is_that_of_the_cpu(digits, affinity, dtype, tmp_path):
    X, y = digits
    X = X.astype(dtype)
    T = torch.from_numpy(X).cuda()
    links = sample_pairs(y, 180, random_state=0)
    truth = CCSKL(10, affinity=affinity, random_state=0).fit(X, constraints=links)
    model = CCSKL(10, affinity=affinity, random_state=0).fit(T, constraints=links)
    assert model.labels_.device == T.device
    assert model.embedding_.device == T.device
    assert model.embedding_.dtype == T.dtype
    least = 0.99 if affinity == "nearest_neighbors" else 0.9
    assert adjusted_rand_index(truth.labels_, model.labels_.cpu().numpy()) >= least
    assert torch.equal(model.predict(T), model.labels_)
    again = CCSKL(10, affinity=affinity, random_state=0).fit(T, constraints=links)
    assert torch.equal(again.labels_, model.labels_)
    assert torch.equal(model.refit(links).labels_, again.labels_)

    new = model.predict(T + 0.1).cpu().numpy()
    save(model, tmp_path / "model.lwmodel")
    loaded = load(tmp_path / "model.lwmodel")
    assert isinstance(loaded.labels_, np.ndarray)
    assert adjusted_rand_index(loaded.predict(X + dtype(0.1)), new) >= 0.99


def test_a_fit_of_link_clustering_is_as_good_as_that_of_the_cpu(digits, tmp_path):
    X, y = digits
    T, links = torch.from_numpy(X).cuda(), sample_pairs(y, 300, random_state=0)
    truth = LinkClustering(10, random_state=0).fit(X, constraints=links)
    model = LinkClustering(10, random_state=0).fit(T, constraints=links)
    assert model.labels_.device == model.probabilities_.device == T.device
    good = adjusted_rand_index(y, truth.labels_)
    assert adjusted_rand_index(y, model.labels_.cpu().numpy()) >= good - 0.03
    assert torch.equal(model.predict(T), model.labels_)
    again = LinkClustering(10, random_state=0).fit(T, constraints=links)
    assert torch.equal(again.labels_, model.labels_)
    assert torch.equal(again.probabilities_, model.probabilities_)
    assert torch.equal(model.refit(links).labels_, again.labels_)

    new = model.predict(T + 0.1).cpu().numpy()
    save(model, tmp_path / "model.lwmodel")
    loaded = load(tmp_path / "model.lwmodel")
    assert isinstance(loaded.labels_, np.ndarray)
    assert adjusted_rand_index(loaded.predict(X + np.float32(0.1)), new) >= 0.98


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("b", [3, 40, 200])
def test_sparse_products_are_those_of_scipy_and_reproducible(b, dtype):
    found = nearest_neighbours(cloud(700, 4), 6)
    W = linkwise.graph.symmetrise(found.indices, np.exp(-found.distances))
    V = torch.from_numpy(cloud(700, b)).to("cuda", dtype)
    S = linkwise.graph.symmetrise(
        torch.from_numpy(found.indices).cuda(),
        torch.from_numpy(np.exp(-found.distances)).to("cuda", dtype),
    )
    tools = linkwise.arrays.door(V)
    product = tools.product(S, V)
    assert_allclose(product.cpu(), W @ V.cpu().numpy(), rtol=1e-4, atol=1e-5)
    assert torch.equal(tools.product(S, V), product)
    step = tools.chebyshev_step(S, V, 2 * V, 3.0, 0.5)
    assert_allclose(step.cpu(), (3 * product - 2.5 * V).cpu(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("assign", ["discretize", "kmeans", "qr"])
def test_normalised_cuts_are_those_of_the_cpu(digits, assign):
    X, _ = digits
    truth = NormalizedCuts(10, assign=assign, random_state=0).fit(X)
    model = NormalizedCuts(10, assign=assign, random_state=0).fit(torch.from_numpy(X).cuda())
    assert adjusted_rand_index(truth.labels_, model.labels_.cpu().numpy()) >= 0.95


METHODS = [
    SignedSpectralClustering(10, random_state=0),
    SpectralLearning(10, random_state=0),
    SpectralLearning(10, normalization="additive", random_state=0),
    SpectralRegularization(10, n_init=50, random_state=0),  # of 10 starts few find the optimum
    ExhaustivePropagation(10, random_state=0),
    ExhaustivePropagation(10, reach="edges", random_state=0),
    PropagatedSpectralClustering(10, affinity="anchors", random_state=0),
]


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "anchors", "rbf"])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_other_spectral_methods_are_those_of_the_cpu(digits, method, affinity):
    X, y = digits
    if affinity not in method._on_device:
        pytest.skip("computed on the CPU")
    model = clone(method).set_params(affinity=affinity)
    T, links = torch.from_numpy(X).cuda(), sample_pairs(y, 180, random_state=0)
    truth = clone(model).fit(X, constraints=links)
    model.fit(T, constraints=links)
    assert model.labels_.device == model.embedding_.device == T.device
    least = 0.98 if affinity == "nearest_neighbors" else 0.9
    assert adjusted_rand_index(truth.labels_, model.labels_.cpu().numpy()) >= least
    again = clone(model).fit(T, constraints=links)
    assert torch.equal(again.labels_, model.labels_)
    new = model.predict(T + 0.1).cpu().numpy()
    assert adjusted_rand_index(truth.predict(X + np.float32(0.1)), new) >= least


@pytest.mark.parametrize("method", [CCSKL(10), NormalizedCuts(10), LinkClustering(10)], ids=str)
def test_a_fit_with_device_gives_arrays_of_numpy(digits, method, tmp_path):
    X, y = digits
    options = {} if isinstance(method, NormalizedCuts) else {
        "constraints": sample_pairs(y, 180, random_state=0)
    }  # fmt: skip
    truth = clone(method).set_params(random_state=0).fit(torch.from_numpy(X).cuda(), **options)
    model = clone(method).set_params(random_state=0).fit(X, device="cuda", **options)
    assert isinstance(model.labels_, np.ndarray)
    assert model._fit_X.is_cuda
    assert_array_equal(model.labels_, truth.labels_.cpu())
    new = model.predict(X + np.float32(0.1))
    assert_array_equal(new, truth.predict(torch.from_numpy(X).cuda() + 0.1).cpu())
    save(model, tmp_path / "model.lwmodel")
    loaded = load(tmp_path / "model.lwmodel").predict(X + np.float32(0.1))
    assert adjusted_rand_index(loaded, new) >= 0.98


def test_a_layout_with_device_gives_arrays_of_numpy(digits):
    X, _ = digits
    model = ManifoldLayout(random_state=0)
    assert isinstance(model.fit_transform(X, device="cuda"), np.ndarray)
    assert isinstance(model.transform(X[:9] + 1), np.ndarray)


def test_layouts_are_reproducible_and_place_new_points(digits):
    X, _ = digits
    T = torch.from_numpy(X).cuda()
    model = ManifoldLayout(random_state=0).fit(T)
    assert torch.equal(ManifoldLayout(random_state=0).fit_transform(T), model.embedding_)
    assert torch.equal(model.transform(T), model.embedding_)
    assert bool(torch.isfinite(model.transform(T + 0.1)).all())


def test_constraints_on_a_device_are_refused(digits):
    pairs = torch.zeros((3, 2), dtype=torch.int64, device="cuda")
    with pytest.raises(TypeError, match="constraints has an array on cuda"):
        LinkClustering(3).fit(digits[0], constraints=(pairs, pairs))


def test_points_on_another_device_than_in_fit_are_refused(digits):
    T = torch.from_numpy(digits[0])
    model = CCSKL(3, random_state=0).fit(T.cuda())
    with pytest.raises(
        ValueError, match=r"X is torch on cpu, and the model was fitted to torch on"
    ):
        model.predict(T)


def test_arrays_of_cupy_come_back_as_such(digits):
    cupy = pytest.importorskip("cupy")
    X = cupy.asarray(digits[0])
    model = CCSKL(10, random_state=0).fit(X)
    assert isinstance(model.labels_, cupy.ndarray)
    assert isinstance(model.predict(X + 0.1), cupy.ndarray)


def test_too_little_memory_is_one_sentence():
    X = torch.zeros((1 << 20, 4), device="cuda")
    with (
        linkwise.blocks.limits(memory="1 MB"),
        pytest.raises(MemoryError, match="n_samples=1048576 needs about"),
    ):
        CCSKL(3).fit(X)
