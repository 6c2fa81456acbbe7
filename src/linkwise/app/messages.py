"""The messages between the server and its worker."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwise.labelling.cluster_model import Suspected, Task
from linkwise.query import LabelQuestion, Progress, Question, SetQuestion


class Job(NamedTuple):
    """What is to be computed: a Task, and the number of the job."""

    number: int
    task: Task


class Result(NamedTuple):
    """The clusters of a job, int32 (n,), the next questions, and whether the clusters are exact.

    If they are not, Refined follows. ``wider`` is a question that tells more than the first pair.
    ``runners_up`` are other numbers of clusters with their scores, the best first.
    """

    number: int
    labels: Any
    questions: list[Question]
    exact: bool = True
    wider: LabelQuestion | SetQuestion | None = None
    runners_up: Sequence[tuple[int, float]] = ()


class Refined(NamedTuple):
    """The exact clusters of a job, int32 (n,): those that `fit` and `export` give."""

    number: int
    labels: Any
    runners_up: Sequence[tuple[int, float]] = ()


class Outlook(NamedTuple):
    """How far the answers of a job have come."""

    number: int
    progress: Progress


class Suspects(NamedTuple):
    """The answers of a job that are likely wrong."""

    number: int
    found: Suspected


class Map(NamedTuple):
    """The points in two dimensions, float32 (n, 2), within -1..1; whether a better map follows."""

    xy: Any
    follows: bool = False
