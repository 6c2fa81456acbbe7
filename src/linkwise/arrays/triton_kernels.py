"""Kernels for GPUs: minima of groups of a product, distances to listed points, sparse products."""

import torch
import triton
import triton.language as tl

ROWS = 128  # queries of a tile
TILES = 64  # groups that one program compares its queries with
GROUPS = 256  # groups of consecutive numbers that one program takes the minima of
SLOTS, STEP = 32, 32  # points and columns of a tile; near the best of 40 sizes at d = 64 and 784


@triton.jit
def _minima(left, right, out, q, groups, WIDTH: tl.constexpr, COLUMNS: tl.constexpr,
            ROWS: tl.constexpr, GROUP: tl.constexpr, TILES: tl.constexpr):  # fmt: skip
    """Write the minimum of left @ right.T over every group of rows of right."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1) * TILES
    k = tl.arange(0, COLUMNS)
    inside = k < WIDTH
    A = tl.load(
        left + rows[:, None].to(tl.int64) * WIDTH + k[None, :],
        mask=(rows < q)[:, None] & inside[None, :], other=0.0,
    )  # fmt: skip
    start = first.to(tl.int64) * GROUP + tl.arange(0, GROUP)
    pointer = right + start[None, :] * WIDTH + k[:, None]
    place = out + rows.to(tl.int64) * groups + first
    for step in range(0, TILES):
        there = first + step < groups
        B = tl.load(pointer, mask=inside[:, None] & there, other=0.0)
        least = tl.min(tl.dot(A, B), axis=1)
        tl.store(place + step, least, mask=(rows < q) & there)
        pointer += GROUP * WIDTH


def minima(left, right, group):
    """Return the minimum of left @ right.T over each group of rows of right, (q, groups)."""
    q, width = left.shape
    groups = len(right) // group
    out = torch.empty((q, groups), dtype=torch.float32, device=left.device)
    grid = (triton.cdiv(q, ROWS), triton.cdiv(groups, TILES))
    columns = max(16, triton.next_power_of_2(width))
    stages = 2 if columns > 128 else 3  # what fits in shared memory
    _minima[grid](
        left, right, out, q, groups, WIDTH=width, COLUMNS=columns, ROWS=ROWS, GROUP=group,
        TILES=TILES, num_warps=8, num_stages=stages,
    )  # fmt: skip
    return out


@triton.jit
def _group_minima(D, out, count, GROUP: tl.constexpr, GROUPS: tl.constexpr):
    """Write the minimum of every ``GROUP`` consecutive numbers of D."""
    groups = tl.program_id(0).to(tl.int64) * GROUPS + tl.arange(0, GROUPS)
    place = groups[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    values = tl.load(D + place, mask=(groups < count)[:, None], other=0.0)
    tl.store(out + groups, tl.min(values, axis=1), mask=groups < count)


def group_minima(D, group):
    """Return the minimum of every ``group`` consecutive entries of each row, (q, groups)."""
    out = torch.empty((len(D), D.shape[1] // group), dtype=torch.float32, device=D.device)
    count = out.numel()
    _group_minima[(triton.cdiv(count, GROUPS),)](D, out, count, GROUP=group, GROUPS=GROUPS)
    return out


@triton.jit
def _distances(queries, points, columns, out, n, c, D: tl.constexpr, SLOTS: tl.constexpr,
               STEP: tl.constexpr, WIDE: tl.constexpr):  # fmt: skip
    """Write the squared distances of one query to some of the points listed for it."""
    row = tl.program_id(0).to(tl.int64)
    slot = tl.program_id(1) * SLOTS + tl.arange(0, SLOTS)
    number = tl.load(columns + row * c + slot, mask=slot < c, other=n).to(tl.int64)
    total = tl.zeros((SLOTS,), dtype=tl.float64 if WIDE else tl.float32)
    for start in range(0, D, STEP):
        k = start + tl.arange(0, STEP)
        mask = (number < n)[:, None] & (k < D)[None, :]
        x = tl.load(queries + row * D + k, mask=k < D, other=0.0)
        near = tl.load(points + number[:, None] * D + k[None, :], mask=mask, other=0.0)
        if WIDE:
            near, x = near.to(tl.float64), x.to(tl.float64)
        difference = tl.where(mask, near - x[None, :], 0.0)
        total += tl.sum(difference * difference, axis=1)
    total = tl.where(number < n, total, float("inf"))
    tl.store(out + row * c + slot, total, mask=slot < c)


def distances(queries, points, columns, dtype):
    """Return the squared distances of every query to the points listed for it, (q, c)."""
    (q, c), (n, d) = columns.shape, points.shape
    out = torch.empty((q, c), dtype=dtype, device=queries.device)
    _distances[(q, triton.cdiv(c, SLOTS))](
        queries, points, columns.contiguous(), out, n, c, D=d, SLOTS=SLOTS, STEP=STEP,
        WIDE=dtype == torch.float64, num_warps=2,
    )  # fmt: skip
    return out


@triton.jit
def _sparse_product(starts, columns, values, V, before, out, b, factor, shift,
                    COLUMNS: tl.constexpr, STEP: tl.constexpr):  # fmt: skip
    """Write a row of S V, or of factor S V - shift V - before; sums are in order of the entries."""
    row = tl.program_id(0).to(tl.int64)
    k = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = k < b
    total = tl.zeros((COLUMNS,), dtype=V.dtype.element_ty)
    for entry in range(tl.load(starts + row), tl.load(starts + row + 1)):
        column = tl.load(columns + entry).to(tl.int64)
        weight = tl.load(values + entry)
        total += weight * tl.load(V + column * b + k, mask=inside, other=0.0)
    if STEP:
        own = tl.load(V + row * b + k, mask=inside, other=0.0)
        total = factor * total - shift * own
        total -= tl.load(before + row * b + k, mask=inside, other=0.0)
    tl.store(out + row * b + k, total, mask=inside)


def sparse_product(S, V, before=None, factor=1.0, shift=0.0):
    """Return S V of a sparse matrix S (n, p), or factor S V - shift V - before."""
    n, b = S.shape[0], V.shape[1]
    V, step = V.contiguous(), before is not None
    out = torch.empty((n, b), dtype=V.dtype, device=V.device)
    columns = min(128, max(16, triton.next_power_of_2(b)))
    _sparse_product[(n, triton.cdiv(b, columns))](
        S.crow_indices(), S.col_indices(), S.values(), V, before.contiguous() if step else V, out,
        b, factor, shift, COLUMNS=columns, STEP=step, num_warps=1,
    )  # fmt: skip
    return out
