"""Images of the kind of figure 7 of affinity propagation, with links of one kind only.

Pixels are points (row, column, brightness) under a Gaussian affinity, as in the paper. Links are
random pairs: within each region, and between an object and the rest. Printed is the share of pixels
in the region that most of their cluster is in, the mean of several draws.
"""

import numpy as np

from benchmarks.papers.images import (
    CLUSTERS,
    IMAGES,
    WIDTHS,
    drawn_links,
    pixels,
    right_share,
)
from benchmarks.papers.lines import vectors
from linkwise.constraints import Constraints
from linkwise.embedding import unit_rows
from linkwise.graph import GaussianAffinity
from linkwise.kernel import propagate
from linkwise.partition import kmeans

KINDS = ("must", "cannot", "both")
EPS = 0.3  # the best of 1e-5, .3 and 1 on these images
COUNTS = (3, 10, 25)  # links within each region, and of each object with the rest


def of_kind(links, kind):
    """Return the must-links, the cannot-links, or both."""
    none = np.empty((0, 2), dtype=int)
    must = none if kind == "cannot" else links.must_link
    cannot = none if kind == "must" else links.cannot_link
    return Constraints(must, cannot)


def share(K, region, links):
    """Return the share of right pixels by four clusters of the propagated affinity."""
    A = K
    if links.n_pairs:
        pairs = links.resolve(n=len(K)).arrays()
        A = propagate(K, *pairs, algorithm="b", eps_must=EPS, eps_cannot=EPS).A
    e = vectors(A, CLUSTERS)[1]
    labels = kmeans(unit_rows(e), CLUSTERS, n_init=10, rng=np.random.default_rng(0)).labels
    return right_share(region.ravel(), labels)


def one_kind(names, draws, counts=COUNTS):
    """Return {image: {(kind, count): share}}; ("none", 0) is without links."""
    found: dict = {}
    for name in names:
        image = IMAGES[name]()
        K = GaussianAffinity(pixels(image), WIDTHS[len(image.region)]).W
        row = {("none", 0): share(K, image.region, Constraints())}
        for count in counts:
            some = [
                drawn_links(image.region, count, np.random.default_rng(s)) for s in range(draws)
            ]
            for kind in KINDS:
                shares = [share(K, image.region, of_kind(links, kind)) for links in some]
                row[kind, count] = float(np.mean(shares))
        found[name] = row
    return found


def show_one_kind(found):
    """Print a table: one row for each image and kind of links."""
    counts = sorted({count for _, count in next(iter(found.values())) if count})
    print(f"| image | links | none | {' | '.join(map(str, counts))} |")
    print("|---|---|--:|" + "--:|" * len(counts))
    for name, row in found.items():
        for kind in KINDS:
            shares = " | ".join(f"{row[kind, count]:.3f}" for count in counts)
            print(f"| {name} | {kind} | {row['none', 0]:.3f} | {shares} |")
