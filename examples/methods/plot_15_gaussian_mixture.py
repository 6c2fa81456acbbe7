r"""
ConstrainedGaussianMixture
==========================

A normal distribution for each cluster, fitted by EM. Must-linked points have one hidden label
together (a chunklet); cannot-links are exact in small groups and approximate in large ones.

.. math::

   p(l_G = c) \propto \alpha_c \prod_{i \in G} \mathcal{N}(x_i; \mu_c, \Sigma_c)

G is a chunklet, α the share of a cluster, μ and Σ its mean and covariance.

**Use it when:** Clusters are round or elliptic clouds, also of different sizes, and you want
probabilities. It is among the methods that learn most about rows without links.

**Not when:** There are many columns for few rows (use ``covariance_type="diag"``), or curved
clusters.

**Cost:** O(n d² k) a pass.

**Paper:** N. Shental, A. Bar-Hillel, T. Hertz, D. Weinshall: Computing Gaussian mixture models
with EM using equivalence constraints, NIPS 2003.

Parameters and attributes: :class:`linkwise.ConstrainedGaussianMixture`.
"""

import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedGaussianMixture, sample_pairs, scores
from linkwise.plot import draw_links, draw_map

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(120, 2)) * (3, 0.5) + (0, y) for y in (0, 1.6)])
y = np.repeat([0, 1], 120)
links = sample_pairs(y, 16, random_state=1)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
draw_links(axes[1], X, links)
plt.show()
