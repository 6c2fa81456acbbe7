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

from linkwise import ConstrainedAgglomerative, sample_pairs, scores
from linkwise.plot import draw_links, draw_map

X, y = make_blobs(240, centers=[(0, 0), (2.6, 0), (1.3, 2.2)], cluster_std=0.9, random_state=0)
links = sample_pairs(y, 60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = ConstrainedAgglomerative(3).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
draw_links(axes[1], X, links)
plt.show()
