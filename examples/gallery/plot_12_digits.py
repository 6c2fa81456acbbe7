"""
Images
======

500 handwritten digits of 8 x 8 pixels and 150 answers. Each row of the picture shows members of
one cluster, the most typical first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from linkwise import LinkClustering, sample_pairs, scores

X, y = load_digits(n_class=6, return_X_y=True)
X, y = X[:500], y[:500]
links = sample_pairs(y, 150, random_state=0)
model = LinkClustering(6, effort="fast", random_state=0).fit(X, constraints=links)
print(f"agreement: {scores(y, model.labels_)['adjusted_rand']:.2f}")

# %%

figure, axes = plt.subplots(6, 1, figsize=(7, 4))
for c, axis in enumerate(axes):
    members = np.flatnonzero(model.labels_ == c)
    typical = members[np.argsort(-model.probabilities_[members, c], kind="stable")[:20]]
    axis.imshow(np.hstack(X[typical].reshape(-1, 8, 8)), cmap="Greys")
    axis.set(xticks=[], yticks=[])
    axis.set_ylabel(f"{c}", rotation=0, va="center", labelpad=10)
    for spine in axis.spines.values():
        spine.set_visible(False)
plt.show()
