"""Corrections by hand, applied to labels.

A correction by hand changes what it is about, and nothing else. It does not teach the models; it is
an edit of the labels that they give. Edits are applied in the order of the log, and where two of
them disagree the later one holds. The clusters that an edit names are those that most of its named
rows are in:

    move   rows, to      the rows go to the cluster of ``to``
    group  rows          the rows go to the cluster that most of them are in
    apart  rows, apart   those of the rows that are in the cluster of ``apart`` leave it, each for
                         the cluster that is most likely otherwise; those to which no other cluster
                         is likely become a new cluster together
    merge  parts         the cluster of the second part joins that of the first
    stray  rows          the rows belong to no cluster: their label is -1
    split  parts         the cluster is divided: the named rows go with their part. Its other rows
                         stay ("stay"), or go with the nearest named row ("nearest")

A merge of parts that are in one cluster, and a split of parts that are in several, change nothing:
the models have come to the same by themselves. Neither does an edit that names a cluster by strays
alone. A move to strays makes one group of both.

O(n) an edit, O(n p) distances for a split into halves by p named rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import pairwise_distances_argmin

from linkwise.class_models.views import one_unit
from linkwise.constraints import Constraints
from linkwise.journal import Event
from linkwise.labelling.kept_clusters import Kept, joined, staying_rows

NEW = 0.05  # least probability of another cluster for rows that leave theirs


class Edit(NamedTuple):
    """A correction by row numbers: its kind, and the lists of rows that it names."""

    kind: str
    parts: tuple[tuple[int, ...], ...]
    others: str = "stay"  # of a split, what the rows do that it does not name
    event: int = 0  # its number in the log


def comparable(X: np.ndarray) -> np.ndarray:
    """Return points X (n, d), float32; columns of different units are scaled to variance 1.

    >>> comparable(np.array([[0, 0, 1], [2, 200, 1]]))
    array([[0., 0., 1.],
           [2., 2., 1.]], dtype=float32)
    """
    X = X.astype(np.float32)
    ranges, deviation = np.ptp(X, axis=0), X.std(axis=0, dtype=np.float64)
    varied = ranges > 0
    if one_unit(ranges[varied]):
        return X
    return X / np.where(varied, deviation, 1).astype(np.float32)


def edits_of(event: Event, row_of: dict[Any, int]) -> list[Edit]:
    """Return the edits that an event by hand means."""
    return [edit._replace(event=event.seq) for edit in _edits_of(event, row_of)]


def _edits_of(event: Event, row_of: dict[Any, int]) -> list[Edit]:
    body = event.body

    def rows(ids: Iterable[Any]) -> tuple[int, ...]:
        return tuple(row_of[i] for i in ids)

    if event.kind == "link":
        found: dict[Any, Edit] = {}
        for a, b, sign, _ in body["pairs"]:
            kind = "move" if sign > 0 else "apart"
            ends = rows([a, b])
            key = (kind, ends[0])
            before = found[key].parts if key in found else ((ends[0],), ())
            found[key] = Edit(kind, (before[0], (*before[1], ends[1])))
        return list(found.values())
    if event.kind == "mark":
        return [Edit("stray", (rows(body["rows"]),))]
    if event.kind == "merge":
        return [Edit("merge", (rows(body["first"]), rows(body["second"])))]
    if event.kind == "split":
        others = body.get("others") or "nearest"
        return [Edit("split", tuple(rows(part) for part in body["parts"]), others)]
    if body.get("to"):
        return [Edit("move", (rows(body["rows"]), rows(body["to"])))]
    if body["apart"]:
        return [Edit("group", (rows(body["rows"]), rows(body["apart"])))]
    return [Edit("group", (rows(body["rows"]), ()))]


def cluster_of(labels: np.ndarray, rows: Sequence[int], but: int = -1) -> int:
    """Return the cluster that most rows are in, the earliest of equals; -1 if there is none.

    Strays have no vote, and neither have rows of the cluster ``but``.
    """
    votes: dict[int, int] = {}
    for label in labels[list(rows)].tolist():
        if label not in (but, -1):
            votes[label] = votes.get(label, 0) + 1
    return max(votes, key=lambda label: votes[label]) if votes else -1


def applied(labels: np.ndarray, edit: Edit, X: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """Return the labels (n,) after an edit.

    Parameters
    ----------
    labels : int array (n,)
    edit : Edit
    X : array (n, d), comparable points
    likely : array (n, k), the probability of every cluster, by its number before any edit
    """
    new = labels.copy()
    rows = np.array(edit.parts[0], dtype=np.intp)
    if edit.kind == "move":
        target = cluster_of(labels, edit.parts[1])
        if target < 0:
            return applied(labels, Edit("group", (edit.parts[0] + edit.parts[1], ())), X, likely)
        new[rows] = target
    elif edit.kind == "stray":
        new[rows] = -1
    elif edit.kind == "group":
        but = cluster_of(labels, edit.parts[1]) if edit.parts[1] else -1
        target = cluster_of(labels, edit.parts[0], but)
        new[rows] = int(labels.max()) + 1 if target < 0 else target
    elif edit.kind == "merge":
        first, second = (cluster_of(labels, part) for part in edit.parts)
        if min(first, second) >= 0:
            new[labels == second] = first
    elif edit.kind == "apart":
        cluster = cluster_of(labels, edit.parts[1])
        if cluster >= 0:
            _leave(new, rows, cluster, likely)
    elif edit.kind == "split":
        _split(new, edit, X)
    return new


def _leave(labels: np.ndarray, rows: np.ndarray, cluster: int, likely: np.ndarray) -> None:
    leaving = rows[labels[rows] == cluster]
    p = likely[leaving].copy()
    present = np.isin(np.arange(p.shape[1]), labels)  # clusters may have been merged away
    p[:, ~present] = 0
    if cluster < p.shape[1]:
        p[:, cluster] = 0
    best = p.argmax(axis=1)
    known = p.max(axis=1, initial=0) >= NEW
    labels[leaving] = np.where(known, best, int(labels.max()) + 1)


def _split(labels: np.ndarray, edit: Edit, X: np.ndarray) -> None:
    clusters = [cluster_of(labels, part) for part in edit.parts]
    cluster = clusters[-1]
    if len(set(clusters)) > 1 or cluster < 0:
        return
    fresh = int(labels.max()) + 1
    goal = [fresh + i for i in range(len(edit.parts) - 1)] + [cluster]
    named = np.concatenate([np.array(part, dtype=np.intp) for part in edit.parts])
    target = np.repeat(goal, [len(part) for part in edit.parts])
    here = labels[named] == cluster
    named, target = named[here], target[here]
    if edit.others == "nearest":
        rest = np.setdiff1d(np.flatnonzero(labels == cluster), named)
        if len(rest):
            labels[rest] = target[pairwise_distances_argmin(X[rest], X[named])]
    labels[named] = target


def numbered(labels: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return labels (n,) with the numbers of a reference: of the cluster with most rows in common.

    Clusters beyond those of the reference come after them, the largest first. Rows of which the
    reference is negative do not count.

    >>> numbered(np.array([1, 1, 2, 2, 0]), np.array([0, 0, 1, 1, 1]))
    array([0, 0, 1, 1, 2])
    """
    names, codes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(codes)
    table = np.zeros((len(names), int(reference.max()) + 1), dtype=np.int64)
    counted = reference >= 0
    np.add.at(table, (codes[counted], reference[counted]), 1)
    given = np.full(len(names), -1)
    for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True):
        if table[i, j]:
            given[i] = j
    free = iter(j for j in range(len(names) + table.shape[1]) if j not in set(given.tolist()))
    for i in np.argsort(-sizes, kind="stable"):
        if given[i] < 0:
            given[i] = next(free)
    return given[codes]


