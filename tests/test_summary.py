"""What a notebook shows of a fitted estimator."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context

from linkwise import (
    CCSKL,
    ConstrainedPCA,
    Constraints,
    COPKMeans,
    LinkClustering,
    WithConstraints,
    sample_pairs,
)
from linkwise.estimators.summary import LISTED, SHOWN, plane


def html(model):
    return model._repr_mimebundle_()["text/html"]


def test_it_shows_clusters_links_and_a_map(iris):
    X, y = iris
    links = sample_pairs(y, 100, random_state=0)
    model = CCSKL(3, random_state=0).fit(X, constraints=links)
    text = html(model)
    assert model._repr_html_().endswith(text[text.index("linkwise-summary") :])
    assert "150 points in 3 clusters" in text
    kept = 100 - len(model.violations_)
    assert f"{kept} of 100 links kept ({links.n_must} must, {links.n_cannot} cannot)" in text
    assert len(re.findall("<circle", text)) == 150
    assert len(set(re.findall(r'circle [^>]*fill="(#\w+)"', text))) == 3
    for pair in model.violations_[:LISTED]:
        assert f"{pair.a} and {pair.b} are {'apart' if pair.sign > 0 else 'together'}" in text


def test_before_a_fit_it_is_the_diagram_alone(iris):
    for model in (CCSKL(3), WithConstraints(COPKMeans(3)), ConstrainedPCA(2)):
        assert "linkwise-summary" not in html(model)
        assert type(model).__name__ in html(model)
    assert "linkwise-summary" not in html(ConstrainedPCA(2).fit(iris[0]))


def test_bound_constraints_show_the_estimator(iris):
    X, y = iris
    links = sample_pairs(y, 10, random_state=0)
    text = html(WithConstraints(COPKMeans(3, random_state=0), links).fit(X))
    assert "10 of 10 links kept" in text


def test_only_a_diagram_is_extended(iris):
    model = COPKMeans(3, random_state=0).fit(iris[0])
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")


@pytest.mark.parametrize("form", ["dense", "sparse", "file", "precomputed"])
def test_every_form_of_points_has_a_map(rng, tmp_path, form):
    X = rng.normal(size=(SHOWN + 200, 6))
    model = CCSKL(3, random_state=0)
    if form == "sparse":
        X = sparse.csr_array(X)
    if form == "file":
        np.save(tmp_path / "points.npy", X)
        X, model = str(tmp_path / "points.npy"), CCSKL(3, affinity="anchors", random_state=0)
    if form == "precomputed":
        X = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
        model = CCSKL(3, affinity="precomputed", random_state=0)
    text = html(model.fit(X))
    assert len(re.findall("<circle", text)) == SHOWN
    assert "no links" in text


def test_ids_are_text_and_many_clusters_are_summed_up(rng):
    X = rng.normal(size=(60, 2))
    ids = [f"<i>{i}</i>" for i in range(60)]
    links = Constraints(must_link=[(ids[0], ids[1])], cannot_link=[(ids[0], ids[1])])
    model = CCSKL(LISTED + 3, on_conflict="keep", random_state=0)
    text = html(model.fit(X, constraints=links, sample_id=ids))
    assert "&lt;i&gt;0&lt;/i&gt; and &lt;i&gt;1&lt;/i&gt;" in text
    assert "<i>0" not in text.split("linkwise-summary")[1]
    assert "and 3 smaller clusters" in text


def test_strays_are_grey_and_an_extended_clustering_counts_all_links(iris):
    X, y = iris
    links = sample_pairs(y, 20, random_state=0)
    model = LinkClustering(3, effort=1, outliers=0.1, random_state=0).fit(X, constraints=links)
    assert ">in none<" in html(model)
    model = LinkClustering(3, effort=1, random_state=0).fit(X[:120], constraints=None)
    model.extend(X[120:], constraints=Constraints(must_link=[(0, 121)]))
    assert "1 link kept (1 must, 0 cannot)" in html(model)


def test_the_plane_is_that_of_the_largest_components(rng):
    X = rng.normal(size=(50, 4)) * [10, 5, 0.1, 0.1]
    both = plane(X)
    centred = X - X.mean(axis=0)
    assert np.linalg.norm(both) ** 2 == pytest.approx(np.linalg.norm(centred[:, :2]) ** 2, rel=0.01)
    assert plane(np.ones((5, 1))).shape == (5, 2)
