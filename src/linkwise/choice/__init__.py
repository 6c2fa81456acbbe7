"""LinkClustering: the one method to use when you do not know which.

effort             how much is tried
sample_models      the points to learn from, and the class models of them
counting           the number of clusters
candidates         fits to the constraints, judged by constraints that they did not use
combination        candidates combined by weight, and new points
final_labels       labels of all points under all constraints
extension          new rows in a clustering that exists
levels             where the tree of clusters takes its distances
explanation        what was chosen, in words
link_clustering    the estimator
bound_constraints  constraints bound to any estimator, and its score on held-out ones
"""

from linkwise.choice.bound_constraints import AllRows, LinkScore, WithConstraints
from linkwise.choice.link_clustering import LinkClustering

__all__ = ["AllRows", "LinkClustering", "LinkScore", "WithConstraints"]
