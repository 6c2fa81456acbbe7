"""Laws of LinkClustering and of its parts."""

import io
import itertools
import re
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.quality.texts import topics
from linkwise import Constraints, InfeasibleConstraints, LinkClustering, sample_pairs
from linkwise.choice.candidates import (
    Candidate,
    Fold,
    Judged,
    Judgement,
    calibrated,
    contenders,
    doubted,
    folds_of,
    rank_starts,
    started,
)
from linkwise.choice.combination import (
    CO_TRAINED,
    SHARPNESS,
    SURER,
    bits_told,
    matching,
    weight_of_co_em,
    weights_of,
)
from linkwise.choice.counting import forced
from linkwise.choice.effort import EFFORTS, PROBE
from linkwise.class_models import (
    coordinates,
    make_learners,
    make_views,
    mean_silhouettes,
    pair_softmax,
    predict_classes,
    prepare,
    probability_wrong,
    propagate,
)
from linkwise.class_models.beliefs import error_of, log_likelihood
from linkwise.class_models.co_training import (
    fit_weights,
    likely_error,
    log_probabilities,
    trusted,
)
from linkwise.class_models.learners import (
    gaussian_model,
    graph_smoother,
    kernel_smoother,
    linear_smoother,
    without_own,
)
from linkwise.class_models.linkage import Linkage, linkages_of, with_tree
from linkwise.class_models.partitions import (
    Partition,
    agreements,
    believed,
    clearest,
    plain_partitions,
)
from linkwise.class_models.silhouettes import principal
from linkwise.class_models.views import are_texts
from linkwise.constraints import uniform_pairs
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.partition.hard import assign

SMOOTHERS = {
    "graph": graph_smoother,
    "near": lambda Y, view, rng: kernel_smoother(Y, view, rng, wide=False),
    "wide": lambda Y, view, rng: kernel_smoother(Y, view, rng, wide=True),
    "linear": lambda Y, view, rng: linear_smoother(Y, view),
}
smoothers = pytest.mark.parametrize("make", SMOOTHERS.values(), ids=SMOOTHERS)


def links_of(pairs, sign, weight=None):
    i, j = np.array(pairs, dtype=int).reshape(-1, 2).T
    weight = np.ones(len(sign)) if weight is None else np.asarray(weight)
    return Constraints.from_table({"a": i, "b": j, "kind": np.array(sign), "weight": weight})


def distinct(pairs):
    """Return the pairs (m, 2) of two different points."""
    return pairs[pairs[:, 0] != pairs[:, 1]]


@parametrize_with_checks([LinkClustering(2, effort="fast")])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(150, noise=0.08, random_state=0)
    return X * [1, 1000], y  # scales that hide the shape


def test_beliefs_are_exact_on_a_tree(rng):
    evidence = rng.standard_normal((5, 3))
    links = links_of([(0, 1), (1, 2), (1, 3), (3, 4)], [1, -1, -1, 1], [1, 2, 1, 0.5])
    found = propagate(evidence, links, 0.1)
    total, without = np.zeros((5, 3)), np.zeros((4, 2))
    e = error_of(links.weight, 0.1)
    for z in itertools.product(range(3), repeat=5):
        agree = np.array(
            [(z[i] == z[j]) == (s > 0) for (i, j), s in zip(links.ends, links.sign, strict=True)]
        )
        prior = np.exp(evidence[np.arange(5), z].sum())
        total[np.arange(5), z] += prior * np.prod(np.where(agree, 1 - e, e))
        for a, (i, j) in enumerate(links.ends):
            others = np.delete(np.where(agree, 1 - e, e), a)
            without[a] += prior * np.prod(others) * np.array([z[i] == z[j], 1.0])
    same = without[:, 0] / without[:, 1]
    assert_allclose(found.q, total / total.sum(axis=1, keepdims=True), atol=2e-3)
    assert_allclose(found.same, same, atol=2e-3)  # what all but the answer itself say


def test_no_answers_leave_the_evidence(rng):
    evidence = rng.standard_normal((4, 2))
    found = propagate(evidence, links_of([], []), 0.1)
    assert_allclose(found.q, softmax(evidence, axis=1))


def test_heavy_answers_do_not_overflow(rng):
    links = links_of([(0, 1), (1, 2)], [1, -1], [1e6, 1e6])
    found = propagate(np.log([[1.0, 1e-300], [1e-300, 1.0], [0.5, 0.5]]), links, 0.05)
    assert np.isfinite(found.q).all()
    assert_allclose(error_of(np.array([1.0, 0.0]), 0.05), [0.05, 0.5])


def test_an_answer_against_the_rest_is_likely_wrong():
    same, sign = np.array([0.01, 0.99, 0.01]), np.array([1, 1, -1])
    wrong = probability_wrong(same, sign, 0.05)
    assert wrong[0] > 0.8
    assert (wrong[1:] < 0.01).all()
    assert_array_equal(np.argsort(log_likelihood(same, sign, 0.05))[0], 0)


@smoothers
def test_a_smoother_without_the_own_label_is_a_fit_without_the_row(make, rng):
    Y, q = rng.standard_normal((40, 3)), rng.dirichlet([1, 1], 40)
    smoother = make(Y, 0, rng)
    for strength in (0, 3):
        c = smoother.shrink[strength].astype(float)
        U, kept = smoother.U.astype(float), c > 1e-6
        U, c = U[:, kept], np.minimum(c[kept], 1 - 1e-9)
        found = without_own(smoother, q, strength)
        for i in np.flatnonzero(smoother.leverage[:, strength] < 0.9)[:5]:
            rest = np.arange(40) != i
            A = U[rest].T @ U[rest] + np.diag((1 - c) / c)
            expected = U[i] @ np.linalg.solve(A, U[rest].T @ q[rest])
            assert_allclose(found[i], expected, atol=2e-3)


