"""What the device can do at best, measured: bytes a second, and operations a second."""

import torch

COPIED = 1 << 32  # bytes: many times the cache
SIDE = 8192  # of the matrices of the product
TIMES = 10


def seconds_of(work):
    """Return the mean seconds of some calls, by the clock of the device."""
    for _ in range(3):
        work()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(TIMES):
        work()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000 / TIMES


def bytes_a_second():
    """Return the bytes that a copy on the device reads and writes in a second."""
    source = torch.rand(COPIED // 4, device="cuda")
    target = torch.empty_like(source)
    return 2 * COPIED / seconds_of(lambda: target.copy_(source))


def operations_a_second(dtype):
    """Return the operations of a product of random matrices of a dtype in a second."""
    kind = getattr(torch, dtype)
    A, B = (torch.randn((SIDE, SIDE), device="cuda", dtype=kind) for _ in range(2))
    return 2 * SIDE**3 / seconds_of(lambda: A @ B)
