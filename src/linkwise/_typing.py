"""Types of what users pass and get, for annotations.

SciPy, scikit-learn and pandas ship no annotations that this library relies on: sparse matrices are
``Any`` to a type checker, and data frames are accepted as array-like.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Rows(Protocol):
    """Rows that are read when asked for, such as a data set in HDF5 or Zarr."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> Any: ...

    def __getitem__(self, part: Any, /) -> Any: ...


FilePath: TypeAlias = str | os.PathLike[str]
Points: TypeAlias = ArrayLike | Rows | FilePath  # also sparse matrices and data frames
Sparse: TypeAlias = Any  # a matrix or array of scipy.sparse
Matrix: TypeAlias = Any  # an array, or a csr_array where the points are sparse

Array: TypeAlias = NDArray[Any]
Integers: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]

Selection: TypeAlias = Mask | Integers | Sequence[int] | Sequence[bool] | slice  # some rows
Id: TypeAlias = int | str
PairsLike: TypeAlias = ArrayLike | Iterable[Sequence[int] | Sequence[str]]  # shape (m, 2)
TableLike: TypeAlias = ArrayLike | Mapping[str, Any]  # also data frames

RandomState: TypeAlias = int | np.random.RandomState | None
Seed: TypeAlias = RandomState | np.random.Generator
OnConflict: TypeAlias = Literal["raise", "drop", "keep"]
OnUnknown: TypeAlias = Literal["raise", "drop"]
Sizes: TypeAlias = tuple[int, int] | list[tuple[int, int]] | NDArray[np.integer[Any]] | None
Affinity: TypeAlias = Literal[
    "nearest_neighbors", "anchors", "rbf", "precomputed", "heat", "regularized_laplacian",
    "random_walk",
]  # fmt: skip
Listing: TypeAlias = Literal["all", "spanning"]
Scheme: TypeAlias = Literal["uniform", "balanced"]
FileFormat: TypeAlias = Literal["csv", "tsv", "jsonl"]
TextFile: TypeAlias = FilePath | IO[Any]  # a path or an open file
