"""
Sizes of clusters
=================

Teams of equal size, tours with at most 20 stops: ``balanced=True`` and ``size=(least, most)``
limit the sizes. The limits hold exactly, together with all links.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from linkwise import Constraints, COPKMeans
from linkwise.plot import draw_links, draw_map

X, _ = make_blobs([90, 40, 20], centers=[(0, 0), (5, 1), (3, 5)], cluster_std=1.3, random_state=0)
links = Constraints(must_link=[(0, 95)], cannot_link=[(1, 2), (3, 140)])

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
for axis, options in zip(axes, ({}, {"size": (30, 60)}, {"balanced": True}), strict=True):
    model = COPKMeans(3, random_state=0, **options).fit(X, constraints=links)
    sizes = np.bincount(model.labels_)
    title = next(iter(f"{k}={v}" for k, v in options.items()), "no limits")
    draw_map(axis, X, model.labels_, title=f"{title}\nsizes {', '.join(map(str, sizes))}")
    draw_links(axis, X, links)
plt.show()
