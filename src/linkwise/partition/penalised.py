"""k-means where broken constraints cost: the common part of PCK-, HMRF- and MPCK-KMeans [1, 2, 3].

D(i, c) is the cost of point i in cluster c, and every pair p = (i, j) has a price v_p(c):

    (1)  J = sum_i D(i, l_i) + sum_{must, l_i != l_j} (v_p(l_i) + v_p(l_j))
                             + sum_{cannot, l_i = l_j} v_p(l_i) + prior

distortion.py defines D and v. J is minimised alternately over the labels and over centres and
metric. The labels are found by iterated conditional modes (ICM): every point goes to its best
cluster given the others,

    (2)  l_i = argmin_c D(i, c) + sum_{must} v_p(c) + sum_{must, l_j = c} -2 v_p(c)
                                + sum_{cannot, l_j = c} v_p(c)

Moving one point after the other would be slow. Points without constraints move all at once. The
others are coloured such that pairs join different colours, and one colour moves at a time.
Must-linked groups often cannot move point by point, so the same is done with each group as one
point, and the lower J counts. J never rises.

A pass costs O(n d k + sweeps m) and memory is O(n (d + k) + m (d + k)) for m pairs.

[1] Basu, Banerjee & Mooney, Active semi-supervision for pairwise constrained clustering,
    SDM 2004.
[2] Basu, Bilenko & Mooney, A probabilistic framework for semi-supervised clustering, KDD 2004.
[3] Bilenko, Basu & Mooney, Integrating constraints and metric learning in semi-supervised
    clustering, ICML 2004.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.partition.colouring import neighbours
from linkwise.partition.groups import cheapest, choose_seeds, must_groups, one_hot

SWEEPS = 20  # of ICM in a pass: the next pass continues


class Costs(NamedTuple):
    """The costs of labels for given centres and metric, Eq. (1)."""

    point: np.ndarray  # (n, k) D
    pair: np.ndarray  # (m, k), or (m, 1) if the same in all clusters: v
    prior: float = 0.0


class Field(NamedTuple):
    """Signed pairs, and the colours of points that may move together."""

    i: np.ndarray  # (m,)
    j: np.ndarray  # (m,)
    sign: np.ndarray  # (m,)
    steps: list  # of (rows, their half-edges: position in rows, other end, pair)


def _colours(n, pairs):
    """Return a colour (n,) such that pairs join different ones; -1 for points in no pair."""
    near = neighbours(n, pairs)
    colour = [-1] * n
    for v in sorted(np.unique(pairs).tolist(), key=lambda v: -len(near[v])):
        taken = {colour[u] for u in near[v]}
        colour[v] = next(c for c in range(len(near[v]) + 1) if c not in taken)
    return np.array(colour, dtype=np.int64)


def constraint_field(n, i, j, sign):
    """Return the Field of m pairs on n points."""
    m = len(i)
    tail, head, pair = np.r_[i, j], np.r_[j, i], np.r_[np.arange(m), np.arange(m)]
    colour = _colours(n, np.stack([i, j], axis=1))
    order = np.argsort(colour[tail], kind="stable")
    cuts = np.cumsum(np.bincount(colour[tail], minlength=1))[:-1]
    steps = []
    for edges in np.split(order, cuts) if m else []:
        rows, position = np.unique(tail[edges], return_inverse=True)
        steps.append((rows, position, head[edges], pair[edges]))
    return Field(i, j, sign, steps)


def _at(price, pair, label):
    """Return v_p(c), (e,)."""
    return price[pair, label if price.shape[1] > 1 else 0]


def objective(costs, field, labels):
    """Return J, Eq. (1)."""
    a, b = labels[field.i], labels[field.j]
    every = np.arange(len(a))
    must = (field.sign > 0) & (a != b)
    cannot = (field.sign < 0) & (a == b)
    J = costs.point[np.arange(len(labels)), labels].sum(dtype=np.float64) + costs.prior
    J += _at(costs.pair, every[must], a[must]).sum() + _at(costs.pair, every[must], b[must]).sum()
    return float(J + _at(costs.pair, every[cannot], a[cannot]).sum())  # Eq. (1)


def alone(costs, field):
    """Return the costs of points without their neighbours, (n, k): Eq. (2) without l_j."""
    must = np.flatnonzero(field.sign > 0)
    if costs.pair.shape[1] == 1 or len(must) == 0:
        return costs.point  # the same for all clusters
    ends = np.r_[field.i[must], field.j[must]]
    rows, position = np.unique(ends, return_inverse=True)
    base = costs.point.copy()
    base[rows] += one_hot(position, len(rows)) @ costs.pair[np.r_[must, must]]
    return base


def icm(costs, field, labels):
    """Return labels after sweeps of Eq. (2), which never raise J."""
    base = alone(costs, field)
    k = base.shape[1]
    signed = np.where(field.sign > 0, -2, 1)[:, None] * costs.pair
    free = np.ones(len(labels), dtype=bool)
    free[field.i] = free[field.j] = False
    labels = np.where(free, cheapest(base, labels), labels)
    for _ in range(SWEEPS if field.steps else 0):
        changed = False
        for rows, position, other, pair in field.steps:
            c = labels[other]
            heard = np.bincount(position * k + c, _at(signed, pair, c), minlength=len(rows) * k)
            local = base[rows] + heard.reshape(-1, k)  # Eq. (2)
            new = cheapest(local, labels[rows])
            changed |= not np.array_equal(new, labels[rows])
            labels[rows] = new
        if not changed:
            break
    return labels


class Problem(NamedTuple):
    """Pairs between points, and cannot-links between must-linked groups."""

    points: Field
    of: np.ndarray  # (n,) the group of every point
    H: Any  # csr_array (groups, n), one where a point is in a group
    groups: Field
    outer: np.ndarray  # pairs that join two groups
    inner: np.ndarray  # cannot-links inside a group, if contradictions are kept


def constraint_problem(n, of, i, j, sign):
    """Return the Problem of m pairs on n points in groups of (n,)."""
    apart = of[i] != of[j]
    outer = np.flatnonzero(apart)
    inner = np.flatnonzero(~apart & (sign < 0))
    H = one_hot(of, of.max() + 1)
    contracted = constraint_field(H.shape[0], of[i[outer]], of[j[outer]], sign[outer])
    return Problem(constraint_field(n, i, j, sign), of, H, contracted, outer, inner)


def assign(costs, problem, labels):
    """Return labels of lower or equal J: by points alone, or by groups and then points."""
    single = icm(costs, problem.points, labels)
    if problem.H.shape[0] == len(labels):  # no must-links
        return single
    point = problem.H @ costs.point  # (groups, k)
    np.add.at(point, problem.of[problem.points.i[problem.inner]], costs.pair[problem.inner])
    first = np.unique(problem.of, return_index=True)[1]
    whole = icm(Costs(point, costs.pair[problem.outer]), problem.groups, labels[first])
    whole = icm(costs, problem.points, whole[problem.of])
    runs = [(objective(costs, problem.points, run), run) for run in (single, whole)]
    return min(runs, key=lambda run: run[0])[1]


def fill_empty(costs, field, labels, vacant):
    """Return labels where each empty cluster took the point that lowers J the most, if any does.

    vacant (k,) is the cost of a point at the centre of its cluster.
    """
    k = costs.point.shape[1]
    for c in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        local = alone(costs, field).copy()
        for rows, position, other, pair in field.steps:
            signed = np.where(field.sign[pair] > 0, -2, 1) * _at(costs.pair, pair, labels[other])
            np.add.at(local, (rows[position], labels[other]), signed)
        own = local[np.arange(len(labels)), labels]
        gain = own - (local[:, c] - costs.point[:, c] + vacant[c])
        gain[np.bincount(labels, minlength=k)[labels] == 1] = 0
        best = int(np.argmax(gain))
        if gain[best] <= 1e-9 * abs(own).mean():
            break
        labels = labels.copy()
        labels[best] = c
    return labels


class PenalisedPartition(NamedTuple):
    """Labels, parameters and the course of J."""

    labels: np.ndarray  # (n,) int
    params: Any  # of the distortion: centres, metric
    objective: float  # J of Eq. (1)
    n_iter: int
    history: list  # J after every change of labels and of parameters


def _descend(distortion, problem, labels, max_iter):
    """Return the partition reached from these labels, and whether it settled."""
    params = distortion.update(distortion.start(), labels)
    costs = distortion.costs(params)
    history = [objective(costs, problem.points, labels)]
    for n_iter in range(1, max_iter + 1):
        new = assign(costs, problem, labels)
        new = fill_empty(costs, problem.points, new, distortion.vacant(params))
        if np.array_equal(new, labels):
            return PenalisedPartition(labels, params, history[-1], n_iter, history), True
        labels = new
        history.append(objective(costs, problem.points, labels))
        params = distortion.update(params, labels)
        costs = distortion.costs(params)
        history.append(objective(costs, problem.points, labels))
    return PenalisedPartition(labels, params, history[-1], max_iter, history), False


def penalised_kmeans(distortion, k, links, *, n_init=10, max_iter=100, rng):
    """Return the partition of least J, Eq. (1), among several starts.

    Parameters
    ----------
    distortion : Euclidean, Mahalanobis or Cosine
    k : int <= n
    links : Constraints on row numbers, each pair once
    n_init : int; the first start is from must-linked groups, the others are drawn
    max_iter : int, passes a start
    rng : numpy Generator
    """
    Z = distortion.points(distortion.start())  # (n, d) as the distortion sees them
    i, j, sign, _ = links.arrays()
    groups = must_groups(Z, links.must_link)
    problem = constraint_problem(Z.shape[0], groups.of, i, j, sign)
    means = groups.means()
    runs = []
    for start in range(n_init):
        seeds = choose_seeds(groups, k, rng, greedy=start == 0)
        labels = pairwise_distances_argmin(means, means[seeds])[groups.of]
        runs.append(_descend(distortion, problem, labels, max_iter))
    best, settled = min(runs, key=lambda run: run[0].objective)
    if not settled:
        warn(f"{max_iter=} passes did not settle; raise max_iter", ConvergenceWarning)
    return best