@smoothers
def test_a_smoother_places_the_points_it_knows_where_they_are(make, wine):
    X = make_views(wine[0], kinds=("scaled",))[0].X
    smoother = make(X, 0, np.random.default_rng(0))
    q = np.eye(3)[wine[1]]
    inside = smoother.U @ (smoother.shrink[2][:, None] * (smoother.U.T @ q))
    again = predict_classes(smoother, 2, q, coordinates(smoother, X))
    agree = (inside.argmax(axis=1) == again.argmax(axis=1)).mean()
    assert agree > 0.95
    if make is not graph_smoother:  # whose given points are their own neighbours when new
        assert_allclose(inside, again, atol=1e-3)


def test_gaussian_models_tell_gaussians_apart(rng):
    X, y = make_blobs(300, 4, centers=3, random_state=0)
    model = gaussian_model(X, 0, "full", seed=0)
    p = predict_classes(model, None, np.eye(3)[y], coordinates(model, X))
    assert (p.argmax(axis=1) == y).mean() > 0.98


def test_a_round_model_is_the_nearest_mean_of_classes_of_one_size():
    X, y = make_blobs(300, 4, centers=3, random_state=0)
    model = gaussian_model(X, 0, "round", seed=0)
    p = predict_classes(model, None, np.eye(3)[y], coordinates(model, X))
    mean = np.array([X[y == c].mean(axis=0) for c in range(3)])
    distance = ((X[:, None] - mean) ** 2).sum(axis=2)
    assert_array_equal(p.argmax(axis=1), distance.argmin(axis=1))
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    again = gaussian_model(X @ turn, 0, "round", seed=0)
    assert_allclose(predict_classes(again, None, np.eye(3)[y], coordinates(again, X @ turn)), p)


def test_rows_of_texts_are_scaled_and_not_their_columns():
    X, _ = topics(0)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    given, cosines = make_views(X)
    assert (given.name, cosines.name) == ("given", "cosines")
    assert_allclose(cosines.X, rows - rows.mean(axis=0))
    assert_allclose(prepare(cosines, 3 * X), cosines.X)  # the length of a text is irrelevant
    (alone,) = make_views(rows)
    assert_allclose(alone.X, cosines.X, atol=1e-12)
    learners = make_learners([given, cosines], ("graph", "full", "tied", "round"), 0)
    assert [one.view for one in learners if one.name in ("full", "tied", "round")] == [1, 1, 1]


def test_what_is_no_text_keeps_its_columns_scaled(rng):
    X, _ = topics(0)
    centred = X - X.mean(axis=0)  # as principal components are
    correlated = X @ rng.standard_normal((30, 30))
    units = X * 10.0 ** np.linspace(-6, 6, 30)
    for points in (centred, correlated, units, abs(X), X[:, :4]):
        names = [view.name for view in make_views(points)]
        assert "cosines" not in names
        assert len(names) > 1


def test_pictures_are_no_texts():
    X = load_digits().data
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    for points in (X, U[:, :20] * s[:20], U[:, :50] * s[:50]):
        assert not are_texts(points)


def test_topics_are_found_as_well_as_by_k_means_on_rows_of_length_1():
    X, y = topics(1)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    plain = KMeans(6, n_init=10, random_state=0).fit_predict(rows)
    found = LinkClustering(6, random_state=0).fit(X).labels_
    assert adjusted_rand_index(found, y) > adjusted_rand_index(plain, y) - 0.02


def test_views_place_new_points_like_the_given_ones(wine, rng):
    X = wine[0]
    for view in make_views(X):
        assert_allclose(prepare(view, X), view.X, atol=1e-8)
        assert prepare(view, X[:5] + 1.0).shape == (5, view.X.shape[1])
    assert [view.name for view in make_views(X)] == ["given", "scaled", "ranked", "directions"]
    assert [view.name for view in make_views(np.ones((10, 3)))] == ["given"]  # nothing to scale
    assert all(view.X.shape[1] <= 100 for view in make_views(rng.standard_normal((50, 400))))
    words = np.where(rng.random((60, 300)) < 0.05, rng.random((60, 300)), 0)
    text = make_views(sparse.csr_array(words))
    assert text[0].X.shape == (60, 59)


def shared_by_all(rng, k=10):
    """Return points of k classes that three directions of large variance hide, and the classes."""
    y = np.arange(400) % k
    own = 2.5 * np.eye(k)[y] + 0.4 * rng.standard_normal((400, k))
    light = 40 * rng.uniform(-1, 1, (400, 3))
    return np.hstack((own, light)) @ np.linalg.qr(rng.standard_normal((150, k + 3)))[0].T, y


def test_whitened_views_are_whitened_directions_of_scaled_columns(rng):
    X, _ = shared_by_all(rng)
    *_, half, full = make_views(X)
    assert (half.name, full.name) == ("half whitened", "whitened")
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    U, s, _ = np.linalg.svd(scaled, full_matrices=False)
    for view, power in ((half, 0.5), (full, 0.0)):
        Z = U[:, :13] * s[:13] ** power  # 13 directions: the others are rounding errors
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        assert_allclose(view.X @ view.X.T, Z @ Z.T, atol=1e-6)
        assert_allclose(prepare(view, X), view.X, atol=1e-8)
    assert len(make_views(X[:, :100])) < len(make_views(X))  # few columns need none


