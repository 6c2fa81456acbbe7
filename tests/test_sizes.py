"""Laws of the sizes of clusters."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from linkwise import Constraints, COPKMeans, InfeasibleConstraints, LinkClustering
from linkwise.cli import main
from linkwise.partition.sizes import Limits, flow_assignment, limits_of, sized_assignment

NONE = np.zeros((0, 2), dtype=np.int64)


@st.composite
def problems(draw, n_most=6):
    """Costs (n, k), and limits that some sizes are within."""
    n, k = draw(st.integers(1, n_most)), draw(st.integers(1, 3))
    numbers = st.sampled_from([0.0, 0.25, 1.0, 1.5, 4.0, -2.0])
    cost = draw(arrays(float, (n, k), elements=numbers))
    size = np.bincount(draw(arrays(int, n, elements=st.integers(0, k - 1))), minlength=k)
    spare = draw(arrays(int, (2, k), elements=st.integers(0, 2)))
    return cost, Limits(np.maximum(size - spare[0], 0), size + spare[1])


def within(labels, limits):
    size = np.bincount(labels, minlength=len(limits.least))
    return bool(np.all((limits.least <= size) & (size <= limits.most)))


def best_of_all(cost, limits, must=(), cannot=()):
    """Return the least total cost by trying all labels, None if no labels will do."""
    n, k = cost.shape
    found = [
        cost[np.arange(n), labels].sum()
        for labels in map(np.array, itertools.product(range(k), repeat=n))
        if within(labels, limits)
        and all(labels[a] == labels[b] for a, b in must)
        and all(labels[a] != labels[b] for a, b in cannot)
    ]
    return min(found, default=None)


@settings(deadline=None, max_examples=60)
@given(problems(), st.none() | arrays(float, 3, elements=st.sampled_from([-3.0, -0.1, 0.0, 2.0])))
def test_the_flow_is_a_minimum_from_any_prices(problem, prices):
    cost, limits = problem
    prices = None if prices is None else prices[: cost.shape[1]]
    found = flow_assignment(cost, limits, prices)
    assert within(found.labels, limits)
    total = cost[np.arange(len(cost)), found.labels].sum()
    assert total == pytest.approx(best_of_all(cost, limits), abs=1e-9)
    again = flow_assignment(cost, limits, found.prices)
    assert cost[np.arange(len(cost)), again.labels].sum() == pytest.approx(total, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(problems(5), st.data())
def test_sizes_and_constraints_hold_or_no_labels_will_do(problem, data):
    cost, limits = problem
    row = st.integers(0, len(cost) - 1)
    pairs = data.draw(st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=3))
    cut = data.draw(st.integers(0, len(pairs)))
    must, cannot = pairs[:cut], pairs[cut:]
    links = Constraints(must, cannot)
    if links.conflict() is not None:
        return
    ends = (np.array(part, dtype=np.int64).reshape(-1, 2) for part in (must, cannot))
    if best_of_all(cost, limits, must, cannot) is None:
        with pytest.raises(InfeasibleConstraints, match="the sizes cannot hold"):
            sized_assignment(cost, *ends, limits)
        return
    labels = sized_assignment(cost, *ends, limits).labels
    assert within(labels, limits)
    assert not links.violated(labels).any()


X, y = load_iris(return_X_y=True)


def beyond(labels, limits):
    size = np.bincount(labels, minlength=len(limits.least))
    return int((np.maximum(limits.least - size, 0) + np.maximum(size - limits.most, 0)).sum())


@settings(deadline=None, max_examples=60)
@given(
    problems(),
    st.sampled_from([0.1, 0.7, 3.0]),
    st.none() | arrays(float, 3, elements=st.sampled_from([-3.0, -0.1, 0.0, 2.0])),
)
def test_soft_limits_are_a_minimum_with_their_price(problem, weight, prices):
    cost, limits = problem
    n, k = cost.shape
    prices = None if prices is None else prices[:k]
    labels = flow_assignment(cost, limits, prices, weight).labels

    def total(labels):
        return cost[np.arange(n), labels].sum() + weight * beyond(labels, limits)

    every = map(np.array, itertools.product(range(k), repeat=n))
    assert total(labels) == pytest.approx(min(map(total, every)), abs=1e-9)


def test_a_larger_weight_brings_sizes_nearer_to_their_limits():
    links = Constraints.sample(y, 20, random_state=0)
    fitted = LinkClustering(3, effort="fast", size=(48, 52), size_weight=1e-6, random_state=0)
    limits = limits_of((48, 52), False, 150, 3)
    found = []
    for weight in (1e-6, 1.0, 5.0, 100.0):
        fitted.set_params(size_weight=weight).fit(X, constraints=links)
        found.append(beyond(fitted.labels_, limits))
        assert fitted.violations_ == []
    assert found == sorted(found, reverse=True)
    free = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    assert found[0] == beyond(free.labels_, limits)
    assert found[0] > found[-1] == 0
    with pytest.raises(ValueError, match="size_weight is how much size= or balanced= weigh"):
        LinkClustering(3, size_weight=1.0).fit(X)


@pytest.mark.parametrize("method", [COPKMeans, LinkClustering])
def test_balanced_clusters_keep_all_constraints(method):
    links = Constraints.sample(y[::3], 20, random_state=0)
    more = {"effort": "fast", "respect": "hard"} if method is LinkClustering else {"n_init": 2}
    model = method(4, balanced=True, random_state=0, **more).fit(X[::3], constraints=links)
    assert sorted(np.bincount(model.labels_).tolist()) == [12, 12, 13, 13]
    assert model.violations_ == []


@pytest.mark.parametrize("method", [COPKMeans, LinkClustering])
def test_each_cluster_has_its_own_limits(method):
    limits = [(5, 10), (60, 90), (0, 80)]
    more = {"effort": "fast"} if method is LinkClustering else {"n_init": 1}
    model = method(3, size=limits, random_state=0, **more).fit(X, constraints=([(0, 1)], [(1, 70)]))
    assert within(model.labels_, limits_of(limits, False, 150, 3))
    assert model.violations_ == []
    assert_array_equal(model.predict(X), model.labels_)


def test_limits_of_each_cluster_need_a_number_of_clusters():
    with pytest.raises(ValueError, match="a list of 1 such pairs"):
        LinkClustering((2, 4), size=[(5, 10), (60, 90), (0, 80)]).fit(X)


def test_limits_that_do_not_bind_change_nothing():
    plain = COPKMeans(3, n_init=3, random_state=0).fit(X)
    sized = COPKMeans(3, n_init=3, size=(0, 150), random_state=0).fit(X)
    assert sized.inertia_ == pytest.approx(plain.inertia_, rel=1e-3)


@pytest.mark.parametrize(
    ("size", "fault"),
    [
        ((0, 40), "at most 120 points together, and there are 150"),
        ((60, 90), "at least 180 points together"),
        ((40, 20), "least <= most"),
        ((1.5, 2), "expected whole numbers"),
    ],
)
def test_sizes_that_cannot_hold_are_explained(size, fault):
    with pytest.raises(ValueError, match=fault):
        COPKMeans(3, size=size).fit(X)


def test_a_group_larger_than_any_cluster_is_named():
    chunk = np.r_[np.zeros(60), np.full(90, -1)]
    with pytest.raises(InfeasibleConstraints, match="must-links join 60 points"):
        COPKMeans(3, balanced=True).fit(X, constraints=Constraints.from_chunks(chunk))


def test_two_ways_to_limit_sizes_are_refused_and_so_are_new_rows():
    with pytest.raises(ValueError, match="pass one of them"):
        COPKMeans(3, size=(1, 90), balanced=True).fit(X)
    model = LinkClustering(3, balanced=True, effort="fast", random_state=0).fit(X[:60])
    with pytest.raises(TypeError, match="extend keeps"):
        model.extend(X[60:])


def test_the_command_line_limits_sizes(tmp_path, capsys):
    np.save(tmp_path / "x.npy", X)
    out = tmp_path / "labels.npy"
    words = ["fit", str(tmp_path / "x.npy"), "-k", "3", "--method", "cop-kmeans", "--force", "-o"]
    assert main([*words, str(out), "--balanced"]) == 0
    assert np.bincount(np.load(out)).tolist() == [50, 50, 50]
    assert main([*words, str(out), "--size", "5-10,60-90,0-80"]) == 0
    assert np.bincount(np.load(out))[0] <= 10
    assert main([*words, str(out), "--size", "10-20", "--size-weight", "1"]) == 2
    assert "--size-weight is for link-clustering" in capsys.readouterr().err
    assert main([*words, str(out), "--size", "10-20"]) == 4
    assert "at most 60 points" in capsys.readouterr().err
    assert main([*words, str(out), "--method", "pck-means", "--balanced"]) == 2
