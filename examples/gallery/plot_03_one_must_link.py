"""
One must-link joins two of three clusters
=========================================

Three separate clouds, two clusters wanted. Plain spectral clustering joins the two that are
nearest. One must-link between two points of other clouds changes that:
`PropagatedSpectralClustering` spreads it to all pairs of both clouds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from linkwise import Constraints, PropagatedSpectralClustering
from linkwise.plot import draw_links, draw_map

centres = [(0, 0), (3.2, 0), (7.5, 0)]
X, cloud = make_blobs([40, 40, 40], centers=centres, cluster_std=0.5, random_state=0)
X, cloud = X[cloud.argsort()], cloud[cloud.argsort()]
link = Constraints(must_link=[(50, 90)])  # a point of the middle cloud, a point of the right one

figure, axes = plt.subplots(2, 2, figsize=(8, 5), width_ratios=[1, 2])
for row, constraints in zip(axes, (None, link), strict=True):
    model = PropagatedSpectralClustering(2, eps=0.1, sigma=1.5, random_state=0)
    model.fit(X, constraints=constraints)
    row[0].imshow(model.affinity_matrix_, cmap="Greys")
    row[0].set(xticks=[], yticks=[], title="affinity of all pairs")
    draw_map(row[1], X, model.labels_, title="one must-link" if constraints else "no links")
draw_links(axes[1, 1], X, link)
plt.show()
