"""Class models: what the features and the constraints say about the cluster of every point.

views          the features prepared in several ways
learners       models of the classes in a view, which also place new points
partitions     partitions without constraints, and which one to believe
silhouettes    the number of clusters that the features alone suggest
beliefs        probabilities of labels given the constraints, by belief propagation
co_training    learners and constraints in turn (co-EM)
pair_softmax   class probabilities fitted to the constraints, from a partition on

`LinkClustering` and the questions of `linkwise.query` are both built from these. Constraints are
`Constraints` on row numbers (``links``) throughout.
"""

from linkwise.class_models.beliefs import Beliefs, probability_wrong, propagate
from linkwise.class_models.co_training import (
    ERROR,
    State,
    co_em,
    likely_error,
    log_probabilities,
    trust,
    trust_by_pairs,
)
from linkwise.class_models.learners import (
    Gaussian,
    GraphPlace,
    IslandPlace,
    RidgePlace,
    Smoother,
    coordinates,
    island_positions,
    leverages,
    make_learners,
    predict_classes,
)
from linkwise.class_models.pair_softmax import FeatureSet
from linkwise.class_models.partitions import Partition, agreements, plain_partitions
from linkwise.class_models.silhouettes import mean_silhouettes
from linkwise.class_models.views import View, make_views, prepare

__all__ = [
    "ERROR",
    "Beliefs",
    "FeatureSet",
    "Gaussian",
    "GraphPlace",
    "IslandPlace",
    "Partition",
    "RidgePlace",
    "Smoother",
    "State",
    "View",
    "agreements",
    "co_em",
    "coordinates",
    "island_positions",
    "leverages",
    "likely_error",
    "log_probabilities",
    "make_learners",
    "make_views",
    "mean_silhouettes",
    "plain_partitions",
    "predict_classes",
    "prepare",
    "probability_wrong",
    "propagate",
    "trust",
    "trust_by_pairs",
]
