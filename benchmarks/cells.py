"""The cells of a benchmark: the file of those that have run, and of quality those to run."""

import json
from pathlib import Path

from benchmarks.protocol import BUDGETS, SETTINGS

CELLS = "quality-cells.jsonl"
PLACES = {budget: place for place, budget in enumerate(BUDGETS)}  # from few pairs to many
KEY = ("set", "draw", "budget", "wrong", "method")  # what a cell is known by


class Cells:
    """The file of cells of a benchmark, known by ``key``: what is in it, and what is added."""

    def __init__(self, path, key=KEY):
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


def settings_of(entrant):
    """Return the settings a method runs in, in groups that one fit serves."""
    if entrant.kind == "open":
        return [[("n", 0.0)]]
    if entrant.kind == "mark":
        return [[at] for at in SETTINGS if at[1] == 0]
    return [[at] for at in SETTINGS] if entrant.constrained else [list(SETTINGS)]


def all_jobs(sets, running, draws, folder):
    """Return the jobs of a run: draw by draw, so that one cut short is of use."""
    found = []
    for draw in range(draws):
        for data in sets:
            for name, entrant in running.items():
                run = entrant.run
                job = {
                    "set": data["name"],
                    "draw": draw,
                    "method": name,
                    "folder": str(folder),
                    "run": (run.__module__, run.__qualname__, entrant.argument),
                    "z": entrant.z,
                    "truth": entrant.kind == "mark",
                }
                found += [job | {"settings": group} for group in settings_of(entrant)]
    return found


def keys(job):
    """Return the keys of the cells of a job."""
    return [(job["set"], job["draw"], *at, job["method"]) for at in job["settings"]]


def failures(job, words, limit=None):
    """Return the records of a job that gave none; with the limit if that cut it off."""
    cut = {} if limit is None else {"limit": limit}
    return [dict(zip(KEY, key, strict=True)) | {"failed": words} | cut for key in keys(job)]


class Cut:
    """Which methods took too long on a set: with as many pairs or more they need not try again."""

    def __init__(self, records):
        self.least: dict = {}  # (set, method): place of the smallest budget that was cut off
        self.note(*records)

    def note(self, *records):
        for record in records:
            key, place = (record["set"], record["method"]), PLACES[record["budget"]]
            self.least[key] = min(place, self.least.get(key, place))

    def rules_out(self, job):
        """Tell whether a job would take too long as well."""
        least = self.least.get((job["set"], job["method"]), len(PLACES))
        return least <= PLACES[job["settings"][0][0]]
