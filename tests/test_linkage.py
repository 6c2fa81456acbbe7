from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics.pairwise import euclidean_distances

from linkwise import Constraints, InfeasibleConstraints, sample_pairs
from linkwise.constraints.closure import components
from linkwise.estimators.agglomerative import ConstrainedAgglomerative
from linkwise.evaluate import adjusted_rand_index
from linkwise.partition.agglomerative import Witness

LINKAGES = ["ward", "average", "complete", "single"]
every_linkage = pytest.mark.parametrize("linkage", LINKAGES)


def distance(X, A, B, linkage):
    """Return the linkage distance of two clusters, from their points."""
    if linkage == "ward":
        gap = np.linalg.norm(X[A].mean(axis=0) - X[B].mean(axis=0))
        return gap * np.sqrt(2 * len(A) * len(B) / (len(A) + len(B)))
    D = euclidean_distances(X[A], X[B])
    return {"single": D.min, "complete": D.max, "average": D.mean}[linkage]()


def literal(X, links, k, linkage, threshold=np.inf, *, possible=None):
    """Return labels and heights of constrained merging, by the definition."""
    group = components(len(X), links.must_link)
    clusters = [np.flatnonzero(group == c).tolist() for c in range(group.max() + 1)]
    heights = []

    def allowed(A, B):
        if any((a in A and b in B) or (a in B and b in A) for a, b in links.cannot_link.tolist()):
            return False
        rest = [C for C in clusters if C not in (A, B)]
        return possible is None or possible([*rest, A + B])

    while len(clusters) > k:
        pairs = [
            (distance(X, A, B, linkage), i, j)
            for i, A in enumerate(clusters)
            for j, B in enumerate(clusters[:i])
            if allowed(A, B)
        ]
        if not pairs or min(pairs)[0] >= threshold:
            break
        height, i, j = min(pairs)
        heights.append(height)
        clusters[j] = clusters[j] + clusters.pop(i)
    labels = np.empty(len(X), dtype=int)
    for c, rows in enumerate(clusters):
        labels[rows] = c
    return labels, heights


