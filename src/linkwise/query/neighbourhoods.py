"""Questions about one point and the neighbourhoods it may belong to.

A neighbourhood is a set of points known to be together, apart from all other neighbourhoods [1]. A
point is compared with one neighbourhood after the other, the most likely first; a point that
belongs to none begins a new one. What has been asked is read from the answers; nothing is stored.

[1] Basu, Banerjee & Mooney, Active semi-supervision for pairwise constrained clustering, SDM 2004.
"""

from typing import NamedTuple

import numpy as np

from linkwise.constraints.cluster_numbers import most_clusters
from linkwise.query.known import Known, separate_sets
from linkwise.query.model import Context, Question

TURNS = 3  # members that show a neighbourhood in turn: more would be less typical


class Neighbourhoods(NamedTuple):
    """The neighbourhoods, and how the points of the model relate to them.

    Attributes
    ----------
    members : list of l int arrays, points
    p : array (r, l), probability that a row of the model belongs to a neighbourhood
    free : bool array (r, l), whether the pair may be asked
    rows : int array (r,)
    complete : bool, whether every cluster has a neighbourhood
    """

    members: list[np.ndarray]
    p: np.ndarray
    free: np.ndarray
    rows: np.ndarray
    complete: bool


def neighbourhoods_of(context: Context, first: int, *, exact: bool = False) -> Neighbourhoods:
    """Return the Neighbourhoods; before there is any, the point ``first`` alone makes one.

    With ``exact`` all neighbourhoods are known to be apart, else those that are near (``model``).
    """
    model = context.model
    known = model.known if exact else model.trusted
    roots = separate_sets(known, most_clusters(context.n_clusters)) if exact else model.classes
    roots = roots or [first]
    rows = model.rows
    members = [np.array(known.members(root)) for root in roots]
    centres = np.array([model.q[np.searchsorted(rows, m)].mean(axis=0) for m in members])  # (l, k)
    p = model.q @ centres.T
    free = _free(context, known, roots)
    aside = np.intersect1d(context.known.aside(), rows)
    free[np.searchsorted(rows, aside)] = False
    free[np.searchsorted(rows, members[0][0]), 0] = False
    complete = len(roots) >= model.k
    return Neighbourhoods(members, p, free, rows, complete)


def _free(context: Context, known: Known, roots: list[int]) -> np.ndarray:
    """Return whether nothing is known of a row and a neighbourhood, bool (r, l), by their roots."""
    rows = context.model.rows
    own = known.roots_of(rows)
    sets, of = np.unique(own, return_inverse=True)  # the sets of rows known to be together
    number = {root: z for z, root in enumerate(roots)}
    inside = np.array([number.get(root, -1) for root in own.tolist()])  # (r,), -1: in none
    shut = np.zeros((len(sets), len(roots)), dtype=bool)
    for z, root in enumerate(roots):
        shut[np.searchsorted(sets, list(known.apart(root))), z] = True
    unsure = context.model.known.unsure_pairs
    unsure = unsure[np.isin(unsure, rows).all(axis=1)]
    one, other = (np.searchsorted(rows, ends) for ends in np.r_[unsure, unsure[:, ::-1]].T)
    told = inside[one] >= 0
    shut[of[other[told]], inside[one[told]]] = True
    free = ~shut[of]
    free[inside >= 0] = False
    return free


def shut(sets: Neighbourhoods) -> np.ndarray:
    """Return with how many neighbourhoods each row cannot be compared, (r,)."""
    return sets.free.shape[1] - sets.free.sum(axis=1)


def likeliest(sets: Neighbourhoods, i: int) -> int | None:
    """Return the number of the likeliest neighbourhood that row i may be compared with, or None."""
    if not sets.free[i].any():
        return None
    return int(np.argmax(np.where(sets.free[i], sets.p[i], -1)))


def ask_about(context: Context, sets: Neighbourhoods, i: int, reason: str) -> Question | None:
    """Return the question about row i of the model and its likeliest neighbourhood, or None.

    The neighbourhood is shown by one of its most typical members, another one each time.
    """
    z = likeliest(sets, i)
    if z is None:
        return None
    point = int(sets.rows[i])
    members = [m for m in typical(context, sets, z) if context.may_ask(point, m)]
    if not members:
        return None
    turn = context.known.n_answers % min(len(members), TURNS)
    return Question(point, members[turn], reason)


def typical(context: Context, sets: Neighbourhoods, z: int) -> list[int]:
    """Return the members of a neighbourhood, the clearest and most typical first.

    A member about which "don't know" was answered, or that the model puts elsewhere, comes last:
    a wrong answer may have brought it here. Among the others those in the middle come first.
    """
    members = sets.members[z]
    at = np.searchsorted(sets.rows, members)
    own = sets.p[at, z] >= sets.p[at].max(axis=1) - 1e-6
    E = context.data.positions(context.model.k)[members]
    central = E @ E.mean(axis=0)
    count = context.known.unsure_of
    unclear = np.array([count.get(m, 0) for m in members.tolist()])
    return members[np.lexsort((-central, ~own, unclear))].tolist()
