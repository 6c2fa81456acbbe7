"""Generated data: clusters on curved sheets, of any number of rows.

    (1)  x = (c_y + Q_y p(u)) B + e       p(u) = (cos u_1 ... cos u_q, sin u_1 ... sin u_q)

A cluster y is a patch of a torus, u uniform in [-ARC, ARC]^q, turned by the orthonormal frame Q_y
(2q, r) and moved to c_y in a space of r dimensions that all clusters share; B (r, d) with
orthonormal rows lifts it to d columns. The noise e falls off along the columns like j^-1/2, as
the spectrum of images does, and has the same length for every d. The sheets bend around each
other and overlap: k-means splits them, and no method finds all of them. RANK, SHEET and NOISE were
chosen for that: on well separated clusters every method agrees with the classes.

The rows come in chunks of CHUNK, each from random numbers of its own: any number of rows can be
made block by block, in constant memory, and the first n rows are the same for every n.
"""

from typing import NamedTuple

import numpy as np

CHUNK = 1 << 16
RANK = 16  # r
SHEET = 5  # q
ARC = 2.0  # of each angle: a sheet goes round more than half of its torus
SPREAD = 1.8  # of the centres
NOISE = 2.5  # root mean square length of e


class Sheets(NamedTuple):
    centres: np.ndarray  # c (k, r)
    frames: np.ndarray  # Q (k, 2q, r)
    lift: np.ndarray  # B (r, d)
    noise: np.ndarray  # (d,) standard deviation of e by column
    shares: np.ndarray  # (k,) of the clusters, sum 1
    seed: int  # of the rows


class Block(NamedTuple):
    X: np.ndarray  # (b, d) float32
    y: np.ndarray  # (b,) int32


def draw_sheets(d, k, rng):
    """Return k sheets in d >= 2 columns."""
    r = min(RANK, d)
    q = min(SHEET, r // 2)
    centres = rng.standard_normal((k, r)) * SPREAD / np.sqrt(r)
    frames = np.linalg.qr(rng.standard_normal((k, r, 2 * q)))[0].transpose(0, 2, 1)
    lift = np.linalg.qr(rng.standard_normal((d, r)))[0].T
    noise = np.arange(1, d + 1) ** -0.5
    noise *= NOISE / np.linalg.norm(noise)
    shares = rng.dirichlet(np.full(k, 20.0))
    single = [a.astype(np.float32) for a in (centres, frames, lift, noise)]
    return Sheets._make([*single, shares, int(rng.integers(2**63))])


def chunk(sheets, number):
    """Return CHUNK rows, Eq. (1): those from number * CHUNK on."""
    rng = np.random.default_rng([sheets.seed, number])
    k, width, r = sheets.frames.shape
    y = rng.choice(k, size=CHUNK, p=sheets.shares).astype(np.int32)
    u = ARC * (2 * rng.random((CHUNK, width // 2), dtype=np.float32) - 1)
    p = np.concatenate([np.cos(u), np.sin(u)], axis=1)  # (b, 2q)
    low = np.empty((CHUNK, r), dtype=np.float32)
    for c in range(k):
        own = y == c
        low[own] = sheets.centres[c] + p[own] @ sheets.frames[c]
    X = rng.standard_normal((CHUNK, len(sheets.noise)), dtype=np.float32)
    X *= sheets.noise
    X += low @ sheets.lift  # Eq. (1)
    return Block(X, y)


def sheet_blocks(n, d, k, rng):
    """Yield n rows as Blocks of at most CHUNK rows."""
    sheets = draw_sheets(d, k, rng)
    for number in range(-(-n // CHUNK)):
        X, y = chunk(sheets, number)
        rows = min(CHUNK, n - number * CHUNK)
        yield Block(X[:rows], y[:rows])


def sheets(n, d, k, rng):
    """Return n rows in d columns and their clusters 0 ... k - 1, Eq. (1).

    Parameters
    ----------
    n : int >= 1
    d : int >= 2
    k : int >= 1
    rng : numpy Generator

    Examples
    --------
    >>> X, y = sheets(1000, 32, 10, np.random.default_rng(0))
    >>> X.shape, X.dtype.name, len(np.unique(y))
    ((1000, 32), 'float32', 10)
    """
    X, y = zip(*sheet_blocks(n, d, k, rng), strict=True)
    return Block(np.concatenate(X), np.concatenate(y))


def write_sheets(folder, n, d, k, rng):
    """Write the rows of `sheets` to ``X.npy`` and ``y.npy`` in a folder, block by block."""
    with open(folder / "X.npy", "wb") as points, open(folder / "y.npy", "wb") as classes:
        _header(points, np.float32, (n, d))
        _header(classes, np.int32, (n,))
        for X, y in sheet_blocks(n, d, k, rng):
            points.write(X.data)
            classes.write(y.data)


def _header(file, dtype, shape):
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
