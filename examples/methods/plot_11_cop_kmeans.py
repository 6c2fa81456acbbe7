r"""
COPKMeans
=========

k-means in which must-linked points move as one group, and groups with a cannot-link never share a
cluster.

.. math::

   \min \ \sum_i \|x_i - \mu_{l_i}\|^2 \quad \mathrm{subject\ to} \quad l_i = l_j \ (must),
   \quad l_i \ne l_j \ (cannot)

A first assignment colours the graph of cannot-links, so that a feasible one is found if there is
any. Sizes of clusters can be limited too.

**Use it when:** Links are rules that must hold, or clusters must have certain sizes.

**Not when:** Links should teach something about other rows: they hardly do.

**Cost:** O(n d k) a pass.

**Paper:** K. Wagstaff, C. Cardie, S. Rogers, S. Schrödl: Constrained k-means clustering with
background knowledge, ICML 2001.

Parameters and attributes: :class:`linkwise.COPKMeans`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from linkwise import COPKMeans, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_blobs(240, centers=[(0, 0), (2.6, 0), (1.3, 2.2)], cluster_std=0.9, random_state=0)
links = sample_pairs(y, 60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = COPKMeans(3, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
