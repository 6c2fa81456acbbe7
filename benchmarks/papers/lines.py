"""Affinity propagation by hand: table 1 and figures 1 to 4, which need no data.

One hard link between points 1 and 2 turns a Gaussian kernel K, K_ii = 1, into

    (1)  K'_ij = K_ij - (K_i1 -+ K_i2)(K_j1 -+ K_j2) / (2 (1 -+ K_12))     - must, + cannot

`CELLS` has the six cases of table 1 with what the paper says (1) becomes. Five hold. The sixth, a
must-link between close points, does not: numerator and denominator vanish together, and

    (2)  K'_ij -> K_ij - sigma^2 dK_i1 dK_j1          dK the slope of the kernel at the link

remains: a hard must-link between neighbours forces a flat f there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwise.embedding import spectral_basis
from linkwise.graph import gaussian
from linkwise.kernel import propagate

HARD = {"eps_must": 1e-5, "eps_cannot": 1e-5}
CLOSE, FAR = 1e-3, 12.0  # distance of the two link sites, in widths of the kernel
WIDTHS = (0.5, 1.0, 2.0)  # of figure 1, in units of the distance of i to its site
NEAR = 0.01  # how far a cell of the table may be off


class Cell(NamedTuple):
    """A case of table 1: where the points are, and what the paper says."""

    link: str  # "must-link" or "cannot-link"
    sites: float  # distance of 1 and 2
    i: float
    j: float
    case: str
    says: str
    value: Callable  # (k, i, j, site) -> number


def kernel(a, b, sigma=1.0):
    """Return the Gaussian of two places.

    >>> round(float(kernel(0.0, 1.0)), 4)
    0.6065
    """
    return np.exp(-0.5 * ((a - b) / sigma) ** 2)


def linked(i, j, sites, sign, sigma=1.0):
    """Return K' of Eq. (1) for a link of places 0 and ``sites``; sign +1 must, -1 cannot."""

    def u(x):
        return kernel(x, 0.0, sigma) - sign * kernel(x, sites, sigma)

    bottom = 2 * (1 - sign * kernel(0.0, sites, sigma))
    return kernel(i, j, sigma) - u(i) * u(j) / bottom


CELLS = (
    Cell("must-link", CLOSE, 0.7, 0.4, "1, 2 close; i, j close", "K_ij",
         lambda i, j, site: kernel(i, j)),
    Cell("must-link", FAR, 0.3, 0.5, "1, 2 far; i, j close", "K_ij - K_i1 K_j1 / 2",
         lambda i, j, site: kernel(i, j) - kernel(i, 0) * kernel(j, 0) / 2),
    Cell("must-link", FAR, 0.3, 12.2, "1, 2 far; i, j far", "K_i1 K_j2 / 2",
         lambda i, j, site: kernel(i, 0) * kernel(j, site) / 2),
    Cell("cannot-link", CLOSE, 0.3, 0.5, "1, 2 close; i, j close", "K_ij - K_i1 K_j1",
         lambda i, j, site: kernel(i, j) - kernel(i, 0) * kernel(j, 0)),
    Cell("cannot-link", FAR, 0.3, 0.5, "1, 2 far; i, j close", "K_ij - K_i1 K_j1 / 2",
         lambda i, j, site: kernel(i, j) - kernel(i, 0) * kernel(j, 0) / 2),
    Cell("cannot-link", FAR, 0.3, 12.2, "1, 2 far; i, j far", "- K_i1 K_j2 / 2",
         lambda i, j, site: -kernel(i, 0) * kernel(j, site) / 2),
)  # fmt: skip


def table():
    """Return for every cell of table 1 the exact value, the paper's, and whether it holds."""
    rows = []
    for cell in CELLS:
        sign = 1 if cell.link == "must-link" else -1
        exact = float(linked(cell.i, cell.j, cell.sites, sign))
        said = float(cell.value(cell.i, cell.j, cell.sites))
        slope = exact
        if sign > 0 and cell.sites == CLOSE:
            slope = float(kernel(cell.i, cell.j) - cell.i * kernel(cell.i, 0) * cell.j
                          * kernel(cell.j, 0))  # fmt: skip
        rows.append({"link": cell.link, "case": cell.case, "says": cell.says,
                     "exact": round(exact, 5), "paper": round(said, 5), "limit": round(slope, 5),
                     "holds": abs(exact - said) < NEAR})  # fmt: skip
    return rows


