r"""
OptimalKernelKMeans
===================

Gradient ascent sets the widths and weights of some Gaussian kernels so that must-linked points
are close in feature space and cannot-linked points are far apart. Kernel k-means with the learned
kernel follows.

.. math::

   \max_{\alpha, \sigma} \ \sum_{must} K(x_i, x_j) - \sum_{cannot} K(x_i, x_j), \qquad K(x,
   y) = \sum_l \alpha_l \exp \frac{-\|x - y\|^2}{2 \sigma_l^2}

The weights are at least 0 and sum to 1. At the optimum usually one width remains.

**Use it when:** Clusters are curved, there are about 100 links or more, and at most 10,000 rows.

**Not when:** There are few links, or many more must-links than cannot-links: the widest kernel is
then best. ``objective="balanced"`` helps.

**Cost:** n² memory for the kernel; the ascent itself needs only the distances of the links.

**Paper:** Kernel optimisation using pairwise constraints for semi-supervised clustering
(SS-Optimal-Kernel-KMeans). :doc:`/equations` maps its equations to the code.

Parameters and attributes: :class:`linkwise.OptimalKernelKMeans`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from linkwise import OptimalKernelKMeans, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_circles(300, factor=0.4, noise=0.06, random_state=0)
links = sample_pairs(y, 100, random_state=0)
model = OptimalKernelKMeans(2, random_state=0).fit(X, constraints=links)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
a, b, sign, _ = links.arrays()
distance = np.linalg.norm(X[a] - X[b], axis=1)
left.hist([distance[sign > 0], distance[sign < 0]], bins=15, color=["#117733", "#CC6677"])
x = np.linspace(0, 2.8, 200)
width = model.widths_[model.weights_.argmax()]
right_axis = left.twinx()
right_axis.plot(x, np.exp(-(x**2) / (2 * width**2)), color="#222222")
left.set(xlabel="distance of linked points", title=f"learned kernel, width {width:.2f}")
agreement = scores(y, model.labels_)["adjusted_rand"]
draw_map(right, X, model.labels_, title=f"100 links: agreement {agreement:.2f}")
plt.show()
