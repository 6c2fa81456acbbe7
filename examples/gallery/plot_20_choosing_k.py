"""
Choosing the number of clusters
===============================

Leave the number out, or give a range. The answers decide with the data: people who tell kinds
apart need more clusters than people who do not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from linkwise import LinkClustering, sample_pairs
from linkwise.plot import draw_map

centres = [(0, 0), (3.6, 0), (10, 0), (13.6, 0), (6.8, 6)]
X, fine = make_blobs([60] * 5, centers=centres, cluster_std=0.7, random_state=0)
coarse = np.array([0, 0, 1, 1, 2])[fine]

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
for axis, (who, y) in zip(axes, {"one person": coarse, "another": fine}.items(), strict=True):
    links = sample_pairs(y, 80, random_state=0)
    model = LinkClustering((2, 8), effort="fast", random_state=0).fit(X, constraints=links)
    print(who, "means", model.n_clusters_, "clusters; next best:", model.runners_up_[:2])
    draw_map(axis, X, model.labels_, title=f"80 answers of {who}: {model.n_clusters_} clusters")
plt.show()
