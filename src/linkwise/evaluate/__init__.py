"""Room 6: how good is a clustering, and what does it keep of the constraints."""

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
