"""Embeddings: vectors from a graph, a kernel or points."""

from linkwise.embedding.anchored import AnchoredBasis, anchored_basis
from linkwise.embedding.flexible import Flexible, flexible_embedding, flexible_problem
from linkwise.embedding.manifold import layout, place
from linkwise.embedding.projections import constrained_lpp, constrained_pca, principal_axes
from linkwise.embedding.signed import mix_constraints, two_way_labels
from linkwise.embedding.spectral import (
    Basis,
    additive_basis,
    extend,
    spectral_basis,
    spectral_embedding,
    unit_rows,
)

__all__ = [
    "AnchoredBasis",
    "Basis",
    "Flexible",
    "additive_basis",
    "anchored_basis",
    "constrained_lpp",
    "constrained_pca",
    "extend",
    "flexible_embedding",
    "flexible_problem",
    "layout",
    "mix_constraints",
    "place",
    "principal_axes",
    "spectral_basis",
    "spectral_embedding",
    "two_way_labels",
    "unit_rows",
]
