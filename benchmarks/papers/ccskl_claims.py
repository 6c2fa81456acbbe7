"""The claims of the CCSKL paper."""

from benchmarks.papers import ccskl
from benchmarks.papers.claims import (
    ALL,
    COMPARABLE,
    MOST,
    MUCH,
    SOME,
    TIE,
    Case,
    Claim,
    ahead,
    mean_of,
    means,
    number,
    paired,
)

RIVALS = ("SL", "SSKK", "NCuts")
UCI = tuple(name for name in ccskl.SETS if name not in ccskl.IMAGES)


class Board:
    """The errors of one column."""

    def __init__(self, shelf, column):
        self.shelf, self.column = shelf, column
        self.images, self.uci, self.all = (
            shelf.sets(ccskl.NAME, names) for names in (ccskl.IMAGES, UCI, ccskl.SETS)
        )

    def series(self, name, method):
        """Return the series of a method on a set, None if there is none."""
        return self.shelf.get(ccskl.NAME, name, method, self.column, "error")

    def pairs(self, names, first, second):
        """Return (set, number of constraints, error of first, error of second)."""
        return paired(self.shelf, ccskl.NAME, names, first, second, self.column, "error")

    def claim(self, words, cases, need, names, methods):
        """Return a claim, with the mean errors of some methods as its figures."""
        figures = means(self.shelf, ccskl.NAME, names, methods, self.column, "error")
        return Claim(ccskl.NAME, words, self.column, tuple(cases), need, f"mean error: {figures}")


def lowest(board, words, names):
    """Return the claim that CCSKL has the lowest error in most cases."""
    cases = []
    for name in names:
        own, *others = (board.series(name, method) for method in ("CCSKL", *RIVALS))
        if own is None or None in others:
            continue
        for at in own.at:
            if at and all(at in other.at for other in others):
                best = min(other.value(at) for other in others)
                cases.append(Case(f"{name} {at}", own.value(at) <= best))
    return board.claim(
        f"On the {words} CCSKL has the lowest error of CCSKL, SL, SSKK and NCuts in most cases "
        "(set and number of constraints)",
        cases, MOST, names, ccskl.METHODS,
    )  # fmt: skip


def against_plain(board):
    """Return the claims that compare with NCuts and with CCSR."""
    better = [
        Case(f"{method} {name} {at}", ahead(a, b, lowest=True))
        for method in ("CCSKL", "SL")
        for name, at, a, b in board.pairs(board.images, method, "NCuts")
    ]
    worse = [
        Case(f"{name} {at}", ahead(b, a, lowest=True))
        for name, at, a, b in board.pairs(board.images, "SSKK", "NCuts")
    ]
    alike = [
        Case(f"{name} {at}", abs(a - b) <= COMPARABLE)
        for name, at, a, b in board.pairs(board.all, "CCSKL", "CCSR")
    ]
    return [
        board.claim("On the image sets CCSKL and SL are consistently better than NCuts", better,
                    ALL, board.images, ("CCSKL", "SL", "NCuts")),
        board.claim("On the image sets SSKK is worse than NCuts in some cases", worse, SOME,
                    board.images, ("SSKK", "NCuts")),
        board.claim(f"The errors of CCSKL and CCSR are comparable (within {COMPARABLE})", alike,
                    ALL, board.all, ("CCSKL", "CCSR")),
    ]  # fmt: skip


def falling(board):
    """Return the claim that the error of CCSKL falls with constraints."""
    found = {name: board.series(name, "CCSKL") for name in board.all}
    falls = {n: s.value(0) - s.mean[-1] for n, s in found.items() if s is not None and 0 in s.at}
    return Claim(
        ccskl.NAME,
        "CCSKL exploits the constraints: its error falls from none to the largest number",
        board.column,
        tuple(Case(name, fall > TIE) for name, fall in falls.items()),
        ALL,
        f"mean fall {number(mean_of(falls.values()))}",
    )


def ccskl_claims(shelf, column):
    """Return the claims of CCSKL about errors in one column."""
    board = Board(shelf, column)
    found = [lowest(board, "image sets", board.images), lowest(board, "UCI sets", board.uci)]
    return [*found, *against_plain(board), falling(board)]


def matrix_claim(matrices):
    """Return the claim of figure 4 from {set: distance matrices}."""
    cases, words = [], []
    for name, views in matrices.items():
        own, *others = (views[v]["contrast"] for v in ("kernel", "spectral embedding", "original"))
        cases.append(Case(name, own > max(others)))
        words.append(f"{name} {others[1]:.2f}, {others[0]:.2f}, {own:.2f}")
    return Claim(
        ccskl.NAME,
        "Of the distance matrices (original, spectral embedding, CCSKL) that of CCSKL "
        "has the clearest blocks",
        "",
        tuple(cases),
        ALL,
        "distance between over within classes: " + "; ".join(words),
    )


def time_claims(times):
    """Return the claims about execution times from {method: (whole, learnt)}; not for all runs."""
    if not times:
        return []
    whole = {method: value[0] for method, value in times.items()}
    qp, sdp = times["CCSKL"][1], times["CCSR"][1]
    words = ", ".join(f"{m} {value / whole['CCSKL']:.2f}" for m, value in whole.items())
    return [
        Claim(
            ccskl.NAME,
            "The quadratic program of CCSKL takes a small part of the time of the "
            "semi-definite program of CCSR (at most a tenth)",
            "",
            (Case("ratio", sdp >= MUCH * qp),),
            ALL,
            f"{sdp / qp:.1f} times shorter (2,600 in the paper, by a general solver)",
        ),
        Claim(
            ccskl.NAME,
            "A whole run of CCSKL is the shortest of the five",
            "",
            tuple(Case(m, whole["CCSKL"] <= value) for m, value in whole.items() if m != "CCSKL"),
            ALL,
            f"in units of CCSKL: {words}",
        ),
    ]
