r"""
HMRFKMeans
==========

k-means on a hidden Markov random field: labels are hidden, links connect them, and a broken link
costs more the farther apart (must) or the nearer (cannot) its points are.

.. math::

   \min \ \sum_i D(x_i, \mu_{l_i}) + \sum_{must, \, l_i \ne l_j} w \, \varphi(x_i, x_j) +
   \sum_{cannot, \, l_i = l_j} w \, (\varphi_{max} - \varphi(x_i, x_j))

D is a squared distance or a cosine distance, and φ the distance of the two points.

**Use it when:** Rows are directions, such as word counts (cosine).

**Not when:** Links should teach much about other rows.

**Cost:** O(n d k) a pass; sparse rows stay sparse.

**Paper:** S. Basu, M. Bilenko, R. Mooney: A probabilistic framework for semi-supervised
clustering, KDD 2004.

Parameters and attributes: :class:`linkwise.HMRFKMeans`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from linkwise import HMRFKMeans, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_blobs(240, centers=[(0, 0), (2.6, 0), (1.3, 2.2)], cluster_std=0.9, random_state=0)
links = sample_pairs(y, 60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = HMRFKMeans(3, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
