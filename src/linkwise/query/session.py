"""A session: which pair to ask next, and the labels that follow from the answers so far."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_array

from linkwise._wording import MARKS
from linkwise.constraints import Constraints
from linkwise.constraints.cluster_numbers import NClusters, checked_n_clusters
from linkwise.query.doubt import expected_error, share_contradicted
from linkwise.query.examples import EXAMPLES, Examples, examples
from linkwise.query.known import Known
from linkwise.query.model import Context, Question, fit
from linkwise.query.prepared_data import PreparedData, key_of, teaching
from linkwise.query.strategies import STRATEGIES, any_open
from linkwise.query.wider_questions import (
    LabelQuestion,
    SetQuestion,
    set_pairs,
    wider_question,
)

LAST = 10  # answers whose effect is measured: about a minute of work
QUIET = 0.01  # share of the points changed by the last answers below which more change little
ENOUGH = 0.02  # expected share of wrong labels below which more answers change little


class Progress(NamedTuple):
    """How far the answers have come.

    Attributes
    ----------
    answers : int, how many there are, "don't know" among them
    changed : float, share of the points whose label the last 10 of them changed
    expected : float, share of the points whose label is expected to be still wrong; calibrated
        over data sets (`linkwise.query.doubt`)
    enough : bool, whether more answers would change little
    left : bool, whether there is a pair left to ask about
    """

    answers: int
    changed: float
    expected: float
    enough: bool
    left: bool


def moved(old: np.ndarray, new: np.ndarray) -> float:
    """Return the share of points (n,) in another cluster, clusters matched as well as possible.

    >>> moved(np.array([0, 0, 1, 1]), np.array([5, 5, 2, 5]))
    0.25
    """
    names, a = np.unique(old, return_inverse=True)
    other, b = np.unique(new, return_inverse=True)
    table = np.zeros((len(names), len(other)), dtype=np.int64)
    np.add.at(table, (a, b), 1)
    return float(1 - table[linear_sum_assignment(table, maximize=True)].sum() / len(old))


def share_in_doubt(context: Context) -> float:
    """Return the expected share of wrong labels, strays left out."""
    model, data, known = context.model, context.data, context.known
    rows = np.setdiff1d(data.core, known.strays)
    q = model.q[np.searchsorted(model.rows, rows)]
    links = teaching(known.links)
    u = share_contradicted(links, data.without_answers(context.n_clusters))
    unsure = float((1 - q.max(axis=1)).sum() / max(len(rows), 1))
    return expected_error(unsure, u, links.n_pairs, model.k)


Followed = tuple[Constraints, list[tuple[int, int]], dict[int, str]]


def _columns(links: Constraints) -> tuple[np.ndarray, ...]:
    return links.ends, links.sign, links.weight, links.source


class Session:
    """Ask about pairs of points, take answers, cluster.

    Everything depends on the points, the seed and the answers in their order alone: a session that
    gets the same answers again goes on in the same way, and an answer undone leaves no trace.

    Parameters
    ----------
    X : array or sparse matrix (n_samples, n_features)
    n_clusters : int, (least, most) or None
        A range, or None for any number: found on the way.
    strategy : str or callable
        A name of ``STRATEGIES``, or a function (context, n) -> list of Question.
    random_state : int

    Attributes
    ----------
    data : PreparedData, what is computed from the points alone
    context : Context, what strategies choose by: the data, the answers and their model

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

    def __init__(
        self,
        X: Any,
        *,
        n_clusters: NClusters = None,
        strategy: str | Callable[[Context, int], list[Question]] = "default",
        random_state: int = 0,
    ) -> None:
        if not callable(strategy) and strategy not in STRATEGIES:
            raise ValueError(
                f"strategy={strategy!r}: expected one of {', '.join(STRATEGIES)}, or a function "
                "(context, n) -> list of Question"
            )
        X = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        self.n, self.seed = X.shape[0], int(random_state)
        self.n_clusters = checked_n_clusters(n_clusters, X.shape[0])
        self.strategy = strategy if callable(strategy) else STRATEGIES[strategy]
        self.data = PreparedData(X, seed=self.seed, n_clusters=self.n_clusters)
        self._followed: Followed | None = None
        self._cores: dict[Any, np.ndarray] = {}  # what `_core` returned last
        self.follow(Constraints())

    @property
    def links(self) -> Constraints:
        """The answers other than "don't know", Constraints by row in their order."""
        return self._known.links

    @property
    def unsure(self) -> list[tuple[int, int]]:
        """The pairs of rows (a, b), a < b, to which "don't know" was answered."""
        return list(self._known.unsure)

    @property
    def marks(self) -> dict[int, str]:
        """The rows that are "unclear", or "stray": they belong to no cluster."""
        return dict(self._known.marks)

    def follow(
        self,
        links: Constraints,
        unsure: Iterable[tuple[int, int]] = (),
        marks: dict[int, str] | None = None,
    ) -> None:
        """Replace all answers. Those that come after the ones followed last are added quickly.

        Parameters
        ----------
        links : Constraints by row number. Their weights count as so many answers, weight 0 says
            nothing; when links conflict, the heavier wins
        unsure : pairs (a, b) of rows to which "don't know" was answered
        marks : dict {row: "unclear" or "stray"}
        """
        links = links.resolve(n=self.n).active()
        marked = dict(self._checked_mark(*one) for one in (marks or {}).items())
        unsure = [(a, b) for a, b in unsure]
        more = self._more(links, unsure, marked)
        if more is None:
            pairs = [self._checked(a, b, None)[:2] for a, b in unsure]
            self._known = Known(links, pairs, marked)
        else:
            for answer in more:
                self._known.add(*answer)
            self._known.links = links  # with their sources
        self._memo: dict[str, Any] = {}
        self._changed((links, unsure, marked))

    def _more(
        self, links: Constraints, unsure: list[tuple[int, int]], marks: dict[int, str]
    ) -> list[tuple[int, int, bool | None, float]] | None:
        """Return the answers after those that were followed last; None if those have changed."""
        if self._followed is None:
            return None
        before, old_unsure, old_marks = self._followed
        m, u = before.n_pairs, len(old_unsure)
        columns = ((a[:m], b) for a, b in zip(_columns(links), _columns(before), strict=True))
        same = all(np.array_equal(*both) for both in columns)
        if not same or marks != old_marks or unsure[:u] != old_unsure:
            return None
        told = links.select(np.arange(m, links.n_pairs))
        return [(a, b, sign > 0, weight) for a, b, sign, weight in told] + [
            self._checked(a, b, None) for a, b in unsure[u:]
        ]

    def _changed(self, followed: Followed | None = None) -> None:
        self._followed = followed
        self.context = Context(
            self.data, self._known, self.n_clusters, seed=self.seed, memo=self._memo
        )

    def _checked_row(self, row: int) -> int:
        if not isinstance(row, Integral) or not 0 <= int(row) < self.n:
            raise ValueError(f"{row!r} is no row of the data; expected 0..{self.n - 1}")
        return int(row)

    def _checked_mark(self, row: int, mark: str) -> tuple[int, str]:
        if mark not in MARKS:
            raise ValueError(f"mark={mark!r}: expected one of {', '.join(MARKS)}")
        return self._checked_row(row), mark

    def _checked(
        self, a: int, b: int, same: bool | None, weight: float = 1.0
    ) -> tuple[int, int, bool | None, float]:
        a, b = self._checked_row(a), self._checked_row(b)
        if a == b:
            raise ValueError(f"row {a} was named twice; an answer is about two rows")
        if same is not None and same not in (True, False):
            raise ValueError(f"same={same!r}: expected True, False, or None for don't know")
        if not (weight >= 0 and np.isfinite(weight)):
            raise ValueError(f"weight={weight!r}: expected a finite number >= 0")
        return a, b, None if same is None else bool(same), float(weight)

    def ask(self, n: int = 1) -> list[Question]:
        """Return at most n distinct questions, the most informative first; none if all is known.

        Asked again before an answer has come, it returns the same.
        """
        if not isinstance(n, Integral) or n < 1:
            raise ValueError(f"n={n!r}: expected a whole number of questions, 1 or more")
        found = {(min(q[:2]), max(q[:2])): q for q in self.strategy(self.context, int(n))}
        return list(found.values()) or any_open(self.context, int(n))

    def ask_widely(self) -> Question | LabelQuestion | SetQuestion | None:
        """Return the question that tells most for the time it takes: a pair, a label or a set.

        Answer a LabelQuestion by `tell_label`, and a SetQuestion by `tell_set`.
        """
        pairs = self.ask()
        if not pairs:
            return None
        return wider_question(self.context, pairs[0]) or pairs[0]

    def tell_label(self, row: int, anchors: Iterable[int], chosen: int | None) -> None:
        """Take the answer to a LabelQuestion: the anchor that the row is like, or None of them."""
        anchors = [self._checked(row, anchor, None)[1] for anchor in anchors]
        if chosen is not None and chosen not in anchors:
            raise ValueError(f"chosen={chosen!r}: expected one of the anchors {anchors}, or None")
        for anchor in anchors if chosen is None else [chosen]:
            self.tell(row, anchor, chosen is not None)

    def tell_set(self, rows: Iterable[int], out: Iterable[int]) -> None:
        """Take the answer to a SetQuestion: the rows that do not belong to the others."""
        rows, out = ([self._checked_row(row) for row in some] for some in (rows, out))
        strange = [row for row in out if row not in rows]
        if strange or len(set(rows)) < len(rows) or len(out) >= len(rows):
            raise ValueError(
                f"out={out}: expected some of the distinct rows {rows}, at least one of them left"
            )
        for a, b, same in set_pairs(rows, out):
            self.tell(a, b, same)

    def tell(self, a: int, b: int, same: bool | None, *, weight: float = 1.0) -> None:
        """Take an answer about rows a and b: True, False, or None for "don't know".

        It replaces an earlier answer about the same pair. A weight counts as so many answers, and
        0 says nothing; when answers conflict, the heavier wins.
        """
        answer = self._checked(a, b, same, weight)
        if weight != 1 or self._known.has(a, b):  # then it is not simply the next answer
            self._memo = {}
        self._known.tell(*answer)
        self._changed()

    def mark(self, row: int, mark: str | None) -> None:
        """Take an answer about one row: "unclear", "stray", or None to remove its mark.

        A marked row is not asked about any more. A stray belongs to no cluster: its label is -1.
        Answers about pairs with it still count.
        """
        if mark is None:
            self._known.marks.pop(self._checked_row(row), None)
        else:
            self._known.marks.update([self._checked_mark(row, mark)])
        self._memo = {}
        self._changed()

    def forget(self, a: int, b: int) -> None:
        """Undo the answer about rows a and b."""
        a, b, *_ = self._checked(a, b, None)
        if not self._known.has(a, b):
            raise ValueError(f"there is no answer about rows {a} and {b} to forget")
        self._known.forget(a, b)
        self._memo = {}
        self._changed()

    @property
    def labels(self) -> np.ndarray:
        """The cluster of every point, int array (n_samples,); -1 for strays."""
        found = self.context.clustering.labels.copy()
        found[self._known.strays] = -1
        return found

    def examples(self, n: int = EXAMPLES) -> dict[int, Examples]:
        """Return typical and borderline rows of every cluster, {label: Examples}.

        Typical rows lie in the middle of a cluster, borderline rows near another one.
        """
        return examples(self.data.features, self.labels, n)

    def _changed_by_last(self) -> float:
        """Return the share of the core whose cluster the last answers changed, by the Model."""
        taught = np.flatnonzero(self.links.source != "hand")
        if not len(taught):
            return 0.0
        earlier = self.links.select(np.setdiff1d(np.arange(self.links.n_pairs), taught[-LAST:]))
        return moved(self._core(earlier), self._core(self.links))

    def _core(self, links: Constraints) -> np.ndarray:
        """Return the clusters of the core by the Model of some answers, (c,)."""
        key = key_of(links, self.n_clusters)
        if key not in self._cores:
            now = links is self.links
            model = self.context.model if now else fit(self.data, Known(links), self.n_clusters)
            while len(self._cores) > 2 * LAST:
                del self._cores[next(iter(self._cores))]
            q = model.q[np.searchsorted(model.rows, self.data.core)]
            self._cores[key] = q.argmax(axis=1)
        return self._cores[key]

    def progress(self) -> Progress:
        """Return how far the answers have come."""
        count = self._known.n_answers
        changed = self._changed_by_last()
        expected = share_in_doubt(self.context)
        left = bool(any_open(self.context, 1))
        enough = not left or (count > LAST and changed <= QUIET and expected <= ENOUGH)
        return Progress(count, changed, expected, enough, left)
