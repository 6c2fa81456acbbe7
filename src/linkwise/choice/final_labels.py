"""Labels of all points under all constraints."""

from typing import Any, NamedTuple

import numpy as np

from linkwise.arrays import door, namespace, to_host
from linkwise.choice.combination import soft_labels
from linkwise.class_models import probability_wrong, propagate
from linkwise.class_models.beliefs import error_of
from linkwise.constraints.closure import components
from linkwise.exceptions import InfeasibleConstraints
from linkwise.partition.hard import assign
from linkwise.partition.k_means import by_appearance
from linkwise.partition.sizes import Limits, flow_assignment, matched_limits, sized_assignment

LIKELY = 0.5  # probability of being wrong from which on a constraint need not be kept
# Probability of being wrong from which on a constraint is worth a look. With one wrong answer in
# ten this finds 90 % of the wrong ones and .7 % of the right ones; 0.5 finds 86 % and .6 %.
SUSPECT = 0.3
LEAST = 1e-6  # probability of a label: constraints can overrule the features anywhere
LEAST_COST = 1e-12  # probability, where costs are compared: keeps the logarithm finite


class FinalLabels(NamedTuple):
    """Labels of all points, and what they mean."""

    labels: np.ndarray  # (n,) in order of appearance
    probabilities: np.ndarray  # (n, k) of the clusters, constraints included
    suspicion: np.ndarray  # (m,) probability that each constraint is wrong
    clusters: np.ndarray  # (k,) the column of the soft labels that each label stands for


def soft_labels_of_all(X, plain, combination):
    """Return soft labels (n, k) by the features alone: as found on the sample, else placed."""
    models, n, k = plain.models, X.shape[0], combination.soft.shape[1]
    if len(models.rows) == n:
        return combination.soft
    tools = door(combination.soft)
    soft = tools.empty((n, k), combination.soft)
    soft[tools.asarray(models.rows, soft)] = combination.soft
    for rows, seen in plain.others(X, soft):
        found = soft_labels(models, combination.members, combination.co_trained, seen)
        soft[tools.asarray(rows, soft)] = found
    return soft


def labels_that_keep(q, links, rng, *, hard, limits=None, size_weight=None):
    """Return labels (n,) of high probability q (n, k) that keep the constraints.

    If soft constraints contradict each other, the cannot-links give way. If no assignment is found
    that keeps hard constraints, or that is within limits of the sizes, InfeasibleConstraints is
    raised.
    """
    must, cannot = links.must_link, links.cannot_link
    if not hard:
        of = components(len(q), must)
        cannot = cannot[of[cannot[:, 0]] != of[cannot[:, 1]]]
    cost = -np.log(np.maximum(q, LEAST_COST))
    if limits is not None and size_weight is None:
        return sized_assignment(cost, must, cannot, limits).labels
    prices = 0.0
    if limits is not None:
        prices = flow_assignment(cost, limits, weight=size_weight).prices
    labels = assign(cost + prices, must, cannot, rng)
    if labels is not None:
        touched = np.isin(np.arange(len(q)), links.ends)
        if limits is not None:
            sized_rest(labels, touched, cost, limits, prices, size_weight)
        return labels
    if hard:
        raise InfeasibleConstraints(
            f"no assignment to {q.shape[1]} clusters was found that keeps all constraints, within "
            'the bound of the search; raise n_clusters, or use respect="soft"'
        )
    return np.argmin(cost, axis=1)


def sized_rest(labels, fixed, cost, limits, prices, weight):
    """Label the points that are not fixed within soft limits, in place."""
    taken = np.bincount(labels[fixed], minlength=cost.shape[1])
    left = Limits(*(np.maximum(bound - taken, 0) for bound in limits))
    labels[~fixed] = flow_assignment(cost[~fixed], left, prices, weight).labels


def settle_raw(soft, links, error, rng, *, hard, limits=None, size_weight=None):
    """Return (labels (n,) as columns of q, q (n, k), the probability that each link is wrong)."""
    xp = namespace(soft)
    found = propagate(xp.log(xp.clip(soft, LEAST, None)), links, error)
    wrong = probability_wrong(found.same, links.sign, error_of(links.weight, error))
    kept = links if hard else links.select(wrong < LIKELY)
    labels = labels_that_keep(
        to_host(found.q), kept, rng, hard=hard, limits=limits, size_weight=size_weight
    )
    return labels, found.q, wrong


def at_least(clusters, k, least):
    """Return clusters, followed by others of the k if there are fewer than ``least``.

    >>> at_least(np.array([2, 0]), 5, least=3)
    array([2, 0, 1])
    """
    empty = np.setdiff1d(np.arange(k), clusters)
    return np.r_[clusters, empty[: max(0, least - len(clusters))]]


def settle(soft, links, error, rng, *, hard, least, limits=None, named=False, size_weight=None):
    """Return the FinalLabels.

    Parameters
    ----------
    soft : array (n, k), labels by the features alone
    links : Constraints on row numbers
    error : float in (0, 1/2), share of wrong constraints
    rng : numpy Generator
    hard : bool, whether all constraints are kept, or those that are more likely right than wrong
    least : int, the number of clusters to return at least, some of them without points
    limits : Limits of the sizes of the clusters, or None
    named : bool, whether the first limits are those of cluster 0, and so on; else clusters are
        numbered by first appearance
    size_weight : float or None, log odds that a point gives up at most for soft limits
    """
    xp, tools = namespace(soft), door(soft)
    how: Any = {"hard": hard, "limits": limits, "size_weight": size_weight}
    if named:
        order = matched_limits(to_host(xp.sum(soft, axis=0)), limits)
        labels, q, wrong = settle_raw(soft[:, tools.asarray(order, soft)], links, error, rng, **how)
        return FinalLabels(tools.asarray(labels, soft), q, wrong, order.astype(np.intp))
    raw, q, wrong = settle_raw(soft, links, error, rng, **how)
    labels, clusters = by_appearance(raw)
    clusters = at_least(clusters, soft.shape[1], least)
    q = q[:, tools.asarray(clusters, soft)]
    q = q / xp.sum(q, axis=1, keepdims=True)
    return FinalLabels(tools.asarray(labels, soft), q, wrong, clusters.astype(np.intp))
