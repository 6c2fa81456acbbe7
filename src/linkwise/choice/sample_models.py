"""The points to learn from, and the class models of them."""

from typing import NamedTuple

import numpy as np

from linkwise.blocks.rows import content_sample, take_rows
from linkwise.choice.effort import for_points
from linkwise.class_models import coordinates, make_learners, make_views, prepare

CONSTRAINED = 0.5  # largest share of constrained points: the others show where the clusters are


class SampleModels(NamedTuple):
    """Views and learners of a sample of the points."""

    rows: np.ndarray  # (s,) the sample, ascending
    views: list  # of View
    learners: list  # of Smoother and Gaussian


def sample_rows(X, links, most, seed):
    """Return the rows to learn from, ascending: all, or ``most`` with constraints kept first.

    A constraint teaches only if both its points are in the sample. So whole constraints are drawn,
    as many as fit in CONSTRAINED of the sample; the others still count in the final labels.
    """
    n = X.shape[0]
    if n <= most:
        return np.arange(n)
    rng = np.random.default_rng([seed, 3])
    touched, limit = links.touched, int(CONSTRAINED * most)
    if len(touched) > limit:
        ends = links.ends[rng.permutation(links.n_pairs)].ravel()
        first = np.sort(np.unique(ends, return_index=True)[1])  # where each point comes up
        touched = np.sort(ends[first[: limit - limit % 2]])
    return np.union1d(touched, content_sample(X, most - len(touched), rng))


def fit_models(X, rows, effort, seed):
    """Return the SampleModels of some rows of X."""
    effort = for_points(effort, len(rows))
    views = make_views(take_rows(X, rows), kinds=effort.views, seed=seed)
    return SampleModels(rows, views, make_learners(views, effort.learners, seed))


def place_points(models, X):
    """Return the coordinates of new points X in the basis of every learner, a list of (q, r)."""
    seen = [prepare(view, X) for view in models.views]
    return [coordinates(one, seen[one.view]) for one in models.learners]
