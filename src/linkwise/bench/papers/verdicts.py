"""All claims of the papers, judged by one run."""

from linkwise.bench.papers import ccskl, csc, kernel, propagation
from linkwise.bench.papers.ccskl_claims import ccskl_claims, matrix_claim
from linkwise.bench.papers.csc_claims import csc_claims
from linkwise.bench.papers.kernel_claims import kernel_claims
from linkwise.bench.papers.propagation_claims import image_claim, line_claims, propagation_claims
from linkwise.bench.papers.series import FREE, PAPER


def all_claims(shelf, *, matrices, segmented, infeasible, papers):
    """Return the claims of the papers, those about times excepted."""
    found = []
    if ccskl.NAME in papers:
        found += ccskl_claims(shelf, PAPER) + ccskl_claims(shelf, FREE)
        found.append(matrix_claim(matrices))
    if kernel.NAME in papers:
        found += kernel_claims(shelf)
    if propagation.NAME in papers:
        found += line_claims()
        found += propagation_claims(shelf, PAPER, propagation.HARD)
        found += propagation_claims(shelf, FREE, propagation.SOFT)
        found.append(image_claim(segmented))
    if csc.NAME in papers:
        found += csc_claims(shelf, infeasible)
    return found
