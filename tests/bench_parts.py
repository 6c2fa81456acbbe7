"""Parts of the tests of the benchmarks."""

from benchmarks.quality import standing
from benchmarks.quality.entrants import entrants
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


def description(name, n=60, sample=None, **more):
    """Return the description of a set as jobs and reports need it."""
    found = {"name": name, "n": n, "sample": sample or min(n, 1500), "d": 2, "k": 3}
    kinds = ("development", "image", "text", "generated")
    return found | dict.fromkeys(kinds, False) | {"counted": True} | more


def record(method, data, budget, draw=0, wrong=0.0, form="whole", **figures):
    key = {"set": data, "form": form, "draw": draw, "budget": budget, "wrong": wrong}
    key["method"] = method
    return key | (figures or {"failed": "no such luck"})


def results_of(records, described):
    names = {record["method"] for record in records}
    kinds = {name: entrant.kind for name, entrant in entrants().items() if name in names}
    about = {"system": "Linux", "cores": 1, "processor": "x", "libraries": {}}
    head = {"command": "c", "machine": about, "limit": 9, "missing": {}, "left_out": {}}
    means = standing.summary(records)
    found = {"sets": described, "methods": kinds, "records": records, "means": means, "times": []}
    return head | found
