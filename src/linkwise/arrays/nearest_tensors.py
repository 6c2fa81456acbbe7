"""The nearest neighbours on a device: all points are compared, by products in half precision.

`products` finds the groups of points with the least minima. All points of these groups are
compared again in single precision, and the best in double precision, from differences. With
points scaled to length 1 at most, w the width of the product and u = 2^-23 the precision of its
sums, an entry of the product is wrong by at most

    (1)  E = (w + 64) u (2 |q| + 1) + sqrt(d) u (|q| + 1)

so a point outside these groups has |q - x|^2 >= limit + |q|^2 - E, where ``limit`` is the least
minimum of the other groups. Queries whose k-th neighbour is not nearer than that are compared with
every point by differences.

Cost: O(n q d) time, at the speed of products in half precision; O(q k) memory, and blocks of
queries as large as the free memory allows.
"""

import math

import torch

from linkwise.arrays import tensors
from linkwise.arrays.products import (
    distances_to,
    factor_points,
    factor_queries,
    fused,
    kernels,
    least_entries,
    least_of_groups,
    points_of,
)

SPARE = 8  # groups beyond those wanted, so that nearly all queries pass the bound (1)
MOST_ROWS = 1 << 16  # queries of a block: enough to fill the device
PRECISION = 2.0**-23  # of sums in single precision
SLACK = 64  # more roundings than the sums have: of the factors and of the points
INSTEAD = 'use affinity="anchors", or fewer rows'


def unit_of(*arrays):
    """Return a power of 2 that no row is longer than."""
    most = max(float(torch.linalg.vector_norm(A, dim=1).max()) for A in arrays)
    return 2.0 ** math.ceil(math.log2(most or 1.0))


def bytes_a_row(factor, wanted, m, d):
    """Return the memory that the search of one query takes."""
    n = len(factor.points)
    product = 0 if fused(factor.columns, factor.columns.shape[1]) else 4 * n
    listed = m * factor.group + wanted
    compared = 28 * listed if kernels else 28 * listed * d  # without kernels, all coordinates
    return product + 8 * n // factor.group + compared


def in_order(X, Q, columns):
    """Return distances (float64) and numbers of the listed points, nearest first."""
    squared = distances_to(Q, X, columns, torch.float64)
    squared, order = torch.sort(squared, dim=1, stable=True)
    return torch.sqrt(squared), torch.gather(columns, 1, order)


def search_by_differences(X, Q, rows, distances, indices):
    """Replace the neighbours of some queries by those of a search by differences, in place."""

    def work(part):
        some = rows[part]
        D = torch.cdist(Q[some].double(), X.double(), compute_mode="donot_use_mm_for_euclid_dist")
        found = torch.topk(D, indices.shape[1], dim=1, largest=False)
        distances[some], indices[some] = found.values, found.indices

    size = tensors.block_rows(X, 20 * len(X), 4096)
    tensors.in_blocks(work, len(rows), size, instead=INSTEAD)


def search(X, Q, k, wanted, *, centre, exact, progress=None):
    """Return distances (float64) and numbers (q, wanted) of the nearest points, of k surely.

    Parameters
    ----------
    X, Q : tensors (n, d) and (q, d), points and queries
    k, wanted : int, k <= wanted <= n
    centre : tensor (d,), to subtract before products
    exact : bool
        False compares by one term of the product instead of three, and does not check (1).
    progress : callable or None, told the number of queries finished so far
    """
    d, q = X.shape[1], len(Q)
    from_centre = X - centre
    unit = unit_of(from_centre) if Q is X else unit_of(from_centre, Q - centre)
    factor = factor_points((from_centre / unit).float().contiguous(), three=exact)
    m = min(len(factor.columns) // factor.group, wanted + SPARE)
    width = factor.columns.shape[1]
    distances = torch.empty((q, wanted), dtype=torch.float64, device=X.device)
    indices = torch.empty((q, wanted), dtype=torch.int64, device=X.device)
    sure = torch.ones(q, dtype=torch.bool, device=X.device)

    def work(part):
        if Q is X:
            scaled = factor.points[part]
        else:
            scaled = ((Q[part] - centre) / unit).float().contiguous()
        groups, limit = least_entries(least_of_groups(factor_queries(scaled, factor), factor), m)
        columns = points_of(groups, factor.group)
        squared = distances_to(scaled, factor.points, columns, torch.float32)
        near = torch.topk(squared, wanted, dim=1, largest=False, sorted=False).indices
        distances[part], indices[part] = in_order(X, Q[part], torch.gather(columns, 1, near))
        if exact:
            length = torch.linalg.vector_norm(scaled, dim=1).double()
            error = (width + SLACK) * PRECISION * (2 * length + 1)
            error += d**0.5 * PRECISION * (length + 1)  # Eq. (1)
            farthest = (distances[part, k - 1] / unit) ** 2
            sure[part] = farthest + error < limit.double() + length**2
        if progress is not None:
            progress(part.stop)

    size = tensors.block_rows(X, bytes_a_row(factor, wanted, m, d), min(q, MOST_ROWS))
    tensors.in_blocks(work, q, size, instead=INSTEAD)
    again = torch.nonzero(~sure).ravel()
    if len(again):
        search_by_differences(X, Q, again, distances, indices)
    return distances, indices
