r"""
CCSKL
=====

A kernel that keeps the smooth eigenvectors of a neighbour graph and learns how much each of them
counts. Links ask for similarity 1 or 0; the weights may not increase towards less smooth
eigenvectors.

.. math::

   \min_{\beta_1 \ge \ldots \ge \beta_m \ge 0} \ \sum_{i} (K_{ii} - 1)^2 + \sum_{must}
   (K_{ij} - 1)^2 + \sum_{cannot} K_{ij}^2, \qquad K = \sum_{l=1}^m \beta_l \, v_l v_l^T

v are the eigenvectors of the normalised graph. The problem is a small least-squares problem with
m numbers.

**Use it when:** There are many rows (with ``affinity="anchors"`` up to 100 million), and clusters
have shapes that a neighbour graph follows. With few links it stays near plain spectral
clustering.

**Not when:** Links contradict the shape of the data: m ordered numbers cannot learn much.
`SpectralRegularization` and `PropagatedSpectralClustering` learn more from a hundred links.

**Cost:** The neighbour graph, O(n log n) in practice, and one eigenproblem. ``refit`` with more
links costs only the small problem and k-means.

**Paper:** Z. Li, J. Liu: Constrained clustering by spectral kernel learning, ICCV 2009.

Parameters and attributes: :class:`linkwise.CCSKL`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import CCSKL, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_moons(300, noise=0.13, random_state=1)
links = sample_pairs(y, 60, random_state=0)
model = CCSKL(2, random_state=0).fit(X, constraints=links)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.bar(range(1, 21), model.spectrum_ / model.spectrum_.max(), color="#4477AA")
left.set(xlabel="eigenvector", ylabel="learned weight")
agreement = scores(y, model.labels_)["adjusted_rand"]
draw_map(right, X, model.labels_, title=f"60 links: agreement {agreement:.2f}")
plt.show()
