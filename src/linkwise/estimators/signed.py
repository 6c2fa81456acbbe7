"""cSC, spectral clustering by a signed Laplacian of data and constraints."""

import warnings
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

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
from linkwise.arrays import door, to_host
from linkwise.blocks.rows import on_cluster
from linkwise.constraints import Constraints
from linkwise.embedding.signed import mix_constraints, two_way_labels
from linkwise.embedding.spectral import extend, spectral_basis
from linkwise.estimators.base import Traits, broken_links
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.exceptions import ConstraintWarning, ConvergenceWarning, warn
from linkwise.partition.k_means import by_appearance

BALANCES = (0.5, 0.3, 0.1)  # that "auto" tries; the data alone would be 1


class SignedSpectralClustering(SpectralClusterer):
    """Spectral clustering by a signed Laplacian of data and constraints, cSC (Wacquet et al. 2013).

    Must-links are added to the graph as edges of weight 1, cannot-links as edges of weight -1. It
    is good for few clusters. With many clusters and mostly cannot-links it does worse than no
    constraints, because the signed Laplacian joins points with cannot-links to the same third
    point; a warning says so.

    Parameters
    ----------
    n_clusters : int
    balance : "auto" or float in [0, 1]
        Weight of the data relative to the constraints: 1 is plain spectral clustering, 0 uses the
        constraints alone, and the paper's value is 0.5. "auto" tries 0.5, 0.3 and 0.1, and uses
        the largest of those that keep most constraints.
    scale_constraints : bool
        Give the constraints the mean weight of the graph's edges instead of 1.
    two_way : {"auto", "first", "second", "kmeans"}
        For two clusters: the eigenvector whose sign gives the labels. The paper's rule is
        "second"; "auto" uses the one that keeps more constraints; "kmeans" treats two clusters
        like any other number.
    affinity, n_neighbors, sigma, affinity_params : as in `CCSKL`
    n_init, on_conflict, on_unknown, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    balance_ : float, the balance used; 1 without constraints
    affinity_matrix_ : array or csr_array, the signed mixture of graph and constraints
    eigenvalues_ : array (n_clusters,), of the normalised signed Laplacian, smallest first
    embedding_ : array (n_samples, n_clusters), unit rows; eigenvectors for the sign rules
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "balance": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "scale_constraints": ["boolean"],
        "two_way": [StrOptions({"auto", "first", "second", "kmeans"})],
    }

    traits = Traits(rows=10_000_000, device=True)  # through anchors

    balance_: float
    eigenvalues_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        balance: float | Literal["auto"] = "auto",
        scale_constraints: bool = False,
        two_way: Literal["auto", "first", "second", "kmeans"] = "auto",
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
        self.balance = balance
        self.scale_constraints = scale_constraints
        self.two_way = two_way
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
        plain = not links or self.balance == 1
        if not plain and self.n_clusters > 10 and links.n_cannot > 4 * links.n_must:
            warn(
                f"{self.n_clusters} clusters and mostly cannot-links ({links.n_cannot} of "
                f"{links.n_pairs}): a signed Laplacian tends to do worse than no constraints "
                "here; try CCSKL or PropagatedSpectralClustering",
                ConstraintWarning,
            )
        if not plain:
            self.balance_ = self._best_balance(links, rng)
            return self._cut(links, rng, out)
        self.balance_ = 1.0
        self._use(self._graph_.W, rng)
        return self._partition(rng, out=out)

    def _best_balance(self, links: Constraints, rng: np.random.Generator) -> float:
        """Return the balance asked for, or the largest of those that keep most constraints."""
        if self.balance != "auto":
            return float(self.balance)
        best = (0, -1.0, 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is not used in the end
            for self.balance_ in BALANCES:
                labels = self._cut(links, np.random.default_rng(self._seed), None)
                broken = broken_links(links, labels)
                tried = int(labels.max()), float(links.weight[~broken].sum()), self.balance_
                best = max(best, tried)
                if tried == best and not broken.any():
                    break
        return best[2]

    def _use(self, W: Any, rng: np.random.Generator) -> None:
        """Store a graph and its smooth vectors."""
        self.affinity_matrix_ = W
        self._basis = spectral_basis(W, self.n_clusters, rng)
        self.eigenvalues_ = 1 - self._basis.values
        self._column: int | None = None

    def _cut(self, links: Constraints, rng: np.random.Generator, out: Integers | None) -> Integers:
        """Return the labels at the balance chosen."""
        W = self._graph_.W
        Q = links.matrix(W.shape[0])
        self._use(
            mix_constraints(W, Q, self.balance_, scale_constraints=self.scale_constraints), rng
        )
        if self.n_clusters != 2 or self.two_way == "kmeans":
            return self._partition(rng, out=out)
        return self._two_way(links)

    def _two_way(self, links: Constraints) -> Integers:
        if on_cluster(self._basis.vectors) is not None:
            raise ValueError(
                f"two_way={self.two_way!r} reads the eigenvectors of all rows, and X is on a Dask "
                'cluster: use two_way="kmeans"'
            )
        Z = np.asarray(to_host(self._basis.vectors))
        tools = door(self._basis.vectors)
        self.embedding_ = tools.asarray(Z, self._basis.vectors)

        def kept(labels: Array) -> float:
            return links.weight[~links.violated(labels)].sum()

        if self.two_way == "auto":
            labels, self._column = two_way_labels(Z, kept)
        else:
            self._column = 0 if self.two_way == "first" else 1
            labels = (Z[:, self._column] > 0).astype(np.int64)
        labels, names = by_appearance(labels)
        self._names = tuple(names.tolist())
        if len(self._names) == 1:
            warn(
                "only 1 of 2 clusters found: all entries of the eigenvector have one sign; try "
                'two_way="kmeans"',
                ConvergenceWarning,
            )
        return tools.asarray(labels, self._basis.vectors)

    def _warn_of_components(self) -> None:
        if self.balance_ > 0:  # a graph of constraints alone always has many parts
            super()._warn_of_components()

    def _assign(self, X: Matrix) -> Integers:
        if self._column is None:
            return super()._assign(X)
        P, degree = self._graph_.rows(X)
        balance = self.balance_ if self.balance == "auto" else float(self.balance)
        z = extend(self._basis, P, balance * degree)[:, self._column]
        side = (z > 0) == bool(self._names[0])  # that of the first name
        return door(z).cast(~side, "int64") * (len(self._names) - 1)
