"""Room 2: who is near whom."""

from linkwise.graph.affinity import (
    GaussianAffinity,
    NeighbourAffinity,
    PrecomputedAffinity,
    Rows,
    build_affinity,
    squared_distances,
)
from linkwise.graph.laplacian import balanced_components, degrees, laplacian, normalise
from linkwise.graph.neighbours import Neighbours, nearest_neighbours
from linkwise.graph.weights import gaussian, local_scaling, median_scale, resolve_sigma, symmetrise

__all__ = [
    "GaussianAffinity",
    "NeighbourAffinity",
    "Neighbours",
    "PrecomputedAffinity",
    "Rows",
    "balanced_components",
    "build_affinity",
    "degrees",
    "gaussian",
    "laplacian",
    "local_scaling",
    "median_scale",
    "nearest_neighbours",
    "normalise",
    "resolve_sigma",
    "squared_distances",
    "symmetrise",
]
