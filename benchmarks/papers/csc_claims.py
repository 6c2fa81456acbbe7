"""The claims of the cSC paper."""

from benchmarks.papers import csc
from benchmarks.papers.claims import ALL, TIE, Case, Claim, ahead, mean_of, number
from benchmarks.papers.series import FREE, PAPER

RIVALS = ("SL", "SC", "FCSC", "cPCA", "cLPP")
WORDS = {"accuracy": "accuracy", "rand": "Rand index"}


class Board:
    """The figures of one measure; ``own`` in ``column`` is the method that stands for cSC."""

    def __init__(self, shelf, measure, own, column):
        self.shelf, self.measure, self.own, self.column = shelf, measure, own, column
        names = shelf.sets(csc.NAME, csc.SETS)
        self.uci = [name for name in names if name not in csc.FACES]
        self.faces = [name for name in names if name in csc.FACES]

    def series(self, name, method):
        """Return the series of a method; rivals choose nothing by classes."""
        column = self.column if method == self.own else PAPER
        return self.shelf.get(csc.NAME, name, method, column, self.measure)

    def over(self, name, method):
        """Return the mean over all rates above 0, None if there is none."""
        found = self.series(name, method)
        return None if found is None else found.over()

    def pairs(self, names, first, second):
        """Return (set, a, b) wherever both are there; first and second are (method, place)."""
        rows = []
        for name in names:
            found = [(self.series(name, m), place) for m, place in (first, second)]
            if all(s is not None for s, _ in found):
                rows.append((name, *(s.mean[place] for s, place in found)))
        return rows

    def leads(self, names, method, others):
        """Return the cases that a method is not behind the best of others."""
        cases = []
        for name in names:
            mine = self.over(name, method)
            theirs = [v for v in (self.over(name, m) for m in others) if v is not None]
            if mine is not None and theirs:
                cases.append(Case(name, mine + TIE >= max(theirs)))
        return cases

    def means(self):
        """Return the means of all methods over the UCI sets, in words."""
        parts = []
        for method in (self.own, *RIVALS):
            found = [v for v in (self.over(n, method) for n in self.uci) if v is not None]
            parts += [f"{method} {number(mean_of(found))}"] if found else []
        return "mean: " + ", ".join(parts)

    def claim(self, words, cases, figures):
        """Return a claim; the words have {} for the measure."""
        words = words.format(WORDS[self.measure])
        return Claim(csc.NAME, words, self.column, tuple(cases), ALL, figures)


def shown(rows, between):
    """Return (set, a, b) in words."""
    return "; ".join(f"{name} {a:.2f} {between} {b:.2f}" for name, a, b in rows)


def of_cSC(board):
    """Return the claims about cSC itself."""
    own, rise = board.own, board.pairs(board.uci, (board.own, 0), (board.own, -1))
    few = board.pairs(board.faces, (own, 1), ("SL", 1))
    many = board.pairs(board.faces, ("SL", -1), (own, -1))
    return [
        board.claim(
            "UCI sets: cSC has the best {} of all",
            board.leads(board.uci, own, RIVALS),
            board.means(),
        ),
        board.claim(
            "UCI sets: the {} of cSC rises with the rate",
            [Case(name, b > a + TIE) for name, a, b in rise],
            shown(rise, "to"),
        ),
        board.claim(
            "Faces: with few constraints cSC has a better {} than SL",
            [Case(name, ahead(a, b)) for name, a, b in few],
            shown(few, "and"),
        ),
        board.claim(
            "Faces: with many constraints SL has a better {} than cSC",
            [Case(name, ahead(a, b)) for name, a, b in many],
            shown(many, "and"),
        ),
    ]


def below_both(board, name):
    """Return whether cPCA and cLPP are below cSC and SL, None where one is missing."""
    linear, others = (
        [board.over(name, m) for m in methods] for methods in (("cPCA", "cLPP"), (board.own, "SL"))
    )
    return None if None in linear + others else max(linear) < min(others)


def of_rivals(board):
    """Return the claims about the other methods."""
    below = {name: below_both(board, name) for name in board.uci}
    faces = [row for m in ("cPCA", "cLPP") for row in board.pairs(board.faces, (m, -1), ("SC", 0))]
    return [
        board.claim(
            "UCI sets: SL has the best {} after cSC",
            board.leads(board.uci, "SL", RIVALS[1:]),
            board.means(),
        ),
        board.claim(
            "UCI sets: cPCA and cLPP have a lower {} than cSC and SL",
            [Case(name, holds) for name, holds in below.items() if holds is not None],
            board.means(),
        ),
        board.claim(
            "Faces: cPCA and cLPP stay below plain spectral clustering in {}, even at the highest "
            "rate",
            [Case(name, a < b) for name, a, b in faces],
            shown(faces, "and"),
        ),
    ]


def of_bound(kind, shares):
    """Return the claim about the fixed bound of FCSC from {set: share of fits without solution}."""
    return Claim(
        csc.NAME,
        "With more than two clusters FCSC with the fixed bound has no feasible solution "
        f"({kind.split(', ')[-1]})",
        "",
        tuple(Case(name, share > 0.5) for name, share in shares.items()),
        ALL,
        "share of fits without one: " + "; ".join(f"{n} {s:.2f}" for n, s in shares.items()),
    )


def csc_claims(shelf, infeasible):
    """Return the claims of cSC, by both measures and in both columns."""
    found = []
    for measure in WORDS:
        board = Board(shelf, measure, "cSC", PAPER)
        found += of_cSC(board) + of_rivals(board)
        found += of_cSC(Board(shelf, measure, csc.FREE, FREE))
    return found + [of_bound(kind, infeasible.get(kind, {})) for kind in csc.BOUNDS]
