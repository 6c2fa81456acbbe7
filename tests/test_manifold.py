"""Layouts of neighbour graphs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from linkwise.blocks import executor
from linkwise.embedding import layout, place
from linkwise.embedding.manifold import edges_of, moved
from linkwise.graph import NeighbourAffinity


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
    monkeypatch.setattr("linkwise.embedding.manifold.row_blocks", lambda n, width: [
        slice(start, min(start + 50, n)) for start in range(0, n, 50)
    ])  # fmt: skip
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
