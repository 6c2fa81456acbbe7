"""CCSKL and LinkClustering on a GPU: seconds by stage, recall, agreement, and the CPU beside it."""
