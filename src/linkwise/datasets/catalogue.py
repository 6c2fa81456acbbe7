"""Data sets by name.

`load` looks for a data set in four places, in this order:

    1. the folder named by ``data`` or the environment variable LINKWISE_DATA, as ``name.npz`` with
       arrays X and y; word counts as the parts of a csr matrix (data, indices, indptr, shape)
    2. the data sets that come with scikit-learn
    3. OpenML, by `sklearn.datasets.fetch_openml`
    4. scikit-learn's own fetchers

Fetched data sets stay in scikit-learn's cache (``~/scikit_learn_data``, or SCIKIT_LEARN_DATA), so
each is downloaded once. Features are as in the source. Rows with missing values are removed,
except that missing ages in dermatology are replaced by the median.
"""

import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import Array, FilePath, Integers, Matrix

EMBEDDED = {
    "iris": "load_iris",
    "wine": "load_wine",
    "wdbc": "load_breast_cancer",
    "digits": "load_digits",
}
TIMEOUT = 60  # seconds; a source that is silent for longer counts as unreachable
CSR = ("data", "indices", "indptr", "shape")  # names of the parts of a csr matrix
VOCABULARY = 10_000  # most frequent words that are counted: rarer ones tell little of a topic


class Dataset(NamedTuple):
    """A data set.

    Attributes
    ----------
    X : array (n, d), values as in the source; a csr_matrix for word counts
    y : int array (n,), the class of each row, 0 ... k - 1
    """

    X: Matrix
    y: Integers


class Entry(NamedTuple):
    """What is known of a data set before it is loaded.

    Attributes
    ----------
    n, d, k : int, the number of rows, columns and classes
    openml : int or None, its number at OpenML
    fetch : function () -> {name: array}, or None
    turn : function (X, y) of OpenML -> {name: array}, or None: rows with gaps are removed
    words : str, what it is, if it can only be obtained by hand
    """

    n: int
    d: int
    k: int
    openml: int | None = None
    fetch: Callable[[], dict[str, Any]] | None = None
    turn: Callable[[Array, Array], dict[str, Any]] | None = None
    words: str = ""


def _codes(y: Array) -> Array:
    """Return classes 0 ... k - 1, ordered by value if they are numbers, else by name."""
    try:
        y = np.asarray(y, dtype=np.float64)
    except ValueError:
        y = np.asarray(y, dtype=str)
    return np.unique(y, return_inverse=True)[1].astype(np.int64)


def _complete(X: Array, y: Array) -> dict[str, Any]:
    """Return the rows without missing values."""
    rows = np.isfinite(X).all(axis=1)
    return {"X": X[rows], "y": _codes(y[rows])}


def _dermatology(X: Array, y: Array) -> dict[str, Any]:
    """Return dermatology with missing ages replaced by the median."""
    holes = ~np.isfinite(X)
    X = np.where(holes, np.nanmedian(X, axis=0), X)
    return {"X": X, "y": _codes(y), "age_imputed": holes.any(axis=1)}


def _vowel(X: Array, y: Array) -> dict[str, Any]:
    """Return the ten coefficients; the other columns tell the part, the speaker and the sex."""
    if X.shape[1] == 10:
        return _complete(X, y)
    return {"X": X[:, -10:], "y": _codes(y), "is_test": X[:, 0].astype(np.int64)}


def _test_images(X: Array, y: Array) -> dict[str, Any]:
    """Return the last 10,000 rows of MNIST, its test part."""
    return {"X": X[-10_000:].astype(np.uint8), "y": _codes(y)[-10_000:]}


def _train_images(X: Array, y: Array) -> dict[str, Any]:
    """Return all but the last 10,000 rows of MNIST, its training part."""
    return {"X": X[:-10_000].astype(np.uint8), "y": _codes(y)[:-10_000]}


