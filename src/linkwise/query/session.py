"""A session: which pair to ask next, and what the answers so far make of the labels."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_array

from linkwise.query.known import Known
from linkwise.query.model import fit
from linkwise.query.scene import Scene
from linkwise.query.state import State
from linkwise.query.strategies import STRATEGIES, any_open

LAST = 10  # answers whose effect is looked at
QUIET = 0.01  # share of the points, changed or in doubt, that is little
KEPT = 4  # models of earlier answers


class Progress(NamedTuple):
    """How far the answers have come.

    Attributes
    ----------
    answers : int, how many there are, "don't know" among them
    changed : float, share of the points whose label the last answers have changed
    expected : float, share of the points whose label is expected to be wrong still
    enough : bool, whether more answers would change little
    words : str, the same for a person
    """

    answers: int
    changed: float
    expected: float
    enough: bool
    words: str


def moved(old, new):
    """Return the share of points (n,) in another cluster, clusters matched as well as may be.

    >>> moved(np.array([0, 0, 1, 1]), np.array([5, 5, 2, 5]))
    0.25
    """
    names, a = np.unique(old, return_inverse=True)
    other, b = np.unique(new, return_inverse=True)
    table = np.zeros((len(names), len(other)), dtype=np.int64)
    np.add.at(table, (a, b), 1)
    return float(1 - table[linear_sum_assignment(table, maximize=True)].sum() / len(old))


class Session:
    """Ask about pairs of points, take answers, cluster.

    All depends on the points, the seed and the answers in their order alone: a session that is
    told the same answers again goes on in the same way, and an answer undone leaves no trace.

    Parameters
    ----------
    X : array or sparse matrix (n_samples, n_features)
    n_clusters : int or None
        None: found on the way.
    strategy : str or callable
        A name of ``STRATEGIES``, or a function (state, n) -> list of Question.
    random_state : int

    Attributes
    ----------
    scene : Scene, what is known of the points alone
    state : State, what strategies choose by: the scene, the answers, the model they make

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise.query import Session
    >>> X, y = load_iris(return_X_y=True)
    >>> session = Session(X, n_clusters=3)
    >>> for _ in range(30):
    ...     (question,) = session.ask()
    ...     session.tell(question.a, question.b, y[question.a] == y[question.b])
    >>> session.progress().answers
    30
    """

    def __init__(self, X, *, n_clusters=None, strategy="default", random_state=0):
        if not callable(strategy) and strategy not in STRATEGIES:
            raise ValueError(
                f"strategy={strategy!r}: expected one of {', '.join(STRATEGIES)}, or a function "
                "(state, n) -> list of Question"
            )
        X = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        if n_clusters is not None and not (
            isinstance(n_clusters, Integral)
            and not isinstance(n_clusters, bool)
            and 1 <= int(n_clusters) <= X.shape[0]
        ):
            raise ValueError(
                f"n_clusters={n_clusters!r}: expected None or a whole number in 1..{X.shape[0]}"
            )
        self.n, self.n_clusters, self.seed = X.shape[0], n_clusters, int(random_state)
        self.strategy = strategy if callable(strategy) else STRATEGIES[strategy]
        self.scene = Scene(X, seed=self.seed)
        self.replay(())

    def replay(self, answers):
        """Start again with the answers (a, b, same) of a list, in their order.

        An answer may have a weight, 1 or more, as its fourth: so many answers it counts.
        """
        answers = [self._checked(*answer) for answer in answers]
        self._known = Known(answers)
        self._memo: dict = {}
        self._models: dict = {}
        self._changed()

    def _changed(self):
        self.state = State(
            self.scene, self._known, self.n_clusters, seed=self.seed, memo=self._memo
        )

    def _checked(self, a, b, same, weight=1.0):
        for point in (a, b):
            if not isinstance(point, Integral) or not 0 <= int(point) < self.n:
                raise ValueError(f"{point!r} is no row of the data; expected 0..{self.n - 1}")
        if a == b:
            raise ValueError(f"row {a} was named twice; an answer is about two rows")
        if same is not None and same not in (True, False):
            raise ValueError(f"same={same!r}: expected True, False, or None for don't know")
        if not weight >= 1:
            raise ValueError(f"weight={weight!r}: expected a number, 1 or more")
        return int(a), int(b), None if same is None else bool(same), float(weight)

    @property
    def answers(self):
        """The answers (a, b, same) in their order, a < b."""
        return [(a, b, same) for (a, b), same in self._known.answers.items()]

    def ask(self, n=1):
        """Return at most n questions, distinct, the most telling first; none if all is known.

        Asked again before an answer has come, it returns the same.
        """
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n={n!r}: expected a whole number of questions, 1 or more")
        found = {(min(q[:2]), max(q[:2])): q for q in self.strategy(self.state, int(n))}
        return list(found.values()) or any_open(self.state, int(n))

    def tell(self, a, b, same, *, weight=1.0):
        """Take an answer about rows a and b: True, False, or None for "don't know".

        A weight above 1 is for what is surer than an answer: it counts so many, and of what
        cannot all hold the heavier does.
        """
        self._known.tell(*self._checked(a, b, same, weight))
        if weight > 1:
            self._memo = {}
        self._changed()

    def forget(self, a, b):
        """Undo the answer about rows a and b."""
        a, b, *_ = self._checked(a, b, None)
        if (min(a, b), max(a, b)) not in self._known.answers:
            raise ValueError(f"there is no answer about rows {a} and {b} to forget")
        self._known.forget(a, b)
        self._memo = {}
        self._changed()

    @property
    def labels(self):
        """The cluster of every point, int array (n_samples,)."""
        return self.state.model.labels

    def _before(self):
        """Return the labels before the last answers."""
        earlier = [(*answer, self._known.weight(answer[:2])) for answer in self.answers[:-LAST]]
        key = hash(tuple(earlier))
        if key not in self._models:
            while len(self._models) >= KEPT:
                del self._models[next(iter(self._models))]
            self._models[key] = fit(self.scene, Known(earlier), self.n_clusters).labels
        return self._models[key]

    def progress(self):
        """Return how far the answers have come, Progress."""
        count = len(self._known.answers)
        model = self.state.model
        changed = moved(self._before(), model.labels) if count else 0.0
        expected = float(1 - model.q.max(axis=1).mean())
        left = any_open(self.state, 1)
        enough = not left or (count > LAST and changed <= QUIET and expected <= QUIET)
        if not left:
            words = "Nothing is left to ask."
        elif not count:
            words = "No answers yet."
        else:
            words = (
                f"The last {min(LAST, count)} answers changed {changed:.1%} of the labels; "
                f"{expected:.1%} are still in doubt."
            ) + (" More answers would change little." if enough else "")
        return Progress(count, changed, expected, enough, words)
