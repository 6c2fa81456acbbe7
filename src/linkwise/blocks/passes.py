"""Passes over all rows: a function of every block, or the sum of its values.

Rows may be computed from other rows (`ComputedRows.recipe`), and these may be on the workers of a
cluster (`blocks.cluster`). The function then runs where the rows are. It is the same function in
all cases, ``function(part, block)``: the slice of row numbers, and the rows themselves.

Sums are added up along one tree over the blocks, ((0 + 1) + (2 + 3)) + 4. A sum depends on the
blocks and not on who adds them up. Memory: log2 of the number of blocks values at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import add
from typing import Any, TypeVar

from linkwise.blocks.rows import BlockFunction, bounds_of, on_cluster, over_rows, read_block

T = TypeVar("T")


def tree_sum(values: Iterable[T], plus: Callable[[T, T], T] = add) -> T:
    """Return the sum of at least one value, added up along the tree of the module.

    >>> tree_sum("abcde", lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    pending: list[tuple[int, T]] = []  # (number of values, their sum), larger numbers first
    for value in values:
        count = 1
        while pending and pending[-1][0] == count:
            value = plus(pending.pop()[1], value)
            count *= 2
        pending.append((count, value))
    total = pending.pop()[1]
    while pending:
        total = plus(pending.pop()[1], total)
    return total


def over_blocks(
    function: BlockFunction[T], rows: Any, width: int, *, like: Any = None, **shown: Any
) -> Iterator[tuple[slice, T]]:
    """Yield (part, function(part, block)) for every block of rows, in order.

    Parameters
    ----------
    rows : array, or rows in files, on a cluster, or computed when asked for
    width : int, the numbers in a row for the size of the blocks; rows in parts have their own
    like : array, whose library and device process the rows; default the rows
    shown : label and total of `run_blocks`
    """
    remote = on_cluster(rows)
    if remote is not None:
        yield from remote.each(function, **shown)
        return

    def local(part: slice) -> T:
        return function(part, read_block(rows, part))

    like = rows if like is None else like
    yield from over_rows(local, like, rows.shape[0], width, bounds=bounds_of(rows), **shown)


def sum_over_blocks(function: BlockFunction[T], rows: Any, width: int) -> T:
    """Return the sum of function(part, block) over all blocks of rows."""
    remote = on_cluster(rows)
    if remote is not None:
        total: T = remote.sum(function)
        return total
    return tree_sum(value for _, value in over_blocks(function, rows, width))
