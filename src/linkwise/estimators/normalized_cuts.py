"""Normalised cuts, the unconstrained baseline."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from linkwise._typing import (
    Affinity,
    Array,
    Integers,
    Matrix,
    OnConflict,
    OnUnknown,
    RandomState,
)
from linkwise._wording import counted
from linkwise.arrays import door, namespace, to_host
from linkwise.blocks.rows import on_cluster
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import extend, spectral_basis, unit_rows
from linkwise.estimators.base import Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.exceptions import ConstraintWarning, warn
from linkwise.partition.discretisation import discretise, pivoted_qr


class NormalizedCuts(SpectralClusterer):
    """Normalised cuts (Shi & Malik 2000; Yu & Shi 2003): spectral clustering without constraints.

    The baseline for constrained methods. `fit` does not use constraints and warns if it gets
    any; ``violations_`` lists those that do not hold.

    Parameters
    ----------
    n_clusters : int
    assign : {"discretize", "kmeans", "qr"}
        How to turn eigenvectors into labels: by the rotation nearest to indicator vectors (Yu &
        Shi), by k-means on unit rows, or by pivoted QR.
    affinity, n_neighbors, sigma, affinity_params : as in `CCSKL`
    n_init, on_conflict, on_unknown, random_state : as in `CCSKL`
        "discretize" also makes n_init starts.

    Attributes
    ----------
    labels_ : int array (n_samples,)
    embedding_ : array (n_samples, n_clusters), unit rows
    affinity_matrix_ : array or csr_array (n_samples, n_samples)
    violations_ : list of Pair
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "assign": [StrOptions({"discretize", "kmeans", "qr"})],
    }
    traits = Traits(constrained=False, rows=10_000_000, device=True)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        assign: Literal["discretize", "kmeans", "qr"] = "discretize",
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
        self.assign = assign
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        super()._prepare(X, rng)
        W = self.affinity_matrix_ = self._graph_.W
        self._basis = spectral_basis(W, self.n_clusters, rng, order=self._graph_.order)

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        if links:
            warn(
                f"NormalizedCuts does not use the {counted(links.n_pairs, 'constraint')} given; "
                "violations_ lists those that do not hold",
                ConstraintWarning,
            )
        self._rotation: Array | None = None
        if self.assign == "kmeans":
            return self._partition(rng, out=out)
        if on_cluster(self._basis.vectors) is not None:
            raise ValueError(
                f"assign={self.assign!r} reads the eigenvectors of all rows, and X is on a Dask "
                'cluster: use assign="kmeans"'
            )
        tools, V = door(self._basis.vectors), np.asarray(to_host(self._basis.vectors))
        Z = unit_rows(V)
        self.embedding_ = tools.asarray(Z, self._basis.vectors)
        self._warn_of_components()
        if self.assign == "qr":  # k columns: on the CPU
            labels, R = pivoted_qr(V)
        else:
            labels, R = discretise(Z, n_init=self.n_init, rng=rng)
        if R.shape[1] == self.n_clusters:
            self._rotation = tools.asarray(R, self._basis.vectors)
            return tools.asarray(labels, self._basis.vectors)
        warn(
            f'assign="{self.assign}" left {self.n_clusters - R.shape[1]} of '
            f"{self.n_clusters} clusters empty; k-means was used instead",
            ConstraintWarning,
        )
        return self._partition(rng, out=out)

    def _assign(self, X: Matrix) -> Integers:
        if self._rotation is None:
            return super()._assign(X)
        Z = unit_rows(extend(self._basis, *self._graph_.rows(X))) @ self._rotation
        xp = namespace(Z)
        return xp.argmax(xp.abs(Z) if self.assign == "qr" else Z, axis=1)
