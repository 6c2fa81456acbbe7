"""Data sets of a benchmark: read, checked, and stored for its processes."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from linkwise.blocks import one_thread
from linkwise.datasets import EMBEDDED, load

TEXT_COLUMNS = 100  # of texts, after the reduction of their words


class Points(NamedTuple):
    X: np.ndarray  # (n, d) floating
    y: np.ndarray  # (n,) classes 0 ... k - 1


def check_folder(folder):
    """Refuse a --data that is no folder; None is none."""
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"--data {folder} is no folder; name one with sets as NAME.npz")


def set_names(folder):
    """Return the sets of a folder, or those that come with scikit-learn if it is None."""
    check_folder(folder)
    if folder is None:
        return list(EMBEDDED)
    found = sorted(path.stem for path in Path(folder).glob("*.npz"))
    if not found:
        raise ValueError(f"--data {folder} has no NAME.npz with arrays X and y; name another")
    return found


def tf_idf(counts, columns):
    """Return the TF-IDF vectors T of counts of words, and their first singular vectors.

    Parameters
    ----------
    counts : csr_matrix (n, words)
    columns : int, the number of singular vectors; at most one less than rows and words
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    T = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    columns = min(columns, min(counts.shape) - 1)
    with one_thread():  # sums in one order, whatever the number of cores
        return T, TruncatedSVD(columns, random_state=0).fit_transform(T)


def text_features(counts):
    """Return texts as TF-IDF vectors in TEXT_COLUMNS columns, rows of length 1."""
    from sklearn.preprocessing import normalize

    return normalize(tf_idf(counts, TEXT_COLUMNS)[1])


def read_set(name, folder):
    """Return (X, y) of a set, all rows, X as in its file."""
    if folder is None:
        return load(name)
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as archive:
        if {"X", "y"} <= set(archive.files):
            return archive["X"], archive["y"]
        if {"data", "indices", "indptr", "shape", "y"} <= set(archive.files):
            parts = archive["data"].astype(np.float64), archive["indices"], archive["indptr"]
            counts = sparse.csr_matrix(parts, shape=tuple(archive["shape"]))
            return text_features(counts), archive["y"]
    raise ValueError(f"{name}.npz has no arrays X and y")


def check_shapes(X, y):
    """Refuse arrays that are not points with one class each."""
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"X has shape {X.shape} and y {y.shape}; expected (n, d) and (n,)")


def check_finite(X):
    """Refuse features that are missing or infinite."""
    if not np.isfinite(X).all():
        raise ValueError("X has NaN or infinite values")


def floating(X):
    """Return features as floating numbers; float32 stays float32."""
    return X if np.issubdtype(X.dtype, np.floating) else X.astype(np.float64)


def numbered(y):
    """Return classes as numbers 0 ... k - 1, in the order of their names."""
    return np.unique(y, return_inverse=True)[1].reshape(-1).astype(np.int64)


def zscored(X):
    """Return features of mean 0 and variance 1; constant ones become 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def digest(rules, arrays):
    """Return a short text that changes with the rules of a benchmark and with the arrays."""
    found = hashlib.blake2b(repr(rules).encode(), digest_size=8)
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def store(folder, name, arrays):
    """Write the arrays of a set, {name: array}, for the processes; a sparse T as its parts."""
    arrays = dict(arrays)
    T = arrays.pop("T", None)
    if T is not None:
        T = sparse.csr_matrix(T)
        arrays |= {
            "T_data": T.data,
            "T_indices": T.indices,
            "T_indptr": T.indptr,
            "T_shape": np.array(T.shape),
        }
    np.savez(Path(folder) / f"{name}.npz", **arrays)


@lru_cache(maxsize=4)  # a process works on few sets at a time
def stored(folder, name):
    """Return {name: array} of a set, not to be written to."""
    with np.load(Path(folder) / f"{name}.npz") as archive:
        arrays = {key: archive[key] for key in archive.files}
    for array in arrays.values():
        array.flags.writeable = False
    if "T_data" in arrays:
        parts = (arrays.pop(f"T_{part}") for part in ("data", "indices", "indptr"))
        arrays["T"] = sparse.csr_array(tuple(parts), shape=tuple(arrays.pop("T_shape")))
    return arrays


def described(name, points, rules):
    """Return the description of a set that stands beside its cells."""
    n, d = points.X.shape
    k = int(points.y.max()) + 1
    return {"name": name, "n": n, "d": d, "k": k, "digest": digest(rules, points)}


def prepare_sets(options, folder, cells, prepare, describe, more=()):
    """Store the sets for the processes; return (descriptions from few to many rows, left out).

    Parameters
    ----------
    options : has ``data`` and ``sets``
    folder : where the sets are stored
    cells : Cells that the descriptions are entered in
    prepare : function (name, data) -> Points or another NamedTuple that begins with X and y, or
        ValueError with the reason to leave the set out
    describe : function (name, points) -> dict
    more : names of sets that ``prepare`` knows besides those of the folder
    """
    known = [*set_names(options.data), *more]
    unknown = [name for name in options.sets or () if name not in known]
    if unknown:
        raise ValueError(f"--sets {unknown[0]}: expected some of {', '.join(known)}")
    found, left_out = [], {}
    for name in dict.fromkeys(options.sets or known):
        try:
            points = prepare(name, options.data)
        except (ValueError, OSError, BadZipFile) as error:
            left_out[name] = str(error)
            continue
        store(folder, name, points._asdict())
        found.append(describe(name, points))
        cells.add_set(found[-1])
    return sorted(found, key=lambda data: (data["n"], data["name"])), left_out
