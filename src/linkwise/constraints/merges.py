"""Constraints from clusters that a person merged, in this program or another.

A merge of two clusters says that the rows of both belong together. A few rows of each merged
cluster stand for it: they are linked in a chain, so that m rows cost m - 1 pairs. Where a whole
partition was looked through, the clusters that were left apart are linked too, one cannot-link for
each two of them.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwise._typing import Array
from linkwise.constraints.ids import as_array
from linkwise.constraints.partial_labels import chains, class_codes, label_pairs


def lists_of(merged: Any) -> list[list[Any]]:
    """Return the lists of clusters to merge, from one list or several.

    >>> lists_of([1, 2]), lists_of([[1, 2], [3, 4]])
    ([[1, 2]], [[1, 2], [3, 4]])
    """
    found = list(merged)
    nested = [isinstance(one, Iterable) and not isinstance(one, str) for one in found]
    if any(nested) and not all(nested):
        raise ValueError(f"merged must be a list of clusters or a list of lists, got {merged!r}")
    return [list(one) for one in found] if any(nested) else [found]


def merged_codes(before: Any, merged: Any, unknown: Any) -> tuple[Array, Array]:
    """Return (before, after) as codes (n,), -1 where unknown, by lists of merged clusters."""
    code = class_codes(before, unknown, "before")
    values = as_array(before, "before").tolist()
    code_of = {value: c for value, c in zip(values, code.tolist(), strict=True) if c >= 0}
    new = np.arange(code.max(initial=-1) + 1)
    used: set[Any] = set()
    for group in lists_of(merged):
        for cluster in group:
            if cluster not in code_of:
                raise ValueError(f"merged: no row of before is in the cluster {cluster!r}")
            if cluster in used:
                raise ValueError(f"merged: the cluster {cluster!r} is named twice; name it once")
            used.add(cluster)
        new[[code_of[cluster] for cluster in group]] = code_of[group[0]] if group else 0
    return code, np.where(code >= 0, new[code], -1)


def compared_codes(before: Any, after: Any, unknown: Any) -> tuple[Array, Array]:
    """Return (before, after) as codes (n,), -1 where unknown; refuse clusters that were split."""
    old, new = (
        class_codes(values, unknown, name)
        for values, name in ((before, "before"), (after, "after"))
    )
    if len(old) != len(new):
        raise ValueError(f"before has {len(old):,} rows and after has {len(new):,}; pass the same")
    old = np.where(new >= 0, old, -1)
    known = np.flatnonzero(old >= 0)
    first = np.full(old.max(initial=-1) + 1, -1)
    first[old[known]] = new[known]
    split = known[first[old[known]] != new[known]]
    if len(split):
        row = int(split[0])
        raise ValueError(
            f"the cluster {as_array(before, 'before')[row]!r} of before is in several clusters of "
            f"after (see row {row}): that is no merge; pass the labels just before and just after"
        )
    return old, np.where(old >= 0, new, -1)


def merge_pairs(
    old: Array, new: Array, per_cluster: int | None, apart: bool, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return (rows (m, 2), sign (m,)) of a merge of clusters `old` to `new`, codes (n,)."""
    chosen = np.full(len(old), -1)
    for c in range(old.max(initial=-1) + 1):
        rows = np.flatnonzero(old == c)
        take = len(rows) if per_cluster is None else min(per_cluster, len(rows))
        rows = np.sort(rng.permutation(rows)[:take])
        chosen[rows] = new[rows]
    if apart:
        return label_pairs(chosen, "spanning")
    first = np.unique(np.stack([old, new]), axis=1)[1]  # the new cluster of every old one
    several = np.flatnonzero(np.bincount(first[first >= 0]) > 1)
    ends = chains(np.where(np.isin(chosen, several), chosen, -1))
    return ends, np.ones(len(ends))
