r"""
ConstrainedLPP
==============

A linear projection that keeps neighbours near. Must-links are further edges of the neighbour
graph, cannot-links edges of negative weight.

.. math::

   \min_u \ \frac{u^T X^T L X u}{u^T X^T D X u}

L and D are the signed Laplacian and the degrees of the graph with the links.

**Use it when:** You want a projection that follows a neighbour graph and can place new rows.

**Not when:** The number of dimensions is unknown: the result depends on it.

**Cost:** The graph, and an eigenproblem of the size of the columns.

**Paper:** X. He, P. Niyogi: Locality preserving projections, NIPS 2003; with constraints as in
Wacquet et al. 2013.

Parameters and attributes: :class:`linkwise.ConstrainedLPP`.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from linkwise import ConstrainedLPP, sample_pairs, scores
from linkwise.plot import draw_map

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
links = sample_pairs(y, 100, random_state=0)
Z = ConstrainedLPP(2).fit_transform(X, constraints=links)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for axis, points, title in zip(
    axes, (PCA(2).fit_transform(X), Z), ("PCA", "ConstrainedLPP"), strict=True
):
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(points)
    agreement = scores(y, labels)["adjusted_rand"]
    draw_map(axis, points[:, :2], y, title=f"{title}; k-means then agrees {agreement:.2f}")
    axis.set_aspect("auto")
plt.show()
