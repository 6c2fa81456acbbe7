"""The rules of the quality benchmark: which points, which pairs, what counts.

Of the n points of a set HELD are held back in every draw, and no pair touches them. Among the rest
n distinct pairs are drawn, all sets of pairs equally likely; the budgets n/4 and n/2 are the first
of them. A pair is answered by the classes, and a share of the answers is turned round.

The random numbers of a draw depend on the name of the set and the number of the draw alone: the
same pairs for every method, in any order, on any number of processes. Sets above MOST_ROWS rows
are a fixed sample of them. Features are as given, except that counts of words become TF-IDF
(sublinear) and then TEXT_COLUMNS singular vectors with rows of length 1.
"""

import hashlib
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from linkwise.blocks.executors import one_thread
from linkwise.constraints import Constraints
from linkwise.constraints.sampling import uniform_pairs
from linkwise.datasets import EMBEDDED, load
from linkwise.evaluate import adjusted_rand_index, kept

VERSION = 1  # of these rules
HELD = 0.3
BUDGETS = {"n/4": 4, "n/2": 2, "n": 1}  # name: n is divided by
WRONG = (0.0, 0.1)  # shares of answers turned round
SETTINGS = tuple((budget, wrong) for wrong in WRONG for budget in BUDGETS)
MOST_ROWS = 1500
TEXT_COLUMNS = 100
REPEATED = {"mnist_train": "mnist_test"}  # the same kind of data as another set
DEVELOPMENT = (  # sets that were looked at when rules were chosen; the others were not
    "iris", "wine", "wdbc", "glass", "ecoli", "dermatology", "vowel", "protein", "hepatitis",
    "sonar", "ionosphere", "yale_32x32", "digits", "mnist_test", "scene8_119d", "usps",
)  # fmt: skip


class Points(NamedTuple):
    X: np.ndarray  # (n, d) floating
    y: np.ndarray  # (n,) classes 0 ... k - 1


class Draw(NamedTuple):
    held: np.ndarray  # (n,) bool, points that no pair touches
    links: Constraints
    ends: np.ndarray  # (m, 2) rows, in the order of links
    flipped: np.ndarray  # (m,) bool, answers turned round
    seed: int  # for the methods


class Task(NamedTuple):
    """What a method is given."""

    X: np.ndarray  # (n, d)
    k: int
    links: Any  # Constraints
    seed: int
    y: np.ndarray | None = None  # the classes, for the upper mark alone


class Found(NamedTuple):
    """What a method gives back."""

    labels: np.ndarray  # (n,)
    suspects: list | None = None  # (Pair, probability that it is wrong)
    k: int | None = None  # clusters found, where it was not told


def set_names(folder):
    """Return the sets of a folder, or those that come with scikit-learn if it is None."""
    if folder is None:
        return list(EMBEDDED)
    if not Path(folder).is_dir():
        raise ValueError(f"--data {folder} is no folder; name one with sets as NAME.npz")
    found = sorted(path.stem for path in Path(folder).glob("*.npz"))
    found = [name for name in found if REPEATED.get(name) not in found]
    if not found:
        raise ValueError(f"--data {folder} has no NAME.npz with arrays X and y; name another")
    return found


def text_features(counts):
    """Return TF-IDF vectors of counts of words in TEXT_COLUMNS columns, rows of length 1."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    columns = min(TEXT_COLUMNS, min(counts.shape) - 1)
    with one_thread():  # sums in one order, whatever the number of cores
        return normalize(TruncatedSVD(columns, random_state=0).fit_transform(weighted))


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


def prepare(name, folder):
    """Return the Points of a set: at most MOST_ROWS rows, floating features, classes numbered."""
    X, y = read_set(name, folder)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"X has shape {X.shape} and y {y.shape}; expected (n, d) and (n,)")
    if len(X) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(X), MOST_ROWS, replace=False)
        X, y = X[np.sort(rows)], y[np.sort(rows)]
    X = X if np.issubdtype(X.dtype, np.floating) else X.astype(np.float64)
    if not np.isfinite(X).all():
        raise ValueError("X has NaN or infinite values")
    return Points(X, np.unique(y, return_inverse=True)[1].astype(np.int64))


def digest(points):
    """Return a short text that changes with the points and with these rules."""
    found = hashlib.blake2b(repr((VERSION, HELD, BUDGETS, WRONG)).encode(), digest_size=8)
    for array in points:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def draw_pairs(name, y, draw, budget, wrong):
    """Return the Draw of a number, a budget and a share of wrong answers."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])
    n = len(y)
    order = rng.permutation(n)
    held = np.zeros(n, dtype=bool)
    held[order[: round(HELD * n)]] = True
    rest = np.flatnonzero(~held)
    most = len(rest) * (len(rest) - 1) // 2
    ends = rest[uniform_pairs(len(rest), min(n, most), rng)]  # (n, 2)
    seed = int(rng.integers(2**31 - 1))

    ends = ends[: n // BUDGETS[budget]]  # (m, 2)
    flipped = np.zeros(len(ends), dtype=bool)
    flipped[rng.permutation(len(ends))[: round(wrong * len(ends))]] = True
    same = y[ends[:, 0]] == y[ends[:, 1]]
    sign = np.where(same ^ flipped, 1, -1)
    links = Constraints.from_table({"id_a": ends[:, 0], "id_b": ends[:, 1], "kind": sign})
    return Draw(held, links, ends, flipped, seed)


def suspicion_auc(suspects, drawn):
    """Return the area under the ROC curve of suspects, None where no answer is wrong.

    Parameters
    ----------
    suspects : list of (Pair, probability that it is wrong); a pair not in it counts as 0
    drawn : Draw
    """
    from sklearn.metrics import roc_auc_score

    if not drawn.flipped.any() or drawn.flipped.all():
        return None
    told = {frozenset(pair[:2]): float(probability) for pair, probability in suspects}
    doubt = [told.get(frozenset(pair), 0.0) for pair in drawn.ends.tolist()]
    return float(roc_auc_score(drawn.flipped, doubt))


def score(y, labels, drawn):
    """Return the agreement on the points held back and on all, and the share of answers kept."""
    return {
        "untouched": adjusted_rand_index(y, labels, rows=drawn.held),
        "all": adjusted_rand_index(y, labels),
        "kept": kept(labels, drawn.links).all,
    }
