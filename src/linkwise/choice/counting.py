"""The number of clusters, if it is open.

With enough constraints, candidates of the first feature set are judged for several numbers of
clusters. They start from linkage or communities in one view (``partitions``), those that suit the
constraints of a first fold best. The number is taken of the largest

    (1)  log p(held-out constraints | k) - HOLD |log(k / k_0)|

where k_0 is the number of k-means clusters of the largest mean silhouette: a few constraints do not
lead far from what the data suggest. With fewer constraints it is k_0. Numbers outside the range
asked for, and below what the constraints force, are not tried.

Among random pairs the share of must-links tells about k. Among chosen pairs, such as the questions
of a session, it does not, and models with many clusters would win by the mere number of
cannot-links. There a likelihood below that of the share alone counts as that of the share. Chosen
pairs come back to the same points; m random pairs of n points touch about

    (2)  n (1 - exp(-2 m / n))
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from linkwise.choice.candidates import (
    Problem,
    chance_score,
    folds_of,
    judge,
    start_likelihoods,
    started,
)
from linkwise.class_models.partitions import Partition, unmade, view_k_means

MOST_CLUSTERS = 40  # when no range is asked for: beyond, the search takes long and errs often
MOST_PLAIN = 10  # by silhouettes alone, or the least number if that is more: they favour few anyway
EACH = 40  # numbers of a range of which each gets a silhouette; of a wider one only some
GRID = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 26, 33, 40)  # steps of at most a third
STALE = 2  # numbers in a row that are no better end the search; with 3 no better ones are found
FOLDS = 3  # at most; 3 to 5 find numbers of the same agreement, in a time that grows with them
HOLD = 10.0  # log-likelihood for a factor e: as much as three or four constraints can tell
ENOUGH = 20  # constraints: with fewer, scores of held-out ones are mostly noise
CHOSEN = 0.6  # of (2): sessions on four sets touch .26 to .58 with 40 questions, random pairs 1


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


def look_chosen(links, n):
    """Tell whether the constraints touch far fewer of n points than random pairs, Eq. (2)."""
    return len(links.ids) < CHOSEN * n * -np.expm1(-2 * links.n_pairs / n)


def starts_for(plain, k, seed):
    """Return partitions into k clusters that are quick to make with constraints."""
    linkages = (one for one in plain.linkages(k).values() if len(one.size) >= k)
    found = [one for linkage in linkages for one in unmade(linkage)]
    view = plain.models.views[-1]
    return found or [Partition("k-means", view_k_means(view, k, np.random.default_rng([seed, k])))]


def held_out_scores(plain, links, *, least, most, folds, seed):
    """Return {k: Eq. (1) of ``candidates``} for the numbers of clusters that were tried.

    If the pairs were chosen, it is at least the score of chance.
    """
    found: dict = {}
    chosen = look_chosen(links, len(plain.models.rows))

    @cache
    def dealt_for(two):
        dealt = folds_of(links, folds, 2 if two else 3, seed)
        return [one._replace(known={}) for one in dealt]

    def score(k):
        if k not in found:
            dealt, starts = dealt_for(k == 2), starts_for(plain, k, seed)
            likely = start_likelihoods(started(dealt[:1], starts, k), k)
            start = starts[int(np.argmax(likely))]
            dealt = started(dealt, [start], k)
            problem = Problem(plain.sets[:1], [start], k, links)
            held = judge(problem, dealt, [(0, 0, number) for number in range(len(dealt))])
            found[k] = float(np.hstack(held).mean(axis=1).max())
            if chosen:
                found[k] = max(found[k], chance_score(dealt))
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
            plain, known, least=least, most=most, folds=min(effort.folds, FOLDS), seed=seed
        )
        scores = {
            k: known.n_pairs * score - HOLD * abs(np.log(k / first))  # Eq. (1)
            for k, score in held_out.items()
        }
    ranked = sorted(scores, key=lambda k: (-scores[k], k))
    return Count(ranked[0] if ranked else least, tuple((k, float(scores[k])) for k in ranked))
