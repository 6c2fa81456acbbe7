"""Arrays of other libraries, and the operations on tensors that a device runs."""

import os
from contextlib import suppress
from unittest import SkipTest

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs

import linkwise
from linkwise import (
    CCSKL,
    ConstrainedPCA,
    ManifoldLayout,
    NormalizedCuts,
    PCKMeans,
    load,
    sample_pairs,
    save,
)
from linkwise.arrays import caller_of, door, take, to_host
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph import nearest_neighbours, neighbour_recall, symmetrise
from linkwise.kernel import fit_spectrum
from linkwise.linalg import largest_eigenpairs
from linkwise.linalg.subspace import filtered_subspace
from linkwise.partition.batched_starts import best_of_batch

torch = pytest.importorskip("torch", reason="needs torch")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[::2].astype(np.float32), y[::2]


@pytest.fixture(scope="module")
def links(digits):
    return sample_pairs(digits[1], 90, random_state=0)


def cloud(n, d, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


# whose arrays


def test_arrays_of_the_cpu_share_their_memory_with_numpy():
    X = torch.zeros((3, 2))
    take(X)[1, 1] = 5
    assert X[1, 1] == 5


def test_results_are_arrays_of_the_caller():
    given = caller_of(torch.zeros(2)).give(np.array([1, 2]))
    assert isinstance(given, torch.Tensor)
    assert given.tolist() == [1, 2]


@pytest.mark.parametrize("Estimator", [CCSKL, NormalizedCuts, PCKMeans])
def test_a_tensor_of_the_cpu_gives_the_labels_of_numpy(Estimator, digits, links):
    X, _ = digits
    T = torch.from_numpy(X)
    used = {} if Estimator is NormalizedCuts else {"constraints": links}
    by_numpy = Estimator(10, random_state=0).fit(X, **used)
    by_torch = Estimator(10, random_state=0).fit(T, **used)
    assert isinstance(by_torch.labels_, torch.Tensor)
    assert by_torch.labels_.dtype == torch.int64
    assert_array_equal(by_torch.labels_.numpy(), by_numpy.labels_)
    assert_array_equal(by_torch.predict(T + 1).numpy(), by_numpy.predict(X + 1))
    assert_array_equal(by_torch.refit(**used).labels_.numpy(), by_numpy.refit(**used).labels_)


def test_points_of_another_library_than_in_fit_are_refused(digits):
    X, _ = digits
    model = CCSKL(3, random_state=0).fit(torch.from_numpy(X))
    with pytest.raises(ValueError, match=r"CCSKL.predict\(\) must use the same namespace.*NumPy"):
        model.predict(X)
    model = CCSKL(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X is torch on cpu, and the model was fitted to NumPy"):
        model.predict(torch.from_numpy(X))


def test_a_file_for_the_labels_of_a_tensor_is_refused(digits, tmp_path):
    with pytest.raises(TypeError, match=r"out= writes a file of NumPy, and X is torch on cpu"):
        CCSKL(3).fit(torch.from_numpy(digits[0]), out=tmp_path / "labels.npy")


def test_a_map_of_tensors_is_that_of_numpy(digits, links):
    X, _ = digits
    T = torch.from_numpy(X)
    truth = ConstrainedPCA(3).fit(X, constraints=links)
    model = ConstrainedPCA(3).fit(T, constraints=links)
    assert isinstance(model.components_, torch.Tensor)
    assert_array_equal(model.transform(T).numpy(), truth.transform(X))
    with pytest.raises(ValueError, match="X is NumPy, and the model was fitted to torch on cpu"):
        model.transform(X)


def test_methods_of_the_cpu_refuse_a_device(on_device, digits):
    T = torch.from_numpy(digits[0])
    with pytest.raises(TypeError, match=r"PCKMeans computes on the CPU, and X is on cpu"):
        PCKMeans(3).fit(T)
    with pytest.raises(TypeError, match="affinity='heat' is computed on the CPU"):
        CCSKL(3, affinity="heat").fit(T)
    with pytest.raises(TypeError, match=r"ConstrainedPCA computes on the CPU, and X is on cpu"):
        ConstrainedPCA(2).fit(T)


def test_labels_and_constraints_on_a_device_are_refused(on_device, digits):
    X, y = digits
    pairs = torch.zeros((3, 2), dtype=torch.int64)
    for options in (
        {"constraints": (pairs, pairs)}, {"sample_id": torch.from_numpy(y)}, {"y": pairs},
    ):  # fmt: skip
        (name,) = options
        with pytest.raises(TypeError, match=rf"{name} has an array on cpu; .* as NumPy arrays"):
            CCSKL(3).fit(X, **options)
    model = CCSKL(3, random_state=0).fit(X)
    with pytest.raises(TypeError, match=r"constraints has an array on cpu"):
        model.refit({"must_link": pairs})


@pytest.mark.parametrize("assign", ["discretize", "kmeans", "qr"])
def test_normalised_cuts_of_tensors_are_those_of_numpy(on_device, digits, assign):
    X, _ = digits
    T = torch.from_numpy(X)
    truth = NormalizedCuts(10, assign=assign, random_state=0).fit(X)
    model = NormalizedCuts(10, assign=assign, random_state=0).fit(T)
    assert all(isinstance(A, torch.Tensor) for A in (model.labels_, model.embedding_))
    assert adjusted_rand_index(truth.labels_, model.labels_.numpy()) >= 0.95
    new = model.predict(T + 0.1).numpy()
    assert adjusted_rand_index(truth.predict(X + np.float32(0.1)), new) >= 0.95


def test_a_layout_of_tensors_comes_back_as_such(on_device, digits):
    X, _ = digits
    T = torch.from_numpy(X[:300])
    model = ManifoldLayout(n_steps=30, random_state=0)
    Y = model.fit_transform(T)
    assert isinstance(model.embedding_, torch.Tensor)
    assert Y.dtype == torch.float32
    assert torch.equal(model.transform(T), Y)
    assert model.transform(T[:20] + 0.1).shape == (20, 2)
    with pytest.raises(ValueError, match="X is NumPy, and the model was fitted to torch on cpu"):
        model.transform(X[:5])


@pytest.mark.parametrize(
    "model", [CCSKL(10, random_state=0), NormalizedCuts(10, assign="kmeans", random_state=0)]
)
def test_a_fit_on_a_named_device_gives_arrays_of_the_caller(on_device, digits, model, tmp_path):
    X, _ = digits
    on_tensors = clone(model).fit(torch.from_numpy(X))
    model.fit(X, device="cpu")  # which counts as a device here
    assert all(isinstance(A, np.ndarray) for A in (model.labels_, model.embedding_))
    assert isinstance(model.affinity_matrix_, sparse.csr_array)
    assert isinstance(model._fit_X, torch.Tensor)
    assert model.embedding_.dtype == X.dtype
    labels, new = model.labels_, model.predict(X + np.float32(0.1))
    assert_array_equal(labels, on_tensors.labels_.numpy())
    assert_array_equal(model.predict(X), labels)
    assert_array_equal(new, on_tensors.predict(torch.from_numpy(X) + 0.1).numpy())
    assert_array_equal(model.refit().labels_, labels)
    save(model, tmp_path / "model.lwmodel")
    again = load(tmp_path / "model.lwmodel")
    assert isinstance(again._fit_X, np.ndarray)
    assert adjusted_rand_index(again.predict(X + np.float32(0.1)), new) >= 0.99


def test_a_layout_on_a_named_device_gives_arrays_of_the_caller(on_device, digits):
    X, _ = digits
    model = ManifoldLayout(n_steps=30, random_state=0)
    Y = model.fit_transform(X[:300], device="cpu")
    assert isinstance(Y, np.ndarray)
    assert_array_equal(Y, ManifoldLayout(n_steps=30, random_state=0).fit_transform(
        torch.from_numpy(X[:300])
    ).numpy())  # fmt: skip
    assert isinstance(model.transform(X[:20] + 1), np.ndarray)


def test_a_device_that_cannot_be_used_is_refused(digits, tmp_path):
    X, _ = digits
    with pytest.raises(ValueError, match=r"device='gpu' cannot be used by torch .*leave device ou"):
        CCSKL(3).fit(X, device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device='cuda' cannot be used by torch"):
            ManifoldLayout().fit(X, device="cuda")
    with pytest.raises(TypeError, match=r"PCKMeans computes on the CPU, and device='cuda': leave"):
        PCKMeans(3).fit(X, device="cuda")
    with pytest.raises(TypeError, match="takes points in a dense array, and X is a csr_array"):
        CCSKL(3).fit(sparse.csr_array(X), device="cpu")
    with pytest.raises(TypeError, match="out= writes a file of NumPy, and device='cuda'"):
        CCSKL(3).fit(X, device="cuda", out=tmp_path / "labels.npy")


def test_two_devices_are_refused(on_device, digits):
    with pytest.raises(ValueError, match="X is on cpu, and device='cuda:1': leave device out"):
        CCSKL(3).fit(torch.from_numpy(digits[0]), device="cuda:1")


def test_labels_and_constraints_of_another_library_than_the_points_are_refused(digits):
    X, y = digits
    with pytest.raises(TypeError, match="sample_id has an array of torch on cpu, and X is NumPy"):
        CCSKL(3).fit(X, sample_id=torch.from_numpy(y))
    pairs = (torch.tensor([[0, 1]]), torch.tensor([[0, 2]]))
    with pytest.raises(TypeError, match="constraints has an array of torch on cpu, and X is Nu"):
        CCSKL(3).fit(X, constraints=pairs)
    assert len(CCSKL(3, random_state=0).fit(torch.from_numpy(X), constraints=pairs).labels_)


def test_points_on_a_device_are_checked(on_device):
    T = torch.ones((50, 3))
    T[7, 1] = torch.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        CCSKL(2).fit(T)
    with pytest.raises(ValueError, match=r"n_samples >= 2"):
        CCSKL(2).fit(torch.ones(5))
    with pytest.raises(TypeError, match="sparse tensor"):
        CCSKL(2).fit(torch.eye(5).to_sparse())
    with pytest.raises(ValueError, match="Complex"):
        CCSKL(2).fit(torch.ones((5, 2), dtype=torch.complex64))


# neighbours


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(700, 5), (400, 200), (40, 3)])
def test_the_exact_neighbours_are_those_of_numpy(n, d, dtype):
    X = cloud(n, d, dtype)
    ours = nearest_neighbours(torch.from_numpy(X), 10, search="exact")
    truth = nearest_neighbours(X.astype(np.float64), 10, search="exact")
    assert_array_equal(ours.indices.numpy(), truth.indices)
    assert_allclose(ours.distances.numpy(), truth.distances, rtol=1e-6)
    assert ours.distances.numpy().dtype == dtype


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_of_queries_are_those_of_numpy(metric):
    X, Q = cloud(500, 12), cloud(60, 12, seed=1)
    ours = nearest_neighbours(
        torch.from_numpy(X), 7, queries=torch.from_numpy(Q), metric=metric, search="exact"
    )
    truth = nearest_neighbours(X, 7, queries=Q, metric=metric, search="exact")
    assert_array_equal(ours.indices.numpy(), truth.indices)
    assert_allclose(ours.distances.numpy(), truth.distances, rtol=2e-5)


def test_the_approximate_search_measures_its_recall():
    X = torch.from_numpy(cloud(900, 30))
    found = nearest_neighbours(X, 10, search="approximate")
    assert found.recall == neighbour_recall(X, found) > 0.99


def test_groups_far_from_each_other_have_their_neighbours():
    """Products lose all digits there; the queries that may have missed one are searched again."""
    X = np.concatenate([1e-4 * cloud(150, 6), 1 + 1e-4 * cloud(150, 6, seed=1)]).astype(np.float64)
    ours = nearest_neighbours(torch.from_numpy(X), 8, search="exact")
    assert_array_equal(ours.indices.numpy(), nearest_neighbours(X, 8, search="exact").indices)


def test_equal_rows_are_neighbours_at_distance_zero():
    X = np.repeat(cloud(40, 4), 12, axis=0)
    found = nearest_neighbours(torch.from_numpy(X), 11, search="exact")
    assert not found.distances.any()
    assert_array_equal(
        found.indices.numpy() // 12,
        np.repeat(np.arange(40), 12)[:, None] + 0 * found.indices.numpy(),
    )


def test_memory_that_runs_out_makes_blocks_smaller():
    tools, done = door(torch.zeros(1)), []

    def work(part):
        if part.stop - part.start > 300:
            raise torch.OutOfMemoryError("too large")
        done.append(part)

    tools.in_blocks(work, 1000, 1000, instead="")
    assert [part.start for part in done] == [0, 256, 512, 768] or sum(
        part.stop - part.start for part in done
    ) == 1000


def test_too_little_memory_is_one_sentence():
    def work(part):
        raise torch.OutOfMemoryError("too large")

    with pytest.raises(MemoryError, match="too little memory for 256 of 1000 rows at a time: use"):
        door(torch.zeros(1)).in_blocks(work, 1000, 1000, instead="use fewer rows")


# graph, eigenvectors, k-means


def test_the_graph_is_that_of_numpy():
    found = nearest_neighbours(cloud(300, 4), 6)
    weights = np.exp(-found.distances) + cloud(300, 6) * 0.001  # not equal in both directions
    W = symmetrise(found.indices, weights)
    V = symmetrise(torch.from_numpy(found.indices), torch.from_numpy(weights))
    assert abs(to_host(V) - W).max() == 0
    root = np.random.default_rng(0).random(300).astype(np.float32)
    scaled = door(V).scaled(V, torch.from_numpy(root))
    assert_allclose(to_host(scaled).toarray(), root[:, None] * W.toarray() * root, rtol=1e-6)
    assert_allclose(door(V).row_sums(V).numpy(), W.sum(axis=1), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("edges", [0, 200, 400, 900])
def test_the_components_are_those_of_scipy(edges):
    rng = np.random.default_rng(edges)
    i, j = rng.integers(0, 500, (2, edges))
    W = sparse.csr_array((np.ones(edges), (i, j)), shape=(500, 500))
    W = sparse.csr_array(W + W.T)
    tensor = torch.sparse_csr_tensor(
        *(torch.from_numpy(part.astype(np.int64)) for part in (W.indptr, W.indices)),
        torch.from_numpy(W.data), (500, 500), check_invariants=True,
    )  # fmt: skip
    count, truth = connected_components(W, directed=False)
    ours = door(tensor).components(tensor).numpy()
    assert len(np.unique(ours)) == count == len(np.unique(np.stack([ours, truth]), axis=1).T)


def smooth_matrix(n):
    """Return a symmetric matrix with a few large eigenvalues, two of them equal."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate([[1, 0.97, 0.97, 0.9, 0.85], rng.uniform(-1, 0.8, n - 5)])
    return (Q * values) @ Q.T, Q, values


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_filtered_subspace_iteration_finds_the_largest_eigenpairs(dtype):
    S, Q, values = smooth_matrix(300)
    start = torch.randn((300, 17), dtype=dtype, generator=torch.Generator().manual_seed(0))
    S, U = torch.from_numpy(S).to(dtype), torch.from_numpy(Q[:, :1].copy()).to(dtype)
    found, V, good = filtered_subspace(S, U, start, 4, accuracy=1e-4, progress=lambda n: None)
    assert good
    assert_allclose(found, values[1:5], atol=1e-5)
    angles = np.linalg.svd(Q[:, 1:5].T @ V.double().numpy())[1]
    assert_allclose(angles, 1, atol=1e-5)


def test_eigenpairs_of_a_graph_are_those_of_the_cpu(digits, on_device):
    X = np.concatenate([digits[0], digits[0][:300] + 1000])  # two parts
    graph = linkwise.graph.build_affinity(X, "nearest_neighbors", n_neighbors=10, sigma="r")
    basis = linkwise.embedding.spectral_basis(graph.W, 12, np.random.default_rng(0))
    graph = linkwise.graph.build_affinity(
        torch.from_numpy(X), "nearest_neighbors", n_neighbors=10, sigma="r"
    )
    ours = linkwise.embedding.spectral_basis(graph.W, 12, np.random.default_rng(0))
    assert ours.parts == basis.parts == 2
    assert_allclose(ours.values.numpy(), basis.values, atol=1e-4)
    cosines = np.linalg.svd(basis.vectors[:, :11].T @ ours.vectors.numpy())[1]
    assert cosines.min() > 0.999


def test_small_eigenproblems_are_solved_by_lapack():
    S, _, values = smooth_matrix(60)
    found = largest_eigenpairs(torch.from_numpy(S), 3, rng=np.random.default_rng(0))
    assert_allclose(found.values.numpy(), values[:3], atol=1e-9)
    assert isinstance(found.vectors, torch.Tensor)


def test_batched_starts_are_as_good_as_those_of_scikit_learn():
    X, _ = make_blobs(600, 5, centers=12, cluster_std=2.0, random_state=0)
    narrow = X[:, :3].copy()
    found = best_of_batch(
        [torch.from_numpy(X), torch.from_numpy(narrow)], 12, n_init=10, rng=np.random.default_rng(0)
    )
    for Z, C in zip((X, narrow), found, strict=True):
        inertia = ((Z[:, None] - C.numpy()) ** 2).sum(axis=2).min(axis=1).sum()
        assert inertia <= 1.02 * KMeans(12, n_init=10, random_state=0).fit(Z).inertia_


def test_batched_starts_do_not_depend_on_their_number_of_steps_once_at_rest():
    X, _ = make_blobs(300, 4, centers=5, random_state=1)
    (C,) = best_of_batch([torch.from_numpy(X)], 5, n_init=4, rng=np.random.default_rng(0))
    label = ((X[:, None] - C.numpy()) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([X[label == c].mean(axis=0) for c in range(5)])
    assert_allclose(C.numpy(), means, atol=1e-4)


# the whole fit

VARIANTS = [
    {},
    {"sigma": "local"},
    {"affinity_params": {"metric": "cosine"}},
    {"affinity": "anchors", "affinity_params": {"n_anchors": 100}},
    {"affinity": "rbf"},
    {"affinity": "rbf", "sigma": "local"},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_fit_on_tensors_is_that_of_numpy(on_device, digits, links, options, tmp_path):
    X, _ = digits
    T = torch.from_numpy(X)
    truth = CCSKL(10, random_state=0, **options).fit(X, constraints=links)
    model = CCSKL(10, random_state=0, **options).fit(T, constraints=links)
    assert all(isinstance(A, torch.Tensor) for A in (model.labels_, model.embedding_))
    assert model.embedding_.dtype == torch.float32
    # anchors are drawn and moved in another order of rounding; on a dense graph k-means has several
    # optima of nearly equal inertia
    least = 0.95 if "affinity" in options else 0.99
    assert adjusted_rand_index(truth.labels_, model.labels_.numpy()) >= least
    assert torch.equal(model.predict(T), model.labels_)
    assert torch.equal(model.predict(T[5:9]), model.labels_[5:9])
    new = model.predict(T + 0.1).numpy()
    assert adjusted_rand_index(truth.predict(X + np.float32(0.1)), new) >= least
    labels = model.labels_
    assert torch.equal(model.refit(links).labels_, labels)

    save(model, tmp_path / "model.lwmodel")
    again = load(tmp_path / "model.lwmodel")
    assert isinstance(again.labels_, np.ndarray)
    assert_array_equal(again.labels_, labels.numpy())
    assert adjusted_rand_index(again.predict(X + np.float32(0.1)), new) >= 0.99


def test_the_spectrum_of_tensors_is_that_of_numpy(on_device, digits, links):
    X, _ = digits
    T, options = torch.from_numpy(X), {"normalize_rows": True, "diagonal": "paper"}
    truth = CCSKL(10, random_state=0, **options).fit(X, constraints=links)
    model = CCSKL(10, random_state=0, **options).fit(T, constraints=links)
    assert_allclose(model.spectrum_.numpy(), truth.spectrum_, rtol=1e-3, atol=1e-2)


def test_many_pairs_are_reduced_to_few_rows(on_device, digits):
    F = np.linalg.qr(cloud(500, 6, np.float64))[0]
    i, j = np.random.default_rng(0).integers(0, 500, (2, 4000))
    sign, weight = np.where(i % 3 == 0, 1, -1), np.random.default_rng(1).random(4000)
    truth = fit_spectrum(F, i, j, sign, weight, n_clusters=3)
    ours = fit_spectrum(torch.from_numpy(F), i, j, sign, weight, n_clusters=3)
    assert_allclose(ours, truth, rtol=1e-6)


def test_two_fits_on_tensors_are_equal(on_device, digits, links):
    T = torch.from_numpy(digits[0])
    first, second = (CCSKL(10, random_state=3).fit(T, constraints=links).labels_ for _ in range(2))
    assert torch.equal(first, second)


def test_without_constraints_a_fit_on_tensors_is_plain_spectral_clustering(on_device, digits):
    X, _ = digits
    model = CCSKL(10, random_state=0).fit(torch.from_numpy(X))
    assert model.view_ == "plain"
    truth = CCSKL(10, random_state=0).fit(X)
    assert adjusted_rand_index(truth.labels_, model.labels_.numpy()) >= 0.99


def test_limits_hold_on_a_device(on_device, digits):
    with (
        linkwise.blocks.limits(memory="100 kB"),
        pytest.raises(MemoryError, match="n_samples=899 needs about"),
    ):
        CCSKL(3).fit(torch.from_numpy(digits[0]))


@pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="scikit-learn needs SCIPY_ARRAY_API=1"
)
@pytest.mark.parametrize("name", [*linkwise.estimators.__all__, "LinkClustering"])
def test_scikit_learns_checks_of_the_array_api(name):
    from sklearn.utils.estimator_checks import _yield_array_api_checks

    pytest.importorskip("array_api_strict")
    estimator = getattr(linkwise, name)()
    assert estimator.__sklearn_tags__().array_api_support
    passed = []
    for check in _yield_array_api_checks(estimator):
        with suppress(SkipTest):  # a library or device that is not here
            check(name, estimator)
            passed.append(str(check.keywords))
    for library in ("torch", "array_api_strict"):
        assert any(library in keywords for keywords in passed)
