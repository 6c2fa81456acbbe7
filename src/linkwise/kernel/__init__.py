"""Kernels and affinities that are learned from constraints."""

from linkwise.kernel.exhaustive import diffuse, spread, spread_edges
from linkwise.kernel.exhaustive_anchors import anchor_judgement, spread_core
from linkwise.kernel.graph_kernels import GraphKernelAffinity, graph_kernel, graph_kernel_operator
from linkwise.kernel.imposition import impose
from linkwise.kernel.optimal_kernel import Mixture, fit_mixture, mixture_kernel, objective
from linkwise.kernel.propagation import Propagated, propagate, propagate_core
from linkwise.kernel.propagation_edges import GaussianKernel, propagate_edges
from linkwise.kernel.spectral_kernel import diagonal_terms, fit_spectrum
from linkwise.kernel.spectral_regularization import diagonal_errors, fit_matrix, matrix_root

__all__ = [
    "GaussianKernel",
    "GraphKernelAffinity",
    "Mixture",
    "Propagated",
    "anchor_judgement",
    "diagonal_errors",
    "diagonal_terms",
    "diffuse",
    "fit_matrix",
    "fit_mixture",
    "fit_spectrum",
    "graph_kernel",
    "graph_kernel_operator",
    "impose",
    "matrix_root",
    "mixture_kernel",
    "objective",
    "propagate",
    "propagate_core",
    "propagate_edges",
    "spread",
    "spread_core",
    "spread_edges",
]
