"""The benchmark of questions: how many answers each strategy needs.

A cell is one set, draw, kind of answers and strategy. Two sets of texts are made from the word
counts of the 20 newsgroups, if the folder has them. The cells are in queries-cells.jsonl
in the output folder; the report is on all that are in that file.
"""

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.quality import protocol as quality
from benchmarks.queries.cell import ANSWERS, KEY, cell, keys
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
    text_features,
)
from linkwise.query import STRATEGIES

CELLS = "queries-cells.jsonl"
DRAWS, QUICK_DRAWS = 5, 1
COUNTS = "newsgroups20_counts"
TEXTS = {  # name: classes of the newsgroups, TEXT_ROWS texts of each
    "news-science": ("sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    "news-mixed": ("comp.graphics", "rec.autos", "sci.med", "soc.religion.christian",
                   "talk.politics.mideast"),
}  # fmt: skip
TEXT_ROWS = 200
MOST_ROWS = 2000  # a person does not answer more, and a run on more takes hours


class Options(NamedTuple):
    data: str | None = None  # folder with NAME.npz
    sets: tuple | None = None
    strategies: tuple | None = None  # names; None for all
    draws: int | None = None
    quick: bool = False
    jobs: int | None = None  # processes
    limit: float = 1800  # seconds a cell may take


def texts(name, folder):
    """Return (X, y) of a set of TEXTS."""
    with np.load(Path(folder) / f"{COUNTS}.npz", allow_pickle=False) as archive:
        y, classes = archive["y"], [str(c) for c in archive["classes"]]
        parts = archive["data"].astype(np.float64), archive["indices"], archive["indptr"]
        counts = sparse.csr_matrix(parts, shape=tuple(archive["shape"]))
    full, rng = np.diff(counts.indptr) > 0, np.random.default_rng(0)
    chosen = [
        rng.choice(np.flatnonzero((y == classes.index(c)) & full), TEXT_ROWS, replace=False)
        for c in TEXTS[name]
    ]
    rows = np.concatenate(chosen)
    return text_features(counts[rows]), y[rows]


def prepare(name, folder):
    """Return the Points of a set; refuse more than MOST_ROWS rows."""
    X, y = (texts if name in TEXTS else read_set)(name, folder)
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
        {"set": data["name"], "draw": draw, "answers": said, "method": name, "folder": str(folder)}
        for draw in range(draws)
        for said in ANSWERS
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
    strategies = tuple(dict.fromkeys(options.strategies or STRATEGIES))
    out = Path(out)
    draws = options.draws or (QUICK_DRAWS if options.quick else DRAWS)
    cells = Cells(out / CELLS, KEY)
    head = {"command": command_line("queries", options), "machine": machine.describe()}
    with tempfile.TemporaryDirectory(prefix="linkwise-queries-") as folder:
        there = options.data is not None and Path(options.data, f"{COUNTS}.npz").exists()
        more = tuple(TEXTS) if there else ()
        sets, head["left_out"] = prepare_sets(options, folder, cells, prepare, describe, more)
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
