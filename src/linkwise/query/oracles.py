"""Who answers: a table of labels, a person, or any function of two rows.

An oracle is a function of a list of pairs (a, b) that returns a list of answers, each True, False
or None for "don't know". `run` lets an oracle answer the questions of a session.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.query.session import Session


class OutOfBudget(Exception):
    """An oracle was asked more than its budget allows."""


class Oracle:
    """Answers from a function, as many as the budget allows, some of them wrong.

    Parameters
    ----------
    function : callable (a, b) -> True, False or None
        None: it does not know.
    budget : int or None, questions that may be asked
    error : float in [0, 1], share of the answers that are inverted
    unsure : float in [0, 1], share of the questions to which it says that it does not know
    random_state : int
        Whether an answer about a pair is wrong or "don't know" depends on this and the pair alone.
    batch : bool
        Whether the function takes a list of pairs and returns a list of answers.

    Attributes
    ----------
    asked : int
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        budget: int | None = None,
        error: float = 0.0,
        unsure: float = 0.0,
        random_state: int = 0,
        batch: bool = False,
    ) -> None:
        for name, share in (("error", error), ("unsure", unsure)):
            if not 0 <= share <= 1:
                raise ValueError(f"{name}={share!r}: expected a share in 0..1")
        if budget is not None and budget < 0:
            raise ValueError(f"budget={budget!r}: expected None or a number of questions")
        self.function, self.budget = function, budget
        self.error, self.unsure = error, unsure
        self.random_state, self.batch, self.asked = random_state, batch, 0

    @property
    def left(self) -> float:
        """How many questions may still be asked, infinity without a budget."""
        return float("inf") if self.budget is None else self.budget - self.asked

    def _said(self, a: int, b: int, same: bool | None) -> bool | None:
        """Return what it says if it knows that a and b are the same, different or not known."""
        if same is None or self.error == self.unsure == 0:
            return same
        rng = np.random.default_rng([self.random_state, min(a, b), max(a, b)])
        wrong, silent = rng.random(2) < (self.error, self.unsure)
        return None if silent else same != bool(wrong)

    def __call__(self, pairs: Sequence[Sequence[int]]) -> list[bool | None]:
        """Return one answer for every pair (a, b)."""
        ends = [(int(a), int(b)) for a, b in pairs]
        if len(ends) > self.left:
            raise OutOfBudget(f"{len(ends)} questions, but only {self.left} may be asked")
        self.asked += len(ends)
        found = self.function(ends) if self.batch else [self.function(a, b) for a, b in ends]
        if len(found) != len(ends):
            raise ValueError(f"the oracle gave {len(found)} answers to {len(ends)} questions")
        for (a, b), same in zip(ends, found, strict=True):
            if same is not None and same not in (True, False):  # a text, say, would be true
                raise ValueError(
                    f"the oracle answered {same!r} about rows {a} and {b}; expected True, False, "
                    "or None for don't know"
                )
        return [
            self._said(a, b, None if same is None else bool(same))
            for (a, b), same in zip(ends, found, strict=True)
        ]


def label_oracle(y: Any, **options: Any) -> Oracle:
    """Return an Oracle that knows the labels y (n,); -1, NaN or None: it does not know."""
    y = np.asarray(y)

    def unknown(label: Any) -> bool:
        return label in (-1, None) or label != label  # NaN alone differs from itself

    def same(a: int, b: int) -> bool | None:
        if max(a, b) >= len(y):
            raise ValueError(f"y has {len(y)} labels, none for row {max(a, b)}; pass one for each")
        if unknown(y[a]) or unknown(y[b]):
            return None
        return bool(y[a] == y[b])

    return Oracle(same, **options)


def person(ask: Callable[[int, int], Any], **options: Any) -> Oracle:
    """Return an Oracle that asks a person about each pair.

    Parameters
    ----------
    ask : callable (a, b) -> text; "s" or "same", "d" or "different", all else is "don't know"
    """
    words = {"s": True, "same": True, "d": False, "different": False}
    return Oracle(lambda a, b: words.get(str(ask(a, b)).strip().lower()), **options)


def run(session: Session, oracle: Oracle, *, batch: int = 1, until_enough: bool = False) -> Session:
    """Ask and answer until nothing is left to ask or the budget is spent; return the session.

    Parameters
    ----------
    session : Session
    oracle : Oracle
    batch : int, questions at a time
    until_enough : bool, whether to stop when the session says that more would change little
    """
    while oracle.left > 0:
        questions = session.ask(int(min(batch, oracle.left)))
        if not questions or (until_enough and session.progress().enough):
            break
        answers = oracle([question[:2] for question in questions])
        for question, same in zip(questions, answers, strict=True):
            session.tell(question.a, question.b, same)
    return session
