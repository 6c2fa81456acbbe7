"""The jobs of the quality benchmark: one fit each, which may serve several cells."""

from benchmarks.quality.protocol import BUDGETS, SETTINGS

CELLS = "quality-cells.jsonl"
KEY = ("set", "draw", "budget", "wrong", "method")  # of a cell
PLACES = {budget: place for place, budget in enumerate(BUDGETS)}  # from few pairs to many


def settings_of(entrant):
    """Return the settings a method runs in, in groups that one fit serves."""
    if entrant.kind == "open":
        return [[("n", 0.0)]]
    if entrant.kind == "mark":
        return [[at] for at in SETTINGS if at[1] == 0]
    return [[at] for at in SETTINGS] if entrant.constrained else [list(SETTINGS)]


def all_jobs(sets, running, draws, folder):
    """Return the jobs of a run: draw by draw, so that a run cut short is of use."""
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


class Cut:
    """Which methods took too long on a set: they are not tried with as many pairs or more."""

    def __init__(self, records):
        self.least: dict = {}  # (set, method): place of the smallest budget that was cut off
        self.note(*records)

    def note(self, *records):
        """Learn from cells that were cut off."""
        for record in records:
            key, place = (record["set"], record["method"]), PLACES[record["budget"]]
            self.least[key] = min(place, self.least.get(key, place))

    def rules_out(self, job):
        """Tell whether a job would take too long as well."""
        least = self.least.get((job["set"], job["method"]), len(PLACES))
        return least <= PLACES[job["settings"][0][0]]
