"""Seconds and memory of a fit that has the machine to itself.

Each fit has a fresh process, all cores, and pairs drawn among all points. The method first runs on
WARM_UP rows of the set, so that imports and compilation do not count. Methods take turns on a set,
so that a busy minute affects all of them alike: compare ratios within a set.
"""

import statistics
import time
import warnings
from importlib import import_module
from typing import NamedTuple

import numpy as np

from benchmarks.quality.entrants import CHOOSER, FAST
from benchmarks.quality.peers import EVOC
from benchmarks.runs.cells import rounded
from benchmarks.runs.output import say
from benchmarks.runs.points import stored
from benchmarks.runs.process import in_child, resident
from linkwise.constraints import sample_pairs
from linkwise.evaluate import adjusted_rand_index

TIMES = "quality-times.jsonl"
KEY = ("set", "pairs", "method", "turn")  # of a record
WARM_UP = 500  # rows
REFERENCE = "SpectralClustering"  # that ratios are to
METHODS = (CHOOSER, FAST, EVOC, "KMeans", REFERENCE)


class Race(NamedTuple):
    data: str
    pairs: int
    methods: tuple
    turns: int


RACES = (
    Race("digits", 200, METHODS, 3),
    Race("mnist_test", 1_000, METHODS, 1),
    Race("mnist_train", 1_000, METHODS[:-1], 1),  # SpectralClustering takes too long
)


def timed(job):
    """Fit once by the clock; return seconds, peak of memory and agreement on all points.

    Parameters
    ----------
    job : dict with "folder", "set", "pairs", "turn", "run" (module, name and argument of the
        method's function)
    """
    from benchmarks.quality.protocol import Task

    module, name, argument = job["run"]
    run = getattr(import_module(module), name)
    X, y = (stored(job["folder"], job["set"])[key] for key in ("X", "y"))
    k = int(y.max()) + 1
    links = sample_pairs(y, job["pairs"], random_state=job["turn"])
    few = np.arange(min(WARM_UP, len(y)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = sample_pairs(y[few], min(job["pairs"], len(few)), random_state=0)
        run(Task(X[few], k, some, 0), argument)
        started = time.perf_counter()
        labels = run(Task(X, k, links, job["turn"]), argument).labels
        seconds = time.perf_counter() - started
    peak = resident()[1]
    return {"seconds": seconds, "peak": peak, "all": adjusted_rand_index(y, np.asarray(labels))}


def time_jobs(sets, running, folder):
    """Return the jobs for the sets and methods that there are, in turns."""
    names = {data["name"] for data in sets}
    return [
        {"set": race.data, "pairs": race.pairs, "method": method, "turn": turn,
         "folder": str(folder), "run": (run.__module__, run.__qualname__, running[method].argument)}
        for race in RACES if race.data in names
        for turn in range(race.turns)
        for method in race.methods if method in running
        for run in [running[method].run]
    ]  # fmt: skip


def run_times(cells, jobs, limit):
    """Run the jobs that have no record, one at a time, and add what comes out to the cells."""
    for job in jobs:
        key = {name: job[name] for name in KEY}
        if not cells.lacks(tuple(key.values()), limit):
            continue
        value, failed = in_child(timed, job, limit=limit)
        late = {"limit": limit} if failed and "limit" in failed else {}
        cells.add(key | (rounded(value) if value else {"failed": failed} | late))
        told = failed or f"{value['seconds']:.2f} s"
        say(f"time: {job['set']}, {job['pairs']:,} pairs, {job['method']}: {told}")


class Timing(NamedTuple):
    data: str
    pairs: int
    method: str
    seconds: float  # median
    ratio: float | None  # to REFERENCE on the same set
    peak: float  # bytes, the largest
    agreement: float  # mean, all points
    turns: int


def timings(records):
    """Return the Timing of every method on every set, in the order of RACES."""
    told: dict = {}
    for record in records:
        if "failed" not in record:
            key = (record["set"], record["pairs"])
            told.setdefault(key, {}).setdefault(record["method"], []).append(record)
    found = []
    for race in RACES:
        of_set = told.get((race.data, race.pairs), {})
        seconds = {m: statistics.median(r["seconds"] for r in rs) for m, rs in of_set.items()}
        for method in race.methods:
            if method in of_set:
                some, base = of_set[method], seconds.get(REFERENCE)
                found.append(Timing(
                    race.data, race.pairs, method, seconds[method],
                    seconds[method] / base if base else None, max(r["peak"] for r in some),
                    statistics.mean(r["all"] for r in some), len(some),
                ))  # fmt: skip
    return found
