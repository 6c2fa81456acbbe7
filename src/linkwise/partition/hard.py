"""k-means that keeps every constraint, COP-KMeans [1].

Must-linked points form one group g of h_g points with sum s_g. Cannot-links are edges between
groups. With labels l and centres m,

    (1)  J = sum_i |x_i - m_l(i)|^2,   l(g) != l(h) for every edge (g, h)
    (2)  cost(g, c) = h_g |m_c|^2 - 2 <s_g, m_c>       J less sum_i |x_i|^2, group by group

[1] places one point after the other and gives up at the first that fits nowhere. Here a start is
a colouring of the graph of the edges (colouring.py). From then on every labelling keeps all
constraints, and J never rises:

  - a group without edges goes to its nearest centre;
  - for each two clusters a and b, edges join the groups in them into connected parts. A part (a
    Kempe chain) may change sides as a whole without breaking a constraint, and parts are
    independent: every part that gains by it changes sides. For two clusters this is the best
    assignment; for more clusters, no exchange between two of them can improve it.

A pass takes O(n d k + k^2 edges) time; memory O(n (d + k)).

[1] Wagstaff, Cardie, Rogers & Schroedl, Constrained k-means clustering with background
    knowledge, ICML 2001.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from linkwise.constraints.closure import component_pairs, components
from linkwise.exceptions import ConvergenceWarning, InfeasibleConstraints, warn
from linkwise.partition.colouring import colour
from linkwise.partition.groups import cheapest, choose_seeds, dense, must_groups, one_hot
from linkwise.partition.sizes import sized_assignment

PASSES = 20  # of `assign`: bounds its time; passes end earlier if none lowers the cost


class CentroidPartition(NamedTuple):
    """Labels and centres."""

    labels: np.ndarray  # (n,) int
    centres: np.ndarray  # (k, d); NaN where a cluster is empty
    inertia: float
    n_iter: int


def centres_of(groups, labels, k):
    """Return the means (k, d) of the clusters, NaN where one is empty."""
    H = one_hot(labels, k, groups.sums.dtype)
    size = np.bincount(labels, groups.size, minlength=k).astype(groups.sums.dtype)
    size[size == 0] = np.nan
    return dense(H @ groups.sums) / size[:, None]


def costs_of(groups, centres):
    """Return Eq. (2), (g, k); an empty cluster costs infinity."""
    filled = np.nan_to_num(centres)
    cost = groups.size[:, None] * row_norms(filled, squared=True) - 2 * (groups.sums @ filled.T)
    cost[:, np.isnan(centres[:, 0])] = np.inf
    return cost.astype(np.float64, copy=False)


def move(cost, labels, A):
    """Return labels after single groups moved to cheaper clusters without a neighbour.

    The groups of one cluster are not neighbours of each other, so they move at once.
    """
    labels, k = labels.copy(), cost.shape[1]
    for a in range(k):
        rows = np.flatnonzero(labels == a)
        taken = A[rows] @ np.eye(k)[labels]  # (rows, k)
        labels[rows] = cheapest(np.where(taken > 0, np.inf, cost[rows]), labels[rows])
    return labels


def swap(cost, labels, edges):
    """Return labels after the exchanges between two clusters that lower the cost."""
    labels = labels.copy()
    used = np.flatnonzero(np.isfinite(cost).all(axis=0))
    for at, a in enumerate(used):
        for b in used[at + 1 :]:
            rows = np.flatnonzero((labels == a) | (labels == b))
            own, other = labels[rows], a + b - labels[rows]
            gain = cost[rows, own] - cost[rows, other]
            if np.all(gain <= 0):
                continue
            number = np.full(len(labels), -1)
            number[rows] = np.arange(len(rows))
            ends = number[edges]
            part = components(len(rows), ends[(ends >= 0).all(axis=1)])
            gain = np.bincount(part, gain)
            least = 1e-12 * np.bincount(part, abs(cost[rows, own]))  # above rounding
            labels[rows] = np.where((gain > least)[part], other, own)
    return labels


def fill_empty(groups, labels, k):
    """Return labels where each empty cluster took the group that lowers J the most, if any does."""
    count = np.bincount(labels, minlength=k)
    if np.all(count):
        return labels
    labels = labels.copy()
    own = costs_of(groups, centres_of(groups, labels, k))[np.arange(len(labels)), labels]
    gain = own + row_norms(groups.sums, squared=True) / groups.size  # h |z - m|^2
    for c in np.flatnonzero(count == 0):
        gain[count[labels] == 1] = 0
        g = int(np.argmax(gain))
        if gain[g] <= 1e-9 * gain.sum():
            break
        count[labels[g]] -= 1
        labels[g], count[c], gain[g] = c, 1, 0
    return labels


def _lloyd(groups, labels, touched, inner, max_iter, k):
    """Return labels that no pass improves, their centres, passes, and whether they settled.

    inner (r, 2) are the edges between the groups touched (t,), by their place among these.
    """
    both = np.r_[inner, inner[:, ::-1]].T
    A = sparse.csr_array((np.ones(len(both[0])), tuple(both)), shape=(len(touched),) * 2)
    for n_iter in range(1, max_iter + 1):
        labels = fill_empty(groups, labels, k)
        centres = centres_of(groups, labels, k)
        cost = costs_of(groups, centres)
        new = cheapest(cost, labels)
        new[touched] = move(cost[touched], labels[touched], A)
        if np.array_equal(new, labels):
            new[touched] = swap(cost[touched], labels[touched], inner)
        if np.array_equal(new, labels):
            return labels, centres, n_iter, True
        labels = new
    return labels, centres_of(groups, labels, k), max_iter, False


def _refuse(k, proven):
    if proven:
        raise InfeasibleConstraints(
            f"the constraints need more than {k} clusters: every assignment of must-linked groups "
            "was tried; raise n_clusters or remove some cannot-links"
        )
    raise InfeasibleConstraints(
        f"no assignment to {k} clusters that keeps all constraints was found within the bound of "
        "the search, though there may be one: raise n_clusters, try another random_state, or use "
        "PCKMeans, which may break constraints"
    )


def cop_kmeans(X, k, must, cannot, *, n_init=10, max_iter=300, rng):
    """Return the partition of least J, Eq. (1), among several starts; it keeps all constraints.

    Parameters
    ----------
    X : array or csr_array (n, d)
    k : int <= n
    must, cannot : int arrays (m, 2), no cannot-link inside a must-link group
    n_init : int; the first start is from must-linked groups, the others are drawn
    max_iter : int, passes a start
    rng : numpy Generator
    """
    groups = must_groups(X, must)
    edges = component_pairs(groups.of, cannot)
    touched, inner = np.unique(edges, return_inverse=True)
    inner = inner.reshape(-1, 2)
    runs: list[tuple] = []
    for start in range(n_init):
        seeds = choose_seeds(groups, k, rng, greedy=start == 0)
        cost = costs_of(groups, dense(groups.means()[seeds]))
        labels = np.argmin(cost, axis=1)
        found, proven = colour(cost[touched], inner, rng, exhaustive=start == 0)
        if found is None:
            if proven or (start == n_init - 1 and not runs):
                _refuse(k, proven)
            continue  # other centres may succeed
        labels[touched] = found
        labels, centres, n_iter, settled = _lloyd(groups, labels, touched, inner, max_iter, k)
        cost = costs_of(groups, centres)[np.arange(len(labels)), labels].sum()
        runs.append((cost, labels, centres, n_iter, settled))
    cost, labels, centres, n_iter, settled = min(runs, key=lambda run: run[0])
    if not settled:
        warn(f"{max_iter=} passes did not settle; raise max_iter", ConvergenceWarning)
    J = row_norms(X, squared=True).sum(dtype=np.float64) + cost
    return CentroidPartition(labels[groups.of], centres, max(float(J), 0.0), n_iter)


def sized_kmeans(X, k, must, cannot, limits, *, n_init=10, max_iter=300, rng):
    """Return the partition of least J among several starts, with sizes within limits.

    Each pass assigns all points anew, at the least cost (sizes.py), so J never rises without
    constraints; with constraints the best pass is kept.

    Parameters
    ----------
    X, k, must, cannot, n_init, max_iter, rng : as in `cop_kmeans`
    limits : Limits
    """
    groups, singles = must_groups(X, must), must_groups(X, must[:0])
    total = row_norms(X, squared=True).sum(dtype=np.float64)
    runs: list[CentroidPartition] = []
    for start in range(n_init):
        seeds = choose_seeds(groups, k, rng, greedy=start == 0)
        centres, best, prices = dense(groups.means()[seeds]), np.inf, None
        for n_iter in range(1, max_iter + 1):
            cost = costs_of(singles, centres)
            found = sized_assignment(cost, must, cannot, limits, prices)
            centres, prices = centres_of(singles, found.labels, k), found.prices
            centres = np.where(np.isnan(centres), dense(groups.means()[seeds]), centres)
            J = total + costs_of(singles, centres)[np.arange(len(cost)), found.labels].sum()
            if not best - J > 1e-9 * total:
                break
            best, kept = J, CentroidPartition(found.labels, centres, max(float(J), 0.0), n_iter)
        runs.append(kept)
    return min(runs, key=lambda run: run.inertia)


def assign(cost, must, cannot, rng):
    """Return labels (n,) of low total cost that keep all constraints, or None if none were found.

    Parameters
    ----------
    cost : array (n, k), of a point in a cluster
    must, cannot : int arrays (m, 2)
    rng : numpy Generator
    """
    of = components(len(cost), must)
    if np.any(of[cannot[:, 0]] == of[cannot[:, 1]]):
        return None
    total = np.zeros((of.max() + 1, cost.shape[1]))
    np.add.at(total, of, cost)
    labels = np.argmin(total, axis=1)
    touched, inner = np.unique(component_pairs(of, cannot), return_inverse=True)
    inner = inner.reshape(-1, 2)
    found, _ = colour(total[touched], inner, rng, exhaustive=True)
    if found is None:
        return None
    both = np.r_[inner, inner[:, ::-1]].T
    A = sparse.csr_array((np.ones(len(both[0])), tuple(both)), shape=(len(touched),) * 2)
    for _ in range(PASSES):
        new = swap(total[touched], move(total[touched], found, A), inner)
        if np.array_equal(new, found):
            break
        found = new
    labels[touched] = found
    return labels[of]
