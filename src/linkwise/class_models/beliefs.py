"""Probabilities of labels, given evidence for every point and constraints between points.

Every point i has a label z_i in 1..k with evidence g_i(z), the logarithm of what the features
say. A constraint is right with probability 1 - e:

    (1)  p(z | constraints) ~ prod_i exp g_i(z_i) prod_(i,j) psi_ij(z_i, z_j)
    (2)  psi_ij = 1 - e where the constraint agrees with z_i, z_j, else e

A constraint of weight c has the odds (1 - e)/e to the power c. Belief propagation [1] passes

    (3)  m_ij(z) ~ psi(differ) + (psi(same) - psi(differ)) b_ij(z)

from i to j, where b_ij is the label of i according to everything except j. Pairs drawn at random
form a graph with few short cycles, on which this is nearly exact. The messages also tell what the
other constraints and the features say about each pair, so a constraint can be judged without its
own vote:

    (4)  s_ij = sum_z b_ij(z) b_ji(z)                      probability of the same cluster
    (5)  w_ij = e (1 - s) / (e (1 - s) + (1 - e) s)        probability that a must-link is wrong;
                                                           for a cannot-link swap s and 1 - s
O(pairs k) a pass.

[1] Pearl, Probabilistic reasoning in intelligent systems, 1988.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from linkwise.arrays import door, to_host

PASSES = 30  # bounds the cost where cycles keep messages from settling; most settle earlier
DAMPING = 0.3  # share of the old message kept: contradictory cycles would oscillate without it
SETTLED = 1e-3  # change of a log message, far below what changes a label
SUREST = 1e-9  # least error rate: heavier constraints would overflow the logarithm in Eq. (3)


class Beliefs(NamedTuple):
    """The result of belief propagation."""

    q: np.ndarray  # (n, k) marginals
    same: np.ndarray  # (m,) s, Eq. (4)
    messages: np.ndarray  # (2 m, k)


def error_of(weight, error):
    """Return the error rate of constraints of some weight: odds (1 - e)/e to that power."""
    return np.maximum(expit(weight * np.log(error / (1 - error))), SUREST)


def propagate(evidence, links, error, *, messages=None):
    """Return the marginals of Eq. (1) by belief propagation.

    Parameters
    ----------
    evidence : array (n, k), g; the messages between the constrained points are those of NumPy
    links : Constraints on row numbers
    error : float in (0, 1/2), e
    messages : array (2 m, k) to start from, or None
    """
    tools, k, m = door(evidence), evidence.shape[1], links.n_pairs
    if m == 0:
        return Beliefs(tools.softmax(evidence), np.zeros(0), np.zeros((0, k)))
    touched, place = np.unique(links.ends, return_inverse=True)
    i, j = place.reshape(-1, 2).T
    rows = tools.asarray(touched, evidence)
    g = to_host(evidence[rows])  # (u, k)
    softmax = door(g).softmax
    source, target = np.concatenate((i, j)), np.concatenate((j, i))
    e = error_of(links.weight, error)
    same = np.tile(np.where(links.sign > 0, 1 - e, e), 2)[:, None]
    into = sparse.csr_array((np.ones(2 * m), (target, np.arange(2 * m))), (len(g), 2 * m))
    mean = np.full(k, 1 / k)
    M = np.zeros((2 * m, k)) if messages is None else messages

    def labels_without_other(total):
        """Return b_ij of all pairs and then b_ji, (2 m, k), from g and all messages (u, k)."""
        b = total.take(source, axis=0)
        b[:m] -= M[m:]
        b[m:] -= M[:m]
        return softmax(b)

    for _ in range(PASSES):
        b = labels_without_other(g + into @ M)
        new = np.log((1 - same) + (2 * same - 1) * b)  # Eq. (3)
        new -= (new @ mean)[:, None]
        change = abs(new - M).max()
        M = DAMPING * M + (1 - DAMPING) * new
        if change < SETTLED:
            break
    total = g + into @ M
    b = labels_without_other(total)
    q = tools.softmax(evidence)
    q[rows] = tools.asarray(softmax(total), q)
    return Beliefs(q, np.einsum("ij,ij->i", b[:m], b[m:]), M)  # Eq. (4)


def log_likelihood(same, sign, error):
    """Return log p of constraints (m,), where s is the probability of the same cluster."""
    right = np.where(sign > 0, same, 1 - same)
    return np.log(error + (1 - 2 * error) * right)


def probability_wrong(same, sign, error):
    """Return w of Eq. (5), (m,)."""
    right = np.where(sign > 0, same, 1 - same)
    return error * (1 - right) / (error * (1 - right) + (1 - error) * right)
