"""Laws that every estimator obeys."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise
from linkwise import (
    CCSKL,
    ITML,
    ConstrainedAgglomerative,
    ConstrainedGaussianMixture,
    Constraints,
    ConstraintWarning,
    ConvergenceWarning,
    COPKMeans,
    ExhaustivePropagation,
    FlexibleSpectralClustering,
    InfeasibleConstraints,
    KernelKMeans,
    LinkClustering,
    NormalizedCuts,
    OptimalKernelKMeans,
    PCKMeans,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    sample_pairs,
)
from linkwise.embedding import spectral_embedding
from linkwise.estimators.base import match_rows
from linkwise.evaluate import adjusted_rand_index, kept
from linkwise.graph import build_affinity
from linkwise.partition import kernel_kmeans, kmeans

ESTIMATORS = [
    CCSKL,
    OptimalKernelKMeans,
    KernelKMeans,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    FlexibleSpectralClustering,
    ExhaustivePropagation,
]
CONSTRAINED = [name for name in linkwise.estimators.__all__ if name != "ManifoldLayout"]
CLUSTERERS = [
    name for name in CONSTRAINED
    if "n_clusters" in getattr(linkwise.estimators, name)._get_param_names()
]  # fmt: skip
every = pytest.mark.parametrize("Estimator", ESTIMATORS)


@parametrize_with_checks(
    [getattr(linkwise.estimators, name)() for name in linkwise.estimators.__all__]
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def same(a, b):
    """Tell whether two labellings are one partition."""
    return adjusted_rand_index(a, b) == 1


@pytest.fixture(scope="module")
def links(iris):
    return sample_pairs(iris[1], 120, random_state=0)


@every
def test_a_second_fit_gives_the_same_labels(Estimator, iris, links):
    first, second = (
        Estimator(3, random_state=5).fit(iris[0], constraints=links).labels_ for _ in range(2)
    )
    assert_array_equal(first, second)


@every
def test_the_order_of_points_and_pairs_is_irrelevant(Estimator, wine, rng):
    X, y = wine
    links = sample_pairs(y, 90, random_state=1)
    p = rng.permutation(len(X))
    where = np.argsort(p)  # the new row of an old one
    a, b, sign, weight = links.arrays()
    q = rng.permutation(links.n_pairs)
    moved = Constraints.from_table(np.stack([where[b], where[a], sign, weight], axis=1)[q])
    straight = Estimator(3, random_state=0).fit(X, constraints=links).labels_
    shuffled = Estimator(3, random_state=0).fit(X[p], constraints=moved).labels_
    assert same(straight[p], shuffled)


@every
def test_names_of_points_are_irrelevant(Estimator, iris, links):
    ids = np.array([f"flower {row}" for row in range(150)])
    a, b, sign, weight = links.arrays()
    named = Constraints.from_table({"id_a": ids[a], "id_b": ids[b], "kind": sign, "weight": weight})
    by_row = Estimator(3, random_state=0).fit(iris[0], constraints=links)
    by_name = Estimator(3, random_state=0).fit(iris[0], constraints=named, sample_id=ids)
    assert_array_equal(by_row.labels_, by_name.labels_)
    assert [pair.sign for pair in by_name.violations_] == [p.sign for p in by_row.violations_]
    assert all(pair.a.startswith("flower") for pair in by_name.violations_)


@every
def test_violations_are_the_pairs_not_kept(Estimator, iris, links):
    model = Estimator(3, random_state=0).fit(iris[0], constraints=links)
    broken = [
        (a, b) for a, b, sign, _ in links if (model.labels_[a] == model.labels_[b]) != (sign > 0)
    ]
    assert [(pair.a, pair.b) for pair in model.violations_] == broken
    assert kept(model.labels_, links).all == pytest.approx(1 - len(broken) / 120)


@every
def test_no_constraints_in_any_form_is_the_plain_method(Estimator, iris):
    X, _ = iris
    plain = Estimator(3, random_state=0).fit(X).labels_
    for nothing in (None, Constraints(), ([], []), Constraints([(0, 9)], must_weight=0)):
        model = Estimator(3, random_state=0).fit(X, constraints=nothing)
        assert_array_equal(model.labels_, plain)
        assert model.violations_ == []


@pytest.mark.parametrize("Estimator", [CCSKL, SignedSpectralClustering])
def test_the_plain_method_is_spectral_clustering(Estimator, wine):
    W = build_affinity(wine[0], "nearest_neighbors", n_neighbors=20, sigma="r").W
    Z, _ = spectral_embedding(W, 3, np.random.default_rng(0))
    assert same(
        Estimator(3, random_state=0).fit_predict(wine[0]),
        kmeans(Z, 3, rng=np.random.default_rng(1)).labels,
    )


def test_propagation_without_links_is_spectral_clustering_of_the_gaussian(wine):
    W = build_affinity(wine[0], "rbf", n_neighbors=0, sigma="2r").W
    Z, _ = spectral_embedding(W, 3, np.random.default_rng(0))
    labels = PropagatedSpectralClustering(3, random_state=0).fit_predict(wine[0])
    assert same(labels, kmeans(Z, 3, rng=np.random.default_rng(1)).labels)


@pytest.mark.parametrize("Estimator", [KernelKMeans, OptimalKernelKMeans])
def test_kernel_methods_without_links_are_kernel_kmeans(Estimator, blobs):
    K = build_affinity(blobs[0], "rbf", n_neighbors=0, sigma="2r").W
    plain = kernel_kmeans(K, 3, rng=np.random.default_rng(0)).labels
    assert same(Estimator(3, random_state=0).fit_predict(blobs[0]), plain)


@every
def test_all_pairs_give_the_true_classes(Estimator, blobs):
    """Half of each blob belongs to one class, half to another: only the pairs know."""
    X, y = blobs
    links = Constraints.from_labels(y)
    model = Estimator(3, random_state=0).fit(X, constraints=links)
    assert same(model.labels_, y)
    assert model.violations_ == []


@every
@pytest.mark.parametrize("constrained", [False, True])
def test_predict_on_the_fitted_points_returns_their_labels(Estimator, constrained, iris, links):
    X, _ = iris
    given = links if constrained else None
    model = Estimator(3, random_state=0).fit(X, constraints=given)
    assert_array_equal(model.predict(X), model.labels_)
    half = X[::2]
    unique = np.unique(X, axis=0, return_counts=True, return_inverse=True)
    lone = unique[2][unique[1].ravel()] == 1  # equal rows may have different labels
    assert_array_equal(model.predict(half)[lone[::2]], model.labels_[::2][lone[::2]])


@every
def test_new_points_join_the_cluster_they_lie_in(Estimator, blobs):
    X, y = blobs
    links = sample_pairs(y[:90], 60, random_state=0)
    model = Estimator(3, random_state=0).fit(X[:90], constraints=links)
    together = np.r_[model.labels_, model.predict(X[90:])]
    assert same(together, y)
    assert set(model.predict(np.array([[1e6, 1e6], [-1e6, 0.0]]))) <= {0, 1, 2}


@every
def test_float32_stays_float32(Estimator, iris, links):
    X = iris[0].astype(np.float32)
    model = Estimator(3, random_state=0).fit(X, constraints=links)
    for name in ("embedding_", "affinity_matrix_"):
        if hasattr(model, name):
            assert getattr(model, name).dtype == np.float32
    double = Estimator(3, random_state=0).fit(iris[0], constraints=links)
    assert adjusted_rand_index(model.labels_, double.labels_) > 0.9


@every
def test_sparse_points_are_points(Estimator, rng):
    X = rng.standard_normal((60, 8)) + np.repeat([[0], [4], [8]], 20, axis=0)
    X[rng.random(X.shape) < 0.2] = 0
    links = sample_pairs(np.repeat([0, 1, 2], 20), 30, random_state=0)
    dense = Estimator(3, random_state=0).fit(X, constraints=links)
    model = Estimator(3, random_state=0).fit(sparse.csr_matrix(X), constraints=links)
    assert same(model.labels_, dense.labels_)
    assert_array_equal(model.predict(sparse.csr_array(X)), model.labels_)
    new = X[:7] + 1e-3
    assert_array_equal(model.predict(sparse.csr_array(new)), dense.predict(new))


@every
def test_survives_pickling_and_cloning(Estimator, iris, links):
    model = Estimator(3, random_state=0).fit(iris[0], constraints=links)
    again = pickle.loads(pickle.dumps(model))
    new = iris[0][:5] + 0.01
    assert_array_equal(again.predict(new), model.predict(new))
    assert again.violations_ == model.violations_
    refit = clone(model).fit(iris[0], constraints=links)
    assert_array_equal(refit.labels_, model.labels_)


@every
def test_data_frames_and_their_names_are_kept(Estimator, iris, links):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    table = pd.DataFrame(list(links), columns=["id_a", "id_b", "sign", "weight"])
    model = Estimator(3, random_state=0).fit(frame, constraints=table)
    assert list(model.feature_names_in_) == list("abcd")
    assert_array_equal(
        model.labels_, Estimator(3, random_state=0).fit(iris[0], constraints=links).labels_
    )


@every
@pytest.mark.parametrize("form", ["tuple", "array", "matrix"])
def test_what_is_obviously_constraints_is_taken_as_such(Estimator, form, iris, links):
    forms = {
        "tuple": (links.must_link, links.cannot_link),
        "array": np.stack(links.arrays()[:3], axis=1),
        "matrix": links.matrix(150),
    }
    model = Estimator(3, random_state=0).fit(iris[0], constraints=forms[form])
    plain = Estimator(3, random_state=0).fit(iris[0], constraints=links)
    assert same(model.labels_, plain.labels_)


CONTRADICTION = Constraints([(0, 1), (1, 2)], [(0, 2)])
CONSISTENT = Constraints([(0, 1), (1, 2)], [(0, 60), (1, 70), (60, 130)])


@every
def test_contradictions_are_refused_dropped_or_kept_as_asked(Estimator, iris):
    X, _ = iris
    links = Constraints([(0, 1), (1, 2)], [(0, 2), (0, 60), (1, 70), (60, 130)])
    with pytest.raises(InfeasibleConstraints, match="0 must be with 1") as info:
        Estimator(3).fit(X, constraints=links)
    assert info.value.conflict == CONTRADICTION
    with pytest.warns(ConstraintWarning, match=r"dropped 1 of 6 constraints.*\(0, 2\)"):
        model = Estimator(3, on_conflict="drop", random_state=0).fit(X, constraints=links)
    plain = Estimator(3, random_state=0).fit(X, constraints=CONSISTENT)
    assert_array_equal(model.labels_, plain.labels_)
    model = Estimator(3, on_conflict="keep", random_state=0).fit(X, constraints=links)
    assert model.violations_


@every
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"constraints": ([(0, 150)], [])}, "150"),
        ({"constraints": ([(-1, 3)], [])}, "-1"),
        ({"constraints": ([("a", "b")], [])}, "sample_id"),
        ({"constraints": ([("a", "b")], []), "sample_id": ["a"]}, "one id per row"),
        ({"constraints": ([(0, 999)], []), "sample_id": np.arange(150)}, "999"),
        ({"constraints": 7}, "constraints"),
    ],
)
def test_bad_constraints_are_named(Estimator, problem, message, iris):
    with pytest.raises((ValueError, TypeError), match=message):
        Estimator(3).fit(iris[0], **problem)


@every
def test_bad_points_are_named(Estimator, iris):
    X = iris[0].copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Estimator(3).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters=200.*n_samples=150"):
        Estimator(200).fit(iris[0])
    with pytest.raises(ValueError, match="n_clusters"):
        Estimator(0).fit(iris[0])


@every
def test_grid_search_slices_points_ids_and_pairs_together(Estimator, iris):
    X, y = iris
    ids = np.array([f"id{row}" for row in range(150)])
    links = sample_pairs(y, 80, random_state=0, sample_id=ids)
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(
        Estimator(on_unknown="drop", random_state=0), {"n_clusters": [2, 3]}, cv=folds,
        scoring="adjusted_rand_score", error_score="raise",
    )  # fmt: skip
    search.fit(X, y, constraints=links, sample_id=ids)
    train, test = next(folds.split(X))
    by_hand = clone(search.estimator).set_params(n_clusters=3)
    by_hand.fit(X[train], constraints=links.restrict(ids[train]), sample_id=ids[train])
    score = adjusted_rand_index(y[test], by_hand.predict(X[test]))
    assert search.cv_results_["split0_test_score"][1] == pytest.approx(score)
    whole = clone(search.best_estimator_).fit(X, constraints=links, sample_id=ids)
    assert_array_equal(search.best_estimator_.labels_, whole.labels_)
    assert search.best_estimator_.n_dropped_ == 0


@pytest.mark.parametrize("name", [*CONSTRAINED, "LinkClustering"])
def test_unknown_ids_are_refused_or_dropped_and_counted(name, iris):
    Estimator = getattr(linkwise, name)
    X, ids = iris[0], [f"id{row}" for row in range(150)]
    links = Constraints([("id0", "id1"), ("id3", "gone")], [("id0", "id70"), ("lost", "gone")])
    with pytest.raises(ValueError, match=r"'gone' is not in sample_id.*set on_unknown=\"drop\""):
        Estimator().fit(X, constraints=links, sample_id=ids)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="NormalizedCuts does not use")
        model = Estimator(on_unknown="drop").fit(X, constraints=links, sample_id=ids)
        assert model.n_dropped_ == 2
        assert model.fit(X, constraints=links.restrict(ids), sample_id=ids).n_dropped_ == 0
        if hasattr(model, "refit"):
            assert model.refit(links).n_dropped_ == 2
    assert clone(model).on_unknown == "drop"
    with pytest.raises(ValueError, match="on_unknown"):
        Estimator(on_unknown="ignore").fit(X)


def test_it_is_announced_when_every_constraint_is_dropped(iris):
    model = CCSKL(3, on_unknown="drop", random_state=0)
    with pytest.warns(ConstraintWarning, match="left out all 2 constraints"):
        model.fit(iris[0], constraints=Constraints([("a", "b"), ("b", "c")]), sample_id=range(150))
    assert model.n_dropped_ == 2


def test_an_estimator_may_build_constraints_for_every_fold(iris):
    class Seeded(CCSKL):
        def fit(self, X, y=None):
            return super().fit(X, constraints=sample_pairs(y, 40, random_state=0))

    X, y = iris
    found = cross_val_score(
        Seeded(3, random_state=0), X, y, cv=KFold(3, shuffle=True, random_state=0),
        scoring="adjusted_rand_score", error_score="raise",
    )  # fmt: skip
    assert found.min() > 0.5


ROWS = sample_pairs(np.repeat([0, 1, 2], 50), 20, random_state=0)
NOT_LABELS = {
    "Constraints": ROWS,
    "no Constraints": Constraints(),
    "two lists": ([(0, 1)], [(0, 2)]),
    "one list": ([], [(0, 1)]),
    "dict": {"cannot_link": [(0, 1)]},
    "rows": [(0, 1, "must"), (1, 2, "cannot")],
    "array": np.stack(ROWS.arrays()[:3], axis=1),
    "weighted array": np.stack(ROWS.arrays(), axis=1),
    "columns": {"id_a": [0], "id_b": [1], "kind": ["must"]},
    "frame": pd.DataFrame(list(ROWS), columns=["id_a", "id_b", "kind", "weight"]),
    "matrix": ROWS.matrix(150),
}


@pytest.mark.parametrize("name", [*linkwise.estimators.__all__, "LinkClustering"])
@pytest.mark.parametrize("form", NOT_LABELS)
def test_constraints_in_the_place_of_y_are_refused(name, form, iris):
    model = getattr(linkwise, name)()
    for method in ("fit", "fit_predict", "fit_transform"):
        if hasattr(model, method):
            where = "constraints=" if name in [*CONSTRAINED, "LinkClustering"] else "clusterer"
            with pytest.raises(TypeError, match=f"y looks like .*: .*pass them .*{where}"):
                getattr(model, method)(iris[0], NOT_LABELS[form])


@pytest.mark.parametrize(
    "y",
    [
        None,
        [0, 1] * 75,
        ("must", "cannot") * 75,
        np.repeat([1, -1], 75),
        np.repeat([[1.0], [2.0]], 75, axis=0),
        np.eye(3)[np.repeat([0, 1, 2], 50)],
        np.eye(3, dtype=int)[np.full(150, 2)],
        np.random.default_rng(0).standard_normal((150, 3)),
        pd.Series(["a", "b"] * 75),
        pd.DataFrame({"kind": [1, -1] * 75}),
        sparse.eye_array(150).tocsr(),
    ],
    ids=str,
)
def test_any_other_y_is_ignored(y, iris):
    plain = COPKMeans(3, random_state=0).fit_predict(iris[0])
    assert_array_equal(COPKMeans(3, random_state=0).fit_predict(iris[0], y), plain)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_fitted_sparse_rows_are_recognised_whatever_their_indices(index, rng):
    X = sparse.csr_array(np.where(rng.random((40, 9)) < 0.4, rng.random((40, 9)), 0))
    again = X[::-1]
    again.indices, again.indptr = again.indices.astype(index), again.indptr.astype(index)
    assert_array_equal(match_rows(X, again), np.arange(40)[::-1])
    assert_array_equal(match_rows(again, X), np.arange(40)[::-1])


def test_many_sparse_points_are_learnt_from_a_sample(rng):
    X = rng.standard_normal((3400, 6)) + np.repeat([[0.0], [6.0]], 1700, axis=0)
    model = LinkClustering(2, random_state=0).fit(sparse.csr_array(X))
    assert adjusted_rand_index(model.labels_, np.repeat([0, 1], 1700)) > 0.95


def test_row_numbers_inside_cross_validation_are_refused(iris):
    for model, links in (
        (CCSKL(3, on_unknown="drop"), Constraints([(0, 1)])),
        (CCSKL(3), Constraints([(0, 149)])),
    ):
        with pytest.raises(ValueError, match=r'sample_id.*on_unknown="drop"|on_unknown="drop".*id'):
            cross_val_predict(model, iris[0], cv=3, params={"constraints": links})


def test_an_unknown_id_shows_in_a_search(iris):
    X, y = iris
    ids = [str(row) for row in range(150)]
    links = Constraints.from_labels(y, pairs="spanning", sample_id=ids)
    links = Constraints([("nobody", "7")]) + links
    search = GridSearchCV(CCSKL(random_state=0), {"n_clusters": [3]}, scoring="rand_score", cv=2)
    with pytest.raises(ValueError, match="nobody"):
        search.fit(X, y, constraints=links, sample_id=ids)
    search.set_params(estimator__on_unknown="drop").fit(X, y, constraints=links, sample_id=ids)
    assert search.best_estimator_.n_dropped_ == 1


def test_pipelines_pass_constraints_on(iris, links):
    X = iris[0] * [1, 10, 100, 1000]
    pipeline = make_pipeline(StandardScaler(), CCSKL(3, random_state=0))
    labels = pipeline.fit_predict(X, ccskl__constraints=links)
    scaled = StandardScaler().fit_transform(X)
    assert_array_equal(labels, CCSKL(3, random_state=0).fit_predict(scaled, constraints=links))
    assert_array_equal(pipeline.predict(X), labels)


def test_metadata_routing_passes_constraints_on(iris):
    X, y = iris
    ids = np.arange(1000, 1150)
    links = sample_pairs(y, 80, random_state=0, sample_id=ids)
    with sklearn.config_context(enable_metadata_routing=True):
        model = CCSKL(3, on_unknown="drop", random_state=0).set_fit_request(
            constraints=True, sample_id=True
        )
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model), {"ccskl__n_neighbors": [10, 20]},
            cv=KFold(2, shuffle=True, random_state=0),  # iris is sorted by class
            scoring="adjusted_rand_score", error_score="raise",
        )  # fmt: skip
        search.fit(X, y, constraints=links, sample_id=ids)
    assert search.best_score_ > 0.5
    best = search.best_estimator_[-1]
    assert_array_equal(
        best.labels_,
        CCSKL(3, n_neighbors=best.n_neighbors, random_state=0).fit_predict(
            StandardScaler().fit_transform(X), constraints=links, sample_id=ids
        ),
    )
    assert best.violations_  # the constraints arrived


@pytest.mark.parametrize(
    "Estimator", [CCSKL, PropagatedSpectralClustering, SignedSpectralClustering]
)
def test_a_precomputed_affinity_is_the_same_as_its_points(Estimator, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    options = {"sigma": 2.0, "random_state": 0}
    W = build_affinity(X, "rbf", n_neighbors=0, sigma=2.0).W
    by_points = Estimator(3, affinity="rbf", **options).fit(X, constraints=links)
    by_matrix = Estimator(3, affinity="precomputed", **options).fit(W, constraints=links)
    assert same(by_points.labels_, by_matrix.labels_)
    assert_array_equal(by_matrix.predict(W), by_matrix.labels_)
    new = build_affinity(X, "rbf", n_neighbors=0, sigma=2.0).weights(X[:9] + 0.01)
    assert_array_equal(by_matrix.predict(new), by_points.predict(X[:9] + 0.01))
    as_csr = Estimator(3, affinity="precomputed", **options).fit(
        sparse.csr_matrix(W), constraints=links
    )
    assert same(as_csr.labels_, by_matrix.labels_)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((4, 3)), "square"),
        (-np.eye(4), "negative"),
        (np.triu(np.ones((4, 4))), "symmetric"),
    ],
)
def test_a_matrix_that_is_no_affinity_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        CCSKL(2, affinity="precomputed").fit(matrix)


def test_dense_methods_refuse_what_would_not_fit_in_memory(monkeypatch, iris):
    monkeypatch.setattr("linkwise.blocks.cost.machine_memory", lambda: 500_000)
    for Estimator in (KernelKMeans, OptimalKernelKMeans, PropagatedSpectralClustering):
        with pytest.raises(MemoryError, match=r'use CCSKL|use affinity="nearest_neighbors"'):
            Estimator(3).fit(iris[0])
    with pytest.raises(MemoryError, match="nearest_neighbors"):
        SignedSpectralClustering(3, affinity="rbf").fit(iris[0])
    CCSKL(3).fit(iris[0])


def test_rows_are_matched_exactly():
    X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 0.0]])
    queries = np.array([[2.0, 3.0], [1.0, -0.0], [1.0, 1e-300]])
    assert_array_equal(match_rows(X, queries), [1, 0, -1])
    assert_array_equal(match_rows(sparse.csr_array(X), sparse.csr_array(queries)), [1, 0, -1])


# single estimators


def test_spectrum_is_non_increasing_and_non_negative(iris, links):
    model = CCSKL(3, random_state=0).fit(iris[0], constraints=links)
    assert model.spectrum_.shape == (20,)
    assert np.all(np.diff(model.spectrum_) <= 0)
    assert model.spectrum_[-1] >= 0
    rows = CCSKL(3, normalize_rows=True, random_state=0).fit(iris[0], constraints=links)
    assert_allclose(np.linalg.norm(rows.embedding_, axis=1), 1)


def test_balanced_diagonal_hears_few_pairs_among_many_points():
    """With many points the literal sum ends near the constant vector; balanced does not."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 700)
    X = rng.standard_normal((6, 10))[y] * 2.2 + rng.standard_normal((len(y), 10))
    plain = adjusted_rand_index(y, CCSKL(6, random_state=0).fit_predict(X))
    links = sample_pairs(y, 40, random_state=0)
    balanced = CCSKL(6, random_state=0).fit_predict(X, constraints=links)
    assert adjusted_rand_index(y, balanced) >= plain - 0.01


