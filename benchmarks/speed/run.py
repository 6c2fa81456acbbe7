"""The speed benchmark: all contestants on the same data, in one run.

Each run of a contestant has a process of its own. The contestants take turns on a data set, so that
a busy minute of the machine affects all of them alike. The results so far are written after each
run, to speed-partial.json and .md in the output folder; at the end these become speed.json and
speed.md. Every file is replaced whole.
"""

import json
import os
import shutil
import statistics
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.runs import machine
from benchmarks.runs.output import command_line, say, write
from benchmarks.runs.process import in_child
from benchmarks.speed import floors
from benchmarks.speed.contestants import (
    ANCHORS,
    CONTESTANTS,
    NEAREST_ANCHORS,
    NEIGHBOURS,
    OUT_OF_CORE,
    REFIT,
)
from benchmarks.speed.pictures import PICTURES, pictures
from benchmarks.speed.report import markdown
from benchmarks.speed.sheets import write_sheets
from benchmarks.speed.trial import trial
from linkwise.constraints import sample_pairs
from linkwise.datasets import load

CLUSTERS = 10
COLUMNS, FILE_COLUMNS = 32, 16  # where a size names none
IN_FILE = 30_000_000  # rows from which on they stay in their file
HUGE = (100_000_000, FILE_COLUMNS)
MOST_PAIRS = 10_000
LINKED = 1_000_000  # rows, from the first on, that constraints are drawn among
LEAST_ROWS = 200
IMAGES = ((10_000, 256), (20_000, 784))
SCALE = tuple(round(10 ** (e / 2)) for e in range(8, 15))  # 10^4 ... 10^7
QUICK = ((1000, 32), (4000, 32))
REAL = {
    "usps": (("usps",), None),
    "mnist 20,000": (("mnist_train",), 20_000),
    "mnist": (("mnist_train", "mnist_test"), None),
}  # name: files, rows


class Options(NamedTuple):
    sizes: tuple | None = None  # (n, d) of generated data
    only: tuple | None = None  # keys of CONTESTANTS; None for all
    quick: bool = False
    huge: bool = False
    full: bool = False  # leave no contestant out for being slow
    data: str | None = None  # folder of the real sets
    scratch: str | None = None  # folder for generated rows, default out
    repeats: int | None = None
    limit: float = 600  # seconds a run may take
    seed: int = 0


class Spec(NamedTuple):
    """A data set that a run asks for."""

    name: str
    n: int | None  # None until it is read
    d: int | None
    files: tuple = ()  # of a real set


def size_of(text):
    """Return (rows, columns) of a size such as 10000, 1e6 or 20000x784.

    >>> size_of("1e6"), size_of("20000x784")
    ((1000000, 32), (20000, 784))
    """
    rows, times, columns = text.lower().partition("x")
    try:
        n = float(rows)
        d = float(columns) if times else (COLUMNS if n < IN_FILE else FILE_COLUMNS)
        whole = n == int(n) and d == int(d)
    except (ValueError, OverflowError):
        whole = False
    if not whole or n < LEAST_ROWS or d < 2:
        raise ValueError(
            f"expected rows (at least {LEAST_ROWS}) such as 10000 or 1e6, or rows and columns such "
            f"as 20000x784; got {text!r}"
        )
    return int(n), int(d)


def specs(options):
    """Return the data sets that the options ask for."""
    sizes = options.sizes
    if sizes is None:
        sizes = QUICK if options.quick else (*IMAGES, *((n, COLUMNS) for n in SCALE))
    if options.huge:
        sizes = (*sizes, HUGE)
    found = [Spec(f"{n:,} x {d}", n, d) for n, d in dict.fromkeys(sizes)]
    if options.data is not None:
        found += [Spec(name, rows, None, files) for name, (files, rows) in REAL.items()]
    return found


