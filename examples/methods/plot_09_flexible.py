r"""
FlexibleSpectralClustering
==========================

The cheapest cut among all those that satisfy the links to a degree that you choose.

.. math::

   \min_v \ v^T L v \quad \mathrm{subject\ to} \quad v^T Q v \ge \alpha, \quad v^T v =
   \mathrm{vol}

L is the normalised Laplacian, Q the links. The solution is an eigenvector of L v = λ (Q - β I) v.

**Use it when:** You want to say how much links count, and there are up to 5,000 rows.

**Not when:** There are more rows, or more than a few clusters with scattered links.

**Cost:** n² memory and O(n³) time.

**Paper:** X. Wang, I. Davidson: Flexible constrained spectral clustering, KDD 2010.

Parameters and attributes: :class:`linkwise.FlexibleSpectralClustering`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import FlexibleSpectralClustering, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_moons(240, noise=0.1, random_state=0)
links = sample_pairs(y, 60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = FlexibleSpectralClustering(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
