"""Steps of a computation that is run again, in files: what was finished is not done twice.

A computation asks a cluster for one value after the other: rows of a sample, a sum, what the blocks
tell. With the same data and settings it asks for the same values in the same order. A `Memo` writes
each value to a file, and reads it when the computation is run again. The files hold arrays and
numbers, no Python objects.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from linkwise._files import instead_of

T = TypeVar("T")


def pack(value: Any, arrays: list[Any]) -> Any:
    """Return a value as JSON has it; its arrays are appended to a list.

    Tuples come back as tuples, and named tuples as plain ones.
    """
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if sparse.issparse(value):
        parts = [pack(part, arrays) for part in (value.data, value.indices, value.indptr)]
        return {"csr": [list(value.shape), *parts]}
    if isinstance(value, tuple | list):
        return {"tuple": [pack(one, arrays) for one in value]}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a step has a value of type {type(value).__name__}; expected arrays, numbers")


def unpack(held: Any, arrays: Any) -> Any:
    """Return the value that `pack` returned."""
    if not isinstance(held, dict):
        return held
    ((kind, content),) = held.items()
    if kind == "array":
        return arrays[f"a{content}"]
    if kind == "tuple":
        return tuple(unpack(one, arrays) for one in content)
    shape, *parts = content
    return sparse.csr_array(tuple(unpack(part, arrays) for part in parts), shape=tuple(shape))


class Memo:
    """The values of steps in the files of a folder.

    Attributes
    ----------
    known : int, number of steps that an earlier run has finished
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.known = 0
        while self.place(self.known).is_file():
            self.known += 1

    def place(self, step: int) -> Path:
        """Return the file of a step."""
        return self.folder / f"step-{step:04}.npz"

    def replays(self) -> bool:
        """Tell whether an earlier run has finished the next step."""
        return self.count < self.known

    def step(self, compute: Callable[[], T]) -> T:
        """Return the value of the next step, from its file if there is one."""
        place = self.place(self.count)
        self.count += 1
        if place.is_file():
            with np.load(place, allow_pickle=False) as archive:
                found: T = unpack(json.loads(str(archive["value"])), archive)
            return found
        value = compute()
        arrays: list[Any] = []
        held = json.dumps(pack(value, arrays))
        with instead_of(place) as beside:
            np.savez(beside, value=held, **{f"a{i}": array for i, array in enumerate(arrays)})
        return value


_current: ContextVar[Memo | None] = ContextVar("memo", default=None)


@contextmanager
def remembered(memo: Memo) -> Iterator[None]:
    """Use a Memo inside a with statement."""
    token = _current.set(memo)
    try:
        yield
    finally:
        _current.reset(token)


def step(compute: Callable[[], T]) -> T:
    """Return a value, computed now or by an earlier run."""
    memo = _current.get()
    return compute() if memo is None else memo.step(compute)


def replays() -> bool:
    """Tell whether the next step needs no work."""
    memo = _current.get()
    return memo is not None and memo.replays()