def check_places(options, out):
    """Refuse folders that lack what the run needs, before it starts."""
    scratch = Path(options.scratch or out)
    for folder in {Path(out), scratch}:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise ValueError(f"{folder} is not writable; choose another")
    if options.data is not None:
        names = {file for files, _ in REAL.values() for file in files}
        missing = sorted(
            name for name in names if not (Path(options.data) / f"{name}.npz").is_file()
        )
        if missing:
            raise ValueError(
                f"--data {options.data} lacks {', '.join(f'{name}.npz' for name in missing)} "
                "(arrays X and y); name the folder that has them, or leave --data out"
            )
    needed = max((4 * s.n * (s.d + 1) for s in specs(options) if s.d), default=0)
    free = shutil.disk_usage(scratch).free
    if needed > free:
        raise ValueError(
            f"the rows need {needed / 1e9:.1f} GB in {scratch}, {free / 1e9:.1f} GB are free; name "
            "another folder by --scratch, or ask for smaller --sizes"
        )
    return scratch


def prepare(spec, folder, options):
    """Write X.npy, y.npy and links.npy of a data set; return its description."""
    if spec.files:
        sets = [load(name, data=options.data) for name in spec.files]
        X = np.concatenate([s.X for s in sets])[: spec.n].astype(np.float32)
        y = np.concatenate([s.y for s in sets])[: spec.n]
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        (n, d), k = X.shape, len(np.unique(y))
    else:
        n, d, k = spec.n, spec.d, CLUSTERS
        write_sheets(folder, n, d, k, np.random.default_rng(options.seed))
    pairs = min(n // 10, MOST_PAIRS)
    y = np.load(folder / "y.npy", mmap_mode="r")[:LINKED]
    links = sample_pairs(y, pairs + REFIT, scheme="balanced", random_state=options.seed)
    i, j, sign, _ = links.resolve(n=n).arrays()
    np.save(folder / "links.npy", np.stack([i, j, sign], axis=1).astype(np.int64))
    return {
        "name": spec.name,
        "n": n,
        "d": d,
        "k": k,
        "bytes": 4 * n * d,
        "pairs": pairs,
        "generated": not spec.files,
        "in_file": n >= IN_FILE,
    }


def left_out(contestant, n, full):
    """Return why a contestant does not run on n rows, None if it does."""
    if contestant.needs and find_spec(contestant.needs) is None:
        return f"{contestant.needs} is not installed"
    if n > contestant.rows and not full:
        return f"left out above {contestant.rows:,} rows; --full runs it"
    return None


def median(runs, name):
    """Return the median of a figure over the runs that have it, None if none has."""
    values = [run[name] for run in runs if run.get(name) is not None]
    return statistics.median(values) if values else None


def summary(runs):
    """Return the figures of several runs: medians, and the largest peak."""
    if not runs:
        return {}
    names = ("seconds", "cpu", "adjusted_rand", "adjusted_rand_untouched", "kept", "recall")
    found = {name: median(runs, name) for name in names}
    found["fastest"] = min(run["seconds"] for run in runs)
    found["slowest"] = max(run["seconds"] for run in runs)
    found["peak"] = max(run["peak"] for run in runs)
    if "stages" in runs[0]:
        stages = [run["stages"] for run in runs]
        found["stages"] = {name: median(stages, name) for name in stages[0]}
    return found


def floors_of(data, rates):
    """Return {stage: seconds} that the machine allows on a data set."""
    costs = floors.costs(
        data["n"], data["d"], data["k"], pairs=data["pairs"], neighbours=NEIGHBOURS,
        anchors=min(ANCHORS, data["n"] // 10), nearest=NEAREST_ANCHORS,
    )  # fmt: skip
    return {stage: floors.seconds(cost, rates) for stage, cost in costs.items()}


class Book:
    """The results so far; written to the output folder after each run."""

    def __init__(self, out, head):
        self.out = Path(out)
        self.results = {**head, "sets": [], "rows": []}

    def add_set(self, data):
        """Enter a data set, with what the machine allows on it."""
        rates = floors.Rates(**self.results["rates"])
        self.results["sets"].append({**data, "floors": floors_of(data, rates)})

    def row(self, data, key, contestant):
        """Return the row of a contestant on a data set, made when first asked for."""
        for row in self.results["rows"]:
            if (row["set"], row["contestant"]) == (data["name"], key):
                return row
        row = {
            "set": data["name"],
            "contestant": key,
            "name": contestant.name,
            "kind": contestant.kind,
            "runs": [],
            "trouble": None,
        }
        self.results["rows"].append(row)
        return row

    def write(self, name):
        """Write NAME.json and NAME.md."""
        for row in self.results["rows"]:
            row["summary"] = summary(row["runs"])
        write(self.out / f"{name}.json", json.dumps(self.results, indent=1))
        write(self.out / f"{name}.md", markdown(self.results))

    def finish(self):
        """Put the report, with its pictures, in its place."""
        images = dict(pictures(self.results))
        self.results["pictures"] = list(images)
        for name, image in images.items():
            write(self.out / name, image)
        self.write("speed")
        stale = (name for name in PICTURES if name not in images)
        for name in ("speed-partial.json", "speed-partial.md", *stale):
            (self.out / name).unlink(missing_ok=True)


def race(book, data, folder, contestants, options):
    """Run the contestants on one data set, in turns."""
    repeats = 1 if data["in_file"] else book.results["repeats"]
    running = {}
    for key, contestant in contestants.items():
        row = book.row(data, key, contestant)
        row["trouble"] = left_out(contestant, data["n"], options.full)
        if row["trouble"] is None:
            running[key] = contestant
    for turn in range(repeats):
        for key, contestant in list(running.items()):
            row = book.row(data, key, contestant)
            run = contestant.run
            job = {
                "run": [run.__module__, run.__qualname__],
                "kind": contestant.kind,
                "folder": str(folder),
                "file": contestant.file,
                "k": data["k"],
                "pairs": data["pairs"],
                "seed": options.seed,
            }
            value, failed = in_child(trial, job, limit=options.limit)
            if failed:
                row["trouble"] = f"failed: {failed}"
                del running[key]
            else:
                row["runs"].append(value)
            book.write("speed-partial")
            told = row["trouble"] or f"{value['seconds']:.3f} s"
            say(f"{data['name']:>18}  {contestant.name:<28} {turn + 1} of {repeats}  {told}")


def run(options, out, contestants=None):
    """Run the benchmark and write speed.json, speed.md and pictures to a folder.

    Parameters
    ----------
    options : Options
    out : folder, made if there is none
    contestants : dict of Contestant, or None for all

    Returns
    -------
    dict, as in speed.json
    """
    scratch = check_places(options, out)
    trials = {"repeats": 4 if options.quick else 12}
    rates, failed = in_child(floors.measure_rates, trials, limit=120)
    if failed:
        raise ValueError(f"the rates of the machine could not be measured: {failed}")
    book = Book(out, {
        "command": command_line("speed", options),
        "machine": machine.describe(),
        "rates": rates,
        "repeats": options.repeats or (1 if options.quick else 3),
        "limit": options.limit,
        "seed": options.seed,
        "pictures": [],
    })  # fmt: skip
    try:
        for spec in specs(options):
            with tempfile.TemporaryDirectory(prefix=".speed-", dir=scratch) as folder:
                say(f"{spec.name:>18}  the rows are {'read' if spec.files else 'made'}")
                data = prepare(spec, Path(folder), options)
                book.add_set(data)
                chosen = contestants or (OUT_OF_CORE if data["in_file"] else CONTESTANTS)
                if options.only:
                    chosen = {key: who for key, who in chosen.items() if key in options.only}
                race(book, data, folder, chosen, options)
    except KeyboardInterrupt:
        say(f"what was finished is in {Path(out) / 'speed-partial.md'} and speed-partial.json")
        raise
    book.finish()
    say("written to", f"{out}:", ", ".join(["speed.md", "speed.json", *book.results["pictures"]]))
    return book.results
