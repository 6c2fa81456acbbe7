r"""
ITML
====

Of all Mahalanobis metrics that bring must-linked points within a distance and cannot-linked
points beyond another one, the metric nearest to a prior.

.. math::

   \min_A \ \mathrm{tr}(A A_0^{-1}) - \log \det (A A_0^{-1}) + \gamma \sum_{missed} w \,
   D(p_{ij}, b_{ij}), \qquad p_{ij} = (x_i - x_j)^T A (x_i - x_j)

b is the bound of a link. A bound that is missed costs γ times its divergence D.

**Use it when:** Columns have different worth or are correlated, and a clusterer of your own
follows.

**Not when:** There are hundreds of columns (reduce them first), or clusters are curved.

**Cost:** O(s d²) a step for s links, and O(d³).

**Paper:** J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon: Information-theoretic metric learning,
ICML 2007.

Parameters and attributes: :class:`linkwise.ITML`.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from linkwise import ITML, sample_pairs, scores
from linkwise.plot import draw_map

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
links = sample_pairs(y, 100, random_state=0)
Z = ITML().fit_transform(X, constraints=links)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for axis, points, title in zip(axes, (PCA(2).fit_transform(X), Z), ("PCA", "ITML"), strict=True):
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(points)
    agreement = scores(y, labels)["adjusted_rand"]
    draw_map(axis, points[:, :2], y, title=f"{title}; k-means then agrees {agreement:.2f}")
    axis.set_aspect("auto")
plt.show()
