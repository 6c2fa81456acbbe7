"""Laws of rows that belong to no cluster."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs

from linkwise import Constraints, LinkClustering, load, save
from linkwise.cli import main
from linkwise.partition.strays import distances, find_strays


def planted(n=80, noise=6):
    X, y = make_blobs(n, 2, centers=[[0, 0], [12, 12]], cluster_std=0.7, random_state=0)
    far = np.random.default_rng(0).uniform(-12, 24, (4 * noise, 2))
    gap = np.minimum(np.linalg.norm(far, axis=1), np.linalg.norm(far - 12, axis=1))
    far = far[np.argsort(-gap)[:noise]]
    return np.r_[X, far], np.r_[y, np.full(noise, -1)]


X, y = planted()


def fitted(outliers, **more):
    return LinkClustering(2, effort="fast", outliers=outliers, random_state=0).fit(X, **more)


def alone(n):
    return np.arange(n)


@given(st.integers(0, 10**6), st.floats(0, 0.9))
def test_a_share_is_that_of_the_farthest_rows(seed, share):
    rng = np.random.default_rng(seed)
    r, labels = rng.random(30) + 0.1, rng.integers(0, 3, 30)
    rule, far = find_strays(r, labels, 3, alone(30), share)
    assert far.sum() == round(share * 30)
    chance = rule.probability(r, labels)
    if far.any():
        assert chance[far].min() >= 0.5 - 1e-9
        assert chance[~far].max() <= 0.5 + 1e-9


@given(st.integers(0, 10**6), st.one_of(st.floats(0, 0.9), st.just("auto")))
def test_rows_of_one_group_are_strays_together_or_not_at_all(seed, outliers):
    rng = np.random.default_rng(seed)
    r, labels, group = rng.exponential(size=30), rng.integers(0, 3, 30), rng.integers(0, 12, 30)
    group = np.unique(group, return_inverse=True)[1]
    _, far = find_strays(r, labels, 3, group, outliers)
    for one in range(group.max() + 1):
        assert len(set(far[group == one].tolist())) == 1
    if outliers != "auto":
        assert far.sum() <= round(outliers * 30)


@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_the_unit_of_the_distances_is_irrelevant(seed, unit):
    rng = np.random.default_rng(seed)
    r, labels = rng.random(20) + 0.1, rng.integers(0, 2, 20)
    given, scaled = (find_strays(one, labels, 2, alone(20), 0.2)[1] for one in (r, unit * r))
    assert_array_equal(given, scaled)


def test_distances_are_means_over_the_nearest_rows():
    line = np.arange(12.0)[:, None]
    mean = np.arange(1, 11).mean() / line.std()
    assert_allclose(distances(line)[0], mean)
    assert_allclose(distances(line, np.array([[-1.0]]))[0], mean)
    assert_allclose(distances(sparse.csr_array(line))[0], mean)


def test_planted_noise_is_found_and_probabilities_agree():
    model = fitted("auto")
    assert set(np.flatnonzero(y < 0)) <= set(np.flatnonzero(model.labels_ < 0))
    assert (model.labels_[:80] < 0).sum() <= 6
    total = model.probabilities_.sum(axis=1)
    assert np.all(total[model.labels_ < 0] <= 0.5 + 1e-9)
    assert np.all(total[model.labels_ >= 0] >= 0.5 - 1e-9)
    inside = model.labels_ >= 0
    assert_array_equal(model.probabilities_[inside].argmax(axis=1), model.labels_[inside])
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict([[60.0, -60.0], [0.1, 0.2]]) < 0, [True, False])
    assert model.predict_proba([[60.0, -60.0]]).sum() < 0.5


def test_a_row_in_a_must_link_is_never_a_stray_alone():
    first, second, third = np.flatnonzero(y < 0)[:3].tolist()
    model = fitted("auto", constraints=Constraints([(0, first), (second, third)]))
    assert model.labels_[first] == model.labels_[0] >= 0
    assert model.labels_[second] == model.labels_[third]
    assert model.violations_ == []


def test_a_row_with_cannot_links_alone_may_be_a_stray():
    first, second = np.flatnonzero(y < 0)[:2].tolist()
    model = fitted("auto", constraints=Constraints(cannot_link=[(0, first), (first, second)]))
    assert model.labels_[first] == model.labels_[second] == -1
    assert model.violations_ == []  # two strays are not together


def test_a_share_of_the_rows_is_left_out():
    assert (fitted(0.05).labels_ < 0).sum() == round(0.05 * len(X))
    assert (fitted(None).labels_ < 0).sum() == 0


def test_a_model_with_strays_comes_back_from_a_file(tmp_path):
    model = fitted("auto")
    save(model, tmp_path / "m.lwmodel")
    new = [[60.0, -60.0], [0.1, 0.2]]
    assert_array_equal(load(tmp_path / "m.lwmodel").predict(new), model.predict(new))
    with pytest.raises(TypeError, match="leave size, balanced and outliers out"):
        model.extend(new)


def test_the_command_line_leaves_strays_out(tmp_path, capsys):
    np.save(tmp_path / "x.npy", X)
    out = tmp_path / "labels.npy"
    words = ["fit", str(tmp_path / "x.npy"), "-k", "2", "--outliers", "0.05", "-o", str(out)]
    assert main([*words, "--effort", "fast"]) == 0
    assert (np.load(out) < 0).sum() == round(0.05 * len(X))
    assert "in no cluster" in capsys.readouterr().err
    assert main([*words, "--force", "--method", "cop-kmeans"]) == 2
