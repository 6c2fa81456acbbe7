"""
A tree that keeps all links
===========================

`ConstrainedAgglomerative` merges the two nearest clusters again and again. Must-links are merged
first, and clusters with a cannot-link between them never. On the right, one must-link joins rows 0
and 4 at distance 0, and so brings their branches together.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import make_blobs

from linkwise import ConstrainedAgglomerative, Constraints

X, _ = make_blobs(24, centers=[(0, 0), (3, 0), (6, 3)], cluster_std=0.6, random_state=1)


def linkage_of(model):
    """Return the merges as SciPy draws them."""
    size = np.ones(2 * len(X) - 1)
    for t, (a, b) in enumerate(model.children_):
        size[len(X) + t] = size[a] + size[b]
    n = len(model.children_)
    return np.column_stack([model.children_, model.distances_, size[len(X) : len(X) + n]])


figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
for axis, links in zip(axes, (None, Constraints(must_link=[(0, 4)])), strict=True):
    model = ConstrainedAgglomerative(1, linkage="average").fit(X, constraints=links)
    dendrogram(linkage_of(model), ax=axis, color_threshold=2.5, above_threshold_color="#777777")
    axis.set_title("one must-link, between rows 0 and 4" if links else "no links")
    axis.tick_params(axis="x", labelsize=7)
axes[0].set_ylabel("distance of a merge")
plt.show()