def test_what_all_classes_share_does_not_hide_them(rng):
    X, y = shared_by_all(rng)
    views = make_views(X, kinds=("given", "scaled", "directions"))
    learners = make_learners(views, ("graph", "island"), 0)
    found = plain_partitions(views, learners, linkages_of(learners, 20, 0), 10, 0)
    assert max(adjusted_rand_index(one.labels, y) for one in found) < 0.5
    assert adjusted_rand_index(LinkClustering(10, random_state=0).fit(X).labels_, y) > 0.9


def test_a_whitened_graph_decides_alone_only_if_it_is_much_clearer():
    views, inside = [0, 1, 2], np.array([[0.6, 0.5, 0.4], [0.3, 0.4, 0.85]])
    assert clearest(inside, views, [2], 10) == 2
    assert clearest(inside, views, [], 10) is None
    assert clearest(inside, views, [1], 10) is None
    inside[1, 2] = 0.65
    assert clearest(inside, views, [2], 10) is None


def test_cannot_links_tell_little_about_many_clusters(rng):
    X, y = make_blobs(600, 5, centers=40, cluster_std=1.5, random_state=0)
    links = sample_pairs(y, 100, random_state=0)
    assert bits_told(links, 40) < 30 < bits_told(links, 2) == 100
    plain, told = (
        LinkClustering(40, effort="fast", random_state=0).fit(X, constraints=c).labels_
        for c in (None, links)
    )
    assert adjusted_rand_index(y, told) > adjusted_rand_index(y, plain) - 0.01


def test_many_clusters_tell_the_share_of_wrong_answers(rng):
    k = 40  # few pairs are in one cluster, so most must-links are wrong if one answer in ten is
    y = rng.integers(k, size=800)
    ends = rng.permutation(800).reshape(-1, 2)
    same = y[ends[:, 0]] == y[ends[:, 1]]
    flipped = same ^ (np.arange(400) < 40)
    assert likely_error(y, k, links_of(ends, np.where(same, 1, -1))) == 0.02
    assert likely_error(y, k, links_of(ends, np.where(flipped, 1, -1))) == 0.1


def test_a_start_is_trusted_as_far_as_it_agrees_with_the_answers(rng):
    y = rng.integers(2, size=200)
    pairs = distinct(rng.integers(200, size=(100, 2)))
    links = links_of(pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1))
    assert trusted(y, 2, links, 0.02)[np.arange(200), y].min() > 0.95
    assert trusted(rng.permutation(y), 2, links, 0.02).max() < 0.75


def test_the_weights_of_a_pool_find_the_learner_that_knows(rng):
    q = np.eye(3)[rng.integers(3, size=300)]
    good = log_probabilities(0.8 * q + 0.2 * rng.dirichlet([1, 1, 1], 300))
    bad = log_probabilities(rng.dirichlet([1, 1, 1], 300))
    a = fit_weights(np.stack([bad, good]), q, np.ones(2))
    assert a[1] > 5 * a[0]


def fitted(Z, links, W, W_0, **options):
    """Return W of one fit to constraints."""
    fits = pair_softmax.fits_of([Z], [links])
    return pair_softmax.fit_pairs(fits, W[None], W_0[None], **options)[0]


def test_a_softmax_of_pairs_reaches_a_minimum(rng, monkeypatch):
    Z, W, W_0 = rng.normal(size=(30, 4)), *rng.normal(size=(2, 4, 3))
    links = links_of(rng.permutation(30).reshape(-1, 2), rng.choice([-1, 1], 15))
    monkeypatch.setattr(pair_softmax, "STEPS", 1000)
    monkeypatch.setattr(pair_softmax, "SETTLED", 1e-12)
    W = fitted(Z, links, W, W_0, error=0.1, penalty=0.5)

    def loss(W):
        p = softmax(Z @ W, axis=1)
        same = np.einsum("ij,ij->i", *p[links.ends.T])
        return -log_likelihood(same, links.sign, 0.1).sum() + 0.25 * np.sum((W - W_0) ** 2)

    for _ in range(20):
        assert loss(W) <= loss(W + 1e-3 * rng.normal(size=W.shape))


def test_a_softmax_of_pairs_finds_classes_that_no_partition_shows(rng):
    X = rng.uniform(-1, 1, size=(600, 2))
    y = np.digitize(X[:, 0], [-0.6, -0.2, 0.2, 0.6])  # five strips of an even square
    pairs = rng.permutation(600)[:500].reshape(-1, 2)
    pairs = np.concatenate((pairs, rng.integers(600, size=(600, 2))))
    pairs = distinct(pairs)
    links = links_of(pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1))
    seen = make_views(X)
    _, Z = pair_softmax.feature_set(make_learners(seen, ("near",), 0), "near")
    W_0 = pair_softmax.start_weights(Z, rng.integers(5, size=600), 5)
    W = fitted(Z, links, W_0, W_0, error=0.02, penalty=1.0)
    assert adjusted_rand_index(y, np.argmax(Z @ W, axis=1)) > 0.6


