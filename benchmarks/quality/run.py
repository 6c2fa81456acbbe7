"""The quality benchmark: every method on the same draws of pairs, in one run.

A cell is one set, draw, budget, share of wrong answers and method. The cells are in
quality-cells.jsonl in the output folder; the report is on all that are in that file.
"""

import json
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality.cell import cell
from benchmarks.quality.entrants import FOREST, ZSCORED, entrants, missing, named
from benchmarks.quality.jobs import CELLS, KEY, Cut, all_jobs, keys
from benchmarks.quality.peers import PEERS
from benchmarks.quality.pictures import pictures
from benchmarks.quality.protocol import describe, prepare
from benchmarks.quality.report import html, markdown
from benchmarks.quality.standing import FIGURES, summary
from benchmarks.reports.document import left_out_lines, write_report
from benchmarks.runs import machine
from benchmarks.runs.cells import Cells, run_jobs
from benchmarks.runs.output import command_line, say, write
from benchmarks.runs.points import prepare_sets

DRAWS, QUICK_DRAWS = 10, 3


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
    records = cells.in_order()
    methods = {record["method"] for record in records}
    results = head | {
        "sets": cells.sets_of(records),
        "methods": {name: kind for name, kind in kinds.items() if name in methods},
        "missing": {name: why for name, why in head["missing"].items() if name not in methods},
        "records": [record for record in records if record["method"] in kinds],
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
    dict: the head of quality.json, "records" of all cells and their "means" over draws
    """
    out = Path(out)
    running, absent = (contestants, {}) if contestants else chosen(options)
    draws = options.draws or (QUICK_DRAWS if options.quick else DRAWS)
    kinds = {name: entrant.kind for name, entrant in (entrants() | running).items()}
    cells = Cells(out / CELLS, KEY)
    described = machine.describe()
    head = {
        "command": command_line("quality", options),
        "machine": described | {"libraries": described["libraries"] | versions()},
        "limit": options.limit,
        "missing": absent,
    }
    with tempfile.TemporaryDirectory(prefix="linkwise-quality-") as folder:
        sets, head["left_out"] = prepare_sets(options, folder, cells, prepare, describe)
        for line in left_out_lines(absent | head["left_out"]):
            say(line)
        rows = {data["name"]: data["n"] for data in sets}
        late = [r for r in cells.records.values() if r.get("limit", 0) >= options.limit]
        run_jobs(
            cells,
            all_jobs(sets, running, draws, folder),
            cell,
            keys=keys,
            cost=lambda job: rows[job["set"]] ** 2,
            label="quality",
            unit="fits",
            workers=options.jobs or machine.cores(),
            limit=options.limit,
            cut=Cut(late),
        )
    out.mkdir(parents=True, exist_ok=True)  # not before: a wrong option leaves nothing behind
    results = report(cells, head, kinds, out)
    say("written to", f"{out}:", "quality.html, quality.md, quality.json")
    return results
