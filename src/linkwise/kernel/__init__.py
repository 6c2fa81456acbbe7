"""Room 3: learn the similarity."""

from linkwise.kernel.mixture import Mixture, fit_mixture, mixture_kernel, objective
from linkwise.kernel.propagation import Propagated, propagate
from linkwise.kernel.spectral_kernel import fit_spectrum

__all__ = [
    "Mixture",
    "Propagated",
    "fit_mixture",
    "fit_spectrum",
    "mixture_kernel",
    "objective",
    "propagate",
]
