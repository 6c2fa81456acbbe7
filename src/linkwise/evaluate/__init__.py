"""Agreement of a clustering with true classes, and the share of constraints that it keeps."""

from linkwise.evaluate.agreement import (
    accuracy,
    adjusted_rand_index,
    clustering_error,
    mutual_information,
    rand_index,
)
from linkwise.evaluate.satisfaction import Kept, kept, scores, untouched

__all__ = [
    "Kept",
    "accuracy",
    "adjusted_rand_index",
    "clustering_error",
    "kept",
    "mutual_information",
    "rand_index",
    "scores",
    "untouched",
]
