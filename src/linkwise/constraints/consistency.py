"""Whether constraints tell by themselves that they are right.

Wrong constraints contradict right ones, if there are enough of them: "a with b, b with c, a not
with c". Constraints that contradict nothing may be right, or too few to show it. Which of the two,
is tried: answers drawn at random are turned into their opposite, a share e of them. If this nearly
always makes a contradiction, and there is none, fewer than a share e are wrong.

O(TRIES m) for m constraints.
"""

import numpy as np

from linkwise.constraints.conflicts import is_contradictory
from linkwise.constraints.pairs import Constraints

TRIES = 20
SHOWN = 0.9  # share of the tries that make a contradiction


def seem_right(links: Constraints, error: float, *, two: bool = False) -> bool:
    """Tell whether constraints contradict nothing, and would if a share of them were wrong.

    Parameters
    ----------
    links : Constraints
    error : float in (0, 1/2), the share
    two : bool, whether there are only two clusters: then cycles of cannot-links contradict too

    Examples
    --------
    >>> triangles = np.arange(300).reshape(100, 3)
    >>> pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    >>> links = Constraints(must_link=pairs)
    >>> seem_right(links, 0.05)
    True
    >>> seem_right(links.select(np.arange(200)), 0.05)  # no triangle is closed
    False
    """
    n, ends, sign = len(links.ids), links.pairs, links.sign
    if is_contradictory(n, ends, sign, two=two):
        return False
    rng = np.random.default_rng(0)  # the same tries every time
    turned = np.where(rng.random((TRIES, len(sign))) < error, -sign, sign)
    shown = sum(is_contradictory(n, ends, each, two=two) for each in turned)
    return bool(shown >= SHOWN * TRIES)
