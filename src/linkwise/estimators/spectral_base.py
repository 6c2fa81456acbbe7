"""The base class of the spectral estimators: build a graph, embed, partition, place new points."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory, check_rows
from linkwise._typing import Array, Integers, Matrix
from linkwise.arrays import PerKind, door, dtype_name
from linkwise.blocks.cost import check_cost
from linkwise.blocks.rows import (
    BlockFunction,
    LazyRows,
    bounds_of,
    computed,
    content_sample,
    is_external,
    on_cluster,
    over_rows,
    read_block,
    spaced,
    take_rows,
    write_block,
)
from linkwise.blocks.sources import open_rows
from linkwise.embedding.spectral import extend, spectral_basis, unit_rows
from linkwise.estimators.base import (
    AT_LEAST_ONE,
    SIGMA,
    InductiveClusterer,
    Traits,
    match_rows,
)
from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.graph.affinity import build_affinity
from linkwise.graph.anchors import AnchorAffinity, check_finite
from linkwise.graph.one_hot import one_hot_agreement
from linkwise.kernel.graph_kernels import DEFAULTS, GraphKernelAffinity
from linkwise.partition.k_means import kmeans, nearest_centre

GRAPH_KERNELS = set(DEFAULTS)
OPTIONS: dict[str, dict[str, Any]] = {
    "nearest_neighbors": {"search": "auto", "metric": "euclidean"},
    "anchors": {"n_anchors": 1000, "n_nearest": 3},
    "rbf": {},
    "precomputed": {},
    **DEFAULTS,
}
IN_MEMORY = 1 << 27  # bytes of eigenvectors; a larger embedding is computed block by block
# with fewer points for each anchor the anchors would not be connected with each other
POINTS_PER_ANCHOR, FEWEST_ANCHORS = 5, 50
# attributes that have the size of the points or of the graph, and that no new point needs
OF_POINTS = {
    "labels_", "violations_", "embedding_", "affinity_matrix_", "_fit_X", "_sample_id",
    "_label_rows", "_graph_", "_basis", "_terms", "_errors", "_propagated",
}  # fmt: skip
# share of edges: below .8 the graph of mixed tables led to the clusters of k-means, at .97 not
SAME_CATEGORIES = 0.9
CHOICES = {"search": ("auto", "exact", "approximate"), "metric": ("euclidean", "cosine")}


def affinity_options(kind: str, params: dict[str, Any] | None) -> dict[str, Any]:
    """Return the checked options of an affinity, with defaults filled in."""
    known = OPTIONS[kind]
    for name, value in (params or {}).items():
        if name not in known:
            names = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"affinity_params of {kind!r}: {names}; got {name!r}")
        if name in CHOICES and value not in CHOICES[name]:
            raise ValueError(
                f"affinity_params: {name} must be one of {', '.join(CHOICES[name])}; got {value!r}"
            )
        if kind == "anchors" and not (isinstance(value, Integral) and int(value) >= 1):
            raise ValueError(f"affinity_params: {name} must be a whole number >= 1; got {value!r}")
    return known | (params or {})


def neighbour_cost(X: Matrix, n_neighbors: int) -> tuple[float, float]:
    """Return the memory in bytes and the flops of the neighbour graph of X."""
    n, d = X.shape
    width = X.nnz // n if sparse.issparse(X) else d
    searched = n * (width + 70) * X.dtype.itemsize  # the points in the order of their cells
    memory = searched + 60 * n * min(n_neighbors, n) + 500 * n
    return memory, 20 * min(2.0 * n * n * width, 4e5 * n)


@PerKind
def _warn_of_categories(X: Matrix, W: Any) -> None:
    """Warn if the neighbours of a row are those with the same one-hot categories."""
    found = one_hot_agreement(X, W)
    if found is not None and found.edges >= SAME_CATEGORIES > 1.5 * found.chance:
        warn(
            f"{found.edges:.0%} of the edges of the neighbour graph join rows that agree in all "
            f"{found.columns} columns of 0 and 1: clusters will follow combinations of these "
            "categories, whatever else the rows have in common; use LinkClustering or PCKMeans, or "
            "give these columns less weight",
            ConvergenceWarning,
        )


@_warn_of_categories.of_tensors
def _no_categories(X: Any, W: Any) -> None:
    """Do nothing: mixed tables are prepared on the CPU, and are small."""


class SpectralClusterer(InductiveClusterer):
    """Build a graph, learn, embed, partition; the graph connects new points."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **InductiveClusterer._parameter_constraints,
        "affinity": [StrOptions(set(OPTIONS))],
        "n_neighbors": [AT_LEAST_ONE],
        "sigma": SIGMA,
        "affinity_params": [dict, None],
    }

    traits = Traits(rows=10_000_000)  # through anchors
    _on_device: tuple[str, ...] = ("nearest_neighbors", "anchors", "rbf")  # affinities

    affinity_matrix_: Any  # array, csr_array or AnchoredMatrix
    embedding_: Any  # array, or rows computed when asked for

    def _prepare(self, X: Matrix, rng: np.random.Generator) -> None:
        self._graph_ = self._graph(X, rng)

    def _prepare_basis(self, X: Matrix, rng: np.random.Generator, n_components: int) -> None:
        """Build the graph, and find its first eigenvectors, at least one for each cluster."""
        self._graph_ = self._graph(X, rng)
        self.affinity_matrix_ = self._graph_.W
        m = min(max(n_components, self.n_clusters), X.shape[0])
        self._basis = spectral_basis(self._graph_.W, m, rng, order=self._graph_.order)

    def _graph(self, X: Matrix, rng: np.random.Generator) -> Any:
        n, d = X.shape
        kind, options = self.affinity, affinity_options(self.affinity, self.affinity_params)
        if kind == "anchors":
            s = options["n_nearest"]
            p = min(options["n_anchors"], max(n // POINTS_PER_ANCHOR, min(n, FEWEST_ANCHORS)))
            held = min(n * (8 * s + 4 * max(self.n_clusters, 20)), 2 << 30)  # the rest in a file
            check_cost(
                n, memory=held + 40 * p * p, flops=4.0 * n * p * d, instead="use fewer anchors"
            )
            self._dtype = door(X).float_type(X)
            return AnchorAffinity(X, n_anchors=p, n_nearest=s, sigma=self._graph_sigma(), rng=rng)
        if kind == "rbf" or kind in GRAPH_KERNELS:
            check_memory(n, dtype_name(X), copies=3, instead='use affinity="nearest_neighbors"')
        if kind in GRAPH_KERNELS:
            return GraphKernelAffinity(
                X, kind, n_neighbors=self.n_neighbors, sigma=self.sigma, params=options
            )
        if kind == "nearest_neighbors":
            memory, flops = neighbour_cost(X, self.n_neighbors)
            check_cost(n, memory=memory, flops=flops, instead='use affinity="anchors"')
        graph = build_affinity(
            X, kind, n_neighbors=self.n_neighbors, sigma=self._graph_sigma(), options=options
        )
        if kind == "nearest_neighbors":
            _warn_of_categories(X, graph.W)
        return graph

    def _graph_sigma(self) -> float | str:
        return self.sigma

    def _block(self) -> int:
        return 1 << 16 if self.affinity == "nearest_neighbors" else super()._block()

    def _streams(self) -> bool:
        return self.affinity == "anchors"

    def _warn_of_components(self) -> None:
        """Warn if the graph has more connected parts than the requested clusters."""
        parts = 1 if isinstance(self.affinity_matrix_, np.ndarray) else self._basis.parts
        if parts > self.n_clusters:
            more = "n_nearest, or take fewer anchors" if self._streams() else "n_neighbors"
            warn(
                f"the graph has {parts} separate parts, more than n_clusters={self.n_clusters}: "
                f"small parts are merged arbitrarily; raise {more}",
                ConvergenceWarning,
            )

    def _sample(self, size: int) -> Integers:
        """Return the numbers of some rows, spread over the points independently of their order."""
        if self._streams() and len(self._graph_.sample) >= size:
            return spaced(self._graph_.sample, size)
        F = self._basis.vectors
        return content_sample(F, size, np.random.default_rng([self._seed, 2]))

    def _partition(
        self, rng: np.random.Generator, *, start: Array | None = None, out: Integers | None = None
    ) -> Integers:
        """Run k-means on the embedding of all points, from given centres or from its own."""
        self._warn_of_components()
        F = self._basis.vectors
        few = door(F).in_memory(F) and door(F).fits(F.nbytes, IN_MEMORY)
        embed = self._embed if on_cluster(F) is None else self._alone()._embed
        embedding = LazyRows(F, embed)
        self.embedding_ = computed(embedding) if few else embedding
        labels, self._centres, _ = kmeans(
            self.embedding_, self.n_clusters, n_init=self.n_init, start=start,
            sample=self._sample, rng=rng, out=out,
        )  # fmt: skip
        return labels

    def _check_X(self, X: Any, reset: bool = True) -> Any:
        X = open_rows(X)
        if self._streams() and is_external(X):
            return check_rows(self, X, reset=reset)
        X = super()._check_X(X, reset=reset)
        if self._streams() and sparse.issparse(X):
            raise TypeError(
                'affinity="anchors" needs dense points; X is sparse: reduce it first, for example '
                "by TruncatedSVD"
            )
        return X

    def _check_device(self, where: str, instead: str) -> None:
        super()._check_device(where, instead)
        if self.affinity not in self._on_device:
            raise TypeError(
                f"affinity={self.affinity!r} is computed on the CPU, and {where}: {instead}, or "
                f"use one of {', '.join(map(repr, self._on_device))}"
            )

    def _place(self, X: Any, labels: Integers) -> None:
        if not self._streams():
            super()._place(X, labels)
            return
        place = self._placer()
        fitted = self._fit_X if X.shape == self._fit_X.shape else None
        if on_cluster(fitted) is not None:
            fitted = None

        def place_and_write(part: slice) -> None:
            block = read_block(X, part, self._dtype)
            found = place(part, block)
            if fitted is not None:  # equal rows may have different labels
                same = (read_block(fitted, part, self._dtype) == block).all(axis=1)
                found[same] = self.labels_[part][same]
            write_block(labels, part, found)

        shown = {"label": "predict", "total": X.shape[0]}
        for _ in over_rows(place_and_write, X, *X.shape, bounds=bounds_of(X), **shown):
            pass

    def _placer(self) -> BlockFunction[Integers]:
        """Return the function that gives a block of points its labels; it is small."""
        light, dtype = self._alone(), self._dtype
        touched = self._basis.map.touched  # the map does not give their vectors
        known = take_rows(self._fit_X, touched, dtype) if len(touched) else None
        names = take_rows(getattr(self, "_label_rows", self.labels_), touched)

        def place(part: slice, block: Any) -> Integers:
            block = door(block).cast(block, dtype)
            check_finite(block, range(part.start, part.stop))
            found = light._assign(block)
            if known is not None:
                at = match_rows(known, block)
                found[at >= 0] = names[at[at >= 0]]
            return found

        return place

    def _place_on_cluster(self, X: Any) -> Any:
        if X.named_as(self._fit_X):
            return self.labels_
        return X.then(self._placer(), width=None, dtype=np.int64).lazy()

    def _alone(self) -> Self:
        """Return a copy that places new points, without anything of the size of the data."""
        copy = object.__new__(type(self))
        copy.__dict__ = {name: held for name, held in vars(self).items() if name not in OF_POINTS}
        copy._graph_ = self._graph_.alone()
        copy._basis = self._basis._replace(vectors=None, map=self._basis.map.alone())
        return copy

    def _assign(self, X: Matrix) -> Integers:
        V = extend(self._basis, *self._graph_.rows(X))
        return nearest_centre(self._embed(V), self._centres)

    def _embed(self, V: Array) -> Array:
        """Return the rows for k-means, computed from the eigenvectors V."""
        return unit_rows(V)
