"""Partitions: labels from vectors or from a kernel.

k_means            k-means by blocks of rows
kernel_k_means     kernel k-means with rewards and penalties (SS-Kernel-KMeans)
hard               k-means that keeps every constraint (COP-KMeans)
sizes              clusters whose sizes are within limits
entities           one cluster for each entity, from scored pairs of records
strays             rows that belong to no cluster
penalised          k-means where broken constraints cost (PCK-, HMRF- and MPCK-KMeans)
distortion         the distances and prices of these
gaussian_mixture   Gaussian mixture with constraints
agglomerative      agglomerative clustering with constraints
tree               parts of clusters and unions of them, level by level
discretisation     labels from eigenvectors, by rotation
colouring          labels that separate cannot-linked groups
groups             must-linked groups and seeds, shared by several methods
"""

from linkwise.partition.discretisation import discretise, pivoted_qr
from linkwise.partition.entities import Entities, resolve_entities, resolve_pairs
from linkwise.partition.k_means import KMeansPartition, best_starts, kmeans, nearest_centre
from linkwise.partition.kernel_k_means import KernelPartition, kernel_kmeans
from linkwise.partition.tree import Tree, link_tree

__all__ = [
    "Entities",
    "KMeansPartition",
    "KernelPartition",
    "Tree",
    "best_starts",
    "discretise",
    "kernel_kmeans",
    "kmeans",
    "link_tree",
    "nearest_centre",
    "pivoted_qr",
    "resolve_entities",
    "resolve_pairs",
]
