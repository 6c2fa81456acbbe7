r"""
ExhaustivePropagation
=====================

Each link is diffused over the graph from both of its ends. Every pair of points is then judged by
the links in their neighbourhoods, and its affinity is raised or lowered.

.. math::

   F = (1 - \alpha)^2 (I - \alpha S)^{-1} Z (I - \alpha S)^{-1}, \qquad W'_{ij} = 1 - (1 -
   F_{ij})(1 - W_{ij}) \ \ \mathrm{or} \ \ (1 + F_{ij}) W_{ij}

Z are the links and S the normalised graph. The first rule holds where F is positive, the second
elsewhere.

**Use it when:** Links should spread along the graph, also through thin parts of a cluster.

**Not when:** Links contradict the graph.

**Cost:** A few sparse products for each touched point; never n² memory on a graph.

**Paper:** Z. Lu, H. Ip: Constrained spectral clustering via exhaustive and efficient constraint
propagation, ECCV 2010.

Parameters and attributes: :class:`linkwise.ExhaustivePropagation`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import ExhaustivePropagation, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_moons(240, noise=0.15, random_state=0)
links = sample_pairs(y, 80, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = ExhaustivePropagation(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
