r"""
ManifoldLayout
==============

The neighbour graph laid out in a few dimensions: neighbours attract each other, all other points
repel. Clusters become islands. It takes no links.

.. math::

   \min_Y \ - \frac{1}{2} \sum_{ij} w_{ij} \log q_{ij} - \frac{g}{2} \sum_i d_i \,
   \mathrm{mean}_j \log (1 - q_{ij}), \qquad q_{ij} = \frac{1}{1 + \|y_i - y_j\|^2}

w are the weights of the graph, d its degrees, and g the strength of the repulsion.

**Use it when:** You want a map (2 dimensions), or features in which curved clusters are easy to
separate (8 dimensions).

**Not when:** Distances between islands matter: they mean little.

**Cost:** Some hundred sparse products with the graph.

**Paper:** L. McInnes, J. Healy, J. Melville: UMAP: uniform manifold approximation and projection,
2018; here in batches.

Parameters and attributes: :class:`linkwise.ManifoldLayout`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from linkwise import ManifoldLayout
from linkwise.plot import draw_map

X, y = load_digits(n_class=6, return_X_y=True)
X, y = X[:600], y[:600]
places = ManifoldLayout(2, random_state=0).fit_transform(X)

figure, axis = plt.subplots(figsize=(6, 4.6))
draw_map(axis, places, y, title="600 handwritten digits, coloured by digit")
plt.show()
