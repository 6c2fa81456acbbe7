"""SL, spectral learning: constraints replace affinities."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from linkwise._typing import Affinity, Integers, Matrix, OnConflict, OnUnknown, RandomState
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import additive_basis, spectral_basis
from linkwise.estimators.base import Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.kernel.imposition import impose


class SpectralLearning(SpectralClusterer):
    """Spectral learning, SL (Kamvar, Klein & Manning 2003).

    The affinity of a must-linked pair becomes 1, that of a cannot-linked pair 0; then spectral
    clustering. It is cheap, and constraints affect their own pairs only. Weights are refused.

    Parameters
    ----------
    n_clusters : int
    normalization : {"symmetric", "additive"}
        The usual D^-1/2 W D^-1/2, or Kamvar's (W + d_max I - D) / d_max. The results can differ
        a lot.
    affinity, n_neighbors, sigma, affinity_params : as in `CCSKL`
    n_init, on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    embedding_ : array (n_samples, n_clusters), unit rows
    affinity_matrix_ : array or csr_array (n_samples, n_samples), with the constraints in it
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "normalization": [StrOptions({"symmetric", "additive"})],
    }
    traits = Traits(weights=False, rows=10_000_000, device=True)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        normalization: Literal["symmetric", "additive"] = "symmetric",
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 20,
        sigma: float | str = "r",
        affinity_params: dict[str, Any] | None = None,
        n_init: int = 10,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.normalization = normalization
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        i, j, sign, _ = links.arrays()
        W = self.affinity_matrix_ = impose(self._graph_.W, i, j, sign)
        basis = spectral_basis if self.normalization == "symmetric" else additive_basis
        self._basis = basis(W, self.n_clusters, rng)
        return self._partition(rng, out=out)
