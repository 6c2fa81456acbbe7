r"""
SignedSpectralClustering
========================

Links become edges of the graph: weight +1 for a must-link, -1 for a cannot-link. The eigenvectors
of the signed Laplacian place must-linked points together and cannot-linked points on opposite
sides.

.. math::

   W' = \gamma W + (1 - \gamma) Q, \qquad d_i = \sum_j |W'_{ij}|, \qquad L = I - D^{-1/2} W'
   D^{-1/2}

Q has +1 for a must-link, -1 for a cannot-link. The k lowest eigenvectors of L are clustered; for
two clusters a sign is enough.

**Use it when:** There are two clusters or few.

**Not when:** There are many clusters and mostly cannot-links: two rows that are both apart from a
third become similar. A warning says so.

**Cost:** That of spectral clustering: the graph and its lowest eigenvectors.

**Paper:** G. Wacquet, É. Poisson Caillault, D. Hamad, P.-A. Hébert: Constrained spectral
embedding for K-way data clustering, Pattern Recognition Letters 2013.

Parameters and attributes: :class:`linkwise.SignedSpectralClustering`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import SignedSpectralClustering, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_moons(240, noise=0.15, random_state=0)
links = sample_pairs(y, 120, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = SignedSpectralClustering(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
