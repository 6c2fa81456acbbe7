r"""
PCKMeans
========

k-means with a price for every broken link.

.. math::

   \min \ \sum_i \|x_i - \mu_{l_i}\|^2 + \sum_{must, \, l_i \ne l_j} w + \sum_{cannot, \,
   l_i = l_j} w

The price w is the mean squared distance of two points, unless you set it.

**Use it when:** Clusters are round, and links are preferences.

**Not when:** Columns have different scales or worth: use `MPCKMeans`.

**Cost:** O(n d k) a pass.

**Paper:** S. Basu, A. Banerjee, R. Mooney: Active semi-supervision for pairwise constrained
clustering, SDM 2004.

Parameters and attributes: :class:`linkwise.PCKMeans`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from linkwise import PCKMeans, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_blobs(240, centers=[(0, 0), (2.6, 0), (1.3, 2.2)], cluster_std=0.9, random_state=0)
links = sample_pairs(y, 60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = PCKMeans(3, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
