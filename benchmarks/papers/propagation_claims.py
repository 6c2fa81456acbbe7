"""The claims of the paper on affinity propagation."""

from benchmarks.papers import lines, propagation
from benchmarks.papers.claims import ALL, CLEAR, TIE, Case, Claim, ahead, means


def line_claims():
    """Return the claims of affinity propagation that need no data."""
    P, facts, rows = propagation.NAME, lines.facts(), lines.table()
    wrong = [
        f"{r['link']}, {r['case']}: exact {r['exact']:.3f}, table {r['paper']:.3f}"
        for r in rows
        if not r["holds"]
    ]
    return [
        Claim(
            P,
            "Table 1: one hard link gives the six equivalent kernels",
            "",
            tuple(Case(f"{r['link']} {r['case']}", r["holds"]) for r in rows),
            ALL,
            "false: " + "; ".join(wrong) if wrong else "all hold",
        ),
        Claim(
            P,
            "Figure 2: one must-link merges two of three clusters (the second eigenvector "
            "becomes constant on both)",
            "",
            (Case("merged", facts["merged_after"] < 0.05 < facts["merged_before"]),),
            ALL,
            f"spread over step {facts['merged_before']:.3f}, then {facts['merged_after']:.3f}; "
            f"affinity across {facts['across_before']:.3f}, then {facts['across_after']:.3f}",
        ),
        Claim(
            P,
            "Figure 3: one cannot-link splits a continuum half-way (the second eigenvector "
            "becomes nearly piecewise constant)",
            "",
            (Case("split", facts["split_after"] > 0.9 > 2 * facts["split_before"]),),
            ALL,
            f"share of its rise in the middle {facts['split_before']:.3f}, then "
            f"{facts['split_after']:.3f}",
        ),
        Claim(
            P,
            "Figure 4: two cannot-links with a common end make a false affinity in "
            "Algorithm A and none in B",
            "",
            (Case("A", facts["false_a"] > 0.1), Case("B", facts["false_b"] < 0.01)),
            ALL,
            f"A {facts['false_a']:.3f}, B {facts['false_b']:.3f}",
        ),
    ]


def propagation_claims(shelf, column, own):
    """Return the claims of affinity propagation in one column, for hard or for soft links."""
    P, claims = propagation.NAME, []
    names = shelf.sets(P, propagation.SETS)
    for rival in (propagation.LEARNING, propagation.COP, propagation.MIXTURE):
        cases = []
        for name in names:
            a, b = (shelf.get(P, name, m, column, "rand") for m in (own, rival))
            if a is not None and b is not None:
                cases.append(Case(name, ahead(a.over(), b.over())))
        claims.append(
            Claim(
                P,
                f"Propagation is better than {rival} on all sets (mean over numbers of pairs)",
                column,
                tuple(cases),
                ALL,
                "mean Rand index: " + means(shelf, P, names, (own, rival), column, "rand"),
            )
        )
    cases, words = [], []
    for name in shelf.sets(P, propagation.SYNTHETIC):
        found = shelf.get(P, name, own, column, "rand")
        early = [at for at in found.at if 0 < at <= 20] if found else []
        if early and 0 in found.at:
            rise = found.value(early[-1]) - found.value(0)
            cases.append(Case(name, rise > CLEAR))
            words.append(f"{name} {found.value(0):.2f} to {found.value(early[-1]):.2f}")
    claims.append(
        Claim(
            P,
            "On the made-up sets the Rand index rises very quickly (by more than "
            f"{CLEAR} with 20 pairs)",
            column,
            tuple(cases),
            ALL,
            "; ".join(words),
        )
    )
    cases, words = [], []
    for name in names:
        found = shelf.get(P, name, own, column, "rand")
        if found is not None and 0 in found.at:
            cases.append(Case(name, found.mean[-1] > found.value(0) + TIE))
            words.append(f"{name} {found.value(0):.2f} to {found.mean[-1]:.2f}")
    claims.append(
        Claim(
            P,
            "The Rand index is higher with the largest number of pairs than without any, on all "
            "sets",
            column,
            tuple(cases),
            ALL,
            "; ".join(words),
        )
    )
    return claims


def image_claim(segmented):
    """Return the claim of figure 7 from {image: {method: share of pixels}}."""
    words, cases = [], []
    for name, found in segmented.items():
        before, after = found["no links"], found["hard links"]
        cases.append(Case(name, after > before + TIE))
        words.append(f"{name} {before:.2f} to {after:.2f}")
    return Claim(
        propagation.NAME,
        "Figure 7: a few links help to segment images in which plain "
        "spectral clustering fails (made here, of the kind described)",
        "",
        tuple(cases),
        ALL,
        "pixels in the right region: " + "; ".join(words),
    )
