"""k-means in batches: the best of several k-means++ starts, all starts of all samples at a time.

Every step is a few products over a batch of starts, so that a device is busy and the host waits
for it only once in ``STEPS`` steps. The steps of k-means++ are the same operations with other
numbers as well, so that a GPU records and replays them.

    (1)  D = [Z, 1] [-2 C, |c|^2]^T         squared distances less |z|^2, (samples, rows, starts, k)
    (2)  [sums, counts] = M^T [Z, 1]        M the indicator of the nearest centre

The rows of (2) are summed in groups of ``GROUP``, and then the groups: one long sum for each of a
few centres would leave a device idle. Rows of zeros fill the last group; they add nothing.

k-means++ draws each next centre with probability proportional to the squared distance to the
nearest one so far, the best of a few draws, as scikit-learn does.

Cost: O(samples starts rows k) memory.
"""

import math

import numpy as np

from linkwise.arrays import door, namespace, to_host

STEPS = 10  # Lloyd steps between two checks whether anything still moves
MOST_STEPS = 300  # as in scikit-learn
GROUP = 256  # rows of a sum in Eq. (2)
AT_REST = 1e-4  # sum of the squared moves of the centres, in units of the variance of the columns


def with_ones(Z):
    """Return [Z, 1]."""
    xp = namespace(Z)
    return xp.concat([Z, xp.ones_like(Z[..., :1])], axis=-1)


def less_length(Y, C):
    """Return D of Eq. (1) for Y = [Z, 1], (samples, rows, m + 1), and C (samples, starts, k, m)."""
    xp = namespace(Y)
    right = xp.concat([-2 * C, xp.sum(C * C, axis=-1, keepdims=True)], axis=-1)
    samples, starts, k, width = right.shape
    D = Y @ xp.matrix_transpose(xp.reshape(right, (samples, starts * k, width)))
    return xp.reshape(D, (samples, -1, starts, k))


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


def rows_at(Z, rows, first):
    """Return the listed rows: Z (samples, n, m), rows (samples, starts, count).

    ``first`` (samples, 1) are the numbers of the first rows of the samples in a list of all rows.
    """
    xp = namespace(Z)
    samples, starts, count = rows.shape
    flat = xp.reshape(xp.reshape(rows, (samples, -1)) + first, (-1,))
    found = xp.take(xp.reshape(Z, (-1, Z.shape[-1])), flat, axis=0)
    return xp.reshape(found, (samples, starts, count, Z.shape[-1]))


def plus_plus(Z, k, uniform):
    """Return k-means++ centres (samples, starts, k, m).

    Parameters
    ----------
    Z : array (samples, rows, m)
    uniform : array (samples, starts, k, draws) in [0, 1)
    """
    xp, tools, Y = namespace(Z), door(Z), with_ones(Z)
    (samples, starts), (n, m) = uniform.shape[:2], Z.shape[-2:]
    length = xp.sum(Z * Z, axis=-1)[..., None, None]  # (samples, rows, 1, 1)
    first = tools.asarray(np.arange(samples)[:, None] * n, Z)
    centre = rows_at(Z, tools.cast(uniform[:, :, 0, :1] * n, "int64"), first)
    centres = xp.broadcast_to(centre, (samples, starts, k, m)) + 0  # all but one are to come
    if k == 1:
        return centres
    nearest = less_length(Y, centre) + length  # (samples, rows, starts, 1)
    places = tools.asarray(np.arange(k)[:, None], Z)

    def one_more(state):
        nearest, centres, place = state
        weights = xp.clip(xp.matrix_transpose(nearest[..., 0]), 0, None)
        drawn = drawn_rows(weights, xp.take(uniform, place, axis=2)[:, :, 0])
        candidates = rows_at(Z, drawn, first)
        D = less_length(Y, candidates) + length  # (samples, rows, starts, draws)
        D = xp.minimum(D, nearest)
        best = xp.argmin(xp.sum(D, axis=1), axis=-1)[:, :, None, None]
        columns = xp.broadcast_to(best, (samples, starts, 1, m))
        rows = xp.broadcast_to(best[:, None, :, :, 0], (samples, n, starts, 1))
        centre = xp.take_along_axis(candidates, columns, axis=2)
        nearest = xp.take_along_axis(D, rows, axis=3)
        return nearest, xp.where(places == place, centre, centres), place + 1

    second = tools.asarray(np.ones(1, dtype=np.int64), Z)
    return tools.repeated(one_more, (nearest, centres, second))(k - 1)[1]


def in_groups(Y):
    """Return rows (samples, n, w) as (samples, groups, GROUP, w); zeros fill the last group."""
    xp, (samples, n, width) = namespace(Y), Y.shape
    more = xp.zeros_like(door(Y).empty((samples, -n % GROUP, width), Y))
    return xp.reshape(xp.concat([Y, more], axis=1), (samples, -1, GROUP, width))


def lloyd(Y, C, names):
    """Return the centres after one Lloyd step, Eq. (2); a centre without rows stays.

    Y are rows `in_groups`, and ``names`` the numbers of the centres.
    """
    xp, (samples, starts, k, m) = namespace(Y), C.shape
    D = less_length(xp.reshape(Y, (samples, -1, m + 1)), C)
    M = door(Y).cast(xp.argmin(D, axis=-1, keepdims=True) == names, Y)
    M = xp.reshape(M, (samples, -1, GROUP, starts * k))
    sums = xp.reshape(xp.sum(xp.matrix_transpose(M) @ Y, axis=1), (samples, starts, k, m + 1))
    count = sums[..., -1:]
    return xp.where(count > 0, sums[..., :-1] / xp.clip(count, 1, None), C)


def settle(Y, C, *, most, rest):
    """Return the centres after Lloyd steps until none moves, at most ``most`` steps.

    Parameters
    ----------
    Y : array (samples, rows, m + 1), rows with a last column of ones
    C : array (samples, starts, k, m)
    most : int
    rest : array (samples,), sum of the squared moves of the centres that ends the steps
    """
    xp, Y = namespace(Y), in_groups(Y)
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
    Z = xp.zeros_like(tools.empty((len(samples), n, widest), samples[0]))
    for number, sample in enumerate(samples):
        Z[number, :, : sample.shape[1]] = sample
    uniform = rng.random((1, n_init, k, 2 + int(math.log(k))))  # the same for every sample
    uniform = np.repeat(uniform, len(samples), axis=0)
    C = plus_plus(Z, k, tools.cast(tools.asarray(uniform, Z), Z))
    rest = AT_REST * xp.mean(xp.var(Z, axis=1), axis=-1)  # (samples,)
    Y = with_ones(Z)
    C = settle(Y, C, most=MOST_STEPS, rest=rest)
    inertia = xp.sum(xp.min(less_length(Y, C), axis=-1), axis=1)  # (samples, starts)
    best = to_host(xp.argmin(inertia, axis=-1))
    return [
        C[number, int(start), :, : sample.shape[1]]
        for number, (start, sample) in enumerate(zip(best, samples, strict=True))
    ]
