"""CCSKL."""

import math
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy.special import betaln, xlogy
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
from linkwise.arrays import door, to_host
from linkwise.blocks.rows import take_rows
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import unit_rows
from linkwise.estimators.base import AT_LEAST_ONE, Traits
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.kernel.spectral_kernel import diagonal_terms, fit_spectrum
from linkwise.partition.k_means import (
    LARGER,
    best_starts,
    nearest_centre,
    sample_size,
    start_rows,
)

View: TypeAlias = Literal["weighted", "unit", "plain"]  # of the eigenvectors
VIEWS: tuple[View, ...] = ("weighted", "unit", "plain")

# the odds at which a fitted view replaces plain spectral clustering: of 1, 2, 3, 5, 7, 10 and 20
# the smallest at which 1 to 15 correct constraints never lowered the mean over nine data sets
ODDS = 7
CHANCE = 4  # constraints that the prior of a rate counts for; with 1 and 2, that mean fell by .001


class CCSKL(SpectralClusterer):
    """Constrained clustering by spectral kernel learning (Li & Liu 2009).

    Learns a weight for each smooth eigenvector of a neighbour graph, by an exact quadratic program
    with ``n_components`` unknowns, and runs k-means on the weighted eigenvectors. It is fast and
    sparse: most of the time goes into the neighbour graph. It learns few numbers, so it follows
    the shape of the data and may break constraints; ``violations_`` lists them.

    Without constraints it is plain spectral clustering: k-means on the unit rows of the first
    ``n_clusters`` eigenvectors. With few constraints it stays there: it leaves plain spectral
    clustering only when the constraints are clear evidence for the learned eigenvalues.

    Parameters
    ----------
    n_clusters : int
    n_components : int
        Number m of eigenvectors (at most n_samples).
    affinity : str
        "nearest_neighbors": weights on a neighbour graph (sparse). "anchors": a graph through
        anchors, for millions of points and for points in a file. "rbf": a dense Gaussian.
        "precomputed": X itself. "heat", "regularized_laplacian", "random_walk": a spectral kernel
        of the neighbour graph. All but the first two and a sparse X are dense: n_samples^2 memory.
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
        paper. "auto" tries both, and plain spectral clustering. It uses the partition that best
        explains the constraints, and plain spectral clustering unless the odds against it are at
        least 7 to 1. It also draws the learned eigenvalues towards those of plain spectral
        clustering, with the weight of ten constraints.
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
    pairs. A pair that is listed twice counts like one of weight sqrt(2). In the choice of
    ``normalize_rows="auto"`` a pair of weight 2 counts like two pairs.

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

    traits = Traits(rows=100_000_000, device=True)  # through anchors

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
        auto = self.normalize_rows == "auto"
        if not links:
            m = self._basis.vectors.shape[1]
            self.spectrum_ = (np.arange(m) < self.n_clusters).astype(np.float64)
            self.view_ = "plain"
            return self._partition(rng, out=out)
        self.spectrum_ = fit_spectrum(
            self._basis.vectors, *links.arrays(), diagonal=self.diagonal, terms=self._terms,
            n_components=self.n_components, n_clusters=self.n_clusters if auto else None,
        )  # fmt: skip
        start = None
        if auto:
            self.view_, start = self._best_view(links, rng)
        else:
            self.view_ = "unit" if self.normalize_rows else "weighted"
        return self._partition(rng, start=start, out=out)

    def _best_view(self, links: Constraints, rng: np.random.Generator) -> tuple[View, Array]:
        """Return the view of the eigenvectors to partition, and k-means centres to start from.

        A sample of the points is partitioned in each view, and judged on the linked points. The
        centres of the plain view do not depend on the constraints. They are those of a fit without
        constraints, and are kept for the next fit.
        """
        F, k = self._basis.vectors, self.n_clusters
        rows = start_rows(self._sample(LARGER * sample_size(k)), k)  # as in a fit without links
        sample, linked = take_rows(F, rows), take_rows(F, links.ids)
        both = door(sample).below([linked, sample])
        views = VIEWS if self._plain_centres is None else VIEWS[:-1]
        samples = [self._view(sample, view) for view in views]
        seed = int(rng.integers(2**31 - 1))
        starts = best_starts(samples, k, n_init=self.n_init, seed=seed)
        if self._plain_centres is None:
            self._plain_centres = starts.pop()
        starts.append(self._plain_centres)
        weight = links.weight * independent_share(len(links.ids), len(links.sign), k)
        scores, found = [], []
        for view, centres in zip(VIEWS, starts, strict=True):
            labels = to_host(nearest_centre(self._view(both, view), centres))
            a, b = labels[links.pairs].T
            sizes = np.bincount(labels[len(links.ids) :])
            scores.append(evidence(a == b, links.sign, weight, pair_share(sizes)))
            found.append(np.count_nonzero(sizes))
        best = chosen_view(np.array(scores), np.array(found))
        return VIEWS[best], starts[best]

    def _view(self, V: Array, view: View) -> Array:
        if view == "plain":
            return unit_rows(V[:, : self.n_clusters])
        root = door(V).asarray(np.sqrt(to_host(self.spectrum_)), V, V.dtype)
        Z = V[:, : len(root)] * root  # F diag(b)^1/2, step 5 of Algorithm 1
        return unit_rows(Z) if view == "unit" else Z

    def _embed(self, V: Array) -> Array:
        return self._view(V, self.view_)


def pair_share(sizes: Array) -> float:
    """Return the share of the pairs of points that clusters of these sizes put together.

    One pair of each kind is added, so that the share is never 0 or 1.

    >>> round(pair_share(np.array([2, 2])), 3)
    0.375
    """
    n = sizes.sum()
    return float((np.sum(sizes * (sizes - 1.0)) / 2 + 1) / (n * (n - 1.0) / 2 + 2))


def independent_share(points: int, pairs: int, k: int) -> float:
    """Return the share of the information in some pairs that the points they link can carry.

    The labels of the points say all that the pairs say. One label carries log k, and one pair the
    entropy of a share of 1/k. All pairs among a few labelled points, for example, repeat each
    other.

    >>> independent_share(points=40, pairs=20, k=3), round(independent_share(20, 190, k=3), 2)
    (1.0, 0.18)
    """
    p = 1 / k
    told = -pairs * float(xlogy(p, p) + xlogy(1 - p, 1 - p))
    return min(1.0, points * math.log(k) / told) if told > 0 else 0.0


def evidence(together: Array, sign: Array, weight: Array, share: float) -> float:
    """Return how much better than chance a partition explains the constraints, as log odds.

    If the partition had nothing to do with the constraints, it would keep a must-link with the
    probability p = ``share`` that two random points are together, and a cannot-link with 1 - p.
    The alternative has an unknown rate for each kind of constraint, with a Beta prior around the
    chance rate. The first constraint of a kind is therefore no evidence, and a must-link is little
    evidence for a partition that has most points in one cluster. A rate below chance counts
    against the partition.

    Parameters
    ----------
    together : bool array (s,), whether the two ends of each pair are in the same cluster
    sign : array (s,), +1 must-link, -1 cannot-link
    weight : array (s,), >= 0; a pair of weight 2 is two pairs
    share : float, share of all pairs of points that are together, `pair_share`
    """
    total = 0.0
    for kind, p in ((1, share), (-1, 1 - share)):
        as_asked = together == (kind > 0)
        kept, broken = (np.sum(weight[(sign == kind) & which]) for which in (as_asked, ~as_asked))
        odds = betaln(kept + CHANCE * p, broken + CHANCE * (1 - p))
        odds -= betaln(CHANCE * p, CHANCE * (1 - p)) + xlogy(kept, p) + xlogy(broken, 1 - p)
        total += odds if kept >= p * (kept + broken) else -abs(odds)
    return float(total)


def chosen_view(evidence: Array, found: Array) -> int:
    """Return the number of the view to take; the last is plain spectral clustering.

    Parameters
    ----------
    evidence : array (views,), log odds of each against chance
    found : int array (views,), clusters found

    It is the view with most evidence among those that find at least as many clusters as the plain
    one, if the odds between the two are at least ODDS, and the plain one otherwise.
    """
    evidence = np.where(found >= found[-1], evidence, -np.inf)
    best = int(np.argmax(evidence))
    return best if evidence[best] - evidence[-1] >= np.log(ODDS) else len(evidence) - 1
