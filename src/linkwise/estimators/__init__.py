"""Room 8: scikit-learn estimators, thin, one to a file."""

from linkwise.estimators.ccskl import CCSKL
from linkwise.estimators.kernel_kmeans import KernelKMeans
from linkwise.estimators.optimal_kernel import OptimalKernelKMeans
from linkwise.estimators.propagated import PropagatedSpectralClustering
from linkwise.estimators.signed import SignedSpectralClustering

__all__ = [
    "CCSKL",
    "KernelKMeans",
    "OptimalKernelKMeans",
    "PropagatedSpectralClustering",
    "SignedSpectralClustering",
]
