"""The report: the claims and their verdicts first, then every figure with its numbers."""

from benchmarks.papers import ccskl, csc, kernel, lines, propagation
from benchmarks.papers.series import FREE, LEAST, PAPER, Shelf
from benchmarks.papers.theme import STYLE
from benchmarks.reports.document import NO_PICTURES, Heading, Picture, Table, Words, html_page
from benchmarks.runs.machine import in_words

TITLES = {
    ccskl.NAME: "Spectral kernel learning, CCSKL (Li & Liu 2009)",
    kernel.NAME: "Kernel optimisation with pairwise constraints",
    propagation.NAME: "Affinity propagation (Lu & Carreira-Perpinan 2008)",
    csc.NAME: "Constrained spectral embedding, cSC (Wacquet et al. 2013)",
}
JUDGED = {PAPER: "as in the paper", FREE: "label-free", "": "exact"}
READING = (
    "Every experiment has two columns. As in the paper: what the paper leaves open, such as the "
    "width of the graph, is chosen by the true classes, which no user can do. Label-free: it is "
    "chosen by the constraints alone, or by the defaults of the library. Bands and ± are one "
    "standard error over draws of constraints."
)
VERDICTS = (
    "A verdict is computed from the cases of a claim (sets, numbers of constraints): reproduced "
    "where as many hold as its words ask for (“all” asks for 90 %, “most” for more than half, "
    "“some” for 20 %), partly where at least half as many do."
)
PROTOCOL = {
    ccskl.NAME: (
        "Graphs of 20 nearest neighbours with nine Gaussian widths; class-balanced constraints; "
        "error under the best matching. As in the paper: the best width by the classes for every "
        "method and number of constraints, the mean over random single starts of k-means. "
        "Label-free: for each draw the width whose partition keeps most constraints, and the start "
        "of least inertia; CCSKL() is the library's estimator at its defaults."
    ),
    kernel.NAME: (
        "In each draw 30 % of the points are drawn, constraints are uniform pairs of these, and "
        "the Rand index is over pairs of the other 70 %. Raw features. The six widths are σ² = .1 "
        "to 10,000. Label-free: OptimalKernelKMeans() with five starts of the ascent, that of the "
        "six widths which keeps most constraints (of equals the widest), and KernelKMeans() at its "
        "default width."
    ),
    propagation.NAME: (
        "Uniform pairs, Rand index over all points. Algorithm A for two classes, B for more; hard "
        "links have eps = 1e-5. As in the paper: the best of the widths r, 2r and 4r by the "
        "classes, one for each method and set. Label-free: the library's width 2r, and soft links "
        "(eps = 1). UCI features are z-scored. Which sets the paper took is not in its text: the "
        "made-up ones and the UCI ones are our choice."
    ),
    csc.NAME: (
        "Uniform pairs, the rate is a share of all pairs. Raw features, σ² the mean variance of a "
        "feature, unit diagonal; local scaling for faces. The start of least inertia. As in the "
        "paper two clusters are told by the sign of the second vector; label-free by that of the "
        "first two signs which keeps more constraints. cSC, defaults is "
        "SignedSpectralClustering(), on its neighbour graph. FCSC takes the authors' K-way bound "
        "for more than two clusters."
    ),
}
FIGURES = {  # file: heading, words for readers who cannot see it
    "papers-ccskl-3.svg": ("Figure 3: image sets", "error against the number of constraints"),
    "papers-ccskl-4.svg": (
        "Figure 4: distance matrices; the number is the mean distance between over within classes",
        "distance matrices, dark is near",
    ),
    "papers-ccskl-5.svg": ("Figure 5: UCI sets", "error against the number of constraints"),
    "papers-kernel-2a.svg": ("Figure 2 (a): two concentric circles", "two concentric circles"),
    "papers-kernel-2-4.svg": ("Figures 2 to 4", "Rand index against the number of pairs"),
    "papers-propagation-1.svg": ("Figure 1: equivalent kernels", "equivalent kernels"),
    "papers-propagation-2.svg": ("Figure 2", "one must-link merges two clusters"),
    "papers-propagation-3.svg": ("Figure 3", "one cannot-link splits a continuum"),
    "papers-propagation-4.svg": ("Figure 4", "false affinity"),
    "papers-propagation-5.svg": ("Figure 5: made-up sets", "Rand index against pairs"),
    "papers-propagation-6.svg": ("Figure 6: UCI sets and news", "Rand index against pairs"),
    "papers-propagation-7.svg": (
        "Figure 7: images, made here of the kind described; the number "
        "is the share of pixels in the right region",
        "segmented images",
    ),
    "papers-csc-1.svg": ("Figure 1: accuracy, UCI sets", "accuracy against the rate"),
    "papers-csc-2.svg": ("Figure 2: Rand index, UCI sets", "Rand index against the rate"),
    "papers-csc-3.svg": ("Figure 3: accuracy, faces", "accuracy against the rate"),
    "papers-csc-4.svg": ("Figure 4: Rand index, faces", "Rand index against the rate"),
}
MAIN = {  # paper: columns of its table as (heading, method, column, measure)
    ccskl.NAME: [
        *((f"{m}", m, PAPER, "error") for m in ccskl.METHODS),
        *((f"{m}, least inertia", m, LEAST, "error") for m in ("CCSKL", "CCSR", "SL")),
        *((f"{m}, label-free", m, FREE, "error") for m in ccskl.METHODS),
        (ccskl.DEFAULT, ccskl.DEFAULT, FREE, "error"),
        (f"{ccskl.DEFAULT}, untouched ARI", ccskl.DEFAULT, FREE, "untouched"),
    ],
    kernel.NAME: [
        *((m, m, PAPER, "rand") for m in (kernel.OPTIMAL, kernel.MEAN, kernel.BEST)),
        *((m, m, FREE, "rand") for m in (kernel.FULL, kernel.BY_LINKS, kernel.DEFAULT)),
    ],
    propagation.NAME: [
        *((m, m, PAPER, "rand") for m in propagation.METHODS),
        *((f"{m}, label-free", m, FREE, "rand") for m in propagation.METHODS[:3]),
        *((f"{m}, untouched ARI", m, FREE, "untouched") for m in propagation.METHODS[:2]),
    ],
    csc.NAME: [
        *((m, m, PAPER, "accuracy") for m in csc.METHODS),
        ("cSC, mean of starts", "cSC", PAPER, "starts"),
        *((m, m, FREE, "accuracy") for m in (csc.FREE, csc.DEFAULT)),
    ],
}
UNITS = {
    ccskl.NAME: "constraints",
    kernel.NAME: "pairs",
    propagation.NAME: "pairs",
    csc.NAME: "% of pairs",
}
MODULES = {module.NAME: module for module in (ccskl, kernel, propagation, csc)}


