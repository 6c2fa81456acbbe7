"""A layout of the neighbour graph as a transformer."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from linkwise._check import check_points, check_y
from linkwise._typing import Array, Floats, Matrix, Points, RandomState
from linkwise.arrays import caller_of, door, namespace, send, take
from linkwise.blocks.cost import check_cost
from linkwise.embedding.manifold import REPULSION, STEPS, WIDTH, layout, place
from linkwise.estimators.base import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    CallerArrays,
    Traits,
    seen_rows,
    whole,
)
from linkwise.estimators.spectral_base import neighbour_cost
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.graph.laplacians import degrees

BLOCK = 1 << 16  # new rows to place at a time: their neighbours take little memory
BLOCKS = 32 << 20  # bytes of the blocks in progress: 8 MB on each of some threads
STEP_FLOPS = 7e4  # of a row in a step: 0.7 microseconds, at the rate of a matrix product


class ManifoldLayout(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallerArrays):
    """Layout of the neighbour graph in a few dimensions; clusters become islands (as in UMAP).

    Use it for a map of the data (two dimensions), or before a clusterer if clusters are curved or
    elongated, as those of images often are (5 to 10 dimensions). Neighbours attract each other and
    random points repel, from the eigenvectors of the graph on. Columns should have comparable
    scales. The layout takes no constraints: pass them to the clusterer that follows.

    The cost is that of the neighbour graph plus O(n_steps n_samples (n_neighbors + 64)
    n_components) time, in blocks on all cores, and O(n_samples n_neighbors) memory. A fit that
    needs too much memory is refused with an estimate before it starts.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the layout.
    n_neighbors : int
        Number of neighbours in the graph. Fewer show finer detail, more join nearby islands. With
        fewer points, all others are neighbours.
    n_steps : int
        Number of steps that the points take. Fewer than 100 leave blurred islands; in more than two
        dimensions 500 can separate clusters better.
    repulsion : float
        Strength of the repulsion relative to the attraction: more leaves wider gaps.
    random_state : int, RandomState or None
        Seed of the start and of the points that repel. The layout is the same for the same seed
        and rows, whatever the number of cores.

    Attributes
    ----------
    embedding_ : array (n_samples, n_components), in the dtype of X

    Notes
    -----
    Neighbourhoods have a meaning in a layout, but coordinates do not, and distances between
    islands mean little. Another order of the rows gives another layout with the same
    neighbourhoods, because the points that repel are drawn by row number.

    Examples
    --------
    >>> from linkwise import ManifoldLayout
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data
    >>> model = ManifoldLayout(random_state=0).fit(X[:1000])
    >>> model.embedding_.shape, model.transform(X[1000:]).shape
    ((1000, 2), (797, 2))
    """

    traits = Traits(constrained=False, rows=1_000_000, device=True)
    _told = "embedding_"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_ONE],
        "n_neighbors": [AT_LEAST_ONE],
        "n_steps": [AT_LEAST_ONE],
        "repulsion": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    embedding_: Floats
    n_features_in_: int
    feature_names_in_: Array
    _graph_: NeighbourAffinity
    _seed: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 10,
        n_steps: int = STEPS,
        repulsion: float = REPULSION,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.n_steps = n_steps
        self.repulsion = repulsion
        self.random_state = random_state

    @whole
    def fit(self, X: Points, y: ArrayLike | None = None, *, device: Any = None) -> Self:
        """Lay the points out. After an error or an interrupt the estimator is as it was before.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features), at least two rows
            Kept for `transform`, by reference: do not overwrite it.
        y : ignored
        device : str or None
            Device of torch to compute on, such as "cuda". The points are copied to it, and results
            are arrays of the library of X. None computes where X is.

        Returns
        -------
        self
        """
        self._validate_params()
        check_y(y, instead="ManifoldLayout takes none: pass them to the clusterer that follows")
        self._device = device
        self._learn(send(check_points(self, take(X)), device))
        return self._give(caller_of(X))

    def _learn(self, X: Matrix) -> None:
        n = X.shape[0]
        memory, flops = neighbour_cost(X, self.n_neighbors)
        memory += n * (24 * min(self.n_neighbors, n) + 24 * self.n_components)  # edges, points
        memory += min(4 * WIDTH * n, BLOCKS)
        flops += STEP_FLOPS * n * self.n_steps
        check_cost(n, memory=memory, flops=flops, instead="lay out a part and transform the rest")
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        graph = NeighbourAffinity(X, self.n_neighbors, "local", distinct=True)
        Y = layout(
            graph.W, self.n_components, np.random.default_rng([seed, 0]), order=graph.order,
            steps=self.n_steps, repulsion=self.repulsion,
        )  # fmt: skip
        self._graph_, self._seed, self.embedding_ = graph, seed, door(X).cast(Y, X)

    def fit_transform(self, X: Points, y: ArrayLike | None = None, *, device: Any = None) -> Floats:
        """Lay the points out and return their coordinates; see `fit`."""
        return self.fit(X, y, device=device).embedding_ + 0

    def transform(self, X: Points) -> Floats:
        """Return the coordinates of every point.

        Points that were given to `fit` keep the coordinates they got there. All others are placed
        among their neighbours, while the fitted points stay where they are.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_components), in the dtype of X
        """
        check_is_fitted(self)
        caller = self._asked(X, "transform")
        points = send(check_points(self, take(X), reset=False), self._device)
        graph, fitted = self._graph_, self._working().embedding_
        tools, xp = door(fitted), namespace(fitted)
        seen = seen_rows(graph.X, points)
        out = tools.cast(fitted[seen], points)
        degree = float(tools.median(degrees(graph.W)))
        (new,) = xp.nonzero(seen < 0)
        for start in range(0, len(new), BLOCK):
            rows = new[start : start + BLOCK]
            P = graph.rows(tools.cast(points[rows], graph.X)).P
            rng = np.random.default_rng([self._seed, 1])
            out[rows] = tools.cast(place(fitted, P, degree, rng, repulsion=self.repulsion), out)
        return caller.give(out)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = self.traits.sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
