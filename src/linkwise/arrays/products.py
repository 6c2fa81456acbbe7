"""The nearest of very many points by products in half precision, on tensors.

    (1)  |x|^2 - 2 q.x        ranks the points x for a query q
    (2)  x = h + l            h, l in half precision: 22 bits of x where |x| <= 1
    (3)  q.x ~ q_h.x_h + q_h.x_l + q_l.x_h

A product of the columns [-2 q_h, -2 q_h, -2 q_l, 1, 1, 1] with [x_h, x_l, x_h, |x|^2 in three
parts] is (1) by (3), with sums in single precision: one product of the fast kind, three times as
wide. `least_of_groups` takes the minimum over groups of consecutive points. Of the m groups with
the least minima one has each of the m nearest points: a nearer point elsewhere would make m groups
with a nearer minimum. `distances_to` then compares all points of these groups again, in single
precision from the differences.

With a GPU and triton, the product and its minima are one kernel if the points have few dimensions,
and the n x n product is never written. In many dimensions the product takes most of the time and
is written in blocks.
"""

from typing import NamedTuple

import torch

try:
    from linkwise.arrays import triton_kernels as kernels
except ImportError:  # torch without triton, as on a CPU
    kernels = None  # type: ignore[assignment]

FUSED_WIDTH = 256  # columns of a factor that fit in the shared memory of a GPU's processor
FUSED_GROUP, GROUP = 128, 16  # points of a group: a tile of the kernel; few are compared again
WIDE = 2048  # minima of a row from which groups of them are searched first
STEP = 16  # of these at a time
FAR = 60_000.0  # a norm beyond all others, of the points that fill the last group


class Factor(NamedTuple):
    """Points, ready for products with queries."""

    columns: torch.Tensor  # (groups * group, width) half precision
    points: torch.Tensor  # (n, d) single precision, scaled
    group: int  # points of a group
    three: bool  # whether Eq. (3) has its three terms, or only the first


def fused(X, width):
    """Tell whether product and minima are one kernel."""
    return kernels is not None and X.device.type == "cuda" and width <= FUSED_WIDTH


def halves(X):
    """Return h and l of Eq. (2)."""
    h = X.half()
    return h, (X - h.float()).half()


def padded(columns, rows):
    """Return columns side by side, as many as a multiple of 16, with zeros in further rows."""
    width = sum(part.shape[1] for part in columns)
    out = torch.zeros((rows, -(-width // 16) * 16), dtype=torch.float16, device=columns[0].device)
    start = 0
    for part in columns:
        out[: len(part), start : start + part.shape[1]] = part
        start += part.shape[1]
    return out


def factor_points(X, *, three):
    """Return the Factor of points X (n, d), single precision, of length 1 at most."""
    n, d = X.shape
    width = -(-((3 if three else 1) * d + 3) // 16) * 16
    group = FUSED_GROUP if fused(X, width) else GROUP
    h, low = halves(X)
    norms = torch.sum(X * X, dim=1, dtype=torch.float64)[:, None]
    parts = []
    for _ in range(3):
        parts.append(norms.half())
        norms = norms - parts[-1].double()
    columns = padded([h, low, h, *parts] if three else [h, *parts], -(-n // group) * group)
    columns[n:, (3 if three else 1) * d] = FAR
    return Factor(columns, X, group, three)


def factor_queries(Q, factor):
    """Return the columns of queries (q, d), in the scale of the points."""
    h, low = halves(Q)
    ones = torch.ones((len(Q), 3), dtype=torch.float16, device=Q.device)
    return padded([-2 * h, -2 * h, -2 * low, ones] if factor.three else [-2 * h, ones], len(Q))


def least_of_groups(left, factor):
    """Return the minimum of Eq. (1) over each group, (q, groups)."""
    if fused(left, left.shape[1]):
        return kernels.minima(left, factor.columns, factor.group)
    if left.device.type == "cuda":
        D = torch.mm(left, factor.columns.T, out_dtype=torch.float32)
    else:
        D = left.float() @ factor.columns.float().T
    if kernels is not None and left.device.type == "cuda":
        return kernels.group_minima(D, factor.group)
    return torch.amin(D.view(len(left), -1, factor.group), dim=2)


def least_entries(M, m):
    """Return the columns of the m least entries of each row, and the least of all others.

    Wide rows are searched like the points: first groups of entries by their minima.
    """
    q, c = M.shape
    if m >= c:
        columns = torch.arange(c, device=M.device).expand(q, c)
        return columns, torch.full((q,), torch.inf, device=M.device)
    if c > WIDE and (c // STEP) > 2 * m:
        whole = c - c % STEP
        coarse = torch.amin(M[:, :whole].unflatten(1, (-1, STEP)), dim=2)
        if whole < c:
            coarse = torch.cat([coarse, torch.amin(M[:, whole:], dim=1, keepdim=True)], dim=1)
        groups, limit = least_entries(coarse, m)
        columns = (groups[:, :, None] * STEP + torch.arange(STEP, device=M.device)).view(q, -1)
        values = torch.gather(M, 1, torch.clamp(columns, max=c - 1))
        values = torch.where(columns < c, values, torch.inf)
        found = torch.topk(values, m + 1, dim=1, largest=False)
        best = torch.minimum(limit, found.values[:, m])
        return torch.gather(columns, 1, found.indices[:, :m]), best
    found = torch.topk(M, m + 1, dim=1, largest=False)
    return found.indices[:, :m], found.values[:, m]


def points_of(groups, size):
    """Return the numbers of all points of the listed groups, (q, m * size)."""
    slots = torch.arange(size, device=groups.device)
    return (groups[:, :, None] * size + slots).reshape(len(groups), -1)


def distances_to(Q, X, columns, dtype):
    """Return the squared distances of every query to the points listed for it, (q, c).

    They are computed from the differences, in the dtype given. A number beyond the last point has
    an infinite distance.
    """
    if kernels is not None and Q.device.type == "cuda":
        return kernels.distances(Q.contiguous(), X.contiguous(), columns, dtype)
    near = X[torch.clamp(columns, max=len(X) - 1)].to(dtype)  # (q, c, d)
    squared = torch.sum((near - Q.to(dtype)[:, None]) ** 2, dim=2)
    return torch.where(columns < len(X), squared, torch.inf)