def test_eps_may_differ_for_must_and_cannot(wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    A = PropagatedSpectralClustering(3, eps=(0.5, 1e6), random_state=0).fit(X, constraints=links)
    must = Constraints(links.must_link)
    B = PropagatedSpectralClustering(3, eps=0.5, random_state=0).fit(X, constraints=must)
    assert_allclose(A.affinity_matrix_, B.affinity_matrix_, atol=1e-6)
    for eps in (0, -1, (1,), (1, 0), "1"):
        with pytest.raises(ValueError, match="eps"):
            PropagatedSpectralClustering(3, eps=eps).fit(X)


def test_algorithm_follows_the_number_of_clusters(wine):
    X = wine[0]
    assert PropagatedSpectralClustering(2).fit(X).algorithm_ == "a"
    assert PropagatedSpectralClustering(3).fit(X).algorithm_ == "b"


@pytest.mark.parametrize("Estimator", [PropagatedSpectralClustering, SignedSpectralClustering])
def test_a_pair_listed_twice_is_a_pair_of_weight_two(Estimator, iris):
    pairs = [(0, 60), (70, 130)]
    twice = Constraints(pairs * 2, [(0, 130)])
    heavy = Constraints(pairs, [(0, 130)], must_weight=2)
    a, b = (
        Estimator(3, random_state=0).fit(iris[0], constraints=links).affinity_matrix_
        for links in (twice, heavy)
    )
    assert abs(a - b).max() < 1e-12


def test_balance_one_is_plain_and_balance_zero_the_constraints_alone(wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    plain = SignedSpectralClustering(3, random_state=0).fit(X)
    one = SignedSpectralClustering(3, balance=1, random_state=0).fit(X, constraints=links)
    assert_array_equal(one.labels_, plain.labels_)
    zero = SignedSpectralClustering(3, balance=0, random_state=0).fit(X, constraints=links)
    assert_allclose(zero.affinity_matrix_.toarray(), links.matrix(178).toarray())


@pytest.mark.parametrize("two_way", ["auto", "first", "kmeans"])
def test_two_clusters_follow_the_sign_or_kmeans(two_way, blobs):
    X, y = blobs[0][blobs[1] < 2], blobs[1][blobs[1] < 2]
    links = sample_pairs(y, 40, random_state=0)
    model = SignedSpectralClustering(2, two_way=two_way, random_state=0).fit(X, constraints=links)
    assert same(model.labels_, y)
    new = X + 0.01
    assert same(model.predict(new), y)
    assert_array_equal(model.predict(new), model.labels_)


def test_many_clusters_and_mostly_cannot_links_are_warned_of(rng):
    X = rng.standard_normal((40, 2))
    cannot = [(i, i + 1) for i in range(30)]
    with pytest.warns(ConstraintWarning, match="mostly cannot-links"):
        SignedSpectralClustering(12, random_state=0).fit(X, constraints=([], cannot))


@pytest.mark.parametrize(
    "kernel", ["linear", "cosine", "laplacian", lambda A, B: (A @ B.T + 1) ** 2]
)
def test_any_kernel_will_do(kernel, blobs):
    X, y = blobs
    model = KernelKMeans(3, kernel=kernel, random_state=0)
    model.fit(X + 10, constraints=sample_pairs(y, 50, random_state=0))
    assert adjusted_rand_index(y, model.labels_) > 0.9
    assert_array_equal(model.predict(X + 10), model.labels_)


def test_a_precomputed_kernel_may_be_negative(blobs):
    X, y = blobs
    K = X @ X.T
    model = KernelKMeans(3, kernel="precomputed", random_state=0).fit(K)
    assert same(model.labels_, y)
    assert_array_equal(model.predict((X + 0.01) @ X.T), model.labels_)


def test_a_kernel_at_its_cap_is_announced(blobs):
    X, _ = blobs
    must = [(i, i + 1) for i in range(0, 100, 2)]
    with pytest.warns(ConstraintWarning, match="widest kernel"):
        OptimalKernelKMeans(3, random_state=0).fit(X, constraints=(must, []))


# corner cases


@pytest.mark.parametrize("Estimator", [KernelKMeans, OptimalKernelKMeans])
@pytest.mark.filterwarnings("ignore::linkwise.ConstraintWarning")
def test_must_links_may_leave_fewer_groups_than_clusters(Estimator, rng):
    X = rng.standard_normal((20, 2))
    links = Constraints.from_labels(np.repeat([0, 1], 10))
    model = Estimator(3, random_state=0).fit(X, constraints=links)
    assert len(np.unique(model.labels_)) == 3
    assert model.violations_
    tiny = Estimator(4, random_state=0).fit(X[:4], constraints=([(0, 1)], [(1, 2)]))
    assert len(np.unique(tiny.labels_)) == 4


@every
def test_a_common_offset_of_the_points_is_irrelevant(Estimator, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    model = Estimator(3, random_state=0).fit(X, constraints=links)
    moved = Estimator(3, random_state=0).fit(X + 1e7, constraints=links)
    assert adjusted_rand_index(model.labels_, moved.labels_) > 0.95


@pytest.mark.parametrize("sigma", ["2r", "10r"])
def test_hard_links_in_float32_are_those_in_float64(sigma, iris):
    X, y = iris
    links = sample_pairs(y, 150, random_state=0)
    options = {"eps": 1e-5, "sigma": sigma, "random_state": 0}
    single = PropagatedSpectralClustering(3, **options).fit(X.astype("f4"), constraints=links)
    double = PropagatedSpectralClustering(3, **options).fit(
        X.astype("f4").astype("f8"), constraints=links
    )
    assert single.affinity_matrix_.dtype == np.float32
    assert_allclose(single.affinity_matrix_, double.affinity_matrix_, atol=1e-6)


def test_a_neighbour_graph_is_no_covariance():
    W = np.kron(np.eye(2), np.ones((8, 8))) - np.eye(16)
    for links in (([], [(0, 12)]), ([(0, 12)], [])):
        with pytest.raises(ValueError, match="positive semi-definite"):
            PropagatedSpectralClustering(3, affinity="precomputed").fit(W, constraints=links)


def test_a_table_inside_cross_validation_is_refused(iris):
    """scikit-learn would slice it like rows when it has as many."""
    X, y = iris
    ids = np.arange(150)
    table = np.stack(sample_pairs(y, 150, random_state=0).arrays()[:3], axis=1)
    with pytest.raises(TypeError, match="pass a Constraints object"):
        cross_val_predict(
            CCSKL(3, on_unknown="drop"), X, cv=3, params={"constraints": table, "sample_id": ids}
        )


def warned_of(rng):
    """Yield calls that warn, and what they say."""
    X = rng.standard_normal((40, 2))
    parts = np.repeat(100 * np.arange(8.0), 15)[:, None] + rng.standard_normal((120, 2))
    contradiction = Constraints([(0, 1)], [(0, 1)])
    must = [(i, i + 1) for i in range(0, 38, 2)]
    few = np.repeat([[0.0], [1.0]], 10, axis=0)
    yield "separate parts", lambda: CCSKL(3, n_neighbors=5).fit(parts)
    yield "separate parts", lambda: CCSKL(3, n_neighbors=5).fit_predict(parts)
    yield (
        "separate parts",
        lambda: make_pipeline(StandardScaler(), CCSKL(3, n_neighbors=5)).fit_predict(parts),
    )
    yield (
        "contradict",
        lambda: PCKMeans(2, on_conflict="drop").fit(X, constraints=contradiction),
    )
    yield "contradict", lambda: ITML(on_conflict="drop").fit(X, constraints=contradiction)
    yield "does not use", lambda: NormalizedCuts(2).fit(X, constraints=Constraints([(0, 1)]))
    yield "widest kernel", lambda: OptimalKernelKMeans(2).fit(X, constraints=(must, []))
    yield "only 2 of 3", lambda: COPKMeans(3).fit(few)
    yield "only 2 of 3", lambda: kmeans(few, 3, rng=rng)
    yield "did not settle", lambda: PCKMeans(3, max_iter=1, n_init=1, random_state=0).fit(X)
    yield "did not reach", lambda: ConstrainedGaussianMixture(3, max_iter=1).fit(X)


def test_warnings_name_the_line_of_the_caller(rng):
    for message, call in warned_of(rng):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        found = [one for one in told if message in str(one.message)]
        assert found, message
        first = call.__code__.co_firstlineno
        for one in found:
            assert one.filename == __file__
            assert one.lineno == first


def test_more_parts_than_clusters_are_announced(rng):
    X = np.repeat(100 * np.arange(8.0), 15)[:, None] + rng.standard_normal((120, 2))
    with pytest.warns(ConvergenceWarning, match="8 separate parts"):
        CCSKL(3, n_neighbors=5, random_state=0).fit(X)


def test_the_objective_is_the_papers_whatever_was_ascended(iris, links):
    X, _ = iris
    for objective in ("paper", "balanced"):
        model = OptimalKernelKMeans(3, objective=objective, random_state=0)
        model.fit(X, constraints=links)
        i, j, sign, _ = links.arrays()
        squared = ((X[i] - X[j]) ** 2).sum(axis=1)
        K = sum(
            a * np.exp(-squared / (2 * s**2))
            for a, s in zip(model.weights_, model.widths_, strict=True)
        )
        assert model.objective_ == pytest.approx(2 * np.sum(sign * K) - 2 * sign.sum())


@every
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_unit_of_the_points_is_irrelevant(Estimator, scale, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    model = Estimator(3, random_state=0).fit(X, constraints=links)
    scaled = Estimator(3, random_state=0).fit(scale * X, constraints=links)
    assert adjusted_rand_index(model.labels_, scaled.labels_) > 0.95


@pytest.mark.parametrize("Estimator", [COPKMeans, ConstrainedAgglomerative])
def test_hard_methods_explain_with_the_users_ids(Estimator, rng):
    ids = ["anna", "bert", "carl", "dora"]
    links = Constraints(cannot_link=[("anna", "bert"), ("bert", "carl"), ("anna", "carl")])
    with pytest.raises(InfeasibleConstraints, match="anna cannot be with bert"):
        Estimator(2).fit(rng.standard_normal((4, 2)), constraints=links, sample_id=ids)


@pytest.mark.parametrize("name", linkwise.estimators.__all__)
def test_refit_gives_what_fit_gives(name, iris, links):
    Estimator = getattr(linkwise, name)
    if not hasattr(Estimator, "refit"):
        pytest.skip("a transformer")
    fixed = {"random_state": 0} if "random_state" in Estimator._get_param_names() else {}
    given = links.with_weight(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)  # NormalizedCuts says it uses none
        fresh = Estimator(3, **fixed).fit(iris[0], constraints=given)
        model = Estimator(3, **fixed).fit(iris[0], constraints=given.select(np.arange(40)))
        model.refit(given)
    assert_array_equal(model.labels_, fresh.labels_)
    assert model.violations_ == fresh.violations_


def test_refit_names_points_as_fit_did_and_keeps_the_graph(iris, links):
    ids = np.array([f"flower {row}" for row in range(150)])
    a, b, sign, weight = links.arrays()
    named = Constraints.from_table({"id_a": ids[a], "id_b": ids[b], "kind": sign, "weight": weight})
    model = CCSKL(3, random_state=0).fit(iris[0], sample_id=ids)
    graph, basis = model._graph_, model._basis
    assert_array_equal(
        model.refit(named).labels_,
        CCSKL(3, random_state=0).fit(iris[0], constraints=links).labels_,
    )
    assert model._graph_ is graph
    assert model._basis is basis
    with pytest.raises(ValueError, match="not in sample_id"):
        model.refit(Constraints([("flower 0", "tree")]))


def test_the_view_that_keeps_most_constraints_is_taken(wine):
    X, y = StandardScaler().fit_transform(wine[0]), wine[1]
    links = sample_pairs(y, 60, random_state=3)
    share = {
        rows: kept(
            CCSKL(3, normalize_rows=rows, random_state=0).fit_predict(X, constraints=links), links
        )
        for rows in (False, True, "auto")
    }
    assert share["auto"].all >= max(share[False].all, share[True].all) - 0.02
    model = CCSKL(3, random_state=0).fit(X, constraints=links)
    assert model.view_ in ("weighted", "unit", "plain")
    assert CCSKL(3, random_state=0).fit(X).view_ == "plain"


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_searches_for_neighbours_agree(metric, blobs):
    X = blobs[0]
    X = X if metric == "euclidean" else np.hstack([X, np.ones((len(X), 1))])
    labels = [
        CCSKL(
            3, n_neighbors=10, affinity_params={"search": search, "metric": metric}, random_state=0
        ).fit_predict(X)
        for search in ("exact", "approximate", "auto")
    ]
    assert same(labels[0], labels[2])
    assert adjusted_rand_index(labels[0], labels[1]) > 0.95
    with pytest.raises(ValueError, match="metric must be one of euclidean, cosine; got 'l1'"):
        CCSKL(3, affinity_params={"metric": "l1"}).fit(X)


@pytest.mark.parametrize("cls", [CCSKL, COPKMeans, KernelKMeans])
def test_true_is_no_number_of_clusters(cls):
    with pytest.raises(ValueError, match="n_clusters=True: expected a whole number"):
        cls(True).fit(np.random.default_rng(0).normal(size=(20, 2)))


@pytest.mark.parametrize("name", CLUSTERERS)
@pytest.mark.parametrize("k", [(2, 12), [2, 12], range(2, 13)], ids=str)
def test_a_range_for_the_number_of_clusters_is_refused_in_words(name, k):
    X = np.random.default_rng(0).normal(size=(20, 2))
    told = rf"{name} needs one number.*LinkClustering\(n_clusters=\(2, 12\)\) takes a range"
    with pytest.raises(ValueError, match=told):
        getattr(linkwise.estimators, name)(n_clusters=k).fit(X)
