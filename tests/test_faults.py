"""Faults that were found once: each test failed before its fault was mended."""

import itertools
import warnings
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import linkwise
from linkwise import (
    CCSKL,
    ConstrainedGaussianMixture,
    Constraints,
    ConstraintWarning,
    ConvergenceWarning,
    COPKMeans,
    FlexibleSpectralClustering,
    HMRFKMeans,
    LinkClustering,
    MPCKMeans,
    NormalizedCuts,
    OptimalKernelKMeans,
    PCKMeans,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
    sample_pairs,
)
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.graph.weights import median_scale
from linkwise.linalg import downdate
from linkwise.partition.distortion import Mahalanobis, root
from linkwise.tables import read_points

CLUSTERERS = [
    name
    for name in [*linkwise.estimators.__all__, "LinkClustering"]
    if hasattr(getattr(linkwise, name), "fit_predict")
]
OTHERS = ["ConstrainedPCA", "ConstrainedLPP", "ITML", "ManifoldLayout"]


def estimator(name, k=2):
    """Return an estimator of that name with a seed and, if it has one, a number of clusters."""
    Estimator = getattr(linkwise, name)
    known = {"n_clusters": k, "random_state": 0, "effort": "fast", "n_steps": 3}
    return Estimator(**{key: known[key] for key in Estimator._get_param_names() if key in known})


@pytest.fixture
def two(rng):
    """Two blobs of 15 points with three features."""
    return rng.standard_normal((30, 3)) + np.repeat([[0.0], [6.0]], 15, axis=0)


def test_a_downdate_without_observations_changes_nothing():
    B, T = downdate(np.empty((4, 0)), np.empty((0, 0)))
    assert B.shape == (4, 0)
    assert T.shape == (0, 0)


def test_propagation_without_constraints_runs(two):
    assert set(PropagatedSpectralClustering(2, random_state=0).fit_predict(two)) == {0, 1}


def test_probabilities_of_new_rows_sum_to_one(rng):
    X = rng.standard_normal((60, 3)) + 2 * rng.integers(0, 4, (60, 1))
    chain = Constraints([], [(i, i + 1) for i in range(29)])
    model = linkwise.LinkClustering(None, effort="fast", random_state=0)
    P = model.fit(X, constraints=chain).predict_proba(X + 0.01)
    assert_allclose(P.sum(axis=1), 1)


def test_a_chain_of_cannot_links_does_not_make_clusters_of_single_rows(rng):
    """Two clusters can hold the chain; there were 40."""
    X = rng.standard_normal((60, 3)) + 2 * rng.integers(0, 4, (60, 1))
    chain = Constraints([], [(i, i + 1) for i in range(29)])
    model = linkwise.LinkClustering(None, effort="fast", random_state=0).fit(X, constraints=chain)
    assert 2 <= model.n_clusters_ <= 10


def test_units_are_irrelevant_if_every_row_occurs_often():
    X = np.repeat([[0.0], [1.0], [2.0]], 9, axis=0).astype(np.float32)
    one, four = (
        NeighbourAffinity(factor * X, 10, "local").W.toarray() for factor in np.float32([1, 4])
    )
    assert_array_equal(one, four)
    assert 0 < one[0, 9:].max() < 1


@pytest.mark.filterwarnings("ignore:only 1 of")
def test_probabilities_on_equal_rows_are_numbers():
    model = linkwise.LinkClustering(None, effort="fast", random_state=0).fit(np.ones((20, 2)))
    assert_allclose(model.predict_proba(np.full((3, 2), 2.0)).sum(axis=1), 1)


@pytest.mark.parametrize("gap", [0, 3, 30])
def test_one_must_link_gives_the_two_clusters_without_it_and_says_so(gap):
    y = np.arange(40) % 2
    announced = 0
    for seed in range(40):
        X = np.random.default_rng(seed).standard_normal((40, 2)) + gap * y[:, None]
        plain = FlexibleSpectralClustering(2, random_state=0).fit_predict(X)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = FlexibleSpectralClustering(2, random_state=0)
            labels = model.fit_predict(X, constraints=Constraints([(0, 2)]))
        assert set(labels) == {0, 1}
        said = [str(one.message) for one in caught]
        assert all("clusters are those of plain spectral clustering" in text for text in said)
        assert said or not model.violations_
        assert adjusted_rand_index(plain, labels) > 0.5
        if gap == 30:  # a graph of two parts
            assert_array_equal(labels, y)
        announced += len(said)
    assert announced < 40 if gap else announced > 0


