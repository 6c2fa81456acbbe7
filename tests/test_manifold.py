"""Layouts of neighbour graphs, and the transformer."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from linkwise import Constraints, ManifoldLayout, load, save
from linkwise.blocks import executor, limits
from linkwise.embedding import layout, place
from linkwise.embedding.manifold import edges_of, moved
from linkwise.graph import NeighbourAffinity
from linkwise.plot import INK, draw_clusters, draw_links, draw_map
from linkwise.plot.maps import CANNOT, MUST


@pytest.fixture(scope="module")
def islands():
    """Three groups of 60 points on noisy circles, and their graph."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    angle = rng.uniform(0, 2 * np.pi, 180)
    X = np.column_stack((np.cos(angle), np.sin(angle), 3 * (y == 1), 3 * (y == 2)))
    X = (X + rng.normal(scale=0.05, size=X.shape)).astype(np.float32)
    return X, y, NeighbourAffinity(X, 10, "local")


def test_a_step_is_the_equation_point_by_point(rng):
    Y = rng.normal(size=(7, 3))
    W = sparse.csr_array(np.triu(rng.uniform(size=(7, 7)), 1))
    W = sparse.csr_array(W + W.T)
    drawn, push, h = Y[[1, 4, 4]], rng.uniform(size=7), 0.3
    found = moved(Y, edges_of(W, slice(0, 7)), Y, drawn, push, h)
    for i in range(7):
        q = 1 / (1 + ((Y[i] - Y) ** 2).sum(axis=1))
        c = 2 * W.toarray()[i] * q
        d2 = ((Y[i] - drawn) ** 2).sum(axis=1)
        r = 2 / ((1 / 16 + d2) * (1 + d2)) * push[i] / 3
        force = (c[:, None] * (Y - Y[i])).sum(axis=0) + (r[:, None] * (Y[i] - drawn)).sum(axis=0)
        assert_allclose(found[i], Y[i] + h * force / (1 + h * c.sum()), atol=1e-9)


