"""Regions of an image by strokes: superpixels, clustered under the constraints that strokes imply.

image_files (a file to pixels, safely), colour, slic (superpixels, also at full size), strokes
(polylines to painted pixels), seeds (painted superpixels), random_walker (their colours spread to
all superpixels), region_scores (regions without a stroke, and the region of every pixel),
segmenter (all of this for an image), album (one or more images), masks (files for other programs),
project (strokes in a log).
"""

from linkwise.segment.colour import lab
from linkwise.segment.image_files import read_image
from linkwise.segment.masks import PALETTE, write_mask
from linkwise.segment.region_scores import covariance, regions
from linkwise.segment.segmenter import Regions, Segmenter
from linkwise.segment.slic import Superpixels, enlarge, slic_superpixels
from linkwise.segment.strokes import Stroke, checked_stroke, painted, read_strokes, values_of

__all__ = [
    "PALETTE",
    "Regions",
    "Segmenter",
    "Stroke",
    "Superpixels",
    "checked_stroke",
    "covariance",
    "enlarge",
    "lab",
    "painted",
    "read_image",
    "read_strokes",
    "regions",
    "slic_superpixels",
    "values_of",
    "write_mask",
]
