"""Agglomerative clustering that keeps every constraint."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from linkwise._check import check_memory
from linkwise._typing import Array, Floats, Integers, Matrix, OnConflict, OnUnknown
from linkwise.constraints import Constraints
from linkwise.constraints.closure import component_pairs, components
from linkwise.estimators.base import AT_LEAST_ONE, NOT_NEGATIVE, ConstrainedClusterer, Traits
from linkwise.exceptions import InfeasibleConstraints
from linkwise.partition.agglomerative import Witness, agglomerate
from linkwise.partition.hard import cop_kmeans
from linkwise.partition.k_means import by_appearance, canonical_order
from linkwise.partition.tree import Tree

STARTS = 3  # of the k-means that proves feasibility: the quality of its partition hardly matters


class ConstrainedAgglomerative(ConstrainedClusterer):
    """Hierarchical clustering that keeps all constraints (Davidson & Ravi 2005).

    Must-linked points are joined first. Then the two nearest clusters are merged repeatedly, never
    across a cannot-link. Merges that would lead into a dead end are not made: a dead end has more
    clusters than requested, and cannot-links between all of them. So the number of clusters is
    the requested one, or the fit is refused with the reason.

    Without constraints it is scikit-learn's AgglomerativeClustering. It needs all distances,
    n_samples^2 memory; a fit that does not fit in memory is refused with an estimate.

    Parameters
    ----------
    n_clusters : int
    linkage : {"ward", "average", "complete", "single"}
        Distance of two clusters: the growth of the variance, or the mean, largest or smallest
        distance of their points.
    distance_threshold : float or None
        Merge only below this distance. Merging ends at n_clusters or at the threshold, whichever
        comes first, or when cannot-links prevent all further merges: pass n_clusters=1 for the
        threshold alone. None: n_clusters exactly.
    on_conflict : {"raise", "drop", "keep"}
        What to do when must-links and cannot-links contradict each other: raise
        InfeasibleConstraints, or leave out the cannot-links concerned; "drop" warns of them,
        "keep" lists them in ``violations_``.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.

    Attributes
    ----------
    labels_ : int array (n_samples,)
    n_clusters_ : int
    children_ : int array (n_samples - n_clusters_, 2)
        The merged pairs: rows of X, or n_samples + t for the result of merge t. Must-links come
        first.
    distances_ : array (n_samples - n_clusters_,), of the merges, 0 for must-links; never falling
    tree_ : Tree, the merges; ``tree_.cut(20)`` returns the labels of 20 clusters
        Must-linked points are in one leaf. It ends at n_clusters_ clusters.
    violations_ : list of Pair, the constraints not kept: empty unless on_conflict="keep"
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    Every constraint is kept, so weights would have no effect and are refused. Ties between equal
    distances are broken by the coordinates of the points, not by their order (by order if X is
    sparse).

    Examples
    --------
    >>> from linkwise import ConstrainedAgglomerative
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> ConstrainedAgglomerative(2).fit_predict(X).tolist()
    [0, 0, 1, 1]
    >>> ConstrainedAgglomerative(2).fit_predict(X, constraints=([(1, 2)], [(2, 3)])).tolist()
    [0, 0, 0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_ONE],
        "linkage": [StrOptions({"ward", "average", "complete", "single"})],
        "distance_threshold": [NOT_NEGATIVE, None],
        "on_conflict": ConstrainedClusterer._parameter_constraints["on_conflict"],
        "on_unknown": ConstrainedClusterer._parameter_constraints["on_unknown"],
    }
    traits = Traits(hard=True, weights=False, new_points=False, rows=10_000)
    random_state = 0  # used by fit; only the search for a first colouring draws random numbers

    n_clusters_: int
    children_: Integers
    distances_: Floats
    tree_: Tree

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        linkage: Literal["ward", "average", "complete", "single"] = "ward",
        distance_threshold: float | None = None,
        on_conflict: OnConflict = "raise",
        on_unknown: OnUnknown = "raise",
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.on_conflict = on_conflict
        self.on_unknown = on_unknown

    def _must_fit(self) -> bool:
        return self.distance_threshold is None

    def _learn(
        self,
        X: Matrix,
        links: Constraints,
        rng: np.random.Generator,
        *,
        out: Integers | None = None,
    ) -> Integers:
        n, k = X.shape[0], self.n_clusters
        check_memory(n, X.dtype, copies=3, instead="use COPKMeans")
        order = np.arange(n) if sparse.issparse(X) else canonical_order(X)
        rank, X = np.argsort(order), X[order]
        if not sparse.issparse(X):
            X = X - X.mean(axis=0)  # distances lose digits far from the origin
        must, cannot = rank[links.must_link], rank[links.cannot_link]
        group = components(n, must)
        cannot = cannot[group[cannot[:, 0]] != group[cannot[:, 1]]]  # others contradict
        edges = component_pairs(group, cannot)
        first = np.unique(group, return_index=True)[1]
        if k > len(first):
            raise InfeasibleConstraints(
                f"the must-links join the {n} points into {len(first)} groups, fewer than "
                f"n_clusters={k}: ask for at most {len(first)} clusters"
            )
        threshold, witness = self.distance_threshold, None
        if threshold is None and len(edges):
            kept = cop_kmeans(X, k, must, cannot, n_init=STARTS, rng=rng).labels
            witness = Witness(kept[first], edges, k)
        label, children, heights = agglomerate(
            X, group, edges, k, linkage=self.linkage, witness=witness,
            threshold=np.inf if threshold is None else threshold,
        )  # fmt: skip
        tree, top = _must_tree(group, order)
        names = np.r_[top, n + len(tree) + np.arange(len(children))]
        self.children_ = np.r_[tree, np.sort(names[children], axis=1)]
        self.distances_ = np.r_[np.zeros(len(tree), dtype=heights.dtype), heights]
        labels, clusters = by_appearance(label[group][rank])
        self.n_clusters_ = len(clusters)
        leaf, groups = by_appearance(group[rank])
        nodes = np.r_[np.argsort(groups), len(groups) + np.arange(len(children))]
        merged = np.sort(nodes[children], axis=1)
        first = np.unique(leaf, return_index=True)[1]
        self.tree_ = Tree(merged, heights, leaf, np.bincount(leaf), labels[first])
        return labels


def _must_tree(group: Array, order: Array) -> tuple[Array, Array]:
    """Return the merges (t, 2) that make the groups, and the name of each group in that tree."""
    n = len(group)
    top = np.full(group.max() + 1, -1)
    tree: list[list[int]] = []
    for row, c in zip(order.tolist(), group.tolist(), strict=True):
        if top[c] < 0:
            top[c] = row
        else:
            tree.append(sorted((int(top[c]), row)))
            top[c] = n + len(tree) - 1
    return np.array(tree, dtype=np.int64).reshape(-1, 2), top
