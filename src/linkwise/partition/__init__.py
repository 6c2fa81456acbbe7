"""Room 5: vectors or a kernel to labels."""

from linkwise.partition.discretisation import discretise, pivoted_qr
from linkwise.partition.k_means import KMeansPartition, best_starts, kmeans, nearest_centre
from linkwise.partition.kernel_k_means import KernelPartition, kernel_kmeans

__all__ = [
    "KMeansPartition",
    "KernelPartition",
    "best_starts",
    "discretise",
    "kernel_kmeans",
    "kmeans",
    "nearest_centre",
    "pivoted_qr",
]
