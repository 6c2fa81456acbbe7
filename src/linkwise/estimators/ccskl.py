"""CCSKL."""

from typing import Any, ClassVar, Literal, TypeAlias

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
from linkwise.blocks.rows import take_rows
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import unit_rows
from linkwise.estimators.base import AT_LEAST_ONE, Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.kernel.spectral_kernel import diagonal_terms, fit_spectrum
from linkwise.partition.k_means import best_starts, nearest_centre, sample_size

View: TypeAlias = Literal["weighted", "unit", "plain"]  # of the eigenvectors
VIEWS: tuple[View, ...] = ("weighted", "unit", "plain")


class CCSKL(SpectralClusterer):
    r"""Constrained clustering by spectral kernel learning (Li & Liu 2009).

    Learns a weight for each smooth eigenvector of a neighbour graph, by an exact quadratic program
    with ``n_components`` unknowns, and runs k-means on the weighted eigenvectors. It is fast and
    sparse: most of the time goes into the neighbour graph. It learns few numbers, so it follows
    the shape of the data and may break constraints; ``violations_`` lists them.

    Without constraints it is plain spectral clustering: k-means on the unit rows of the first
    ``n_clusters`` eigenvectors.

    Parameters
    ----------
    n_clusters : int
    n_components : int
        Number m of eigenvectors (at most n_samples).
    affinity : {"nearest_neighbors", "anchors", "rbf", "precomputed", "heat", \
            "regularized_laplacian", "random_walk"}
        Weights on a neighbour graph (sparse); a graph through anchors, for millions of points
        and for points in a file; a dense Gaussian; X itself; or a spectral kernel of the
        neighbour graph. All but the first two and a sparse X are dense: n_samples^2 memory.
    n_neighbors : int
        Number of neighbours in the graph; with fewer points, all others are neighbours.
    sigma : float, "r", a multiple such as "0.5r", or "local"
        Width of the Gaussian weights. r is the mean distance to the n_neighbors-th neighbour
        (for "rbf" the median distance to the 7th, for "anchors" the mean distance to the
        n_nearest-th anchor); "local" is local scaling.
    diagonal : {"balanced", "paper"}
        Weight of the n terms that ask for unit self-similarity: in total as much as all pairs,
        or 1 each as in the paper, where they outweigh the pairs if n is large.
    normalize_rows : bool or "auto"
        Scale the rows of the weighted eigenvectors to unit length before k-means. False is the
        paper. "auto" tries both, and plain spectral clustering, and uses the one whose partition
        keeps most constraints (by weight).
    affinity_params : dict or None
        Options of the affinity. "nearest_neighbors": {"search": "auto", "metric": "euclidean"},
        search "exact", "approximate" or "auto" (approximate for many points), metric "euclidean"
        or "cosine". "anchors": {"n_anchors": 1000, "n_nearest": 3}, at most one anchor for
        five points. "heat": {"t": 20},
        "regularized_laplacian": {"t": 3}, "random_walk": {"a": 2, "p": 20}.
    n_init : int
        Number of k-means starts; the one with the smallest inertia is kept.
    on_conflict : {"raise", "drop", "keep"}
        What to do when must-links and cannot-links contradict each other: raise
        InfeasibleConstraints, drop the cannot-links concerned with a warning, or use all.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    spectrum_ : array (n_components,)
        Learned eigenvalues of the kernel, non-increasing, >= 0. Without constraints 1 for the
        first n_clusters and 0 for the rest.
    embedding_ : array (n_samples, n_components)
        The rows that k-means clustered; (n_samples, n_clusters) if ``view_`` is "plain". On an
        anchor graph they are computed when they are read; ``np.asarray`` computes all.
    view_ : "weighted", "unit" or "plain"
        The rows that were used: the weighted eigenvectors, the same with unit rows, or plain
        spectral clustering.
    affinity_matrix_ : array, csr_array or AnchoredMatrix (n_samples, n_samples)
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    The weight of a pair enters squared (Eq. 12 of the paper): a pair of weight 2 counts like four
    pairs. A pair that is listed twice counts like one of weight sqrt(2).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from linkwise import CCSKL, Constraints
    >>> X, y = make_moons(200, random_state=0)
    >>> links = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> CCSKL(2, random_state=0).fit(X, constraints=links).spectrum_.shape
    (20,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SpectralClusterer._parameter_constraints,
        "n_components": [AT_LEAST_ONE],
        "diagonal": [StrOptions({"balanced", "paper"})],
        "normalize_rows": ["boolean", StrOptions({"auto"})],
    }

    traits = Traits(rows=100_000_000)  # through anchors

    spectrum_: Floats
    view_: View

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int = 20,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 20,
        sigma: float | str = "r",
        diagonal: Literal["balanced", "paper"] = "balanced",
        normalize_rows: bool | Literal["auto"] = "auto",
        affinity_params: dict[str, Any] | None = None,
        n_init: int = 10,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.diagonal = diagonal
        self.normalize_rows = normalize_rows
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        self._prepare_basis(X, rng, self.n_components)
        self._terms, self._plain_centres = diagonal_terms(self._basis.vectors), None

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        if not links:
            m = self._basis.vectors.shape[1]
            self.spectrum_ = (np.arange(m) < self.n_clusters).astype(np.float64)
            self.view_ = "plain"
            return self._partition(rng, out=out)
        self.spectrum_ = fit_spectrum(
            self._basis.vectors, *links.arrays(), diagonal=self.diagonal,
            n_components=self.n_components, terms=self._terms,
        )  # fmt: skip
        start = None
        if self.normalize_rows == "auto":
            self.view_, start = self._best_view(links, rng)
        else:
            self.view_ = "unit" if self.normalize_rows else "weighted"
        return self._partition(rng, start=start, out=out)

    def _best_view(self, links: Constraints, rng: np.random.Generator) -> tuple[View, Array]:
        """Return the view of the eigenvectors whose partition keeps most constraints.

        A sample of the points is partitioned and judged on the linked points. The centres are
        returned as well. Those of the plain view do not depend on the constraints and are kept
        for the next fit.
        """
        F, k = self._basis.vectors, self.n_clusters
        sample, linked = take_rows(F, self._sample(sample_size(k))), take_rows(F, links.ids)
        views = VIEWS if self._plain_centres is None else VIEWS[:-1]
        samples = [self._view(sample, view) for view in views]
        seed = int(rng.integers(2**31 - 1))
        starts = best_starts(samples, k, n_init=self.n_init, seed=seed)
        if self._plain_centres is None:
            self._plain_centres = starts.pop()
        starts.append(self._plain_centres)
        kept, found = [], []
        for view, centres in zip(VIEWS, starts, strict=True):
            a, b = nearest_centre(self._view(linked, view), centres)[links.pairs].T
            kept.append(links.weight * ((a == b) == (links.sign > 0)))
            found.append(len(np.unique(nearest_centre(self._view(sample, view), centres))))
        best = most_kept(np.array(kept), np.array(found))
        return VIEWS[best], starts[best]

    def _view(self, V: Array, view: View) -> Array:
        if view == "plain":
            return unit_rows(V[:, : self.n_clusters])
        b = self.spectrum_
        Z = V[:, : len(b)] * np.sqrt(b).astype(V.dtype)  # F diag(b)^1/2, step 5 of Algorithm 1
        return unit_rows(Z) if view == "unit" else Z

    def _embed(self, V: Array) -> Array:
        return self._view(V, self.view_)


def most_kept(kept: Array, found: Array) -> int:
    """Return the number of the view to take; the last is plain spectral clustering.

    Parameters
    ----------
    kept : array (views, pairs), the weight of a constraint where it is kept, else 0
    found : int array (views,), clusters found

    It is the view that keeps most among those that find at least as many clusters as the plain
    one, because a single cluster would keep every must-link. Ties go to the plain view, then to
    the first.
    """
    total = np.where(found >= found[-1], kept.sum(axis=1), -1.0)
    return len(total) - 1 if total[-1] >= total.max() else int(np.argmax(total))
