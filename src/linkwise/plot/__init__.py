"""Pictures of clusterings. They need matplotlib, which comes with the extra ``plot``."""

from linkwise.estimators.summary import PALETTE
from linkwise.plot.dendrograms import draw_tree
from linkwise.plot.maps import INK, colours, draw_clusters, draw_links, draw_map, pyplot

__all__ = [
    "INK",
    "PALETTE",
    "colours",
    "draw_clusters",
    "draw_links",
    "draw_map",
    "draw_tree",
    "pyplot",
]
