"""What answers about pairs say about the labels of points that have evidence of their own.

Every point i has a label z_i in 1..k with evidence g_i(z) (log of what the features say). An
answer about a pair is right with probability 1 - e:

    (1)  p(z | answers) ~ prod_i exp g_i(z_i) prod_(i,j) psi_ij(z_i, z_j)
    (2)  psi_ij = 1 - e where the answer agrees with z_i, z_j, else e

An answer of weight c counts like odds (1 - e)/e to the power c. Belief propagation [1] passes

    (3)  m_ij(z) ~ psi(differ) + (psi(same) - psi(differ)) b_ij(z)

from i to j, b_ij being the label of i as all but j tell it. Pairs drawn at random form a graph
with few short cycles, where this is nearly exact. It gives what other answers and the features
say about each pair, with which an answer can be scored by what it did not tell itself:

    (4)  s_ij = sum_z b_ij(z) b_ji(z)                      the pair is the same
    (5)  w_ij = e (1 - s) / (e (1 - s) + (1 - e) s)        a must-link is wrong; s, 1 - s change
                                                           places for a cannot-link
O(pairs k) a pass.

[1] Pearl, Probabilistic reasoning in intelligent systems, 1988.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

PASSES = 30
DAMPING = 0.3
SETTLED = 1e-3
SUREST = 1e-9  # least error rate, whatever the weight


class Answers(NamedTuple):
    """Pairs (m, 2) of row numbers, sign +1 or -1, weight."""

    pairs: np.ndarray
    sign: np.ndarray
    weight: np.ndarray

    def take(self, which):
        return Answers(self.pairs[which], self.sign[which], self.weight[which])

    def touched(self, n):
        """Return which of n points have an answer, bool (n,)."""
        return np.bincount(self.pairs.ravel(), minlength=n) > 0


class Beliefs(NamedTuple):
    q: np.ndarray  # (n, k) marginals
    same: np.ndarray  # (m,) s, Eq. (4)
    messages: np.ndarray  # (2 m, k)


def error_of(weight, error):
    """Return the error rate of answers of a weight: odds (1 - e)/e to that power."""
    return np.maximum(expit(weight * np.log(error / (1 - error))), SUREST)


def propagate(evidence, answers, error, *, messages=None):
    """Return the marginals of Eq. (1) by belief propagation.

    Parameters
    ----------
    evidence : array (n, k), g
    answers : Answers
    error : float in (0, 1/2), e
    messages : array (2 m, k) to start from, or None
    """
    n, k = evidence.shape
    i, j = answers.pairs.T
    m = len(i)
    if m == 0:
        return Beliefs(softmax(evidence, axis=1), np.zeros(0), np.zeros((0, k)))
    source, target = np.concatenate((i, j)), np.concatenate((j, i))
    e = error_of(answers.weight, error)
    same = np.tile(np.where(answers.sign > 0, 1 - e, e), 2)[:, None]
    back = np.concatenate((np.arange(m, 2 * m), np.arange(m)))
    into = sparse.csr_array((np.ones(2 * m), (target, np.arange(2 * m))), (n, 2 * m))
    M = np.zeros((2 * m, k)) if messages is None else messages
    for _ in range(PASSES):
        b = softmax((evidence + into @ M)[source] - M[back], axis=1)
        new = np.log((1 - same) + (2 * same - 1) * b)  # Eq. (3)
        new -= new.mean(axis=1, keepdims=True)
        change = abs(new - M).max()
        M = DAMPING * M + (1 - DAMPING) * new
        if change < SETTLED:
            break
    total = evidence + into @ M
    b = softmax(total[source] - M[back], axis=1)
    return Beliefs(softmax(total, axis=1), np.einsum("ij,ij->i", b[:m], b[m:]), M)


def log_likelihood(same, sign, error):
    """Return log p of answers (m,) where s is the probability of the same cluster."""
    right = np.where(sign > 0, same, 1 - same)
    return np.log(error + (1 - 2 * error) * right)


def probability_wrong(same, sign, error):
    """Return w of Eq. (5), (m,)."""
    right = np.where(sign > 0, same, 1 - same)
    return error * (1 - right) / (error * (1 - right) + (1 - error) * right)