def test_heavy_answers_bind_a_softmax_of_pairs(rng):
    Z = np.eye(3)
    pairs, sign = [[0, 1], [1, 2], [0, 2]], [1, 1, -1]
    for heavy in range(3):
        links = links_of(pairs, sign, np.where(np.arange(3) == heavy, 3.0, 0.2))
        W = rng.normal(size=(3, 2))
        W = fitted(Z, links, W, 0 * W, error=0.1, penalty=1e-3)
        p = softmax(Z @ W, axis=1)
        same = p[pairs[heavy][0]] @ p[pairs[heavy][1]]
        assert (same > 0.5) == (sign[heavy] > 0)


def test_candidates_weigh_by_what_they_said_of_unseen_answers():
    def candidate(score):
        held_out = None if score is None else np.full(100, score)
        return Candidate("", 0, 0, 1.0, held_out)

    three = [candidate(-0.1), candidate(-0.12), candidate(-1.0)]
    w = weights_of(three, np.zeros(1), 2, 100, 1.0)
    assert w[0] > w[1] > w[2] == 0
    assert_allclose(w.sum(), 1)
    assert_allclose(weights_of([candidate(None)], np.zeros(1), 2, 3, 0.05), 1)


def test_few_answers_prefer_the_large_penalty():
    flat = np.full(10, -0.3)
    both = [Candidate("", 0, 0, penalty, flat) for penalty in (30.0, 0.03)]
    few, many = (weights_of(both, np.zeros(1), 2, m, share) for m, share in ((10, 0.1), (1000, 1)))
    assert few[0] > 0.9
    assert_allclose(many, 0.5)


def test_of_candidates_as_good_the_one_from_the_better_start_weighs_more():
    flat = np.full(200, -0.1)
    both = [Candidate("", 0, start, 1.0, flat) for start in (0, 1)]
    assert_allclose(weights_of(both, np.zeros(2), 2, 200, 1.0), 0.5)
    w = weights_of(both, np.array([0.0, -5.0]), 2, 200, 1.0)
    assert_allclose(w[1] / w[0], np.exp(-5 * SHARPNESS))


@pytest.mark.parametrize("k", [2, 10])
def test_co_em_counts_more_the_more_labels_the_answers_tell(k, rng):
    y = rng.integers(k, size=500)
    weights = [
        weight_of_co_em(sample_pairs(y, m, random_state=0).resolve(n=500), 500, k, 1.0)
        for m in (50, 500, 1500, 6000)
    ]
    assert weights == sorted(weights)
    assert CO_TRAINED <= weights[0] < 1.3 * CO_TRAINED
    assert weights[-1] == pytest.approx(SURER * CO_TRAINED)
    one_kind = Constraints(cannot_link=[(a, a + 1) for a in range(400)])
    assert weight_of_co_em(one_kind.resolve(n=500), 500, k, 1.0) == CO_TRAINED  # tells nothing
    few = Constraints.from_labels(np.where(np.arange(500) < 30, y, -1)).resolve(n=500)
    assert weight_of_co_em(few, 500, k, 1.0) == CO_TRAINED  # all labels, of few points


def test_many_answers_do_not_make_the_models_remember_their_points():
    """Two overlapping classes: four answers a point find no less than one for four points."""
    y, free = np.repeat([0, 1], 400), np.arange(800) % 4 == 0
    rest = np.flatnonzero(~free)
    agreement: dict = {150: [], 2400: []}
    for seed, m in itertools.product(range(3, 7), agreement):
        X = np.random.default_rng(seed).normal(size=(800, 10)) + 0.43 * (2 * y[:, None] - 1)
        pairs = rest[uniform_pairs(len(rest), m, np.random.default_rng(0))]
        links = links_of(pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1))
        labels = LinkClustering(2, random_state=0).fit(X, constraints=links).labels_
        agreement[m].append(adjusted_rand_index(y, labels, rows=free))
    assert np.mean(agreement[2400]) > np.mean(agreement[150]) - 0.04


def test_starts_that_tell_nothing_about_the_answers_have_no_say(rng):
    y, small = np.repeat([0, 1], 60), np.repeat(np.arange(4), 30)
    linkage = with_tree(Linkage(small, np.full(4, 30.0), np.diag(np.full(4, 50.0)) + 0.01))
    partitions = [Partition("linkage", None, True, linkage), Partition("plain", y)]
    belief = np.array([0.5, 1.0])

    def ranked(classes, m=200):
        links = Constraints.sample(classes, m, random_state=0).resolve(n=len(y))
        return ranked_by(partitions, belief, 2, links)

    told = ranked(y)
    assert_array_equal(told.numbers, [1, 0])
    assert told.support[0] == 0
    assert told.support[1] < -5
    assert abs(ranked(rng.permutation(y)).support).max() < 1
    assert ranked(y, 3000).support[1] > 0.2 * told.support[1]  # the scores are sure


def test_weights_count_alike_in_scores_and_in_those_of_chance(wine):
    """Answers of weight 3 are not worse than chance, and starts tell as much about them."""
    X, y = wine
    links = sample_pairs(y, 150, random_state=0)
    once, thrice = (
        LinkClustering(3, random_state=0).fit(X, constraints=links.with_weight(w))
        for w in (np.ones(150), np.full(150, 3.0))
    )
    assert_allclose(thrice.chance_, 3 * once.chance_, rtol=0.1)  # chains weigh a little less
    assert thrice.score_ > thrice.chance_


