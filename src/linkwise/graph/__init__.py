"""Neighbour graphs and affinities of points, on all pairs, on neighbours or through anchors."""

from linkwise.graph.affinity import (
    GaussianAffinity,
    NeighbourAffinity,
    PrecomputedAffinity,
    Rows,
    build_affinity,
    squared_distances,
)
from linkwise.graph.anchors import AnchorAffinity, AnchoredMatrix, choose_anchors, gram
from linkwise.graph.laplacians import balanced_components, degrees, laplacian, normalise
from linkwise.graph.neighbours import Neighbours, nearest_neighbours, neighbour_recall
from linkwise.graph.weights import gaussian, local_scaling, median_scale, resolve_sigma, symmetrise

__all__ = [
    "AnchorAffinity",
    "AnchoredMatrix",
    "GaussianAffinity",
    "NeighbourAffinity",
    "Neighbours",
    "PrecomputedAffinity",
    "Rows",
    "balanced_components",
    "build_affinity",
    "choose_anchors",
    "degrees",
    "gaussian",
    "gram",
    "laplacian",
    "local_scaling",
    "median_scale",
    "nearest_neighbours",
    "neighbour_recall",
    "normalise",
    "resolve_sigma",
    "squared_distances",
    "symmetrise",
]
