"""Room 9: the one method to use when you do not know which."""

from linkwise.choice.link_clustering import LinkClustering

__all__ = ["LinkClustering"]
