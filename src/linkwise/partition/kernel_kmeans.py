"""Semi-supervised kernel k-means, SS-Kernel-KMeans [1].

k-means in the feature space of a kernel, where must-links reward and cannot-links punish:

    (1)  K' = K + R,   R_ij = +w c_ij for a must-link, -w c_ij for a cannot-link (weight c_ij)
    (2)  d(i, c) = K'_ii - 2/|c| sum_{j in c} K'_ij + 1/|c|^2 sum_{j,l in c} K'_jl
    (3)  J = sum_i d(i, label_i) = tr K' - sum_c 1/|c| sum_{i,j in c} K'_ij
    (4)  w = n / (k C), C the number of constraints

Starts: the groups that must-links join are candidate centres; k of them are chosen far apart,
and filled up with single points far from those. K' is indefinite, so passes over all points at
once may cycle (two cannot-linked points flee each other to the same side for ever): they stop
when J no longer falls. From the best partition seen, single points then move, one at a time, as
long as a move lowers J:

    (5)  J after - before = S_a/|a| + S_b/|b| - S'_a/(|a| - 1) - S'_b/(|b| + 1),
         S_c = sum_{i,j in c} K'_ij,  S'_a = S_a - 2 g_ia + K'_ii,  S'_b = S_b + 2 g_ib + K'_ii,
         g_ic = sum_{j in c} K'_ij, for point i from cluster a to b.

K is dense, n^2 memory; R is sparse and never added to it. O(n^2 k) a pass, O(n k) a move.

[1] Kulis, Basu, Dhillon & Mooney, Semi-supervised graph clustering: a kernel approach,
    ICML 2005.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise.exceptions import ConvergenceWarning
from linkwise.partition.kmeans import by_appearance

PATIENCE = 5  # passes without a new best J before a start is given up


class KernelPartition(NamedTuple):
    labels: np.ndarray  # (n,) int
    within: np.ndarray  # (k,) the last term of Eq. (2) with K alone, for new points
    objective: float  # J of Eq. (3)
    n_iter: int  # passes of the start that was kept


def indicator(labels, k, dtype):
    """Return the csr_array (n, k) of cluster membership divided by cluster size."""
    n = len(labels)
    size = np.bincount(labels, minlength=k).astype(dtype)
    share = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
    return sparse.csr_array((share[labels], labels, np.arange(n + 1)), shape=(n, k))


def _means(K, R, H):
    """Return K' H (n, k): the mean kernel value of every point with every cluster."""
    return np.asarray((H.T @ K).T + (R @ H).toarray())


def _distances(M, H, diagonal):
    """Return d of Eq. (2), (n, k), from M = K' H. An empty cluster is infinitely far."""
    within = np.asarray(H.multiply(M).sum(axis=0)).ravel()
    empty = np.asarray(H.sum(axis=0)).ravel() == 0
    d = diagonal[:, None] - 2 * M + within
    d[:, empty] = np.inf
    return d


def _fill_empty(labels, d, k):
    """Return labels where every empty cluster has taken the point that fits its own least."""
    labels = labels.copy()
    own = d[np.arange(len(labels)), labels]
    for c in np.flatnonzero(np.bincount(labels, minlength=k) == 0):
        lonely = np.bincount(labels, minlength=k)[labels] == 1
        worst = int(np.argmax(np.where(lonely, -np.inf, own)))
        labels[worst], own[worst] = c, -np.inf
    return labels


def _lloyd(K, R, diagonal, labels, k, max_iter):
    """Return the best labels seen from this start, the passes, and whether they settled."""
    best, best_J, stale = labels, np.inf, 0
    for n_iter in range(1, max_iter + 1):
        H = indicator(labels, k, K.dtype)
        d = _distances(_means(K, R, H), H, diagonal)
        J = float(d[np.arange(len(labels)), labels].sum(dtype=np.float64))  # Eq. (3)
        if best_J - 1e-10 * max(1.0, abs(J)) > J:
            best, best_J, stale = labels, J, 0
        else:
            stale += 1
        new = _fill_empty(np.argmin(d, axis=1), d, k)
        if np.array_equal(new, labels) or stale > PATIENCE:
            return best, n_iter, True
        labels = new
    return best, max_iter, False


