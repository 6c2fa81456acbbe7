"""The quality benchmark: every method on the same draws of pairs, in one run.

A cell is one set, draw, budget, share of wrong answers and method. Cells run on several processes
(`pool`) and are written to quality-cells.jsonl in the output folder as they end; a run that finds
this file does only what is missing in it, and the report is on all that is in it. Figures are the
same for any number of processes, except seconds and what a time limit cuts.
"""

import json
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

from benchmarks import machine
from benchmarks.cell import cell, store
from benchmarks.cells import CELLS, KEY, Cells, Cut, all_jobs, failures, keys
from benchmarks.methods import FOREST, ZSCORED, entrants, missing, named
from benchmarks.peers import PEERS
from benchmarks.pool import outcomes
from benchmarks.protocol import DEVELOPMENT, digest, prepare, set_names
from benchmarks.quality_pictures import pictures
from benchmarks.quality_report import html, left_out_lines, markdown
from benchmarks.speed import say, write
from benchmarks.standing import FIGURES, summary
from linkwise.blocks.progress import Progress, duration

DRAWS, QUICK_DRAWS = 10, 3
PAUSE = 60  # seconds between two lines where there is no terminal


class Options(NamedTuple):
    data: str | None = None  # folder with NAME.npz
    methods: tuple | None = None  # names; None for all
    sets: tuple | None = None
    draws: int | None = None
    quick: bool = False
    raw: bool = False  # leave out the entrants on z-scored features
    jobs: int | None = None  # processes
    limit: float = 120  # seconds a fit may take


def chosen(options):
    """Return ({name: Entrant} to run, {name: why} of those that cannot)."""
    known = entrants()
    names = list(known) if options.methods is None else named(options.methods, known)
    if options.raw:
        names = [name for name in names if not name.endswith(ZSCORED)]
    names = list(dict.fromkeys([*names, FOREST]))
    why = {name: missing(known[name]) for name in names}
    return (
        {name: known[name] for name in names if why[name] is None},
        {name: reason for name, reason in why.items() if reason is not None},
    )


def describe(name, points):
    """Return what a set is known by."""
    return {
        "name": name,
        "n": len(points.X),
        "d": points.X.shape[1],
        "k": int(points.y.max()) + 1,
        "development": name in DEVELOPMENT,
        "digest": digest(points),
    }


def prepare_sets(options, folder, cells, *, prepare=prepare, describe=describe):
    """Store the sets for the processes; return (descriptions from few to many rows, left out).

    ``prepare`` (name, folder) gives Points or raises ValueError with why a set is left out,
    ``describe`` (name, points) what it is known by.
    """
    known = set_names(options.data)
    unknown = [name for name in options.sets or () if name not in known]
    if unknown:
        raise ValueError(f"--sets {unknown[0]}: expected some of {', '.join(known)}")
    found, left_out = [], {}
    for name in dict.fromkeys(options.sets or known):
        try:
            points = prepare(name, options.data)
        except (ValueError, OSError, BadZipFile) as error:
            left_out[name] = str(error)
            continue
        store(folder, name, points)
        data = describe(name, points)
        cells.add_set(data)
        found.append(data)
    return sorted(found, key=lambda data: (data["n"], data["name"])), left_out


class Clock(Progress):
    """Shows the time left, by the squares of the numbers of rows; on no terminal, once a minute."""

    def line(self, elapsed):
        left = duration(elapsed * (self.total - self.done) / max(self.done, 1))
        return f"{self.label}: {self.done / self.total:4.0%}, {left} left"

    def reach(self, done):
        super().reach(done)
        now = time.monotonic()
        if not self.wanted and now - self.shown > PAUSE:
            self.shown = now
            say(self.line(now - self.started))


def run_cells(cells, sets, jobs, options):
    """Run the jobs that are missing among the cells."""
    limit, rows = options.limit, {data["name"]: data["n"] for data in sets}
    jobs = [job for job in jobs if any(cells.lacks(key, limit) for key in keys(job))]
    cut = Cut(r for r in cells.records.values() if r.get("limit", 0) >= limit)
    total = sum(rows[job["set"]] ** 2 for job in jobs)
    say(f"{len(jobs):,} fits to do, {len(cells.records):,} cells done before")

    with Clock("quality", total) as clock:

        def worth_trying():
            for job in jobs:
                if cut.rules_out(job):
                    words = f"not tried: a fit before took more than {limit:g} s"
                    cells.add(*failures(job, words, limit))
                    clock.advance(rows[job["set"]] ** 2)
                else:
                    yield job

        workers = min(options.jobs or machine.cores(), len(jobs))
        for ended in outcomes(cell, worth_trying(), workers=workers, limit=limit):
            found = ended.value or failures(ended.job, ended.failed, limit if ended.late else None)
            cells.add(*found)
            if ended.late:
                cut.note(*found)
            clock.advance(rows[ended.job["set"]] ** 2)


