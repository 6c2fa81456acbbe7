"""Arrays of several libraries: whose they are, and the operations that have no standard form.

Dense arithmetic above this room uses the array namespace of its input (`namespace`). What the
array API standard lacks (sparse matrices, top-k, random numbers, free memory) is behind one door:
`door(X)` returns the module with these operations for X, which is `host` for NumPy and SciPy and
`tensors` for torch. A function that is computed in another way on a device, such as a search or an
eigensolver, has one form for each kind of array (`PerKind`).

Arrays in the memory of the CPU are computed by NumPy, whichever library made them: `take` turns
them into NumPy arrays without a copy. Arrays on another device are computed by torch. `Caller`
turns results back into arrays of the caller. `send` copies points to a device that the user named.
"""

from linkwise.arrays.callers import (
    Caller,
    PerKind,
    caller_of,
    door,
    dtype_name,
    is_sparse,
    memory_in_words,
    namespace,
    on_device,
    send,
    take,
    to_host,
)

__all__ = [
    "Caller",
    "PerKind",
    "caller_of",
    "door",
    "dtype_name",
    "is_sparse",
    "memory_in_words",
    "namespace",
    "on_device",
    "send",
    "take",
    "to_host",
]
