"""Room 3: learn the similarity."""

from linkwise.kernel.exhaustive import diffuse, spread, spread_edges
from linkwise.kernel.graph_kernels import GraphKernelAffinity, graph_kernel, graph_kernel_operator
from linkwise.kernel.imposition import impose
from linkwise.kernel.mixture import Mixture, fit_mixture, mixture_kernel, objective
from linkwise.kernel.propagation import Propagated, propagate
from linkwise.kernel.spectral_kernel import fit_spectrum
from linkwise.kernel.spectral_regularisation import fit_matrix, matrix_root

__all__ = [
    "GraphKernelAffinity",
    "Mixture",
    "Propagated",
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
    "spread",
    "spread_edges",
]
