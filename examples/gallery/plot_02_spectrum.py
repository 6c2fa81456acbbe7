"""
A spectrum learned from links
=============================

Spectral clustering uses the first k eigenvectors of a neighbour graph and gives each the same
weight. `CCSKL` learns a weight for each of 20 eigenvectors from the links. The weights never
increase: smooth eigenvectors come first. These digits are clustered well without links, and stay
so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from linkwise import CCSKL, sample_pairs, scores

X, y = load_digits(n_class=5, return_X_y=True)
few, many = (sample_pairs(y, n, scheme="balanced", random_state=0) for n in (40, 800))

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True)
for axis, title, links in zip(
    axes, ("no links", "40 links", "800 links"), (None, few, many), strict=True
):
    model = CCSKL(5, n_components=20, random_state=0).fit(X, constraints=links)
    share = model.spectrum_ / model.spectrum_.sum()
    axis.bar(np.arange(1, 21), share, color="#4477AA")
    agreement = scores(y, model.labels_)["adjusted_rand"]
    axis.set(title=f"{title}: agreement {agreement:.2f}", xlabel="eigenvector")
axes[0].set_ylabel("share of the weight")
plt.show()
