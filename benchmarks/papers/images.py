"""Images of the kind of figure 7 of affinity propagation, and their segmentation.

Three images of 16 x 16 pixels have an occluder on an irregular background whose brightness it
shares on one side; one of 43 x 43 has three objects with smooth brightness on a background, with
noise. Pixels are points (row, column, brightness); the affinity is a Gaussian; four clusters, as
in the paper. Links are a few pairs of pixels: within a region, and of an object and the rest.

Four clusters of an image with two regions are judged by the region most of a cluster's pixels are
in: the share of pixels in the right region.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.papers.lines import vectors
from benchmarks.papers.protocol import rng_of
from linkwise.constraints import Constraints
from linkwise.embedding import unit_rows
from linkwise.graph import GaussianAffinity
from linkwise.kernel import propagate
from linkwise.partition import kmeans

CLUSTERS = 4
SMALL, LARGE = 16, 43
WIDTHS = {SMALL: "2r", LARGE: "5r"}  # a larger image has the same objects of more pixels
HARD, SOFT = 1e-5, 1.0


class Image(NamedTuple):
    brightness: np.ndarray  # (side, side) in 0 ... 1
    region: np.ndarray  # (side, side) int
    links: Constraints  # of pixels, row by row


def field(shape, rng):
    """Return a smooth random field, in 0 ... 1."""
    row, column = np.indices(shape) / max(shape)
    total = np.zeros(shape)
    for _ in range(3):  # waves
        a, b = rng.uniform(0.3, 1.2, 2)
        total += np.cos(2 * np.pi * (a * row + b * column + rng.uniform()))
    return (total - total.min()) / np.ptp(total)


def _ends(mask, count, rng):
    return rng.choice(np.flatnonzero(mask.ravel()), count, replace=False)


def drawn_links(region, count, rng):
    """Return links: for every region pairs within it, for every object pairs with what is not."""
    must, cannot = [], []
    for r in np.unique(region):
        must += _ends(region == r, 2 * count, rng).reshape(-1, 2).tolist()
        if r > 0:
            inside, outside = _ends(region == r, count, rng), _ends(region != r, count, rng)
            cannot += np.stack([inside, outside], axis=1).tolist()
    return Constraints(must, cannot)


def occluder(number):
    """Return image A, B or C: an occluder as bright as the background on one side."""
    rng = rng_of("images", number)
    ground = 0.2 + 0.5 * field((SMALL, SMALL), rng)
    row, column = np.mgrid[:SMALL, :SMALL]
    top, left = rng.integers(3, 6, 2)
    region = ((row >= top) & (row < top + 8) & (column >= left) & (column < left + 7)).astype(int)
    shade = ground.mean() + 0.35 * (column - left) / 7  # it meets the background at its left
    brightness = np.where(region > 0, shade, ground) + rng.normal(0, 0.02, region.shape)
    return Image(np.clip(brightness, 0, 1), region, drawn_links(region, 3, rng))


def objects():
    """Return image D: three objects on a background, with noise."""
    rng = rng_of("images", "D")
    row, column = np.mgrid[:LARGE, :LARGE]
    region = np.zeros((LARGE, LARGE), dtype=int)
    region[(row - 11) ** 2 + (column - 11) ** 2 < 49] = 1
    region[(abs(row - 30) < 7) & (abs(column - 12) < 6)] = 2
    region[(row - 22) ** 2 / 2.2 + (column - 32) ** 2 < 40] = 3
    ground = 0.25 + 0.3 * field((LARGE, LARGE), rng)
    shade = np.select(
        [region == r for r in (1, 2, 3)],
        [
            0.45 + 0.03 * (row - 11),
            0.75 - 0.03 * (column - 12),
            0.5 + 0.02 * (row - 22),
        ],
        ground,
    )
    brightness = shade + rng.normal(0, 0.05, region.shape)
    return Image(np.clip(brightness, 0, 1), region, drawn_links(region, 4, rng))


IMAGES = {name: (lambda name=name: occluder(name)) for name in "ABC"} | {"D": objects}


def pixels(image):
    """Return the points (row, column, brightness) of an image, all in 0 ... 1."""
    side = len(image.brightness)
    row, column = np.mgrid[:side, :side] / side
    return np.stack([row.ravel(), column.ravel(), image.brightness.ravel()], axis=1)


def right_share(region, labels):
    """Return the share of pixels in the region that most of their cluster is in.

    >>> right_share(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2]))
    1.0
    """
    found = [np.bincount(region[labels == c]).max() for c in np.unique(labels)]
    return float(np.sum(found) / len(region))


def segment(image, eps):
    """Return (labels, eigenvalues, vectors) of an image; without links for eps None."""
    K = GaussianAffinity(pixels(image), WIDTHS[len(image.region)]).W
    if eps is not None:
        links = image.links.resolve(n=len(K)).arrays()
        K = propagate(K, *links, algorithm="b", eps_must=eps, eps_cannot=eps).A
    values, e = vectors(K, CLUSTERS)
    labels = kmeans(unit_rows(e), CLUSTERS, n_init=10, rng=rng_of("images", eps)).labels
    return labels, values, e


def run(name):
    """Return the record of an image: labels, vectors and the share of pixels in their region."""
    image = IMAGES[name]()
    region, rows = image.region.ravel(), []
    for method, eps in (("no links", None), ("hard links", HARD), ("soft links", SOFT)):
        labels, values, e = segment(image, eps)
        scale = np.abs(e[:, 1:]).max(axis=0)
        rows.append(
            {
                "method": method,
                "at": 0 if eps is None else image.links.n_pairs,
                "right": round(right_share(region, labels), 5),
                "labels": labels.tolist(),
                "values": np.round(values, 5).tolist(),
                "vectors": np.round(e[:, 1:] / np.where(scale > 0, scale, 1), 2).T.tolist(),
            }
        )
    return {"rows": rows}
