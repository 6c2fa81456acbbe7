"""CCSR, a kernel learned on the smooth eigenvectors."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from linkwise._typing import (
    Affinity,
    Array,
    Floats,
    Integers,
    Matrix,
    OnConflict,
    OnUnknown,
    RandomState,
)
from linkwise.arrays import door
from linkwise.blocks.rows import ComputedRows, LazyRows, on_cluster
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import unit_rows
from linkwise.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.kernel.spectral_regularization import diagonal_errors, fit_matrix, matrix_root


class SpectralRegularization(SpectralClusterer):
    """Constrained clustering by spectral regularisation, CCSR (Li, Liu & Tang 2009), shrunk.

    Learns a positive semi-definite matrix of ``n_components`` x ``n_components`` numbers that
    recombines the smooth eigenvectors of a graph, and runs k-means on the result. It needs about
    100 constraints; with fewer, the shrinkage keeps it near plain spectral clustering.

    Without constraints it is plain spectral clustering: k-means on the unit rows of the first
    ``n_clusters`` eigenvectors.

    Parameters
    ----------
    n_clusters : int
    n_components : int
        Number m of eigenvectors. The cost grows with its fourth power.
    shrinkage : "auto" or float >= 0
        How strongly the matrix is pulled towards that of plain spectral clustering, in units of
        the total weight of the constraints. "auto" is the value that predicts left-out constraints
        best; 0 is the paper.
    diagonal : {"balanced", "paper"}
        Weight of the n terms that ask for unit self-similarity: in total as much as all pairs,
        or 1 each.
    affinity, n_neighbors, sigma, affinity_params : as in `CCSKL`
    n_init, on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    matrix_ : array (n_components, n_components), positive semi-definite; the kernel is
        n_samples times F matrix_ F^T
    shrinkage_ : float, the one used
    embedding_ : array (n_samples, n_components)
    affinity_matrix_ : array or csr_array (n_samples, n_samples)
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    The weight of a pair enters squared, as in `CCSKL`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "n_components": [AT_LEAST_ONE],
        "shrinkage": [StrOptions({"auto"}), NOT_NEGATIVE],
        "diagonal": [StrOptions({"paper", "balanced"})],
    }

    traits = Traits(rows=10_000_000, device=True)  # through anchors

    matrix_: Floats
    shrinkage_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int = 15,
        shrinkage: float | Literal["auto"] = "auto",
        diagonal: Literal["balanced", "paper"] = "balanced",
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
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.diagonal = diagonal
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        self._prepare_basis(X, rng, self.n_components)
        self._errors = diagonal_errors(self._first())

    def _first(self) -> Any:
        """Return the eigenvectors that the matrix recombines."""
        F, m = self._basis.vectors, self.n_components
        lazy = isinstance(F, ComputedRows) or on_cluster(F) is not None
        return LazyRows(F, lambda V: V[:, :m]) if lazy else F[:, :m]

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        self._root = None
        if links:
            self.matrix_, self.shrinkage_ = fit_matrix(
                self._first(), *links.arrays(),
                n_clusters=self.n_clusters, shrinkage=self.shrinkage, diagonal=self.diagonal,
                errors=self._errors, rng=rng,
            )  # fmt: skip
            root = matrix_root(self.matrix_) * X.shape[0] ** 0.5
            F = self._basis.vectors
            self._root = door(F).asarray(root, F, F.dtype)
        return self._partition(rng, out=out)

    def _embed(self, V: Array) -> Array:
        if self._root is None:
            return unit_rows(V[:, : self.n_clusters])
        return V[:, : self.n_components] @ self._root  # F M^1/2
