"""The benchmark of questions: how many answers each strategy needs.

A cell is one set, draw, share of wrong answers and strategy. The cells are in queries-cells.jsonl
in the output folder; the report is on all that are in that file.
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality import protocol as quality
from benchmarks.queries.cell import KEY, cell, keys
from benchmarks.queries.pictures import pictures
from benchmarks.queries.report import html, markdown
from benchmarks.reports.document import write_report
from benchmarks.runs import machine
from benchmarks.runs.cells import Cells, run_jobs
from benchmarks.runs.output import command_line, say, write
from benchmarks.runs.points import (
    Points,
    check_finite,
    check_shapes,
    described,
    floating,
    numbered,
    prepare_sets,
    read_set,
)
from linkwise.query import STRATEGIES

CELLS = "queries-cells.jsonl"
DRAWS, QUICK_DRAWS = 5, 1
WRONG = (0.0, 0.1)  # shares of wrong answers
MOST_ROWS = 2000  # a person does not answer more, and a run on more takes hours


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
    check_shapes(X, y)
    if len(X) > MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS:,} rows")
    check_finite(X)
    return Points(floating(X), numbered(y))


def describe(name, points):
    """Return the description of a set."""
    return described(name, points, quality.RULES)


def all_jobs(sets, strategies, draws, folder):
    """Return the jobs of a run: draw by draw, so that a run cut short is of use."""
    return [
        {"set": data["name"], "draw": draw, "wrong": wrong, "method": name, "folder": str(folder)}
        for draw in range(draws)
        for wrong in WRONG
        for data in sets
        for name in strategies
    ]


def report(cells, head, out):
    """Write queries.json, queries.md, queries.html and the picture; return the results."""
    records = cells.in_order()
    results = head | {"sets": cells.sets_of(records), "records": records}
    images = dict(pictures(results))
    write(out / "queries.json", json.dumps(results, separators=(",", ":")))
    write_report(out, "queries", results, images, markdown=markdown, html=html)
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
    head = {"command": command_line("queries", options), "machine": machine.describe()}
    with tempfile.TemporaryDirectory(prefix="linkwise-queries-") as folder:
        sets, head["left_out"] = prepare_sets(options, folder, cells, prepare, describe)
        run_jobs(
            cells,
            all_jobs(sets, strategies, draws, folder),
            cell,
            keys=keys,
            cost=lambda job: 1,
            label="queries",
            unit="runs",
            workers=options.jobs or machine.cores(),
            limit=options.limit,
        )
    out.mkdir(parents=True, exist_ok=True)  # not before: a wrong option leaves nothing behind
    results = report(cells, head, out)
    say("written to", f"{out}:", "queries.html, queries.md, queries.json")
    return results
