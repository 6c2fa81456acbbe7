r"""
SpectralLearning
================

The affinity of a must-linked pair becomes 1 and that of a cannot-linked pair 0. Spectral
clustering follows.

.. math::

   W_{ij} = 1 \ (must), \qquad W_{ij} = 0 \ (cannot)

All other affinities stay as they are.

**Use it when:** You want the simplest use of links, as a baseline, or there are very many of
them.

**Not when:** There are few links: each affects its own pair alone. Weights are refused.

**Cost:** That of spectral clustering.

**Paper:** S. Kamvar, D. Klein, C. Manning: Spectral learning, IJCAI 2003.

Parameters and attributes: :class:`linkwise.SpectralLearning`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import SpectralLearning, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_moons(240, noise=0.15, random_state=0)
links = sample_pairs(y, 200, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = SpectralLearning(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
