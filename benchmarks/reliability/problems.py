"""Random clustering problems: small points of many kinds, and constraints on them.

A problem is made by its number alone, so that one that broke a law can be made again. Two thirds
have ordinary numbers. The others have values or weights at the limits of arithmetic, or beyond.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from linkwise import Constraints, sample_pairs

SHAPES = ("blobs", "rings", "grid", "equal", "wide", "line", "noise")
SCALES = (1e99, 1e-99, 1e50, 1e-50, 1e150, 1e-150, 1e305, 1e-305)
WEIGHTS = (1e14, 1e-14, 1e30, 1e-30, 1e300, 1e-300)
EXTREMES = ("scale", "columns", "offset", "weights")


class Problem(NamedTuple):
    """Points, what is known of them, and how many clusters to ask for."""

    number: int
    kind: str  # in words, for reports
    X: object  # array or csr_array (n, d)
    y: np.ndarray  # (n,) classes that consistent constraints come from
    links: Constraints
    k: int
    consistent: bool  # whether the constraints hold in y
    ordinary: bool  # whether all numbers are ordinary


def points(rng, shape, n, k):
    """Return points (n, d) of a shape, and their classes (n,)."""
    y = rng.permutation(np.arange(n) % k)
    d = int(rng.integers(1, 6))
    if shape == "rings":
        angle = rng.uniform(0, 2 * np.pi, n)
        X = (1 + y)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        X += 0.1 * rng.standard_normal(X.shape)
    elif shape == "grid":
        X = rng.integers(0, 3, (n, d)).astype(float)  # many equal rows
    elif shape == "equal":
        X = np.ones((n, d))
    elif shape == "wide":
        X = rng.standard_normal((n, 2 * n)) + 2 * y[:, None]
    elif shape == "line":
        X = np.outer(np.arange(n) + 10.0 * y, np.ones(d))  # columns that depend on each other
    elif shape == "noise":
        X = rng.standard_normal((n, d))
    else:
        X = rng.standard_normal((n, d)) + 6 * rng.standard_normal((k, d))[y]
    return X, y


def constraints(rng, y, weighted):
    """Return constraints that hold in y, or not all of them, and whether they hold."""
    n = len(y)
    count = int(rng.integers(0, min(2 * n, n * (n - 1) // 2) + 1)) * int(rng.random() < 0.85)
    wrong = 0.2 * (rng.random() < 0.25)
    links = sample_pairs(y, count, error_rate=wrong, random_state=rng)
    if weighted and count and rng.random() < 0.3:
        links = links.with_weight(rng.choice([0.0, 0.5, 1.0, 3.0], count))
    return links, round(wrong * count) == 0


def extreme(rng, X, links, weighted):
    """Return points and constraints at the limits of arithmetic, and what they are."""
    kind = str(rng.choice(EXTREMES if weighted else EXTREMES[:-1]))
    if kind == "scale":
        factor = float(rng.choice(SCALES))
        return X * factor, links, f"times {factor:g}"
    if kind == "columns":
        return X * 10.0 ** rng.integers(-8, 9, X.shape[1]), links, "columns of many scales"
    if kind == "offset":
        offset = float(rng.choice([1e8, 1e12, -1e15]))
        return X + offset, links, f"plus {offset:g}"
    weight = float(rng.choice(WEIGHTS))
    return X, links.with_weight(weight) if links else links, f"weights {weight:g}"


def problem(number, *, weighted=True, sparse_too=True):
    """Return the Problem of a number.

    Parameters
    ----------
    number : int
    weighted : bool, whether constraints may have weights
    sparse_too : bool, whether points may be sparse
    """
    rng = np.random.default_rng([number, 7])
    shape = SHAPES[number % len(SHAPES)]
    k = int(rng.integers(1, 6))
    n = int(rng.integers(max(k, 2), 40))
    X, y = points(rng, shape, n, k)
    links, consistent = constraints(rng, y, weighted)
    kind, ordinary = shape, number % 3 < 2
    if not ordinary:
        with np.errstate(over="ignore", under="ignore"):
            X, links, what = extreme(rng, X, links, weighted)
        kind = f"{shape}, {what}"
    if rng.random() < 0.2 and np.abs(X).max() < 1e30:
        X, kind = X.astype(np.float32), f"{kind}, float32"
    if sparse_too and rng.random() < 0.2:
        X, kind = sparse.csr_array(X), f"{kind}, sparse"
    return Problem(number, kind, X, y, links, k, consistent, ordinary)
