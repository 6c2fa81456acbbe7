"""Room 8: scikit-learn estimators, thin."""

from linkwise.estimators.kernels import KernelKMeans, OptimalKernelKMeans
from linkwise.estimators.spectral import (
    CCSKL,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
)

__all__ = [
    "CCSKL",
    "KernelKMeans",
    "OptimalKernelKMeans",
    "PropagatedSpectralClustering",
    "SignedSpectralClustering",
]
