"""How long the rest of a run will take, by the cells that there are.

The seconds of a fit are the mean of the same method on the same set and form. Where there is none,
they grow like the number of rows from those of the method on other sets. Where the method has no
cell at all, its fits are counted, but not their time.
"""

from statistics import mean
from typing import NamedTuple

from benchmarks.quality.jobs import rows_in


class Estimate(NamedTuple):
    fits: int  # to do
    seconds: float  # of one process, for the fits whose time is known
    unknown: int  # fits of methods that have no cell yet


def seconds_known(records, rows):
    """Return ({(set, form, method): seconds}, {method: seconds a row}).

    Parameters
    ----------
    records : cells
    rows : {(set, form): number of rows}
    """
    exact: dict = {}
    for record in records:
        seconds = record.get("seconds", record.get("limit"))
        if seconds is not None:
            key = (record["set"], record["form"], record["method"])
            exact.setdefault(key, []).append(seconds)
    means = {key: mean(values) for key, values in exact.items()}
    a_row: dict = {}
    for (data, form, method), seconds in means.items():
        if (data, form) in rows:
            a_row.setdefault(method, []).append(seconds / rows[data, form])
    return means, {method: mean(values) for method, values in a_row.items()}


def estimate(jobs, records, sets):
    """Return the Estimate of jobs that are to do."""
    rows = {(d["name"], form): rows_in(d, form) for d in sets for form in ("whole", "sample")}
    exact, a_row = seconds_known(records, rows)
    total, unknown = 0.0, 0
    for job in jobs:
        data, form, method = (job[name] for name in ("set", "form", "method"))
        if (data, form, method) in exact:
            total += exact[data, form, method]
        elif method in a_row:
            total += a_row[method] * rows[data, form]
        else:
            unknown += 1
    return Estimate(len(jobs), total, unknown)
