"""Who answered, how reliable each person is, and how far people agree.

Two people share a pair if both answered it with "same" or "different"; of several answers of one
person the last counts. Only shared pairs say anything about people (`linkwise.evaluate.raters`).
The answers of people who share pairs are weighted by their reliability. Without a shared pair every
answer has weight 1.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.journal.events import Event

if TYPE_CHECKING:
    from linkwise.evaluate import Ratings

COLUMNS = (
    "who", "other", "answers", "shared", "agreed", "kappa", "right_same", "right_different",
)  # fmt: skip


class Person(NamedTuple):
    """A person who answered questions.

    Attributes
    ----------
    who : str
    answers : int, the questions answered with "same" or "different"
    shared : int, those that others answered as well
    right_same, right_different : float, the estimated share of right answers to pairs that are the
        same and to pairs that are different; .9 if nothing is shared
    """

    who: str
    answers: int
    shared: int
    right_same: float
    right_different: float


NEW = Person("", 0, 0, 0.9, 0.9)


class Answers(NamedTuple):
    """Answers as columns: which pair, who, what, and the numbers of their events."""

    item: Any  # int array (m,)
    person: Any  # int array (m,)
    sign: Any  # int array (m,)
    event: list[int]
    names: list[str]  # of the people


def _answers(events: Iterable[Event]) -> Answers:
    """Return the answers "same" and "different" that count, the last of each person and pair."""
    import numpy as np

    last: dict[tuple[frozenset[Any], str], Event] = {}
    for event in events:
        if event.kind == "answer" and event.body["same"] is not None:
            key = frozenset((event.body["a"], event.body["b"])), event.who
            last.pop(key, None)
            last[key] = event
    items = {pair: i for i, pair in enumerate(dict.fromkeys(pair for pair, _ in last))}
    people = {who: i for i, who in enumerate(dict.fromkeys(who for _, who in last))}
    item = np.array([items[pair] for pair, _ in last], dtype=np.intp)
    person = np.array([people[who] for _, who in last], dtype=np.intp)
    sign = np.array([1 if e.body["same"] else -1 for e in last.values()], dtype=np.intp)
    return Answers(item, person, sign, [e.seq for e in last.values()], list(people))


def _ratings(answers: Answers) -> "Ratings":
    from linkwise.evaluate import rate

    return rate(answers.item, answers.person, answers.sign)


def weights_of(events: Iterable[Event]) -> dict[int, float]:
    """Return {number of an answer: its weight} for answers whose weight is not 1."""
    events = [event for event in events if event.kind == "answer"]
    if len({event.who for event in events}) < 2:
        return {}
    from linkwise.evaluate import answer_weights

    answers = _answers(events)
    weight = answer_weights(_ratings(answers), answers.person, answers.sign).round(6).tolist()
    return {seq: w for seq, w in zip(answers.event, weight, strict=True) if w != 1}


def people_of(events: Iterable[Event]) -> list[Person]:
    """Return the people who answered, in the order of their first answers."""
    answers = _answers(events)
    ratings = _ratings(answers)
    return [
        Person(
            who, int((answers.person == i).sum()), int(ratings.shared[i]),
            float(ratings.right_same[i]), float(ratings.right_different[i]),
        )
        for i, who in enumerate(answers.names)
    ]  # fmt: skip


def one_more_answer(people: list[Person], who: str) -> list[Person]:
    """Return the people after an answer to a pair that nobody answered before.

    >>> one_more_answer([], "anna")
    [Person(who='anna', answers=1, shared=0, right_same=0.9, right_different=0.9)]
    """
    new = (
        people if any(person.who == who for person in people) else [*people, NEW._replace(who=who)]
    )
    return [one._replace(answers=one.answers + (one.who == who)) for one in new]


def agreement_table(events: Iterable[Event]) -> dict[str, list[Any]]:
    """Return the agreement between people as a table, a dict of COLUMNS.

    A row for each person, `other` empty, has the reliability; a row for each two people has how
    far they agree.
    """
    import numpy as np

    from linkwise.evaluate import agreement

    events = list(events)
    answers, people = _answers(events), people_of(events)
    rows: list[tuple[Any, ...]] = [
        (p.who, "", p.answers, p.shared, None, None, p.right_same, p.right_different)
        for p in people
    ]
    for i, one in enumerate(people):
        for j, other in enumerate(people[:i]):
            sides = [answers.person == z for z in (j, i)]
            _, a, b = np.intersect1d(*(answers.item[side] for side in sides), return_indices=True)
            found = agreement(answers.sign[sides[0]][a], answers.sign[sides[1]][b])
            agreed, kappa = (found.agreed, found.kappa) if found.shared else (None, None)
            rows.append((other.who, one.who, None, found.shared, agreed, kappa, None, None))
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    return dict(zip(COLUMNS, map(list, columns), strict=True))
