"""The number of clusters, if it is open.

With enough constraints, co-EM from the learnt similarity is run for several numbers, and the one
is taken under which the constraints of other folds are most likely. With fewer constraints it is
the number of k-means clusters of the largest mean silhouette. Numbers below what the constraints
force are not tried.
"""

from typing import NamedTuple

import numpy as np

from linkwise.choice.judging import deal, judge
from linkwise.choice.starts import similarity_start
from linkwise.class_models import mean_silhouettes, plain_partitions

MOST_CLUSTERS = 40  # when the number is open: beyond, the search takes long and errs often
GRID = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 26, 33, 40)  # steps of at most a third, up to the most
STALE = 3  # numbers in a row that are no better end the search
ENOUGH = 20  # constraints: with fewer, scores of held-out ones are mostly noise
ROUNDS = 2  # of co-EM for each number: they are compared, not kept


class Count(NamedTuple):
    """The number of clusters, and the second best when it was open."""

    best: int
    runner_up: int | None = None


def forced(links, most):
    """Return the least number of clusters in which all constraints can hold, as far as is known.

    Cannot-links that contradict the must-links hold in none, and do not count.
    """
    links, k = links.drop_conflicts()[0], 2
    while k < most and links.conflict(k) is not None:
        k += 1
    return k


def held_out_scores(models, links, *, least, most, folds, seed):
    """Return {k: mean log p of the constraints} for the numbers of clusters that were tried."""
    found: dict = {}
    fold = deal(links, folds, seed)

    def score(k):
        if k not in found:
            partitions = plain_partitions(models.views, models.learners, k, seed)
            start = similarity_start(partitions, models.learners, k, seed)
            held_out = np.empty(len(fold))
            for number in range(folds):
                held = fold == number
                held_out[held] = judge(start, models.learners, k, links, held, rounds=ROUNDS)
            found[k] = float(held_out.mean())
        return found[k]

    tried = sorted({min(max(k, least), most) for k in GRID})
    best, stale = tried[0], 0
    score(best)
    for k in tried[1:]:
        best, stale = (k, 0) if score(k) > score(best) else (best, stale + 1)
        if stale == STALE:
            break
    for k in (best - 2, best - 1, best + 1, best + 2):
        if least <= k <= most:
            score(k)
    return found


def choose_count(models, known, links, effort, seed):
    """Return the Count that the data and the constraints suggest.

    Parameters
    ----------
    models : SampleModels
    known : Constraints between points of the sample, by their place in it
    links : Constraints, all of them
    effort : Effort
    seed : int
    """
    most = min(MOST_CLUSTERS, len(models.rows))
    least = min(forced(links, most), most)
    if known.n_pairs >= ENOUGH:
        scores = held_out_scores(
            models, known, least=least, most=most, folds=effort.folds, seed=seed
        )
    else:
        scores = mean_silhouettes(models.views, least=least, most=most, seed=seed)
    ranked = sorted(scores, key=lambda k: (-scores[k], k)) or [least]
    return Count(ranked[0], ranked[1] if len(ranked) > 1 else None)
