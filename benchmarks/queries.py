"""The benchmark of questions: how many answers each strategy needs.

A cell is one set, draw, share of wrong answers and strategy. Cells run on several processes
(`pool`) and are written to queries-cells.jsonl in the output folder as they end; a run that finds
this file does only what is missing in it, and the report is on all that is in it. Figures are the
same for any number of processes, except what a time limit cuts.
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import machine
from benchmarks.cells import Cells
from benchmarks.pool import outcomes
from benchmarks.protocol import Points, digest, read_set
from benchmarks.quality import prepare_sets
from benchmarks.queries_cell import KEY, cell, keys
from benchmarks.queries_report import html, markdown, pictures
from benchmarks.speed import say, write
from linkwise.blocks.progress import Progress
from linkwise.query import STRATEGIES

CELLS = "queries-cells.jsonl"
DRAWS, QUICK_DRAWS = 5, 1
WRONG = (0.0, 0.1)  # shares of answers turned round
MOST_ROWS = 2000


class Options(NamedTuple):
    data: str | None = None  # folder with NAME.npz
    sets: tuple | None = None
    strategies: tuple | None = None  # names; None for all
    draws: int | None = None
    quick: bool = False
    jobs: int | None = None  # processes
    limit: float = 1800  # seconds a cell may take


def prepare(name, folder):
    """Return the Points of a set; refuse more than MOST_ROWS rows."""
    X, y = read_set(name, folder)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"X has shape {X.shape} and y {y.shape}; expected (n, d) and (n,)")
    if len(X) > MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS:,} rows")
    X = X if np.issubdtype(X.dtype, np.floating) else X.astype(np.float64)
    if not np.isfinite(X).all():
        raise ValueError("X has NaN or infinite values")
    return Points(X, np.unique(y, return_inverse=True)[1].astype(np.int64))


def describe(name, points):
    """Return what a set is known by."""
    n, d = points.X.shape
    return {"name": name, "n": n, "d": d, "k": int(points.y.max()) + 1, "digest": digest(points)}


def all_jobs(sets, strategies, draws, folder):
    """Return the jobs of a run: draw by draw, so that one cut short is of use."""
    return [
        {"set": data["name"], "draw": draw, "wrong": wrong, "method": name, "folder": str(folder)}
        for draw in range(draws)
        for wrong in WRONG
        for data in sets
        for name in strategies
    ]


def run_cells(cells, jobs, options):
    """Run the jobs that are missing among the cells."""
    jobs = [job for job in jobs if any(cells.lacks(key, options.limit) for key in keys(job))]
    say(f"{len(jobs):,} runs to do, {len(cells.records):,} cells done before")
    workers = min(options.jobs or machine.cores(), len(jobs))
    with Progress("queries", len(jobs)) as progress:
        for ended in outcomes(cell, jobs, workers=workers, limit=options.limit):
            found = ended.value
            if found is None:
                late = {"limit": options.limit} if ended.late else {}
                words = {"failed": ended.failed} | late
                found = [dict(zip(KEY, key, strict=True)) | words for key in keys(ended.job)]
            cells.add(*found)
            progress.advance()


def command(options):
    """Return the command line of a run, with DIR for folders."""
    words = ["linkwise bench queries"]
    words += ["--data DIR"] if options.data else []
    for name in ("sets", "strategies"):
        if getattr(options, name):
            words += [f"--{name}", *getattr(options, name)]
    words += [f"--draws {options.draws}"] if options.draws else []
    words += ["--quick"] if options.quick else []
    return " ".join([*words, "--out DIR"])


def report(cells, head, out):
    """Write queries.json, queries.md, queries.html and the picture; return the results."""
    records = sorted(cells.records.values(), key=lambda r: [str(r[name]) for name in KEY])
    sets = {record["set"] for record in records}
    results = head | {
        "sets": [cells.sets[name] for name in sorted(sets, key=lambda s: (cells.sets[s]["n"], s))],
        "records": records,
    }
    images = dict(pictures(results))
    write(out / "queries.json", json.dumps(results, separators=(",", ":")))
    for name, image in images.items():
        write(out / name, image)
    write(out / "queries.md", markdown(results, images))
    write(out / "queries.html", html(results, images))
    return results


def run(options, out):
    """Run the benchmark and write the report to a folder.

    Parameters
    ----------
    options : Options
    out : folder, made if there is none; cells in it are not run again

    Returns
    -------
    dict: the contents of queries.json
    """
    unknown = [name for name in options.strategies or () if name not in STRATEGIES]
    if unknown:
        raise ValueError(f"--strategies {unknown[0]}: expected some of {', '.join(STRATEGIES)}")
    strategies = tuple(dict.fromkeys((*(options.strategies or STRATEGIES), "random")))
    out = Path(out)
    draws = options.draws or (QUICK_DRAWS if options.quick else DRAWS)
    cells = Cells(out / CELLS, KEY)
    head = {"command": command(options), "machine": machine.describe()}
    with tempfile.TemporaryDirectory(prefix="linkwise-queries-") as folder:
        sets, head["left_out"] = prepare_sets(
            options, folder, cells, prepare=prepare, describe=describe
        )
        try:
            run_cells(cells, all_jobs(sets, strategies, draws, folder), options)
        except KeyboardInterrupt:
            say(f"what is done is in {out / CELLS}; the same command goes on from there")
            raise
    out.mkdir(parents=True, exist_ok=True)  # not before: a wrong option leaves nothing behind
    results = report(cells, head, out)
    say("written to", f"{out}:", "queries.html, queries.md, queries.json")
    return results
