"""Clusters whose sizes are within limits: exact assignment by min-cost flow.

    (1)  minimise sum_i cost(i, l_i)   with   least_c <= |{i: l_i = c}| <= most_c

(1) is a min-cost flow from n points through k clusters to a sink. It is solved by successive
shortest paths [1] in the graph of the k clusters and the sink s, never in that of the points:

    (2)  d(a, b) = min over i in a of cost(i, b) - cost(i, a)     a point of a goes to b
    (3)  d(a, s) = 0 while f_a < most_a,  d(s, a) = 0 while f_a > least_a

f_a is the flow from cluster a to the sink. Soft limits have a weight w: each point beyond them
costs w, and (3) becomes

    (3')  d(a, s) = -w, 0 or w  and  d(s, a) = w, 0 or -w    for f_a below, within and above limits

The start is each point in its cheapest cluster at
prices p_c, and f from the signs of the prices, which is optimal for these sizes. Each augmentation
moves points along a shortest path from a cluster with too many to one with too few. No negative
cycle ever exists, so the result is a minimum of (1), and it is integral.

An augmentation takes O(k^2) time for the path and O(n_a k) for (2), n_a the rows of a cluster that
lost one. Prices of an earlier solution make a new one quick: the next pass of k-means needs a few
augmentations. Memory O(n k).

Points joined by must-links move as one, and cannot-links keep points apart. With those, (1) is no
flow. The groups that have links are assigned by a mixed-integer program (HiGHS [2]), in which the
other points count at their prices:

    (4)  minimise sum_gc cost(g, c) x_gc + sum_c p_c r_c,
         x in {0, 1}, sum_c x_gc = 1, x_gc + x_hc <= 1 for a cannot-link (g, h),
         least_c <= sum_g h_g x_gc + r_c <= most_c, sum_c r_c = the number of other points

Whether any assignment exists is decided by (4), exactly. The other points are then assigned by (1).

[1] Ahuja, Magnanti & Orlin, Network Flows, 1993, chapter 9.
[2] Huangfu & Hall, Parallelizing the dual revised simplex method, Math. Prog. Comp. 10, 2018.
[3] Cuturi, Sinkhorn distances: lightspeed computation of optimal transport, NIPS 2013.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import LinearConstraint, linear_sum_assignment, milp
from scipy.special import softmax

from linkwise.constraints.closure import component_pairs, components
from linkwise.exceptions import InfeasibleConstraints

SAMPLE = 5000  # rows that starting prices are computed from: they need not be exact
WIDTHS, STEPS = (0.1, 0.03, 0.01), 10  # of the entropy in them, and steps at each; measured at
#                 10,000 x 50: ten times fewer augmentations than from prices of 0
SECONDS = 20.0  # for (4): an assignment that is not the best by then is taken
GAP = 1e-3  # of (4), relative: the prices are those of an earlier pass, so exact would be wasted


class Limits(NamedTuple):
    """The least and the largest size of every cluster."""

    least: np.ndarray  # (k,) int
    most: np.ndarray  # (k,) int


class Assigned(NamedTuple):
    """Labels within limits."""

    labels: np.ndarray  # (n,) int
    prices: np.ndarray  # (k,)


def limits_of(size, balanced, n, k):
    """Return the Limits that the parameters ``size`` and ``balanced`` ask for, None without any."""
    if balanced:
        return Limits(np.full(k, n // k), np.full(k, -(-n // k)))
    if size is None:
        return None
    pairs = np.broadcast_to(np.asarray(size, dtype=np.int64), (k, 2))
    return Limits(pairs[:, 0].copy(), np.minimum(pairs[:, 1], n))


def starting_prices(cost, limits):
    """Return prices (k,) that put the sizes roughly within limits, by entropic transport [3]."""
    rows = cost[:: max(1, len(cost) // SAMPLE)]
    share = len(rows) / len(cost)
    least, most = (np.maximum(bound * share, 0.5) for bound in limits)
    rows = rows - rows.min(axis=1, keepdims=True)
    prices = np.zeros(cost.shape[1])
    for width in WIDTHS if rows.any() else ():
        scale = width * float(rows.mean())
        for _ in range(STEPS):
            size = np.maximum(softmax(-(rows + prices) / scale, axis=1).sum(axis=0), 1e-9)
            up, down = prices + scale * np.log(size / most), prices + scale * np.log(size / least)
            prices = np.where(up > 0, up, np.where(down < 0, down, 0.0))
    return prices


class _Flow:
    """A pseudoflow: labels, the flow f of every cluster to the sink, and the arcs of Eq. (2)."""

    def __init__(self, cost, limits, prices, weight=np.inf):
        self.cost, self.limits, self.weight = cost, limits, weight
        prices = np.clip(prices, -weight, weight)
        n, k = cost.shape
        self.n, self.k = n, k
        self.rounding = 1e-12 * float(abs(cost).max(initial=1.0))
        self.labels = np.argmin(cost + prices, axis=1)
        size = np.bincount(self.labels, minlength=k)
        least, most = limits
        self.flow = np.where(prices > 0, most, np.where(prices < 0, least, np.clip(size, *limits)))
        self.flow = np.where(prices >= weight, np.maximum(size, most), self.flow)
        self.flow = np.where(prices <= -weight, np.minimum(size, least), self.flow)
        self.excess = np.r_[size - self.flow, self.flow.sum() - n]
        self.members = [np.flatnonzero(self.labels == c) for c in range(k)]
        self.D = np.zeros((k + 1, k + 1))
        self.point = np.full((k, k), -1)
        for c in range(k):
            self._arcs_from(c)
        self._sink_arcs(np.arange(k))

    def _arcs_from(self, a):
        """Compute Eq. (2) from cluster a."""
        rows = self.members[a]
        if not len(rows):
            self.D[a, : self.k] = np.inf
            return
        gain = self.cost[rows] - self.cost[rows, a][:, None]
        first = gain.argmin(axis=0)
        self.D[a, : self.k] = gain[first, np.arange(self.k)]
        self.point[a] = rows[first]
        self.D[a, a] = 0

    def _add_arcs(self, a, i):
        """Update Eq. (2) from cluster a, which took point i."""
        gain = self.cost[i] - self.cost[i, a]
        nearer = gain < self.D[a, : self.k]
        self.D[a, : self.k][nearer], self.point[a][nearer] = gain[nearer], i
        self.D[a, a] = 0

    def _sink_arcs(self, clusters):
        """Compute Eq. (3), or (3'), for some clusters."""
        flow, w = self.flow[clusters], self.weight
        least, most = (bound[clusters] for bound in self.limits)
        self.D[clusters, self.k] = np.where(flow < most, np.where(flow < least, -w, 0.0), w)
        self.D[self.k, clusters] = np.where(flow > least, np.where(flow > most, -w, 0.0), w)

    def distances(self, source):
        """Return the shortest distances from nodes with distance source (k + 1,), and the steps."""
        distance, before = source, np.full(self.k + 1, -1)
        for _ in range(self.k + 1):
            through = distance[:, None] + self.D
            first = through.argmin(axis=0)
            new = through[first, np.arange(self.k + 1)]
            better = new < distance - self.rounding
            if not better.any():
                break
            distance = np.where(better, new, distance)
            before = np.where(better, first, before)
        return distance, before

    def augment(self):
        """Move along a shortest path from an excess to a lack; return whether there was one."""
        source = np.where(self.excess > 0, 0.0, np.inf)
        distance, before = self.distances(source)
        distance = np.where(self.excess < 0, distance, np.inf)
        b = int(np.argmin(distance))
        if not np.isfinite(distance[b]):
            return False
        path = [b]
        while before[path[-1]] >= 0 and len(path) <= self.k + 1:
            path.append(int(before[path[-1]]))
        path.reverse()
        self.excess[path[0]] -= 1
        self.excess[b] += 1
        changed = []
        for a, c in pairwise(path):
            if c == self.k:
                self.flow[a] += 1
            elif a == self.k:
                self.flow[c] -= 1
            else:
                changed.append((a, c, self.point[a, c]))
        for a, c, i in changed:
            self.labels[i] = c
            self.members[a] = self.members[a][self.members[a] != i]
            self.members[c] = np.append(self.members[c], i)
        lost = {a for a, _, _ in changed}
        for a in lost:
            self._arcs_from(a)
        for c, i in {c: i for _, c, i in changed if c not in lost}.items():
            self._add_arcs(c, i)
        self._sink_arcs(np.array([c for c in path if c < self.k], dtype=np.intp))
        return True

    def prices(self):
        """Return the prices of the clusters: distances to the sink, with the sign of Eq. (3)."""
        source = np.full(self.k + 1, np.inf)
        source[self.k] = 0
        distance, _ = self.distances(source)
        return -np.where(np.isfinite(distance), distance, 0.0)[: self.k]


def flow_assignment(cost, limits, prices=None, weight=np.inf):
    """Return the labels of least total cost within limits, Eq. (1); they are a minimum.

    With a weight, limits are soft: the minimum is that of the total cost and ``weight`` for each
    point beyond them.

    Parameters
    ----------
    cost : array (n, k)
    limits : Limits with sum least <= n <= sum most, if they are not soft
    prices : array (k,) of an earlier solution, or None
    weight : float > 0
    """
    start = starting_prices(cost, limits) if prices is None else prices
    flow = _Flow(cost, limits, start, weight)
    while np.any(flow.excess > 0) and flow.augment():
        pass
    return Assigned(flow.labels, flow.prices())


def _groups_of(cost, must):
    """Return the must-linked group of every point, and the size and the costs of every group."""
    of = components(len(cost), must)
    size = np.bincount(of)
    total = np.zeros((len(size), cost.shape[1]))
    np.add.at(total, of, cost)
    return of, size, total


def _linked_labels(cost, size, edges, others, limits, prices):
    """Return labels (g,) of linked groups by Eq. (4), or None if there are none.

    Parameters
    ----------
    cost : array (g, k), of the groups that have links
    size : int array (g,)
    edges : int array (r, 2), cannot-linked groups
    others : int, the number of points without links
    limits : Limits
    prices : array (k,)
    """
    g, k = cost.shape
    every, column = np.arange(g * k), np.tile(np.arange(k), g)
    once = sparse.csr_array((np.ones(g * k), (every // k, every)), shape=(g, g * k + k))
    row, r = np.arange(k * len(edges)), len(edges)
    a, b = (np.repeat(edges[:, side] * k, k) + np.tile(np.arange(k), r) for side in (0, 1))
    apart = sparse.csr_array(
        (np.ones(2 * k * r), (np.r_[row, row], np.r_[a, b])), shape=(k * r, g * k + k)
    )
    sizes = sparse.hstack(
        [sparse.csr_array((np.repeat(size, k), (column, every)), shape=(k, g * k)), sparse.eye(k)]
    )
    rest = sparse.csr_array(np.r_[np.zeros(g * k), np.ones(k)][None])
    rules = [
        LinearConstraint(once, 1, 1),
        LinearConstraint(sizes, limits.least, limits.most),
        LinearConstraint(rest, others, others),
    ]
    if r:
        rules.append(LinearConstraint(apart, -np.inf, 1))
    objective = np.r_[cost.ravel(), prices]
    found = milp(
        objective / max(abs(objective).max(), 1e-300),
        integrality=np.r_[np.ones(g * k), np.zeros(k)],
        bounds=(0, np.r_[np.ones(g * k), np.full(k, others)]),
        constraints=rules,
        options={"time_limit": SECONDS, "mip_rel_gap": GAP},
    )
    return None if found.x is None else found.x[: g * k].reshape(g, k).argmax(axis=1)


def explain_sizes(n, limits, size, edges):
    """Return in words why no assignment has sizes within limits, or None if none is found.

    Parameters
    ----------
    n : int, the number of points
    limits : Limits
    size : int array (g,), of the must-linked groups
    edges : int array (r, 2), cannot-linked groups
    """
    least, most = limits
    if np.any(least > most):
        c = int(np.argmax(least > most))
        return f"cluster {c} is to have at least {least[c]} and at most {most[c]} points"
    if least.sum() > n:
        return f"the clusters are to have at least {least.sum()} points together, and there are {n}"
    if most.sum() < n:
        return f"the clusters hold at most {most.sum()} points together, and there are {n}"
    if size.max() > most.max():
        return (
            f"must-links join {size.max()} points, and no cluster may have more than {most.max()}"
        )
    degree = np.bincount(edges.ravel(), minlength=len(size))
    if degree.max(initial=0) and len(most) == 1:
        return "a cannot-link needs two clusters"
    return None


def sized_assignment(cost, must, cannot, limits, prices=None):
    """Return labels of low total cost within limits that keep all constraints.

    Without constraints they are a minimum. With constraints it is exact that they exist; if not,
    InfeasibleConstraints says why.

    Parameters
    ----------
    cost : array (n, k)
    must, cannot : int arrays (m, 2), no cannot-link inside a must-linked group
    limits : Limits
    prices : array (k,) of an earlier solution, or None
    """
    of, size, total = _groups_of(cost, must)
    edges = component_pairs(of, cannot)
    reason = explain_sizes(len(cost), limits, size, edges)
    if reason is not None:
        raise InfeasibleConstraints(f"the sizes cannot hold: {reason}; change size or n_clusters")
    linked = np.unique(np.r_[np.flatnonzero(size > 1), edges.ravel()])
    if not len(linked):
        return flow_assignment(cost, limits, prices)
    prices = starting_prices(cost, limits) if prices is None else prices
    place = np.full(len(size), -1)
    place[linked] = np.arange(len(linked))
    alone = place[of] < 0
    found = _linked_labels(
        total[linked], size[linked], place[edges], int(alone.sum()), limits, prices
    )
    if found is None:
        raise InfeasibleConstraints(
            f"the sizes cannot hold with these constraints: no assignment to {cost.shape[1]} "
            f"clusters of {limits.least.min()} to {limits.most.max()} points keeps all must-links "
            f"and cannot-links, or none was found within {SECONDS:g} s; change size or n_clusters, "
            "or remove some constraints"
        )
    labels = np.full(len(cost), -1)
    labels[~alone] = found[place[of[~alone]]]
    taken = np.bincount(labels[~alone], minlength=cost.shape[1])
    left = Limits(np.maximum(limits.least - taken, 0), limits.most - taken)
    others = flow_assignment(cost[alone], left, prices)
    labels[alone] = others.labels
    return Assigned(labels, others.prices)


def matched_limits(expected, limits):
    """Return the column (k,) that suits each of k limits best, so that few points have to move.

    Parameters
    ----------
    expected : array (k,), expected sizes of the columns
    limits : Limits
    """
    least, most = (bound[:, None] for bound in limits)
    beyond = np.maximum(least - expected, 0) + np.maximum(expected - most, 0)
    return linear_sum_assignment(beyond)[1]