def test_must_links_alone_are_followed_where_they_make_a_cut():
    X = np.random.default_rng(0).standard_normal((60, 2)) + 2.5 * (np.arange(60) % 2)[:, None]
    links = Constraints([(a, a + 2) for a in range(0, 40)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FlexibleSpectralClustering(2, random_state=0).fit(X, constraints=links)
    assert set(model.labels_) == {0, 1}
    assert len(model.violations_) < 5


def test_weights_of_constraints_have_no_unit(two):
    links = Constraints([(0, 1), (15, 16)], [(0, 20)])
    labels = FlexibleSpectralClustering(2, random_state=0).fit_predict(two, constraints=links)
    light = links.with_weight(1e-12)
    again = FlexibleSpectralClustering(2, random_state=0).fit_predict(two, constraints=light)
    assert_array_equal(labels, again)


def test_a_kernel_too_narrow_for_the_data_is_announced():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 5, 500)
    X = rng.standard_normal((500, 6))
    X[:, :2] += 1.5 * y[:, None]
    links = sample_pairs(y, 30, random_state=2)
    model = OptimalKernelKMeans(5, random_state=0)
    with pytest.warns(ConstraintWarning, match='most points resemble no other.*"balanced"'):
        model.fit(X, constraints=links)
    model = OptimalKernelKMeans(5, objective="balanced", random_state=0).fit(X, constraints=links)
    assert np.bincount(model.labels_).max() < 200


def test_constraints_choose_the_balance():
    """Classes that the graph does not show, and some of all pairs."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 4)), rng.integers(0, 2, 80)
    links = sample_pairs(y, 220, random_state=0)
    fixed = SignedSpectralClustering(2, balance=0.5, random_state=0).fit(X, constraints=links)
    model = SignedSpectralClustering(2, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_index(y, model.labels_) > 0.95 > adjusted_rand_index(y, fixed.labels_)
    assert model.balance_ < 0.5
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("assign", ["discretize", "qr"])
def test_new_points_are_assigned_by_the_rotation_of_the_fit(assign):
    X = np.random.default_rng(1).standard_normal((300, 2))
    model = NormalizedCuts(4, assign=assign, affinity="anchors", random_state=0).fit(X)
    assert_array_equal(model.predict(X[::3]), model.labels_[::3])


@pytest.mark.parametrize("Estimator", [SignedSpectralClustering, SpectralLearning])
@pytest.mark.parametrize("k", [2, 4])
def test_fitted_rows_keep_their_labels_on_anchors_if_rows_are_equal(Estimator, k):
    rng = np.random.default_rng(1)
    X = np.round(2 * rng.standard_normal((400, 2)))
    links = sample_pairs(np.arange(400) % 3, 100, random_state=0)
    model = Estimator(k, affinity="anchors", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, constraints=links)
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("Estimator", [CCSKL, SpectralRegularization])
def test_points_at_equal_distances_are_clustered(Estimator):
    assert len(set(Estimator(3, random_state=0).fit_predict(np.eye(18)))) == 3


def test_a_metric_of_columns_of_any_scale_is_learned(two):
    links = sample_pairs(np.repeat([0, 1], 15), 20, random_state=0, error_rate=0.4)
    scaled = two * [1e-8, 1, 1e8]
    options = {"on_conflict": "keep", "random_state": 0}
    plain = MPCKMeans(2, **options).fit(two, constraints=links)
    model = MPCKMeans(2, **options).fit(scaled, constraints=links)
    assert_array_equal(model.labels_, plain.labels_)


def test_a_ridge_too_small_is_named(two):
    with pytest.raises(ValueError, match=r"reg=1e-12 is too small.*raise reg"):
        ConstrainedGaussianMixture(2, reg=1e-12, random_state=0).fit(np.c_[two, two])


def test_sparse_points_far_from_the_origin_are_clustered_like_dense_ones(rng):
    X = np.round(rng.standard_normal((200, 4)), 3)
    links = Constraints([(0, 1)], [(i, i + 1) for i in range(5, 40)])
    near = COPKMeans(20, random_state=0).fit(sparse.csr_array(X), constraints=links)
    far = COPKMeans(20, random_state=0).fit(sparse.csr_array(X + 1e8), constraints=links)
    assert len(set(far.labels_)) == 20
    assert far.inertia_ == pytest.approx(near.inertia_, rel=0.1)
    assert_allclose(far.cluster_centers_.mean(), 1e8)


def can_hold(n, pairs, k):
    """Tell by trying all labels whether pairs (a, b, sign) can hold in k clusters."""
    return any(
        all((labels[a] == labels[b]) == (sign > 0) for a, b, sign in pairs)
        for labels in itertools.product(range(k), repeat=n)
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_pair_of_a_conflict_can_be_left_out(seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.r_[0, 0, 0, 1, 1, 2, 3])  # four groups, three clusters
    everything = sample_pairs(groups, 21, random_state=seed)
    conflict = everything.conflict(3)
    pairs = [(a, b, sign) for a, b, sign, _ in conflict]
    assert not can_hold(7, pairs, 3)
    for at in range(len(pairs)):
        assert can_hold(7, pairs[:at] + pairs[at + 1 :], 3), pairs[at]


def test_the_smallest_conflict_is_promised_for_up_to_two_clusters_only():
    said = " ".join(Constraints.conflict.__doc__.split())
    assert "With n_clusters = None, 1 or 2 it is the smallest such set" in said
    assert "smallest" not in linkwise.InfeasibleConstraints.__doc__


@pytest.mark.parametrize("name", [*CLUSTERERS, *OTHERS])
@pytest.mark.parametrize("factor", [1e150, 1e-151, 1e200, 1e-200, 1e307])
def test_points_whose_squares_overflow_or_vanish_are_refused(name, factor, two):
    with pytest.raises(ValueError, match=r"X has values up to .* scale X to ordinary numbers"):
        estimator(name).fit(two * factor)


@pytest.mark.parametrize("name", [*CLUSTERERS, "ConstrainedPCA", "ConstrainedLPP", "ITML"])
@pytest.mark.parametrize("weight", [1e170, 1e-170, 1e-320])
def test_weights_beyond_arithmetic_are_refused(name, weight, two):
    links = Constraints([(0, 1)], [(0, 29)]).with_weight(weight)
    with pytest.raises(ValueError, match=r"the pair \(0, 1\) has weight .* common factor"):
        estimator(name).fit(two, constraints=links)


def test_a_header_beyond_limits_is_refused_without_advice_to_allow_pickles(tmp_path):
    place = tmp_path / "points.npy"
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }".ljust(19_999) + b"\n"
    place.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(48))
    for read in (read_points, CCSKL(2, affinity="anchors").fit):
        with pytest.raises(ValueError, match="not a readable") as refusal:
            read(str(place))
        assert "pickle" not in str(refusal.value)


def test_a_model_without_one_of_its_parts_is_not_loaded(two, tmp_path):
    """A damaged description that is still JSON."""
    place = tmp_path / "m.lwmodel"
    linkwise.save(COPKMeans(2, random_state=0).fit(two), place)
    with zipfile.ZipFile(place) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    damaged = parts["model.json"].replace(b'"cluster_centers_"', b'"cluster_centres_"')
    assert damaged != parts["model.json"]
    with zipfile.ZipFile(place, "w") as archive:
        for name, part in (parts | {"model.json": damaged}).items():
            archive.writestr(name, part)
    with pytest.raises(ValueError, match=r"does not match its checksum.*save the model again"):
        linkwise.load(place)


@pytest.mark.parametrize("n_pairs", [np.inf, -np.inf, np.nan])
def test_a_number_of_pairs_is_finite(n_pairs):
    with pytest.raises(ValueError, match="n_pairs must be an integer >= 0"):
        sample_pairs([0, 1, 0, 1], n_pairs)


@pytest.mark.parametrize("outliers", [0.0, 0.3, "auto"])
def test_no_row_is_a_stray_if_must_links_join_all(outliers, two):
    halves = [(i, i + 1) for half in (0, 15) for i in range(half, half + 14)]
    everyone = Constraints(halves, [(0, 15)])
    model = LinkClustering(2, effort="fast", outliers=outliers, random_state=0)
    assert model.fit(two, constraints=everyone).labels_.min() == 0


def test_not_all_rows_are_strays():
    model = LinkClustering(1, effort="fast", outliers=0.9, random_state=0)
    assert model.fit([[0.0], [1.0], [2.0]]).labels_.tolist().count(-1) == 2


def test_a_column_of_text_is_named():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]})
    for X, column in ((table, "'name'"), (table.to_numpy(), "1"), (table.to_numpy().tolist(), "1")):
        with pytest.raises(ValueError, match=f"X: column {column} has values .*'a'"):
            PCKMeans(2).fit(X)
    with pytest.raises(ValueError, match=r"column 'name' has values .*Timestamp"):
        PCKMeans(2).fit(table.assign(name=pd.date_range("2020", periods=3)))


def test_a_range_of_numbers_of_clusters_holds_if_must_links_join_all_rows(two):
    everyone = Constraints(must_link=[(0, i) for i in range(1, len(two))])
    model = LinkClustering((2, 4), effort="fast", respect="hard", random_state=0)
    with pytest.warns(ConvergenceWarning, match="only 1 of 2 clusters found"):
        model.fit(two, constraints=everyone)
    assert model.n_clusters_ == model.probabilities_.shape[1] == 2


def test_the_place_of_equal_points_does_not_matter_to_a_mixture():
    y = np.random.default_rng(0).integers(0, 4, 34)
    links = sample_pairs(y, 60, random_state=0)

    def labels(X):
        model = ConstrainedGaussianMixture(4, n_init=2, random_state=0)
        return model.fit_predict(X, constraints=links)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        at_one = labels(np.ones((34, 1)))
        for place in (0.0, 4.0, 1000.0):
            assert_array_equal(labels(np.full((34, 1), place)), at_one)


def test_ties_of_hmrf_do_not_depend_on_the_units():
    X = np.array(
        [
            4.526360676801422, 1.6115154753747263, -3.508452658094363, -3.0328845816602983,
            -3.4366087465587833, 3.0042650975211833, 5.0233524350530345, 0.48922245810684095,
            3.498278939294333, -2.0940225823014633, -1.743939178113885,
        ]
    )[:, None]  # fmt: skip
    must = [(0, 1), (5, 8)]
    cannot = [
        (4, 8), (7, 10), (2, 5), (3, 7), (2, 4), (7, 9), (0, 9), (2, 6), (6, 7), (0, 10), (1, 3),
        (4, 7), (3, 5), (2, 7), (0, 5), (0, 3), (2, 9), (2, 8), (1, 10),
    ]  # fmt: skip

    def labels(points):
        model = HMRFKMeans(4, n_init=2, random_state=0)
        return model.fit_predict(points, constraints=Constraints(must, cannot))

    assert_array_equal(labels(4 * X), labels(X))


def test_the_width_of_a_kernel_has_the_unit_of_the_points_where_all_have_copies():
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    assert median_scale(1000 * X) == 1000 * median_scale(X) > 0
    assert median_scale(sparse.csr_array(4 * X)) == 4 * median_scale(X)
    assert median_scale(np.ones((30, 2))) == 0
    graphs = [NeighbourAffinity(scale * X, 5, "r").median_scale for scale in (1, 1000)]
    assert graphs[1] == 1000 * graphs[0]


def test_heavy_constraints_leave_a_metric_that_can_be_used():
    X = np.outer(np.arange(20.0), np.ones(4))
    metric = Mahalanobis(X, Constraints(), 1.0, 3, full=True, shared=True)
    for weight in 10.0 ** np.arange(8, 20):
        S = weight * np.ones((4, 4)) + np.diag(metric.B)  # a must-link along all columns
        assert np.isfinite(root(metric._inverse(S))).all()


@pytest.mark.parametrize(("k", "count"), [(None, 0), ((2, 4), 1), (3, 1)])
def test_only_the_number_of_clusters_asked_for_is_announced(k, count):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LinkClustering(k, effort="fast", random_state=0).fit(np.ones((20, 2)))
    assert len(caught) == count
    assert all("only 1 of" in str(one.message) for one in caught)
