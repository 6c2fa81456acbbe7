"""The classes that a saved model may contain; all others are refused."""

from types import MethodType

import numpy as np
from scipy import sparse

from linkwise import choice, estimators
from linkwise.blocks.rows import LazyRows
from linkwise.choice.combination import CoTrained, Member
from linkwise.choice.extension import Move
from linkwise.choice.sample_models import SampleModels
from linkwise.class_models import (
    FeatureSet,
    Gaussian,
    GraphPlace,
    IslandPlace,
    RidgePlace,
    Smoother,
    View,
)
from linkwise.constraints import Closure, Constraints, Pair
from linkwise.embedding.anchored import AnchoredBasis, AnchoredVectors
from linkwise.embedding.spectral import Basis
from linkwise.estimators.kernel_base import KernelClusterer
from linkwise.graph.affinity import GaussianAffinity, NeighbourAffinity, PrecomputedAffinity
from linkwise.graph.anchors import AnchorAffinity, AnchoredMatrix, Interpolation, Touched
from linkwise.graph.nearest_anchors import AnchorPlan
from linkwise.kernel.graph_kernels import GraphKernelAffinity
from linkwise.kernel.propagation import Apart, Joint, Links, Propagated
from linkwise.kernel.propagation_edges import EdgePosterior, GaussianKernel
from linkwise.kernel.spectral_regularization import Quadratic
from linkwise.partition.gaussian_mixture import Gaussians
from linkwise.partition.strays import Strays
from linkwise.partition.tree import Tree

PLAIN = {type(None), bool, int, str}
NUMBERS = "biufcU"  # kinds of arrays and scalars in files
# attributes of estimators that are computed again when they are needed; and the device, which the
# machine that reads the file may not have
NOT_SAVED = {"_unconstrained", "_left_out", "_soft", "_tree", "_device"}
METHODS = {"_embed"}  # of estimators, that rows computed when asked for are made by
SPARSE = {
    sparse.csr_array: ("data", "indices", "indptr"),
    sparse.csr_matrix: ("data", "indices", "indptr"),
    sparse.csc_array: ("data", "indices", "indptr"),
    sparse.csc_matrix: ("data", "indices", "indptr"),
    sparse.coo_array: ("data", "row", "col"),
    sparse.coo_matrix: ("data", "row", "col"),
}
TUPLES = (
    Pair, Closure, Basis, AnchoredBasis, AnchorPlan, Touched, Links, Joint, Apart, Propagated,
    EdgePosterior, Quadratic, Gaussians, View, GraphPlace, RidgePlace, Smoother, Gaussian, Member,
    SampleModels, IslandPlace, FeatureSet, CoTrained, Move, Strays, Tree,
)  # fmt: skip
ESTIMATORS = tuple(getattr(room, name) for room in (estimators, choice) for name in room.__all__)
# what files of older versions lack, and its default
ADDED_PARAMETERS: dict = {
    "on_unknown": "raise",
    "size": None,
    "balanced": False,
    "size_weight": None,
    "outliers": None,
}
# the same for what a fitted model has learnt
ADDED_ATTRIBUTES: dict[type, dict] = {choice.LinkClustering: {"runners_up_": [], "moves_": []}}
ATTRIBUTES = {
    NeighbourAffinity: "X n_neighbors search metric order recall sigma scales median_scale W",
    GaussianAffinity: "X sigma scales W",
    PrecomputedAffinity: "W",
    GraphKernelAffinity: "graph W",
    GaussianKernel: "X sigma _centre",
    AnchorAffinity: "sample anchors s plan sigma Z W",
    AnchoredMatrix: "Z core mass G touched shape dtype ndim",
    AnchoredVectors: "Z T reach touched V_t shape dtype",
    Interpolation: "indices weights shape dtype",
    LazyRows: "rows function shape dtype",
}
KINDS = {
    float: "float", tuple: "tuple", dict: "dict", np.ndarray: "array",
    np.memmap: "array", MethodType: "method",
} | {
    kind: kind.__name__
    for kind in (np.random.RandomState, Constraints, *SPARSE, *TUPLES, *ESTIMATORS, *ATTRIBUTES)
}  # fmt: skip


def kind_of(value):
    """Return the kind of a value in a file, or None."""
    if isinstance(value, np.generic):
        return "scalar"
    if isinstance(value, np.dtype):
        return "dtype"
    kind = KINDS.get(type(value))
    return "objects" if kind == "array" and value.dtype.kind in "OT" else kind


def check_names(kind, names):
    """Refuse an object whose attributes are not those of its class."""
    if kind in ATTRIBUTES:
        good = set(names) == set(ATTRIBUTES[kind].split())
    else:
        good = set(kind._get_param_names()) <= set(names)
    if not good:
        raise ValueError(f"{kind.__name__} with the attributes {', '.join(names)} is not known")


def trusted(value):
    """Yield indices of rows, and the number of rows, that compiled code does not check."""
    if isinstance(value, Interpolation):
        yield value.indices, value.shape[1]
    if isinstance(value, AnchorAffinity):
        yield value.plan.candidates, len(value.anchors)
        yield np.array(len(value.plan.centres) - 1), len(value.plan.candidates)
    if isinstance(value, KernelClusterer) and hasattr(value, "labels_"):
        yield value.labels_, value.n_clusters
    if isinstance(getattr(value, "_propagated", None), EdgePosterior):
        yield np.array(value._graph_.X.shape[0] - 1), value._propagated.A.shape[0]


def check_numbers(value):
    """Refuse an object with indices of rows that do not exist."""
    for numbers, count in trusted(value):
        inside = numbers.min(initial=0) >= 0 and numbers.max(initial=0) < max(count, 1)
        if numbers.dtype.kind not in "iu" or not inside:
            raise ValueError(f"its {type(value).__name__} has indices of rows that do not exist")