def test_groups_become_islands(islands):
    _, y, graph = islands
    Y = layout(graph.W, 2, np.random.default_rng(0), order=graph.order)
    centres = np.array([Y[y == c].mean(axis=0) for c in range(3)])
    nearest = ((Y[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == y).mean() > 0.98
    assert Y.dtype == np.float32


def test_a_seed_gives_one_layout_whatever_the_threads(islands):
    graph = islands[2]
    once = layout(graph.W, 3, np.random.default_rng(1), steps=20)
    with executor("serial"):
        again = layout(graph.W, 3, np.random.default_rng(1), steps=20)
    assert_array_equal(once, again)


def test_the_order_only_speeds_it_up(islands):
    graph, shuffled = islands[2], np.random.default_rng(0).permutation(180)
    Y = layout(graph.W, 2, np.random.default_rng(0), order=shuffled, steps=50)
    assert np.isfinite(Y).all()
    assert Y.shape == (180, 2)


def test_new_points_land_on_their_island(islands):
    X, y, graph = islands
    Y = layout(graph.W, 4, np.random.default_rng(0))
    P, _ = graph.rows(X + np.float32(0.01))
    new = place(Y, P, float(np.median(graph.W.sum(axis=1))), np.random.default_rng(0))
    centres = np.array([Y[y == c].mean(axis=0) for c in range(3)])
    nearest = ((new[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == y).mean() > 0.98
    some = place(Y, P[50:70], float(np.median(graph.W.sum(axis=1))), np.random.default_rng(0))
    assert_allclose(some, new[50:70], atol=1e-3)  # whatever other points are placed


def test_blocks_leave_the_layout_as_it_is(islands, monkeypatch):
    X, _, graph = islands
    P = graph.rows(X + np.float32(0.01)).P

    def both():
        Y = layout(graph.W, 2, np.random.default_rng(1), steps=5)
        return np.vstack((Y, place(Y, P, 3.0, np.random.default_rng(1))))

    whole = both()
    monkeypatch.setattr("linkwise.arrays.host.rows_a_block", lambda like, n, size: 50)
    assert_allclose(both(), whole, atol=1e-3)


def test_an_interrupt_ends_a_layout(islands, monkeypatch):
    steps = []

    def interrupted(*arguments):
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return moved(*arguments)

    monkeypatch.setattr("linkwise.embedding.manifold.moved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        layout(islands[2].W, 2, np.random.default_rng(0))
    assert len(steps) == 3


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_points_have_a_layout_too(n):
    W = sparse.csr_array(np.ones((n, n)) - np.eye(n))
    Y = layout(W, 8, np.random.default_rng(0))
    assert Y.shape == (n, 8)
    assert np.isfinite(Y).all()


def test_points_without_edges_stay_finite():
    W = sparse.csr_array((6, 6))
    assert np.isfinite(layout(W, 2, np.random.default_rng(0), steps=30)).all()


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def model(digits):
    """A layout of every row of the digits but each fifth."""
    X, _ = digits
    return ManifoldLayout(random_state=0).fit(X[np.arange(len(X)) % 5 > 0])


def test_new_digits_land_among_their_kind(digits, model):
    X, y = digits
    new = np.arange(len(X)) % 5 == 0
    near = KNeighborsClassifier(5).fit(model.embedding_, y[~new])
    there = near.score(model.transform(X[new]), y[new])
    in_X = KNeighborsClassifier(5).fit(X[~new], y[~new]).score(X[new], y[new])
    assert there > 0.95
    assert there > in_X - 0.03


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("r", [2, 8])
def test_neighbours_of_digits_stay_neighbours(digits, seed, r):
    X, y = digits
    Y = ManifoldLayout(r, random_state=seed).fit_transform(X)
    near = KNeighborsClassifier(6).fit(Y, y).kneighbors(Y, return_distance=False)[:, 1:]
    assert (y[near] == y[:, None]).mean() > 0.95


def test_fitted_rows_keep_their_coordinates(digits, model):
    X, _ = digits
    fitted = X[np.arange(len(X)) % 5 > 0]
    assert_array_equal(model.transform(fitted), model.embedding_)
    assert_array_equal(model.transform(fitted[40:90]), model.embedding_[40:90])
    mixed = model.transform(np.vstack((X[:1], fitted[7:9])))
    assert_array_equal(mixed[1:], model.embedding_[7:9])
    assert_allclose(mixed[:1], model.transform(X[:1]), atol=1e-3)


def test_a_fit_is_one_function_of_points_and_seed(digits):
    X = digits[0][:300]
    model = ManifoldLayout(3, n_steps=30, random_state=5)
    once = model.fit_transform(X)
    assert_array_equal(once, clone(model).fit(X).embedding_)
    assert not np.allclose(once, ManifoldLayout(3, n_steps=30, random_state=6).fit_transform(X))
    assert_array_equal(model.transform(X[:9] + 1), model.transform(X[:9] + 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_points_have_the_layout_of_dense_ones(digits, dtype):
    X = digits[0][:300].astype(dtype)
    dense = ManifoldLayout(n_steps=50, random_state=0).fit(X)
    loose = ManifoldLayout(n_steps=50, random_state=0).fit(sparse.csr_array(X))
    assert dense.embedding_.dtype == loose.embedding_.dtype == dtype
    assert dense.transform(X[:3] + 1).dtype == dtype
    assert_array_equal(loose.transform(sparse.csr_array(X)), loose.embedding_)
    assert_allclose(loose.embedding_, dense.embedding_, atol=1e-3)  # pixels are whole numbers


def test_transform_gives_the_dtype_that_it_gets(digits, model):
    assert model.transform(digits[0][:4]).dtype == np.float32
    assert model.transform(digits[0][:4].astype(float)).dtype == np.float64


@pytest.mark.parametrize(
    "X",
    [
        np.ones((30, 3)),
        np.repeat(np.eye(3), 20, axis=0),
        np.array([[0.0, 1], [2, 1]]),
        np.column_stack((np.arange(9.0), np.zeros(9))),
    ],
    ids=["equal rows", "three rows repeated", "two rows", "constant column"],
)
def test_degenerate_points_have_a_layout(X):
    model = ManifoldLayout(3, random_state=0).fit(X)
    assert model.embedding_.shape == (len(X), 3)
    assert np.isfinite(model.embedding_).all()
    assert_array_equal(model.transform(X), model.embedding_)
    assert np.isfinite(model.transform(X + 100)).all()


def test_what_cannot_be_laid_out_is_refused(digits):
    X = digits[0][:50]
    with pytest.raises(ValueError, match="minimum of 2 is required by ManifoldLayout"):
        ManifoldLayout().fit(X[:1])
    with pytest.raises(ValueError, match="contains NaN"):
        ManifoldLayout().fit(np.where(X == 0, np.nan, X))
    with pytest.raises(ValueError, match="n_components"):
        ManifoldLayout(0).fit(X)
    with pytest.raises(ValueError, match="repulsion"):
        ManifoldLayout(repulsion=-1.0).fit(X)
    with pytest.raises(ValueError, match="50 features"):
        ManifoldLayout().fit(X).transform(X[:, :50])
    with limits(memory="20 kB"), pytest.raises(MemoryError, match="transform the rest"):
        ManifoldLayout().fit(X)
    with limits(seconds=1e-6), pytest.raises(TimeoutError, match="transform the rest"):
        ManifoldLayout().fit(X)


def test_the_estimate_of_memory_is_an_upper_bound(rng):
    X = rng.normal(size=(10_000, 10)).astype(np.float32)
    with limits(memory=1), pytest.raises(MemoryError) as refused:
        ManifoldLayout(n_steps=2).fit(X)
    told = float(str(refused.value).split("about ")[1].split(" MiB")[0]) * 2**20
    tracemalloc.start()
    try:
        ManifoldLayout(n_steps=2).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < told


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(digits, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    X = digits[0][:100]
    fresh, fitted = ManifoldLayout(), ManifoldLayout(n_steps=5, random_state=0).fit(X)
    monkeypatch.setattr("linkwise.estimators.manifold.layout", interrupted)
    for model in (fresh, fitted):
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :10])
    with pytest.raises(NotFittedError):
        fresh.transform(X)
    assert not hasattr(fresh, "n_features_in_")
    assert_array_equal(fitted.transform(X), fitted.embedding_)


def test_a_saved_layout_places_points_as_before(digits, model, tmp_path):
    X, _ = digits
    save(model, tmp_path / "map.lwmodel")
    again = load(tmp_path / "map.lwmodel")
    assert_array_equal(again.embedding_, model.embedding_)
    assert_array_equal(again.transform(X[:40]), model.transform(X[:40]))


def test_a_layout_of_a_data_frame_has_names(digits):
    frame = pd.DataFrame(digits[0][:60])
    frame.columns = [f"pixel {one}" for one in frame.columns]
    model = ManifoldLayout(n_steps=5, random_state=0).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["manifoldlayout0", "manifoldlayout1"]
    assert_array_equal(model.transform(frame), out)


def test_clusters_are_drawn_where_the_layout_puts_them(digits):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = digits[0][:200], digits[1][:200]
    figure, axes = plt.subplots()
    positions = draw_clusters(axes, X, y, wrong=y == 3, title="digits")
    assert_array_equal(positions, ManifoldLayout(random_state=0).fit_transform(X))
    right, wrong = axes.collections
    assert_allclose(right.get_offsets(), positions[y != 3])
    assert_allclose(wrong.get_offsets(), positions[y == 3])
    assert sorted(text.get_text() for text in axes.texts) == [str(c) for c in range(10)]
    plt.close(figure)


def test_links_on_a_map_join_their_ends():
    plt = pytest.importorskip("matplotlib.pyplot")
    positions = np.arange(10.0).reshape(5, 2)
    figure, axes = plt.subplots()
    draw_links(axes, positions, Constraints(must_link=[(0, 3)], cannot_link=[(1, 2), (4, 0)]))
    ends = [line.get_xydata() for line in axes.lines]
    assert_allclose(ends, positions[[[0, 3], [1, 2], [4, 0]]])
    assert [line.get_linestyle() for line in axes.lines] == ["-", ":", ":"]
    draw_links(axes, positions, Constraints())
    assert len(axes.lines) == 3
    plt.close(figure)


def test_links_by_id_that_labels_break_are_black():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    positions = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    links = Constraints([("a", "b")], [("a", "c"), ("b", "d")])
    figure, axes = pyplot.subplots()
    ids = ["a", "b", "c", "d"]
    draw_links(axes, positions, links, sample_id=ids, labels=[0, 0, 1, 0])
    drawn = {
        tuple(map(tuple, line.get_xydata())): (line.get_linestyle(), line.get_color())
        for line in axes.lines
    }
    assert drawn == {
        ((0, 0), (1, 0)): ("-", MUST),
        ((0, 0), (0, 1)): (":", CANNOT),
        ((1, 0), (1, 1)): (":", INK),
    }
    draw_map(axes, positions, [0, 0, 1, 0], links=Constraints([(0, 3)]))
    assert len(axes.lines) == 4
    pyplot.close(figure)
