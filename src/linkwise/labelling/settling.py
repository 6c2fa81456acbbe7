"""Labels in which all corrections by hand hold.

A correction is a constraint like an answer, and the model may take a constraint for an error. A
person who has selected points by hand does not expect that. The labels z of the model are therefore
settled once more, with T the points that corrections name:

    (1)  z_T   of least cost -log q among those that keep all pairs made by hand
    (2)  z_i = z_t  for i outside T in a cluster that some of T have left; t is the nearest to i
                    among the points of T that were in the cluster and representatives of the rest.
                    The latter are left out if a split has named rows of all parts
    (3)  a cluster whose representatives were all merged into another goes there whole

If the number of clusters is free, it follows the corrections: the model has one more for every
split and one less for every merge, and (1) may use new clusters at the cost -log NEW of a point.
What was split off and resembles no other cluster then becomes a cluster of its own. Clusters keep
their numbers from one time to the next as far as they have points in common.

O(n + |T| k) besides the search for (1), and O(n |T|) distances in the clusters that were left.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import pairwise_distances_argmin

from linkwise.constraints import Constraints
from linkwise.journal import representatives
from linkwise.partition.hard import assign

UNLIKELY = 1e-9  # least probability of a cluster: a correction can overrule any model
NEW = 0.05  # probability of a new cluster: used for points that resemble no other


def kept_by(
    cost: np.ndarray, must: np.ndarray, cannot: np.ndarray, *, new: int | None = None
) -> np.ndarray | None:
    """Return labels (t,) of least cost that keep all pairs, Eq. (1), or None if there are none.

    With ``new`` there may be so many new clusters, and more if they are needed.
    """
    rng = np.random.default_rng(0)
    for more in [0] if new is None else range(new, len(cost) + 1):
        wide = np.hstack([cost, np.full((len(cost), more), -np.log(NEW))])
        found = assign(wide, must, cannot, rng)
        if found is not None:
            return found
    return None


def settle(
    labels: np.ndarray,
    q: Callable[[np.ndarray], np.ndarray],
    E: np.ndarray,
    links: Constraints,
    *,
    merges: Sequence[Sequence[int]] = (),
    splits: Sequence[Sequence[int]] = (),
    free: bool,
) -> np.ndarray:
    """Return labels (n,) in which all corrections hold.

    Cannot-links that must-links contradict are left out; the conflict is reported elsewhere.

    Parameters
    ----------
    labels : int array (n,), of the model
    q : function from rows to the probabilities (rows, k) that the model gives them
    E : array (n, r), positions in which similar points are near
    links : Constraints by row, the pairs made by hand
    merges, splits : lists of rows, those of each merge and of each split
    free : bool, whether there may be more clusters than the model has
    """
    links, _ = links.active().drop_conflicts()
    T = links.ids
    if not len(T):
        return labels
    must, cannot = links.pairs[links.sign > 0], links.pairs[links.sign < 0]
    cost = -np.log(np.maximum(q(T), UNLIKELY))
    now = kept_by(cost, must, cannot, new=min(len(splits), len(T)) if free else None)
    if now is None:  # too few clusters: a conflict, which is reported elsewhere
        now = kept_by(cost, must, cannot[:0])
        assert now is not None  # must-links alone always fit
    was, new = labels[T], labels.copy()
    new[T] = now
    merged, split = ({row for rows in each for row in rows} for each in (merges, splits))
    for cluster in np.unique(was[now != was]):
        here = was == cluster
        rest = np.setdiff1d(np.flatnonzero(labels == cluster), T[here], assume_unique=True)
        if not len(rest):
            continue
        left, stay = (set(T[here & which].tolist()) for which in (now != was, now == was))
        targets = np.unique(now[here])
        if len(targets) == 1 and left <= merged:
            new[rest] = targets[0]  # Eq. (3)
            continue
        near, goal = T[here], now[here]
        if not (left <= split and stay & split):
            few = np.array(representatives(E, rest))
            near, goal = np.r_[near, few], np.r_[goal, np.full(len(few), cluster)]
        new[rest] = goal[pairwise_distances_argmin(E[rest], E[near])]  # Eq. (2)
    return new


def count(k: int, n_splits: int, n_merges: int, least: int) -> int:
    """Return the number of clusters that follows the corrections, where it is free.

    k is the number without them, least what pairs known to be apart need.
    """
    return max(k + n_splits - n_merges, least, 1)


def renumbered(new: np.ndarray, old: np.ndarray | None = None) -> np.ndarray:
    """Return labels (n,) with the numbers that the clusters had, new ones after them.

    Without old labels the largest cluster comes first.
    """
    names, codes = np.unique(new, return_inverse=True)
    sizes = np.bincount(codes)
    if old is None:
        rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
        return rank[codes].astype(np.int32)
    table = np.zeros((len(names), int(old.max()) + 1), dtype=np.int64)
    np.add.at(table, (codes, old), 1)
    given = np.full(len(names), -1)
    for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True):
        if table[i, j]:
            given[i] = j
    free = iter(j for j in range(len(names) + table.shape[1]) if j not in set(given))
    for i in np.argsort(-sizes, kind="stable"):
        if given[i] < 0:
            given[i] = next(free)
    return given[codes].astype(np.int32)
