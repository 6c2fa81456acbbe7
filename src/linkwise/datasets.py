"""Data sets by name.

`load` looks in the folder named by ``data`` or the environment variable LINKWISE_DATA for
``name.npz`` with arrays X and y, then among the sets that come with scikit-learn.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

EMBEDDED = {
    "iris": "load_iris",
    "wine": "load_wine",
    "wdbc": "load_breast_cancer",
    "digits": "load_digits",
}


class Dataset(NamedTuple):
    X: np.ndarray  # (n, d), values as in the source
    y: np.ndarray  # (n,) classes 0 ... k - 1


def load(name, *, data=None):
    """Return a data set.

    Parameters
    ----------
    name : str
    data : folder with ``name.npz``, or None for the one LINKWISE_DATA names

    Examples
    --------
    >>> X, y = load("iris")
    >>> X.shape
    (150, 4)
    """
    folder = data or os.environ.get("LINKWISE_DATA")
    if folder and (Path(folder) / f"{name}.npz").is_file():
        with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as archive:
            return Dataset(archive["X"], archive["y"])
    if name in EMBEDDED:
        from sklearn import datasets

        return Dataset(*getattr(datasets, EMBEDDED[name])(return_X_y=True))
    where = f"{folder} has no {name}.npz" if folder else "no folder was given"
    raise FileNotFoundError(
        f"data set {name!r} not found: {where}; set data=DIR or LINKWISE_DATA to a folder with "
        f"{name}.npz (arrays X and y), or use one of {', '.join(EMBEDDED)}"
    )
