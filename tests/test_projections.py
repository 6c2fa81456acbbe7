"""Laws of the linear maps: cPCA, cLPP and what all transformers share."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from linkwise import (
    ITML,
    ConstrainedLPP,
    ConstrainedPCA,
    Constraints,
    ConstraintWarning,
    InfeasibleConstraints,
    sample_pairs,
)
from linkwise.embedding.projections import constrained_lpp, constrained_pca
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph import build_affinity

TRANSFORMERS = [ConstrainedPCA, ConstrainedLPP, ITML]
every = pytest.mark.parametrize("Transformer", TRANSFORMERS)


@parametrize_with_checks([ConstrainedPCA(0.9), ConstrainedLPP(affinity="rbf")])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def links(iris):
    return sample_pairs(iris[1], 120, random_state=0)


@st.composite
def problems(draw):
    """A few points and weighted pairs of both kinds; sometimes fewer points than features."""
    n, d, s = draw(st.integers(3, 9)), draw(st.integers(1, 5)), draw(st.integers(0, 6))
    seed = np.random.default_rng(draw(st.integers(0, 1000)))
    ends = np.array([seed.permutation(n)[:2] for _ in range(s)], dtype=int).reshape(s, 2)
    sign = draw(arrays(int, s, elements=st.sampled_from([-1, 1])))
    weight = draw(arrays(float, s, elements=st.sampled_from([0.5, 1, 2])))
    return seed.standard_normal((n, d)), ends[:, 0], ends[:, 1], sign, weight


def dense_matrix(X, i, j, sign, weight, alpha, beta):
    """Return X^T L~ X of Eq. (10)-(13), W~ written out; (10) counts every pair both ways."""
    n = len(X)
    W = np.full((n, n), 1 / n**2)
    for kind, factor in ((-1, alpha), (1, -beta)):
        for a, b, w in zip(i[sign == kind], j[sign == kind], weight[sign == kind], strict=True):
            W[a, b] += factor * w / (2 * weight[sign == kind].sum())
            W[b, a] += factor * w / (2 * weight[sign == kind].sum())
    return X.T @ (np.diag(W.sum(axis=1)) - W) @ X


@given(problems(), st.sampled_from([(1, 1), (1, 20), (0.5, 0)]))
def test_cpca_equals_the_dense_formula(problem, weights):
    alpha, beta = weights
    X = problem[0]
    M = dense_matrix(*problem, alpha, beta)
    found = constrained_pca(*problem, alpha=alpha, beta=beta)
    C = found.components
    assert_allclose(C @ C.T, np.eye(min(X.shape)), atol=1e-10)
    assert_allclose(C @ M @ C.T, np.diag(found.values), atol=1e-10)
    assert_allclose(np.trace(M), found.values.sum(), atol=1e-10)  # nothing lies outside
    assert_allclose(((X - X.mean(axis=0)) @ C.T).var(axis=0), found.variance, atol=1e-10)


@given(problems(), st.integers(1, 3))
def test_clpp_equals_the_dense_formula(problem, c):
    X, i, j, sign, weight = problem
    n, c = len(X), min(c, *X.shape)
    W = build_affinity(X, "rbf", n_neighbors=0, sigma=2.0).W
    Q = Constraints._of(np.stack([i, j], axis=1), sign, weight).matrix(n)
    found = constrained_lpp(X, W, Q, c)

    V = np.linalg.svd(X - X.mean(axis=0))[2][: min(n - 1, X.shape[1])]
    P = (X - X.mean(axis=0)) @ V.T
    mixed = W + Q.toarray()
    D = np.diag(mixed.sum(axis=1))
    assume(np.linalg.cond(P.T @ abs(D) @ P) < 1e4)  # beyond that the ridge shows
    values, A = linalg.eigh(P.T @ (D - mixed) @ P, P.T @ abs(D) @ P)
    some = min(c, len(V))
    assert_allclose(found.values[:some], values[:some], atol=1e-6)
    Y = P @ A[:, :some] * np.sqrt(abs(D).sum())
    mapped = (X - X.mean(axis=0)) @ found.components[:some].T
    gaps = np.diff(values[: some + 1])
    if np.all(gaps > 1e-3):
        assert_allclose(abs(mapped), abs(Y), atol=1e-4)


def test_cpca_without_constraints_is_pca(wine):
    X, _ = wine
    for model in (ConstrainedPCA(5), ConstrainedPCA(0.8), ConstrainedPCA()):
        theirs = PCA(model.n_components).fit(X)
        model.fit(X)
        assert model.n_components_ == theirs.n_components_
        assert_allclose(abs(model.transform(X)), abs(theirs.transform(X)), atol=1e-10)
        assert_allclose(model.explained_variance_, theirs.explained_variance_)
        assert_allclose(model.explained_variance_ratio_, theirs.explained_variance_ratio_)


def test_a_share_of_variance_is_as_many_components_as_pca_needs(wine):
    X, y = wine
    model = ConstrainedPCA(0.8).fit(X, constraints=sample_pairs(y, 90, random_state=0))
    assert model.n_components_ == PCA(0.8).fit(X).n_components_


def test_cpca_without_weights_is_pca(iris, links):
    model = ConstrainedPCA(2, alpha=0, beta=0).fit(iris[0], constraints=links)
    assert_allclose(model.components_, ConstrainedPCA(2).fit(iris[0]).components_, atol=1e-10)


def test_cpca_leaves_out_a_direction_that_must_links_deny():
    """The points spread more along x, but must-linked ones differ there and nowhere else."""
    X = np.array([[-3.0, 1], [3, 1], [-3, -1], [3, -1]])
    model = ConstrainedPCA().fit(X, constraints=([(0, 1), (2, 3)], []))
    assert_allclose(abs(model.components_), [[0, 1]], atol=1e-12)
    assert_allclose(model.objective_, [1])  # the variance along y
    assert_allclose(ConstrainedPCA(2).fit(X).components_[0], [1, 0], atol=1e-12)


@pytest.mark.parametrize("c", [1, 2, 3])
def test_directions_without_spread_come_last(c):
    X = np.array([[0.0, 0, 0], [1, 0, 0], [5, 1, 0]])  # of rank 2
    links = Constraints([(1, 2), (0, 2)])  # both directions have a negative objective
    model = ConstrainedPCA(c).fit(X, constraints=links)
    assert_allclose(model.explained_variance_[2:], 0, atol=1e-12)
    assert np.all(model.explained_variance_[:2] > 0)
    mapped = ConstrainedLPP(c).fit_transform(X, constraints=links)
    assert np.all(np.ptp(mapped[:, :2], axis=0) > 0.1)
    assert_allclose(mapped[:, 2:], 0, atol=1e-12)


def test_points_that_coincide_map_to_one_place():
    metrics = ITML(), ITML(prior="covariance")
    for model in (ConstrainedPCA(), ConstrainedPCA(0.5), ConstrainedLPP(2), *metrics):
        assert_array_equal(np.ptp(model.fit_transform(np.ones((6, 3))), axis=0), 0)


def test_lpp_finds_the_gap_that_pca_misses(rng):
    """Two bands, far longer than they are apart."""
    side = np.repeat([0, 1], 60)
    X = np.c_[rng.uniform(-8, 8, 120), 2.5 * side + 0.02 * rng.standard_normal(120)]
    y = ConstrainedLPP(1, variance=1.0).fit_transform(X).ravel()
    assert adjusted_rand_index(side, y > y.mean()) == 1
    y = PCA(1).fit_transform(X).ravel()
    assert adjusted_rand_index(side, y > y.mean()) < 0.1


def test_clpp_survives_more_cannot_links_than_neighbours(iris):
    X, y = iris
    rows = np.flatnonzero(y > 0)[:60]
    links = Constraints([], [(0, row) for row in rows], cannot_weight=5)
    model = ConstrainedLPP(2).fit(X, constraints=links)
    assert model.eigenvalues_[0] < 0
    assert np.all(np.isfinite(model.components_))


def test_dense_graphs_that_would_not_fit_are_refused(monkeypatch, iris):
    monkeypatch.setattr("linkwise.blocks.cost.machine_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match="nearest_neighbors"):
        ConstrainedLPP(affinity="rbf").fit(iris[0])


def mapped(Transformer, X, links):
    return Transformer().fit_transform(X, constraints=links)


@every
def test_the_order_of_points_and_pairs_is_irrelevant(Transformer, wine, rng):
    X, y = wine
    links = sample_pairs(y, 90, random_state=1)
    p, q = rng.permutation(len(X)), rng.permutation(90)
    where = np.argsort(p)  # the new row of an old one
    a, b, sign, weight = links.arrays()
    moved = Constraints.from_table(np.stack([where[b], where[a], sign, weight], axis=1)[q])
    assert_allclose(mapped(Transformer, X[p], moved), mapped(Transformer, X, links)[p], atol=1e-6)


@every
def test_a_pair_twice_is_weight_two(Transformer, iris, links):
    some = links.select(np.arange(0, 120, 3))
    weight = np.where(np.isin(np.arange(120), np.arange(0, 120, 3)), 2, 1)
    twice = mapped(Transformer, iris[0], links + some)
    assert_allclose(twice, mapped(Transformer, iris[0], links.with_weight(weight)), atol=1e-6)


@every
def test_where_the_points_lie_is_irrelevant(Transformer, iris, links):
    here, there = (mapped(Transformer, iris[0] + shift, links) for shift in (0, 100))
    assert_allclose(there - there.mean(axis=0), here - here.mean(axis=0), atol=1e-5)


@every
def test_names_of_points_are_irrelevant(Transformer, iris, links):
    ids = np.array([f"flower {row}" for row in range(150)])
    a, b, sign, weight = links.arrays()
    named = Constraints.from_table({"id_a": ids[a], "id_b": ids[b], "kind": sign, "weight": weight})
    by_name = Transformer().fit_transform(iris[0], constraints=named, sample_id=ids)
    assert_array_equal(by_name, mapped(Transformer, iris[0], links))


@every
def test_no_constraints_in_any_form_is_the_plain_method(Transformer, iris):
    plain = Transformer().fit_transform(iris[0])
    for nothing in (Constraints(), ([], []), Constraints([(0, 9)], must_weight=0)):
        assert_array_equal(mapped(Transformer, iris[0], nothing), plain)


@every
def test_float32_stays_float32(Transformer, iris, links):
    X = iris[0].astype(np.float32)
    model = Transformer().fit(X, constraints=links)
    Y = model.transform(X)
    assert Y.dtype == model.components_.dtype == np.float32
    assert_allclose(Y, mapped(Transformer, iris[0], links), atol=1e-2)


@every
def test_new_points_are_mapped_like_old_ones(Transformer, iris, links):
    model = Transformer().fit(iris[0], constraints=links)
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.transform(iris[0][5:9]), model.transform(iris[0])[5:9])
    refit = clone(model).fit(iris[0], constraints=links)
    assert_array_equal(refit.components_, model.components_)


@every
def test_data_frames_come_out_with_names(Transformer, iris, links):
    frame = pd.DataFrame(iris[0], columns=list("abcd"), index=np.arange(150) + 7)
    model = Transformer().set_output(transform="pandas")
    out = model.fit_transform(frame, constraints=links)
    assert list(out.columns) == list(model.get_feature_names_out())
    assert out.columns[0] == f"{Transformer.__name__.lower()}0"
    assert_array_equal(out.index, frame.index)
    assert_allclose(out, mapped(Transformer, iris[0], links))


@every
def test_contradictions_are_refused_dropped_or_kept_as_asked(Transformer, iris):
    X, _ = iris
    links = Constraints([(0, 1), (1, 2), (60, 61)], [(0, 2), (0, 60)])
    with pytest.raises(InfeasibleConstraints, match="0 must be with 1"):
        Transformer().fit(X, constraints=links)
    with pytest.warns(ConstraintWarning, match=r"cannot-links.*\(0, 2\) first"):
        model = Transformer(on_conflict="drop").fit(X, constraints=links)
    plain = Transformer().fit(X, constraints=links.select([0, 1, 2, 4]))
    assert_array_equal(model.components_, plain.components_)
    kept = Transformer(on_conflict="keep").fit(X, constraints=links)
    assert not np.allclose(kept.components_, plain.components_)


@pytest.mark.parametrize("Transformer", [ConstrainedPCA, ConstrainedLPP])
def test_more_components_than_there_can_be_are_refused(Transformer, iris):
    with pytest.raises(ValueError, match=r"n_components=5 .* n_features=4: ask for at most 4"):
        Transformer(5).fit(iris[0])


def test_pipelines_pass_constraints_on(iris, links):
    X = iris[0] * [1, 10, 100, 1000]
    pipeline = make_pipeline(
        StandardScaler(), ConstrainedPCA(2), KMeans(3, n_init=3, random_state=0)
    )
    labels = pipeline.fit_predict(X, constrainedpca__constraints=links)
    Y = ConstrainedPCA(2).fit_transform(StandardScaler().fit_transform(X), constraints=links)
    assert_array_equal(labels, KMeans(3, n_init=3, random_state=0).fit_predict(Y))
    assert_array_equal(pipeline.predict(X), labels)


def test_cross_validation_slices_points_ids_and_pairs_together(iris):
    X, y = iris
    ids = np.array([f"id{row}" for row in range(150)])
    links = sample_pairs(y, 80, random_state=0, sample_id=ids)
    pipeline = make_pipeline(ITML(on_unknown="drop"), KMeans(3, n_init=3, random_state=0))
    found = cross_val_score(
        pipeline, X, y, cv=3, scoring="adjusted_rand_score", error_score="raise",
        params={"itml__constraints": links, "itml__sample_id": ids},
    )  # fmt: skip
    assert np.all(np.isfinite(found))
    with pytest.raises(ValueError, match="needs sample_id"):
        cross_val_score(
            pipeline, X, y, cv=3, error_score="raise",
            params={"itml__constraints": Constraints([(0, 1)])},
        )  # fmt: skip


def test_kmeans_gains_by_cpca(iris):
    X, y = iris

    def agreement(Z):
        return adjusted_rand_index(y, KMeans(3, n_init=10, random_state=0).fit_predict(Z))

    draws = [sample_pairs(y, 150, random_state=draw) for draw in range(4)]
    found = [agreement(mapped(ConstrainedPCA, X, links)) for links in draws]
    assert np.mean(found) > agreement(X) + 0.05
