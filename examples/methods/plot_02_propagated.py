r"""
PropagatedSpectralClustering
============================

The affinity is the covariance of a Gaussian process, and links are noisy observations of it:
must-linked points have the same value, cannot-linked ones opposite values. The posterior
covariance spreads each link over the neighbourhoods of both ends.

.. math::

   \bar{K} = K - K V (\epsilon^2 I + V^T K V)^{-1} V^T K

A column of V has +1 and -1 for a must-link, +1 and +1 for a cannot-link. Algorithm A uses all
links at once (two clusters); B takes the cannot-links one by one (more clusters). Negative
affinities become 0, then spectral clustering.

**Use it when:** Few links should move many rows; up to some thousand rows with all pairs, more
with ``affinity="nearest_neighbors"`` or ``"anchors"``. It is among the methods that learn most
about rows without links.

**Not when:** The width of the Gaussian is hard to guess: the result depends on it.

**Cost:** Dense: n² memory and O(n² L) time for L links. On a graph or on anchors far less.

**Paper:** Z. Lu, M. Á. Carreira-Perpiñán: Constrained spectral clustering through affinity
propagation, CVPR 2008.

Parameters and attributes: :class:`linkwise.PropagatedSpectralClustering`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import PropagatedSpectralClustering, sample_pairs, scores
from linkwise.plot import draw_links, draw_map

X, y = make_moons(240, noise=0.1, random_state=0)
links = sample_pairs(y, 12, random_state=2)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = PropagatedSpectralClustering(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
draw_links(axes[1], X, links)
plt.show()