def claim_table(claims):
    """Return the claims with what was measured and the verdict."""
    rows = [
        [MODULES[c.paper].NAME, c.words, JUDGED[c.column], c.figures, c.held(), c.verdict]
        for c in claims
    ]
    return Table(["paper", "claim", "judged", "measured", "cases", "verdict"], rows)


def count_table(claims):
    """Return how many claims of each paper have which verdict."""
    names = ("reproduced", "partly", "not", "not measured")
    rows = []
    for paper in dict.fromkeys(c.paper for c in claims):
        own = [c for c in claims if c.paper == paper]
        rows.append([TITLES[paper], *(str(sum(c.verdict == name for c in own)) for name in names)])
    return Table(["", *names], rows)


def number_table(shelf, paper):
    """Return the numbers behind the figures of a paper: means, with errors."""
    columns, rows = MAIN[paper], []
    for name in shelf.sets(paper, MODULES[paper].SETS):
        found = [shelf.get(paper, name, *rest) for _, *rest in columns]
        places = sorted({at for s in found if s is not None for at in s.at})
        for at in places:
            cells = [
                f"{s.value(at):.3f} ± {s.error[s.at.index(at)]:.3f}"
                if s is not None and at in s.at
                else ""
                for s in found
            ]
            rows.append([MODULES[paper].SETS[name].title, f"{at:g}", *cells])
    return Table(["set", UNITS[paper], *(head for head, *_ in columns)], rows)


