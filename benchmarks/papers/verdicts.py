"""All claims of the papers, judged by one run."""

from benchmarks.papers import ccskl, csc, kernel, propagation
from benchmarks.papers.ccskl_claims import ccskl_claims, matrix_claim
from benchmarks.papers.csc_claims import csc_claims
from benchmarks.papers.kernel_claims import kernel_claims
from benchmarks.papers.propagation_claims import image_claim, line_claims, propagation_claims
from benchmarks.papers.series import FREE, PAPER


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