def ranked_by(partitions, belief, k, links):
    """Return the Ranked partitions, judged by five folds."""
    folds = started(folds_of(links, 5, k, 0), partitions, k) if links.n_pairs >= 10 else ()
    return rank_starts(partitions, belief, k, links, folds)


def first_of(partitions, belief, links):
    """Return the name of the first of the ranked partitions into two clusters."""
    return partitions[ranked_by(partitions, belief, 2, links).numbers[0]].name


def test_a_start_gives_way_to_answers_and_not_to_one_alone(rng):
    good, poor = Partition("good", np.repeat([0, 1], 50)), Partition("poor", np.arange(100) % 2)
    belief = np.array([1.0, 0.5])
    one = Constraints(cannot_link=[(0, 1)])
    assert first_of([good, poor], belief, one) == "good"
    says = [(0, 2), (4, 6), (8, 10), (61, 63), (65, 67), (1, 51), (3, 53), (5, 55)]
    few = Constraints(must_link=says, cannot_link=[(a, a + 1) for a in (0, 4, 8)])
    assert first_of([good, poor], belief, few) == "good"
    ends = distinct(rng.integers(100, size=(80, 2)))
    many = links_of(ends, np.where(ends[:, 0] % 2 == ends[:, 1] % 2, 1, -1))
    assert first_of([good, poor], belief, many) == "poor"


def test_without_answers_a_softmax_of_pairs_stays_at_its_start(wine):
    X, y = wine
    seen = make_views(X)
    _, Z = pair_softmax.feature_set(make_learners(seen, ("near",), 0), "near")
    W_0 = pair_softmax.start_weights(Z, y, 3)
    assert adjusted_rand_index(np.argmax(Z @ W_0, axis=1), y) > 0.95
    light = Constraints(must_link=[(0, 1)], must_weight=1e-9)
    W = fitted(Z, light, W_0, W_0, error=0.05, penalty=1.0)
    assert_allclose(W, W_0, atol=1e-6)


def test_features_of_new_points_are_those_of_the_given_ones(wine):
    X, _ = wine
    seen = make_views(X, kinds=("given", "scaled"))
    learners = make_learners(seen, ("graph", "near", "island"), 0)
    for described, Z in ((one.described, one.Z) for one in pair_softmax.feature_sets(learners)):
        bases = [coordinates(one, prepare(seen[one.view], X)) for one in learners]
        near = pair_softmax.features(described, bases)
        if "graph" not in described.name and "island" not in described.name:
            assert_allclose(near, Z, atol=1e-2)  # both in single precision
        else:  # a graph takes the point itself for its nearest neighbour
            assert np.mean(np.sum(near * Z, axis=1) > 0) > 0.95


def test_features_together_have_the_mean_of_the_kernels(wine):
    X, _ = wine
    learners = make_learners(make_views(X, kinds=("given",)), ("graph", "near", "island"), 0)
    sets = [pair_softmax.feature_set(learners, kind) for kind in pair_softmax.TOGETHER]
    kernels = [Z[:, 1:] @ Z[:, 1:].T for _, Z in sets]
    described, Z = pair_softmax.together(sets)
    assert Z.shape[1] == pair_softmax.FEATURES + 1  # and sets of fewer columns lose none
    K = Z[:, 1:] @ Z[:, 1:].T
    lost = np.trace(np.mean(kernels, axis=0)) / np.trace(K) - 1
    assert 0 <= lost < 0.02
    assert_allclose(K, np.mean(kernels, axis=0), atol=0.1)
    assert described.name == "graph and near and island"


def test_a_budget_tells_how_many_rows_are_learnt_from(monkeypatch):
    X, y = make_blobs(2500, 3, centers=3, random_state=0)
    links = sample_pairs(y, 30, random_state=0)
    short = LinkClustering(3, effort=1e-3, random_state=0).fit(X, constraints=links)
    assert len(short._models.rows) == PROBE
    assert adjusted_rand_index(short.labels_, y) > 0.9  # all rows have labels
    monkeypatch.setattr("linkwise.choice.link_clustering.SLOWER", ())
    long = LinkClustering(3, effort=1e3, random_state=0).fit(X, constraints=links)
    fast = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    assert_array_equal(long.labels_, fast.labels_)


def test_a_short_budget_of_a_few_rows_is_fast_effort(wine):
    links = sample_pairs(wine[1], 30, random_state=0)
    short = LinkClustering(3, effort=1e-3, random_state=0).fit(wine[0], constraints=links)
    fast = LinkClustering(3, effort="fast", random_state=0).fit(wine[0], constraints=links)
    assert_array_equal(short.labels_, fast.labels_)