def shapes(sigma):
    """Return the three equivalent kernels of figure 1 over x: asymmetric, and plus and minus."""
    x = np.linspace(-4, 4, 161)
    i = 1.0  # one unit from its link site
    asymmetric = kernel(x, i, sigma) - kernel(i, 0, sigma) * kernel(x, 0, sigma) / 2
    symmetric = kernel(i, 0, sigma) * kernel(x, 0, sigma) / 2
    return x, asymmetric, symmetric


def plane(sigma):
    """Return the same three kernels over a plane: link site at (0, 0), i at (1, 0)."""
    x, y = np.meshgrid(np.linspace(-4, 4, 81), np.linspace(-3, 3, 61))
    at_i, at_site = (kernel(np.hypot(x - a, y), 0.0, sigma) for a in (1.0, 0.0))
    symmetric = kernel(1.0, 0.0, sigma) * at_site / 2
    return at_i - symmetric, symmetric, -symmetric


class Line(NamedTuple):
    """A figure of points on a line: places, links, and the affinity before and after."""

    x: np.ndarray
    links: tuple  # of (i, j, sign)
    before: np.ndarray  # (n, n)
    after: dict  # algorithm: (n, n)


def _spread(x, width, links, algorithms):
    K = gaussian(np.abs(x[:, None] - x), width)
    i, j, sign = (np.array(column) for column in zip(*links, strict=True))
    after = {
        name: propagate(K, i, j, sign, np.ones(len(i)), algorithm=name, **HARD).A
        for name in algorithms
    }
    return Line(x, tuple(links), K, after)


def one_must_link():
    """Return figure 2: one must-link, samples 5 and 20, of three groups on a line."""
    rng = np.random.default_rng(0)
    x = np.concatenate([np.sort(rng.normal(centre, 0.35, 13)) for centre in (0, 4, 8)])
    return _spread(x, 1.0, [(4, 19, 1)], "a")


def one_cannot_link():
    """Return figure 3: one cannot-link, samples 5 and 15, of a line without gaps."""
    return _spread(np.linspace(0, 4, 20), 2.0, [(4, 14, -1)], "a")


def false_affinity():
    """Return figure 4: cannot-links 5 - 16 and 16 - 35, by Algorithms A and B."""
    return _spread(np.linspace(0, 8, 40), 1.0, [(4, 15, -1), (15, 34, -1)], "ab")


def vectors(A, count=3):
    """Return eigenvalues and vectors e = D^-1/2 v of the normalised cut of an affinity."""
    basis = spectral_basis(A, count, np.random.default_rng(0))
    root = np.sqrt(np.maximum(basis.degrees, 1e-300))
    return 1 - basis.values, basis.vectors / root[:, None]


def jump(e, split):
    """Return how far a vector is from constant on each side, against the step between.

    >>> jump(np.array([0.0, 0.0, 1.0, 1.0]), 2)
    0.0
    """
    left, right = e[:split], e[split:]
    return float(max(left.std(), right.std()) / max(abs(left.mean() - right.mean()), 1e-300))


def rise(e):
    """Return the share of the rise of a vector that falls on its middle quarter.

    >>> rise(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    1.0
    """
    n = len(e)
    low, high = round(3 * n / 8), round(5 * n / 8)
    return float(abs(e[high] - e[low - 1]) / max(np.ptp(e), 1e-300))


def facts():
    """Return the figures that the claims about figures 2 to 4 rest on."""
    merged, split, both = one_must_link(), one_cannot_link(), false_affinity()
    e_before, e_after = vectors(merged.before)[1][:, 1], vectors(merged.after["a"])[1][:, 1]
    s_before, s_after = vectors(split.before)[1][:, 1], vectors(split.after["a"])[1][:, 1]
    return {
        "across_before": round(float(merged.before[:13, 13:26].max()), 5),
        "across_after": round(float(merged.after["a"][:13, 13:26].mean()), 5),
        "merged_before": round(jump(e_before, 26), 5),
        "merged_after": round(jump(e_after, 26), 5),
        "split_before": round(rise(s_before), 5),
        "split_after": round(rise(s_after), 5),
        "false_a": round(float(both.after["a"][4, 34]), 5),
        "false_b": round(float(both.after["b"][4, 34]), 5),
    }
