"""What a strategy sees, and what it gives back."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwise.query.model import fit


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


class State:
    """What a strategy sees: the points, the answers, and what they make of the labels.

    Attributes
    ----------
    scene : Scene, the points
    known : Known, the answers and what follows
    n_clusters : int, or None where it is not known
    memo : dict, what a strategy wants to keep; it may be empty at any time
    model : Model, the labels now, made when first asked for
    """

    def __init__(self, scene, known, n_clusters=None, *, seed=0, memo=None):
        self.scene, self.known, self.n_clusters = scene, known, n_clusters
        self.seed = seed
        self.memo = {} if memo is None else memo

    def rng(self):
        """Return a numpy Generator, the same for as many answers."""
        return np.random.default_rng([self.seed, len(self.known.answers)])

    @cached_property
    def model(self):
        return fit(self.scene, self.known, self.n_clusters)