def _single_moves(K, R, diagonal, labels, k):
    """Return labels from which no single move lowers J, and the J they end at."""
    labels = labels.copy()
    n = np.arange(len(labels))
    size = np.bincount(labels, minlength=k).astype(np.float64)
    G = _means(K, R, indicator(labels, k, K.dtype)) * size  # g of Eq. (5), (n, k)
    S = np.bincount(labels, weights=G[n, labels], minlength=k)
    for _ in range(len(labels)):
        joined = (S + 2 * G + diagonal[:, None]) / (size + 1)
        gain = joined - S / np.maximum(size, 1)  # of Eq. (5), the part of b
        own = G[n, labels]
        left = (S[labels] - 2 * own + diagonal) / np.maximum(size[labels] - 1, 1)
        change = (S / np.maximum(size, 1))[labels] - left  # the part of a
        total = change[:, None] - gain
        total[n, labels] = np.inf
        total[size[labels] == 1] = np.inf  # no cluster is emptied
        i, b = np.unravel_index(np.argmin(total), total.shape)
        if not total[i, b] < -1e-9 * max(1.0, np.abs(S).max()):
            break
        a = labels[i]
        S[a] += diagonal[i] - 2 * G[i, a]
        S[b] += diagonal[i] + 2 * G[i, b]
        column = K[i] + R[[i]].toarray().ravel()  # K' is symmetric
        G[:, a] -= column
        G[:, b] += column
        size[a] -= 1
        size[b] += 1
        labels[i] = b
    J = diagonal.sum(dtype=np.float64) - np.sum(S / np.maximum(size, 1))  # Eq. (3)
    return labels, float(J)


def _start(K, diagonal, groups, k, rng, *, greedy):
    """Return labels from k seeds: must-link groups first, far apart, then single points.

    ``greedy`` takes the largest group, then always the candidate that is farthest, a group
    weighed by its size; otherwise candidates are drawn in proportion to that, as in k-means++.
    """
    n = len(K)
    size = np.bincount(groups)
    H = indicator(groups, len(size), K.dtype)  # a column for every group
    mean = (H.T @ K).T  # (n, groups)
    own = np.asarray(H.multiply(mean).sum(axis=0)).ravel()  # |centre|^2
    order = np.argsort(mean.sum(axis=0), kind="stable")  # draws do not depend on row numbers
    nearest = np.full(len(size), np.inf)
    to_seed = np.empty((n, k), dtype=np.float64)
    seeds: list[int] = []
    for c in range(k):
        gain = size.astype(float) if c == 0 else size * np.maximum(nearest, 0)
        if np.any(size > 1) and (c == 0 or np.any(gain[size > 1] > 0)):
            gain = np.where(size > 1, gain, 0)  # groups before single points
        gain[seeds] = 0
        if not np.any(gain > 0):  # all candidates coincide with a seed
            gain = np.isin(np.arange(len(size)), seeds, invert=True).astype(float)
        share = gain[order] / gain.sum()
        seed = int(order[np.argmax(share) if greedy else rng.choice(len(size), p=share)])
        seeds.append(seed)
        column = np.asarray(K @ H[:, [seed]].toarray()).ravel()  # (n,)
        to_seed[:, c] = diagonal - 2 * column + own[seed]
        group_to_seed = own - 2 * (H.T @ column) + own[seed]
        nearest = np.minimum(nearest, group_to_seed)
    labels = np.argmin(to_seed, axis=1)
    return labels[_first_of(groups)][groups] if np.any(size > 1) else labels


def _first_of(groups):
    """Return the row number of the first member of every group."""
    return np.unique(groups, return_index=True)[1]


def kernel_kmeans(K, k, *, R=None, groups=None, n_init=10, max_iter=100, shift=0.0, rng):
    """Return the partition of least J, Eq. (3), among several starts.

    Parameters
    ----------
    K : array (n, n), symmetric
    k : int <= n
    R : csr_array (n, n) or None, the rewards and penalties of Eq. (1)
    groups : int array (n,) or None
        Number of the must-link group of every point, 0 ... g - 1; None: all alone.
    n_init : int; the first start is the deterministic one, the others are drawn
    max_iter : int, passes a start
    shift : float, added to the diagonal of K'. Large values guarantee that J falls at every
        pass but freeze the partition at its start.
    rng : numpy Generator
    """
    n = len(K)
    R = sparse.csr_array((n, n), dtype=K.dtype) if R is None else R.astype(K.dtype)
    if shift:
        R = (R + shift * sparse.eye_array(n, dtype=K.dtype)).tocsr()
    groups = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    diagonal = np.diagonal(K) + R.diagonal()
    runs = []
    for start in range(n_init):
        labels = _start(K, np.diagonal(K), groups, k, rng, greedy=start == 0)
        labels = _fill_empty(labels, np.zeros((n, k)), k)
        labels, n_iter, settled = _lloyd(K, R, diagonal, labels, k, max_iter)
        runs.append((*_single_moves(K, R, diagonal, labels, k), n_iter, settled))
    labels, J, n_iter, settled = min(runs, key=lambda run: run[1])
    if not settled:
        warnings.warn(
            f"kernel k-means: {max_iter=} passes did not settle; the best partition seen is kept",
            ConvergenceWarning,
            stacklevel=2,
        )
    labels, _ = by_appearance(labels)
    H = indicator(labels, k, K.dtype)
    within = np.asarray(H.multiply((H.T @ K).T).sum(axis=0)).ravel()
    return KernelPartition(labels, within, J, n_iter)
