"""One run of a strategy on a set: how agreement grows with the answers.

The classes answer the questions: all answers are right, or one in ten is wrong, or one in four is
"don't know". At each checkpoint the labels are compared with the classes. For the default strategy,
agreement, the share of wrong labels and the expected share are also kept after CHECKED answers,
whatever the goal. Between two checkpoints questions come in one batch, one tenth of the answers so
far, at least one; COBRAS asks one at a time. All strategies are judged by the labels of the same
model, COBRAS by its own partition as well.

The random numbers of a draw depend only on the name of the set and the number of the draw.
"""

import warnings
import zlib

import numpy as np

from benchmarks.runs.cells import DIGITS, failures, in_short
from benchmarks.runs.points import stored
from linkwise.evaluate import adjusted_rand_index, clustering_error
from linkwise.query import (
    STRATEGIES,
    Context,
    Known,
    PreparedData,
    cobras_labels,
    label_oracle,
    share_in_doubt,
)

KEY = ("set", "draw", "answers", "method")  # of a cell
PER_POINT, MOST = 2, 1000  # answers in all
GOALS = (0.9, 0.95)  # shares of the agreement with all answers
STEP = 10  # a batch is the answers so far divided by this
OWN = "cobras, own partition"
CHECKED = (1, 5, 10, 20, 60, 120, 300)  # answers after which labels must not be worse than before
ANSWERS = {  # who answers: (share of wrong answers, share of "don't know")
    "all right": (0.0, 0.0),
    "one in ten wrong": (0.1, 0.0),
    "one in four unsure": (0.0, 0.25),
}


def budget_of(n):
    """Return how many answers there are in all, for n points."""
    return min(PER_POINT * n, MOST)


def checkpoints(budget):
    """Return the numbers of answers after which labels are judged, with those of CHECKED.

    >>> checkpoints(70)[-6:]
    [46, 50, 55, 60, 66, 70]
    """
    found = [0]
    while found[-1] < budget:
        found.append(min(budget, found[-1] + max(1, found[-1] // STEP)))
    return sorted({*found, *(count for count in CHECKED if count < budget)})


def reached(curve, goal):
    """Return the answers after which agreement is at least a goal, at the next checkpoint too.

    >>> reached([(0, 0.2), (1, 0.9), (2, 0.5), (3, 0.8), (4, 0.9)], 0.8)
    3
    """
    for place, (answers, agreement) in enumerate(curve):
        following = curve[place + 1][1] if place + 1 < len(curve) else agreement
        if min(agreement, following) >= goal:
            return answers
    return None


class Trial:
    """One strategy on one draw of a set."""

    def __init__(self, data, y, strategy, *, seed, wrong=0.0, unsure=0.0):
        self.data, self.y, self.k = data, y, int(y.max()) + 1
        self.strategy, self.seed = strategy, seed
        self.oracle = label_oracle(y, error=wrong, unsure=unsure, random_state=seed)
        self.known, self.memo = Known(), {}
        self.renew()

    def renew(self):
        self.context = Context(self.data, self.known, self.k, seed=self.seed, memo=self.memo)

    def answer(self, count):
        """Ask until there are ``count`` answers; tell whether there was enough to ask."""
        while (left := count - self.known.n_answers) > 0:
            questions = STRATEGIES[self.strategy](self.context, left)[:left]
            if not questions:
                questions = STRATEGIES["random"](self.context, left)
            if not questions:
                return False
            pairs = [(question.a, question.b) for question in questions]
            for pair, same in zip(pairs, self.oracle(pairs), strict=True):
                self.known.tell(*pair, same)
            self.renew()
        return True

    def agreement(self):
        return adjusted_rand_index(self.y, self.context.clustering.labels)

    def check(self):
        """Return the answers, agreement, share of wrong labels, and the expected share."""
        labels = self.context.clustering.labels
        error = clustering_error(self.y, labels)
        figures = self.agreement(), error, share_in_doubt(self.context)
        return [self.known.n_answers, *(round(float(value), DIGITS) for value in figures)]

    def own_agreement(self):
        return adjusted_rand_index(self.y, cobras_labels(self.context))


def judged(strategy):
    """Return the names under which a strategy is judged."""
    return (strategy, OWN) if strategy == "cobras" else (strategy,)


def keys(job):
    """Return the keys of the cells of a job."""
    return [(job["set"], job["draw"], job["answers"], name) for name in judged(job["method"])]


def curves(trial, budget, goal):
    """Return ({name: curve}, checks), until the goal is reached by all, twice in a row.

    The checks are of the default strategy: what it has come to without answers, after CHECKED ones
    and at the end of its questions, whether the goal is reached or not.
    """
    judges = (trial.agreement, trial.own_agreement)
    kinds = dict(zip(judged(trial.strategy), judges, strict=False))
    found: dict = {name: [] for name in kinds}
    due = [0, *(count for count in CHECKED if count < budget), min(budget, CHECKED[-1])]
    checks = []
    for count in checkpoints(budget):
        more = trial.answer(count)
        for name, judge in kinds.items():
            found[name].append((trial.known.n_answers, judge()))
        checked = trial.strategy == "default" and count <= due[-1]
        if checked and (count in due or not more):
            checks.append(trial.check())
        done = [len(c) > 1 and min(c[-1][1], c[-2][1]) >= goal for c in found.values()]
        if not more or (all(done) and (not checked or count == due[-1])):
            break
    return found, checks


def run(job):
    """Return the records of a job, one for each way to judge its strategy."""
    X, y = (stored(job["folder"], job["set"])[name] for name in ("X", "y"))
    seed = zlib.crc32(f"{job['set']} {job['draw']}".encode()) % 2**31
    budget, data = budget_of(len(y)), PreparedData(X, seed=seed, n_clusters=int(y.max()) + 1)

    def trial(strategy):
        wrong, unsure = ANSWERS[job["answers"]]
        return Trial(data, y, strategy, wrong=wrong, unsure=unsure, seed=seed)

    every = trial("random")
    for count in checkpoints(budget):  # the batches of random pairs when they are judged
        every.answer(count)
    reference = every.agreement()
    found, checks = curves(trial(job["method"]), budget, max(GOALS) * reference)
    records = []
    for name, curve in found.items():
        record = {key: job[key] for key in KEY} | {"method": name, "budget": budget}
        record["reference"] = round(reference, DIGITS)
        for goal in GOALS:
            record[f"to {goal:.0%}"] = reached(curve, goal * reference)
        if name == "default":
            record["checks"] = checks
        record["curve"] = [[count, round(float(value), DIGITS)] for count, value in curve]
        records.append(record)
    return records


def cell(job):
    """Run a strategy once; return its records. An error is an outcome.

    Parameters
    ----------
    job : dict with "set", "draw", "answers", "method" (a strategy) and "folder" (of stored sets)
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return run(job)
    except Exception as error:
        return failures(KEY, keys(job), in_short(error))
