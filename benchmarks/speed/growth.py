"""How cost grows: the straight line through log10 seconds against log10 rows.

(1)  log10 t = a log10 n + b      by least squares; a is the slope
"""

from typing import NamedTuple

import numpy as np


class Line(NamedTuple):
    slope: float  # a of Eq. (1)
    intercept: float  # b

    def at(self, n):
        """Return the seconds for n rows."""
        return 10 ** (self.slope * np.log10(n) + self.intercept)


def fit_line(n, seconds):
    """Return the Line of Eq. (1); at least two different n.

    >>> line = fit_line([10, 100, 1000], [2, 20, 200])
    >>> round(line.slope, 6), round(float(line.at(50)), 6)
    (1.0, 10.0)
    """
    slope, intercept = np.polyfit(np.log10(n), np.log10(seconds), 1)
    return Line(float(slope), float(intercept))
