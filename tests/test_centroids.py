"""COP-, PCK-, HMRF- and MPCK-KMeans against their definitions."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from linkwise import (
    Constraints,
    ConvergenceWarning,
    COPKMeans,
    HMRFKMeans,
    InfeasibleConstraints,
    MPCKMeans,
    PCKMeans,
    sample_pairs,
    scores,
)
from linkwise.evaluate import adjusted_rand_index
from linkwise.partition import colouring, hard
from linkwise.partition.distortion import Cosine, Euclidean, Mahalanobis
from linkwise.partition.groups import choose_seeds, must_groups
from linkwise.partition.penalised import (
    constraint_field,
    constraint_problem,
    fill_empty,
    icm,
    objective,
    penalised_kmeans,
)

VARIANTS = [
    COPKMeans(),
    PCKMeans(),
    HMRFKMeans(),
    HMRFKMeans(distortion="cosine"),
    MPCKMeans(),
    MPCKMeans(shared_metric=False),
    MPCKMeans(metric="diagonal"),
    MPCKMeans(metric="diagonal", shared_metric=False),
]
SOFT = VARIANTS[1:]


def name(model):
    return str(model).replace("KMeans", "")


every = pytest.mark.parametrize("model", VARIANTS, ids=name)
soft = pytest.mark.parametrize("model", SOFT, ids=name)


def fitted(model, X, links=None, k=3, **options):
    options = {"n_clusters": k, "random_state": 0} | options
    return type(model)(**(model.get_params() | options)).fit(X, constraints=links)


def same(a, b):
    return adjusted_rand_index(a, b) == 1


@parametrize_with_checks([model for model in VARIANTS if str(model) != f"{type(model).__name__}()"])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


# colouring


@st.composite
def graphs(draw, max_points=7):
    n = draw(st.integers(1, max_points))
    edges = [edge for edge in combinations(range(n), 2) if draw(st.booleans())]
    return n, np.array(edges, dtype=np.int64).reshape(-1, 2)


def colourings(n, edges, k):
    """Return every proper colouring, by trying all."""
    return [
        np.array(c) for c in product(range(k), repeat=n) if colouring.proper(np.array(c), edges)
    ]


@given(graphs(), st.integers(1, 4))
def test_the_search_finds_a_colouring_if_and_only_if_there_is_one(graph, k):
    n, edges = graph
    labels, proven = colouring.search(n, edges, k)
    assert proven
    assert (labels is not None) == bool(colourings(n, edges, k))
    if labels is not None:
        assert colouring.proper(labels, edges)
        assert labels.max() < k


@given(graphs(), st.integers(2, 4), st.integers(0, 9))
def test_greedy_and_repair_colour_what_can_be_coloured(graph, k, seed):
    n, edges = graph
    rng = np.random.default_rng(seed)
    cost = rng.random((n, k))
    labels, proven = colouring.colour(cost, edges, rng)
    assert proven
    assert (labels is not None) == bool(colourings(n, edges, k))
    bad = rng.integers(k, size=n)
    repaired = colouring.repair(bad, cost, edges, rng)
    assert repaired is None or colouring.proper(repaired, edges)


@given(graphs(), st.integers(0, 9))
def test_two_clusters_get_the_cheapest_assignment(graph, seed):
    n, edges = graph
    cost = np.random.default_rng(seed).standard_normal((n, 2))
    every = colourings(n, edges, 2)
    if every:
        labels = hard.swap(cost, every[seed % len(every)], edges)
        prices = [cost[np.arange(n), c].sum() for c in every]
        assert_allclose(cost[np.arange(n), labels].sum(), min(prices))


@given(graphs(), st.integers(2, 4), st.integers(0, 9))
def test_moves_and_swaps_break_nothing_and_raise_no_cost(graph, k, seed):
    n, edges = graph
    rng = np.random.default_rng(seed)
    cost = rng.standard_normal((n, k))
    labels, _ = colouring.search(n, edges, k)
    if labels is None:
        return
    A = np.zeros((n, n))
    A[tuple(edges.T)] = A[tuple(edges[:, ::-1].T)] = 1
    for step in (
        lambda c: hard.move(cost, c, sparse.csr_array(A)),
        lambda c: hard.swap(cost, c, edges),
    ):
        new = step(labels)
        assert colouring.proper(new, edges)
        assert cost[np.arange(n), new].sum() <= cost[np.arange(n), labels].sum() + 1e-12
        labels = new


# COP-KMeans


@pytest.mark.parametrize("seed", range(12))
def test_cop_finds_the_best_partition_that_keeps_all(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((7, 2)), rng.integers(3, size=7)
    links = sample_pairs(y, 5, random_state=seed)
    best = np.inf
    for labels in product(range(3), repeat=7):
        labels = np.array(labels)
        if len(set(labels)) == 3 and not links.violated(labels).any():
            means = np.stack([X[labels == c].mean(axis=0) for c in range(3)])
            best = min(best, ((X - means[labels]) ** 2).sum())
    model = COPKMeans(3, n_init=100, random_state=0).fit(X, constraints=links)
    assert model.violations_ == []
    assert_allclose(model.inertia_, best)


@pytest.mark.parametrize("share", [0.5, 1, 1.5, 3])
def test_constraints_that_can_be_kept_are(share, iris, wine):
    for X, y in (iris, wine):
        for draw in range(10):
            links = sample_pairs(y, int(share * len(y)), random_state=draw)
            model = COPKMeans(3, n_init=1, random_state=draw).fit(X, constraints=links)
            assert model.violations_ == []


def test_a_point_that_greedy_order_would_lock_out_is_placed():
    """First come, first served puts 0 and 1 together; 2, 3 and the must-link then fit nowhere."""
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    links = Constraints([(0, 4)], [(0, 2), (1, 2), (1, 3), (2, 3), (3, 4)])
    model = COPKMeans(3, random_state=0).fit(X, constraints=links)
    assert model.violations_ == []


def test_constraints_that_cannot_be_kept_are_named():
    X = np.arange(12.0)[:, None]
    triangle = Constraints([], list(combinations(range(3), 2)))
    with pytest.raises(InfeasibleConstraints, match="more than 2") as info:
        COPKMeans(2).fit(X, constraints=triangle)
    assert info.value.conflict == triangle
    with pytest.raises(InfeasibleConstraints, match="more than 3"):
        COPKMeans(3).fit(X, constraints=([], list(combinations(range(4), 2))))
    wheel = [(i, (i + 1) % 5) for i in range(5)] + [(i, 5) for i in range(5)]  # no four at once
    with pytest.raises(InfeasibleConstraints, match="every assignment"):
        COPKMeans(3).fit(X, constraints=([], wheel))
    assert COPKMeans(4, random_state=0).fit(X, constraints=([], wheel)).violations_ == []


def test_a_search_that_gave_up_says_so(monkeypatch):
    monkeypatch.setattr(hard, "colour", lambda *_, **__: (None, False))
    with pytest.raises(InfeasibleConstraints, match="there may be one"):
        COPKMeans(3).fit(np.eye(4), constraints=([], [(0, 1)]))


def test_cop_refuses_weights_and_broken_pairs():
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="does not use weights"):
        COPKMeans(2).fit(X, constraints=Constraints([(0, 1)], must_weight=2))
    with pytest.raises(ValueError, match="on_conflict"):
        COPKMeans(2, on_conflict="keep").fit(X)


# the objective of the others


def random_problem(seed, n=14, d=3, m=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.integers(3, size=n)[:, None]
    every = np.array(list(combinations(range(n), 2)))
    i, j = every[rng.choice(len(every), m, replace=False)].T
    table = {"a": i, "b": j, "kind": rng.choice([-1, 1], m), "weight": rng.choice([0.5, 1, 2], m)}
    return X, Constraints.from_table(table), rng


def matrices(A, k):
    """Return A as k matrices."""
    A = [np.diag(a) if a.ndim == 1 else a for a in A]
    return A * k if len(A) == 1 else A


def literal(X, links, w, labels, params, kind):
    """Return J pair by pair, as the papers write it."""
    m, k = params.centres, len(params.centres)
    if kind == "cosine":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    J = 0.0
    if kind == "metric":
        A = matrices(params.A, k)
        z = X - X.mean(axis=0)
        far = [4 * max(row @ A_c @ row for row in z) for A_c in A]
    for i, c in enumerate(labels):
        z = X[i] - m[c]
        if kind == "metric":
            J += z @ A[c] @ z - np.log(np.linalg.det(A[c]))
        else:
            J += z @ z if kind == "constant" else 1 - X[i] @ m[c]
    for i, j, sign, weight in links:
        a, b, z = labels[i], labels[j], X[i] - X[j]
        if sign > 0 and a != b:
            cost = {"constant": 1, "cosine": 1 - X[i] @ X[j]}.get(kind)
            cost = (z @ A[a] @ z + z @ A[b] @ z) / 2 if cost is None else cost
        elif sign < 0 and a == b:
            cost = {"constant": 1, "cosine": 1 + X[i] @ X[j]}.get(kind)
            cost = far[a] - z @ A[a] @ z if cost is None else cost
        else:
            continue
        J += w * weight * cost
    return J


def distortions(X, links, w, k):
    yield "constant", Euclidean(X, links, w, k)
    yield "cosine", Cosine(X, links, w, k)
    for full, shared in product([False, True], repeat=2):
        yield "metric", Mahalanobis(X, links, w, k, full=full, shared=shared)


def prior(distortion, params):
    if not isinstance(distortion, Mahalanobis):
        return 0
    B = np.diag(distortion.B)
    A = [np.diag(a) if a.ndim == 1 else a for a in params.A]
    return distortion.r * sum(np.trace(a @ B) - np.log(np.linalg.det(a)) for a in A)


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_is_the_papers_sum(seed):
    X, links, rng = random_problem(seed)
    labels = rng.integers(3, size=len(X))
    field = constraint_field(len(X), *links.arrays()[:3])
    for kind, distortion in distortions(X, links, 0.7, 3):
        params = distortion.update(distortion.start(), labels)
        J = objective(distortion.costs(params), field, labels)
        expected = literal(X, links, 0.7, labels, params, kind) + prior(distortion, params)
        assert_allclose(J, expected)


@pytest.mark.parametrize("seed", range(5))
def test_no_single_move_lowers_the_objective_after_icm(seed):
    X, links, rng = random_problem(seed)
    field = constraint_field(len(X), *links.arrays()[:3])
    start = rng.integers(3, size=len(X))
    for _, distortion in distortions(X, links, 0.7, 3):
        costs = distortion.costs(distortion.update(distortion.start(), start))
        labels = icm(costs, field, start)
        J = objective(costs, field, labels)
        assert objective(costs, field, start) >= J - 1e-12
        for i, c in product(range(len(X)), range(3)):
            moved = labels.copy()
            moved[i] = c
            assert objective(costs, field, moved) >= J - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_an_empty_cluster_takes_the_point_that_lowers_the_objective_most(seed):
    X, links, rng = random_problem(seed)
    field = constraint_field(len(X), *links.arrays()[:3])
    labels = rng.integers(2, size=len(X))
    distortion = Euclidean(X, links, 0.7, 3)
    params = distortion.update(distortion.start(), labels)
    filled = fill_empty(distortion.costs(params), field, labels, distortion.vacant(params))
    J = {}
    for i in range(len(X)):
        moved = labels.copy()
        moved[i] = 2
        centres = np.vstack([params.centres[:2], X[i]])
        J[i] = literal(X, links, 0.7, moved, params._replace(centres=centres), "constant")
    assert_array_equal(np.flatnonzero(filled == 2), [min(J, key=J.get)])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("full", [True, False])
def test_no_other_metric_lowers_the_objective(full, shared):
    """Eq. (8) is the minimum where no cannot-link is broken: its derivative vanishes."""
    X, links, rng = random_problem(0)
    links = Constraints(must_link=links.ends, must_weight=links.weight)
    labels = rng.integers(3, size=len(X))
    field = constraint_field(len(X), *links.arrays()[:3])
    distortion = Mahalanobis(X, links, 0.7, 3, full=full, shared=shared)
    best = distortion.update(distortion.start(), labels)
    J = objective(distortion.costs(best), field, labels)
    for _ in range(20):
        change = 1e-3 * rng.standard_normal(best.A.shape) * abs(best.A).max()
        change = change + np.swapaxes(change, 1, 2) if full else change
        other = best._replace(A=best.A + change)
        assert objective(distortion.costs(other), field, labels) >= J


@pytest.mark.parametrize("seed", range(6))
def test_the_objective_never_rises(seed):
    X, links, rng = random_problem(seed, n=40, d=4, m=60)  # random signs: many cannot be kept
    for _, distortion in distortions(X, links, 0.3, 4):
        history = penalised_kmeans(distortion, 4, links, n_init=2, rng=rng).history
        assert np.all(np.diff(history) <= 1e-9 * abs(history[0]))


def test_points_that_move_together_are_in_no_pair():
    _, links, _ = random_problem(3, n=30, m=80)
    colour = np.full(30, -1)
    for number, (rows, position, other, pair) in enumerate(
        constraint_field(30, *links.arrays()[:3]).steps
    ):
        colour[rows] = number
        ends = np.sort(np.stack([rows[position], other]), axis=0)
        assert_array_equal(ends, np.sort(links.ends[pair].T, axis=0))
    assert np.all(np.diff(colour[links.ends]) != 0)


def test_groups_move_where_single_points_cannot():
    """Three points tied by heavy must-links sit on the wrong side; each alone stays with two."""
    x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 5.3, 5.4])[:, None]
    links = Constraints(must_link=[(0, 1), (1, 2), (0, 2)], must_weight=100.0)
    distortion = Euclidean(x, links, 1.0, 2)
    wrong = np.array([1, 1, 1, 1, 1, 1, 0, 0])
    costs = distortion.costs(distortion.update(distortion.start(), wrong)._replace(
        centres=np.array([[0.1], [5.2]])
    ))  # fmt: skip
    field = constraint_field(8, *links.arrays()[:3])
    assert_array_equal(icm(costs, field, wrong)[:3], [1, 1, 1])
    found = penalised_kmeans(distortion, 2, links, n_init=1, rng=np.random.default_rng(0))
    assert same(found.labels, x[:, 0] > 2)
    problem = constraint_problem(
        8, must_groups(x, np.array([[0, 1], [1, 2]])).of, *links.arrays()[:3]
    )
    assert problem.H.shape == (6, 8)


# starts


def test_seeds_are_the_largest_and_farthest_groups(rng):
    X = np.array([0.0, 0.1, 0.2, 4.0, 4.1, 9.0, 9.1, 30.0])[:, None]
    groups = must_groups(X, np.array([[0, 1], [1, 2], [3, 4], [5, 6]]))
    assert_array_equal(choose_seeds(groups, 3, rng, greedy=True), [0, 2, 1])  # not the outlier
    assert set(choose_seeds(groups, 4, rng, greedy=True)) == {0, 1, 2, 3}
    assert_allclose(groups.means()[1], [4.05])


# limits and invariances of the estimators


@pytest.mark.parametrize("model", [COPKMeans(), PCKMeans()], ids=name)
def test_without_constraints_it_is_kmeans(model, wine, blobs):
    for X in (wine[0], blobs[0]):
        plain = KMeans(3, n_init=10, random_state=0).fit(X)
        found = fitted(model, X)
        assert_allclose(found.inertia_, plain.inertia_, rtol=1e-4)
        assert same(found.labels_, plain.labels_)
        nearest = plain.cluster_centers_[plain.predict(found.cluster_centers_)]
        assert_allclose(found.cluster_centers_, nearest, atol=1e-6)


def test_a_high_price_keeps_what_cop_keeps(wine):
    X, y = wine
    links = sample_pairs(y, 120, random_state=3)
    cop = fitted(COPKMeans(), X, links)
    pck = fitted(PCKMeans(), X, links, constraint_weight=1e6)
    assert pck.violations_ == []
    assert pck.inertia_ <= cop.inertia_ * 1.01


def test_a_price_of_nothing_is_no_constraint(blobs):
    X, y = blobs
    links = sample_pairs(np.random.default_rng(0).permutation(y), 60, random_state=0)
    for model in SOFT[:1] + SOFT[3:]:
        assert same(fitted(model, X, links, constraint_weight=0).labels_, fitted(model, X).labels_)


def test_euclidean_hmrf_is_mpck_with_one_diagonal_metric(wine):
    X, y = wine
    links = sample_pairs(y, 90, random_state=0)
    hmrf = fitted(HMRFKMeans(), X, links)
    mpck = fitted(MPCKMeans(metric="diagonal"), X, links)
    assert_array_equal(hmrf.labels_, mpck.labels_)
    assert_allclose(hmrf.metric_, mpck.metric_)


@every
def test_the_order_of_points_and_pairs_is_irrelevant(model, rng):
    X = rng.standard_normal((80, 3))  # no clusters: every start ends elsewhere
    links = sample_pairs(rng.integers(4, size=80), 60, random_state=1)
    p = rng.permutation(80)
    where = np.argsort(p)
    a, b, sign, weight = links.arrays()
    q = rng.permutation(60)
    moved = Constraints.from_table(np.stack([where[b], where[a], sign, weight], axis=1)[q])
    straight = fitted(model, X, links, k=4)
    shuffled = fitted(model, X[p], moved, k=4)
    assert same(straight.labels_[p], shuffled.labels_)
    assert_allclose(straight.inertia_, shuffled.inertia_)


@soft
def test_a_pair_listed_twice_is_a_pair_of_weight_two(model, rng):
    X = rng.standard_normal((40, 3))
    must, cannot = [(0, 1), (2, 3), (4, 5)], [(0, 6), (7, 8)]
    twice = fitted(model, X, Constraints(must * 2, [*cannot, (6, 0), (8, 7)]))
    heavy = fitted(model, X, Constraints(must, cannot, must_weight=2, cannot_weight=2))
    assert_array_equal(twice.labels_, heavy.labels_)
    assert_allclose(twice.inertia_, heavy.inertia_)


@pytest.mark.parametrize(("must", "cannot", "broken"), [(9, 1, -1), (1, 9, 1)])
def test_the_heavier_of_two_contradictory_answers_wins(must, cannot, broken, blobs):
    links = Constraints([(0, 1)], [(0, 1)], must_weight=must, cannot_weight=cannot)
    found = fitted(PCKMeans(), blobs[0], links, on_conflict="keep", constraint_weight=1e3)
    assert [pair.sign for pair in found.violations_] == [broken]


@pytest.mark.parametrize("model", [HMRFKMeans(), MPCKMeans(metric="diagonal")], ids=name)
def test_the_scale_of_features_is_irrelevant_to_a_diagonal_metric(model, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    scale = 10.0 ** np.linspace(-3, 3, X.shape[1])
    plain, scaled = fitted(model, X, links), fitted(model, X * scale, links)
    assert same(plain.labels_, scaled.labels_)
    assert_allclose(plain.metric_, scaled.metric_ * scale**2, rtol=1e-6)


@every
def test_moving_or_for_cosines_stretching_all_points_changes_nothing(model, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    cosine = getattr(model, "distortion", None) == "cosine"
    other = X * 7 if cosine else X + 1000
    plain, moved = fitted(model, X, links), fitted(model, other, links)
    assert same(plain.labels_, moved.labels_)
    assert_allclose(plain.inertia_, moved.inertia_, rtol=1e-6)


@every
def test_new_points_go_to_the_nearest_centre_in_the_learned_metric(model, wine):
    X, y = wine
    found = fitted(model, X, sample_pairs(y, 60, random_state=0))
    new = X[:20] + 0.01
    m = found.cluster_centers_
    if getattr(model, "distortion", None) == "cosine":
        cost = -(new / np.linalg.norm(new, axis=1, keepdims=True)) @ m.T
    else:
        shared = getattr(model, "shared_metric", True)
        A = getattr(found, "metric_", np.ones(X.shape[1]))
        A = matrices([A] if shared else A, 3)
        z = new[:, None] - m
        cost = np.stack([np.einsum("nd,de,ne->n", z[:, c], A[c], z[:, c]) for c in range(3)], 1)
        cost = cost - [np.linalg.slogdet(A_c)[1] for A_c in A]
    assert_array_equal(found.predict(new), np.argmin(cost, axis=1))


@every
def test_float32_stays_float32(model, wine):
    X, y = wine
    links = sample_pairs(y, 60, random_state=0)
    found = fitted(model, X.astype(np.float32), links)
    assert found.cluster_centers_.dtype == np.float32
    assert getattr(found, "metric_", found.cluster_centers_).dtype == np.float32
    assert adjusted_rand_index(found.labels_, fitted(model, X, links).labels_) > 0.95


@pytest.mark.parametrize("model", [m for m in VARIANTS if m.traits.sparse], ids=name)
def test_sparse_points_are_points(model, rng):
    y = np.repeat([0, 1, 2], 30)
    X = rng.random((90, 12)) * (rng.random((90, 12)) < 0.4) + 2 * np.eye(3, 12)[y]
    links = sample_pairs(y, 40, random_state=0)
    dense, thin = fitted(model, X, links), fitted(model, sparse.csr_array(X), links)
    assert same(dense.labels_, thin.labels_)
    assert_allclose(dense.inertia_, thin.inertia_)
    assert_allclose(dense.cluster_centers_, thin.cluster_centers_, atol=1e-9)
    assert_array_equal(thin.predict(sparse.csr_array(X * 1.01)), dense.predict(X * 1.01))


@every
def test_rows_of_zeros_and_constant_features_do_no_harm(model, rng):
    X = rng.standard_normal((30, 3))
    X[:3] = 0
    X[:, 2] = 0.1
    found = fitted(model, X, ([(0, 5)], [(1, 9)]))
    assert np.isfinite(found.inertia_)
    assert len(set(found.labels_)) == 3


@every
def test_fewer_clusters_than_asked_are_announced(model):
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 of 3"):
        found = fitted(model, X)
    assert len(found.cluster_centers_) == 2


def test_must_links_that_leave_too_few_groups_are_announced():
    X = np.arange(6.0)[:, None]
    chain = [(i, i + 1) for i in range(5)]
    with pytest.warns(ConvergenceWarning, match="only 1 of 2"):
        COPKMeans(2).fit(X, constraints=(chain, []))


@every
def test_passes_that_did_not_settle_are_announced(model, rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        fitted(model, rng.standard_normal((200, 2)), k=8, max_iter=1)


def test_a_learned_metric_serves_points_no_constraint_touches(iris, wine):
    for X, y in (iris, wine):
        for draw in range(3):
            links = sample_pairs(y, len(y), random_state=draw)
            found = scores(y, fitted(MPCKMeans(), X, links).labels_, links)
            assert found["adjusted_rand_untouched"] > 0.75
            assert found["kept"] > 0.95
