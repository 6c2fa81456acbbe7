"""
New rows into an old clustering
===============================

Data grow. `extend` adds new rows to the clusters that exist: clusters keep their numbers, old
rows stay where they are unless a new constraint moves them, and ``moves_`` says which and why.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from linkwise import Constraints, LinkClustering
from linkwise.plot import colours, draw_map

X, _ = make_blobs(360, centers=4, cluster_std=1.1, random_state=4)
old, new = X[:240], X[240:]
model = LinkClustering(4, effort="fast", random_state=0).fit(old)
before = model.labels_.copy()

a = int(np.flatnonzero(before == 0)[0])
b = int(np.flatnonzero(before == 1)[0])
model.extend(new, constraints=Constraints(must_link=[(a, b)]))  # one old row was in the wrong place
for move in model.moves_:
    print(f"row {move.sample}: cluster {move.before} to {move.after}, {move.reason()}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
draw_map(left, old, before, title="240 rows")
draw_map(right, X, model.labels_, title="120 rows more (circled)")
right.scatter(
    *new.T, s=26, facecolors="none", edgecolors=colours(model.labels_[240:]), linewidths=0.7
)
plt.show()
