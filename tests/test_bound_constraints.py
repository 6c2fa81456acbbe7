"""Constraints bound to an estimator, and scores by held-out constraints."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import DBSCAN, KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from linkwise import (
    CCSKL,
    AllRows,
    ConstrainedPCA,
    Constraints,
    COPKMeans,
    LinkClustering,
    LinkScore,
    PCKMeans,
    WithConstraints,
    sample_pairs,
)
from linkwise.choice.bound_constraints import folds_of


@parametrize_with_checks([WithConstraints(COPKMeans(2, random_state=0))])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def links(iris):
    return sample_pairs(iris[1], 100, random_state=0)


def test_it_fits_and_predicts_as_the_estimator_with_the_constraints(iris, links):
    X, _ = iris
    bound = WithConstraints(CCSKL(3, random_state=0), links).fit(X)
    alone = CCSKL(3, random_state=0).fit(X, constraints=links)
    assert_array_equal(bound.labels_, alone.labels_)
    assert_array_equal(bound.predict(X[:10] + 0.01), alone.predict(X[:10] + 0.01))
    assert not hasattr(bound, "predict_proba")
    assert hasattr(WithConstraints(LinkClustering(3)), "predict_proba")


def test_ids_name_rows(iris, links):
    X, _ = iris
    ids = np.array([f"row {i}" for i in range(len(X))])
    a, b, sign, weight = links.arrays()
    named = Constraints.from_table({"id_a": ids[a], "id_b": ids[b], "kind": sign, "weight": weight})
    bound = WithConstraints(PCKMeans(3, random_state=0), named, sample_id=ids, random_state=0)
    plain = WithConstraints(PCKMeans(3, random_state=0), links, random_state=0)
    assert_array_equal(bound.fit_predict(X), plain.fit_predict(X))
    assert bound.score(X) == plain.score(X)


def test_a_search_by_held_out_constraints_finds_the_number_of_clusters(blobs):
    X, y = blobs
    links = sample_pairs(y, 150, random_state=1)
    bound = WithConstraints(PCKMeans(random_state=0), links, random_state=0)
    k = int(y.max()) + 1
    grid = {"estimator__n_clusters": [k - 1, k, k + 2]}
    search = GridSearchCV(bound, grid, cv=AllRows()).fit(X)
    assert search.best_params_ == {"estimator__n_clusters": k}
    assert search.best_score_ == 1


def test_estimators_without_constraints_are_searched_by_them(blobs):
    X, y = blobs
    k, links = int(y.max()) + 1, sample_pairs(y, 150, random_state=1)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KMeans(n_init=5, random_state=0)),
        {"kmeans__n_clusters": [k - 1, k, k + 2]},
        scoring=LinkScore(links),
        cv=AllRows(),
    )
    assert search.fit(X).best_params_ == {"kmeans__n_clusters": k}
    assert search.best_score_ == 1
    one = DBSCAN(eps=1e9).fit(X)  # labels, no predict
    assert LinkScore(links)(one, X) == 0.5


def test_a_bound_estimator_is_scored_by_what_it_holds_out(iris, links):
    X, _ = iris
    bound = WithConstraints(PCKMeans(3, random_state=0), links, random_state=0).fit(X)
    assert LinkScore(links)(bound, X) == bound.score(X) < LinkScore(links)(bound.estimator_, X)
    with pytest.raises(ValueError, match=r"needs must-links and cannot-links, got 1 and 0"):
        LinkScore([(0, 1, "must")])(bound.estimator_, X)


def test_constraints_that_say_nothing_score_as_chance(rng):
    X = rng.normal(size=(200, 3))
    links = sample_pairs(rng.integers(3, size=200), 300, random_state=0)
    score = WithConstraints(PCKMeans(3, random_state=0), links, random_state=0).fit(X).score(X)
    assert 0.35 < score < 0.65  # of a fit that saw them it would be near 1


def test_folds_have_as_many_of_each_kind(rng, links):
    fold = folds_of(links, 5, rng)
    for kind in (1, -1):
        sizes = np.bincount(fold[links.sign == kind], minlength=5)
        assert sizes.max() - sizes.min() <= 1


def test_it_is_a_step_of_a_pipeline(iris, links):
    X, _ = iris
    labels = make_pipeline(
        StandardScaler(), WithConstraints(COPKMeans(3, random_state=0), links)
    ).fit_predict(X)
    assert not links.violated(labels).any()


def test_only_clusterers_are_bound(iris, links):
    with pytest.raises(ValueError, match="'estimator' parameter of WithConstraints"):
        WithConstraints(ConstrainedPCA(), links).fit(iris[0])


def test_score_refuses_other_rows_and_too_few_constraints(iris, links):
    X, _ = iris
    bound = WithConstraints(PCKMeans(3), links).fit(X)
    with pytest.raises(ValueError, match="pass cv=AllRows"):
        bound.score(X[:100])
    assert not hasattr(WithConstraints(PCKMeans(3)), "score")
    few = WithConstraints(PCKMeans(3), links.select(np.arange(5))).fit(X)
    with pytest.raises(ValueError, match="needs at least 10 must-links"):
        few.score(X)