def without_gaps(labels: np.ndarray) -> np.ndarray:
    """Return labels (n,) numbered from 0 on: the last clusters take the numbers that are free.

    Strays stay -1.

    >>> without_gaps(np.array([0, 3, 3, 1, -1]))
    array([ 0,  2,  2,  1, -1])
    """
    present = np.unique(labels[labels >= 0])
    count = len(present)
    number = np.arange(-1, int(labels.max()) + 1)  # of -1, 0, 1, ...
    number[1 + present[present >= count]] = np.setdiff1d(np.arange(count), present)
    return number[labels + 1]


def edited(
    labels: np.ndarray,
    probabilities: np.ndarray,
    edits: Sequence[Edit],
    X: Any,
    reference: np.ndarray,
    kept: Kept | None = None,
    links: Constraints | None = None,
) -> np.ndarray:
    """Return the labels of a project, int32 (n,): those of the models, numbered, then edited.

    Parameters
    ----------
    labels : int array (n,), by the models
    probabilities : array (n, k), of these labels
    edits : list of Edit, in the order of the log
    X : array or sparse matrix (n, d)
    reference : int array (n,), the labels without answers, whose numbers clusters keep
    kept : Kept, the clusters of the rows before the data got more of them, or None. Their numbers
        are kept instead of those of the reference
    links : Constraints by row, the answers that models learn from; needed with ``kept``
    """
    if kept is not None and links is not None and staying_rows(kept, links).any():
        points = _points(X)
        found, likely = joined(labels, probabilities, points, kept, links)
        edits = [edit for edit in edits if edit.event > kept.event]  # the others are in it
    else:
        found = numbered(labels, reference if kept is None else kept.labels)
        likely = np.zeros((len(labels), max(int(found.max()) + 1, 1)))
        if edits:
            points = _points(X)
            for label in np.unique(labels).tolist():
                likely[:, found[np.argmax(labels == label)]] = probabilities[:, label]
    for edit in edits:
        found = applied(found, edit, points, likely)
    return without_gaps(found).astype(np.int32)


def _points(X: Any) -> np.ndarray:
    return comparable(X.toarray() if hasattr(X, "toarray") else np.asarray(X))
