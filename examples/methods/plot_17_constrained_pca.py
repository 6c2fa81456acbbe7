r"""
ConstrainedPCA
==============

Principal components that keep the variance of all points, push cannot-linked points apart and
pull must-linked points together.

.. math::

   \max_{u^T u = 1} \ \frac{1}{n^2} \sum_{i,j} (u^T (x_i - x_j))^2 + \frac{\alpha}{|C|}
   \sum_{cannot} (u^T (x_i - x_j))^2 - \frac{\beta}{|M|} \sum_{must} (u^T (x_i - x_j))^2

An eigenproblem of the size of the columns.

**Use it when:** You want a projection to look at, or features for a clusterer of your own.

**Not when:** Clusters cannot be separated along straight directions.

**Cost:** O(n d² + d³).

**Paper:** D. Zhang, Z.-H. Zhou, S. Chen: Semi-supervised dimensionality reduction, SDM 2007.

Parameters and attributes: :class:`linkwise.ConstrainedPCA`.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from linkwise import ConstrainedPCA, sample_pairs, scores
from linkwise.plot import draw_map

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
links = sample_pairs(y, 100, random_state=0)
Z = ConstrainedPCA(2).fit_transform(X, constraints=links)

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for axis, points, title in zip(
    axes, (PCA(2).fit_transform(X), Z), ("PCA", "ConstrainedPCA"), strict=True
):
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(points)
    agreement = scores(y, labels)["adjusted_rand"]
    draw_map(axis, points[:, :2], y, title=f"{title}; k-means then agrees {agreement:.2f}")
    axis.set_aspect("auto")
plt.show()
