"""What a correction would change, before it is made."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin

from linkwise._wording import counted
from linkwise.journal import Event, representatives
from linkwise.journal.events import BY_HAND
from linkwise.labelling.edits import applied, comparable, edits_of, without_gaps

LISTED = 20_000  # rows of a list at most: enough to mark them on a map
SIMILAR = 50  # rows that may follow, at most: more could not be looked through


class Preview(NamedTuple):
    """What a correction would change.

    Attributes
    ----------
    says : str, in words
    asks : str, whether similar rows move too, in words; "" if there are none
    moves : list of int, the rows that would change their cluster, the first 20,000
    n_moves : int, how many there are
    parts : list of lists of int, the two parts of a split, the first 20,000 rows of each
    sizes : list of int, their sizes
    similar : list of int, rows that may belong with those that move, the nearest first
    against : list of int, the numbers of the events that it goes against; the correction holds
    """

    says: str
    asks: str
    moves: list[int]
    n_moves: int
    parts: list[list[int]]
    sizes: list[int]
    similar: list[int]
    against: list[int]


def similar_rows(X: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> list[int]:
    """Return rows of the clusters of some rows that are nearer to these than to the rest of them.

    Nearest first. The rest of a cluster is known by representatives.
    """
    found: list[tuple[float, int]] = []
    rows = rows[labels[rows] >= 0]  # strays have no cluster to follow from
    for cluster in np.unique(labels[rows]):
        mine = rows[labels[rows] == cluster]
        rest = np.setdiff1d(np.flatnonzero(labels == cluster), mine)
        if not len(rest):
            continue
        few = np.array(representatives(X, rest))
        near = np.concatenate((mine, few))
        others = np.setdiff1d(rest, few)
        if not len(others):
            continue
        follow = others[pairwise_distances_argmin(X[others], X[near]) < len(mine)]
        if len(follow):
            gap = pairwise_distances(X[follow], X[mine]).min(axis=1)
            found += zip(gap.tolist(), follow.tolist(), strict=True)
    return [row for _, row in sorted(found)[:SIMILAR]]


def _says(kind: str, count: int, against: int) -> str:
    said = f"Moves {counted(count, 'row')}." if count else "Changes no row."
    if kind == "split":
        said = f"Moves {counted(count, 'row')} to a new cluster."
    if against:
        said += f" It goes against {counted(against, 'earlier event')}; the correction holds."
    return said


def _asks(similar: int) -> str:
    if not similar:
        return ""
    them = "it" if similar == 1 else "them"
    return f"{counted(similar, 'similar row')} would follow: take {them} along?"


def preview(
    items: Any, labels: np.ndarray, kind: str, body: dict[str, Any], current: Any, row_of: Any
) -> Preview:
    """Return the Preview of a correction.

    Parameters
    ----------
    items : Items
    labels : int array (n,), the clusters that the person sees
    kind, body : the event
    current : Snapshot
    row_of : dict, the row number of each id
    """
    if kind == "rename":
        return Preview("Changes a name, and no row.", "", [], 0, [], [], [], [])
    event = Event(0, kind, {"apart": [], **body}, "", "", "", "", "hand")
    X = comparable(items.X.toarray() if hasattr(items.X, "toarray") else np.asarray(items.X))
    likely = np.zeros((len(labels), int(labels.max()) + 1))

    def after(labels: np.ndarray, event: Event) -> np.ndarray:
        for edit in edits_of(event, row_of):
            labels = applied(labels, edit, X, likely)
        return labels

    def holds(labels: np.ndarray, event: Event) -> bool:
        return np.array_equal(after(labels, event), labels)

    new = after(labels, event)
    moves = np.flatnonzero(new != labels)
    similar = []
    if len(moves) and kind in ("group", "link"):
        similar = [row for row in similar_rows(X, labels, moves) if row not in set(moves.tolist())]
    parts: list[np.ndarray] = []
    if kind == "split" and len(moves):
        old = labels[moves[0]]
        parts = [np.flatnonzero((labels == old) & (new == label)) for label in
                 np.unique(new[labels == old])]  # fmt: skip
    links = current.links.select(np.isin(current.links.source, BY_HAND, invert=True))
    now, then = (links.violated(one, stray=-1) for one in (labels, without_gaps(new)))
    broken = links.select(~now & then)
    earlier = [e for e in current.state.active if e.edits_labels]  # held before, and not after
    undone = [e.seq for e in earlier if holds(labels, e) and not holds(new, e)]
    against = sorted({*broken.event.tolist(), *undone})
    return Preview(
        _says(kind, len(moves), len(against)),
        _asks(len(similar)),
        moves[:LISTED].tolist(),
        len(moves),
        [part[:LISTED].tolist() for part in parts],
        [len(part) for part in parts],
        similar,
        against,
    )
