"""Corrections by hand: from rows and clusters that a person selected to events.

`act` returns (kind, body, why). Rows and clusters may come from a browser and are checked here;
events name the user's ids. All selected rows are named; clusters are named by representatives.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwise._wording import counted
from linkwise.constraints import Constraints
from linkwise.journal import HAND, merging, moving, representatives, splitting
from linkwise.labelling.edits import comparable
from linkwise.labelling.items import Items, rows_in, whole
from linkwise.partition.hard import assign

EACH = 3  # cannot-links from each row to a cluster it leaves: a soft method may drop a single one


class Shown(NamedTuple):
    """The clusters that a person saw: the items, and their labels (n,)."""

    items: Items
    labels: np.ndarray
    links: Constraints = Constraints()  # by row, the answers so far

    @property
    def X(self):
        return self.items.X

    def named(self, rows):
        """Return the user's names of rows."""
        return [self.items.name(row) for row in rows]

    def cluster(self, value, name="cluster"):
        """Return (number, rows) of a cluster."""
        cluster = whole(value, name, int(self.labels.max()) + 1)
        rows = np.flatnonzero(self.labels == cluster)
        if not len(rows):
            raise ValueError(f"there is no cluster {cluster} any more; look again")
        return cluster, rows


def link(shown, a, b, same):
    """Return that two rows belong together, or do not."""
    a, b = rows_in([a, b], len(shown.X), least=2)
    if not isinstance(same, bool):
        raise ValueError(f"same must be true or false; got {same!r}")
    pair = [*shown.named([a, b]), 1 if same else -1, HAND]
    return "link", {"pairs": [pair]}, "linked by hand" if same else "kept apart by hand"


def together(shown, rows):
    """Return that rows are one group."""
    rows = rows_in(rows, len(shown.X), least=2)
    return "group", {"rows": shown.named(rows)}, f"one group, {counted(len(rows), 'row')}, by hand"


def apart(shown, rows, cluster):
    """Return that rows are not part of a cluster."""
    rows = rows_in(rows, len(shown.X))
    cluster, members = shown.cluster(cluster)
    members = np.setdiff1d(members, rows)
    if not len(members):
        raise ValueError("the rows are the whole cluster; leave some of it out")
    stay = shown.named(representatives(shown.X, members))
    pairs = [
        [row, stay[(i + j) % len(stay)], -1, HAND]
        for i, row in enumerate(shown.named(rows))
        for j in range(min(EACH, len(stay)))
    ]
    return (
        "link",
        {"pairs": pairs},
        f"{counted(len(rows), 'row')} not part of cluster {cluster}",
    )


def move(shown, rows, cluster):
    """Return that rows belong to a cluster."""
    rows = rows_in(rows, len(shown.X))
    cluster, _ = shown.cluster(cluster)
    body = moving(shown.X, shown.labels, rows, cluster, ids=shown.items.ids)
    return "group", body, f"{counted(len(rows), 'row')} moved to cluster {cluster}"


def split(shown, cluster, rows=None):
    """Return that a cluster is two: rows and the rest, or its halves if no rows are named."""
    cluster, members = shown.cluster(cluster)
    why = f"cluster {cluster} split by hand"
    if not rows:
        return "split", {"parts": halves(shown, cluster, members), "others": "nearest"}, why
    chosen = [row for row in rows_in(rows, len(shown.X)) if shown.labels[row] == cluster]
    if not chosen:
        raise ValueError(f"none of the chosen rows is in cluster {cluster}")
    if len(chosen) == len(members):
        raise ValueError("the rows are the whole cluster; leave some of it out")
    return "split", splitting(shown.X, shown.labels, chosen, ids=shown.items.ids), why


def halves(shown, cluster, members):
    """Return named rows of the two halves of a cluster, in which earlier answers hold.

    They are representatives, and all rows that answers name.
    """
    if len(members) < 2:
        raise ValueError(f"cluster {cluster} has one row; there is nothing to split")
    X = comparable(shown.X[members])
    if (X[0] == X).all():
        raise ValueError(f"all rows of cluster {cluster} are equal; choose some by hand")
    from sklearn.cluster import KMeans

    links = shown.links.restrict(members).resolve(members).drop_conflicts()[0]
    found = KMeans(2, n_init=3, random_state=0).fit(X)
    cost, rng = found.transform(X) ** 2, np.random.default_rng(0)
    half = assign(cost, links.must_link, links.cannot_link, rng)
    if half is None:  # the answers need three parts: keep those that say "same"
        half = assign(cost, links.must_link, links.cannot_link[:0], rng)
    if len(np.unique(half)) < 2:
        raise ValueError(
            f"the answers keep cluster {cluster} together; choose some of its rows by hand"
        )
    parts = []
    for side in (0, 1):
        rows = members[half == side]
        named = np.union1d(representatives(shown.X, rows), np.intersect1d(rows, shown.links.ids))
        parts.append(shown.named(named.tolist()))
    return parts


def merge(shown, first, second):
    """Return that two clusters are one."""
    (first, _), (second, _) = shown.cluster(first, "first"), shown.cluster(second, "second")
    body = merging(shown.X, shown.labels, first, second, ids=shown.items.ids)
    return "merge", body, f"clusters {first} and {second} merged by hand"


def rename(shown, cluster, name):
    """Return the name of a cluster."""
    cluster, members = shown.cluster(cluster)
    if not isinstance(name, str) or len(name) > 200:
        raise ValueError("name must be a text of at most 200 characters")
    rows = shown.named(representatives(shown.X, members))
    return "rename", {"rows": rows, "name": name.strip()}, f"name of cluster {cluster}"


ACTIONS: dict[str, tuple[Callable, tuple[str, ...]]] = {  # name: (function, its options)
    "link": (link, ("a", "b", "same")),
    "together": (together, ("rows",)),
    "apart": (apart, ("rows", "cluster")),
    "move": (move, ("rows", "cluster")),
    "split": (split, ("cluster", "rows")),
    "merge": (merge, ("first", "second")),
    "rename": (rename, ("cluster", "name")),
}


def act(
    items: Items,
    labels: np.ndarray | None,
    action: str,
    options: dict[str, Any],
    links: Constraints | None = None,
) -> tuple[str, dict[str, Any], str]:
    """Return (kind, body, why) of a correction.

    Parameters
    ----------
    items : Items
    labels : int array (n,), the clusters that the person saw, or None if these are not known
    action : str, a name of ACTIONS
    options : dict, the options of the action by name
    links : Constraints by row, the answers so far, or None
    """
    if action not in ACTIONS:
        raise ValueError(f"action must be one of {', '.join(ACTIONS)}; got {action!r}")
    if labels is None:
        raise ValueError("the clusters have changed since; look again, and repeat it")
    function, names = ACTIONS[action]
    unknown = [name for name in options if name not in names]
    missing = [
        name for name in names if name not in options and (action, name) != ("split", "rows")
    ]
    if unknown or missing:
        raise ValueError(f"{action} takes {', '.join(names)}")
    given = Constraints() if links is None else links
    return function(Shown(items, labels, given), **options)
