"""What is done by hand, as events: from rows and clusters on the page to bodies in the log.

Each function returns (kind, body, why). Rows and clusters come from a browser and are checked here;
events name the user's ids. A selection of very many rows is said of rows that stand for it.
"""

import numpy as np

from linkwise.journal import HAND, merging, moving, representatives, splitting

MOST = 200  # rows of a correction
EACH = 3  # rows of a cluster that one that is not part of it is kept from


def whole(value, name, high):
    """Return a whole number in 0..high - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < high:
        raise ValueError(f"{name} must be a whole number in 0..{high - 1}; got {value!r}")
    return value


def rows_in(value, n, *, least=1):
    """Return a list of distinct row numbers."""
    if not isinstance(value, list) or len(value) > n:
        raise ValueError(f"rows must be a list of row numbers; got {str(value)[:80]}")
    rows = [whole(row, f"rows[{i}]", n) for i, row in enumerate(value)]
    rows = list(dict.fromkeys(rows))
    if len(rows) < least:
        raise ValueError(f"choose {least} row(s) or more first; {len(rows)} are chosen")
    return rows


class Hands:
    """Corrections of the clusters shown.

    Parameters
    ----------
    items : Items
    labels : int array (n,), the clusters shown
    """

    def __init__(self, items, labels):
        self.X, self.ids, self.labels, self.n = items.X, items.ids, labels, len(items.X)

    def _named(self, rows):
        return [row if self.ids is None else self.ids[row] for row in rows]

    def _few(self, rows):
        return rows if len(rows) <= MOST else representatives(self.X, rows, MOST)

    def _cluster(self, value, name="cluster"):
        cluster = whole(value, name, int(self.labels.max()) + 1)
        rows = np.flatnonzero(self.labels == cluster)
        if not len(rows):
            raise ValueError(f"there is no cluster {cluster + 1} any more; look again")
        return cluster, rows

    def link(self, a, b, same):
        """Return that two rows belong together, or do not."""
        a, b = rows_in([a, b], self.n, least=2)
        if not isinstance(same, bool):
            raise ValueError(f"same must be true or false; got {same!r}")
        pair = [*self._named([a, b]), 1 if same else -1, HAND]
        return "link", {"pairs": [pair]}, "linked by hand" if same else "kept apart by hand"

    def together(self, rows):
        """Return that rows are one group."""
        rows = self._few(rows_in(rows, self.n, least=2))
        return "group", {"rows": self._named(rows)}, f"one group, {len(rows)} rows, by hand"

    def apart(self, rows, cluster):
        """Return that rows are not part of a cluster."""
        rows = self._few(rows_in(rows, self.n))
        cluster, members = self._cluster(cluster)
        members = np.setdiff1d(members, rows)
        if not len(members):
            raise ValueError("the rows are the whole cluster; leave some of it out")
        stay = self._named(representatives(self.X, members))
        pairs = [
            [row, stay[(i + j) % len(stay)], -1, HAND]
            for i, row in enumerate(self._named(rows))
            for j in range(min(EACH, len(stay)))
        ]
        return "link", {"pairs": pairs}, f"{len(rows)} rows not part of cluster {cluster + 1}"

    def move(self, rows, cluster):
        """Return that rows belong to a cluster."""
        rows = self._few(rows_in(rows, self.n))
        cluster, _ = self._cluster(cluster)
        body = moving(self.X, self.labels, rows, cluster, ids=self.ids)
        return "group", body, f"{len(rows)} rows moved to cluster {cluster + 1}"

    def split(self, cluster, rows=None):
        """Return that a cluster is two: rows and the rest, or its halves if no rows are named."""
        cluster, members = self._cluster(cluster)
        why = f"cluster {cluster + 1} split by hand"
        if rows:
            chosen = [row for row in rows_in(rows, self.n) if self.labels[row] == cluster]
            if not chosen:
                raise ValueError(f"none of the chosen rows is in cluster {cluster + 1}")
            if len(chosen) == len(members):
                raise ValueError("the rows are the whole cluster; leave some of it out")
            rest = np.setdiff1d(members, chosen)
            if len(chosen) > MOST:
                parts = [representatives(self.X, part) for part in (chosen, rest)]
                return "split", {"parts": [self._named(part) for part in parts]}, why
            return "split", splitting(self.X, self.labels, chosen, ids=self.ids), why
        if len(members) < 2:
            raise ValueError(f"cluster {cluster + 1} has one row; there is nothing to split")
        if (self.X[members] == self.X[members[0]]).all():
            raise ValueError(f"all rows of cluster {cluster + 1} are equal; choose some by hand")
        from sklearn.cluster import KMeans

        half = KMeans(2, n_init=3, random_state=0).fit_predict(self.X[members])
        parts = [members[half == side] for side in (0, 1)]
        parts = [self._named(representatives(self.X, part)) for part in parts]
        return "split", {"parts": parts}, why

    def merge(self, first, second):
        """Return that two clusters are one."""
        (first, _), (second, _) = self._cluster(first, "first"), self._cluster(second, "second")
        body = merging(self.X, self.labels, first, second, ids=self.ids)
        return "merge", body, f"clusters {first + 1} and {second + 1} merged by hand"

    def rename(self, cluster, name):
        """Return the name of a cluster."""
        cluster, members = self._cluster(cluster)
        if not isinstance(name, str) or len(name) > 200:
            raise ValueError("name must be a text of at most 200 characters")
        rows = self._named(representatives(self.X, members))
        return "rename", {"rows": rows, "name": name.strip()}, f"name of cluster {cluster + 1}"


ACTIONS = {
    "link": ("a", "b", "same"),
    "together": ("rows",),
    "apart": ("rows", "cluster"),
    "move": ("rows", "cluster"),
    "split": ("cluster", "rows"),
    "merge": ("first", "second"),
    "rename": ("cluster", "name"),
}
