r"""
NormalizedCuts
==============

Spectral clustering without links, as the baseline. The smooth eigenvectors of a neighbour graph
are rotated towards indicators of clusters.

.. math::

   \min \ \sum_c \frac{\mathrm{cut}(c, \bar{c})}{\mathrm{vol}(c)}

The cut is the weight of the edges that leave a cluster, the volume the weight of all edges of its
points.

**Use it when:** You want to know what the links add.

**Not when:** You have links: it does not use them, and warns.

**Cost:** The neighbour graph and k eigenvectors.

**Paper:** J. Shi, J. Malik: Normalized cuts and image segmentation, PAMI 2000. S. Yu, J. Shi:
Multiclass spectral clustering, ICCV 2003.

Parameters and attributes: :class:`linkwise.NormalizedCuts`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import NormalizedCuts, scores
from linkwise.plot import draw_map

X, y = make_moons(240, noise=0.06, random_state=0)
model = NormalizedCuts(2, random_state=0).fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.scatter(*X.T, c=model.embedding_[:, 1], s=10, cmap="RdBu")
left.set(title="second eigenvector", aspect="equal")
left.axis("off")
agreement = scores(y, model.labels_)["adjusted_rand"]
draw_map(right, X, model.labels_, title=f"clusters: agreement {agreement:.2f}")
plt.show()
