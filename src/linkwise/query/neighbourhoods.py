"""Questions about one point and the sets it may belong to.

A home is a set of points known to be together, apart from all other homes [1]. A point is asked
about against one home after the other, the most likely first; a point that belongs to none makes
a new home. What has been asked is read from the answers: nothing is remembered.

[1] Basu, Banerjee & Mooney, Active semi-supervision for pairwise constrained clustering, SDM 2004.
"""

from typing import NamedTuple

import numpy as np

from linkwise.query.known import neighbourhoods
from linkwise.query.state import Question


class Homes(NamedTuple):
    """The homes, and how the points of the model stand to them.

    Attributes
    ----------
    members : list of l int arrays, points
    p : array (r, l), probability that a row of the model belongs to a home
    free : bool array (r, l), whether the pair may be asked
    rows : int array (r,)
    complete : bool, whether there is a home for every cluster
    hubs : dict {point: points that it was told to be with}
    """

    members: list
    p: np.ndarray
    free: np.ndarray
    rows: np.ndarray
    complete: bool
    hubs: dict


def homes_of(state, first, *, exact=False):
    """Return the Homes; before there is any, the point ``first`` alone makes one.

    With ``exact`` homes are known to be apart, all of them; else those that are near (``model``).
    """
    model = state.model
    known = state.known if exact else model.trusted
    roots = neighbourhoods(known, state.n_clusters) if exact else model.classes
    roots = roots or [first]
    rows = model.rows
    members = [np.array(known.members(root)) for root in roots]
    centres = np.array([model.q[np.searchsorted(rows, m)].mean(axis=0) for m in members])  # (l, k)
    p = model.q @ centres.T
    free = np.ones(p.shape, dtype=bool)
    number = {root: z for z, root in enumerate(roots)}
    for root in known.roots():
        if root in number:
            free[np.searchsorted(rows, known.members(root))] = False
            continue
        shut = [number[other] for other in known.apart(root) if other in number]
        for point in known.members(root):
            free[np.searchsorted(rows, point), shut] = False
    for (a, b), same in state.known.answers.items():
        for one, other in ((a, b), (b, a)) if same is None else ():
            if known.root(one) in number:
                unsure = np.intersect1d(known.members(other), rows)
                free[np.searchsorted(rows, unsure), number[known.root(one)]] = False
    free[np.searchsorted(rows, members[0][0]), 0] = False
    complete = len(roots) >= model.k
    return Homes(members, p, free, rows, complete, hubs(known))


def shut(homes):
    """Return how many homes each row cannot be asked about, (r,)."""
    return homes.free.shape[1] - homes.free.sum(axis=1)


def against(homes, i):
    """Return the number of the likeliest home that row i may be asked about, None if none."""
    if not homes.free[i].any():
        return None
    return int(np.argmax(np.where(homes.free[i], homes.p[i], -1)))


def hubs(known):
    """Return {point: how many points it was directly told to be with}, earliest points first."""
    count = dict.fromkeys(known.touched(), 0)
    for (a, b), same in known.answers.items():
        if same:
            count[a] += 1
            count[b] += 1
    return count


def ask_about(state, homes, i, reason):
    """Return the question about row i of the model and the likeliest home, None if there is none.

    Of the home always the same member is shown, the one that most others were compared with: then
    a wrong answer is about one point, and does not bring two homes together later.
    """
    z = against(homes, i)
    if z is None:
        return None
    point, count = int(homes.rows[i]), homes.hubs
    rank = {member: place for place, member in enumerate(count)}
    members = sorted(homes.members[z].tolist(), key=lambda m: (-count.get(m, 0), rank.get(m, 0)))
    shown = next((member for member in members if state.known.is_open(point, member)), None)
    return None if shown is None else Question(point, shown, reason)
