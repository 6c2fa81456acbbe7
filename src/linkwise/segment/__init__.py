"""Regions of a picture by strokes: superpixels, clustered under the links that strokes are.

picture (a file to pixels, safely), colour, slic (superpixels, and back to full size), strokes
(polylines to painted pixels), assign (painted pieces to regions), blend (borders where there is no
edge), segmenter (the whole), masks (files for other programs), project (strokes in a log).
"""

from linkwise.segment.assign import covariance, regions
from linkwise.segment.colour import lab
from linkwise.segment.masks import PALETTE, write_mask
from linkwise.segment.picture import read_picture
from linkwise.segment.segmenter import Regions, Segmenter
from linkwise.segment.slic import Pieces, enlarge, superpixels
from linkwise.segment.strokes import Stroke, checked_stroke, painted, read_strokes, values_of

__all__ = [
    "PALETTE",
    "Pieces",
    "Regions",
    "Segmenter",
    "Stroke",
    "checked_stroke",
    "covariance",
    "enlarge",
    "lab",
    "painted",
    "read_picture",
    "read_strokes",
    "regions",
    "superpixels",
    "values_of",
    "write_mask",
]
