"""The jobs of the quality benchmark: one fit each, which may serve several cells.

The parts of a run:

    main    every entrant at every budget of a set, in the form that it takes. Entrants that take
            the sample run at the budgets of the mean only, and in a third of the draws, as wrong
            answers do for all entrants.
    few     LinkClustering and CCSKL with no answers, a few answers, a few with wrong ones among
            them, and labels of all classes but one, on sets of at most 1,500 rows or a sample
    text    KMeans, COPKMeans and LinkClustering on texts, a sample where there are many
    time    seconds and memory of a fit that has the machine to itself, see `timing`
"""

from itertools import chain
from typing import NamedTuple

from benchmarks.quality.entrants import CHOOSER, FAST, ZSCORED, Entrant
from benchmarks.quality.protocol import (
    FEW,
    FEW_WRONG,
    LABELS,
    MEAN,
    NONE,
    TEXT,
    WHOLE,
    WRONG,
    budgets_of,
    form_of,
    pairs_of,
)

CELLS = "quality-cells.jsonl"
KEY = ("set", "form", "draw", "budget", "wrong", "method")  # of a cell
PARTS = ("main", "few", "text", "time")
FEW_ENTRANTS = (CHOOSER, FAST, "CCSKL", f"CCSKL{ZSCORED}")
TEXT_ENTRANTS = ("KMeans", "COPKMeans", CHOOSER)
WRONG_KINDS = ("classical", "plain", "peer", "chooser")  # that wrong answers are tried with


class Plan(NamedTuple):
    """What to run of all the benchmark."""

    parts: tuple = PARTS
    draws: int = 3
    few_draws: int = 5  # of the few answers
    budgets: tuple | None = None  # names; None for all
    right: bool = False  # no wrong answers


def rows_in(data, form):
    """Return the number of rows of a set in a form."""
    return data["n"] if form == WHOLE else data["sample"]


def fewer(draws):
    """Return the number of draws for what is slow or of less interest."""
    return max(1, draws // 3)


def main_settings(name, entrant, data, draw, plan):
    """Return (form, settings) of an entrant on a set in the main part."""
    form = form_of(data["n"], entrant.whole)
    if data["generated"] or not (entrant.whole or data["counted"]):
        return form, []
    budgets = budgets_of(rows_in(data, form))
    of_mean = [budget for budget in budgets if budget in MEAN]
    some = draw < fewer(plan.draws)
    if entrant.kind == "open":
        return form, [(of_mean[-1], WRONG[0])] if some else []
    right = list(budgets) if entrant.whole else of_mean
    if entrant.whole and entrant.kind != "mark":
        right = [NONE, *right]
    settings = [(budget, WRONG[0]) for budget in right if entrant.whole or some]
    if entrant.kind in WRONG_KINDS and some:
        settings += [(budget, WRONG[1]) for budget in of_mean]
    return form, settings if draw < plan.draws else []


def few_settings(name, entrant, data, draw, plan):
    """Return (form, settings) of an entrant on a set in the part of few answers."""
    form = form_of(data["n"], whole=False)
    if name not in FEW_ENTRANTS or not data["counted"] or draw >= plan.few_draws:
        return form, []
    right = [(budget, WRONG[0]) for budget in (NONE, *FEW, LABELS)]
    return form, right + [(budget, WRONG[1]) for budget in FEW_WRONG]


def text_settings(name, entrant, data, draw, plan):
    """Return (form, settings) of an entrant on a set in the part of texts."""
    form = form_of(data["n"], whole=False)
    if name not in TEXT_ENTRANTS or not data["text"] or draw >= plan.draws:
        return form, []
    return form, [(budget, WRONG[0]) for budget in TEXT]


SETTINGS = {"main": main_settings, "few": few_settings, "text": text_settings}


def job_of(part, name, entrant: Entrant, data, form, draw, folder):
    """Return a job but for its settings."""
    run = entrant.run
    return {
        "part": part,
        "set": data["name"],
        "form": form,
        "draw": draw,
        "method": name,
        "folder": str(folder),
        "run": (run.__module__, run.__qualname__, entrant.argument),
        "z": entrant.z,
        "truth": entrant.kind == "mark",
    }


def all_jobs(sets, running, plan, folder, device=None):
    """Return the jobs of a run: draw by draw, so that a run cut short is of use.

    A fit of a method that does not see the pairs serves all settings of a draw. No cell is in two
    jobs, whatever the parts. ``device`` is that of LinkClustering, None for the CPU.
    """
    found, seen = [], set()
    for draw in range(max(plan.draws, plan.few_draws)):
        for part in [part for part in plan.parts if part in SETTINGS]:
            for data in sets:
                for name, entrant in running.items():
                    form, settings = SETTINGS[part](name, entrant, data, draw, plan)
                    base = job_of(part, name, entrant, data, form, draw, folder)
                    new = [
                        at for at in settings
                        if (plan.budgets is None or at[0] in plan.budgets)
                        and not (plan.right and at[1])
                        and keys(base | {"settings": [at]})[0] not in seen
                    ]  # fmt: skip
                    groups = [[at] for at in new] if entrant.constrained else [new] * bool(new)
                    jobs = [base | {"settings": group, "device": device} for group in groups]
                    seen |= set(chain.from_iterable(map(keys, jobs)))
                    found += jobs
    return found


def keys(job):
    """Return the keys of the cells of a job."""
    at = (job["set"], job["form"], job["draw"])
    return [(*at, budget, wrong, job["method"]) for budget, wrong in job["settings"]]


class Cut:
    """Which methods took too long on a set: they are not tried with as many pairs or more.

    Parameters
    ----------
    records : cells that were cut off
    rows : {(set, form): number of rows}
    """

    def __init__(self, records, rows):
        self.rows = rows
        self.least: dict = {}  # (set, form, method): smallest number of pairs that was cut off
        self.note(*records)

    def note(self, *records):
        """Learn from cells that were cut off."""
        for record in records:
            key = (record["set"], record["form"], record["method"])
            pairs = pairs_of(record["budget"], self.rows.get(key[:2], 0))
            self.least[key] = min(pairs, self.least.get(key, pairs))

    def rules_out(self, job):
        """Tell whether a job would take too long as well."""
        key = (job["set"], job["form"], job["method"])
        pairs = pairs_of(job["settings"][0][0], self.rows.get(key[:2], 0))
        return key in self.least and self.least[key] <= pairs
