"""Semi-supervised kernel k-means, SS-Kernel-KMeans, and its normalised-cut version [1].

k-means in a feature space, with a reward for every must-link kept and a penalty for every
cannot-link broken. Points have a mass m (1, or their degree in a graph), and
A_ij = m_i m_j <phi_i, phi_j>:

    (1)  A = K + R,   R_ij = +w c_ij for a must-link, -w c_ij for a cannot-link (weight c_ij)
    (2)  d(i, c) = A_ii / m_i^2 - 2 g_ic / (m_i V_c) + S_c / V_c^2
         g_ic = sum_{j in c} A_ij,  S_c = sum_{i,j in c} A_ij,  V_c = sum_{i in c} m_i
    (3)  J = sum_i m_i d(i, label_i) = sum_i A_ii / m_i - sum_c S_c / V_c
    (4)  w = n / (k C), C the number of constraints

With m = 1 and K a kernel this is kernel k-means. With m the degrees and K the weights of a graph,
J is the normalised cut up to a constant. Starts: must-linked groups are candidate centres; k of
them are chosen far apart, completed by single points far from those. A is indefinite, so passes
over all points at once may cycle (two cannot-linked points that both move away end up together
again). They stop when J no longer falls. From the best partition seen, single points then move,
one at a time, as long as a move from cluster a to b lowers J:

    (5)  J after - before = S_a/V_a + S_b/V_b - S'_a/(V_a - m_i) - S'_b/(V_b + m_i),
         S'_a = S_a - 2 g_ia + A_ii,  S'_b = S_b + 2 g_ib + A_ii

K is dense (n^2 memory) or sparse; R is sparse and never added to it. O(nnz(K) + n k) a pass,
O(n k) a move.

[1] Kulis, Basu, Dhillon & Mooney, Semi-supervised graph clustering: a kernel approach,
    ICML 2005.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.partition.k_means import by_appearance

PATIENCE = 5  # passes without a new best J that end a start: cycles are short


class KernelPartition(NamedTuple):
    """Labels, and what is needed to place new points."""

    labels: np.ndarray  # (n,) int
    within: np.ndarray  # (k,) S_c / V_c^2 of K alone, the last term of Eq. (2) for new points
    objective: float  # J of Eq. (3)
    n_iter: int  # passes of the best start


class Problem(NamedTuple):
    """K, R, the masses and the diagonal of K + R, Eq. (1)."""

    K: Any  # array or csr_array (n, n)
    R: sparse.csr_array
    mass: np.ndarray
    diagonal: np.ndarray

    def sums(self, labels, k):
        """Return g of Eq. (2), (n, k): (K + R) N for the membership N of labels."""
        if sparse.issparse(self.K):
            return _gathered(self.K, labels, k) + _gathered(self.R, labels, k)
        return (membership(labels, k, self.K.dtype).T @ self.K).T + _gathered(self.R, labels, k)

    def row(self, i):
        row = self.K[[i]].toarray().ravel() if sparse.issparse(self.K) else self.K[i]
        return row + self.R[[i]].toarray().ravel()


def _gathered(A, labels, k):
    """Return A N for a csr_array A: every entry is added to the cluster of its column."""
    n = A.shape[0]
    rows = np.repeat(k * np.arange(n), np.diff(A.indptr))
    found = np.bincount(rows + labels[A.indices], weights=A.data, minlength=n * k)
    return found.reshape(n, k)


def membership(labels, k, dtype):
    """Return the csr_array (n, k) with a 1 where a point is in a cluster."""
    n = len(labels)
    return sparse.csr_array((np.ones(n, dtype), labels, np.arange(n + 1)), shape=(n, k))


def _sums(problem, labels, k):
    """Return g (n, k), S (k,) and V (k,) of Eq. (2)."""
    G = problem.sums(labels, k)
    S = np.bincount(labels, weights=G[np.arange(len(labels)), labels], minlength=k)
    return G, S, np.bincount(labels, weights=problem.mass, minlength=k)


def _objective(problem, S, V):
    """Return J, Eq. (3)."""
    own = np.sum(problem.diagonal / problem.mass)
    return float(own - np.sum(S / np.where(V > 0, V, 1)))


def _distances(problem, G, S, V):
    """Return d of Eq. (2), (n, k). An empty cluster is infinitely far."""
    mass = problem.mass[:, None]
    V = np.where(V > 0, V, np.inf)
    d = problem.diagonal[:, None] / mass**2 - 2 * G / (mass * V) + S / V**2
    d[:, np.isinf(V)] = np.inf
    return d


def _fill_empty(labels, d, k):
    """Return labels where every empty cluster took the point farthest from its own centre."""
    labels = labels.copy()
    own = d[np.arange(len(labels)), labels]
    for c in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        lonely = np.bincount(labels, minlength=k)[labels] == 1
        worst = int(np.argmax(np.where(lonely, -np.inf, own)))
        labels[worst], own[worst] = c, -np.inf
    return labels


def _lloyd(problem, labels, k, max_iter):
    """Return the best labels seen from this start, the passes, and whether they settled."""
    best, best_J, stale = labels, np.inf, 0
    for n_iter in range(1, max_iter + 1):
        d = _distances(problem, *_sums(problem, labels, k))
        J = float(problem.mass @ d[np.arange(len(labels)), labels])  # Eq. (3)
        if best_J - J > 1e-10 * max(1.0, abs(J)):
            best, best_J, stale = labels, J, 0
        else:
            stale += 1
        new = _fill_empty(np.argmin(d, axis=1), d, k)
        if np.array_equal(new, labels) or stale > PATIENCE:
            return best, n_iter, True
        labels = new
    return best, max_iter, False


def _single_moves(problem, labels, k):
    """Return labels that no single move improves, and their J."""
    mass, diagonal = problem.mass, problem.diagonal
    labels = labels.copy()
    points = np.arange(len(labels))
    G, S, V = _sums(problem, labels, k)
    G = G.astype(np.float64)
    size = np.bincount(labels, minlength=k)
    for _ in range(len(labels)):
        ratio = S / np.where(V > 0, V, 1)
        joined = (S + 2 * G + diagonal[:, None]) / (V + mass[:, None]) - ratio
        rest = np.where(size[labels] > 1, V[labels] - mass, 1)
        left = ratio[labels] - (S[labels] - 2 * G[points, labels] + diagonal) / rest
        change = left[:, None] - joined  # Eq. (5)
        change[points, labels] = np.inf
        change[size[labels] == 1] = np.inf  # no cluster is emptied
        i, b = np.unravel_index(np.argmin(change), change.shape)
        if not change[i, b] < -1e-9 * max(1.0, np.abs(ratio).max()):
            break
        a = labels[i]
        S[a] += diagonal[i] - 2 * G[i, a]
        S[b] += diagonal[i] + 2 * G[i, b]
        row = problem.row(i)
        G[:, a] -= row
        G[:, b] += row
        V[a], V[b] = V[a] - mass[i], V[b] + mass[i]
        size[a], size[b] = size[a] - 1, size[b] + 1
        labels[i] = b
    return labels, _objective(problem, S, V)


def _as_found(problem, labels, k):
    """Return the labels as they are, and their J."""
    _, S, V = _sums(problem, labels, k)
    return labels, _objective(problem, S, V)


class Groups(NamedTuple):
    """The must-linked groups, including single points, as candidate centres."""

    N: sparse.csr_array  # (n, groups) membership
    size: np.ndarray  # (groups,) points
    V: np.ndarray  # (groups,) mass
    S: np.ndarray  # (groups,) sum of K inside
    order: np.ndarray  # an order of the groups that does not depend on row numbers


def _groups(problem, groups):
    n, K = len(problem.mass), problem.K
    N = membership(groups, groups.max() + 1, K.dtype)
    size, V = np.bincount(groups), np.bincount(groups, weights=problem.mass)
    own = K.diagonal()
    S = np.bincount(groups, weights=own).astype(np.float64)
    big = np.flatnonzero(size > 1)
    if len(big):
        part = N[:, big]
        inside = part.multiply((part.T @ K).T)
        S[big] = np.asarray(inside.sum(axis=0)).ravel()
    total = np.asarray(K.sum(axis=1)).reshape(n)
    return Groups(N, size, V, S, np.argsort((N.T @ total) / V, kind="stable"))


def _start(problem, groups, k, rng, *, greedy):
    """Return labels from k seeds far apart: must-linked groups first, then single points.

    ``greedy`` takes the largest group first, then always the candidate of the largest distance
    times size. Otherwise candidates are drawn in proportion to that, as in k-means++.
    """
    N, size, V, S, order = groups
    K, mass = problem.K, problem.mass
    own = K.diagonal()
    to_seed = np.empty((len(mass), k))
    nearest = np.full(len(size), np.inf)
    seeds: list[int] = []
    for c in range(min(k, len(size))):  # must-links may leave fewer groups than clusters
        gain = size.astype(float) if c == 0 else size * np.maximum(nearest, 0)
        if np.any(size > 1) and (c == 0 or np.any(gain[size > 1] > 0)):
            gain = np.where(size > 1, gain, 0)  # groups before single points
        gain[seeds] = 0
        if not np.any(gain > 0):  # all candidates coincide with a seed
            gain = np.isin(np.arange(len(size)), seeds, invert=True).astype(float)
        share = gain[order] / gain.sum()
        s = int(order[np.argmax(share) if greedy else rng.choice(len(size), p=share)])
        seeds.append(s)
        column = np.asarray(K @ N[:, [s]].toarray()).ravel()  # g of the seed, (n,)
        to_seed[:, c] = own / mass**2 - 2 * column / (mass * V[s]) + S[s] / V[s] ** 2
        between = S / V**2 - 2 * (N.T @ column) / (V * V[s]) + S[s] / V[s] ** 2
        nearest = np.minimum(nearest, between)
    to_seed = to_seed[:, : len(seeds)]
    labels = np.argmin(to_seed, axis=1)
    first = np.unique(N.indices, return_index=True)[1]  # a member of every group
    return _fill_empty(labels[first][N.indices], to_seed, k)


def kernel_kmeans(
    K,
    k,
    *,
    R=None,
    mass=None,
    groups=None,
    starts=(),
    n_init=10,
    max_iter=100,
    moves=True,
    shift=0.0,
    rng,
):
    """Return the partition of least J, Eq. (3), among several starts.

    Parameters
    ----------
    K : array or csr_array (n, n), symmetric
    k : int <= n
    R : csr_array (n, n) or None, the rewards and penalties of Eq. (1)
    mass : array (n,), > 0, or None for 1
    groups : int array (n,) or None
        The must-linked group of every point; None: no groups.
    starts : list of labels (n,), further starts
    n_init : int; the first start is the deterministic one, the others are drawn
    max_iter : int, passes a start
    moves : bool
        Whether single points move after the passes, Eq. (5). False is the algorithm of [1].
    shift : float
        Added to the diagonal of A, times the mass. Large values guarantee that J falls at every
        pass, but then the partition hardly leaves its start.
    rng : numpy Generator
    """
    n = K.shape[0]
    mass = np.ones(n, dtype=K.dtype) if mass is None else mass
    R = sparse.csr_array((n, n), dtype=K.dtype) if R is None else R.astype(K.dtype)
    if shift:
        R = (R + sparse.diags_array(shift * mass).astype(K.dtype)).tocsr()
    own = K.diagonal()
    problem = Problem(K, R, mass.astype(np.float64), own.astype(np.float64) + R.diagonal())
    groups = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    candidates = _groups(problem, groups)

    runs = []
    for start in range(n_init + len(starts)):
        if start < n_init:
            labels = _start(problem, candidates, k, rng, greedy=start == 0)
        else:
            labels = _fill_empty(starts[start - n_init], np.zeros((n, k)), k)
        labels, n_iter, settled = _lloyd(problem, labels, k, max_iter)
        finish = _single_moves if moves else _as_found
        runs.append((*finish(problem, labels, k), n_iter, settled))
    labels, J, n_iter, settled = min(runs, key=lambda run: run[1])
    if not settled:
        warn(
            f"kernel k-means did not settle within {max_iter=} passes; the best partition seen is "
            "kept; raise max_iter",
            ConvergenceWarning,
        )
    labels, _ = by_appearance(labels)
    plain = problem._replace(R=sparse.csr_array((n, n), dtype=K.dtype))
    _, S, V = _sums(plain, labels, k)
    return KernelPartition(labels, (S / V**2).astype(K.dtype), J, n_iter)
