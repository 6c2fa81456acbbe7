"""The quality benchmark: every method on the same draws of pairs, in one run.

A cell is one set in one form, draw, budget, share of wrong answers and method. The cells are in
quality-cells.jsonl in the output folder, times in quality-times.jsonl; the report is on all that
are in these files.
"""

import json
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality.cell import cell
from benchmarks.quality.entrants import FOREST, ZSCORED, entrants, missing, named
from benchmarks.quality.estimate import estimate
from benchmarks.quality.jobs import CELLS, KEY, PARTS, Cut, Plan, all_jobs, keys, rows_in
from benchmarks.quality.peers import PEERS
from benchmarks.quality.pictures import pictures
from benchmarks.quality.protocol import SAMPLE, WHOLE, describe, prepare
from benchmarks.quality.report import html, markdown
from benchmarks.quality.standing import FIGURES, summary
from benchmarks.quality.texts import TOPICS
from benchmarks.quality.timing import KEY as TIME_KEY
from benchmarks.quality.timing import TIMES, run_times, time_jobs, timings
from benchmarks.reports.document import left_out_lines, write_report
from benchmarks.runs import machine
from benchmarks.runs.cells import Cells, run_jobs
from benchmarks.runs.output import command_line, say, write
from benchmarks.runs.points import prepare_sets
from linkwise.blocks import duration

DRAWS, FEW_DRAWS, QUICK_DRAWS = 3, 5, 1
START_COST = 500  # rows whose time a fit takes on no rows at all, for the clock


class Options(NamedTuple):
    data: str | None = None  # folder with NAME.npz
    methods: tuple | None = None  # names; None for all
    sets: tuple | None = None
    parts: tuple | None = None  # of the benchmark; None for all
    budgets: tuple | None = None  # names; None for all
    draws: int | None = None
    quick: bool = False
    raw: bool = False  # leave out the entrants on z-scored features
    right: bool = False  # leave out wrong answers
    jobs: int | None = None  # processes
    limit: float = 300  # seconds a fit may take
    device: str | None = None  # of LinkClustering, such as "cuda"
    plan: bool = False  # tell what there is to do, and run nothing


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


def versions():
    """Return {package: version} of the peers that are installed."""
    found = {}
    for package in dict.fromkeys(("evoc", *(peer.package for peer in PEERS.values()))):
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
        [sets.index(r["set"]), r["form"], r["draw"], r["budget"], r["wrong"],
         methods.index(r["method"]), *(r.get(name) for name in columns)]
        for r in results["records"]
    ]  # fmt: skip
    rest = {name: value for name, value in results.items() if name not in ("records", "means")}
    rest["times"] = [timing._asdict() for timing in results["times"]]
    return rest | {"columns": [*KEY, *columns], "cells": rows}


def plan_of(options):
    """Return the Plan that the options ask for."""
    draws = options.draws or (QUICK_DRAWS if options.quick else DRAWS)
    few = options.draws or (QUICK_DRAWS if options.quick else FEW_DRAWS)
    return Plan(tuple(options.parts or PARTS), draws, few, options.budgets, options.right)


def say_plan(jobs, cells, sets, workers, limit):
    """Print how many fits of each part there are to do, and how long they will take."""
    left = [job for job in jobs if any(cells.lacks(key, limit) for key in keys(job))]
    say(f"quality: {len(left):,} fits to do, {len(cells.records):,} cells done before")
    for part in dict.fromkeys(job["part"] for job in left):
        of_part = [job for job in left if job["part"] == part]
        found = estimate(of_part, cells.records.values(), sets)
        words = [f"{part}: {found.fits:,} fits"]
        if found.unknown < found.fits:
            words.append(f"about {duration(found.seconds / workers)} on {workers} processes")
        if found.unknown:
            words.append(f"{found.unknown:,} of them by methods that have not run, of unknown time")
        say("; ".join(words))


def report(cells, times, head, kinds, out):
    """Write quality.json, quality.md, quality.html and the pictures; return the results."""
    records = cells.in_order()
    methods = {record["method"] for record in records}
    results = head | {
        "sets": cells.sets_of(records),
        "methods": {name: kind for name, kind in kinds.items() if name in methods},
        "missing": {name: why for name, why in head["missing"].items() if name not in methods},
        "records": [record for record in records if record["method"] in kinds],
        "times": timings(times.records.values()),
    }
    results["means"] = summary(results["records"])
    images = dict(pictures(results))
    write(out / "quality.json", json.dumps(compact(results), separators=(",", ":")))
    write_report(out, "quality", results, images, markdown=markdown, html=html)
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
    dict: the head of quality.json, "records" of all cells, their "means" over draws and "times";
    None if only the plan was asked for
    """
    out = Path(out)
    running, absent = (contestants, {}) if contestants else chosen(options)
    kinds = {name: entrant.kind for name, entrant in (entrants() | running).items()}
    cells, times = Cells(out / CELLS, KEY), Cells(out / TIMES, TIME_KEY)
    plan, workers = plan_of(options), options.jobs or machine.cores()
    described = machine.describe()
    head = {
        "command": command_line("quality", options),
        "machine": described | {"libraries": described["libraries"] | versions()},
        "limit": options.limit,
        "missing": absent,
    }
    with tempfile.TemporaryDirectory(prefix="linkwise-quality-") as folder:
        generated = TOPICS if "text" in plan.parts else ()
        sets, head["left_out"] = prepare_sets(options, folder, cells, prepare, describe, generated)
        for line in left_out_lines(absent | head["left_out"]):
            say(line)
        jobs = all_jobs(sets, running, plan, folder, options.device)
        if options.plan:
            say_plan(jobs, cells, sets, workers, options.limit)
            return None
        rows = {(d["name"], form): rows_in(d, form) for d in sets for form in (WHOLE, SAMPLE)}
        late = [r for r in cells.records.values() if r.get("limit", 0) >= options.limit]
        run_jobs(
            cells,
            jobs,
            cell,
            keys=keys,
            cost=lambda job: START_COST + rows[job["set"], job["form"]],
            label="quality",
            unit="fits",
            workers=workers,
            limit=options.limit,
            cut=Cut(late, rows),
        )
        if "time" in plan.parts:
            run_times(times, time_jobs(sets, running, folder), options.limit)
    out.mkdir(parents=True, exist_ok=True)  # not before: a wrong option leaves nothing behind
    results = report(cells, times, head, kinds, out)
    say("written to", f"{out}:", "quality.html, quality.md, quality.json")
    return results
