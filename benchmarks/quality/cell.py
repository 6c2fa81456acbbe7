"""One fit of the quality benchmark, in a process that runs many.

A process loads the points of a set once. Before its first fit a method runs on a few generated
points, so that imports do not count as its time. An error is an outcome.
"""

import time
import warnings
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module

import numpy as np

from benchmarks.quality.jobs import KEY, keys
from benchmarks.quality.protocol import Task, draw_pairs, in_form, score, suspicion_auc
from benchmarks.runs.cells import in_short, rounded
from benchmarks.runs.points import Points, stored
from linkwise.constraints import sample_pairs


@lru_cache(maxsize=4)  # jobs come set by set, and large sets take memory
def points_of(folder, name, form, z):
    """Return the points of a set, not to be written to; with z of mean 0 and variance 1."""
    from sklearn.preprocessing import StandardScaler

    arrays = stored(folder, name)
    X, y = in_form(arrays["X"], arrays["y"], arrays["sample"], form)
    X = StandardScaler().fit_transform(X) if z else X
    X.flags.writeable = False
    return Points(X, y)


@cache
def ready(module, name, argument):
    """Return the function of a method, which has run once."""
    run = getattr(import_module(module), name)
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.standard_normal((40, 3)) + 9 * y[:, None]
    links = sample_pairs(y, 10, random_state=0)
    with suppress(Exception):  # an error comes again in the fit that counts
        run(Task(X, 2, links, 0, y, np.zeros(40, dtype=bool)), argument)
    return run


def fitted(place, task):
    """Return what a method finds, and the seconds it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate():  # a peer turns numpy's warnings into errors when it is imported
            run = ready(*place)
        with np.errstate(all="warn"):
            started = time.perf_counter()
            found = run(task, place[2])
            return found, time.perf_counter() - started


def judged(found, y, drawn):
    """Return the figures of what a method found."""
    record = score(y, np.asarray(found.labels), drawn)
    if found.suspects is not None:
        record["auc"] = suspicion_auc(found.suspects, drawn)
    if found.k is not None:
        record["k"] = found.k
    return record


def cell(job):
    """Fit once; return one record for each setting.

    Parameters
    ----------
    job : dict with "set", "form", "draw", "method", "settings" (list of (budget, wrong); several
        for a method that does not see the pairs), "folder" (of the stored sets), "run" (module,
        name and argument of the method's function), "z", "truth" (whether it is told the classes),
        "device" (of LinkClustering; None for the CPU)
    """
    X, y = points_of(job["folder"], job["set"], job["form"], job["z"])
    draws = [draw_pairs(job["set"], y, job["draw"], *at) for at in job["settings"]]
    task = Task(X, int(y.max()) + 1, draws[0].links, draws[0].seed, device=job["device"])
    if job["truth"]:
        task = task._replace(y=y, held=draws[0].held)
    try:
        found, seconds = fitted(job["run"], task)
        figures = [judged(found, y, drawn) | {"seconds": seconds} for drawn in draws]
    except Exception as error:
        figures = [{"failed": in_short(error)}] * len(draws)
    known = [dict(zip(KEY, key, strict=True)) for key in keys(job)]
    return [key | rounded(found) for key, found in zip(known, figures, strict=True)]
