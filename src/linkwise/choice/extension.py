"""New rows in a clustering that exists.

Rows are *old*, clustered before, or *new*. Constraints are *earlier* or *further* ones. Free rows
are the new ones and the old ones that constraints connect with a further one:

    (1)  free = new, or joined by a chain of constraints to an end of a further constraint
    (2)  q_i ~ p_i(c) exp(STAY [c = l_i])        of a free old row i with label l_i

p are the probabilities by the features alone. All other old rows keep their clusters. So a row
changes its cluster only where a constraint says so, and the cost is that of the free rows.

The models are learnt again from all rows when these have doubled, as an array grows that is
appended to: the cost of all steps together is in proportion to the rows. They are also learnt again
if the constraints need more clusters. Between, when the constraints have become FURTHER times as
many, class probabilities are fitted to them again in the models that exist. If there were further
constraints since, all rows are free at both, because each constraint may tell something about all
of them.

The clusters so far are where the new fit starts. Only when the models are learnt from all rows, the
constraints since the last time may speak for another start; they were not used for the clusters, so
they judge them without favour. Clusters of the new fit are matched to the old ones:

    (3)  pi = argmax over one-to-one maps of sum_c |{i old: l_i = c, argmax p_i = pi(c)}|

A cluster of the models that matches none is new, with the next number.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from linkwise.choice.final_labels import FinalLabels
from linkwise.class_models import ERROR, Partition, trust
from linkwise.constraints import Pair
from linkwise.constraints.closure import components

FURTHER = 1.25  # constraints, in multiples of those learnt from, at which they are fitted again
GROWTH = 2.0  # rows, in multiples of those learnt from, at which the models are learnt again
STAY = 2.0  # log odds: of 0, 1 and 3 on digits, more kept right rows, fewer corrected wrong ones
REASONS = 3  # constraints named for a move: more would not be read


class Move(NamedTuple):
    """An old row in another cluster than before.

    Attributes
    ----------
    sample : the id of the row, or its number
    before, after : int, its cluster
    because : list of Pair, further constraints that name the row, or are connected with it; empty
        if the models, learnt again with further constraints, moved it
    """

    sample: Any
    before: int
    after: int
    because: list[Pair]

    def reason(self) -> str:
        """Return in words why the row moved."""
        if not self.because:
            strays = min(self.before, self.after) < 0
            return (
                "strays, found again among all rows"
                if strays
                else "the models, learnt again with further constraints"
            )
        verbs = {1: "must", -1: "cannot"}
        return "; ".join(f"{p.a} {verbs[p.sign]} be with {p.b}" for p in self.because)


def parts_of(n, links):
    """Return the part 0, 1, ... of every row: constraints of both kinds connect rows, (n,)."""
    return components(n, links.ends)


def free_rows(n_old, n, links, fresh):
    """Return the free rows of Eq. (1), ascending.

    Parameters
    ----------
    n_old, n : int, the number of old rows and of all
    links : Constraints on row numbers, the further ones last
    fresh : int, the number of further constraints
    """
    part = parts_of(n, links)
    named = np.unique(part[links.ends[links.n_pairs - fresh :]])
    return np.flatnonzero((np.arange(n) >= n_old) | np.isin(part, named))


def earlier_start(labels, partitions, k, links, fresh):
    """Return the clusters so far as a Partition to start from, None if another start is better.

    Parameters
    ----------
    labels : int array (n,), the clusters so far
    partitions : list of Partition into k clusters, the other starts
    links : Constraints on row numbers
    fresh : bool array (m,), which of them the clusters so far were not fitted to
    """
    further = links.select(fresh)
    if not further:
        return Partition("the clusters so far", labels)
    tried = [labels, *(one.labels for one in partitions)]
    likely = [trust(each, k, further, ERROR)[1] for each in tried]
    return Partition("the clusters so far", labels) if np.argmax(likely) == 0 else None


def match_clusters(found, labels, k_found, k):
    """Return the found cluster of every cluster, Eq. (3), and of every new one, (k_found,).

    Parameters
    ----------
    found : int array (n,), clusters 0 ... k_found - 1 of the old rows by the models
    labels : int array (n,), their clusters 0 ... k - 1 so far; k <= k_found
    """
    table = np.zeros((k, k_found))
    np.add.at(table, (labels, found), 1)
    match = linear_sum_assignment(table, maximize=True)[1]
    return np.r_[match, np.setdiff1d(np.arange(k_found), match)]


def staying(soft, labels):
    """Return Eq. (2) for probabilities soft (n, k) and the labels so far of the first rows."""
    soft = soft.copy()
    soft[np.arange(len(labels)), labels] *= np.exp(STAY)
    return soft / soft.sum(axis=1, keepdims=True)


def padded(q, k):
    """Return probabilities q (n, j) with k >= j columns; those added are zero."""
    return np.pad(q, ((0, 0), (0, k - q.shape[1])))


def extended(before, final, free, links, *, shrink):
    """Return the FinalLabels of old and new rows.

    Its clusters are places among those of ``final``, whose first ones are the old clusters.

    Parameters
    ----------
    before : (labels (n_old,), probabilities (n_old, k), suspicion), of the old rows
    final : FinalLabels of the free rows
    free : int array (f,), the free rows
    links : Constraints on row numbers, the further ones last
    shrink : bool, whether new clusters without rows are left out
    """
    old_labels, old_q, old_wrong = before
    k_old, k = old_q.shape[1], len(final.clusters)
    n = len(old_labels) + np.count_nonzero(free >= len(old_labels))
    found = final.clusters[final.labels]  # columns of the soft labels
    labels, q = np.empty(n, dtype=old_labels.dtype), np.empty((n, k))
    labels[: len(old_labels)], q[: len(old_labels)] = old_labels, padded(old_q, k)
    labels[free] = found
    q[free[:, None], final.clusters] = final.probabilities
    wrong = np.zeros(links.n_pairs)
    wrong[: len(old_wrong)] = old_wrong
    wrong[np.isin(links.ends, free).all(axis=1)] = final.suspicion
    clusters = np.arange(k)
    if shrink:
        clusters = np.r_[np.arange(k_old), np.setdiff1d(labels, np.arange(k_old))]
        labels = np.searchsorted(clusters, labels)
        q = q[:, clusters] / q[:, clusters].sum(axis=1, keepdims=True)
    return FinalLabels(labels, q, wrong, clusters.astype(np.intp))


def moves_of(before, after, checked, fresh, ids):
    """Return the Moves of the old rows, by row.

    Parameters
    ----------
    before, after : int arrays (n_old,) and (n,), labels
    checked : CheckedConstraints, the further ones last
    fresh : int, the number of further constraints
    ids : array (n,) or None, of the rows
    """
    links = checked.by_row
    part, first = parts_of(len(after), links), links.n_pairs - fresh
    ends, found = links.ends[first:], []
    for row in np.flatnonzero(before != after[: len(before)]).tolist():
        named = np.flatnonzero((ends == row).any(axis=1))
        if not len(named):
            named = np.flatnonzero(part[ends[:, 0]] == part[row])
        because = list(checked.by_id.select(first + named[:REASONS]))
        name = row if ids is None else ids[[row]].tolist()[0]
        found.append(Move(name, int(before[row]), int(after[row]), because))
    return found