@st.composite
def problems(draw, k=None):
    """A few points, pairs that some labels keep, and the number of these labels."""
    seed = draw(st.integers(0, 10_000))
    k = draw(st.integers(2, 4)) if k is None else k
    rng = np.random.default_rng(seed)
    n = draw(st.integers(k + 2, 14))
    X, y = rng.standard_normal((n, 2)), rng.integers(k, size=n)
    pairs = min(draw(st.integers(0, 14)), n * (n - 1) // 2)
    return X, sample_pairs(y, pairs, random_state=seed), k


@given(problems(), st.sampled_from(LINKAGES), st.floats(0.1, 3))
def test_below_a_threshold_it_is_the_definition(problem, linkage, threshold):
    X, links, _ = problem
    labels, heights = literal(X, links, 1, linkage, threshold)
    model = ConstrainedAgglomerative(1, linkage=linkage, distance_threshold=threshold)
    model.fit(X, constraints=links)
    assert adjusted_rand_index(labels, model.labels_) == 1
    assert model.n_clusters_ == len(np.unique(labels))
    must = len(model.distances_) - len(heights)
    assert_array_equal(model.distances_[:must], 0)
    assert_allclose(model.distances_[must:], heights)
    assert model.violations_ == []


def two_suffice(cannot):
    """Return the test whether two clusters can still be reached, by trying all."""

    def possible(clusters):
        where = {row: c for c, rows in enumerate(clusters) for row in rows}
        edges = [(where[a], where[b]) for a, b in cannot]
        return any(
            all(z[a] != z[b] for a, b in edges) for z in product([0, 1], repeat=len(clusters))
        )

    return possible


@given(problems(k=2), st.sampled_from(LINKAGES))
def test_two_clusters_are_reached_by_the_nearest_merges_that_leave_them_possible(problem, linkage):
    X, links, _ = problem
    X, links = X[:9], links.restrict(range(min(len(X), 9)))
    if len(np.unique(components(len(X), links.must_link))) < 2:
        return
    possible = two_suffice(links.cannot_link.tolist())
    labels, heights = literal(X, links, 2, linkage, possible=possible)
    model = ConstrainedAgglomerative(2, linkage=linkage).fit(X, constraints=links)
    assert adjusted_rand_index(labels, model.labels_) == 1
    assert_allclose(model.distances_[len(model.distances_) - len(heights) :], heights)


@given(problems(), st.sampled_from(LINKAGES), st.sampled_from([0, 30]))
def test_the_number_of_clusters_is_reached_and_every_pair_kept(problem, linkage, patience):
    X, links, k = problem
    if len(np.unique(components(len(X), links.must_link))) < k:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("linkwise.partition.agglomerative.PATIENCE", patience)
        model = ConstrainedAgglomerative(k, linkage=linkage).fit(X, constraints=links)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == k
    assert model.violations_ == []
    assert np.all(np.diff(model.distances_) >= -1e-12)
    assert len(model.children_) == len(model.distances_) == len(X) - k


@pytest.mark.parametrize("name", ["iris", "wine"])
@every_linkage
def test_as_many_pairs_as_points_never_lead_into_a_dead_end(name, linkage, request):
    X, y = request.getfixturevalue(name)
    for draw in range(5):
        links = sample_pairs(y, len(y), random_state=draw)
        model = ConstrainedAgglomerative(3, linkage=linkage).fit(X, constraints=links)
        assert (model.n_clusters_, model.violations_) == (3, [])


def test_a_dead_end_is_seen_coming():
    """0 and 0.1 are nearest, but merged they would need a third cluster."""
    X = np.array([[0.0], [5.0], [9.0], [0.1]])
    links = Constraints([], [(0, 1), (1, 2), (2, 3)])
    labels = ConstrainedAgglomerative(2).fit_predict(X, constraints=links)
    assert_array_equal(labels, [0, 1, 0, 1])
    labels = ConstrainedAgglomerative(3).fit_predict(X, constraints=links)
    assert_array_equal(labels, [0, 1, 2, 0])


@every_linkage
def test_without_constraints_it_is_plain_agglomerative_clustering(linkage, rng):
    X = rng.standard_normal((80, 3))
    tree = scipy_linkage(X, linkage)[: 80 - 5]
    model = ConstrainedAgglomerative(5, linkage=linkage).fit(X)
    assert_array_equal(model.children_, np.sort(tree[:, :2], axis=1))
    assert_allclose(model.distances_, tree[:, 2], rtol=1e-6)
    theirs = AgglomerativeClustering(5, linkage=linkage).fit_predict(X)
    assert adjusted_rand_index(theirs, model.labels_) == 1


@every_linkage
def test_the_tree_cut_at_its_end_is_the_labels(linkage, iris):
    X, y = iris
    links = sample_pairs(y, 60, random_state=0)
    model = ConstrainedAgglomerative(3, linkage=linkage).fit(X, constraints=links)
    inside = [{row} for row in range(150)]
    for a, b in model.children_:
        inside.append(inside[a] | inside[b])
        inside[a] = inside[b] = set()
    clusters = [rows for rows in inside if rows]
    assert len(clusters) == 3
    assert {frozenset(rows) for rows in clusters} == {
        frozenset(np.flatnonzero(model.labels_ == c).tolist()) for c in range(3)
    }


@every_linkage
def test_the_order_of_points_and_pairs_is_irrelevant_even_with_ties(linkage, rng):
    X = rng.permutation(np.stack(np.meshgrid(range(8), range(8)), axis=-1).reshape(-1, 2))
    X = X.astype(float)
    links = sample_pairs(X[:, 0] + X[:, 1] > 7, 30, random_state=0)
    p = rng.permutation(64)
    a, b, sign, weight = links.arrays()
    table = np.stack([np.argsort(p)[b], np.argsort(p)[a], sign, weight], axis=1)
    moved = Constraints.from_table(table[rng.permutation(30)])
    straight = ConstrainedAgglomerative(4, linkage=linkage).fit_predict(X, constraints=links)
    shuffled = ConstrainedAgglomerative(4, linkage=linkage).fit_predict(X[p], constraints=moved)
    assert adjusted_rand_index(straight[p], shuffled) == 1


def test_a_pair_listed_twice_changes_nothing_and_weights_are_refused(iris):
    X, y = iris
    links = sample_pairs(y, 80, random_state=0)
    once, twice = (
        ConstrainedAgglomerative(3).fit_predict(X, constraints=given)
        for given in (links, links + links)
    )
    assert_array_equal(once, twice)
    with pytest.raises(ValueError, match="ConstrainedAgglomerative does not use weights"):
        ConstrainedAgglomerative(3).fit(X, constraints=links.with_weight(2))


@every_linkage
def test_all_pairs_give_the_true_classes(linkage, blobs):
    X, y = blobs
    wrong = np.roll(y, 1)  # not where the points are
    links = Constraints.from_labels(wrong, pairs="spanning")
    labels = ConstrainedAgglomerative(3, linkage=linkage).fit_predict(X, constraints=links)
    assert adjusted_rand_index(wrong, labels) == 1


@every_linkage
def test_float32_and_sparse_points_give_the_same_clusters(linkage, iris):
    X, y = iris
    links = sample_pairs(y, 60, random_state=0)
    double = ConstrainedAgglomerative(3, linkage=linkage).fit(X, constraints=links)
    single = ConstrainedAgglomerative(3, linkage=linkage)
    single.fit(X.astype(np.float32), constraints=links)
    assert single.distances_.dtype == np.float32
    assert adjusted_rand_index(single.labels_, double.labels_) == 1
    loose = ConstrainedAgglomerative(3, linkage=linkage)
    loose.fit(sparse.csr_matrix(X), constraints=links)
    assert_allclose(loose.distances_, double.distances_, atol=1e-6)


def test_merging_ends_at_the_number_or_the_threshold_whichever_comes_first():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    for k, threshold, clusters in ((1, 2.0, 3), (1, 2.1, 2), (3, 99.0, 3), (1, 99.0, 1)):
        model = ConstrainedAgglomerative(k, linkage="single", distance_threshold=threshold)
        assert model.fit(X).n_clusters_ == clusters
    links = Constraints([], [(0, 1), (1, 2), (0, 2)])
    model = ConstrainedAgglomerative(1, distance_threshold=99.0).fit(X, constraints=links)
    assert model.n_clusters_ == 3  # nothing is left to merge


def test_what_cannot_be_is_refused_with_its_reason(iris, monkeypatch):
    X, _ = iris
    triangle = Constraints([], [(0, 1), (1, 2), (0, 2)])
    with pytest.raises(InfeasibleConstraints, match="more than 2 cluster") as info:
        ConstrainedAgglomerative(2).fit(X, constraints=triangle)
    assert info.value.conflict == triangle
    with pytest.raises(InfeasibleConstraints, match="into 2 groups, fewer than n_clusters=3"):
        ConstrainedAgglomerative(3).fit(X[:3], constraints=([(0, 1)], []))
    monkeypatch.setattr("linkwise.blocks.cost.machine_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match="use COPKMeans"):
        ConstrainedAgglomerative(3).fit(X)


def test_contradicted_cannot_links_are_listed_when_kept(iris):
    links = Constraints([(0, 1), (1, 2)], [(0, 2), (0, 60)])
    model = ConstrainedAgglomerative(3, on_conflict="keep").fit(iris[0], constraints=links)
    assert [(pair.a, pair.b) for pair in model.violations_] == [(0, 2)]


def test_a_witness_recolours_along_a_chain():
    """0 - 1 - 2 and 3 - 4, two colours: 0 and 3 may meet, 0 and 1 or 1 and 3 then not."""
    witness = Witness(np.array([0, 1, 0, 1, 0]), np.array([[0, 1], [1, 2], [3, 4]]), 2)
    assert witness.allows(0, 3)
    assert witness.colour[0] == witness.colour[3]
    witness.merge(0, 3)
    assert not witness.allows(0, 1)
    assert not witness.allows(1, 3)
    assert witness.allows(1, 4)