def width_table(shelf):
    """Return the widths chosen by the classes on the graphs of CCSKL, in r."""
    rows = []
    for name in shelf.sets(ccskl.NAME, ccskl.SETS):
        for method in ccskl.METHODS:
            s = shelf.get(ccskl.NAME, name, method, PAPER, "error")
            if s is not None and s.chosen:
                rows.append(
                    [ccskl.SETS[name].title, method, ", ".join(f"{width:g}" for width in s.chosen)]
                )
    return Table(["set", "method", "width in r at each number of constraints"], rows)


def equivalent_table():
    """Return table 1 of affinity propagation, the false cell marked."""
    rows = [
        [
            r["link"],
            r["case"],
            r["says"],
            f"{r['exact']:.4f}",
            f"{r['paper']:.4f}",
            "holds" if r["holds"] else f"FALSE: the limit is {r['limit']:.4f}",
        ]
        for r in lines.table()
    ]
    return Table(["link", "case", "the paper says", "exact", "by the paper", ""], rows)


def time_table(times, name):
    """Return seconds of whole runs and of learning alone, as ratios."""
    base = times["CCSKL"]
    rows = [
        [
            method,
            f"{whole:.2f}",
            f"{whole / base[0]:.2f}",
            "" if learnt is None else f"{learnt:.4f}",
            "" if learnt is None else f"{learnt / base[1]:.1f}",
        ]
        for method, (whole, learnt) in times.items()
    ]
    head = [
        f"method, on {ccskl.SETS[name].title}",
        "whole run, s",
        "to CCSKL",
        "learning alone, s",
        "to CCSKL",
    ]
    return Table(head, rows)


def notes(results, paper):
    """Return what is not as in the paper, and what is missing."""
    found = [
        f"{source.title}: {source.note}."
        for name, source in MODULES[paper].SETS.items()
        if source.note and f"{paper}/{name}" in results["sets"]
    ]
    found += [
        f"Skipped: {MODULES[paper].SETS[key.split('/')[1]].title}: {why}."
        for key, why in results["skipped"].items()
        if key.startswith(f"{paper}/")
    ]
    failed = {key: words for key, words in results["failures"].items() if key.startswith(paper)}
    found += [f"Failed: {key}: {words}" for key, words in sorted(failed.items())]
    return [Words(" ".join(found))] if found else []


def section(results, paper, images, times):
    """Return the blocks of a paper."""
    shelf = Shelf(results["series"])
    blocks = [Heading(TITLES[paper]), Words(PROTOCOL[paper]), *notes(results, paper)]
    if paper == propagation.NAME:
        blocks += [Heading("Table 1: equivalent kernels", 3), equivalent_table()]
    for name, (title, words) in FIGURES.items():
        if name.startswith(f"papers-{paper}-") and name in images:
            blocks += [Heading(title, 3), Picture(name, words)]
    if paper == ccskl.NAME and times:
        blocks += [
            Heading("Execution times, in one run on one thread", 3),
            time_table(times["seconds"], times["set"]),
        ]
    table = number_table(shelf, paper)
    if table.rows:
        blocks += [Heading("Numbers", 3), table]
    if paper == ccskl.NAME:
        blocks += [Heading("Widths chosen by the classes", 3), width_table(shelf)]
    return blocks


def blocks(results, images, times, machine):
    """Return the whole report as blocks."""
    claims = results["claims"] + (times["claims"] if times else [])
    effort = results["effort"]
    made = (
        f"Made by `{results['command']}`: {effort['draws']} draws of constraints (twice as many "
        "for kernel optimisation and, but for news, affinity propagation; a third on sets above "
        f"{ccskl.LARGE:,} rows), {effort['starts']} starts of k-means. {in_words(machine)}"
    )
    found = [Words(READING), Words(made), Heading("Claims"), Words(VERDICTS)]
    found += [count_table(claims), claim_table(claims)] if claims else []
    found += [] if images else [Words(NO_PICTURES)]
    for paper in results["papers"]:
        found += section(results, paper, images, times)
    return found


def html(results, images, times, machine):
    """Return the report as one HTML page."""
    return html_page(
        "The papers' experiments", blocks(results, images, times, machine), images, style=STYLE
    )
