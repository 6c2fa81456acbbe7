"""Lower bounds of the time of each stage, from the rates of the machine.

A floor is the longer of two times: that of the floating point operations of a stage at the rate of
a large product in single precision, and that of the bytes it must read and write at the rate of a
copy. It ignores branches, sorting and scattered access, so no code need reach it. It counts

    nearest neighbours  every pair of points, in at most 64 dimensions; a search that looks at
                        fewer pairs goes below this floor
    weights             the neighbour lists read, the symmetric graph written
    eigenvectors        2 m + 1 products with the graph, and orthogonal Lanczos vectors
    learning            the m x m normal equations
    k-means             one pass over the embedding
    assignment          every point with every anchor
    Gram matrix         s^2 products for every point
    eigenvectors of anchors  the p x p matrix made tridiagonal
    warm refit          learning and k-means
"""

import time
from typing import NamedTuple

import numpy as np

PRODUCT = 2048  # rows and columns of the product
COPY = 1 << 27  # bytes
LEAST = 64  # dimensions that neighbours need
COMPONENTS = 20  # m, eigenvectors


class Rates(NamedTuple):
    flops: float  # a second, in a product of float32 matrices
    bytes: float  # a second, read and written by a copy


class Cost(NamedTuple):
    flops: float
    bytes: float


def _best(run, repeats):
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times[1:])  # the first wakes threads and touches pages


def measure_rates(job):
    """Return Rates of this machine as a dict; job has "repeats"."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, PRODUCT, PRODUCT), dtype=np.float32)
    out = np.empty_like(A)
    product = _best(lambda: np.matmul(A, B, out=out), job["repeats"])
    source = np.ones(COPY // 4, dtype=np.float32)
    target = np.empty_like(source)
    copy = _best(lambda: np.copyto(target, source), job["repeats"])
    return Rates(2 * PRODUCT**3 / product, 2 * COPY / copy)._asdict()


def costs(n, d, k, *, pairs, neighbours, anchors, nearest):
    """Return {stage: Cost} of a fit to n points in d columns, numbers of 4 bytes."""
    m, edges = COMPONENTS, 2 * n * neighbours
    learning = Cost((n + pairs) * m * (m + 1), 4 * n * m)
    pass_ = Cost(2 * n * k * m, 4 * n * m)
    return {
        "nearest neighbours": Cost(2 * n * n * min(d, LEAST), 4 * n * d + 8 * n * neighbours),
        "weights": Cost(2 * n * neighbours, 8 * n * neighbours + 8 * edges),
        "eigenvectors": Cost(
            (2 * m + 1) * 2 * edges + 2 * n * (2 * m + 1) ** 2,
            (2 * m + 1) * 8 * edges + 4 * n * (2 * m + 1) ** 2,
        ),
        "learning": learning,
        "k-means": pass_,
        "warm refit": Cost(learning.flops + pass_.flops, learning.bytes + pass_.bytes),
        "choosing anchors": Cost(2 * 20 * anchors * anchors * d, 4 * 20 * anchors * d),
        "assignment": Cost(2 * n * anchors * d, 4 * n * d + 6 * n * nearest),
        "Gram matrix": Cost(2 * n * nearest**2, 6 * n * nearest),
        "eigenvectors of anchors": Cost(4 / 3 * anchors**3, 8 * anchors**2),
    }


def seconds(cost, rates):
    """Return the floor of a Cost in seconds."""
    return max(cost.flops / rates.flops, cost.bytes / rates.bytes)
