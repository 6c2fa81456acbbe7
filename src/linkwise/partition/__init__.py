"""Room 5: vectors or a kernel to labels."""

from linkwise.partition.discretise import discretise, pivoted_qr
from linkwise.partition.kernel_kmeans import KernelPartition, kernel_kmeans
from linkwise.partition.kmeans import Partition, kmeans, nearest_centre

__all__ = [
    "KernelPartition",
    "Partition",
    "discretise",
    "kernel_kmeans",
    "kmeans",
    "nearest_centre",
    "pivoted_qr",
]
