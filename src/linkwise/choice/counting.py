"""The number of clusters, if it is open.

With enough constraints, candidates of the first feature set are judged for several numbers of
clusters. They start from cuts of one linkage of the islands (``partitions``), which gives the
clusters for every number. The number is taken of the largest

    (1)  log p(held-out constraints | k) - HOLD |log(k / k_0)|

where k_0 is the number of k-means clusters of the largest mean silhouette: a few constraints do not
lead far from what the data suggest. With fewer constraints it is k_0. Numbers outside the range
asked for, and below what the constraints force, are not tried.
"""

from typing import NamedTuple

import numpy as np

from linkwise.choice.candidates import Problem, deal, judge, rank_starts
from linkwise.class_models.partitions import Partition, linked, view_k_means

MOST_CLUSTERS = 40  # when no range is asked for: beyond, the search takes long and errs often
MOST_PLAIN = 10  # by silhouettes alone, or the least number if that is more: they favour few anyway
EACH = 40  # numbers of a range of which each gets a silhouette; of a wider one only some
GRID = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 26, 33, 40)  # steps of at most a third
STALE = 3  # numbers in a row that are no better end the search
HOLD = 10.0  # log-likelihood for a factor e: as much as three or four constraints can tell
ENOUGH = 20  # constraints: with fewer, scores of held-out ones are mostly noise


class Count(NamedTuple):
    """The number of clusters, and when it was open the others with their scores, best first."""

    best: int
    scores: tuple = ()  # of (number of clusters, score), the best first


def forced(links, most):
    """Return the least number of clusters in which all constraints can hold, as far as is known.

    Cannot-links that contradict the must-links hold in none, and do not count.
    """
    links, k = links.drop_conflicts()[0], 2
    while k < most and links.conflict(k) is not None:
        k += 1
    return k


def grid(least, most):
    """Return the numbers of clusters to try first, ascending; the last is at most ``most``.

    >>> grid(3, 90)
    [3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 26, 33, 40, 52, 67, 87]
    """
    found = list(GRID)
    while found[-1] * 1.3 <= most:
        found.append(int(found[-1] * 1.3))
    return sorted({min(max(k, least), most) for k in found})


def starts_for(plain, k, seed):
    """Return partitions into k clusters that are quick to make."""
    found = [
        linked(f"linkage {number}", linkage, k)
        for number, linkage in plain.linkages.items()
        if len(linkage.size) >= k
    ]
    view = plain.models.views[-1]
    return found or [Partition("k-means", view_k_means(view, k, np.random.default_rng([seed, k])))]


def held_out_scores(plain, links, *, least, most, folds, seed):
    """Return {k: mean log p of the constraints} for the numbers of clusters that were tried."""
    found: dict = {}
    fold = deal(links.n_pairs, folds, seed)

    def score(k):
        if k not in found:
            partitions = starts_for(plain, k, seed)
            ranked = rank_starts(partitions, np.ones(len(partitions)), k, links, seed)
            problem = Problem(plain.sets[:1], ranked[:1], k, links)
            held = judge(problem, links, fold, [(0, 0, number) for number in range(folds)])
            found[k] = float(np.hstack(held).mean(axis=1).max())
        return found[k]

    tried = grid(least, most)
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


def choose_count(plain, known, links, effort, seed, limits=None):
    """Return the Count that the data and the constraints suggest.

    Parameters
    ----------
    plain : Plain
    known : Constraints between points of the sample, by their place in it
    links : Constraints, all of them
    effort : Effort
    seed : int
    limits : (least, most) number of clusters, or None; more than ``least`` if the constraints
        force it
    """
    low, high = limits or (2, MOST_CLUSTERS)
    most = min(high, len(plain.models.rows))
    least = min(max(low, forced(links, most)), most)
    plain_most = most if limits else min(max(MOST_PLAIN, least), most)
    each = range(least, plain_most + 1)
    scores = plain.silhouettes(tuple(each if len(each) <= EACH else grid(least, plain_most)))
    if known.n_pairs >= ENOUGH:
        first = max(scores, key=lambda k: (scores[k], -k), default=least)
        held_out = held_out_scores(
            plain, known, least=least, most=most, folds=effort.folds, seed=seed
        )
        scores = {
            k: known.n_pairs * score - HOLD * abs(np.log(k / first))  # Eq. (1)
            for k, score in held_out.items()
        }
    ranked = sorted(scores, key=lambda k: (-scores[k], k))
    return Count(ranked[0] if ranked else least, tuple((k, float(scores[k])) for k in ranked))
