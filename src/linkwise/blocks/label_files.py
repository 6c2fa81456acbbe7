"""Labels in a file that is written completely or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from linkwise._files import instead_of
from linkwise._typing import FilePath, Integers


@contextmanager
def new_labels(path: FilePath | None, n: int) -> Iterator[Integers | None]:
    """Yield an int array (n,) that becomes the .npy file ``path`` if no error occurs.

    Until then it is a temporary file in the same folder, which an error removes. If ``path`` is
    None, None is yielded.
    """
    if path is None:
        yield None
        return
    place = Path(path)
    if place.suffix != ".npy":
        raise ValueError(f"out={str(path)!r}: expected a name that ends in .npy")
    if place.exists():
        raise FileExistsError(f"out={str(path)!r} exists; name a new file, or remove it first")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"out={str(path)!r}: its folder does not exist; make it first")
    dtype = np.int32 if n < 2**31 else np.int64
    with instead_of(place) as beside:
        labels = np.lib.format.open_memmap(beside, mode="w+", dtype=dtype, shape=(n,))
        yield labels
        labels.flush()
