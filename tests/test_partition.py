import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans

from linkwise.evaluate import adjusted_rand_index
from linkwise.exceptions import ConvergenceWarning
from linkwise.partition import kernel_kmeans, kmeans, nearest_centre


def test_kmeans_is_scikit_learns(blobs, rng):
    X, y = blobs
    labels, centres, inertia = kmeans(X, 3, rng=rng)
    assert adjusted_rand_index(y, labels) == 1
    assert_allclose(inertia, KMeans(3, n_init=10, random_state=0).fit(X).inertia_, rtol=1e-6)
    assert_array_equal(nearest_centre(X, centres), labels)


def test_kmeans_does_not_depend_on_the_order_of_the_points(rng):
    X = rng.standard_normal((150, 4))  # no clusters: every start ends elsewhere
    p = rng.permutation(150)
    straight = kmeans(X, 7, n_init=1, rng=np.random.default_rng(3)).labels
    shuffled = kmeans(X[p], 7, n_init=1, rng=np.random.default_rng(3)).labels
    assert adjusted_rand_index(straight[p], shuffled) == 1


def test_fewer_positions_than_clusters_are_announced(rng):
    with pytest.warns(ConvergenceWarning, match="only 2 of 3"):
        labels = kmeans(np.repeat([[0.0], [1.0]], 4, axis=0), 3, rng=rng).labels
    assert len(np.unique(labels)) == 2


def scatter(K, labels):
    """Return Eq. (3) of kernel k-means, literally."""
    total = np.trace(K)
    for c in np.unique(labels):
        total -= K[np.ix_(labels == c, labels == c)].sum() / np.sum(labels == c)
    return total


def test_kernel_kmeans_with_a_linear_kernel_is_kmeans(blobs, rng):
    X, _ = blobs
    labels, _, J, _ = kernel_kmeans(X @ X.T, 3, rng=rng)
    assert adjusted_rand_index(KMeans(3, n_init=10, random_state=0).fit_predict(X), labels) == 1
    assert_allclose(J, scatter(X @ X.T, labels))


def test_the_objective_counts_rewards_and_penalties(rng):
    K = rng.standard_normal((12, 20))
    K = K @ K.T
    R = sparse.csr_array(
        (np.array([3.0, 3.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(12, 12)
    )
    labels, _, J, _ = kernel_kmeans(K, 3, R=R, rng=rng)
    assert_allclose(J, scatter(K + R.toarray(), labels))


@pytest.mark.parametrize(("sign", "together"), [(1, True), (-1, False)])
def test_a_heavy_constraint_decides(sign, together, rng):
    x = np.array([[0.0], [0.1], [4.0], [4.1], [2.0]])
    i, j = (1, 2) if sign > 0 else (0, 1)
    R = np.zeros((5, 5))
    R[i, j] = R[j, i] = 100 * sign
    labels = kernel_kmeans(x @ x.T, 2, R=sparse.csr_array(R), rng=rng).labels
    assert (labels[i] == labels[j]) == together


def test_no_cluster_is_left_empty(rng):
    X = np.repeat(rng.standard_normal((3, 2)), 5, axis=0)
    labels = kernel_kmeans(X @ X.T, 6, rng=rng).labels
    assert len(np.unique(labels)) == 6


def test_without_moves_passes_end_where_every_point_is_in_its_nearest_cluster(rng):
    X = rng.standard_normal((60, 3))
    start = rng.integers(4, size=60)
    options = {"n_init": 0, "starts": [start], "rng": rng}
    labels, _, J, _ = kernel_kmeans(X @ X.T, 4, moves=False, **options)
    centres = np.stack([X[labels == c].mean(axis=0) for c in range(4)])
    squared = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert_array_equal(labels, squared.argmin(axis=1))
    assert_allclose(J, squared.min(axis=1).sum())
    assert kernel_kmeans(X @ X.T, 4, **options).objective <= J + 1e-9


def test_kernel_kmeans_does_not_depend_on_the_order_of_the_points(rng):
    X = rng.standard_normal((60, 5))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))
    p = rng.permutation(60)
    straight = kernel_kmeans(K, 4, rng=np.random.default_rng(1)).labels
    shuffled = kernel_kmeans(K[p][:, p], 4, rng=np.random.default_rng(1)).labels
    assert adjusted_rand_index(straight[p], shuffled) == 1


def test_must_link_groups_start_together(rng):
    """Two far groups are the two seeds, wherever the other points are."""
    X = np.concatenate([np.zeros((3, 1)), np.full((3, 1), 5.0), rng.uniform(0, 5, (30, 1))])
    groups = np.r_[[0] * 3, [1] * 3, np.arange(2, 32)]
    labels = kernel_kmeans(X @ X.T, 2, groups=groups, n_init=1, rng=rng).labels
    assert len(set(labels[:3])) == len(set(labels[3:6])) == 1
    assert labels[0] != labels[3]


def test_no_single_move_lowers_the_objective(rng):
    K = rng.standard_normal((14, 20))
    K = K @ K.T
    R = np.triu(rng.choice([0, 0, 0, 5, -5], size=(14, 14)), 1).astype(float)
    R += R.T
    labels, _, J, _ = kernel_kmeans(K, 3, R=sparse.csr_array(R), rng=rng)
    for i in range(14):
        for c in range(3):
            moved = labels.copy()
            moved[i] = c
            if len(np.unique(moved)) == 3:
                assert scatter(K + R, moved) >= J - 1e-8


def test_with_degrees_for_masses_the_objective_is_the_normalised_cut(rng):
    W = rng.random((12, 12)) * (rng.random((12, 12)) < 0.6)
    W = np.triu(W, 1) + np.triu(W, 1).T
    d = W.sum(axis=1)
    for graph in (W, sparse.csr_array(W)):
        labels, _, J, _ = kernel_kmeans(graph, 3, mass=d, rng=np.random.default_rng(0))
        cut = sum(
            W[np.ix_(labels == c, labels != c)].sum() / d[labels == c].sum() for c in range(3)
        )
        assert_allclose(J + 3, cut)  # the diagonal of W is 0


def test_a_start_that_is_given_is_tried(rng):
    X = rng.standard_normal((40, 3))
    K = X @ X.T
    best = kernel_kmeans(K, 5, n_init=30, rng=rng)
    again = kernel_kmeans(K, 5, n_init=1, starts=[best.labels], rng=rng)
    assert again.objective <= best.objective + 1e-9
