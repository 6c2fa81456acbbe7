"""Agreement with true classes and between people, and the share of constraints that is kept."""

from linkwise.evaluate.agreement import (
    accuracy,
    adjusted_rand_index,
    clustering_error,
    mutual_information,
    rand_index,
)
from linkwise.evaluate.raters import Agreement, Ratings, agreement, answer_weights, rate
from linkwise.evaluate.satisfaction import Kept, kept, scores, untouched

__all__ = [
    "Agreement",
    "Kept",
    "Ratings",
    "accuracy",
    "adjusted_rand_index",
    "agreement",
    "answer_weights",
    "clustering_error",
    "kept",
    "mutual_information",
    "rand_index",
    "rate",
    "scores",
    "untouched",
]
