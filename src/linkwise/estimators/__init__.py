"""Room 8: scikit-learn estimators, thin, one to a file."""

from linkwise.estimators.ccskl import CCSKL
from linkwise.estimators.exhaustive import ExhaustivePropagation
from linkwise.estimators.flexible import FlexibleSpectralClustering
from linkwise.estimators.kernel_kmeans import KernelKMeans
from linkwise.estimators.normalized_cuts import NormalizedCuts
from linkwise.estimators.optimal_kernel import OptimalKernelKMeans
from linkwise.estimators.propagated import PropagatedSpectralClustering
from linkwise.estimators.signed import SignedSpectralClustering
from linkwise.estimators.spectral_learning import SpectralLearning
from linkwise.estimators.spectral_regularization import SpectralRegularization

__all__ = [
    "CCSKL",
    "ExhaustivePropagation",
    "FlexibleSpectralClustering",
    "KernelKMeans",
    "NormalizedCuts",
    "OptimalKernelKMeans",
    "PropagatedSpectralClustering",
    "SignedSpectralClustering",
    "SpectralLearning",
    "SpectralRegularization",
]
