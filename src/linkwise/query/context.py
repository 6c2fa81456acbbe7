"""What a strategy sees, and what it gives back."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.query.known import Known
from linkwise.query.model import Model, fit
from linkwise.query.prepared_data import PreparedData


class Question(NamedTuple):
    """A pair to ask about.

    Attributes
    ----------
    a, b : int, row numbers
    reason : str, why this pair, a sentence for a person
    """

    a: int
    b: int
    reason: str


class Context:
    """What a strategy sees: the points, the answers, and the model that follows from both.

    Attributes
    ----------
    data : PreparedData, the points
    known : Known, the answers and what follows from them
    n_clusters : int, or None where it is not known
    memo : dict, where a strategy may keep something; it may be emptied at any time
    model : Model, the labels now, computed on first use
    """

    def __init__(
        self,
        data: PreparedData,
        known: Known,
        n_clusters: int | None = None,
        *,
        seed: int = 0,
        memo: dict[str, Any] | None = None,
    ) -> None:
        self.data, self.known, self.n_clusters = data, known, n_clusters
        self.seed = seed
        self.memo: dict[str, Any] = {} if memo is None else memo

    def rng(self) -> np.random.Generator:
        """Return a numpy Generator, the same for the same number of answers."""
        return np.random.default_rng([self.seed, self.known.n_answers])

    @cached_property
    def model(self) -> Model:
        return fit(self.data, self.known, self.n_clusters)