def _faces() -> dict[str, Any]:
    """Return the ORL faces, 64 x 64 pixels in the source, at half the resolution."""
    from sklearn.datasets import fetch_olivetti_faces

    found = fetch_olivetti_faces()
    halved = found.images.reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4))
    X = np.rint(255 * halved).astype(np.uint8).reshape(len(halved), -1)
    return {"X": X, "y": _codes(found.target)}


def _news() -> dict[str, Any]:
    """Return the word counts of the 20 newsgroups."""
    from sklearn.datasets import fetch_20newsgroups
    from sklearn.feature_extraction.text import CountVectorizer

    found = fetch_20newsgroups(subset="all", remove=("headers",), shuffle=False)
    counter = CountVectorizer(
        token_pattern=r"[a-z]{2,}", stop_words="english", min_df=5, max_df=0.5,
        max_features=VOCABULARY,
    )  # fmt: skip
    X = counter.fit_transform(found.data).astype(np.float64)
    return {"X": X, "y": _codes(found.target), "classes": np.array(found.target_names)}


CATALOGUE = {
    "iris": Entry(150, 4, 3, 61),
    "wine": Entry(178, 13, 3, 187),
    "wdbc": Entry(569, 30, 2, 1510),
    "digits": Entry(1797, 64, 10),
    "sonar": Entry(208, 60, 2, 40),
    "ionosphere": Entry(351, 34, 2, 59),
    "glass": Entry(214, 9, 6, 41),
    "ecoli": Entry(336, 7, 8, 39),
    "dermatology": Entry(366, 34, 6, 35, turn=_dermatology),
    "hepatitis": Entry(80, 19, 2, 55),
    "pendigits": Entry(10992, 16, 10, 32),
    "vowel": Entry(990, 10, 11, 307, turn=_vowel),
    "usps": Entry(9298, 256, 10, 41082),
    "mnist_test": Entry(10000, 784, 10, 554, turn=_test_images),
    "mnist_train": Entry(60000, 784, 10, 554, turn=_train_images),
    "shuttle": Entry(58000, 9, 7, 40685),
    "skin": Entry(245057, 3, 2, 1502),
    "orl_32x32": Entry(400, 1024, 40, fetch=_faces),
    "newsgroups20_counts": Entry(18846, 10000, 20, fetch=_news),
    "protein": Entry(116, 20, 6, words="the protein data of Xing et al. 2002"),
    "yale_32x32": Entry(165, 1024, 15, words="Yale faces, 32 x 32 pixels per row"),
    "yaleb_ext_32x32": Entry(
        2414, 1024, 38, words="Extended Yale B faces, frontal, 32 x 32 pixels per row"
    ),
    "scene8_119d": Entry(2688, 119, 8, words="features of the eight scenes of Oliva and Torralba"),
}


def folder_of(data: FilePath | None = None) -> Path | None:
    """Return the folder of data sets: the one given, else that of LINKWISE_DATA, else None.

    >>> folder_of("sets").name
    'sets'
    """
    named = data or os.environ.get("LINKWISE_DATA")
    return Path(named) if named else None


def read_file(path: Path) -> dict[str, Any]:
    """Return {name: array} of an .npz file; word counts become a csr_matrix X."""
    from scipy import sparse

    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    except Exception as error:  # a broken archive may fail anywhere, and with anything
        raise ValueError(f"{path}: not a readable .npz file of numbers ({error})") from error
    if set(arrays) >= set(CSR):
        data, indices, indptr, shape = map(arrays.pop, CSR)
        counts = data.astype(np.float64), indices.astype(np.int32), indptr
        arrays["X"] = sparse.csr_matrix(counts, shape=tuple(shape))
    if not {"X", "y"} <= set(arrays):
        raise ValueError(f"{path} has no arrays X and y; it has {', '.join(arrays) or 'none'}")
    return arrays


