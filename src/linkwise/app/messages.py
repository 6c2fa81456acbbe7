"""What the server and its worker send each other."""

from typing import Any, NamedTuple


class Hand(NamedTuple):
    """What was done by hand, as row numbers.

    Attributes
    ----------
    must, cannot : int arrays (m, 2)
    merged, split : lists of lists of rows, those of each merge and of each split
    """

    must: Any
    cannot: Any
    merged: list
    split: list


class Job(NamedTuple):
    """What is to be worked out.

    Attributes
    ----------
    number : int
    answers : list of (a, b, same), rows, those that corrections mean among them
    plain : list of the answers without corrections
    hand : Hand
    k : int or None, free
    """

    number: int
    answers: list
    plain: list
    hand: Hand
    k: int | None


class Result(NamedTuple):
    """What came of a Job.

    Attributes
    ----------
    number : int, that of the job
    labels : int32 array (n,)
    questions : list of Question
    """

    number: int
    labels: Any
    questions: list


class Outlook(NamedTuple):
    """How far the answers have come, as of a job: changed, expected, enough, words."""

    number: int
    changed: float
    expected: float
    enough: bool
    words: str


class Suspects(NamedTuple):
    """Answers that are likely wrong, as of a job: a list of (a, b, sign, probability)."""

    number: int
    found: list


class Map(NamedTuple):
    """The points in two dimensions, float32 (n, 2), within -1..1."""

    xy: Any
