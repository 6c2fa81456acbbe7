"""
A million rows
==============

With `affinity="anchors"`, `CCSKL` connects all rows through some hundred anchors and never forms
the graph of all pairs. A million rows in two interleaved spirals take seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

from linkwise import CCSKL, sample_pairs
from linkwise.evaluate import adjusted_rand_index
from linkwise.plot import colours

rng = np.random.default_rng(0)
n = 1_000_000
y = rng.integers(0, 2, n)
turn = 1.5 + 7 * np.sqrt(rng.random(n))
angle = turn + np.pi * y
X = np.column_stack([turn * np.cos(angle), turn * np.sin(angle)])
X = (X + rng.normal(scale=0.35, size=X.shape)).astype(np.float32)
links = sample_pairs(y, 300, random_state=0)

model = CCSKL(2, affinity="anchors", affinity_params={"n_anchors": 400}, random_state=0)
labels = model.fit(X, constraints=links).labels_
print(f"{n:,} rows, agreement {adjusted_rand_index(y, labels):.3f}")

# %%
# Every 200th row:

figure, axis = plt.subplots(figsize=(5, 4.6))
axis.scatter(*X[::200].T, c=colours(labels[::200]), s=3, linewidths=0)
axis.set(aspect="equal")
axis.axis("off")
plt.show()
