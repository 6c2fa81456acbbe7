"""
The signed Laplacian
====================

`SignedSpectralClustering` adds must-links to the graph as edges of weight +1, and cannot-links as
edges of weight -1. The signs of an eigenvector then say which side a point is on. With
cannot-links, the first eigenvector is no longer constant: it becomes the partition.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from linkwise import SignedSpectralClustering, sample_pairs

X, y = make_moons(200, noise=0.12, random_state=1)
X, y = X[y.argsort(kind="stable")], np.sort(y)

figure, axes = plt.subplots(2, 3, figsize=(9, 4))
for column, n in zip(axes.T, (4, 60, 200), strict=True):
    links = sample_pairs(y, n, random_state=0)
    model = SignedSpectralClustering(2, balance=0.5, random_state=0).fit(X, constraints=links)
    first = model.embedding_[:, 0] / abs(model.embedding_[:, 0]).max()
    column[0].scatter(*X.T, c=first, vmin=-1, vmax=1, cmap="RdBu", s=10)
    column[0].set(title=f"{n} links", xticks=[], yticks=[], aspect="equal")
    column[1].plot(first, ".", ms=3, color="#332288")
    column[1].axhline(0, lw=0.7, color="#888888")
    column[1].set(xlabel="points, by moon", ylim=(-1.1, 1.1))
axes[1, 0].set_ylabel("first eigenvector")
plt.show()
