"""What X may be: an array, the name of a file, a pattern of names, or a collection of Dask.

Rows in parts are read by this process, or by the workers of the ambient distributed.Client if there
is one. Collections of Dask always need a client.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.blocks.parts import is_pattern, open_parts


def open_rows(X: Any, *, id_column: Any = None) -> Any:
    """Return X, or the rows that X names.

    Parameters
    ----------
    X : array, rows, name of a .npy file, pattern of .npy or .parquet files, dask array or frame
    id_column : str or None, the column of ids of .parquet files or of a data frame
    """
    if is_pattern(X):
        return open_pattern(X, id_column)
    if hasattr(X, "__dask_graph__"):
        from linkwise.blocks.cluster import rows_of_collection

        return rows_of_collection(X, id_column)
    if not isinstance(X, str | os.PathLike):
        return X
    path = Path(X)
    if not path.is_file():
        raise FileNotFoundError(f"X={str(X)!r}: no such file; name a .npy file of shape (n, d)")
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(
            f"X={str(X)!r} is not a readable .npy file of numbers: it is damaged, cut short, or "
            "holds Python objects; write it by numpy.save"
        ) from error


def open_pattern(pattern: Any, id_column: str | None = None) -> Any:
    """Return rows in parts, on the cluster of the ambient client if there is one."""
    from linkwise.blocks.cluster import ambient_client, rows_of_parts

    files = open_parts(pattern, id_column=id_column)
    client = ambient_client()
    return files if client is None else rows_of_parts(files, client)
