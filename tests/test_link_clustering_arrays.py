"""LinkClustering and the layout on tensors, and the operations behind them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special
from sklearn.datasets import load_digits, load_wine

from benchmarks.quality.texts import topics
from linkwise import Constraints, LinkClustering, load, sample_pairs, save
from linkwise.arrays import host, to_host
from linkwise.class_models import make_views
from linkwise.class_models.beliefs import log_likelihood
from linkwise.class_models.pair_softmax import fit_pairs, fits_of
from linkwise.embedding import layout, place
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.partition.strays import distances

torch = pytest.importorskip("torch", reason="needs torch")
tensors = pytest.importorskip("linkwise.arrays.tensors")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X[::2].astype(np.float32), y[::2]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def symmetric(n):
    A = numbers(n, n)
    return A @ A.T + np.eye(n)


DENSE = {
    "beside": lambda t, A: t.beside((A(numbers(5, 2)), A(numbers(5, 3)))),
    "below": lambda t, A: t.below([A(numbers(5, 2)), A(numbers(3, 2))]),
    "softmax": lambda t, A: t.softmax(A(50 * numbers(6, 4))),
    "log_softmax": lambda t, A: t.log_softmax(A(50 * numbers(6, 4))),
    "inverse": lambda t, A: t.inverse(A(1 + numbers(4, 3) ** 2), 2.5),
    "squared_distances": lambda t, A: t.squared_distances(A(numbers(7, 3)), A(numbers(4, 3))),
    "kth_smallest": lambda t, A: t.kth_smallest(A(numbers(6, 9)), 3),
    "diagonal": lambda t, A: t.diagonal(A(numbers(2, 4, 4))),
    "class_scatters": lambda t, A: t.class_scatters(
        A(numbers(9, 2)), A(numbers(9, 3) ** 2), A(numbers(3, 2))
    ),
    "mahalanobis": lambda t, A: t.mahalanobis(
        A(numbers(9, 2)), A(numbers(3, 2)), A(np.tril(np.stack([symmetric(2)] * 3)))
    ),
    "one mahalanobis": lambda t, A: t.mahalanobis(
        A(numbers(9, 2)), A(numbers(3, 2)), A(np.tril(symmetric(2))[None])
    ),
    "row_products": lambda t, A: t.row_products(A(numbers(6, 3)), A(numbers(6, 3, seed=1))),
    "stacked": lambda t, A: t.stacked([A(numbers(2, 3)), A(numbers(4, 1))]),
    "partner_sums": lambda t, A: t.partner_sums(
        np.array([3, 0, 3, 1]), np.array([1, 4, 0, 1]), 5, A(numbers(1))
    )(A(numbers(4)), A(numbers(5, 2))),
    "eigenvalues": lambda t, A: t.eigh(A(symmetric(6)))[0],
    "ranks": lambda t, A: t.ranks(
        A(np.sort(numbers(9, 3).round(), axis=0)), A(numbers(20, 3, seed=1).round())
    ),
    "normal_quantiles": lambda t, A: t.normal_quantiles(A(np.linspace(0.01, 0.99, 30))),
    "row_totals": lambda t, A: t.row_totals(A(numbers(6, 3))),
    "rows_at": lambda t, A: t.rows_at(A(numbers(3, 2)), t.edge_owners(A(np.array([0, 2, 2, 5])))),
    "edge_sums": lambda t, A: t.edge_sums(
        A(numbers(5)), A(np.array([1, 0, 3, 3, 2])), A(np.array([0, 2, 2, 5])), A(numbers(4, 2))
    )[0],
    "sums of weights": lambda t, A: t.edge_sums(
        A(numbers(5)), A(np.array([1, 0, 3, 3, 2])), A(np.array([0, 2, 2, 5])), A(numbers(4, 2))
    )[1],
    "shared_counts": lambda t, A: t.shared_counts(
        [A(np.arange(12) % 3), A(np.arange(12) // 4), A(np.zeros(12, dtype=np.int64))]
    ),
}


@pytest.mark.parametrize("name", DENSE)
def test_operations_on_tensors_are_those_of_numpy(name):
    truth = DENSE[name](host, lambda A: A.copy())
    ours = DENSE[name](tensors, lambda A: torch.from_numpy(A.copy()))
    assert_allclose(np.asarray(ours), truth, rtol=1e-9, atol=1e-12)


def test_weights_between_labels_are_those_of_numpy():
    A, columns = np.maximum(numbers(20, 20), 0), np.tile(np.arange(20), (20, 1))
    W = sparse.csr_array(A)
    V = tensors.row_matrix(torch.from_numpy(columns), torch.from_numpy(A), 20)
    labels = np.arange(20) % 4
    truth = host.weights_between(W, labels, 5)
    assert_allclose(tensors.weights_between(V, torch.from_numpy(labels), 5), truth)


def test_leading_directions_span_those_of_numpy():
    X = numbers(300, 40) * np.r_[[9, 7, 5], np.full(37, 0.1)]
    ours = tensors.leading_directions(torch.from_numpy(X), 3, 0).numpy()
    assert_allclose(abs(ours.T @ host.leading_directions(X, 3, 0)), np.eye(3), atol=1e-6)


def test_a_layout_of_tensors_is_that_of_numpy(on_device, digits):
    X, _ = digits
    graph, ours = (
        NeighbourAffinity(X, 8, "local"),
        NeighbourAffinity(torch.from_numpy(X), 8, "local"),
    )
    rng = np.random.default_rng
    Y = layout(graph.W, 3, rng(0), steps=4)
    Z = layout(ours.W, 3, rng(0), steps=4).numpy()
    assert Z.dtype == np.float32
    # signs and order of eigenvectors of nearly equal eigenvalues may differ
    assert_allclose(np.linalg.norm(Z, axis=1), np.linalg.norm(Y, axis=1), rtol=0.02, atol=0.1)
    new = X[:9] + np.float32(0.5)
    placed = place(torch.from_numpy(Y), ours.rows(torch.from_numpy(new)).P, 3.0, rng(1))
    assert_allclose(placed.numpy(), place(Y, graph.rows(new).P, 3.0, rng(1)), rtol=1e-3, atol=1e-3)


def test_minima_of_several_functions_are_those_of_each():
    rng = np.random.default_rng(0)
    A = np.stack([rng.normal(size=(6, 6)) * scale for scale in (0.1, 1, 10)])
    A = A @ A.swapaxes(1, 2) + np.eye(6)
    b = rng.normal(size=(3, 6, 1))
    A, b = torch.from_numpy(A), torch.from_numpy(b)

    def objective(w):
        return torch.sum(w * (0.5 * A @ w - b), dim=(1, 2)), A @ w - b

    found = tensors.minima(objective, torch.zeros_like(b), steps=200, settled=0.0)
    assert_allclose(found.numpy(), torch.linalg.solve(A, b).numpy(), atol=1e-4)


def test_fits_of_tensors_in_a_batch_are_as_good_as_single_ones_of_numpy():
    rng = np.random.default_rng(0)
    points = [rng.normal(size=shape) for shape in ((40, 5), (30, 7), (40, 5))]
    links = [
        Constraints(must_link=ends[::2], cannot_link=ends[1::2])
        for ends in (rng.permutation(len(z)).reshape(-1, 2) for z in points)
    ]
    W_0 = [rng.normal(size=(z.shape[1], 3)) for z in points]

    def value(z, links, W, W_0):
        p = special.softmax(z @ W, axis=1)
        same = np.sum(p[links.ends[:, 0]] * p[links.ends[:, 1]], axis=1)
        return -log_likelihood(same, links.sign, 0.05).sum() + 1.5 * np.sum((W - W_0) ** 2)

    options = {"error": 0.05, "penalty": 3.0}
    batch = fits_of([torch.from_numpy(z) for z in points], links)
    first = tensors.stacked([torch.from_numpy(W) for W in W_0])
    ours = fit_pairs(batch, first, first, **options).numpy()
    for number, (z, one, W) in enumerate(zip(points, links, W_0, strict=True)):
        truth = fit_pairs(fits_of([z], [one]), W[None], W[None], **options)[0]
        least = value(z, one, truth, W)
        assert value(z, one, ours[number, : len(W)], W) <= least + 1e-3 * abs(least)


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_a_fit_of_tensors_is_as_good_as_that_of_numpy(on_device, wine, effort, tmp_path):
    X, y = wine
    T, links = torch.from_numpy(X), sample_pairs(y, 60, random_state=0)
    truth = LinkClustering(3, effort=effort, random_state=0).fit(X, constraints=links)
    model = LinkClustering(3, effort=effort, random_state=0).fit(T, constraints=links)
    for A in (model.labels_, model.probabilities_, model.suspicion_):
        assert isinstance(A, torch.Tensor)
    assert adjusted_rand_index(truth.labels_, model.labels_.numpy()) >= 0.9
    assert len(model.suspects_) == model.trusted(1.0).n_pairs == 60
    labels = model.labels_
    assert torch.equal(model.predict(T), labels)
    assert torch.equal(model.predict_proba(T), model.probabilities_)
    assert torch.equal(model.refit(links).labels_, labels)

    new = X[::3] * 1.01
    shares = model.predict_proba(torch.from_numpy(new)).numpy()
    assert_allclose(shares.sum(axis=1), 1)
    assert abs(shares - truth.predict_proba(new)).mean() < 0.05
    save(model, tmp_path / "model.lwmodel")
    again = load(tmp_path / "model.lwmodel")
    assert isinstance(again.labels_, np.ndarray)
    assert_array_equal(again.labels_, labels.numpy())
    assert_allclose(again.predict_proba(new), shares, atol=0.01)


def test_a_number_of_clusters_is_chosen_on_tensors(on_device, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    model = LinkClustering(effort="fast", random_state=0).fit(
        torch.from_numpy(X), constraints=links
    )
    assert model.n_clusters_ == 3
    plain = LinkClustering(effort="fast", random_state=0).fit(torch.from_numpy(X))
    truth = LinkClustering(effort="fast", random_state=0).fit(X)
    assert plain.n_clusters_ == truth.n_clusters_


def test_points_beyond_the_sample_are_placed_on_tensors(on_device, digits, monkeypatch):
    from linkwise.choice import link_clustering

    X, y = digits
    few = link_clustering.EFFORTS["fast"]._replace(rows=250)
    monkeypatch.setitem(link_clustering.EFFORTS, "fast", few)
    links = sample_pairs(y, 80, random_state=0)
    found = [
        LinkClustering(5, effort="fast", random_state=0).fit(A, constraints=links).labels_
        for A in (X, torch.from_numpy(X))
    ]
    truth, ours = (adjusted_rand_index(y, to_host(labels)) for labels in found)
    assert ours >= truth - 0.1


@pytest.mark.parametrize("rows", [20_000, 120])  # learnt from at most
def test_tensors_extend_a_clustering(on_device, digits, rows, monkeypatch, tmp_path):
    from linkwise.choice import link_clustering

    few = link_clustering.EFFORTS["fast"]._replace(rows=rows)
    monkeypatch.setitem(link_clustering.EFFORTS, "fast", few)
    X, y = digits
    links, more = (sample_pairs(y, m, random_state=m) for m in (60, 90))
    n = len(X) // 3
    known = links.restrict(np.arange(n))
    T = torch.from_numpy(X)
    model = LinkClustering(5, effort="fast", random_state=0).fit(T[:n], constraints=known)
    before = model.labels_
    model.extend(T[n : n + 50])  # the models stay, and place the new rows
    assert isinstance(model.labels_, torch.Tensor)
    assert isinstance(model.probabilities_, torch.Tensor)
    assert torch.equal(model.labels_[:n], before)
    model.extend(T[n + 50 :], constraints=more)  # the models are learnt again
    assert model.labels_.shape == y.shape
    truth = LinkClustering(5, effort="fast", random_state=0).fit(X[:n], constraints=known)
    truth.extend(X[n : n + 50]).extend(X[n + 50 :], constraints=more)
    ours, theirs = (adjusted_rand_index(y, to_host(one.labels_)) for one in (model, truth))
    assert ours >= theirs - 0.1
    assert torch.equal(model.predict(T), model.labels_)
    assert len(model.suspects_) == known.n_pairs + 90
    assert model.tree_.cut(6).shape == y.shape
    assert "clusters" in model.explain()
    save(model, tmp_path / "model.lwmodel")
    assert_array_equal(load(tmp_path / "model.lwmodel").labels_, model.labels_.numpy())


@pytest.mark.parametrize("outliers", ["auto", 0.05])
def test_strays_of_tensors_are_those_of_numpy(on_device, wine, outliers):
    X, y = wine
    X = np.concatenate([X, 40 * X[:3]])
    T, links = torch.from_numpy(X), sample_pairs(y, 60, random_state=0)
    how = {"effort": "fast", "outliers": outliers, "random_state": 0}
    truth = LinkClustering(3, **how).fit(X, constraints=links)
    model = LinkClustering(3, **how).fit(T, constraints=links)
    assert isinstance(model.labels_, torch.Tensor)
    assert (model.labels_[-3:] == -1).all()
    strays = model.labels_.numpy() == -1
    assert np.mean(strays == (truth.labels_ == -1)) > 0.97
    new = torch.from_numpy(np.concatenate([X[:20] * 1.01, 50 * X[:2]]))
    assert_array_equal(model.predict(new).numpy()[-2:], [-1, -1])
    assert model.predict_proba(new)[-1].sum() < 0.5 < model.predict_proba(new)[0].sum()


def test_distances_of_strays_are_those_of_numpy():
    X = np.random.default_rng(0).standard_normal((60, 4)) * [1, 5, 0, 2]
    T = torch.from_numpy(X)
    assert_allclose(distances(T).numpy(), distances(X))
    assert_allclose(distances(T, T[:9] + 1).numpy(), distances(X, X[:9] + 1))


def test_texts_are_those_of_numpy():
    X, _ = topics(0)
    both = make_views(X), make_views(torch.asarray(X))
    assert [one.name for one in both[1]] == [one.name for one in both[0]] == ["given", "cosines"]
    for view, tensor in zip(*both, strict=True):
        assert_allclose(to_host(tensor.X), view.X, atol=1e-10)


def test_whitened_views_are_those_of_numpy():
    X = numbers(60, 130) @ np.diag(1 / np.arange(1, 131)) @ numbers(130, 130, seed=1)
    both = make_views(X), make_views(torch.asarray(X))
    assert [one.name for one in both[1]] == [one.name for one in both[0]]
    for view, tensor in zip(*both, strict=True):
        if "whitened" in view.name:
            assert_allclose(to_host(tensor.X @ tensor.X.T), view.X @ view.X.T, atol=1e-5)


def test_a_graph_of_distinct_points_is_the_same_on_tensors():
    points = numbers(60, 3)
    X = points[np.random.default_rng(1).integers(60, size=900)]
    plain, given = (
        NeighbourAffinity(A, 10, "local", distinct=True).W for A in (X, torch.asarray(X))
    )
    assert_allclose(to_host(given).toarray(), plain.toarray(), atol=1e-6)
