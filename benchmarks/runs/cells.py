"""The cells of a benchmark: the file of those that have run, and the loop that runs the rest.

A cell is one measurement, known by its key, such as set, draw and method. Cells are appended to a
file as they end. A run that finds this file runs only the cells that are missing in it. Figures
are the same for any number of processes, except seconds and what a time limit cuts off.
"""

import json
import time
from pathlib import Path

import numpy as np

from benchmarks.runs.output import say
from benchmarks.runs.pool import outcomes
from linkwise.blocks import Progress, duration

DIGITS = 5  # of figures in the file
LONGEST = 300  # characters of an error
PAUSE = 60  # seconds between two lines where there is no terminal


def rounded(figures):
    """Return figures as they are kept."""
    return {
        name: round(float(value), DIGITS) if isinstance(value, float | np.floating) else value
        for name, value in figures.items()
    }


def in_short(error):
    """Return an error as one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]


def failures(fields, keys, words, limit=None):
    """Return the records of cells that failed; with the limit if that cut them off."""
    cut = {} if limit is None else {"limit": limit}
    return [dict(zip(fields, key, strict=True)) | {"failed": words} | cut for key in keys]


class Cells:
    """The file of cells: what is in it, and what is added.

    Parameters
    ----------
    path : the file
    key : tuple of str, the fields of a record that a cell is known by
    """

    def __init__(self, path, key):
        self.path, self.key = Path(path), key
        self.sets: dict = {}  # name: description
        self.records: dict = {}  # key: record
        if self.path.exists():
            lines = self.path.read_text().split("\n")
            if lines.pop():  # the last line was cut off
                self.path.write_text("".join(line + "\n" for line in lines))
            for line in filter(None, lines):
                self._take(json.loads(line))

    def _take(self, record):
        if "digest" in record:
            self.sets[record["name"]] = record
        else:
            self.records[tuple(record[name] for name in self.key)] = record

    def add(self, *records):
        """Append records to the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            for record in records:
                self._take(record)
                file.write(json.dumps(record) + "\n")

    def add_set(self, data):
        """Enter a set, which must be the one that earlier cells are of."""
        known = self.sets.get(data["name"])
        if known is None:
            self.add(data)
        elif known["digest"] != data["digest"]:
            raise ValueError(
                f"{self.path} has results on another {data['name']}, or by other rules; name "
                "another folder by --out, or remove that file"
            )

    def lacks(self, key, limit):
        """Tell whether a cell has yet to run: it has not, or was cut off by a shorter limit."""
        record = self.records.get(key)
        return record is None or record.get("limit", limit) < limit

    def in_order(self):
        """Return all records, in an order that does not depend on when they ended."""
        return sorted(self.records.values(), key=lambda r: [str(r[name]) for name in self.key])

    def sets_of(self, records):
        """Return the descriptions of the sets of records, from few to many rows."""
        found = [self.sets[name] for name in {record["set"] for record in records}]
        return sorted(found, key=lambda data: (data["n"], data["name"]))


class Clock(Progress):
    """Shows the time left by the work done; where there is no terminal, once a minute."""

    total: int  # the number of cells is known

    def line(self, elapsed):
        left = duration(elapsed * (self.total - self.done) / max(self.done, 1))
        return f"{self.label}: {self.done / self.total:4.0%}, {left} left"

    def reach(self, done):
        super().reach(done)
        now = time.monotonic()
        if not self.wanted and now - self.shown > PAUSE:
            self.shown = now
            say(self.line(now - self.started))


def run_jobs(cells, jobs, cell, *, keys, cost, label, unit, workers, limit, cut=None):
    """Run the jobs that have cells missing, and add what comes out to the cells.

    Parameters
    ----------
    cells : Cells
    jobs : list of what can be pickled
    cell : function of a module, (job) -> records; it runs in one of the processes
    keys : function (job) -> keys of its cells
    cost : function (job) -> number that the time of a job is about proportional to
    label, unit : str, what runs and what a job is called, in the lines of progress
    workers : int, number of processes
    limit : float, seconds that a job may take
    cut : None, or an object that learns what took too long, ``note(*records)``, and rules out jobs
        that would as well, ``rules_out(job)``
    """
    jobs = [job for job in jobs if any(cells.lacks(key, limit) for key in keys(job))]
    say(f"{label}: {len(jobs):,} {unit} to do, {len(cells.records):,} cells done before")

    with Clock(label, sum(map(cost, jobs))) as clock:

        def worth_trying():
            for job in jobs:
                if cut is not None and cut.rules_out(job):
                    words = f"not tried: a fit before took more than {limit:g} s"
                    cells.add(*failures(cells.key, keys(job), words, limit))
                    clock.advance(cost(job))
                else:
                    yield job

        try:
            ends = outcomes(cell, worth_trying(), workers=min(workers, len(jobs)), limit=limit)
            for ended in ends:
                records = ended.value
                if records is None:
                    late = limit if ended.late else None
                    records = failures(cells.key, keys(ended.job), ended.failed, late)
                cells.add(*records)
                if ended.late and cut is not None:
                    cut.note(*records)
                clock.advance(cost(ended.job))
        except KeyboardInterrupt:
            say(f"what is done is in {cells.path}; the same command goes on from there")
            raise
