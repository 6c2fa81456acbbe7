"""The papers' experiments as one run.

A cell is one paper, set, part and draw. The cells are in papers-cells.jsonl in the output folder.
Figures are the same for any number of processes, and after an interruption.

    papers.json        series, claims and verdicts: the same bytes for the same cells
    papers-times.json  execution times and the machine, which no two runs share
    papers.html        the report; the pictures also as files
"""

import json
import tempfile
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from benchmarks.papers import ccskl, csc, kernel, propagation
from benchmarks.papers.ccskl_claims import time_claims
from benchmarks.papers.pictures import pictures
from benchmarks.papers.protocol import Effort
from benchmarks.papers.report import html
from benchmarks.papers.series import LEAST, PAPER, Shelf, all_series
from benchmarks.papers.theme import alone
from benchmarks.papers.verdicts import all_claims
from benchmarks.runs import machine
from benchmarks.runs.cells import Cells, run_jobs
from benchmarks.runs.output import command_line, say, write
from benchmarks.runs.points import (
    check_finite,
    check_folder,
    check_shapes,
    digest,
    numbered,
    store,
)
from linkwise.datasets import load_arrays

VERSION = 1  # of the protocols
CELLS = "papers-cells.jsonl"
KEY = ("paper", "set", "part", "draw")  # of a cell
PAPERS = {module.NAME: module for module in (ccskl, kernel, propagation, csc)}
QUICK = Effort(draws=3, starts=8, quick=True)
FULL = Effort(draws=10, starts=20, quick=False)  # draws as in two of the papers


class Options(NamedTuple):
    paper: str | None = None  # None for all four
    data: str | None = None  # folder with NAME.npz
    quick: bool = False
    draws: int | None = None
    jobs: int | None = None  # processes
    limit: float = 3600  # seconds a cell may take


def effort_of(options):
    """Return how often things are repeated."""
    effort = QUICK if options.quick else FULL
    return effort if options.draws is None else effort._replace(draws=options.draws)


def contents(arrays):
    """Yield all arrays of a set, a sparse one as its parts."""
    for _, array in sorted(arrays.items()):
        yield from (array.data, array.indices) if sparse.issparse(array) else (array,)


def with_numbers(arrays):
    """Return the arrays with classes 0 ... k - 1."""
    return arrays | {"y": numbered(arrays["y"])}


def checked(arrays):
    """Return the arrays of a set if they are points with classes."""
    X, y = arrays["X"], arrays["y"]
    check_shapes(X, y)
    check_finite(X)
    if len(y) == 0 or y.max() < 1:
        raise ValueError("y has fewer than two classes")
    return arrays


def points_of(source, files, data):
    """Return the arrays of a set; files that were read are kept for the next set."""
    if source.file is None:
        return source.pick()
    if source.file not in files:
        files.clear()  # one large file at a time
        files[source.file] = with_numbers(load_arrays(source.file, data=data))
    arrays = files[source.file]
    picked = source.pick(arrays) if source.pick else {"X": arrays["X"], "y": arrays["y"]}
    return checked(with_numbers(picked))


def prepare_sets(paper, options, effort, folder, cells):
    """Store the sets of a paper for the processes; return (descriptions, skipped)."""
    found: dict = {}
    skipped: dict = {}
    files: dict = {}
    for name, source in PAPERS[paper].SETS.items():
        key = f"{paper}/{name}"
        try:
            arrays = points_of(source, files, options.data)
        except FileNotFoundError:
            skipped[key] = f"there is no {source.file}.npz; see linkwise datasets"
            continue
        except (ValueError, KeyError, IndexError, OSError, BadZipFile) as error:
            skipped[key] = " ".join(f"{source.file}: {error}".split())
            continue
        store(folder, name, arrays)
        y = arrays["y"]
        found[name] = {
            "name": key,
            "n": len(y),
            "d": arrays["X"].shape[1],
            "k": int(y.max()) + 1,
            "digest": digest((VERSION, effort.starts, effort.quick), contents(arrays)),
        }
        cells.add_set(found[name])
    return found, skipped


def cell(job):
    """Return the record of a job, in a process that runs many."""
    module = import_module(f"benchmarks.papers.{job['paper']}")
    return [{name: job[name] for name in KEY} | module.run(job)]


def keys(job):
    """Return the key of the one cell of a job."""
    return [tuple(job[name] for name in KEY)]


def failures(records):
    """Return {what: why} of what failed: whole cells, and methods in them."""
    found: dict = {}
    for record in records:
        place = f"{record['paper']}/{record['set']}"
        if "failed" in record:
            found.setdefault(f"{place} {record['part']}", record["failed"])
        for row in record.get("rows", ()):
            if "failed" in row:
                found.setdefault(f"{place} {row['method']}", row["failed"])
    return found


def chosen_matrices(records, shelf):
    """Return {set: distance matrices} at the widths where NCuts and CCSKL do best."""
    by_set: dict = {}
    for record in records:
        if "matrices" in record:
            width = float(record["part"].removeprefix("sigma "))
            by_set.setdefault(record["set"], {})[width] = record["matrices"]
    found = {}
    for name in ccskl.IMAGES:
        best = {m: shelf.get(ccskl.NAME, name, m, PAPER, "error") for m in ("NCuts", "CCSKL")}
        if name not in by_set or None in best.values():
            continue
        plain, learnt = (by_set[name].get(best[m].chosen[-1]) for m in ("NCuts", "CCSKL"))
        if plain and learnt:
            found[name] = {
                "original": plain["original"],
                "spectral embedding": plain["spectral embedding"],
                "kernel": learnt["kernel"],
            }
    return found


