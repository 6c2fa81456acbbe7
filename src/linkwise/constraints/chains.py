"""Pairs that short chains of constraints imply, each as certain as its chain.

If a is with b, and b is not with c, then a is not with c. The closure has all such pairs and takes
every constraint as right; here some may be wrong, so that a long chain tells little. With P the
must-links and N the cannot-links, as matrices, the pairs at the ends of chains of d constraints are
the nonzeros of

    (1)  P_d = P P_(d-1),   N_d = P N_(d-1) + N_(d-1) P

With only two clusters, P_d = P P_(d-1) + N N_(d-1) and N_d = P N_(d-1) + N P_(d-1). If a share e of
the constraints is wrong, the number of wrong ones in a chain is even with probability (2), and the
pair holds. Its weight is (3), that of a constraint being 1:

    (2)  p_d = (1 + (1 - 2 e)^d) / 2
    (3)  c_d = log(p_d / (1 - p_d)) / log((1 - e) / e)

Pairs repeat the constraints that they follow from. So their weights are scaled down to sum to at
most that of the constraints. Pairs that follow from some chains and are contradicted by others are
left out.

O(number of pairs) for each length; lengths that would give too many pairs are not tried. Several
sets of constraints are the blocks of one matrix: most of the time of a small one is overhead.
"""

import numpy as np
from scipy import sparse

from linkwise._typing import Array, Sparse
from linkwise.constraints.pairs import Constraints

LONGEST = 5  # constraints in a chain: two members of one star and two of another, and one between
MOST = 15  # pairs for each constraint, on average
CERTAIN = 0.5  # least weight of a constraint in a chain


def with_chains(links: Constraints, error: float, *, two: bool = False) -> Constraints:
    """Return constraints followed by the pairs that chains of them imply.

    Parameters
    ----------
    links : Constraints on row numbers
    error : float in (0, 1/2), e
    two : bool, whether there are only two clusters: then two cannot-links make a must-link

    Returns
    -------
    Constraints: the given ones first, in their order

    Examples
    --------
    >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> with_chains(links, 0.05)
    Constraints(1 must-link, 2 cannot-links)
    """
    return with_chains_of([links], error, two=two)[0]


def with_chains_of(
    several: list[Constraints], error: float, *, two: bool = False
) -> list[Constraints]:
    """Return what `with_chains` does for each of several Constraints, in less time.

    They are the blocks of one matrix; those with too many pairs leave it.
    """
    first = np.cumsum([0, *(len(links.ids) for links in several)])  # row of every block
    u, block = int(first[-1]), np.repeat(np.arange(len(several)), np.diff(first))
    pairs = np.concatenate([links.pairs + at for links, at in zip(several, first, strict=False)])
    sign, weight = (
        np.concatenate([getattr(links, name) for links in several]) for name in ("sign", "weight")
    )
    sure = weight >= CERTAIN
    P, N = (_adjacency(pairs[sure & (sign == one)], u) for one in (1, -1))
    known = _adjacency(pairs, u) + sparse.eye_array(u, format="csr", dtype=bool)
    found: list[list[tuple[int, int, Array, Array]]] = [[] for _ in several]
    most = MOST * np.array([links.n_pairs for links in several])
    P_d, N_d = P, N
    for d in range(2, LONGEST + 1):
        size = _sizes(P, P_d, first) + 2 * _sizes(P, N_d, first)
        if two:
            size += _sizes(N, N_d, first) + _sizes(N, P_d, first)
        P, N, P_d, N_d = (_rows(A, (size <= most)[block]) for A in (P, N, P_d, N_d))
        most = np.where(size <= most, most, -1)
        if (most < 0).all():
            break
        P_d, N_d = _longer(P, N, P_d, N_d, two)  # Eq. (1)
        for kind in (P_d, N_d):
            kind.sort_indices()  # the order of pairs does not depend on the other blocks
        both = P_d.multiply(N_d)
        for one, kind in ((1, P_d), (-1, N_d)):
            a, b = _upper(_without(_without(kind, known), both))
            ends = np.searchsorted(a, first)  # rows ascend
            for number, part in enumerate(map(slice, ends[:-1], ends[1:])):
                if most[number] >= 0:
                    at = first[number]
                    found[number].append((one, d, a[part] - at, b[part] - at))
        known = known + P_d + N_d
    return [_together(links, each, error) for links, each in zip(several, found, strict=True)]


def _adjacency(pairs: Array, u: int) -> Sparse:
    ones = np.ones(2 * len(pairs), dtype=bool)
    ends = np.r_[pairs, pairs[:, ::-1]].T
    return sparse.csr_array((ones, (ends[0], ends[1])), shape=(u, u))


def _sizes(A: Sparse, B: Sparse, first: Array) -> Array:
    """Return the number of products that A B takes in every block, a bound of its nonzeros."""
    products = np.r_[0, np.cumsum(np.diff(B.indptr)[A.indices])][A.indptr]
    return np.diff(products[first])


def _rows(A: Sparse, kept: Array) -> Sparse:
    """Return a matrix with some rows alone, bool (u,)."""
    return A if kept.all() else sparse.diags_array(kept, format="csr", dtype=bool) @ A


def _longer(P: Sparse, N: Sparse, P_d: Sparse, N_d: Sparse, two: bool) -> tuple[Sparse, Sparse]:
    """Return the two matrices of Eq. (1)."""
    if two:
        return P @ P_d + N @ N_d, P @ N_d + N @ P_d
    step = P @ N_d
    return P @ P_d, step + step.T.tocsr()


def _without(some: Sparse, others: Sparse) -> Sparse:
    """Return the nonzeros of a bool matrix that another one does not have."""
    return some != some.multiply(others)


def _upper(A: Sparse) -> tuple[Array, Array]:
    """Return the two ends of every nonzero above the diagonal."""
    A = sparse.triu(A, k=1).tocoo()
    return A.row, A.col


def _together(
    links: Constraints, found: list[tuple[int, int, Array, Array]], error: float
) -> Constraints:
    """Return links and the pairs found, a list of (sign, d, ends, ends), as Constraints."""
    sizes = [len(a) for *_, a, _ in found]
    if not sum(sizes):
        return links
    length = np.repeat([d for _, d, *_ in found], sizes)
    right = (1 + (1 - 2 * error) ** length) / 2  # Eq. (2)
    weight = np.log(right / (1 - right)) / np.log((1 - error) / error)  # Eq. (3)
    weight *= min(1, links.weight.sum() / weight.sum())
    pairs = np.concatenate([np.stack((a, b), axis=1) for *_, a, b in found])
    return Constraints.from_columns(
        links.ids,
        np.concatenate((links.pairs, pairs)),
        np.r_[links.sign, np.repeat([sign for sign, *_ in found], sizes)],
        np.r_[links.weight, weight],
    )
