"""
Rows that belong nowhere
========================

Some rows are errors, or one of a kind. ``outliers="auto"`` gives those far from all others the
label -1. A row that a constraint names is never one of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from linkwise import LinkClustering
from linkwise.plot import draw_map

rng = np.random.default_rng(0)
X, _ = make_blobs(300, centers=[(0, 0), (6, 0), (2.5, 5)], cluster_std=0.8, random_state=5)
X = np.vstack([X, rng.uniform(X.min(axis=0) - 3, X.max(axis=0) + 3, (30, 2))])

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4))
for axis, outliers in zip(axes, (None, "auto"), strict=True):
    model = LinkClustering(3, effort="fast", outliers=outliers, random_state=0).fit(X)
    strays = model.labels_ < 0
    draw_map(axis, X[~strays], model.labels_[~strays], title=f"outliers={outliers!r}")
    axis.plot(*X[strays].T, "x", color="#888888", label=f"{strays.sum()} strays")
axes[1].legend(loc="best")
plt.show()