def images_of(records):
    """Return {image: {method: row}} of figure 7."""
    return {
        record["part"].removeprefix("image "): {row["method"]: row for row in record["rows"]}
        for record in records
        if record["part"].startswith("image ") and "rows" in record
    }


def infeasible_shares(records):
    """Return {kind: {set: share of fits with the fixed bound of FCSC that have no solution}}."""
    tried: dict = {kind: {} for kind in csc.BOUNDS}
    for record in records:
        for row in record.get("rows", ()):
            if row["method"] in tried and "feasible" in row:
                tried[row["method"]].setdefault(record["set"], []).append(row["feasible"])
    return {
        kind: {name: round(1 - sum(v) / len(v), 4) for name, v in shares.items()}
        for kind, shares in tried.items()
    }


def times_of(records):
    """Return {"set", "seconds": {method: [whole, learnt]}, "claims"} or None."""
    timed = [record for record in records if record["part"] == "times" and "rows" in record]
    if not timed:
        return None
    seconds = {}
    for method in ccskl.TIMED:
        rows = [row for record in timed for row in record["rows"] if row["method"] == method]
        learnt = [row["learnt"] for row in rows if row["learnt"] is not None]
        seconds[method] = [
            float(np.median([row["whole"] for row in rows])),
            float(np.median(learnt)) if learnt else None,
        ]
    return {"set": timed[0]["set"], "seconds": seconds, "claims": time_claims(seconds)}


def claim_rows(claims):
    """Return claims as JSON has them."""
    return [
        {
            "paper": c.paper,
            "claim": c.words,
            "judged": c.column,
            "measured": c.figures,
            "cases": {case.name: bool(case.holds) for case in c.cases},
            "need": c.need,
            "verdict": c.verdict,
        }
        for c in claims
    ]


def lines_of(value):
    """Return JSON with one line for each entry of a list in it."""
    parts = []
    for name, content in value.items():
        if isinstance(content, list) and content:
            inner = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in content)
            parts.append(f"{json.dumps(name)}: [\n{inner}\n]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(content)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def report(cells, keys, head, out):
    """Write papers.json, papers-times.json, papers.html and the pictures; return the results.

    ``keys`` are those of the cells to report: the file may have more, of a longer run.
    """
    papers = head["papers"]
    records = [cells.records[key] for key in keys]
    records.sort(key=lambda r: (papers.index(r["paper"]), r["set"], r["part"], r["draw"]))
    sets = {f"{record['paper']}/{record['set']}" for record in records}
    shelf = Shelf(all_series(records))
    found = {
        "matrices": chosen_matrices(records, shelf),
        "segmented": images_of(records),
        "papers": papers,
    }
    right = {
        name: {method: row["right"] for method, row in rows.items()}
        for name, rows in found["segmented"].items()
    }
    claims = all_claims(
        shelf,
        matrices=found["matrices"],
        segmented=right,
        infeasible=infeasible_shares(records),
        papers=papers,
    )
    results = head | {
        "sets": {
            key: {k: v for k, v in data.items() if k != "name"}
            for key, data in sorted(cells.sets.items())
            if key in sets
        },
        "failures": failures(records),
        "series": shelf.series,
        "claims": claims,
    }
    times, described = times_of(records), machine.describe()
    kept = [s for s in shelf.series if s.column != LEAST or s.method in ccskl.METHODS]
    stored = results | {"series": [s._asdict() for s in kept], "claims": claim_rows(claims)}
    write(out / "papers.json", lines_of(stored))
    timed = {"machine": described} | (
        {"set": times["set"], "seconds": times["seconds"], "claims": claim_rows(times["claims"])}
        if times
        else {}
    )
    write(out / "papers-times.json", json.dumps(timed, indent=1) + "\n")
    shown = pictures(shelf, **found)
    for name, image in shown.items():
        write(out / name, alone(image))
    write(out / "papers.html", html(results, shown, times, described))
    return results | {"times": times}


def run(options, out):
    """Run the experiments and write the report to a folder.

    Parameters
    ----------
    options : Options
    out : folder, made if there is none; cells in it are not run again

    Returns
    -------
    dict: the head of papers.json, "series" and "claims", and "times" or None
    """
    check_folder(options.data)
    out = Path(out)
    effort = effort_of(options)
    papers = [options.paper] if options.paper else list(PAPERS)
    cells = Cells(out / CELLS, KEY)
    head = {
        "command": command_line("papers", options),
        "effort": effort._asdict(),
        "papers": papers,
        "skipped": {},
    }
    workers = options.jobs or machine.cores()
    with tempfile.TemporaryDirectory(prefix="linkwise-papers-") as folder:
        jobs, timed = [], []
        for paper in papers:
            own = Path(folder) / paper
            own.mkdir()
            sets, skipped = prepare_sets(paper, options, effort, own, cells)
            head["skipped"] |= skipped
            module = PAPERS[paper]
            placed = {"folder": str(own)}
            jobs += [job | placed for job in module.jobs(sets, effort)]
            if paper == ccskl.NAME:
                timed = [job | placed for job in ccskl.timed_jobs(sets, effort)]
        for key, why in head["skipped"].items():
            say(f"skipped: {key}: {why}")
        # costs are about milliseconds of one core with --quick
        common = {"keys": keys, "cost": itemgetter("cost"), "unit": "cells", "limit": options.limit}
        run_jobs(cells, jobs, cell, label="papers", workers=workers, **common)
        if timed:  # one at a time, so that nothing else is on the clock
            run_jobs(cells, timed, cell, label="times", workers=1, **common)
    out.mkdir(parents=True, exist_ok=True)  # not before: a wrong option leaves nothing behind
    results = report(cells, [key for job in jobs + timed for key in keys(job)], head, out)
    say("written to", f"{out}:", "papers.html, papers.json, papers-times.json")
    return results