@contextmanager
def _timeout() -> Iterator[None]:
    """Limit the time that a source may take to answer."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def fetch(name: str) -> dict[str, Any]:
    """Return {name: array} of a data set from OpenML or scikit-learn's fetcher.

    Raises
    ------
    FileNotFoundError, if neither has it or the network cannot be reached.
    """
    entry = CATALOGUE[name]
    if entry.openml is None and entry.fetch is None:
        raise FileNotFoundError(f"no program fetches {name!r}")
    try:
        with _timeout(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a second attempt is made
            if entry.fetch is not None:
                return entry.fetch()
            from sklearn.datasets import fetch_openml

            found = fetch_openml(
                data_id=entry.openml, as_frame=False, parser="liac-arff", n_retries=1, delay=0.1
            )
    except OSError as error:
        raise FileNotFoundError(f"it could not be fetched: {error}") from error
    X = np.asarray(found.data, dtype=np.float64)
    return (entry.turn or _complete)(X, np.asarray(found.target))


def load_arrays(name: str, *, data: FilePath | None = None, online: bool = True) -> dict[str, Any]:
    """Return {name: array} of a data set: X, y and the further arrays of its source.

    Parameters
    ----------
    name : str
    data : folder with ``name.npz``, or None for the one that LINKWISE_DATA names
    online : bool, whether to fetch a data set that is not at hand
    """
    folder = folder_of(data)
    if folder is not None and (folder / f"{name}.npz").is_file():
        return read_file(folder / f"{name}.npz")
    if name in EMBEDDED:
        from sklearn import datasets

        X, y = getattr(datasets, EMBEDDED[name])(return_X_y=True)
        return {"X": X, "y": y}
    why = f"{folder} has no {name}.npz" if folder else "no folder was given"
    if name in CATALOGUE and online:
        try:
            return fetch(name)
        except FileNotFoundError as error:
            why += f", and {error}"
    raise FileNotFoundError(
        f"data set {name!r} not found: {why}; set data=DIR or LINKWISE_DATA to a folder with "
        f"{name}.npz (arrays X and y), or use one of {', '.join(EMBEDDED)}"
    )


def load(name: str, *, data: FilePath | None = None) -> Dataset:
    """Return a data set.

    Parameters
    ----------
    name : str, of a data set listed by `listing`, or of a file in the folder
    data : folder with ``name.npz``, or None for the one that LINKWISE_DATA names

    Returns
    -------
    Dataset

    Examples
    --------
    >>> X, y = load("iris")
    >>> X.shape
    (150, 4)
    """
    arrays = load_arrays(name, data=data)
    return Dataset(arrays["X"], arrays["y"])


def source(name: str, *, data: FilePath | None = None) -> tuple[str, str]:
    """Return (where, how): where a data set is found now, and how to get it, in words.

    >>> source("iris", data="nowhere")
    ('scikit-learn', '')
    """
    folder, entry = folder_of(data), CATALOGUE.get(name)
    if folder is not None and (folder / f"{name}.npz").is_file():
        return "folder", ""
    if name in EMBEDDED:
        return "scikit-learn", ""
    if entry is None:
        return "missing", f"put {name}.npz with arrays X and y in the folder"
    if entry.openml is not None:
        return "OpenML", f"fetched on first use: OpenML data set {entry.openml}"
    if entry.fetch is not None:
        return "fetcher", "fetched on first use, by scikit-learn"
    return "missing", f"put {name}.npz with arrays X and y in the folder: {entry.words}"


def listing(*, data: FilePath | None = None) -> list[dict[str, Any]]:
    """Return a dict per data set in the catalogue or the folder: its shape, and where it is."""
    folder = folder_of(data)
    there = sorted(path.stem for path in folder.glob("*.npz")) if folder else []
    rows = []
    for name in dict.fromkeys([*CATALOGUE, *there]):
        entry = CATALOGUE.get(name)
        where, how = source(name, data=data)
        shape: dict[str, int | None] = {"rows": None, "columns": None, "classes": None}
        if entry is not None:
            shape = {"rows": entry.n, "columns": entry.d, "classes": entry.k}
        rows.append({"name": name, **shape, "where": where, "how": how})
    return rows
