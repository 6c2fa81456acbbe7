"""One run of one contestant, in a process of its own.

The contestant runs once on a few points, so that imports and compilation are done, and then on all
of them by the clock. Labels are judged by their agreement with the classes and by the constraints
they keep, neighbours by their recall, both after clock and memory have been read.
"""

import os
import time
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.runs.process import resident
from benchmarks.speed.contestants import NEIGHBOURS, Task
from linkwise.constraints import Constraints
from linkwise.evaluate import adjusted_rand_index, kept, untouched

WARM_UP = 2000  # rows of the run before the one that counts
JUDGED = 1_000_000  # rows, at most, that agreement is taken on
SAMPLE = 1000  # rows that recall is taken on: a standard error below 0.01
SAME = 1e-5  # relative difference of distances that float32 may make


def recall(X, indices, *, sample=SAMPLE, seed=0):
    """Return the share of true neighbours among the indices, on a sample of rows.

    A row counts as no neighbour of itself. A neighbour as near as the last true one is true.
    """
    from sklearn.neighbors import NearestNeighbors

    n = len(X)
    rows = np.random.default_rng(seed).choice(n, min(sample, n), replace=False)
    model = NearestNeighbors(n_neighbors=min(NEIGHBOURS + 1, n), algorithm="brute").fit(X)
    true = model.kneighbors(X[rows], return_distance=False)

    def distances(row, others):
        others = np.unique(others[(others != row) & (others >= 0)])
        return np.sort(np.linalg.norm(X[others].astype(np.float64) - X[row], axis=1))

    shares = []
    for row, near in zip(rows, true, strict=True):
        radius = distances(row, near)[:NEIGHBOURS][-1]
        found = distances(row, np.asarray(indices[row]).astype(np.int64))[:NEIGHBOURS]
        shares.append(np.sum(found <= radius * (1 + SAME)) / min(NEIGHBOURS, n - 1))
    return float(np.mean(shares))


def agreement(y, labels, links):
    """Return the agreement on all rows and on untouched ones, and the share of constraints kept."""
    every = slice(None, None, -(-len(y) // JUDGED))
    silent = untouched(links, len(y))[every]
    found = {
        "adjusted_rand": adjusted_rand_index(y[every], labels[every]),
        "kept": kept(labels, links).all,
    }
    if silent.any():
        found["adjusted_rand_untouched"] = adjusted_rand_index(y[every], labels[every], rows=silent)
    return found


def judge(kind, found, task, y):
    """Return the figures of a result, by its kind."""
    if kind == "labels":
        return agreement(y, np.asarray(found), task.links)
    if kind == "neighbours":
        return {"recall": recall(task.X, found)}
    return {"stages": found} if kind == "stages" else {}


def trial(job):
    """Run one contestant; return seconds, bytes and the judgement.

    Parameters
    ----------
    job : dict with "run" (module and name of the contestant's function), "kind", "folder" (with
        X.npy, y.npy and links.npy), "file" (whether it reads X from there), "k", "pairs", "seed"
    """
    module, name = job["run"]
    run = getattr(import_module(module), name)
    folder = Path(job["folder"])
    table = np.load(folder / "links.npy")
    y = np.load(folder / "y.npy", mmap_mode="r")
    X = np.load(folder / "X.npy", mmap_mode="r" if job["file"] else None)
    links, more = Constraints.from_table(table[: job["pairs"]]), Constraints.from_table(table)
    task = Task(X, len(X), job["k"], links, more, job["seed"], None)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = np.array(X[:WARM_UP])
        inside = (table[:, :2] < len(few)).all(axis=1)
        some = Constraints.from_table(table[inside])
        started = time.perf_counter()
        with suppress(Exception):  # an error comes again in the run that counts
            run(task._replace(X=few, n=len(few), links=some, more=some))
        warm_up = time.perf_counter() - started

    if job["file"]:
        own = folder / f"labels-{os.getpid()}.npy"
        task = task._replace(X=str(folder / "X.npy"), out=str(own))
    before, _ = resident()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cpu, started = time.process_time(), time.perf_counter()
        found = run(task)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    _, peak = resident()
    return {
        "seconds": seconds,
        "cpu": cpu,
        "warm_up": warm_up,
        "resident_before": before,
        "peak": peak,
        "warnings": sorted({str(warning.message) for warning in told}),
        **judge(job["kind"], found, task, y),
    }