def command(options):
    """Return the command line of a run, with DIR for folders."""
    words = ["linkwise bench quality"]
    words += ["--data DIR"] if options.data else []
    for name in ("methods", "sets"):
        if getattr(options, name):
            words += [f"--{name}", *getattr(options, name)]
    words += [f"--draws {options.draws}"] if options.draws else []
    words += [f"--{name}" for name in ("quick", "raw") if getattr(options, name)]
    words += [f"--limit {options.limit:g}"] if options.limit != Options().limit else []
    return " ".join([*words, "--out DIR"])


def versions():
    """Return {package: version} of the peers that are installed."""
    found = {}
    for package in dict.fromkeys(peer.package for peer in PEERS.values()):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def compact(results):
    """Return the results with one short list for each cell; sets and methods by number."""
    sets = [data["name"] for data in results["sets"]]
    methods = list(results["methods"])
    columns = (*FIGURES, "k", "failed")
    rows = [
        [sets.index(r["set"]), r["draw"], r["budget"], r["wrong"], methods.index(r["method"]),
         *(r.get(name) for name in columns)]
        for r in results["records"]
    ]  # fmt: skip
    rest = {name: value for name, value in results.items() if name not in ("records", "means")}
    return rest | {"columns": [*KEY, *columns], "cells": rows}


def report(cells, head, kinds, out):
    """Write quality.json, quality.md, quality.html and the pictures; return the results."""
    records = sorted(cells.records.values(), key=lambda r: [str(r[name]) for name in KEY])
    sets = {record["set"] for record in records}
    methods = {record["method"] for record in records}
    results = head | {
        "sets": [cells.sets[name] for name in sorted(sets, key=lambda s: (cells.sets[s]["n"], s))],
        "methods": {name: kind for name, kind in kinds.items() if name in methods},
        "missing": {name: why for name, why in head["missing"].items() if name not in methods},
        "records": [record for record in records if record["method"] in kinds],
    }
    results["means"] = summary(results["records"])
    images = dict(pictures(results))
    write(out / "quality.json", json.dumps(compact(results), separators=(",", ":")))
    for name, image in images.items():
        write(out / name, image)
    write(out / "quality.md", markdown(results, images))
    write(out / "quality.html", html(results, images))
    return results


def run(options, out, contestants=None):
    """Run the benchmark and write the report to a folder.

    Parameters
    ----------
    options : Options
    out : folder, made if there is none; cells in it are not run again
    contestants : dict of Entrant to run, or None for those that the options name

    Returns
    -------
    dict: the head of quality.json, "records" of all cells and their "means" over draws
    """
    out = Path(out)
    running, absent = (contestants, {}) if contestants else chosen(options)
    draws = options.draws or (QUICK_DRAWS if options.quick else DRAWS)
    kinds = {name: entrant.kind for name, entrant in (entrants() | running).items()}
    cells = Cells(out / CELLS)
    described = machine.describe()
    head = {
        "command": command(options),
        "machine": described | {"libraries": described["libraries"] | versions()},
        "limit": options.limit,
        "missing": absent,
    }
    with tempfile.TemporaryDirectory(prefix="linkwise-quality-") as folder:
        sets, head["left_out"] = prepare_sets(options, folder, cells)
        for line in left_out_lines(absent | head["left_out"]):
            say(line)
        try:
            run_cells(cells, sets, all_jobs(sets, running, draws, folder), options)
        except KeyboardInterrupt:
            say(f"what is done is in {out / CELLS}; the same command goes on from there")
            raise
    out.mkdir(parents=True, exist_ok=True)  # not before: a wrong option leaves nothing behind
    results = report(cells, head, kinds, out)
    say("written to", f"{out}:", "quality.html, quality.md, quality.json")
    return results
