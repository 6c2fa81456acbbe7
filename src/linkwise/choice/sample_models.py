"""The points to learn from, and the class models of them."""

from typing import NamedTuple

import numpy as np

from linkwise.blocks.rows import content_sample, take_rows
from linkwise.class_models import coordinates, make_learners, make_views, prepare

CONSTRAINED = 0.5  # largest share of constrained points: the others show where the clusters are


class SampleModels(NamedTuple):
    """Views and learners of a sample of the points."""

    rows: np.ndarray  # (s,) the sample, ascending
    views: list  # of View
    learners: list  # of Smoother and Gaussian


def sample_rows(X, links, most, seed):
    """Return the rows to learn from, ascending: all, or ``most`` with constrained points first."""
    n = X.shape[0]
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng([seed, 3])
    touched, limit = links.touched, int(CONSTRAINED * most)
    if len(touched) > limit:
        touched = np.sort(rng.choice(touched, limit, replace=False))
    return np.union1d(touched, content_sample(X, most - len(touched), rng))


def fit_models(X, rows, effort, seed):
    """Return the SampleModels of some rows of X."""
    views = make_views(take_rows(X, rows), kinds=effort.views, seed=seed)
    return SampleModels(rows, views, make_learners(views, effort.learners, seed))


def place_points(models, X):
    """Return the coordinates of new points X in the basis of every learner, a list of (q, r)."""
    seen = [prepare(view, X) for view in models.views]
    return [coordinates(one, seen[one.view]) for one in models.learners]