def test_one_linkage_is_one_start():
    """Linkage or communities: constraints that were held out tell which."""
    y = np.repeat([0, 1, 2, 3], 30)
    small = np.repeat(np.arange(8), 15)  # two small clusters of every class
    C = np.diag(np.full(8, 50.0)) + 0.01
    linkage = Linkage(small, np.full(8, 15.0), C)
    linkage = with_tree(linkage)
    links = Constraints.sample(y, 100, random_state=0).resolve(n=len(y))
    both = [Partition(str(even), small // 2, True, linkage, even) for even in (False, True)]
    ranked = ranked_by([*both, Partition("plain", y)], np.ones(3), 4, links).numbers
    assert len(ranked) == 2
    assert 2 in ranked


def test_one_wrong_constraint_between_two_chains_does_not_choose_the_start():
    """By chains, it would say of all pairs between them that they are together."""
    right = Partition("right", np.repeat([0, 1], 20))
    joined = Partition("joined", np.arange(40) == 19)  # nearly all points in one cluster
    chains = [(i, i + 1) for i in (*range(8), *range(20, 28))]
    links = Constraints(must_link=[*chains, (0, 20)]).resolve(n=40)
    assert first_of([joined, right], np.array([0.9, 1.0]), links) == "right"
    across = [(i, 20 + j % 20) for i in range(19) for j in (i, i + 1)]
    links = Constraints(must_link=[*chains, *across]).resolve(n=40)
    assert first_of([joined, right], np.array([0.9, 1.0]), links) == "joined"


def judged_as(links, right, error=0.05):
    """Return the Judgement of one candidate that gives these probabilities to the constraints."""
    held_out = links.weight * np.log(error + (1 - 2 * error) * np.asarray(right))
    fold = Fold(links, links, links)
    return Judgement([Candidate("", 0, 0, 1.0, held_out)], [fold], error)


def test_one_fold_does_not_rule_a_start_out():
    tried = [Judged((number, start), [], 0.0) for start in (1, 0) for number in range(3)]
    found = [one.pair for one in contenders(tried, 5)]
    assert found == [(0, 1), (1, 1), (2, 1), (0, 0), (1, 0)]
    assert [one.pair for one in contenders(tried, 4)] == [(0, 1), (1, 1), (0, 0), (1, 0)]
    assert contenders(tried, 9) == tried


def test_a_constraint_that_models_without_it_contradict_loses_its_weight():
    links = Constraints(must_link=[(i, i + 1) for i in range(0, 80, 2)], cannot_link=[(0, 5)])
    right = np.full(41, 0.99)
    right[[7, 40]] = 1e-4
    weight = doubted(links, judged_as(links, right), np.ones(1)).weight
    assert_array_equal(np.flatnonzero(weight < 0.1), [7, 40])
    assert_allclose(np.delete(weight, [7, 40]), 1)


def test_constraints_are_not_doubted_where_right_ones_often_surprise_the_models(rng):
    """Models that are sure and wrong half the time say nothing about a single constraint."""
    right = np.where(rng.random(200) < 0.5, 0.98, 0.02)
    e, r = calibrated(right, np.ones(200))
    assert r.min() > 0.2
    sure = np.where(rng.random(200) < 0.9, 0.98, 0.02)
    e, r = calibrated(sure, np.ones(200))
    assert e >= 0.05
    assert r.min() < 0.1


def test_constraints_that_judged_nothing_keep_their_weight():
    links = Constraints(must_link=[(0, 1), (2, 3)], cannot_link=[(1, 2)])
    some = links.select([0, 2])
    weight = doubted(links, judged_as(some, [1e-6, 1]), np.ones(1)).weight
    assert weight[0] < weight[1] == weight[2] == 1


def test_two_answers_about_one_pair_are_doubted_each_for_itself():
    both = Constraints(must_link=[(0, 1), (2, 3), (4, 5), (6, 7)], cannot_link=[(1, 0)])
    right = [1, 1, 1, 1, 1e-6]
    weight = doubted(both, judged_as(both, right), np.ones(1)).weight
    assert weight[-1] < 0.1
    assert_allclose(weight[:-1], 1)


def test_agreements_are_mean_adjusted_rand_indices(rng):
    labels = [rng.integers(k, size=60) for k in (2, 3, 7)] + [np.zeros(60, dtype=int)]
    found = agreements([Partition("", one) for one in labels])
    assert_allclose(found, [np.mean([adjusted_rand_index(a, b) for b in labels]) for a in labels])


def test_the_partition_that_graphs_and_others_support_is_believed(blobs):
    X, y = blobs
    seen = make_views(X)
    learners = make_learners(seen, ("graph", "island"), 0)
    found = plain_partitions(seen, learners, linkages_of(learners, 20, 0), 3, 0)
    found.append(Partition("nonsense", np.arange(len(y)) % 3))
    belief = believed(found, learners, 3)
    assert np.argmin(belief) == len(found) - 1
    assert adjusted_rand_index(found[int(np.argmax(belief))].labels, y) == 1


def test_clusters_are_matched_before_they_are_averaged(rng):
    q = rng.dirichlet([0.1] * 4, 50)
    order = rng.permutation(4)
    assert_allclose(q[:, order][:, matching(q[:, order], q)], q)


def test_an_assignment_keeps_all_pairs_at_little_cost(rng):
    cost = rng.random((30, 3))
    must, cannot = np.array([(0, 1), (1, 2)]), np.array([(0, 3), (3, 4), (2, 4)])
    labels = assign(cost, must, cannot, rng)
    assert len(set(labels[:3])) == 1
    assert len({labels[0], labels[3], labels[4]}) == 3
    free = np.setdiff1d(np.arange(30), [0, 1, 2, 3, 4])
    assert_array_equal(labels[free], cost[free].argmin(axis=1))
    assert assign(cost, np.array([(0, 1)]), np.array([(0, 1)]), rng) is None
    none = np.zeros((0, 2), dtype=int)
    assert_array_equal(assign(cost, none, none, rng), cost.argmin(axis=1))


@pytest.mark.parametrize("effort", ["fast", "balanced", 2])
def test_it_finds_what_the_answers_describe(moons, effort):
    X, y = moons
    links = sample_pairs(y, 60, random_state=0)
    model = LinkClustering(2, effort=effort, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_index(model.labels_, y) > 0.9
    assert model.score_ > model.chance_ + 0.3
    assert model.violations_ == []
    assert_allclose(sum(row["weight"] for row in model.report_), 1)
    assert "Again: LinkClustering(n_clusters=2" in model.explain()


def test_it_is_reproducible(wine):
    X, y = wine
    links = sample_pairs(y, 40, random_state=0)
    one, two = (
        LinkClustering(3, effort="fast", random_state=1).fit(X, constraints=links) for _ in range(2)
    )
    assert_array_equal(one.labels_, two.labels_)
    assert_array_equal(one.probabilities_, two.probabilities_)
    assert_array_equal(one.refit(links).labels_, two.labels_)


def test_random_answers_score_no_better_than_chance(rng):
    X = load_iris().data
    excess = []
    for seed in range(4):
        y = np.random.default_rng(seed).integers(3, size=150)  # says nothing about X
        links = sample_pairs(y, 120, random_state=seed)
        model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
        excess.append(model.score_ - model.chance_)
    assert np.mean(excess) < 0.05


def test_wrong_answers_are_found(wine):
    X, y = wine
    links = sample_pairs(y, 120, random_state=0)
    i, j, sign, _ = links.arrays()
    flipped = np.arange(0, len(sign), 10)
    sign = sign.copy()
    sign[flipped] *= -1
    table = np.column_stack((i, j, sign))
    model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=table)
    assert adjusted_rand_index(model.labels_, y) > 0.85
    wrong = {tuple(sorted((int(i[f]), int(j[f])))) for f in flipped}
    first = {tuple(sorted((pair.a, pair.b))) for pair, _ in model.suspects_[: len(wrong)]}
    assert len(first & wrong) >= 0.8 * len(wrong)
    assert 0.02 < model.wrong_ < 0.2
    probabilities = [p for _, p in model.suspects_]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(model.suspects_) == links.n_pairs
    trusted = model.trusted()
    assert 0.8 * len(wrong) <= links.n_pairs - trusted.n_pairs <= 1.2 * len(wrong)
    again = model.refit(trusted)
    assert again.violations_ == []
    assert adjusted_rand_index(again.labels_, y) > 0.85


def test_suspicion_stands_in_the_order_of_the_constraints(wine):
    X, y = wine
    links = sample_pairs(y, 30, random_state=0)
    a, b = int(np.flatnonzero(y == 0)[5]), int(np.flatnonzero(y == 2)[5])
    wrong = Constraints(must_link=[(a, b)])
    model = LinkClustering(3, effort="fast", random_state=0)
    for at, given in ((30, links + wrong), (0, wrong + links)):
        model.fit(X, constraints=given)
        assert model.suspicion_.shape == (31,)
        assert np.argmax(model.suspicion_) == at
        assert model.suspicion_[at] > 0.5
        ranked = np.sort(model.suspicion_)[::-1]
        assert_array_equal([probability for _, probability in model.suspects_], ranked)
        assert (model.suspects_[0][0].a, model.suspects_[0][0].b) == (a, b)
    model.refit(links)
    assert model.suspicion_.shape == (30,)
    with pytest.raises(NotFittedError):
        _ = LinkClustering().suspects_


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("more", [{}, {"effort": 5}, {"respect": "hard"}])
def test_what_explain_says_to_paste_fits_the_same_model(wine, named, more):
    X, y = wine
    ids = [f"wine {i}" for i in range(len(X))]
    links = sample_pairs(y, 40, random_state=0, sample_id=ids if named else None)
    unknown = {"on_unknown": "drop"} if named else {}  # needs ids
    options = {"effort": "fast", "random_state": np.int64(3)} | unknown | more
    model = LinkClustering(3, **options).fit(X, constraints=links, sample_id=ids if named else None)
    lines = model.explain().splitlines()
    (again,) = (line.removeprefix("Again: ") for line in lines if line.startswith("Again: "))
    space = {"LinkClustering": LinkClustering, "X": X, "links": links}
    pasted = eval(again, space | ({"ids": ids} if named else {}))
    assert pasted.get_params() == model.get_params()
    if "effort" not in more:  # with a budget in seconds labels depend on the machine
        assert_array_equal(pasted.labels_, model.labels_)


def test_progress_counts_candidates(wine, monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("linkwise.blocks.progress.DELAY", -1)
    monkeypatch.setattr("linkwise.blocks.progress.PAUSE", -1)
    X, y = wine
    links = sample_pairs(y, 100, random_state=0)
    model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    shown = re.findall(r"LinkClustering: (\d+) of (\d+) candidates, \d+ s left", screen.getvalue())
    counts, total = [int(done) for done, _ in shown], int(shown[0][1])
    assert counts == sorted(set(counts))
    assert counts[-1] == total
    assert {row["answers"] for row in model.report_} == {100}
    assert re.search(r"LinkClustering: (\d+) of \1 fits of best candidates, ", screen.getvalue())
    assert not re.search(r"candidates[^\r]* a second", screen.getvalue())


def test_hard_keeps_every_answer_or_raises():
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    links = sample_pairs(y, 30, random_state=0)
    untouched = np.setdiff1d(np.arange(60), links.touched)
    a, b = (int(untouched[y[untouched] == c][0]) for c in (0, 1))
    doubtful = links + Constraints(must_link=[(a, b)])  # against the data, but possible
    hard = LinkClustering(3, effort="fast", respect="hard", random_state=0)
    assert hard.fit(X, constraints=doubtful).violations_ == []
    contradiction = Constraints(must_link=[(a, b)], cannot_link=[(a, b)])
    with pytest.raises(InfeasibleConstraints, match=f"{a}"):
        hard.fit(X, constraints=links + contradiction)
    soft = LinkClustering(3, effort="fast", random_state=0)
    soft.fit(X, constraints=links + contradiction)
    told = [pair for pair in soft.violations_ if {pair.a, pair.b} == {a, b}]
    assert len(told) == 1  # one of the two


def test_the_number_of_clusters_is_found(rng):
    X, y = make_blobs(200, 3, centers=4, cluster_std=1.5, random_state=2)
    links = sample_pairs(y, 200, random_state=0)
    model = LinkClustering(effort="fast", random_state=0).fit(X, constraints=links)
    assert abs(model.n_clusters_ - 4) <= 1
    assert model.n_clusters_ not in dict(model.runners_up_)
    assert model.predict_proba(X).shape == (200, model.n_clusters_)
    alone = LinkClustering(effort="fast", random_state=0).fit(X)
    assert 2 <= alone.n_clusters_ <= 6
    assert "No constraints" in alone.explain()


def test_links_force_a_number_of_clusters():
    clique = Constraints(cannot_link=list(itertools.combinations(range(4), 2)))
    assert forced(clique, 10) == 4
    assert forced(clique, 3) == 3


def test_new_points_go_where_the_clusters_are(wine):
    X, y = wine
    half = np.arange(len(X)) % 2 == 0
    links = sample_pairs(y[half], 60, random_state=0)
    model = LinkClustering(3, effort="balanced", random_state=0).fit(X[half], constraints=links)
    assert adjusted_rand_index(model.predict(X[~half]), y[~half]) > 0.8
    p = model.predict_proba(X[~half])
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(p.argmax(axis=1), model.predict(X[~half]))
    assert_array_equal(model.predict(X[half]), model.labels_)


def test_many_points_are_learnt_from_a_sample(rng):
    X, y = make_blobs(5000, 4, centers=5, cluster_std=1.0, random_state=0)
    links = sample_pairs(y, 100, random_state=0)
    model = LinkClustering(5, effort="fast", random_state=0).fit(X, constraints=links)
    assert adjusted_rand_index(model.labels_, y) > 0.9
    assert model.violations_ == []


def test_a_refit_places_points_by_the_neighbours_found_before(monkeypatch):
    X, y = make_blobs(300, 4, centers=3, random_state=0)
    monkeypatch.setitem(EFFORTS, "fast", EFFORTS["fast"]._replace(rows=100))
    model, fresh = (LinkClustering(3, effort="fast", random_state=0).fit(X) for _ in range(2))
    rows = model._models.rows  # other rows would be learnt from too
    links = sample_pairs(y[rows], 20, random_state=0, sample_id=rows)
    fresh.fit(X, constraints=links)
    monkeypatch.setattr(NeighbourAffinity, "nearest", None)  # a search would fail
    assert_array_equal(model.refit(links).labels_, fresh.labels_)


def test_too_few_answers_to_judge_by_correct_the_partition(wine):
    X = wine[0]
    links = Constraints(must_link=[(0, 1)], cannot_link=[(0, 100)])
    model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    assert model.score_ is None
    assert "Too few constraints" in model.explain()
    assert model.labels_[0] == model.labels_[1] != model.labels_[100]
    alone = LinkClustering(3, effort="fast", random_state=0).fit(X)
    assert adjusted_rand_index(model.labels_, alone.labels_) > 0.95


def test_weights_of_answers_count(wine):
    X, y = wine
    a, b = int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 2)[0])
    links = sample_pairs(y, 60, random_state=0)
    heavy = Constraints(must_link=[(a, b)], must_weight=[20.0])
    model = LinkClustering(3, effort="fast", random_state=0)
    assert model.fit(X, constraints=links + heavy).labels_[a] == model.labels_[b]


def test_sparse_points_and_single_precision(rng):
    X, y = make_blobs(120, 30, centers=3, random_state=0)
    links = sample_pairs(y, 40, random_state=0)
    model = LinkClustering(3, effort="fast", random_state=0)
    assert adjusted_rand_index(model.fit(sparse.csr_array(X), constraints=links).labels_, y) > 0.9
    assert adjusted_rand_index(model.fit(X.astype(np.float32), constraints=links).labels_, y) > 0.9


@pytest.mark.parametrize(
    "bad", [{"effort": "lazy"}, {"effort": 0}, {"respect": "no"}, {"n_clusters": 0}]
)
def test_bad_parameters_are_named(bad, wine):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LinkClustering(**{"n_clusters": 3, **bad}).fit(wine[0])
    with pytest.raises(ValueError, match="n_clusters"):
        LinkClustering(10).fit(wine[0][:5])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_number_of_clusters_of_principal_components_is_told_by_them_as_given(dtype):
    rng = np.random.default_rng(0)
    centres = 6.0 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    X = np.hstack([np.repeat(centres, 40, axis=0), np.zeros((160, 18))])
    X += rng.normal(size=X.shape)
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    P = (U * s).astype(dtype)
    assert principal(P)
    assert not principal(X)
    assert not principal(P[:, :1])
    views = make_views(P, kinds=("given", "scaled"), seed=0)
    scores = mean_silhouettes(views, range(2, 9), seed=0)
    assert max(scores, key=scores.get) == 4
