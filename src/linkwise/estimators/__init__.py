"""The methods as scikit-learn estimators. Each is a thin class over functions of other rooms."""

from linkwise.estimators.agglomerative import ConstrainedAgglomerative
from linkwise.estimators.ccskl import CCSKL
from linkwise.estimators.centroids import COPKMeans, HMRFKMeans, MPCKMeans, PCKMeans
from linkwise.estimators.exhaustive import ExhaustivePropagation
from linkwise.estimators.flexible import FlexibleSpectralClustering
from linkwise.estimators.gaussian_mixture import ConstrainedGaussianMixture
from linkwise.estimators.kernel_kmeans import KernelKMeans
from linkwise.estimators.manifold import ManifoldLayout
from linkwise.estimators.normalized_cuts import NormalizedCuts
from linkwise.estimators.optimal_kernel import OptimalKernelKMeans
from linkwise.estimators.projections import ITML, ConstrainedLPP, ConstrainedPCA
from linkwise.estimators.propagated import PropagatedSpectralClustering
from linkwise.estimators.signed import SignedSpectralClustering
from linkwise.estimators.spectral_learning import SpectralLearning
from linkwise.estimators.spectral_regularization import SpectralRegularization

__all__ = [
    "CCSKL",
    "ITML",
    "COPKMeans",
    "ConstrainedAgglomerative",
    "ConstrainedGaussianMixture",
    "ConstrainedLPP",
    "ConstrainedPCA",
    "ExhaustivePropagation",
    "FlexibleSpectralClustering",
    "HMRFKMeans",
    "KernelKMeans",
    "MPCKMeans",
    "ManifoldLayout",
    "NormalizedCuts",
    "OptimalKernelKMeans",
    "PCKMeans",
    "PropagatedSpectralClustering",
    "SignedSpectralClustering",
    "SpectralLearning",
    "SpectralRegularization",
]
