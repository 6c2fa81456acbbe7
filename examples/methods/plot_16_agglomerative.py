r"""
ConstrainedAgglomerative
========================

The two nearest clusters are merged, again and again. Must-links are merged first; two clusters
with a cannot-link between them are never merged.

.. math::

   d(a, b) = \mathrm{ward, average, complete \ or \ single \ linkage}, \qquad d(a, b) =
   \infty \ \mathrm{if \ a \ cannot-link \ is \ between}

The merges form a tree, which can be cut at a number of clusters or at a distance.

**Use it when:** Links are rules, and you want a tree, or a distance threshold instead of a number
of clusters.

**Not when:** There are more than 10,000 rows, or new rows to place.

**Cost:** n² memory, O(n² log n) time.

**Paper:** I. Davidson, S. S. Ravi: Agglomerative hierarchical clustering with constraints, PKDD
2005.

Parameters and attributes: :class:`linkwise.ConstrainedAgglomerative`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.plot import draw_links, draw_map

clouds = [(0, 0), (3.2, 0), (7.4, 0)]
X, y = make_blobs([40, 40, 40], centers=clouds, cluster_std=0.5, shuffle=False, random_state=0)
links = Constraints(must_link=[(50, 90)], cannot_link=[(10, 60)])

figure, axes = plt.subplots(2, 1, figsize=(7, 3.6))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = ConstrainedAgglomerative(2).fit(X, constraints=constraints)
    draw_map(axis, X, model.labels_, title="two links" if constraints else "no links")
draw_links(axes[1], X, links)
plt.show()
