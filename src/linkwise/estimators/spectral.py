"""CCSKL, affinity propagation and cSC: spectral clustering that follows constraints."""

import warnings
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise._check import check_memory
from linkwise.embedding.signed import mix_constraints, two_way_labels
from linkwise.embedding.spectral import extend, spectral_basis, unit_rows
from linkwise.estimators._base import AT_LEAST_ONE, POSITIVE, SIGMA, InductiveClusterer, Traits
from linkwise.exceptions import ConstraintWarning, ConvergenceWarning
from linkwise.graph.affinity import build_affinity
from linkwise.kernel.propagation import propagate
from linkwise.kernel.spectral_kernel import fit_spectrum
from linkwise.partition.kmeans import by_appearance, kmeans, nearest_centre


class _Spectral(InductiveClusterer):
    """Graph, learn, embed, partition; new points enter through the graph."""

    _parameter_constraints: ClassVar[dict] = {
        **InductiveClusterer._parameter_constraints,
        "affinity": [StrOptions({"nearest_neighbors", "rbf", "precomputed"})],
        "n_neighbors": [AT_LEAST_ONE],
        "sigma": SIGMA,
    }

    def _graph(self, X):
        if self.affinity == "rbf":
            check_memory(X.shape[0], X.dtype, copies=3, instead='use affinity="nearest_neighbors"')
        neighbours = getattr(self, "n_neighbors", 0)  # a dense method has no such parameter
        return build_affinity(X, self.affinity, n_neighbors=neighbours, sigma=self.sigma)

    def _partition(self, Z, rng):
        self.embedding_ = Z
        labels, self._centres, _ = kmeans(Z, self.n_clusters, n_init=self.n_init, rng=rng)
        return labels

    def _assign(self, X):
        V = extend(self._basis, *self._graph_.rows(X))
        return nearest_centre(self._embed(V), self._centres)

    def _embed(self, V):
        """Return what k-means sees of the eigenvectors V."""
        return unit_rows(V)


