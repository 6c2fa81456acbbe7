"""
A metric learned from links
===========================

Two columns tell the clusters apart, a third one with a large variance hides them. `ITML` learns
from 30 links which directions count. Any clusterer may follow.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from linkwise import ITML, sample_pairs, scores
from linkwise.plot import draw_map

rng = np.random.default_rng(0)
y = rng.integers(0, 3, 300)
X = np.column_stack(
    [np.array([(0, 0), (2, 0), (1, 2)])[y] + rng.normal(0, 0.45, (300, 2)), rng.normal(0, 4, 300)]
)
links = sample_pairs(y, 30, random_state=0)
Z = ITML().fit_transform(X, constraints=links)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4))
for axis, points, title in zip(axes, (X, Z), ("as given", "after ITML"), strict=True):
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(points)
    agreement = scores(y, labels)["adjusted_rand"]
    draw_map(axis, X[:, :2], labels, title=f"k-means {title}: agreement {agreement:.2f}")
plt.show()
