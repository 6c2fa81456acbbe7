r"""
KernelKMeans
============

k-means in the feature space of a kernel, with a reward for every must-link that is kept and a
penalty for every cannot-link that is broken.

.. math::

   \min \ \sum_c \sum_{i \in c} \|\phi(x_i) - \mu_c\|^2 - \sum_{must, \, l_i = l_j} w +
   \sum_{cannot, \, l_i = l_j} w

Rewards and penalties are added to the kernel matrix, so that kernel k-means minimises all of it.
With the degrees of a graph as masses it is the normalised cut (``version="ncut"``).

**Use it when:** You have a kernel that suits the data, such as a string kernel or a graph.

**Not when:** There are more than 10,000 rows, or links should teach something about other rows.

**Cost:** n² memory, O(n²) a pass; sparse kernels cost their entries.

**Paper:** B. Kulis, S. Basu, I. Dhillon, R. Mooney: Semi-supervised graph clustering: a kernel
approach, ICML 2005.

Parameters and attributes: :class:`linkwise.KernelKMeans`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from linkwise import KernelKMeans, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_moons(240, noise=0.1, random_state=0)
links = sample_pairs(y, 60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = KernelKMeans(2, random_state=0).fit(X, constraints=constraints)
    agreement = scores(y, model.labels_)["adjusted_rand"]
    title = f"{len(links.ends)} links" if constraints else "no links"
    draw_map(axis, X, model.labels_, title=f"{title}: agreement {agreement:.2f}")
plt.show()
