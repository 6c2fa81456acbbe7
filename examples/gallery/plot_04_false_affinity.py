"""
False affinity in Algorithm A, none in Algorithm B
==================================================

Three clouds, and two cannot-links: the middle cloud is apart from the left one and from the right
one. Algorithm A of affinity propagation takes a cannot-link as "the two have opposite values".
Both outer clouds are then opposite to the middle one, and so become similar to each other,
although no link says so. Algorithm B enforces the cannot-links one by one and keeps the lowest
affinity.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel

from linkwise import Constraints
from linkwise.kernel import propagate

centres = [(0, 0), (2.4, 0), (4.8, 0)]
X, cloud = make_blobs([30] * 3, centers=centres, cluster_std=0.4, random_state=0)
X, cloud = X[cloud.argsort()], np.sort(cloud)
K = rbf_kernel(X, gamma=0.15)
links = Constraints(cannot_link=[(5, 40), (40, 70)])

i, j, sign, weight = links.arrays()
found = {"before": K}
for name in "ab":
    result = propagate(K, i, j, sign, weight, algorithm=name, eps_must=0.1, eps_cannot=0.1)
    found[f"Algorithm {name.upper()}"] = result.A

# %%
# The crosses mark the three linked points. The corners of the matrices are the affinity of the
# left cloud with the right one: A raises it, B does not.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.1))
for axis, (title, affinity) in zip(axes, found.items(), strict=True):
    axis.imshow(affinity, cmap="Greys", vmin=0, vmax=affinity.max())
    axis.plot([5, 40, 70], [5, 40, 70], "x", color="#CC6677", ms=8, mew=2)
    outer = affinity[np.ix_(cloud == 0, cloud == 2)].mean()
    axis.set(title=title, xlabel=f"left with right: {outer:.2f}", xticks=[], yticks=[])
plt.show()
