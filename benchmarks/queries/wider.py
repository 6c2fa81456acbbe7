"""Questions about several rows beside questions about pairs, for one person.

The classes answer, in turn, the questions of `Session.ask` (pairs) and of `Session.ask_widely` (a
pair, a label or a set, whichever is expected to tell most for the time it takes). Printed is the
adjusted Rand index of the session's labels with the classes after so many acts, an act being the
answer to one question of any kind, and the time that the acts take, in pairs. All answers are
right, or one in ten is wrong: of a set, one in ten rows is put on the wrong side.
"""

import warnings

import numpy as np

from benchmarks.runs.output import say
from benchmarks.runs.points import read_set
from linkwise.evaluate import adjusted_rand_index
from linkwise.query import LabelQuestion, Session, SetQuestion

AFTER = (0, 7, 20, 45)  # acts
WRONG = {"all right": 0.0, "one in ten wrong": 0.1}
ASKING = {
    "pairs": lambda session: next(iter(session.ask()), None),
    "several": lambda session: session.ask_widely(),
}


class Expert:
    """Somebody who knows the classes y, and errs at a rate."""

    def __init__(self, y, wrong, seed):
        self.y, self.wrong, self.rng = y, wrong, np.random.default_rng(seed)

    def errs(self):
        return self.rng.random() < self.wrong

    def same(self, a, b):
        return bool((self.y[a] == self.y[b]) != self.errs())

    def anchor(self, row, anchors):
        """Return the anchor that a row is like, or None."""
        own = [anchor for anchor in anchors if self.y[anchor] == self.y[row]]
        if self.errs():
            others = [None, *(anchor for anchor in anchors if anchor not in own)]
            return others[self.rng.integers(len(others))]
        return own[0] if own else None

    def answer(self, session, question):
        """Answer a question of any kind; return the time it takes, in pairs."""
        if isinstance(question, LabelQuestion):
            row, anchors = question.row, question.anchors
            session.tell_label(row, anchors, self.anchor(row, anchors))
            return question.time
        if isinstance(question, SetQuestion):
            first, *others = question.rows
            session.tell_set(question.rows, [row for row in others if not self.same(row, first)])
            return question.time
        session.tell(question.a, question.b, self.same(question.a, question.b))
        return 1.0


def curve(session, ask, expert, y):
    """Return [(agreement, time)] after each number of acts in AFTER."""
    acts, time, found = 0, 0.0, []
    for count in AFTER:
        while acts < count and (question := ask(session)) is not None:
            time += expert.answer(session, question)
            acts += 1
        found.append((adjusted_rand_index(y, session.labels), time))
    return np.array(found)


def show(name, said, curves):
    """Print the curves of a set, {kind of question: (draws, AFTER, 2)}."""
    for kind, found in curves.items():
        agreement, time = found.mean(axis=0).T
        figures = "  ".join(f"{a:.3f} ({t:3.0f})" for a, t in zip(agreement, time, strict=True))
        say(f"{name:12} {said:16} {kind:8} {figures}")


def run(*, data, sets, draws):
    """Measure both ways to ask, and print the figures.

    Parameters
    ----------
    data : folder with sets as NAME.npz, or None for those of scikit-learn
    sets : list of names
    draws : int, runs of each
    """
    say(f"agreement (time in pairs) after {', '.join(map(str, AFTER))} acts")
    every: dict = {}
    for name in sets:
        X, y = read_set(name, data)
        y = np.unique(y, return_inverse=True)[1]
        for said, wrong in WRONG.items():
            curves = {}
            for kind, ask in ASKING.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    curves[kind] = np.array([
                        curve(
                            Session(X, n_clusters=int(y.max()) + 1, random_state=seed),
                            ask, Expert(y, wrong, seed), y,
                        )
                        for seed in range(draws)
                    ])  # fmt: skip
                every.setdefault((said, kind), []).append(curves[kind].mean(axis=0))
            show(name, said, curves)
    for said in WRONG:
        show("all", said, {kind: np.array(every[said, kind]) for kind in ASKING})
