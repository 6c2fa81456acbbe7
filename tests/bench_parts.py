"""Parts of the tests of the benchmarks."""

from benchmarks.runs.pool import Ended


def in_this_process(run, jobs, *, workers, limit):
    """Stand in for `outcomes`: run every job here and now, which is quick and can be patched."""
    assert limit > 0
    yield from (Ended(job, run(job)) for job in jobs)


def cells_of(text, *first):
    """Return the cells of the first line of a table that begins with some cells."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if tuple(cells[: len(first)]) == first:
            return cells
    raise AssertionError(f"no line {first}")