class CCSKL(_Spectral):
    """Constrained clustering by spectral kernel learning (Li & Liu 2009).

    Learns how much each smooth eigenvector of a neighbour graph counts, by an exact quadratic
    program in ``n_components`` numbers, and runs k-means on the eigenvectors so weighted. Fast
    and sparse: the cost is that of the neighbour graph. It learns few numbers, so it follows the
    shape of the data first and does not promise to keep each constraint; see ``violations_``.

    Without constraints it is plain spectral clustering: k-means on the unit rows of the first
    ``n_clusters`` eigenvectors.

    Parameters
    ----------
    n_clusters : int
    n_components : int
        Number m of eigenvectors (at most n_samples).
    affinity : {"nearest_neighbors", "rbf", "precomputed"}
        "rbf" is dense: n_samples^2 memory.
    n_neighbors : int
        Neighbours on the graph; with fewer than n_neighbors + 1 points all others are.
    sigma : float, "r", a multiple such as "0.5r", or "local"
        Width of the Gaussian weights. r is the mean distance to the n_neighbors-th neighbour
        (for "rbf" the median distance to the 7th); "local" is local scaling.
    diagonal : {"balanced", "paper"}
        Weight of the n terms that ask for unit self-similarity: as much as all pairs together,
        or one each as in the paper, which drowns the pairs when n is large.
    normalize_rows : bool
        Put the rows of the weighted eigenvectors on the unit sphere before k-means.
    n_init : int
        Starts of k-means, of which the one of least inertia counts.
    on_conflict : {"raise", "drop", "keep"}
        What to do when must-links and cannot-links contradict each other: raise
        InfeasibleConstraints, drop the cannot-links concerned with a warning, or use all.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    spectrum_ : array (n_components,)
        Learned eigenvalues of the kernel, non-increasing, >= 0. Without constraints 1 for the
        first n_clusters and 0 for the rest.
    embedding_ : array (n_samples, n_components)
        What k-means was run on. (n_samples, n_clusters) without constraints.
    affinity_matrix_ : array or csr_array (n_samples, n_samples)
    violations_ : list of Pair, the constraints not kept

    Notes
    -----
    The weight c of a pair enters squared (Eq. 12 of the paper): weight 2 pulls like four pairs.
    Listing a pair twice is weight sqrt(2).

    Examples
    --------
    >>> from linkwise import CCSKL, Constraints, datasets
    >>> X, y = datasets.make_moons(200, random_state=0)
    >>> links = Constraints(must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> CCSKL(2, random_state=0).fit(X, constraints=links).spectrum_.shape
    (20,)
    """

    _parameter_constraints: ClassVar[dict] = {
        **_Spectral._parameter_constraints,
        "n_components": [AT_LEAST_ONE],
        "diagonal": [StrOptions({"balanced", "paper"})],
        "normalize_rows": ["boolean"],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        n_components=20,
        affinity="nearest_neighbors",
        n_neighbors=20,
        sigma="r",
        diagonal="balanced",
        normalize_rows=False,
        n_init=10,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.diagonal = diagonal
        self.normalize_rows = normalize_rows
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _learn(self, X, links, rng):
        k, m = self.n_clusters, min(self.n_components, X.shape[0])
        self._graph_ = self._graph(X)
        self.affinity_matrix_ = self._graph_.W
        self._basis = spectral_basis(self._graph_.W, m if links else max(m, k), rng)
        self._plain = not links
        if links:
            self.spectrum_ = fit_spectrum(
                self._basis.vectors, *links.arrays(), diagonal=self.diagonal
            )
        else:
            self.spectrum_ = (np.arange(max(m, k)) < k).astype(np.float64)
        return self._partition(self._embed(self._basis.vectors), rng)

    def _embed(self, V):
        if self._plain:
            return unit_rows(V[:, : self.n_clusters])
        Z = V * np.sqrt(self.spectrum_).astype(V.dtype)  # F diag(b)^1/2, step 5 of Algorithm 1
        return unit_rows(Z) if self.normalize_rows else Z


class PropagatedSpectralClustering(_Spectral):
    """Spectral clustering on affinities that constraints have spread over (Lu & Carreira-Perpinan).

    The affinity is read as the covariance of a Gaussian process; the constraints are noisy
    observations of it, and its posterior covariance, negative entries cut off, is the affinity
    that spectral clustering gets. One link changes many affinities around its two ends.

    The affinity is dense: n_samples^2 memory (about four such matrices), and time
    O(n_samples^2 n_pairs). A fit that cannot fit in memory is refused with an estimate.

    Parameters
    ----------
    n_clusters : int
    algorithm : {"auto", "a", "b"}
        A enforces all links at once and is meant for two clusters; B enforces the cannot-links
        one by one and has no false affinity between the enemies of an enemy. "auto" is A for
        two clusters and B for more.
    eps : float or (float, float)
        How much a link may be missed, for must-links and cannot-links, in units of the standard
        deviation of the process. 1e-5 is the paper's hard link; soft ones do better as soon as
        there are many, or more than two clusters. A pair of weight w has eps / sqrt(w).
    affinity : {"rbf", "precomputed"}
        A precomputed affinity must be positive semi-definite.
    sigma : float, "r", a multiple such as "2r", or "local"
        Width of the Gaussian; r is the median distance to the 7th neighbour.
    n_init, on_conflict, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    affinity_matrix_ : array (n_samples, n_samples), the propagated affinity, >= 0
    embedding_ : array (n_samples, n_clusters), unit rows
    algorithm_ : "a" or "b", the one used
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **_Spectral._parameter_constraints,
        "affinity": [StrOptions({"rbf", "precomputed"})],
        "algorithm": [StrOptions({"auto", "a", "b"})],
        "eps": [POSITIVE, tuple, list],
    }
    _parameter_constraints.pop("n_neighbors")
    _traits = Traits(rows=10_000)

    def __init__(
        self,
        n_clusters=8,
        *,
        algorithm="auto",
        eps=1.0,
        affinity="rbf",
        sigma="2r",
        n_init=10,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.eps = eps
        self.affinity = affinity
        self.sigma = sigma
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _eps(self):
        eps = self.eps if isinstance(self.eps, tuple | list) else (self.eps, self.eps)
        if len(eps) != 2 or not all(isinstance(e, Real) and 0 < float(e) < np.inf for e in eps):
            raise ValueError(
                f"eps must be a positive number or two of them, (must, cannot); got {self.eps!r}"
            )
        return eps

    def _learn(self, X, links, rng):
        eps_must, eps_cannot = self._eps()
        check_memory(X.shape[0], X.dtype, copies=4, instead="use CCSKL, which is sparse")
        self.algorithm_ = self.algorithm
        if self.algorithm == "auto":
            self.algorithm_ = "a" if self.n_clusters == 2 else "b"
        self._graph_ = self._graph(X)
        K = self._graph_.W
        K = K.toarray() if sparse.issparse(K) else K
        self._propagated = propagate(
            K, *links.merged().arrays(),
            algorithm=self.algorithm_, eps_must=eps_must, eps_cannot=eps_cannot,
        )  # fmt: skip
        self.affinity_matrix_ = self._propagated.A
        self._basis = spectral_basis(self.affinity_matrix_, self.n_clusters, rng)
        return self._partition(unit_rows(self._basis.vectors), rng)

    def _assign(self, X):
        # A is linear in the scale of a row of K and unit rows forget it: P serves for K
        P = self._graph_.rows(X).P
        A = self._propagated.rows(P.toarray() if sparse.issparse(P) else P)
        degree = A.sum(axis=1)
        P = np.divide(A, degree[:, None], out=np.zeros_like(A), where=degree[:, None] > 0)
        V = extend(self._basis, P, np.ones(len(A), dtype=A.dtype))
        return nearest_centre(unit_rows(V), self._centres)


class SignedSpectralClustering(_Spectral):
    """Spectral clustering by a signed Laplacian of data and constraints, cSC (Wacquet et al. 2013).

    Must-links are added to the graph as edges of weight 1, cannot-links as edges of weight -1.
    Good for few clusters. With many clusters and mostly cannot-links it does harm: the signed
    Laplacian also holds that the enemy of an enemy is a friend; a warning says so.

    Parameters
    ----------
    n_clusters : int
    balance : float in [0, 1]
        Share of the data against the constraints: 1 is plain spectral clustering, 0 uses the
        constraints alone.
    scale_constraints : bool
        Give the constraints the mean weight of the graph's edges instead of 1.
    two_way : {"auto", "first", "second", "kmeans"}
        For two clusters: the sign of which eigenvector. The paper's rule is "second"; "auto"
        takes the one that keeps more constraints; "kmeans" treats two like any other number.
    affinity : {"nearest_neighbors", "rbf", "precomputed"}
    n_neighbors, sigma, n_init, on_conflict, random_state : as in `CCSKL`

    Attributes
    ----------
    labels_ : int array (n_samples,)
    affinity_matrix_ : array or csr_array, the signed mixture of graph and constraints
    eigenvalues_ : array (n_clusters,), of the normalised signed Laplacian, smallest first
    embedding_ : array (n_samples, n_clusters), unit rows; eigenvectors for the sign rules
    violations_ : list of Pair, the constraints not kept
    """

    _parameter_constraints: ClassVar[dict] = {
        **_Spectral._parameter_constraints,
        "balance": [Interval(Real, 0, 1, closed="both")],
        "scale_constraints": ["boolean"],
        "two_way": [StrOptions({"auto", "first", "second", "kmeans"})],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        balance=0.5,
        scale_constraints=False,
        two_way="auto",
        affinity="nearest_neighbors",
        n_neighbors=20,
        sigma="r",
        n_init=10,
        on_conflict="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.balance = balance
        self.scale_constraints = scale_constraints
        self.two_way = two_way
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.n_init = n_init
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _learn(self, X, links, rng):
        n = X.shape[0]
        plain = not links or self.balance == 1
        if not plain and self.n_clusters > 10 and links.n_cannot > 4 * links.n_must:
            warnings.warn(
                f"{self.n_clusters} clusters and mostly cannot-links ({links.n_cannot} of "
                f"{links.n_pairs}): a signed Laplacian tends to do worse than no constraints "
                "here; try CCSKL or PropagatedSpectralClustering",
                ConstraintWarning,
                stacklevel=3,
            )
        self._graph_ = self._graph(X)
        W = self._graph_.W
        if not plain:
            W = mix_constraints(
                W, links.matrix(n), self.balance, scale_constraints=self.scale_constraints
            )
        self.affinity_matrix_ = W
        self._basis = spectral_basis(W, self.n_clusters, rng)
        self.eigenvalues_ = 1 - self._basis.values
        self._column = None
        if plain or self.n_clusters != 2 or self.two_way == "kmeans":
            return self._partition(unit_rows(self._basis.vectors), rng)
        return self._two_way(links)

    def _two_way(self, links):
        Z = self.embedding_ = self._basis.vectors

        def kept(labels):
            return links.weight[~links.violated(labels)].sum()

        if self.two_way == "auto":
            labels, self._column = two_way_labels(Z, kept)
        else:
            self._column = 0 if self.two_way == "first" else 1
            labels = (Z[:, self._column] > 0).astype(np.int64)
        labels, self._names = by_appearance(labels)
        if len(self._names) == 1:
            warnings.warn(
                "only 1 of 2 clusters found: the eigenvector has one sign throughout; try "
                'two_way="kmeans"',
                ConvergenceWarning,
                stacklevel=4,
            )
        return labels

    def _assign(self, X):
        if self._column is None:
            return super()._assign(X)
        P, degree = self._graph_.rows(X)
        z = extend(self._basis, P, self.balance * degree)[:, self._column]
        side = (z > 0).astype(np.int64)
        return np.where(side == self._names[0], 0, len(self._names) - 1)
