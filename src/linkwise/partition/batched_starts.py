"""k-means in batches: the best of several k-means++ starts, all starts of all samples at a time.

Every step is a few products over a batch of starts, so that a device is busy and the host waits
for it only once in ``STEPS`` steps.

    (1)  D = [Z, 1] [-2 C, |c|^2]^T         squared distances less |z|^2, (samples, starts, rows, k)
    (2)  [sums, counts] = M^T [Z, 1]        M the indicator of the nearest centre

k-means++ draws each next centre with probability proportional to the squared distance to the
nearest one so far, the best of a few draws, as scikit-learn does.

Cost: O(samples starts rows k) memory.
"""

import math

import numpy as np

from linkwise.arrays import door, namespace, to_host

STEPS = 10  # Lloyd steps between two checks whether anything still moves
MOST_STEPS = 300  # as in scikit-learn
AT_REST = 1e-4  # sum of the squared moves of the centres, in units of the variance of the columns


def with_ones(Z):
    """Return [Z, 1]."""
    xp = namespace(Z)
    return xp.concat([Z, xp.ones_like(Z[..., :1])], axis=-1)


def less_length(Y, C):
    """Return D of Eq. (1) for Y = [Z, 1], (samples, 1, rows, m + 1)."""
    xp = namespace(Y)
    right = xp.concat([-2 * C, xp.sum(C * C, axis=-1, keepdims=True)], axis=-1)
    return Y @ xp.matrix_transpose(right)


def drawn_rows(weights, uniform):
    """Return row numbers drawn with probabilities proportional to the weights.

    Parameters
    ----------
    weights : array (samples, starts, rows)
    uniform : array (samples, starts, draws) in [0, 1)
    """
    xp = namespace(weights)
    total = xp.cumulative_sum(weights, axis=-1)
    target = uniform * total[..., -1:]
    below = total[..., None, :] <= target[..., None]  # (samples, starts, draws, rows)
    return xp.sum(below[..., :-1], axis=-1, dtype=xp.int64)


def rows_at(Z, rows):
    """Return the listed rows: Z (samples, 1, n, m), rows (samples, starts, count)."""
    xp = namespace(Z)
    samples, starts, count = rows.shape
    first = door(Z).asarray(np.arange(samples)[:, None] * Z.shape[-2], rows)
    flat = xp.reshape(xp.reshape(rows, (samples, -1)) + first, (-1,))
    found = xp.take(xp.reshape(Z, (-1, Z.shape[-1])), flat, axis=0)
    return xp.reshape(found, (samples, starts, count, Z.shape[-1]))


def plus_plus(Z, k, uniform):
    """Return k-means++ centres (samples, starts, k, m).

    Parameters
    ----------
    Z : array (samples, 1, rows, m)
    uniform : array (samples, starts, k, draws) in [0, 1)
    """
    xp, Y = namespace(Z), with_ones(Z)
    length = xp.sum(Z * Z, axis=-1)[..., None]  # (samples, 1, rows, 1)
    first = door(Z).cast(uniform[:, :, 0, :1] * Z.shape[-2], "int64")
    centres = [rows_at(Z, first)]  # each (samples, starts, 1, m)
    nearest = less_length(Y, centres[0]) + length  # (samples, starts, rows, 1)
    for step in range(1, k):
        weights = xp.clip(nearest[..., 0], 0, None)
        candidates = rows_at(Z, drawn_rows(weights, uniform[:, :, step]))
        D = xp.minimum(less_length(Y, candidates) + length, nearest)  # (..., rows, draws)
        best = xp.argmin(xp.sum(D, axis=-2, keepdims=True), axis=-1, keepdims=True)
        columns, rows = (*best.shape[:2], 1, Z.shape[-1]), (*best.shape[:2], Z.shape[-2], 1)
        centres.append(xp.take_along_axis(candidates, xp.broadcast_to(best, columns), axis=2))
        nearest = xp.take_along_axis(D, xp.broadcast_to(best, rows), axis=3)
    return xp.concat(centres, axis=2)


def lloyd(Y, C, names):
    """Return the centres after one Lloyd step, Eq. (2); a centre without rows stays."""
    xp = namespace(Y)
    number = xp.argmin(less_length(Y, C), axis=-1, keepdims=True)  # (samples, starts, rows, 1)
    M = door(Y).cast(number == names, Y)
    sums = xp.matrix_transpose(M) @ Y  # (samples, starts, k, m + 1)
    count = sums[..., -1:]
    return xp.where(count > 0, sums[..., :-1] / xp.clip(count, 1, None), C)


def settle(Y, C, *, most, rest):
    """Return the centres after Lloyd steps until none moves, at most ``most`` steps.

    Parameters
    ----------
    Y : array (samples, 1, rows, m + 1), rows with a last column of ones
    C : array (samples, starts, k, m)
    most : int
    rest : array (samples,), sum of the squared moves of the centres that ends the steps
    """
    xp = namespace(Y)
    names = door(Y).asarray(np.arange(C.shape[-2]), Y)
    advance = door(Y).repeated(lambda C: lloyd(Y, C, names), C)
    for _ in range(max(1, most // STEPS)):
        before = advance(STEPS - 1) + 0
        C = advance(1)
        if bool(xp.all(xp.sum((C - before) ** 2, axis=(-2, -1)) <= rest[:, None])):
            break
    return C + 0


def best_of_batch(samples, k, *, n_init, rng):
    """Return for each sample the centres (k, m) of the start of least inertia.

    Parameters
    ----------
    samples : list of arrays (rows, m); all have the same rows, columns may differ
    k : int
    n_init : int, number of starts
    rng : numpy Generator
    """
    xp, tools = namespace(samples[0]), door(samples[0])
    widest, n = max(Z.shape[1] for Z in samples), samples[0].shape[0]
    Z = xp.zeros_like(tools.empty((len(samples), 1, n, widest), samples[0]))
    for number, sample in enumerate(samples):
        Z[number, 0, :, : sample.shape[1]] = sample
    uniform = rng.random((1, n_init, k, 2 + int(math.log(k))))  # the same for every sample
    uniform = np.repeat(uniform, len(samples), axis=0)
    C = plus_plus(Z, k, tools.cast(tools.asarray(uniform, Z), Z))
    rest = AT_REST * xp.mean(xp.var(Z[:, 0], axis=1), axis=-1)  # (samples,)
    Y = with_ones(Z)
    C = settle(Y, C, most=MOST_STEPS, rest=rest)
    inertia = xp.sum(xp.min(less_length(Y, C), axis=-1), axis=-1)  # (samples, starts)
    best = to_host(xp.argmin(inertia, axis=-1))
    return [
        C[number, int(start), :, : sample.shape[1]]
        for number, (start, sample) in enumerate(zip(best, samples, strict=True))
    ]
